"""Counting verdicts, and the gaps between the published and the exact reading.

Rows are dicts of strings, as results/report/verdicts.csv and claims.csv have them. Numbers stay decimal
strings until they are shown, because deltas go below the smallest float (1e-308).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from tightshuffle.judgement.printed import COLUMNS, Row

VERDICTS = ("exact", "close", "consistent", "differs", "inconsistent", "not comparable")
REPRODUCED = ("exact", "close", "consistent")
CLAIM_VERDICTS = ("holds", "holds only as published", "fails", "untestable")
NUMBERS = ("reproduced", "exact", "quantile", "low", "high")
VERDICT_COLUMNS = (*COLUMNS, *NUMBERS, "verdict")


@dataclass(frozen=True)
class VerdictCounts:
    """How many of ``total`` printed values got each verdict (``by_verdict``: all six)."""

    total: int
    by_verdict: dict[str, int]

    @property
    def reproduced(self) -> int:
        """Values whose verdict is exact, close or consistent."""
        return sum(self.by_verdict[verdict] for verdict in REPRODUCED)


@dataclass(frozen=True)
class Gap:
    """``orders`` = log10(exact / published) of one row, and that row."""

    orders: float
    row: Row


def check_verdicts(rows: Sequence[Row], name: str = "verdicts.csv") -> Sequence[Row]:
    """``rows`` themselves if they are verdicts on printed values.

    Raises ValueError if there are no rows, or one that names the row (counted from 1, the header not counted)
    and the column: a column is missing, a verdict is unknown, or a number is no finite decimal number.
    """
    if not rows:
        raise ValueError(f"{name}: no rows; make the file again")
    for number, row in enumerate(rows, start=1):
        where = f"{name}, row {number}"
        missing = [column for column in VERDICT_COLUMNS if row.get(column) is None]
        if missing:
            raise ValueError(f"{where}: column {missing[0]} is missing; make the file again")
        _check_verdict(row, VERDICTS, where)
        for column in NUMBERS:
            if row[column] and not _is_number(row[column]):
                raise ValueError(f"{where}: {column} is {row[column]!r}, expected a finite number or nothing")
    return rows


def _check_verdict(row: Row, verdicts: Sequence[str], where: str) -> None:
    if row["verdict"] not in verdicts:
        raise ValueError(f"{where}: verdict is {row['verdict']!r}, expected one of {', '.join(verdicts)}")


def _is_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def count_verdicts(rows: Sequence[Row]) -> VerdictCounts:
    """Count the verdicts on printed values."""
    counts = Counter(row["verdict"] for row in rows)
    return VerdictCounts(len(rows), {verdict: counts[verdict] for verdict in VERDICTS})


def count_claims(rows: Sequence[Row], name: str = "claims.csv") -> dict[str, int]:
    """How many claims got each verdict, all of `CLAIM_VERDICTS` in order.

    Raises ValueError that names the row (counted from 1, the header not counted) with another verdict.
    """
    for number, row in enumerate(rows, start=1):
        _check_verdict(row, CLAIM_VERDICTS, f"{name}, row {number}")
    counts = Counter(row["verdict"] for row in rows)
    return {verdict: counts[verdict] for verdict in CLAIM_VERDICTS}


def orders(published: str, exact: str) -> float | None:
    """log10(exact / published) of two decimal strings; None where one of them is blank or not positive."""
    if not published or not exact:
        return None
    before, after = Decimal(published), Decimal(exact)
    if before <= 0 or after <= 0:
        return None
    return float(after.log10() - before.log10())


def gaps(rows: Iterable[Row]) -> list[Gap]:
    """The `Gap` of every row that has a positive value in both readings."""
    distances = ((orders(row["reproduced"], row["exact"]), row) for row in rows)
    return [Gap(distance, row) for distance, row in distances if distance is not None]
