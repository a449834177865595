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
from scripts.beyond.statements.verdict_rules import Comparisons, signs_where
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
def log10_bounds(eps: float, eps0: float, n: int, k: int) -> tuple[float, float]:
    """(low, high): log10 delta of the whole histogram, for the worst dataset, is between them."""
    low = lower(eps, n=n, k=k, eps0=eps0, log10=True)
    high = upper(eps, n=n, k=k, eps0=eps0, log10=True)
    return low, high


@functools.lru_cache(maxsize=4096)
def log10_theorem_1(eps: float, eps0: float, n: int, k: int, share: float = SHARE) -> float:
    """log10 delta of the count of x0 by Theorem 1 as printed, if a ``share`` of n users hold x0."""
    users_with_x0 = min(round(share * n), n - 1)
    return float(theorem_1_as_printed(eps, n=n, k=k, eps0=eps0, count=users_with_x0))


def _log10_interval(reading: Reading, point: Point, share: float = SHARE) -> tuple[float, float]:
    """(low, high), between which log10 delta lies on this reading.

    Exact: the bounds on delta of the whole histogram. Published: twice the delta of Theorem 1 as printed, if
    a ``share`` of the users hold x0.
    """
    if reading.is_exact:
        return log10_bounds(*point)
    log10_delta = log10_theorem_1(*point, share)
    return log10_delta, log10_delta


def compare_trend(
    reading: Reading, axis: str, points: Iterable[Point], rising: bool = False, share: float = SHARE
) -> Comparisons:
    """Does delta fall along ``axis``, or rise if ``rising``, between neighbours of ``points``?

    A point is (eps, eps0, n, k), and ``axis`` is the name of one of these. Neighbours differ in it only. Of
    each delta an interval is known. So a pair has the sign +1 if the intervals show it, -1 if they show the
    contrary, 0 if they overlap. Two deltas of 0 are not compared. Published: a ``share`` of the users hold
    x0.
    """
    others = [name for name in AXES if name != axis]
    line = pd.DataFrame(sorted(set(points)), columns=AXES).sort_values([*others, axis])
    line[["low", "high"]] = [_log10_interval(reading, point, share) for point in points_of(line)]

    before = line.groupby(others)[["low", "high"]].shift()
    has_neighbour = before["low"].notna()
    is_compared = has_neighbour & ((before["high"] > -np.inf) | (line["high"] > -np.inf))
    first = before[is_compared]
    second = line[is_compared]
    smaller, larger = (first, second) if rising else (second, first)
    is_shown = smaller["high"] < larger["low"]
    is_contrary = smaller["low"] > larger["high"]
    return Comparisons(is_shown.to_numpy(dtype=int) - is_contrary.to_numpy(dtype=int))


def compare_table_iv(reading: Reading, axis: str, rising: bool = False) -> Comparisons:
    """Does delta fall along ``axis``, or rise if ``rising``, over the printed settings of Table IV?

    The settings are those of the part of the table that varies ``axis``, and all for eps.
    """
    rows = printed_rows(reading, "Table IV")
    if axis != "eps":
        rows = rows[rows["source"].str.contains(f"varying {axis}", regex=False)]
    return compare_trend(reading, axis, points_of(rows), rising)


def compare_zeros(reading: Reading) -> Comparisons:
    """Is delta 0 at the settings of Table IV printed as 0, and only there?"""
    rows = printed_rows(reading, "Table IV")
    intervals = np.array([_log10_interval(reading, point) for point in points_of(rows)])
    is_printed_as_zero = np.isneginf(rows["log10_printed"].to_numpy())
    agrees = np.isneginf(intervals) == is_printed_as_zero[:, None]
    return Comparisons(signs_where(agrees.all(axis=1)))


def compare_with_least_delta(reading: Reading) -> Comparisons:
    """Is the formula's delta the least one that holds, within 5 %, at each setting of Table IV below eps0?

    Published: the formula is Theorem 1 as printed. The least delta is the tight one of the same count, for x0
    against x1. Exact: the formula is this tight delta, for the worse direction. The least delta is that of
    the whole histogram. It is known to lie between two bounds, and the formula may lie between them, too.

    The numbers are the orders of magnitude by which the formula is too small.
    """
    printed_points = set(points_of(printed_rows(reading, "Table IV")))
    points = [(eps, eps0, n, k) for eps, eps0, n, k in printed_points if eps < eps0]
    tight = np.array([_log10_tight(*point, round(SHARE * point[2]), reading) for point in points])
    if reading.is_exact:
        formula = tight
        low, high = np.array([log10_bounds(*point) for point in points]).T
    else:
        formula = np.array([log10_theorem_1(*point) for point in points])
        low = tight
        high = tight
    slack = np.log10(1 + _TIGHT)
    is_least = (low - slack <= formula) & (formula <= high + slack)
    return Comparisons(signs_where(is_least), TOO_SMALL, low - formula)


