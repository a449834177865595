"""Tests of the statements about delta, and of other statements without randomness.

On the published reading delta is Theorem 1 as printed. On the exact reading it is delta of the whole
histogram for the worst dataset, known to lie between `histogram.lower` and `histogram.upper`: a trend counts
only where these intervals do not overlap. Settings of Table IV are read from the printed values.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, pairwise, product
from typing import Any

import numpy as np
import pandas as pd

from reproduction.protocol.printed_formulas import delta_of_count, theorem_1_as_printed
from reproduction.verification.claims.evidence import GAUSSIAN, Budgets, NoEvidenceError, Reading
from reproduction.verification.claims.verdict_rules import Comparisons, orders, span, yes_or_no
from tightshuffle.bounds import histogram
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale, log10_delta_of_scale
from tightshuffle.literature import count
from tightshuffle.planning import expected_tv_gaussian, expected_tv_krr
from tightshuffle.randomizers.krr import invert, lie_probability, project_to_simplex, truth_probability

Point = tuple[float, float, int, int]  # eps, eps0, n, k

AXES = ("eps", "eps0", "n", "k")
_SHARE = 0.8  # n_x0 / n behind the printed digits of Table IV, for all n
_TIGHT = 0.05  # relative difference up to which two deltas are the same
_ROUNDING = 1e-12  # of sums of some hundred doubles near 1
_KM_PER_DEGREE = 6371.0 * np.pi / 180


@functools.lru_cache(maxsize=4096)
def bracket(eps: float, n: int, k: int, eps0: float) -> tuple[float, float]:
    """(low, high): log10 delta of the whole histogram, for the worst dataset, is between them."""
    low, high = (float(bound(eps, n=n, k=k, eps0=eps0)) for bound in (histogram.lower, histogram.upper))
    return low, high


@functools.lru_cache(maxsize=4096)
def as_printed(eps: float, n: int, k: int, eps0: float, share: float = _SHARE) -> float:
    """log10 delta of Theorem 1 as printed; ``share`` of n hold x0."""
    held = min(round(share * n), n - 1)
    return float(theorem_1_as_printed(eps, n=n, k=k, eps0=eps0, count=held))


def trend(
    reading: Reading, axis: str, points: Iterable[Point], rising: bool = False, share: float = _SHARE
) -> Comparisons:
    """Does delta fall (or rise) along ``axis`` between neighbours of ``points``? From 0 to 0 is no step."""
    position = AXES.index(axis)

    def line_of(point: Point) -> tuple[float, ...]:
        return point[:position] + point[position + 1 :]

    steps = []
    for _, line in groupby(sorted(set(points), key=lambda p: (line_of(p), p[position])), key=line_of):
        intervals = [_interval(reading, point, share) for point in line]
        steps += [step for step in pairwise(intervals) if step != ((-np.inf, -np.inf),) * 2]
    before, after = np.array(steps).reshape(-1, 2, 2).swapaxes(0, 1)
    (smaller, larger) = (before, after) if rising else (after, before)
    return Comparisons(np.subtract(smaller[:, 1] < larger[:, 0], smaller[:, 0] > larger[:, 1], dtype=int))


def _interval(reading: Reading, point: Point, share: float) -> tuple[float, float]:
    eps, eps0, n, k = point
    if reading.is_exact:
        return bracket(eps, n, k, eps0)
    value = as_printed(eps, n, k, eps0, share)
    return value, value


def table_iv(reading: Reading, axis: str, rising: bool = False) -> Comparisons:
    """The trend along ``axis`` over the printed settings of Table IV."""
    rows = rows_of(reading, "Table IV")
    if axis != "eps":
        rows = rows[rows["source"].str.contains(f"varying {axis}", regex=False)]
    return trend(reading, axis, points_of(rows), rising)


def both_trends(
    reading: Reading,
    eps_rising: bool,
    eps0_rising: bool,
    points: Sequence[Point],
    shares: Sequence[float] = (_SHARE,),
) -> list[Comparisons]:
    """Both trends, in eps and in eps0, over the same points; published for several shares of x0."""
    return [
        trend(reading, axis, points, rising, share)
        for share in (shares if not reading.is_exact else shares[:1])
        for axis, rising in (("eps", eps_rising), ("eps0", eps0_rising))
    ]


def zero_exactly_at_zeros(reading: Reading) -> Comparisons:
    """Is delta 0 at the settings of Table IV printed as 0, and only there?"""
    rows = rows_of(reading, "Table IV")
    deltas = np.array([_interval(reading, point, _SHARE) for point in points_of(rows)])
    printed = rows["log10_printed"].to_numpy()
    return Comparisons(yes_or_no((np.isneginf(deltas) == np.isneginf(printed)[:, None]).all(axis=1)))


def least_delta(reading: Reading) -> Comparisons:
    """Is the formula's delta the smallest one that holds, within 5 %?

    Published: the printed form against the tight delta of the same count. Exact: that tight delta, both
    directions, against the whole histogram.
    """
    found = []
    for eps, eps0, n, k in sorted(set(points_of(rows_of(reading, "Table IV")))):
        if eps >= eps0:
            continue
        setting: dict[str, Any] = {"n": n, "k": k, "eps0": eps0, "count": round(_SHARE * n)}
        tight = float(count.delta(eps, **setting, direction="both" if reading.is_exact else "forward"))
        if reading.is_exact:
            found.append((tight, *bracket(eps, n, k, eps0)))
        else:
            found.append((as_printed(eps, n, k, eps0), tight, tight))
    value, low, high = np.array(found).T
    slack = np.log10(1 + _TIGHT)
    signs = yes_or_no((low - slack <= value) & (value <= high + slack))
    return Comparisons(signs, orders("too small by", value, low))


def worst_cell_protects(reading: Reading, eps: Iterable[float], eps0: float, n: int, k: int) -> Comparisons:
    """Is the largest delta over all counts that a cell may have a guarantee for the whole histogram?"""
    counts = np.arange(n)
    form, direction = ("exact", "both") if reading.is_exact else ("published", "forward")
    largest = np.array(
        [
            np.max(delta_of_count(e, n=n, k=k, eps0=eps0, count=counts, form=form, direction=direction))
            for e in eps
        ]
    )
    leaked = np.array([bracket(e, n, k, eps0)[0] for e in eps])
    return Comparisons(yes_or_no(leaked <= largest), orders("too small by", largest, leaked))


def varies_with_the_count(reading: Reading, eps: float, eps0: float, n: int, k: int) -> Comparisons:
    """Does delta at the experiments' budget depend on how many hold x0?"""
    counts = np.unique(np.linspace(0, n - 1, 8).astype(int))
    log10_deltas = delta_of_count(eps, n=n, k=k, eps0=eps0, count=counts, form=reading.name)
    least, largest = log10_deltas.min(), log10_deltas.max()
    numbers = f"{span(10**least)} is the smallest, {span(10**largest)} the largest"
    return Comparisons(yes_or_no([least < largest]), numbers)


