"""``data/published/claims.csv``: one row per statement; the README beside it explains columns and rules."""

import csv

COLUMNS = ("id", "claim", "version", "section", "page", "about", "test_published", "test_exact")
VERSIONS = ("long", "short", "both")  # arXiv 2205.08858; FPS 2023; the same statement in both
_MAY_BE_EMPTY = ("page",)  # the section is always known


def read_claims(path):
    """The statements of ``path`` as a list of dicts of strings, in the file's order, keys `COLUMNS`.

    Raises ValueError that names the file, the line and what was expected; OSError if it cannot be read.
    """
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames is None or tuple(reader.fieldnames) != COLUMNS:
            raise ValueError(f"{path}: the columns must be {','.join(COLUMNS)}; got {reader.fieldnames}")
        rows, seen = [], {}
        for row in reader:
            where = f"{path}, line {reader.line_num}"
            _check_row(row, where)
            for name in ("id", "claim"):
                first = seen.setdefault((name, row[name]), reader.line_num)
                if first != reader.line_num:
                    raise ValueError(f"{where}: the same {name} as line {first}; every row needs its own")
            rows.append(row)
    if not rows:
        raise ValueError(f"{path}: expected one row per statement; got none")
    return rows


def _check_row(row, where):
    if None in row or None in row.values():
        raise ValueError(f"{where}: expected {len(COLUMNS)} fields; quote a field that has a comma")
    for name in COLUMNS:
        if not row[name].strip() and name not in _MAY_BE_EMPTY:
            raise ValueError(f"{where}: {name} is empty; every row needs it")
    if row["version"] not in VERSIONS:
        raise ValueError(f"{where}: version must be one of {', '.join(VERSIONS)}; got {row['version']!r}")
    if row["page"] and not row["page"].isdigit():
        raise ValueError(f"{where}: page must be a whole number or empty; got {row['page']!r}")
