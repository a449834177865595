"""What the statements about delta compare, and other statements without randomness.

On the published reading delta is Theorem 1 as printed. On the exact reading it is delta of the whole
histogram for the worst dataset, known to lie between the methods `lower` and `upper`: a trend counts
only where these intervals do not overlap. Settings are read from the printed values. The literature's bounds
of Tables II and 1 are on the published reading the printed numbers, on the exact reading the cited bounds as
their own papers state them, at the row's n, eps0 and eps and the k = 10 of the paper's own column.
"""

import functools
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from scripts.beyond.statements.evidence import GAUSSIAN, NoEvidenceError, Reading
from scripts.beyond.statements.verdict_rules import Comparisons, yes_or_no
from scripts.paper.delta.printed_formulas import delta_of_count, theorem_1_as_printed
from scripts.shared.printed import OWN
from scripts.shared.published_gaussian import published_scale
from tightshuffle.arguments import OutsideRange
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale, log10_delta_of_scale
from tightshuffle.guarantee import lower, upper
from tightshuffle.krr import invert, lie_probability, project_to_simplex, truth_probability
from tightshuffle.literature import amplification, clones, count
from tightshuffle.planning.plan import expected_tv_gaussian, expected_tv_krr
from tightshuffle.points import make_points

Point = tuple[float, float, int, int]  # eps, eps0, n, k

AXES = ["eps", "eps0", "n", "k"]
SIGNIFICANTLY = 1.0  # decades: "significantly less", "far from tight", "much higher"
REPRODUCED = 0.02  # decades, 5 %: the printed formula gives the printed number
TOO_SMALL, BELOW = "too small, in orders of magnitude, by", "below, in orders of magnitude, by"
SHARE = 0.8  # n_x0 / n behind the printed digits of Table IV, for all n
_TIGHT = 0.05  # relative difference up to which two deltas are the same
_ROUNDING = 1e-12  # of sums of some hundred doubles near 1
_KM_PER_DEGREE = 6371.0 * np.pi / 180
GENERAL: dict[str, list[Callable[..., Any]]] = {  # the cited bounds for any eps0-LDP randomizer
    "erlingsson": [amplification.erlingsson],
    "balle": [
        partial(amplification.balle_hoeffding, randomizer="generic"),
        partial(amplification.balle_bennett, randomizer="generic"),
    ],
    "feldman": [clones.clones],
}


@functools.lru_cache(maxsize=4096)
def bracket(eps: float, eps0: float, n: int, k: int) -> tuple[float, float]:
    """(low, high): log10 delta of the whole histogram, for the worst dataset, is between them."""
    low = lower(eps, n=n, k=k, eps0=eps0, log10=True)
    high = upper(eps, n=n, k=k, eps0=eps0, log10=True)
    return low, high


@functools.lru_cache(maxsize=4096)
def as_printed(eps: float, eps0: float, n: int, k: int, share: float = SHARE) -> float:
    """log10 delta of Theorem 1 as printed; ``share`` of n hold x0."""
    users_with_x0 = min(round(share * n), n - 1)
    return float(theorem_1_as_printed(eps, n=n, k=k, eps0=eps0, count=users_with_x0))


def _interval(reading: Reading, point: Point, share: float = SHARE) -> tuple[float, float]:
    """Between which numbers log10 delta lies on this reading: as published it is one number."""
    if reading.is_exact:
        return bracket(*point)
    log10_delta = as_printed(*point, share)
    return log10_delta, log10_delta


def compare_trend(
    reading: Reading, axis: str, points: Iterable[Point], rising: bool = False, share: float = SHARE
) -> Comparisons:
    """Does delta fall (or rise) along ``axis`` between neighbours of ``points``? From 0 to 0 is no step."""
    others = [name for name in AXES if name != axis]
    line = pd.DataFrame(sorted(set(points)), columns=AXES).sort_values([*others, axis])
    line[["low", "high"]] = [_interval(reading, point, share) for point in points_of(line)]

    before = line.groupby(others)[["low", "high"]].shift()
    has_neighbour = before["low"].notna()
    is_step = has_neighbour & ((before["high"] > -np.inf) | (line["high"] > -np.inf))
    first = before[is_step]
    second = line[is_step]
    smaller, larger = (first, second) if rising else (second, first)
    is_shown = smaller["high"] < larger["low"]
    is_contrary = smaller["low"] > larger["high"]
    return Comparisons(is_shown.to_numpy(dtype=int) - is_contrary.to_numpy(dtype=int))


