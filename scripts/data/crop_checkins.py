"""Read check-ins in SNAP's format and keep those inside of boxes.

The format: one check-in per line, user, time, latitude, longitude and location id separated by tabs, no
header; gzip or plain text. The file is read once, in blocks, whatever its size.
"""

import contextlib
import gzip
import stat
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import pandas as pd

from scripts.data.grid import Box, point_table
from scripts.shared.job import StrPath, job, write_csv, write_parquet
from tightshuffle.arguments import Floats

BLOCK = 1 << 22  # bytes
LONGEST_LINE = 1 << 16  # bytes; a file with a longer one holds no check-ins
MOST_PACKED = 100  # largest ratio of unpacked to packed size of a gzip file; that of SNAP's file is 4
SMALL = 1 << 26  # bytes that a gzip file of any size may unpack to
LISTED = 5  # unreadable lines that a message names at most
FIELDS = ["user", "time", "latitude", "longitude", "location"]
NOT_TEXT = bytes(sorted(set(range(32)) - set(b"\t\n\v\f\r\x1b")))  # control characters

Points = tuple[Floats, Floats]  # latitude, longitude


class CropSummary(NamedTuple):
    """How many rows a file has, how many are unreadable, and the first unreadable lines (numbered from 1)."""

    rows: int
    bad_rows: int
    first_bad_lines: tuple[int, ...]


def crop_tables(
    path: StrPath, boxes: Mapping[str, Mapping[str, float]], *, bad_rows_at_most: float
) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """`crop` as tables: the points of each box, as `grid.point_table`, and a summary in one row.

    boxes: name -> the config's south, north, west and east.
    """
    points, summary = crop(
        path, {name: Box(**edges) for name, edges in boxes.items()}, bad_rows_at_most=bad_rows_at_most
    )
    lines = " ".join(map(str, summary.first_bad_lines))
    row = {"file": path, **summary._asdict(), "first_bad_lines": lines}
    return {name: point_table(*part, spread=False) for name, part in points.items()}, pd.DataFrame([row])


def crop(
    path: StrPath, boxes: Mapping[str, Box], *, bad_rows_at_most: float = 0.0
) -> tuple[dict[str, Points], CropSummary]:
    """The check-ins of a file inside of each closed box, in the file's order.

    path: gzip or plain text, recognised by the content. bad_rows_at_most: the share of rows that may be
    unreadable (wrong number of fields, not a number, outside of [-90, 90] x [-180, 180]).

    Returns ({name of the box: (latitude, longitude)}, CropSummary). ValueError: damaged or other content, too
    many unreadable rows, no check-in in a box. OSError: no such file, no permission.
    """
    inside: dict[str, list[Points]] = {name: [] for name in boxes}
    swapped = dict.fromkeys(boxes, False)
    rows = bad_rows = 0
    first_bad: list[int] = []
    for block in _blocks(Path(path)):
        latitude, longitude = _parse(block)
        bad = np.flatnonzero(~((np.abs(latitude) <= 90) & (np.abs(longitude) <= 180)))
        first_bad.extend(int(line) + rows + 1 for line in bad[: LISTED - len(first_bad)])
        bad_rows += bad.size
        for name, box in boxes.items():  # an unreadable row lies in no box
            here = box.contains(latitude, longitude)
            inside[name].append((latitude[here], longitude[here]))
            swapped[name] = swapped[name] or bool(box.contains(longitude, latitude).any())
        rows += len(latitude)
    summary = CropSummary(rows, int(bad_rows), tuple(first_bad))
    _check(path, summary, bad_rows_at_most)
    points = {}
    for name, parts in inside.items():
        latitude, longitude = (np.concatenate(part) for part in zip(*parts, strict=True))
        if not latitude.size:
            hint = "; latitude and longitude seem to be swapped" if swapped[name] else ""
            raise ValueError(
                f"{path}: none of its {rows:,} rows lies in the box of {name}: {boxes[name]}{hint}"
            )
        points[name] = latitude, longitude
    return points, summary


