"""Download one file with a known checksum; the file is complete and checked, or absent."""

import os
import sys
from pathlib import Path

import pooch

from scripts.shared.job import StrPath, job

CHUNK = 1 << 16  # bytes that are written at a time


def download(url: str, path: StrPath, *, md5: str) -> None:
    """Download ``url`` to the file ``path``, with a progress bar on a terminal.

    A file that is there with this sum is not downloaded again. An interrupted download starts again from its
    beginning. After an error there is no new file.

    ``md5``: the expected MD5 sum of the bytes, in hexadecimal digits.

    Raises ValueError if the bytes have another sum, OSError for trouble of network, server, disk or
    permissions.
    """
    path = Path(path)
    # "identity" asks for the bytes as they lie on the server, not compressed on the way: their sum is known.
    downloader = pooch.HTTPDownloader(
        progressbar=sys.stderr.isatty(), chunk_size=CHUNK, headers={"Accept-Encoding": "identity"}
    )
    try:
        pooch.retrieve(url, f"md5:{md5}", path.name, path.parent, downloader=downloader)
    except OSError as error:
        if error.errno:  # an error of the disk: errors of the network have no number
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise OSError(
            f"{url} cannot be downloaded: {error}; run again to start from the beginning, "
            "or set gowalla.source to bundled or file"
        ) from error
    except ValueError as error:
        raise ValueError(f"{url}: {error} See gowalla.download in the configuration.") from error


if __name__ == "__main__":
    with job() as snakemake:
        # No parameter: a new one reruns nothing.
        url = snakemake.config["gowalla"]["download"]["url"]
        download(url, snakemake.output[0], md5=snakemake.params.md5)