def inference_falls(reading: Reading, k: Sequence[int], eps0: Sequence[float]) -> Comparisons:
    """Does the probability that a report is the truth, p of k-RR, fall with k? The same on both readings."""
    p = np.array([[truth_probability(budget, cells) for cells in k] for budget in eps0])
    return Comparisons(yes_or_no(np.diff(p, axis=1).ravel() < 0))


def equal_privacy(reading: Reading, scale_of: Callable[[float, float, float], float]) -> Comparisons:
    """Does the Gaussian have delta 0, as the shuffle model has at eps = eps0, at every budget of the trials?

    ``scale_of``: (eps, delta, sensitivity) -> the scale of the trials; no other one has delta 0 either.
    Published: the protocol's sensitivity; exact: sqrt(2).
    """
    if not reading.calibrations:
        raise NoEvidenceError("the config has no trials at eps = eps0")
    sensitivity = HISTOGRAM_SENSITIVITY if reading.is_exact else reading.sensitivity
    deltas = np.array(
        [
            log10_delta_of_scale(
                eps, scale=scale_of(eps, delta, reading.sensitivity), sensitivity=sensitivity
            )
            for eps, delta in sorted(reading.calibrations)
        ]
    )
    numbers = f"for sensitivity {sensitivity:.3g}, its true log10 delta is {span(deltas)}"
    return Comparisons(yes_or_no(np.isneginf(deltas)), numbers)


