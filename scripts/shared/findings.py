"""What the findings of all stages share: the tables that they read, ranges of numbers, and chosen rows.

A finding is a number that a text states: the page, the README or a page of docs/. Every stage has a module
``findings``, whose functions read those of its subject from tables, and return them as a frozen dataclass.
They count, choose and compare what the tables have: a bound or a noise is computed by a stage's script, which
writes it to a table. So findings import no module that computes.

The fields have the names of results/findings.json. They are numbers, or texts that stand in a table, such as
the digits that the paper prints: the words of a sentence belong to the page that states the number.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tightshuffle.number_text import rounded
from tightshuffle.numerics.side import Side

# The tables of results/ by name, as rules/report.smk names them: verdicts and claim_verdicts with every
# column as text (`read_verdicts`), the others with numbers, and only those that the configuration makes.
# Beside them `titles`, dataset -> its title, and `papers`, dataset -> the paper's eps0s (`papers_eps0`).
Results = Mapping[str, Any]


@dataclass(frozen=True)
class Range:
    """The smallest and the largest of several numbers, in their unit."""

    low: float
    high: float


def range_of(values: Iterable[Any]) -> Range:
    """The range of at least one number. Raises ValueError where there is none."""
    numbers = [float(value) for value in values]
    return Range(min(numbers), max(numbers))


def rounded_outwards(low: float, high: float) -> Range:
    """The range from ``low`` to ``high`` with ends of two significant digits, no narrower than it is."""
    return Range(
        float(rounded(low, 2, side=Side.LOWER)),
        float(rounded(high, 2, side=Side.UPPER)),
    )


def chosen_rows(rows: pd.DataFrame, **values: float | str) -> pd.DataFrame:
    """The rows with the given values in these columns, in order. Raises LookupError if there is none."""
    matches = [rows[column] == value for column, value in values.items()]
    chosen = rows[np.logical_and.reduce(matches)]
    if chosen.empty:
        raise LookupError(f"no row with {values}")
    return chosen


def gaussian_scales_at(results: Results, eps: float, delta: float) -> "pd.Series[Any]":
    """The row of the table gaussian_scale for (eps, delta): the scales of the Gaussian's noise.

    Its columns exact and published are standard deviations in users, for sensitivity 1. Raises LookupError if
    there is no such row.
    """
    rows = chosen_rows(results["gaussian_scale"], eps=eps, log10_delta=math.log10(delta))
    return rows.iloc[0]


def in_papers_settings(rows: pd.DataFrame, papers: Mapping[str, Collection[float]]) -> pd.DataFrame:
    """The rows whose dataset and eps0 are in ``papers``: dataset -> the paper's eps0s (`papers_eps0`)."""
    points = zip(rows["dataset"], rows["eps0"], strict=True)
    return rows[[eps0 in papers.get(dataset, ()) for dataset, eps0 in points]]
