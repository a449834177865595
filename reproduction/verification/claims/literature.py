"""Tests of "our delta" against the literature's, row by row of Tables II and 1.

On the published reading these are the printed numbers. On the exact reading it is the true delta of the whole
histogram, between `histogram.lower` and `histogram.upper`, against the cited bounds as their own papers state
them, at the row's n, eps0 and eps and the k = 10 of the paper's own column.
"""

import warnings
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import numpy as np

from reproduction.verification.claims.evidence import NoEvidenceError, Reading
from reproduction.verification.claims.privacy import as_printed, bracket, point_of, rows_of
from reproduction.verification.claims.verdict_rules import (
    FAILS,
    HOLDS,
    Outcome,
    Signs,
    count_signs,
    span,
    verdict_of,
)
from reproduction.verification.printed import Row, printed_to_decimal
from tightshuffle.arguments import OutsideRange
from tightshuffle.literature import amplification, clones, count

SIGNIFICANTLY = 1.0  # decades: "significantly less", "far from tight", "much higher"
REPRODUCED = 0.02  # decades, 5 %: the printed formula gives the printed number

GENERAL: dict[str, tuple[Callable[..., Any], ...]] = {  # the cited bounds for any eps0-LDP randomizer
    "erlingsson": (amplification.erlingsson,),
    "balle": (
        partial(amplification.balle_hoeffding, randomizer="generic"),
        partial(amplification.balle_bennett, randomizer="generic"),
    ),
    "feldman": (clones.clones,),
}


def below_the_literature(
    reading: Reading, items: Collection[str], mechanisms: Collection[str], decades: float = SIGNIFICANTLY
) -> Outcome:
    """Is "our delta" of Tables II and 1 at least ``decades`` below the literature's, row by row?

    Published: the printed numbers. Exact: the true delta against the cited bounds as their papers state them.
    """
    signs, text = _compared(reading, items, mechanisms, decades)
    return Outcome(verdict_of(signs), f"{count_signs(signs)}; {text[0]}", text[1])


def mostly_loose(reading: Reading, items: Collection[str], mechanisms: Collection[str]) -> Outcome:
    """Are more than half of the literature's values a factor of ten or more above delta?"""
    signs, text = _compared(reading, items, mechanisms, SIGNIFICANTLY)
    verdict = HOLDS if 2 * np.sum(signs > 0) > signs.size else FAILS
    return Outcome(verdict, f"{count_signs(signs)}; {text[0]}", text[1])


def _compared(
    reading: Reading, items: Collection[str], mechanisms: Collection[str], decades: float
) -> tuple[Signs, tuple[str, str]]:
    """Signs, shape (comparisons,), and two texts: the range of the ratios, and a sentence."""
    signs, margins = [], []
    near: set[str] = set()
    outside = 0
    for row, own in [pair for item in items for pair in _literature(reading, item, mechanisms)]:
        if not reading.is_exact:
            low = high = _log10(own["printed"])
            theirs = _log10(row["printed"])
        else:
            low, high = bracket(float(row["eps"]), int(row["n"]), int(own["k"]), float(row["eps0"]))
            theirs = _cited(reading, row)
        if np.isnan(theirs):
            outside += 1
            continue
        margins.append(theirs - high)
        signs.append(1 if high < theirs - decades else -1 if low >= theirs - decades else 0)
        near |= {row["mechanism"]} if signs[-1] < 1 else set()
    if not signs:
        raise NoEvidenceError("no cited bound applies at any row")
    by = f"a factor of {10**decades:g} or more " if decades else ""
    tenths = sum(margin >= SIGNIFICANTLY for margin in margins)
    ratios = f"log10 of the ratio {span(margins)}"
    whose = "upper bound on the true delta" if reading.is_exact else "printed delta"
    cited = f"{'real' if reading.is_exact else 'printed'} values of {', '.join(mechanisms)}"
    why = (
        f"the {whose} is {by}below the {cited} in "
        f"{sum(s > 0 for s in signs)} of {len(signs)} comparisons ({ratios})"
    )
    if not decades:
        why += f"; a tenth or less of them in {tenths}"
    elif near:
        why += f"; less than that below {', '.join(sorted(near))}"
    if outside:
        why += f"; {outside} rows lie outside the conditions of the cited theorem"
    return np.array(signs), (ratios, why)


