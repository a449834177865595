"""Tests of "our delta" against the literature's, row by row of Tables II and 1.

On the published reading these are the printed numbers. On the exact reading it is the true delta of the whole
histogram, between `histogram.lower` and `histogram.upper`, against the cited bounds as their own papers state
them, at the row's n, eps0 and eps and the k = 10 of the paper's own column.
"""

import warnings
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from reproduction.verification.claims.evidence import OWN, NoEvidenceError, Reading
from reproduction.verification.claims.privacy import as_printed, bracket, points_of, rows_of
from reproduction.verification.claims.verdict_rules import Comparisons, orders, yes_or_no
from tightshuffle.arguments import Floats, OutsideRange
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
    reading: Reading,
    items: Sequence[str],
    mechanisms: Collection[str],
    decades: float = SIGNIFICANTLY,
    majority: bool = False,
) -> Comparisons:
    """Is "our delta" of Tables II and 1 at least ``decades`` below the literature's, row by row?

    Published: the printed numbers. Exact: the true delta against the cited bounds as their papers state them.
    ``majority``: more than half of the rows are enough.
    """
    rows = pd.concat([_literature(reading, item, mechanisms) for item in items])
    theirs = rows["log10_cited" if reading.is_exact else "log10_printed"]
    rows, cited = rows[theirs.notna()], theirs.dropna().to_numpy()  # nan outside of a theorem's conditions
    if rows.empty:
        raise NoEvidenceError("no cited bound applies at any row")
    if reading.is_exact:
        points = zip(rows["eps"], rows["n"].astype(int), rows["k_own"].astype(int), rows["eps0"], strict=True)
        low, high = np.array([bracket(*point) for point in points]).T
    else:
        low = high = rows["log10_own"].to_numpy()
    signs = np.subtract(high < cited - decades, low >= cited - decades, dtype=int)
    return Comparisons(signs, orders("below by", high, cited), majority)


def best_of_the_cited(reading: Reading, item: str, best: str, others: Collection[str]) -> Comparisons:
    """Is the bound of ``best`` the smallest of the literature's in every row of the table?

    Exact: the bounds for any eps0-LDP randomizer (`GENERAL`), like with like.
    """
    rows = _literature(reading, item, {best, *others})
    rows["value"] = _general(rows) if reading.is_exact else rows["log10_printed"]
    first, rivals = rows[rows["mechanism"] == best], rows[rows["mechanism"].isin(others)]
    pairs = first.merge(rivals, on=["n", "eps"], suffixes=("", "_rival")).dropna(subset="value_rival")
    smaller, larger = pairs["value"].to_numpy(), pairs["value_rival"].to_numpy()
    return Comparisons(yes_or_no(smaller < larger), orders("larger by", smaller, larger))


def _general(rows: pd.DataFrame) -> Floats:
    """log10 of the cited bounds for any eps0-LDP randomizer, whatever k; nan where no theorem applies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideRange)
        return np.array(
            [
                min(float(bound(eps, n=int(n), k=2, eps0=eps0)) for bound in GENERAL[mechanism])
                for eps, n, eps0, mechanism in rows[["eps", "n", "eps0", "mechanism"]].to_numpy()
            ]
        )


def sound(reading: Reading, item: str) -> Comparisons:
    """Is the printed delta at least the true one, row by row?

    The true one is that of the same count, on the exact reading that of the whole histogram. Only rows whose
    digits the printed formula gives: the settings behind the remaining rows are not known.
    """
    rows = rows_of(reading, item)
    rows = rows[rows["mechanism"] == OWN]
    formula = np.array([as_printed(eps, n, k, eps0) for eps, eps0, n, k in points_of(rows)])
    rows = rows[np.abs(formula - rows["log10_printed"]) <= REPRODUCED]
    if rows.empty:
        raise NoEvidenceError(f"{item} has no row that the printed formula gives")
    points = points_of(rows)
    if reading.is_exact:
        true = np.array([bracket(eps, n, k, eps0)[0] for eps, eps0, n, k in points])
    else:
        true = np.array(
            [
                float(count.delta(eps, n=n, k=k, eps0=eps0, count=int(held)))
                for (eps, eps0, n, k), held in zip(points, rows["count"], strict=True)
            ]
        )
    printed = rows["log10_printed"].to_numpy()
    return Comparisons(yes_or_no(true <= printed), orders("too small by", printed, true))


def _literature(reading: Reading, item: str, mechanisms: Collection[str]) -> pd.DataFrame:
    """The rows of the given mechanisms, with k and log10 delta of this paper's row of the same n and eps."""
    rows = rows_of(reading, item)
    own = rows[rows["mechanism"] == OWN][["n", "eps", "k", "log10_printed"]]
    own = own.rename(columns={"k": "k_own", "log10_printed": "log10_own"})
    return rows[rows["mechanism"].isin(list(mechanisms))].merge(own, on=["n", "eps"])