def _log10_tight(
    eps: float, eps0: float, n: int, k: int, users_with_x0: int, reading: Reading
) -> float:
    """log10 of the tight delta of the count of x0; on the exact reading for the worse direction."""
    direction = "both" if reading.is_exact else "forward"
    return float(count.delta(eps, n=n, k=k, eps0=eps0, count=users_with_x0, direction=direction))


def compare_worst_cell(
    reading: Reading, eps: Iterable[float], *, eps0: float, n: int, k: int
) -> Comparisons:
    """Is delta of the worst cell a guarantee for the whole histogram, at each eps?

    Delta of a cell depends on how many of the n - 1 other users hold its value. That of the worst cell is the
    largest for any such number, by the reading's formula. It is no guarantee if it is below the lower bound
    on delta of the histogram. The numbers are the orders of magnitude by which it is too small.
    """
    direction = "both" if reading.is_exact else "forward"
    every_count = np.arange(n)
    of_worst_cell = []
    of_histogram = []
    for budget in eps:
        log10_deltas = delta_of_count(
            budget,
            n=n,
            k=k,
            eps0=eps0,
            count=every_count,
            form=reading.name,
            direction=direction,
        )
        of_worst_cell.append(np.max(log10_deltas))
        low, _ = log10_bounds(budget, eps0, n, k)
        of_histogram.append(low)
    is_guarantee = np.array(of_histogram) <= np.array(of_worst_cell)
    too_small_by = np.subtract(of_histogram, of_worst_cell)
    return Comparisons(signs_where(is_guarantee), TOO_SMALL, too_small_by)


def compare_counts(reading: Reading, *, eps: float, eps0: float, n: int, k: int) -> Comparisons:
    """Does delta of the count of x0 depend on how many hold x0? Compared are 8 numbers of holders.

    The numbers are their deltas, by the reading's formula.
    """
    counts = np.unique(np.linspace(0, n - 1, 8).astype(int))
    deltas = 10 ** delta_of_count(eps, n=n, k=k, eps0=eps0, count=counts, form=reading.name)
    return Comparisons(signs_where([deltas.min() < deltas.max()]), "delta", deltas)


def compare_inference(k: Sequence[int], eps0: Sequence[float]) -> Comparisons:
    """Does the probability that a report is the truth, p of k-RR, fall with k? The same on both readings."""
    p = np.array([[truth_probability(budget, cells) for cells in k] for budget in eps0])
    return Comparisons(signs_where(np.diff(p, axis=1).ravel() < 0))


def compare_deltas_of_gaussian(reading: Reading) -> Comparisons:
    """Is delta of the trials' Gaussian 0, as that of the shuffle model is at eps = eps0? One sign per budget.

    The Gaussian's noise is that of the published protocol for its budget (eps, delta). Its true delta at this
    eps depends on the sensitivity. Published: that of the protocol. Exact: sqrt(2), that of a histogram. The
    numbers are the true deltas as log10.
    """
    if not reading.calibrations:
        raise NoEvidenceError("the config has no trials at eps = eps0")
    sensitivity = HISTOGRAM_SENSITIVITY if reading.is_exact else reading.sensitivity
    log10_deltas = []
    for eps, delta in sorted(reading.calibrations):
        scale = published_scale(eps, delta, reading.sensitivity)
        log10_deltas.append(float(log10_delta_of_scale(eps, scale=scale, sensitivity=sensitivity)))
    unit = f"for sensitivity {sensitivity:.3g}, its true log10 delta is"
    return Comparisons(signs_where(np.isneginf(log10_deltas)), unit, log10_deltas)


