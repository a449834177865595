"""``data/published/claims.csv``: one row per statement; the README beside it explains columns and rules."""

import os
import re

from reproduction.verification.printed import Row, numbered_rows

COLUMNS = ("id", "claim", "version", "where", "quote", "family", "about", "test_published", "test_exact")
VERSIONS = ("long", "short", "both")  # arXiv 2205.08858; FPS 2023; the same statement in both
_MAY_BE_EMPTY = ("family",)  # most statements count alone
_WHERE = re.compile(r"(LV|SV) .+")  # the quote's version first


def read_claims(path: str | os.PathLike[str]) -> list[Row]:
    """The statements of ``path`` as a list of dicts of strings, in the file's order, keys `COLUMNS`.

    Raises ValueError that names the file, the line and what was expected; OSError if it cannot be read.
    """
    rows: list[Row] = []
    seen: dict[tuple[str, str], int] = {}
    for line, row in numbered_rows(path, COLUMNS):
        where = f"{path}, line {line}"
        _check_row(row, where)
        for name in ("id", "claim"):
            first = seen.setdefault((name, row[name]), line)
            if first != line:
                raise ValueError(f"{where}: the same {name} as line {first}; every row needs its own")
        rows.append(row)
    if not rows:
        raise ValueError(f"{path}: expected one row per statement; got none")
    return rows


def _check_row(row: Row, where: str) -> None:
    for name in COLUMNS:
        if not row[name].strip() and name not in _MAY_BE_EMPTY:
            raise ValueError(f"{where}: {name} is empty; every row needs it")
    if row["version"] not in VERSIONS:
        raise ValueError(f"{where}: version must be one of {', '.join(VERSIONS)}; got {row['version']!r}")
    if not _WHERE.fullmatch(row["where"]):
        raise ValueError(f"{where}: where must begin with LV or SV and a section; got {row['where']!r}")
