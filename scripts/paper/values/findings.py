"""The numbers that texts state about the printed values."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from scripts.paper.values.verdict_counts import GOOD, count_verdicts, fixed_values, orders
from scripts.shared.findings import Results, chosen_rows
from scripts.shared.printed import parse_tolerance


@dataclass(frozen=True)
class Counts:
    """How many printed values there are, and how many have each verdict."""

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
    below: int  # cells in which the published delta is too small
    of: int  # all these cells
    elsewhere: dict[str, float]  # other table of deltas -> its largest gap, in orders of magnitude


def printed_values(results: Results) -> PrintedValues:
    """The verdicts on the printed values, counted, and the tolerances that they follow.

    ``results`` has the table verdicts, with a row of texts per printed value. Its column tolerance has the
    rule for the value: "digits or 5 %" says how far from the printed number a fixed value may be, and
    "central 99 %" which part of our runs must hold a random one.
    """
    verdicts = results["verdicts"]
    tolerances = sorted({parse_tolerance(text) for text in verdicts["tolerance"]})  # (rule, share)
    items = verdicts.groupby("item", sort=False)
    return PrintedValues(
        **count_verdicts(verdicts),
        random=(verdicts["kind"] == "random").sum(),
        fixed=Counts(**count_verdicts(fixed_values(verdicts))),
        by_item=[ItemCounts(item=str(item), **count_verdicts(rows)) for item, rows in items],
        close=[float(100 * share) for rule, share in tolerances if rule == "digits"],
        central=[float(100 * share) for rule, share in tolerances if rule == "central"],
    )


def theorem_gap(results: Results) -> TheoremGap:
    """How far the paper's printed deltas lie below the exact ones, in Table IV and in two other tables.

    The gap of a printed delta is log10(exact / published), where published is the delta by the paper's
    formula. Gaps exist where both are positive. Of Table II and Table 1, which have other settings, only
    those printed deltas count that the paper's formula really gives. ``results`` has the table verdicts, with
    a row of texts per printed value. Raises LookupError if Table IV has no gap.
    """
    verdicts = results["verdicts"]
    gaps = _log10_gaps(chosen_rows(verdicts, item="Table IV"))
    if not gaps:
        raise LookupError("no cell of Table IV has two positive readings")

    # GOOD verdicts do not contradict the paper.
    by_the_formula = (verdicts["mechanism"] == "this paper") & verdicts["verdict"].isin(GOOD)
    others = verdicts[by_the_formula & verdicts["item"].isin(["Table II", "Table 1"])]
    elsewhere = {}
    for item, rows in others.groupby("item", sort=False):
        elsewhere[str(item)] = max([0.0, *_log10_gaps(rows)])

    below = sum(gap > 0 for gap in gaps)
    return TheoremGap(orders=max(gaps), below=below, of=len(gaps), elsewhere=elsewhere)


def _log10_gaps(rows: pd.DataFrame) -> list[float]:
    """log10(exact / published) in every row where both deltas are positive.

    The columns reproduced and exact have the deltas as decimal text: the one by the paper's formula, and the
    true one.
    """
    gaps = []
    for published, exact in zip(rows["reproduced"], rows["exact"], strict=True):
        gap = orders(published, exact)
        if gap is not None:
            gaps.append(gap)
    return gaps