def compare_table_iv(reading: Reading, axis: str, rising: bool = False) -> Comparisons:
    """The trend along ``axis`` over the printed settings of Table IV."""
    rows = rows_of(reading, "Table IV")
    if axis != "eps":
        rows = rows[rows["source"].str.contains(f"varying {axis}", regex=False)]
    return compare_trend(reading, axis, points_of(rows), rising)


def compare_zeros(reading: Reading) -> Comparisons:
    """Is delta 0 at the settings of Table IV printed as 0, and only there?"""
    rows = rows_of(reading, "Table IV")
    intervals = np.array([_interval(reading, point) for point in points_of(rows)])
    is_printed_as_zero = np.isneginf(rows["log10_printed"].to_numpy())
    agrees = np.isneginf(intervals) == is_printed_as_zero[:, None]
    return Comparisons(yes_or_no(agrees.all(axis=1)))


def compare_with_least_delta(reading: Reading) -> Comparisons:
    """Is the formula's delta the smallest one that holds, within 5 %?

    Published: the printed form against the tight delta of the same count. Exact: that tight delta, both
    directions, against the whole histogram.
    """
    printed_points = set(points_of(rows_of(reading, "Table IV")))
    points = [point for point in printed_points if point[0] < point[1]]
    tight = np.array([_of_count(*point, round(SHARE * point[2]), reading) for point in points])
    if reading.is_exact:
        formula = tight
        low, high = np.array([bracket(*point) for point in points]).T
    else:
        formula = np.array([as_printed(*point) for point in points])
        low, high = tight, tight
    slack = np.log10(1 + _TIGHT)
    is_least = (low - slack <= formula) & (formula <= high + slack)
    return Comparisons(yes_or_no(is_least), TOO_SMALL, low - formula)


def _of_count(
    eps: float, eps0: float, n: int, k: int, users_with_x0: int, reading: Reading
) -> float:
    """log10 of the tight delta of one count; on the exact reading in both directions."""
    direction = "both" if reading.is_exact else "forward"
    return float(count.delta(eps, n=n, k=k, eps0=eps0, count=users_with_x0, direction=direction))


def compare_worst_cell(
    reading: Reading, eps: Iterable[float], *, eps0: float, n: int, k: int
) -> Comparisons:
    """Is the largest delta over all counts that a cell may have a guarantee for the whole histogram?"""
    direction = "both" if reading.is_exact else "forward"
    counts = np.arange(n)
    largest = []
    leaked = []
    for eps_of_guarantee in eps:
        log10_deltas = delta_of_count(
            eps_of_guarantee,
            n=n,
            k=k,
            eps0=eps0,
            count=counts,
            form=reading.name,
            direction=direction,
        )
        largest.append(np.max(log10_deltas))
        leaked.append(bracket(eps_of_guarantee, eps0, n, k)[0])
    is_guarantee = np.array(leaked) <= np.array(largest)
    return Comparisons(yes_or_no(is_guarantee), TOO_SMALL, np.subtract(leaked, largest))


def compare_counts(reading: Reading, *, eps: float, eps0: float, n: int, k: int) -> Comparisons:
    """Does delta at the experiments' budget depend on how many hold x0?"""
    counts = np.unique(np.linspace(0, n - 1, 8).astype(int))
    deltas = 10 ** delta_of_count(eps, n=n, k=k, eps0=eps0, count=counts, form=reading.name)
    return Comparisons(yes_or_no([deltas.min() < deltas.max()]), "delta", deltas)


def compare_inference(k: Sequence[int], eps0: Sequence[float]) -> Comparisons:
    """Does the probability that a report is the truth, p of k-RR, fall with k? The same on both readings."""
    p = np.array([[truth_probability(budget, cells) for cells in k] for budget in eps0])
    return Comparisons(yes_or_no(np.diff(p, axis=1).ravel() < 0))


