"""Read check-ins in SNAP's format and keep those inside of boxes.

The format: one check-in per line, user, time, latitude, longitude and location id separated by tabs, no
header; gzip or plain text. The file is read once, in blocks, whatever its size.
"""

import gzip
import hashlib
import logging
import zlib
from collections.abc import Iterator, Mapping
from io import BufferedReader

import numpy as np
import pandas as pd

from scripts.paper.data.grid import Box, point_table
from scripts.shared.job import StrPath, job, write_parquet
from tightshuffle.arguments import Floats

BLOCK = 1 << 22  # bytes of the file, unpacked, that are in memory at a time
GZIP = b"\x1f\x8b"  # the first two bytes of every gzip file
REFUSED = {  # how files begin that are compressed in another way, or once more
    b"PK\x03\x04": "zip",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    GZIP: "gzip",
}
MOST_LISTED = 5  # a message names no more unreadable lines
MOST_SHOWN = 60  # bytes of an unreadable line in a message


def crop(
    path: StrPath, boxes: Mapping[str, Mapping[str, float]], *, bad_rows_at_most: float
) -> dict[str, pd.DataFrame]:
    """The check-ins inside of each box: name of the box -> a table with one row per check-in.

    The columns are latitude and longitude, in degrees, and spread (False: these are the true places). Rows
    are in the file's order. A check-in on an edge of the box is inside. The function logs how many rows the
    file has, and how many of them cannot be read.

    Parameters
    ----------
    path: a file of check-ins in SNAP's format, gzip or plain text, which the content shows
    boxes: name -> the box's edges south, north, west and east, in degrees
    bad_rows_at_most: the share of rows, from 0 to 1, that may be unreadable. Unreadable is a row with a wrong
        number of fields, or whose latitude or longitude is no number or not in [-90, 90] x [-180, 180]

    Raises
    ------
    ValueError: the content is damaged or something else, too many rows are unreadable, or a box is empty
    """
    # Arrays of points (2, check-ins), one for each block of the file.
    inside: dict[str, list[Floats]] = {name: [] for name in boxes}
    rows = bad_rows = 0
    first_bad: list[int] = []  # numbers of the first unreadable lines, from 1, for the messages
    first_bad_line = b""
    swapped = set()  # boxes that hold a point if its latitude and longitude change places
    for lines in _blocks_of_lines(path):
        points = np.array([_point(line) for line in lines]).T
        latitude, longitude = points
        # An unreadable row is NaN, which fails every comparison.
        readable = (np.abs(latitude) <= 90) & (np.abs(longitude) <= 180)
        bad = np.flatnonzero(~readable)
        if bad.size and not first_bad:
            first_bad_line = lines[bad[0]]
        # A block begins after the ``rows`` lines of earlier blocks.
        first_bad += (bad[: MOST_LISTED - len(first_bad)] + rows + 1).tolist()
        bad_rows += bad.size
        rows += len(latitude)

        for name, edges in boxes.items():
            box = Box(**edges)
            inside[name].append(points[:, box.contains(latitude, longitude)])
            if box.contains(longitude, latitude).any():
                swapped.add(name)

    if not rows:
        raise ValueError(f"{path}: the file is empty; expected check-ins in SNAP's format")
    numbers = ", ".join(map(str, first_bad))
    logging.info(
        "%s: %d rows, of which %d cannot be read (first lines: %s)", path, rows, bad_rows, numbers
    )
    if bad_rows > bad_rows_at_most * rows:
        raise ValueError(
            f"{path}: {bad_rows:,} of {rows:,} rows ({bad_rows / rows:.2%}) cannot be read, more than "
            f"bad_rows_at_most = {bad_rows_at_most:.2%}; the first in line {numbers}; "
            "expected user, time, latitude, longitude, location separated by tabs, in degrees; "
            f"got {_shown(first_bad_line)}"
        )

    tables = {name: point_table(*np.concatenate(parts, axis=1)) for name, parts in inside.items()}
    for name, table in tables.items():
        if table.empty:
            message = (
                f"{path}: none of its {rows:,} rows lies in the box of {name}, {dict(boxes[name])}"
            )
            if name in swapped:
                message += "; latitude and longitude seem to be swapped"
            raise ValueError(message)
    return tables


def check_md5(path: StrPath, md5: str) -> None:
    """Raise ValueError if the file has another MD5 sum than ``md5``, which is in hexadecimal digits."""
    with open(path, "rb") as file:
        got = hashlib.file_digest(file, "md5").hexdigest()
    if got != md5:
        raise ValueError(
            f"{path}: its MD5 sum is {got}, but gowalla.download.md5 is {md5}: remove the file, so that the"
            " next run downloads it again, or name your own file with gowalla.source: file"
        )


def _blocks_of_lines(path: StrPath) -> Iterator[list[bytes]]:
    """The file's lines in blocks of about `BLOCK` bytes.

    Raises ValueError for a damaged gzip file, and for a file that is compressed as one in `REFUSED`.
    """
    with open(path, "rb") as raw:
        zipped = raw.peek(2)[:2] == GZIP
        stream: BufferedReader | gzip.GzipFile = gzip.GzipFile(fileobj=raw) if zipped else raw
        try:
            beginning = stream.peek(8)
            for mark, kind in REFUSED.items():
                if beginning.startswith(mark):
                    where = " inside of gzip" if zipped else ""
                    raise ValueError(f"{path}: compressed as {kind}{where}: unpack it, or use gzip")
            while lines := stream.readlines(BLOCK):
                yield lines
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{path}: damaged gzip file ({error}): get it again") from error


def _point(line: bytes) -> tuple[float, float]:
    """(latitude, longitude) of a line, in degrees; (NaN, NaN) if they cannot be read."""
    try:
        _, _, latitude, longitude, _ = line.split(b"\t")
        return float(latitude), float(longitude)
    except ValueError:
        return np.nan, np.nan


def _shown(line: bytes) -> str:
    """A line for a message: in quotes, and shortened."""
    text = line.rstrip(b"\r\n")
    dots = "..." if len(text) > MOST_SHOWN else ""
    return repr(text[:MOST_SHOWN].decode(errors="replace")) + dots


if __name__ == "__main__":
    with job() as snakemake:
        boxes, most = snakemake.params.boxes, snakemake.params.bad_rows_at_most
        if snakemake.params.md5:
            check_md5(snakemake.input.checkins, snakemake.params.md5)
        cities = crop(snakemake.input.checkins, boxes, bad_rows_at_most=most)
        for points, path in zip(cities.values(), snakemake.output, strict=True):
            write_parquet([points], path)
