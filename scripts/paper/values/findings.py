"""The numbers that texts state about the printed values.

They are read from the table verdicts, which has a row of texts per printed value.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from scripts.paper.values.verdict_counts import GOOD, count_verdicts, fixed_values, log10_gap
from scripts.shared.findings import Results, chosen_rows
from scripts.shared.printed import parse_tolerance


@dataclass(frozen=True)
class Counts:
    """The counts of `count_verdicts`."""

    of: int  # all
    missed: int  # not reproduced
    by_digits: int  # with the same digits, or close
    by_verdict: Mapping[str, int]  # verdict -> how many have it


@dataclass(frozen=True)
class ItemCounts:
    """The counts of one item of the paper: a table, its text or its data."""

    item: str
    of: int
    missed: int
    by_digits: int
    by_verdict: Mapping[str, int]


@dataclass(frozen=True)
class PrintedValues(Counts):
    """The counts of all printed values, of those that are worth a comparison, and by item."""

    random: int  # how many are random
    fixed: Counts  # of those that are neither random nor zero nor printed twice
    by_item: list[ItemCounts]
    close: list[float]  # percent: a value that is no farther away is close
    central: list[float]  # percent of our runs: a random value inside of them is consistent


@dataclass(frozen=True)
class TheoremGap:
    """How far the published delta is below the exact one, in cells of Table IV where both are positive."""

    orders: float  # the largest gap, in orders of magnitude
    elsewhere: dict[str, float]  # other table of deltas -> its largest gap, in orders of magnitude


def printed_values(results: Results) -> PrintedValues:
    """How many of the paper's printed values have each verdict, and the tolerances behind the verdicts.

    They are counted in all, by item of the paper, and of the fixed ones (`PrintedValues`). The table's column
    tolerance has the rule for a value, which `parse_tolerance` explains.
    """
    verdicts = results["verdicts"]
    by_item = []
    for item, rows in verdicts.groupby("item", sort=False):
        by_item.append(ItemCounts(item=str(item), **count_verdicts(rows)))

    # The different rules, each with its share: ("digits", 0.05) and ("central", 0.99).
    tolerances = sorted({parse_tolerance(text) for text in verdicts["tolerance"]})
    return PrintedValues(
        **count_verdicts(verdicts),
        random=(verdicts["kind"] == "random").sum(),
        fixed=Counts(**count_verdicts(fixed_values(verdicts))),
        by_item=by_item,
        close=[float(100 * share) for rule, share in tolerances if rule == "digits"],
        central=[float(100 * share) for rule, share in tolerances if rule == "central"],
    )


def theorem_gap(results: Results) -> TheoremGap:
    """How far the deltas by the paper's printed Theorem 1 lie below the exact ones, in three of its tables.

    The gap of a printed delta is log10(exact / published). published is the delta by the formula of the
    theorem, computed anew, and exact is the true delta. There is a gap where both are positive. The fields:

    - orders: the largest gap in Table IV;
    - elsewhere: "Table II" and "Table 1" -> the largest gap there, or 0 if it is negative. These tables have
      other settings. Only those of their deltas count that the formula of the theorem really gives.

    Raises LookupError if Table IV has no gap.
    """
    verdicts = results["verdicts"]
    gaps = _log10_gaps(chosen_rows(verdicts, item="Table IV"))
    if not gaps:
        raise LookupError("no cell of Table IV has two positive readings")

    # The formula gives a printed delta if the verdict on it is a good one.
    by_the_formula = (verdicts["mechanism"] == "this paper") & verdicts["verdict"].isin(GOOD)
    in_other_tables = verdicts["item"].isin(["Table II", "Table 1"])
    elsewhere = {}
    for item, rows in verdicts[by_the_formula & in_other_tables].groupby("item", sort=False):
        elsewhere[str(item)] = max([0.0, *_log10_gaps(rows)])

    return TheoremGap(orders=max(gaps), elsewhere=elsewhere)


def _log10_gaps(rows: pd.DataFrame) -> list[float]:
    """log10(exact / published) in every row where both deltas are positive.

    The columns reproduced and exact have the deltas as decimal text: the one by the paper's formula, and the
    true one.
    """
    gaps = []
    for published, exact in zip(rows["reproduced"], rows["exact"], strict=True):
        gap = log10_gap(published, exact)
        if gap is not None:
            gaps.append(gap)
    return gaps
