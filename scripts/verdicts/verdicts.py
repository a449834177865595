"""Counting verdicts, and the gaps between the published and the exact reading.

Tables are results/verdicts/verdicts.csv and claim_verdicts.csv, every column text (`read_verdicts`): numbers
stay decimal strings until they are shown, because deltas go below the smallest float (1e-308).
"""

import math
import os
from dataclasses import dataclass
from decimal import Decimal

import pandas as pd

from scripts.shared.printed import COLUMNS, printed_to_decimal
from scripts.verdicts.verdict_rules import CLAIM_VERDICTS, READING_VERDICTS

VERDICTS = ("same digits", "close", "consistent", "differs", "inconsistent", "not comparable")
GOOD = ("same digits", "close", "consistent")  # those that do not contradict the paper
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
    def not_contradicted(self) -> int:
        """Values whose verdict is same digits, close or consistent."""
        return sum(self.by_verdict[verdict] for verdict in GOOD)

    @property
    def by_digits(self) -> int:
        """Values whose verdict is same digits or close; consistent is a draw that is not contradicted."""
        return self.by_verdict["same digits"] + self.by_verdict["close"]


def read_verdicts(path: str | os.PathLike[str]) -> pd.DataFrame:
    """A table of verdicts, every column text; blank where there is nothing. OSError if it cannot be read."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def count_verdicts(rows: pd.DataFrame) -> VerdictCounts:
    """Count the verdicts on printed values."""
    counts = rows["verdict"].value_counts()
    return VerdictCounts(len(rows), {verdict: int(counts.get(verdict, 0)) for verdict in VERDICTS})


def fixed_values(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with new information: no draw, no printed zero, and no value that is printed twice.

    A row repeats another one if it prints the same digits for the same quantity, setting and mechanism.
    """
    same = [name for name in COLUMNS if name not in ("item", "source", "kind", "tolerance", "note")]
    own = (rows["kind"] != "random") & (rows["printed"].map(printed_to_decimal) != 0)
    return rows[own].drop_duplicates(same)


def counted_claims(rows: pd.DataFrame) -> pd.DataFrame:
    """The statements that count: of each family the row that is best for the paper, every other row.

    A family (column ``family``) is one statement in several rows: statements that contradict each other, two
    readings of one sentence, or one comparison made twice. "Best" is first in `CLAIM_VERDICTS`.
    """
    rank = rows["verdict"].map(CLAIM_VERDICTS.index)
    family = rows["family"].where(rows["family"] != "", rows.index.to_series())
    return rows.loc[rank.groupby(family, sort=False).idxmin()]


def count_claims(rows: pd.DataFrame) -> dict[str, int]:
    """How many of the statements that count (`counted_claims`) got each verdict of `CLAIM_VERDICTS`."""
    counts = counted_claims(rows)["verdict"].value_counts()
    return {verdict: int(counts.get(verdict, 0)) for verdict in CLAIM_VERDICTS}


def cross_claims(rows: pd.DataFrame) -> dict[str, dict[str, int]]:
    """How many statements that count got which verdicts: as published -> for the exact values -> number.

    Both levels have the `READING_VERDICTS` that occur on either reading, in their order.
    """
    counted = counted_claims(rows)
    pairs = counted.groupby(["verdict_published", "verdict_exact"]).size()
    found = {verdict for pair in pairs.index for verdict in pair}
    verdicts = [verdict for verdict in READING_VERDICTS if verdict in found]
    return {first: {second: int(pairs.get((first, second), 0)) for second in verdicts} for first in verdicts}


def orders(published: str, exact: str) -> float | None:
    """log10(exact / published) of two decimal strings; None where one of them is blank or not positive."""
    if not published or not exact:
        return None
    before, after = Decimal(published), Decimal(exact)
    if before <= 0 or after <= 0:
        return None
    return float(after.log10() - before.log10())


def gaps(rows: pd.DataFrame) -> "pd.Series[float]":
    """log10(exact / published) of every row that has a positive value in both readings."""
    found = [orders(*pair) for pair in zip(rows["reproduced"], rows["exact"], strict=True)]
    return pd.Series(found, rows.index, dtype=float).dropna()