def best_of_the_cited(reading: Reading, item: str, best: str, others: Collection[str]) -> Outcome:
    """Is the bound of ``best`` the smallest of the literature's in every row of the table?

    Exact: the bounds for any eps0-LDP randomizer (`GENERAL`), like with like; how it goes against the bounds
    that are made for k-RR is told and not judged.
    """
    signs, losses, special = [], [], []
    for row, _ in _literature(reading, item, (best,)):
        value = _general(row) if reading.is_exact else _log10(row["printed"])
        for rival, _ in _literature(reading, item, others):
            if (rival["n"], rival["eps"]) != (row["n"], row["eps"]):
                continue
            theirs = _general(rival) if reading.is_exact else _log10(rival["printed"])
            if not np.isnan(theirs):
                signs.append(1 if value < theirs else -1)
                losses.append(value - theirs)
                special.append(value < _cited(reading, rival) if reading.is_exact else True)
    why = (
        f"{best}'s value is the smaller one in {sum(s > 0 for s in signs)} of {len(signs)} comparisons with "
        f"{', '.join(others)} (log10 of the ratio {span(losses)})"
    )
    if reading.is_exact:
        why += f", all for any local randomizer; with their bounds for k-RR itself, in {sum(special)}"
    return Outcome(verdict_of(signs), count_signs(signs), why)


def _general(row: Row) -> float:
    """log10 of the cited bound for any eps0-LDP randomizer; nan where no theorem applies."""
    setting = {"n": int(row["n"]), "k": 2, "eps0": float(row["eps0"])}  # k is no argument of these bounds
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideRange)
        bounds = [float(bound(float(row["eps"]), **setting)) for bound in GENERAL[row["mechanism"]]]
    return min(bounds)


def sound(reading: Reading, item: str) -> Outcome:
    """Is the printed delta at least the true one, row by row?

    The true one is that of the same count, on the exact reading that of the whole histogram. Only rows whose
    digits the printed formula gives: the settings behind the remaining rows are not known.
    """
    signs, misses = [], []
    for row in rows_of(reading, item):
        if row["mechanism"] != "this paper":
            continue
        eps, eps0, n, k = point_of(row)
        if abs(as_printed(eps, n, k, eps0) - _log10(row["printed"])) > REPRODUCED:
            continue
        if reading.is_exact:
            true = bracket(eps, n, k, eps0)[0]
        else:
            true = float(count.delta(eps, n=n, k=k, eps0=eps0, count=int(row["count"])))
        misses.append(true - _log10(row["printed"]))
        signs.append(1 if misses[-1] <= 0 else -1)
    if not signs:
        raise NoEvidenceError(f"{item} has no row that the printed formula gives")
    what = (
        "a lower bound of the whole histogram's delta" if reading.is_exact else "the exact delta of the count"
    )
    why = f"{what} lies {span(misses)} decades above the printed delta, at "
    why += f"{sum(s < 0 for s in signs)} of {len(signs)} rows above it"
    return Outcome(verdict_of(signs), count_signs(signs), why)


def _log10(printed: str) -> float:
    value = printed_to_decimal(printed)
    return float(value.log10()) if value else -np.inf


def _literature(reading: Reading, item: str, mechanisms: Collection[str]) -> list[tuple[Row, Row]]:
    """(row, own row of the same n and eps) for the rows of the given mechanisms."""
    rows = rows_of(reading, item)
    own = {(row["n"], row["eps"]): row for row in rows if row["mechanism"] == "this paper"}
    return [(row, own[row["n"], row["eps"]]) for row in rows if row["mechanism"] in mechanisms]


def _cited(reading: Reading, row: Row) -> float:
    return reading.cited[row["item"], row["mechanism"], row["n"], row["eps"]]
