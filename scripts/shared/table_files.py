"""Tables of the results folder: read with their columns checked."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from scripts.shared.job import StrPath

Filters = Sequence[tuple[str, str, Any]]  # (column, operator, value), as pyarrow takes them


def read_table(path: StrPath, columns: Sequence[str], filters: Filters = ()) -> pd.DataFrame:
    """Read a CSV or Parquet table; of a Parquet table only ``columns``, and the rows that pass ``filters``.

    ValueError names the file, and the first of ``columns`` that it lacks or the rows that are not there.
    """
    if str(path).endswith(".parquet"):
        _check_columns(path, pq.read_schema(path).names, columns)
        table = read_parquet(path, columns=list(columns), filters=list(filters) or None)
    else:
        present = pd.read_csv(path, nrows=0).columns
        _check_columns(path, present, columns)
        # What stands in label are your own words: NA is Namibia, 007 is no 7.
        empty = {column: ["", "nan"] for column in present if column != "label"}
        table = pd.read_csv(path, dtype={"label": object}, keep_default_na=False, na_values=empty)

    if table.empty:
        missing = "no rows"
        if filters:
            missing += " with " + ", ".join(f"{name} {value!r}" for name, _, value in filters)
        raise ValueError(f"{path}: {missing}; expected at least one")
    return table


def _check_columns(path: StrPath, present: Iterable[str], columns: Sequence[str]) -> None:
    """ValueError for the first of ``columns`` that is not ``present``."""
    present = set(present)
    for column in columns:
        if column not in present:
            raise ValueError(f"{path}: no column {column!r}; expected {', '.join(columns)}")


def read_parquet(path: StrPath, **how: Any) -> pd.DataFrame:
    """Read a Parquet table and check its checksums; ``how`` as for `pandas.read_parquet`.

    ValueError names a damaged file.
    """
    with _damage_named(path):
        return pd.read_parquet(path, page_checksum_verification=True, **how)


def read_frames(
    path: StrPath, columns: Sequence[str], categories: Sequence[str]
) -> Iterator[pd.DataFrame]:
    """Read the frames that `write_parquet` wrote into one file, with one of them in memory at a time.

    Only ``columns`` are read. Those in ``categories`` have few different values: they become pandas'
    categories, which take a byte per row. Checks checksums; ValueError names a damaged file.
    """
    with _damage_named(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        for group in range(file.num_row_groups):
            series = {}
            for column in columns:  # one by one: texts take much memory until they are categories
                values = file.read_row_group(group, columns=[column], use_threads=False)[column]
                if column in categories:
                    values = values.dictionary_encode()
                series[column] = values.to_pandas()
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
