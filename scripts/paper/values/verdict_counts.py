"""What the tables of verdicts hold, in numbers.

They are results/values/verdicts.csv and results/statements/claim_verdicts.csv, every column text
(`read_verdicts`): numbers stay decimal strings until they are shown, because deltas go below the smallest
float (1e-308).
"""

from decimal import Decimal
from typing import Any

import pandas as pd

from scripts.shared.job import StrPath
from scripts.shared.printed import COLUMNS, printed_to_decimal

GOOD = ("same digits", "close", "consistent")  # the verdicts that do not contradict the paper
VERDICTS = (*GOOD, "differs", "inconsistent", "not comparable")  # all


def read_verdicts(path: StrPath) -> pd.DataFrame:
    """A table of verdicts, every column text; blank where there is nothing. OSError if it cannot be read."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def count_verdicts(rows: pd.DataFrame) -> dict[str, Any]:
    """How many printed values there are, and how many have each verdict. ``rows`` has a row per value.

    The keys are of (all values), missed (not reproduced), by_digits (with the same digits, or close) and
    by_verdict (verdict -> how many have it). A consistent value is a draw that is not contradicted.
    """
    by_verdict = {verdict: int((rows["verdict"] == verdict).sum()) for verdict in VERDICTS}
    missed = len(rows) - sum(by_verdict[verdict] for verdict in GOOD)
    by_digits = by_verdict["same digits"] + by_verdict["close"]
    return {"of": len(rows), "missed": missed, "by_digits": by_digits, "by_verdict": by_verdict}


def fixed_values(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with new information: no draw, no printed zero, and no value that is printed twice.

    A row repeats another one if it prints the same digits for the same quantity, setting and mechanism.
    """
    same = [name for name in COLUMNS if name not in ("item", "source", "kind", "tolerance", "note")]
    is_random = rows["kind"] == "random"
    is_zero = rows["printed"].map(printed_to_decimal) == 0
    return rows[~is_random & ~is_zero].drop_duplicates(same)


def log10_gap(published: str, exact: str) -> float | None:
    """log10(exact / published) of two decimal strings; None where one of them is blank or not positive."""
    if not published or not exact:
        return None
    published_number = Decimal(published)
    exact_number = Decimal(exact)
    if min(published_number, exact_number) <= 0:
        return None
    return float(exact_number.log10() - published_number.log10())