def compare_local_model(reading: Reading, factor: float) -> Comparisons:
    """Is the local model's expected TV error more than ``factor`` times the Gaussian's at equal privacy?

    Both are closed forms for a uniform histogram, at every setting of the exact reading: k-RR with eps0 = eps
    and no shuffler, against the Gaussian at (eps, delta). The numbers are the ratios of the errors.
    """
    ratios = []
    settings = reading.pick(GAUSSIAN)[["n", "k", "eps", "delta"]]
    for n, k, eps, delta in set(settings.itertuples(index=False)):
        scale = float(exact_scale(eps, delta, sensitivity=HISTOGRAM_SENSITIVITY))
        ratios.append(float(expected_tv_krr(n, k, eps) / expected_tv_gaussian(n, k, scale)))
    is_worse = np.array(ratios) > factor
    return Comparisons(signs_where(is_worse), "ratio of the local model to the Gaussian", ratios)


def compare_eps_with_eps0(reading: Reading) -> Comparisons:
    """Does the shuffle model need a delta above 0, as it does for eps < eps0 only, at every setting?"""
    rows = reading.pick(GAUSSIAN)
    return Comparisons(signs_where(rows["eps"] < rows["eps0"]))


def compare_mean_estimate(
    histogram: Sequence[int], eps0: Sequence[float], projected: bool
) -> Comparisons:
    """Is the mean of the estimate by matrix inversion the histogram itself, up to rounding, at each eps0?

    ``histogram`` has k counts. The mean is exact: over all k^n reports that its n users can make together,
    with their probabilities under k-RR. ``projected`` is whether the estimate is projected onto the simplex.
    The numbers are the largest differences in a cell, and are left out if there is only rounding. The answer
    is the same on both readings.
    """
    k = len(histogram)
    n = sum(histogram)
    truth = np.asarray(histogram) / n
    value_of_user = np.repeat(np.arange(k), histogram)  # (n,)
    reports = np.array(list(product(range(k), repeat=n)))  # (k^n, n)
    counts = np.stack([(reports == value).sum(axis=1) for value in range(k)], axis=1)  # (k^n, k)

    differences = []
    for budget in eps0:
        p = truth_probability(budget, k)
        q = lie_probability(budget, k)
        probabilities = np.where(reports == value_of_user, p, q).prod(axis=1)
        estimates = invert(counts / n, budget)
        if projected:
            estimates = project_to_simplex(estimates)
        differences.append(float(np.abs(probabilities @ estimates - truth).max()))
    is_histogram = signs_where(np.array(differences) < _ROUNDING)
    return Comparisons(is_histogram, "off by", differences if projected else ())


def compare_area(reading: Reading, dataset: str, width: int, height: int) -> Comparisons:
    """Does the dataset's box measure ``width`` by ``height`` km, rounded to whole km?

    The numbers are its width, in the middle between north and south, and its height, in km.
    """
    if dataset not in reading.boxes:
        raise NoEvidenceError(f"the config has no dataset {dataset} with a box")
    box = reading.boxes[dataset]
    tall = (box["north"] - box["south"]) * _KM_PER_DEGREE
    middle = np.radians((box["north"] + box["south"]) / 2)
    wide = (box["east"] - box["west"]) * _KM_PER_DEGREE * np.cos(middle)
    return Comparisons(signs_where(np.round([wide, tall]) == [width, height]), "km:", [wide, tall])


def compare_with_literature(
    reading: Reading,
    items: Sequence[str],
    mechanisms: Collection[str],
    decades: float = SIGNIFICANTLY,
) -> Comparisons:
    """Is this paper's delta at least ``decades`` (orders of magnitude) below the literature's, row by row?

    The rows are those of ``mechanisms`` in the tables ``items``. Published: both deltas are the printed ones.
    Exact: the literature's delta is the cited bound as its own paper states it, and this paper's is that of
    the whole histogram. Bounds on this are known, so a row may have the sign 0. The numbers are the orders of
    magnitude by which this paper's delta, or its upper bound, is below.
    """
    rows = pd.concat([_literature_rows(reading, item, mechanisms) for item in items])
    rows["cited"] = rows["log10_cited" if reading.is_exact else "log10_printed"]
    rows = rows.dropna(subset="cited")  # nan outside of a theorem's conditions
    if rows.empty:
        raise NoEvidenceError("no cited bound applies at any row")

    if reading.is_exact:
        low, high = np.array([log10_bounds(*point) for point in points_of(rows, k="papers_k")]).T
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
    """Does `compare_with_literature` show that this paper's delta is smaller in most of the rows?"""
    rows = compare_with_literature(reading, items, mechanisms, decades)
    return Comparisons(signs_where([np.mean(rows.signs > 0) > 0.5]), rows.unit, rows.numbers)