def _check(path: StrPath, summary: CropSummary, bad_rows_at_most: float) -> None:
    rows, bad_rows, lines = summary
    if not rows:
        raise ValueError(f"{path}: the file is empty; expected check-ins in SNAP's format")
    if bad_rows > bad_rows_at_most * rows:
        raise ValueError(
            f"{path}: {bad_rows:,} of {rows:,} rows ({bad_rows / rows:.2%}) cannot be read, more than "
            f"bad_rows_at_most = {bad_rows_at_most:.2%}; the first in line {', '.join(map(str, lines))}; "
            f"expected {', '.join(FIELDS)} separated by tabs, in degrees"
        )


def _blocks(path: Path) -> Iterator[bytes]:
    """Whole lines, about BLOCK bytes at a time, each block ending with a newline."""
    unfinished, unpacked = b"", 0
    state = path.stat()
    if not stat.S_ISREG(state.st_mode):  # a pipe or a device may never end
        raise ValueError(f"{path}: not a regular file; expected SNAP's check-ins, plain or gzip")
    with path.open("rb") as raw:
        zipped = raw.peek(2)[:2] == b"\x1f\x8b"
        stream: IO[bytes] | gzip.GzipFile = gzip.GzipFile(fileobj=raw) if zipped else raw
        while True:
            try:
                block = stream.read(BLOCK)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise ValueError(f"{path}: damaged gzip file ({error}): get it again") from error
            if not block:
                break
            unpacked += len(block)
            if zipped and unpacked > max(SMALL, MOST_PACKED * state.st_size):
                raise ValueError(
                    f"{path}: unpacks to more than {MOST_PACKED} times its size; expected SNAP's check-ins"
                )
            if len(block.translate(None, NOT_TEXT)) < len(block):
                raise ValueError(f"{path}: neither gzip nor plain text; expected SNAP's check-ins")
            cut = block.rfind(b"\n") + 1
            if cut:
                yield unfinished + block[:cut]
                unfinished = block[cut:]
            else:
                unfinished += block
            if len(unfinished) > LONGEST_LINE:
                raise ValueError(f"{path}: a line of over {LONGEST_LINE:,} bytes; expected SNAP's check-ins")
    if unfinished:
        yield unfinished + b"\n"


def _parse(block: bytes) -> Points:
    """Latitude and longitude of every line of a block; both are NaN where the line cannot be read."""
    points = _parse_fast(block)
    return _parse_slowly(block) if points is None else points


def _parse_fast(block: bytes) -> Points | None:
    """As `_parse`, or None if any line is malformed; `_parse_slowly` then finds the line."""
    import pyarrow as pa
    from pyarrow import csv

    wanted = ["latitude", "longitude"]
    try:
        table = csv.read_csv(
            pa.BufferReader(block),
            csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=FIELDS),
            csv.ParseOptions(delimiter="\t", quote_char=False, ignore_empty_lines=False),
            csv.ConvertOptions(column_types=dict.fromkeys(wanted, pa.float64()), include_columns=wanted),
        )
    except pa.ArrowInvalid:
        return None
    if table.num_rows != block.count(b"\n"):  # a lone carriage return ends a line for pyarrow, but not for us
        return None
    return table["latitude"].to_numpy(), table["longitude"].to_numpy()


def _parse_slowly(block: bytes) -> Points:
    """Parse line by line, to the same values as the fast way, so the points do not depend on the blocks."""
    latitude, longitude = [], []
    for line in block.split(b"\n")[:-1]:
        fields = line.split(b"\t")
        point = np.nan, np.nan
        if len(fields) == len(FIELDS) and b"_" not in fields[2] + fields[3]:  # float() reads 1_0 as 10
            with contextlib.suppress(ValueError):
                point = float(fields[2]), float(fields[3])
        latitude.append(point[0])
        longitude.append(point[1])
    return np.array(latitude), np.array(longitude)


if __name__ == "__main__":
    with job() as snakemake:
        cities, summary = crop_tables(
            snakemake.input.checkins,
            snakemake.params.boxes,
            bad_rows_at_most=snakemake.params.bad_rows_at_most,
        )
        for points, path in zip(cities.values(), snakemake.output.points, strict=True):
            write_parquet([points], path)
        write_csv(summary, snakemake.output.summary)
