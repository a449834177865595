"""Counting verdicts, and the gaps between the published and the exact reading.

Rows are dicts of strings, as results/report/verdicts.csv and claim_verdicts.csv have them. Numbers stay
decimal strings until they are shown, because deltas go below the smallest float (1e-308).
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from reproduction.verification.claims.verdict_rules import CLAIM_VERDICTS, READING_VERDICTS
from reproduction.verification.printed import COLUMNS, Row, printed_to_decimal

VERDICTS = ("same digits", "close", "consistent", "differs", "inconsistent", "not comparable")
REPRODUCED = ("same digits", "close", "consistent")
NUMBERS = ("reproduced", "exact", "quantile", "low", "high")
VERDICT_COLUMNS = (*COLUMNS, *NUMBERS, "verdict")
REJECTED, NOT_REJECTED = "rejected", "not rejected"  # of a joint test
CONTRADICTED, NOT_CONTRADICTED = "contradicted", "not contradicted"  # of a city's grid
TIMES = {"power_half": 0.5, "power_sqrt2": math.sqrt(2), "power_double": 2.0}  # column: errors over ours


@dataclass(frozen=True)
class VerdictCounts:
    """How many of ``total`` printed values got each verdict (``by_verdict``: all six)."""

    total: int
    by_verdict: dict[str, int]

    @property
    def reproduced(self) -> int:
        """Values whose verdict is same digits, close or consistent."""
        return sum(self.by_verdict[verdict] for verdict in REPRODUCED)

    @property
    def by_digits(self) -> int:
        """Values whose verdict is same digits or close; consistent is a draw that is not contradicted."""
        return self.by_verdict["same digits"] + self.by_verdict["close"]


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


def fixed_values(rows: Iterable[Row]) -> list[Row]:
    """The rows that say something of their own: no draw, no printed zero, and no value that is printed twice.

    A row repeats another one if it prints the same digits for the same quantity, setting and mechanism.
    """
    same = [name for name in COLUMNS if name not in ("item", "source", "kind", "tolerance", "note")]
    first: dict[tuple[str, ...], Row] = {}
    for row in rows:
        if row["kind"] != "random" and printed_to_decimal(row["printed"]) != 0:
            first.setdefault(tuple(row[name] for name in same), row)
    return list(first.values())


def counted_claims(rows: Sequence[Row], name: str = "claim_verdicts.csv") -> list[Row]:
    """The statements that count: of each family the row that is best for the paper, every other row.

    A family (column ``family``) is one statement in several rows: statements that contradict each other, two
    readings of one sentence, or one comparison made twice. "Best" is first in `CLAIM_VERDICTS`. Raises
    ValueError that names the row (counted from 1, the header not counted) with an unknown verdict.
    """
    best: dict[str, Row] = {}
    for number, row in enumerate(rows, start=1):
        _check_verdict(row, CLAIM_VERDICTS, f"{name}, row {number}")
        rival = best.setdefault(row["family"] or f"row {number}", row)
        if CLAIM_VERDICTS.index(row["verdict"]) < CLAIM_VERDICTS.index(rival["verdict"]):
            best[row["family"]] = row
    return list(best.values())


def count_claims(rows: Sequence[Row], name: str = "claim_verdicts.csv") -> dict[str, int]:
    """How many of the statements that count (`counted_claims`) got each verdict of `CLAIM_VERDICTS`."""
    counts = Counter(row["verdict"] for row in counted_claims(rows, name))
    return {verdict: counts[verdict] for verdict in CLAIM_VERDICTS}


def cross_claims(rows: Sequence[Row], name: str = "claim_verdicts.csv") -> dict[str, dict[str, int]]:
    """How many statements that count got which verdicts: as published -> for the exact values -> number.

    Both levels have the `READING_VERDICTS` that occur on either reading, in their order.
    """
    pairs = Counter((row["verdict_published"], row["verdict_exact"]) for row in counted_claims(rows, name))
    found = {verdict for pair in pairs for verdict in pair}
    verdicts = [verdict for verdict in READING_VERDICTS if verdict in found]
    return {first: {second: pairs[first, second] for second in verdicts} for first in verdicts}


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
