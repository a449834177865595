"""Read check-ins in SNAP's format and keep those inside of boxes.

The format: one check-in per line, user, time, latitude, longitude and location id separated by tabs, no
header; gzip or plain text. The file is read once, in blocks, whatever its size.
"""

import gzip
import hashlib
import logging
import zlib
from collections.abc import Iterator, Mapping
from typing import IO

import numpy as np
import pandas as pd

from scripts.paper.data.grid import Box, point_table
from scripts.shared.job import StrPath, job, write_parquet
from tightshuffle.arguments import Floats

BLOCK = 1 << 22  # bytes
LISTED = 5  # unreadable lines that a message names at most


def crop(
    path: StrPath, boxes: Mapping[str, Mapping[str, float]], *, bad_rows_at_most: float
) -> dict[str, pd.DataFrame]:
    """Name of a box -> the check-ins inside of this closed box, in the file's order, as a `point_table`.

    Logs how many rows the file has, and how many of them cannot be read.

    path: gzip or plain text, recognised by the content. boxes: name -> south, north, west and east, degrees.
    bad_rows_at_most: the share of rows that may be unreadable (wrong number of fields, not a number, outside
    of [-90, 90] x [-180, 180]).

    ValueError: damaged or other content, too many unreadable rows, no check-in in a box.
    """
    inside: dict[str, list[Floats]] = {name: [] for name in boxes}
    rows = bad_rows = 0
    first_bad: list[int] = []
    swapped = set()
    for points in _blocks(path):
        latitude, longitude = points
        bad = np.flatnonzero(~((np.abs(latitude) <= 90) & (np.abs(longitude) <= 180)))
        first_bad += (bad[: LISTED - len(first_bad)] + rows + 1).tolist()
        bad_rows += bad.size
        rows += len(latitude)

        for name, edges in boxes.items():  # an unreadable row lies in no box
            box = Box(**edges)
            inside[name].append(points[:, box.contains(latitude, longitude)])
            if box.contains(longitude, latitude).any():
                swapped.add(name)

    if not rows:
        raise ValueError(f"{path}: the file is empty; expected check-ins in SNAP's format")
    lines = ", ".join(map(str, first_bad))
    logging.info(
        "%s: %d rows, of which %d cannot be read (first lines: %s)", path, rows, bad_rows, lines
    )
    if bad_rows > bad_rows_at_most * rows:
        raise ValueError(
            f"{path}: {bad_rows:,} of {rows:,} rows ({bad_rows / rows:.2%}) cannot be read, more than "
            f"bad_rows_at_most = {bad_rows_at_most:.2%}; the first in line {lines}; "
            "expected user, time, latitude, longitude, location separated by tabs, in degrees"
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
    """ValueError if the file has another MD5 sum than ``md5``, in hexadecimal digits."""
    with open(path, "rb") as file:
        got = hashlib.file_digest(file, "md5").hexdigest()
    if got != md5:
        raise ValueError(
            f"{path}: its MD5 sum is {got}, but gowalla.download.md5 is {md5}: remove the file, so that the"
            " next run downloads it again, or name your own file with gowalla.source: file"
        )


def _blocks(path: StrPath) -> Iterator[Floats]:
    """Latitude and longitude, shape (2, rows), of about BLOCK bytes at a time; NaN for an unreadable line."""
    with open(path, "rb") as raw:
        zipped = raw.peek(2)[:2] == b"\x1f\x8b"
        stream: IO[bytes] | gzip.GzipFile = gzip.GzipFile(fileobj=raw) if zipped else raw
        try:
            while lines := stream.readlines(BLOCK):
                yield np.array([_point(line) for line in lines]).T
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{path}: damaged gzip file ({error}): get it again") from error


def _point(line: bytes) -> tuple[float, float]:
    try:
        _, _, latitude, longitude, _ = line.split(b"\t")
        return float(latitude), float(longitude)
    except ValueError:
        return np.nan, np.nan


if __name__ == "__main__":
    with job() as snakemake:
        boxes, most = snakemake.params.boxes, snakemake.params.bad_rows_at_most
        if snakemake.params.md5:
            check_md5(snakemake.input.checkins, snakemake.params.md5)
        cities = crop(snakemake.input.checkins, boxes, bad_rows_at_most=most)
        for points, path in zip(cities.values(), snakemake.output, strict=True):
            write_parquet([points], path)
