"""Tables of the results folder: read with their columns checked."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from scripts.shared.job import StrPath

Filters = Sequence[tuple[str, str, Any]]  # (column, operator, value), as pyarrow takes them


def read_table(path: StrPath, columns: Sequence[str], filters: Filters = ()) -> pd.DataFrame:
    """Read a CSV or Parquet table; of a Parquet table only ``columns``, and the rows that pass ``filters``.

    ValueError names the file, and the first of ``columns`` that it lacks or the rows that are not there.
    """
    parquet = str(path).endswith(".parquet")
    present = pq.read_schema(path).names if parquet else pd.read_csv(path, nrows=0).columns
    for column in columns:
        if column not in present:
            raise ValueError(f"{path}: no column {column!r}; expected {', '.join(columns)}")
    if parquet:
        table = read_parquet(path, columns=list(columns), filters=list(filters) or None)
    else:
        # What stands in label are your own words: NA is Namibia, 007 is no 7.
        empty = {column: ["", "nan"] for column in present if column != "label"}
        table = pd.read_csv(path, dtype={"label": object}, keep_default_na=False, na_values=empty)
    if table.empty:
        wanted = " with " + ", ".join(f"{name} {value!r}" for name, _, value in filters) if filters else ""
        raise ValueError(f"{path}: no rows{wanted}; expected at least one")
    return table


def read_parquet(path: StrPath, **how: Any) -> pd.DataFrame:
    """Read a Parquet table and check its checksums; ``how`` as for `pandas.read_parquet`.

    ValueError names a damaged file.
    """
    with _damage_named(path):
        return pd.read_parquet(path, page_checksum_verification=True, **how)


def read_frames(path: StrPath, columns: Sequence[str], categories: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Read the frames that `write_parquet` wrote into one file, with one of them in memory at a time.

    Only ``columns`` are read. Those in ``categories`` have few different values: they become pandas'
    categories, which take a byte per row. Checks checksums; ValueError names a damaged file.
    """
    with _damage_named(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        for group in range(file.num_row_groups):
            series = {}
            for column in columns:  # one by one: texts take much memory until they are categories
                values = file.read_row_group(group, columns=[column], use_threads=False)[column]
                encoded = values.dictionary_encode() if column in categories else values
                series[column] = encoded.to_pandas()
            yield pd.DataFrame(series, copy=False)


@contextlib.contextmanager
def _damage_named(path: StrPath) -> Iterator[None]:
    """Turn pyarrow's error about a damaged file into a ValueError that names the file."""
    try:
        yield
    except OSError as error:
        if error.errno:  # of the disk
            raise
        raise ValueError(f"{path}: damaged ({error}): remove it and run again") from error


def groups(
    table: pd.DataFrame, by: str | list[str], *, sort: bool = True
) -> Iterator[tuple[Any, pd.DataFrame]]:
    """(value of ``by``, its rows): pandas' groups, whose values may be of any type."""
    yield from table.groupby(by, sort=sort)