def compare_deltas_of_gaussian(reading: Reading) -> Comparisons:
    """Does the Gaussian have delta 0, as the shuffle model has at eps = eps0, at every budget of the trials?

    Published: for the protocol's sensitivity; exact: for sqrt(2).
    """
    if not reading.calibrations:
        raise NoEvidenceError("the config has no trials at eps = eps0")
    sensitivity = HISTOGRAM_SENSITIVITY if reading.is_exact else reading.sensitivity
    log10_deltas = []
    for eps, delta in sorted(reading.calibrations):
        scale = published_scale(eps, delta, reading.sensitivity)
        log10_deltas.append(float(log10_delta_of_scale(eps, scale=scale, sensitivity=sensitivity)))
    unit = f"for sensitivity {sensitivity:.3g}, its true log10 delta is"
    return Comparisons(yes_or_no(np.isneginf(log10_deltas)), unit, log10_deltas)


def compare_local_model(reading: Reading, factor: float) -> Comparisons:
    """Is the local model's expected error more than ``factor`` times the Gaussian's at equal privacy?

    Closed forms for a uniform histogram at the settings of the exact reading: k-RR with eps0 = eps and no
    shuffler, against the Gaussian at (eps, delta).
    """
    ratios = []
    settings = reading.pick(GAUSSIAN)[["n", "k", "eps", "delta"]]
    for n, k, eps, delta in set(settings.itertuples(index=False)):
        scale = float(exact_scale(eps, delta, sensitivity=HISTOGRAM_SENSITIVITY))
        ratios.append(float(expected_tv_krr(n, k, eps) / expected_tv_gaussian(n, k, scale)))
    is_worse = np.array(ratios) > factor
    return Comparisons(yes_or_no(is_worse), "ratio of the local model to the Gaussian", ratios)


def compare_eps_with_eps0(reading: Reading) -> Comparisons:
    """Does the shuffle model need a delta above 0, as it does for eps < eps0 only, at every setting?"""
    rows = reading.pick(GAUSSIAN)
    return Comparisons(yes_or_no(rows["eps"] < rows["eps0"]))


def compare_mean_estimate(
    histogram: Sequence[int], eps0: Sequence[float], projected: bool
) -> Comparisons:
    """Is the mean of the estimate by matrix inversion the histogram itself? The same on both readings.

    All k^n reports of the users in ``histogram`` (k counts) are listed, for every ``eps0``.
    """
    k = len(histogram)
    truth = np.asarray(histogram) / sum(histogram)
    cells = np.repeat(np.arange(k), histogram)
    reports = np.array(list(product(range(k), repeat=cells.size)))
    counts = np.stack([(reports == cell).sum(axis=1) for cell in range(k)], axis=1)
    misses = []
    for budget in eps0:
        p = truth_probability(budget, k)
        q = lie_probability(budget, k)
        probabilities = np.where(reports == cells, p, q).prod(axis=1)
        estimates = invert(counts / cells.size, budget)
        if projected:
            estimates = project_to_simplex(estimates)
        misses.append(float(np.abs(probabilities @ estimates - truth).max()))
    return Comparisons(
        yes_or_no(np.array(misses) < _ROUNDING), "off by", misses if projected else ()
    )


def compare_area(reading: Reading, dataset: str, width: int, height: int) -> Comparisons:
    """Does the dataset's box measure ``width`` by ``height`` km, rounded to whole km?"""
    if dataset not in reading.boxes:
        raise NoEvidenceError(f"the config has no dataset {dataset} with a box")
    box = reading.boxes[dataset]
    tall = (box["north"] - box["south"]) * _KM_PER_DEGREE
    middle = np.radians((box["north"] + box["south"]) / 2)
    wide = (box["east"] - box["west"]) * _KM_PER_DEGREE * np.cos(middle)
    return Comparisons(yes_or_no(np.round([wide, tall]) == [width, height]), "km:", [wide, tall])


def compare_with_literature(
    reading: Reading,
    items: Sequence[str],
    mechanisms: Collection[str],
    decades: float = SIGNIFICANTLY,
) -> Comparisons:
    """Is "our delta" of Tables II and 1 at least ``decades`` below the literature's, row by row?

    Published: the printed numbers. Exact: the true delta against the cited bounds as their papers state them.
    """
    rows = pd.concat([_literature(reading, item, mechanisms) for item in items])
    rows["cited"] = rows["log10_cited" if reading.is_exact else "log10_printed"]
    rows = rows.dropna(subset="cited")  # nan outside of a theorem's conditions
    if rows.empty:
        raise NoEvidenceError("no cited bound applies at any row")

    if reading.is_exact:
        low, high = np.array([bracket(*point) for point in points_of(rows, k="papers_k")]).T
    else:
        low = rows["papers_log10_delta"].to_numpy()
        high = low
    cited = rows["cited"].to_numpy()
    is_shown = high < cited - decades
    is_contrary = low >= cited - decades
    return Comparisons(np.subtract(is_shown, is_contrary, dtype=int), BELOW, cited - high)


