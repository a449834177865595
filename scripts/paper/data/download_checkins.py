"""Download one file with a known checksum; the file is complete and checked, or absent."""

import os
import sys
from pathlib import Path

import pooch

from scripts.shared.job import StrPath, job

CHUNK = 1 << 16  # bytes


def download(url: str, path: StrPath, *, md5: str) -> None:
    """Download ``url`` to ``path``, with a progress bar on a terminal; nothing to do if the file is there.

    md5: the expected sum, in hexadecimal digits. An interrupted download starts again from its beginning.

    ValueError: other bytes than expected. OSError: network, server, disk, permission. Neither leaves a file.
    """
    path = Path(path)
    # identity: the bytes as they are on the server, whose sum is known
    downloader = pooch.HTTPDownloader(
        progressbar=sys.stderr.isatty(), chunk_size=CHUNK, headers={"Accept-Encoding": "identity"}
    )
    try:
        pooch.retrieve(url, f"md5:{md5}", path.name, path.parent, downloader=downloader)
    except OSError as error:
        if error.errno:  # of the disk; what the network says has no number
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