def local_is_worse(reading: Reading, factor: float, budgets: Budgets | None = None) -> Comparisons:
    """Is the local model's expected error more than ``factor`` times the Gaussian's at equal privacy?

    Closed forms for a uniform histogram at the settings of the exact reading: k-RR with eps0 = eps and no
    shuffler, against the Gaussian at (eps, delta).
    """
    settings = {(s.n, s.k, s.eps, s.delta) for s in reading.pick((GAUSSIAN,), budgets=budgets)}
    errors = []
    for n, k, eps, delta in sorted(settings):
        scale = float(exact_scale(eps, delta, sensitivity=HISTOGRAM_SENSITIVITY))
        errors.append((float(expected_tv_krr(n, k, eps)), float(expected_tv_gaussian(n, k, scale))))
    local, gaussian = np.array(errors).T
    numbers = f"ratio of the local model to the Gaussian: {span(local / gaussian)}"
    return Comparisons(yes_or_no(local > factor * gaussian), numbers)


def approximate(reading: Reading, budgets: Budgets | None = None) -> Comparisons:
    """Does the shuffle model need a delta above 0 at every setting of the experiments?

    It does for every eps < eps0: if everybody reports x0, the likelihoods differ by the factor e^eps0. From
    eps0 on its delta is 0: pure differential privacy.
    """
    settings = reading.pick((GAUSSIAN,), budgets=budgets)
    return Comparisons(yes_or_no([setting.eps < setting.eps0 for setting in settings]))


def unbiased(
    reading: Reading, histogram: Sequence[int], eps0: Sequence[float], projected: bool
) -> Comparisons:
    """Is the mean of the estimate by matrix inversion the histogram itself? The same on both readings.

    All k^n reports of the users in ``histogram`` (k counts) are listed, for every ``eps0``.
    """
    k, truth = len(histogram), np.asarray(histogram) / sum(histogram)
    cells = np.repeat(np.arange(k), histogram)
    reports = np.array(list(product(range(k), repeat=cells.size)))
    counts = np.stack([(reports == cell).sum(axis=1) for cell in range(k)], axis=1)
    misses = []
    for budget in eps0:
        honest = reports == cells
        p = np.where(honest, truth_probability(budget, k), lie_probability(budget, k)).prod(axis=1)
        estimates = invert(counts / cells.size, budget)
        if projected:
            estimates = project_to_simplex(estimates)
        miss = float(np.abs(p @ estimates - truth).max())
        misses.append(miss if miss >= _ROUNDING else 0.0)
    numbers = f"off by {span(misses)}" if any(misses) else ""
    return Comparisons(yes_or_no(np.equal(misses, 0)), numbers)


def area(reading: Reading, dataset: str, width: int, height: int) -> Comparisons:
    """Does the dataset's box measure ``width`` by ``height`` km, rounded to whole km?"""
    if dataset not in reading.boxes:
        raise NoEvidenceError(f"the config has no dataset {dataset} with a box")
    box = reading.boxes[dataset]
    tall = (box["north"] - box["south"]) * _KM_PER_DEGREE
    wide = (
        (box["east"] - box["west"]) * _KM_PER_DEGREE * np.cos(np.radians((box["north"] + box["south"]) / 2))
    )
    signs = yes_or_no(np.round([wide, tall]) == [width, height])
    return Comparisons(signs, f"{wide:.2f} km x {tall:.2f} km")


def rows_of(reading: Reading, item: str) -> pd.DataFrame:
    """The printed values of one item; `NoEvidenceError` if there are none."""
    rows = reading.values[reading.values["item"] == item]
    if rows.empty:
        raise NoEvidenceError(f"there are no printed values of {item}")
    return rows


def points_of(rows: pd.DataFrame) -> list[Point]:
    """The settings of printed values of this paper's deltas."""
    points = rows[["eps", "eps0", "n", "k"]].to_numpy(dtype=float).tolist()
    return [(eps, eps0, int(n), int(k)) for eps, eps0, n, k in points]
