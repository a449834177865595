"""Tables of the results folder: read with their columns checked."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from scripts.shared.job import StrPath

Filters = Sequence[tuple[str, str, Any]]  # (column, operator, value), as pyarrow takes them


def read_table(path: StrPath, columns: Sequence[str], filters: Filters = ()) -> pd.DataFrame:
    """The table in a CSV or Parquet file, which has at least the given columns and at least one row.

    Of a Parquet file only ``columns`` are read, and of its rows those that pass all ``filters``, which are
    (column, operator, value) such as ("metric", "==", "tv"). Of a CSV file everything is read. Raises
    ValueError, with the file's name, if a column is missing or no row is left.
    """
    if str(path).endswith(".parquet"):
        _check_columns(path, pq.read_schema(path).names, columns)
        table = read_parquet(path, columns=list(columns), filters=list(filters) or None)
    else:
        present = pd.read_csv(path, nrows=0).columns
        _check_columns(path, present, columns)
        # The column label has texts of the user, such as a country's code NA or an agent's number 007, which
        # must not become a missing number or 7. In other columns an empty text and nan are missing numbers.
        empty = {column: ["", "nan"] for column in present if column != "label"}
        table = pd.read_csv(path, dtype={"label": object}, keep_default_na=False, na_values=empty)

    if table.empty:
        missing = "no rows"
        if filters:
            missing += " with " + ", ".join(f"{name} {value!r}" for name, _, value in filters)
        raise ValueError(f"{path}: {missing}; expected at least one")
    return table


def read_tables(
    paths: Iterable[StrPath], columns: Sequence[str], filters: Filters = ()
) -> pd.DataFrame:
    """The tables in several files below each other, each read and checked by `read_table`."""
    return pd.concat([read_table(path, columns, filters) for path in paths], ignore_index=True)


def _check_columns(path: StrPath, present: Iterable[str], columns: Sequence[str]) -> None:
    """Raise ValueError, with the file's ``path``, for the first of ``columns`` that is not ``present``."""
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
    """The data frames that `write_parquet` wrote into one file, one after the other.

    One of them is in memory at a time, and only ``columns`` are read. Those in ``categories`` have few
    different values. They become categories of pandas, which take a byte or so per row. Checksums are
    checked, and ValueError names a damaged file.
    """
    with _damage_named(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        for group in range(file.num_row_groups):  # a frame was written as one row group
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
        if error.errno:  # an error of the disk: those of pyarrow have no number
            raise
        raise ValueError(f"{path}: damaged ({error}): remove it and run again") from error


def groups(
    table: pd.DataFrame, by: str | list[str], *, sort: bool = True
) -> Iterator[tuple[Any, pd.DataFrame]]:
    """The groups of rows with the same value of ``by``, each as (value, rows).

    For several columns a value is a tuple. Groups are in rising order, or without ``sort`` in the order of
    the table. Unlike those of pandas, values may have any type for a type checker.
    """
    yield from table.groupby(by, sort=sort)