def compare_cited_bounds(
    reading: Reading, item: str, best: str, others: Collection[str]
) -> Comparisons:
    """Is the bound of ``best`` smaller than that of each of the mechanisms ``others``, in every row?

    Published: the printed deltas. Exact: the smallest of the mechanism's `GENERAL` bounds, which hold for
    every eps0-LDP randomizer and any k, so that all bounds are for the same. A pair without a bound of the
    other mechanism is left out. The numbers are the orders of magnitude by which the bound of ``best`` is
    below.
    """
    rows = _literature_rows(reading, item, {best, *others})
    rows["log10_delta"] = _log10_general(rows) if reading.is_exact else rows["log10_printed"]
    rows_of_best = rows[rows["mechanism"] == best]
    rivals = rows[rows["mechanism"].isin(list(others))]
    pairs = rows_of_best.merge(rivals, on=["n", "eps"], suffixes=("", "_rival"))
    pairs = pairs.dropna(subset="log10_delta_rival")
    is_best = pairs["log10_delta"] < pairs["log10_delta_rival"]
    below_by = pairs["log10_delta_rival"] - pairs["log10_delta"]
    return Comparisons(signs_where(is_best), BELOW, below_by)


def _log10_general(rows: pd.DataFrame) -> list[float]:
    """log10 of the smallest of the mechanism's `GENERAL` bounds in each row; nan where none applies."""
    smallest = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideRange)
        for eps, n, eps0, mechanism in rows[["eps", "n", "eps0", "mechanism"]].to_numpy():
            point = make_points(eps, n=int(n), k=2, eps0=eps0)  # these bounds do not depend on k
            smallest.append(min(bound(point).item() for bound in GENERAL[mechanism]))
    return smallest


def compare_printed_with_true(reading: Reading, item: str) -> Comparisons:
    """Is this paper's printed delta at least the true one, row by row of the table ``item``?

    Published: the true delta is the tight one of the same count of x0. Exact: the lower bound on delta of the
    whole histogram. Only rows whose digits the printed formula gives are compared: the settings behind the
    remaining rows are not known. The numbers are the orders of magnitude by which a printed delta is too
    small.
    """
    rows = printed_rows(reading, item)
    rows = rows[rows["mechanism"] == OWN]
    formula = np.array([log10_theorem_1(*point) for point in points_of(rows)])
    rows = rows[np.abs(formula - rows["log10_printed"]) <= REPRODUCED]
    if rows.empty:
        raise NoEvidenceError(f"{item} has no row that the printed formula gives")

    true = []
    for point, users_with_x0 in zip(points_of(rows), rows["count"], strict=True):
        if reading.is_exact:
            low, _ = log10_bounds(*point)
            true.append(low)
        else:
            true.append(_log10_tight(*point, int(users_with_x0), reading))
    printed = rows["log10_printed"].to_numpy()
    return Comparisons(signs_where(true <= printed), TOO_SMALL, true - printed)


def _literature_rows(reading: Reading, item: str, mechanisms: Collection[str]) -> pd.DataFrame:
    """The printed rows of ``mechanisms`` in the table ``item``, with this paper's row of the same n and eps.

    ``papers_k`` and ``papers_log10_delta`` are k and the printed log10 delta of this paper's row.
    """
    rows = printed_rows(reading, item)
    papers = rows[rows["mechanism"] == OWN][["n", "eps", "k", "log10_printed"]]
    papers = papers.rename(columns={"k": "papers_k", "log10_printed": "papers_log10_delta"})
    return rows[rows["mechanism"].isin(list(mechanisms))].merge(papers, on=["n", "eps"])


def printed_rows(reading: Reading, item: str) -> pd.DataFrame:
    """The printed values of one item, such as "Table IV". Raises `NoEvidenceError` if there are none."""
    rows = reading.values[reading.values["item"] == item]
    if rows.empty:
        raise NoEvidenceError(f"there are no printed values of {item}")
    return rows


def points_of(rows: pd.DataFrame, k: str = "k") -> list[Point]:
    """The settings (eps, eps0, n, k) in these columns of the rows, with k from the column named ``k``."""
    points = rows[["eps", "eps0", "n", k]].to_numpy(dtype=float).tolist()
    return [(eps, eps0, int(n), int(cells)) for eps, eps0, n, cells in points]