def compare_most_of_the_literature(
    reading: Reading,
    items: Sequence[str],
    mechanisms: Collection[str],
    decades: float = SIGNIFICANTLY,
) -> Comparisons:
    """Does `compare_with_literature` show it in more than half of the rows?"""
    rows = compare_with_literature(reading, items, mechanisms, decades)
    return Comparisons(yes_or_no([np.mean(rows.signs > 0) > 0.5]), rows.unit, rows.numbers)


def compare_cited_bounds(
    reading: Reading, item: str, best: str, others: Collection[str]
) -> Comparisons:
    """Is the bound of ``best`` the smallest of the literature's in every row of the table?

    Exact: the bounds for any eps0-LDP randomizer (`GENERAL`), whatever k, like with like.
    """
    rows = _literature(reading, item, {best, *others})
    rows["value"] = rows["log10_printed"]
    if reading.is_exact:
        rows["value"] = _general_bounds(rows)
    first = rows[rows["mechanism"] == best]
    rivals = rows[rows["mechanism"].isin(list(others))]
    pairs = first.merge(rivals, on=["n", "eps"], suffixes=("", "_rival")).dropna(
        subset="value_rival"
    )
    is_best = pairs["value"] < pairs["value_rival"]
    return Comparisons(yes_or_no(is_best), BELOW, pairs["value_rival"] - pairs["value"])


def _general_bounds(rows: pd.DataFrame) -> list[float]:
    """log10 of the smallest of the mechanism's `GENERAL` bounds in each row; nan where none applies."""
    smallest = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideRange)
        for eps, n, eps0, mechanism in rows[["eps", "n", "eps0", "mechanism"]].to_numpy():
            point = make_points(eps, n=int(n), k=2, eps0=eps0)
            smallest.append(min(bound(point).item() for bound in GENERAL[mechanism]))
    return smallest


def compare_printed_with_true(reading: Reading, item: str) -> Comparisons:
    """Is the printed delta at least the true one, row by row?

    The true one is that of the same count, on the exact reading that of the whole histogram. Only rows whose
    digits the printed formula gives: the settings behind the remaining rows are not known.
    """
    rows = rows_of(reading, item)
    rows = rows[rows["mechanism"] == OWN]
    formula = np.array([as_printed(*point) for point in points_of(rows)])
    rows = rows[np.abs(formula - rows["log10_printed"]) <= REPRODUCED]
    if rows.empty:
        raise NoEvidenceError(f"{item} has no row that the printed formula gives")

    true = []
    for point, users_with_x0 in zip(points_of(rows), rows["count"], strict=True):
        if reading.is_exact:
            true.append(bracket(*point)[0])
        else:
            true.append(_of_count(*point, int(users_with_x0), reading))
    printed = rows["log10_printed"].to_numpy()
    return Comparisons(yes_or_no(true <= printed), TOO_SMALL, true - printed)


def _literature(reading: Reading, item: str, mechanisms: Collection[str]) -> pd.DataFrame:
    """The rows of the given mechanisms, with k and log10 delta of this paper's row of the same n and eps."""
    rows = rows_of(reading, item)
    papers = rows[rows["mechanism"] == OWN][["n", "eps", "k", "log10_printed"]]
    papers = papers.rename(columns={"k": "papers_k", "log10_printed": "papers_log10_delta"})
    return rows[rows["mechanism"].isin(list(mechanisms))].merge(papers, on=["n", "eps"])


def rows_of(reading: Reading, item: str) -> pd.DataFrame:
    """The printed values of one item; `NoEvidenceError` if there are none."""
    rows = reading.values[reading.values["item"] == item]
    if rows.empty:
        raise NoEvidenceError(f"there are no printed values of {item}")
    return rows


def points_of(rows: pd.DataFrame, k: str = "k") -> list[Point]:
    """The settings in the columns eps, eps0, n and ``k``."""
    points = rows[["eps", "eps0", "n", k]].to_numpy(dtype=float).tolist()
    return [(eps, eps0, int(n), int(cells)) for eps, eps0, n, cells in points]
