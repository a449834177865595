"""Tests of the statements about delta, and of other statements without randomness.

On the published reading delta is Theorem 1 as printed. On the exact reading it is delta of the whole
histogram for the worst dataset, known to lie between `histogram.lower` and `histogram.upper`: a trend counts
only where these intervals do not overlap. Settings of Table IV are read from the printed values.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, product
from typing import Any

import numpy as np

from reproduction.protocol.theorem_1 import published_delta
from reproduction.verification.claims.evidence import GAUSSIAN, Budgets, NoEvidenceError, Reading
from reproduction.verification.claims.verdict_rules import (
    FAILS,
    HOLDS,
    Outcome,
    count_signs,
    falling,
    span,
    verdict_of,
    weakest,
)
from reproduction.verification.printed import Row, printed_to_decimal
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


def as_printed(eps: float, n: int, k: int, eps0: float, share: float = _SHARE) -> float:
    """log10 delta of Theorem 1 as printed; ``share`` of n hold x0."""
    held = min(round(share * n), n - 1)
    return float(published_delta(eps, n=n, k=k, eps0=eps0, count=held))


def trend(
    reading: Reading, axis: str, points: Iterable[Point], rising: bool = False, share: float = _SHARE
) -> Outcome:
    """Does delta fall (or rise) along ``axis`` between neighbours of ``points``?"""
    position = AXES.index(axis)

    def line_of(point: Point) -> tuple[float, ...]:
        return point[:position] + point[position + 1 :]

    steps = []
    for _, line in groupby(sorted(set(points), key=lambda p: (line_of(p), p[position])), key=line_of):
        intervals = [_interval(reading, point, share) for point in line]
        if len(intervals) > 1:
            low, high = zip(*intervals, strict=True)
            steps.append(falling(low, high, rising=rising))
    signs = np.concatenate(steps) if steps else np.array([])
    word = "rises" if rising else "falls"
    what = "the true delta" if reading.is_exact else "the printed formula's delta"
    why = f"{what} {word} with {axis} in {np.sum(signs > 0)} of {signs.size} steps, goes the other way in "
    why += f"{np.sum(signs < 0)}"
    if np.any(signs == 0):
        why += f", and the bounds leave {np.sum(signs == 0)} open"
    return Outcome(verdict_of(signs), count_signs(signs), why)


def _interval(reading: Reading, point: Point, share: float) -> tuple[float, float]:
    eps, eps0, n, k = point
    if reading.is_exact:
        return bracket(eps, n, k, eps0)
    value = as_printed(eps, n, k, eps0, share)
    return value, value


def table_iv(reading: Reading, axis: str, rising: bool = False) -> Outcome:
    """The trend along ``axis`` over the printed settings of Table IV."""
    points = [
        point_of(row)
        for row in rows_of(reading, "Table IV")
        if f"varying {axis}" in row["source"] or axis == "eps"
    ]
    return trend(reading, axis, points, rising)


def both_trends(
    reading: Reading,
    eps_rising: bool,
    eps0_rising: bool,
    points: Sequence[Point],
    shares: Sequence[float] = (_SHARE,),
) -> Outcome:
    """Both trends, in eps and in eps0, over the same points; published for several shares of x0."""
    outcomes = [
        trend(reading, axis, points, rising, share)
        for share in (shares if not reading.is_exact else shares[:1])
        for axis, rising in (("eps", eps_rising), ("eps0", eps0_rising))
    ]
    return Outcome(
        weakest([outcome.verdict for outcome in outcomes]),
        "; ".join(outcome.statistic for outcome in outcomes),
        "; ".join(dict.fromkeys(outcome.why for outcome in outcomes)),
    )


def zero_exactly_at_zeros(reading: Reading) -> Outcome:
    """Is delta 0 at the settings of Table IV printed as 0, and only there?"""
    rows = rows_of(reading, "Table IV")
    signs = []
    for row in rows:
        eps, eps0, n, k = point_of(row)
        low, high = _interval(reading, (eps, eps0, n, k), _SHARE)
        zero = np.isneginf(high)
        signs.append(
            1 if zero == (printed_to_decimal(row["printed"]) == 0) and zero == np.isneginf(low) else -1
        )
    zeros = sum(printed_to_decimal(row["printed"]) == 0 for row in rows)
    wrong = sum(sign < 0 for sign in signs)
    why = f"delta is 0 at the {zeros} settings printed as 0, and at no other of {len(rows)}"
    if wrong:
        why = f"at {wrong} of {len(rows)} settings delta is 0 where it is not printed so, or the reverse"
    return Outcome(verdict_of(signs), count_signs(signs), why)


def least_delta(reading: Reading) -> Outcome:
    """Is the formula's delta the smallest one that holds, within 5 %?

    Published: the printed form against the tight delta of the same count. Exact: that tight delta, both
    directions, against the whole histogram.
    """
    signs, misses = [], []
    for eps, eps0, n, k in sorted({point_of(row) for row in rows_of(reading, "Table IV")}):
        if eps >= eps0:
            continue
        setting: dict[str, Any] = {"n": n, "k": k, "eps0": eps0, "count": round(_SHARE * n)}
        exact = float(count.delta(eps, **setting, direction="both" if reading.is_exact else "forward"))
        if reading.is_exact:
            value, (low, high) = exact, bracket(eps, n, k, eps0)
        else:
            value, low, high = as_printed(eps, n, k, eps0), exact, exact
        slack = np.log10(1 + _TIGHT)
        signs.append(1 if low - slack <= value <= high + slack else -1)
        misses.append(low - value)
    what = (
        "the exact delta of the count is below delta of the whole histogram"
        if reading.is_exact
        else ("the printed formula is below the exact delta of the same count")
    )
    why = (
        f"{what} by {span(misses)} decades; within 5 % at "
        f"{sum(s > 0 for s in signs)} of {len(signs)} settings of Table IV with eps < eps0"
    )
    return Outcome(verdict_of(signs), count_signs(signs), why)


def worst_cell_protects(reading: Reading, eps: Iterable[float], eps0: float, n: int, k: int) -> Outcome:
    """Is the largest delta over all counts that a cell may have a guarantee for the whole histogram?"""
    counts = np.arange(n)
    form, direction = ("exact", "both") if reading.is_exact else ("published", "forward")
    misses = []
    for e in eps:
        largest = np.max(count.delta(e, n=n, k=k, eps0=eps0, count=counts, form=form, direction=direction))
        misses.append(bracket(e, n, k, eps0)[0] - float(largest))
    signs = [1 if miss <= 0 else -1 for miss in misses]
    why = (
        f"even the largest of the count's deltas ({form} form) over all counts lies {span(misses)} "
        f"decades below what some dataset's histogram leaks (n = {n}, k = {k}, "
        f"eps0 = {eps0:g})"
    )
    return Outcome(verdict_of(signs), count_signs(signs), why)


def varies_with_the_count(reading: Reading, eps: float, eps0: float, n: int, k: int) -> Outcome:
    """Does delta at the experiments' budget depend on how many hold x0?"""
    counts = np.unique(np.linspace(0, n - 1, 8).astype(int))
    form = reading.name
    deltas = count.delta(eps, n=n, k=k, eps0=eps0, count=counts, form=form)
    different = len(set(deltas.tolist()))
    values = "one value" if different == 1 else f"{different} values"
    why = (
        f"at eps = {eps:g}, eps0 = {eps0:g} the {form} delta takes {values} over counts from 0 "
        f"to {n - 1}, the largest {'0' if np.isneginf(deltas.max()) else f'1e{deltas.max():.3g}'}"
    )
    return Outcome(HOLDS if different > 1 else FAILS, values, why)


def inference_falls(reading: Reading, k: Sequence[int], eps0: Sequence[float]) -> Outcome:
    """Does the probability that a report is the truth, p of k-RR, fall with k? The same on both readings."""
    p = np.array([[truth_probability(budget, cells) for cells in k] for budget in eps0])
    signs = np.where(np.diff(p, axis=1) < 0, 1, -1).ravel()
    why = f"p falls from {p[:, 0].max():.3g} to {p[:, -1].min():.3g} over k = {k[0]} to {k[-1]}"
    return Outcome(verdict_of(signs), count_signs(signs), why)


def equal_privacy(reading: Reading, scale_of: Callable[[float, float, float], float]) -> Outcome:
    """Does the Gaussian have delta 0, as the shuffle model has at eps = eps0, at every budget of the trials?

    ``scale_of``: (eps, delta, sensitivity) -> the scale of the trials; no other one has delta 0 either.
    Published: the protocol's sensitivity; exact: sqrt(2).
    """
    if not reading.calibrations:
        raise NoEvidenceError("the config has no trials at eps = eps0")
    budgets = sorted(reading.calibrations)
    sensitivity = HISTOGRAM_SENSITIVITY if reading.is_exact else reading.sensitivity
    scales = [scale_of(eps, delta, reading.sensitivity) for eps, delta in budgets]
    deltas = [
        float(log10_delta_of_scale(eps, scale=scale, sensitivity=sensitivity))
        for (eps, _), scale in zip(budgets, scales, strict=True)
    ]
    signs = [1 if np.isneginf(delta) else -1 for delta in deltas]
    why = "no Gaussian has the shuffle model's delta = 0; that of our trials has"
    why += f" 1e{min(deltas):.3g} to 1e{max(deltas):.3g}"
    return Outcome(verdict_of(signs), f"{count_signs(signs)}; log10 delta up to {max(deltas):.3g}", why)


def local_is_worse(reading: Reading, factor: float, budgets: Budgets | None = None) -> Outcome:
    """Is the local model's expected error more than ``factor`` times the Gaussian's at equal privacy?

    Closed forms for a uniform histogram at the settings of the exact reading: k-RR with eps0 = eps and no
    shuffler, against the Gaussian at (eps, delta).
    """
    settings = {(s.n, s.k, s.eps, s.delta) for s in reading.pick((GAUSSIAN,), budgets=budgets)}
    ratios = []
    for n, k, eps, delta in sorted(settings):
        scale = float(exact_scale(eps, delta, sensitivity=HISTOGRAM_SENSITIVITY))
        ratios.append(float(expected_tv_krr(n, k, eps) / expected_tv_gaussian(n, k, scale)))
    signs = [1 if ratio > factor else -1 for ratio in ratios]
    why = f"the local model's expected error is {span(ratios)} times that of gaussian"
    return Outcome(verdict_of(signs), f"{count_signs(signs)}; ratio {span(ratios)}", why)


def approximate(reading: Reading, budgets: Budgets | None = None) -> Outcome:
    """Does the shuffle model need a delta above 0 at every setting of the experiments?

    It does for every eps < eps0: if everybody reports x0, the likelihoods differ by the factor e^eps0. From
    eps0 on its delta is 0: pure differential privacy.
    """
    settings = reading.pick((GAUSSIAN,), budgets=budgets)
    signs = [1 if setting.eps < setting.eps0 else -1 for setting in settings]
    why = f"delta is above 0 at {sum(s > 0 for s in signs)} of {len(signs)} settings of the experiments"
    if min(signs) < 0:
        why += "; where eps = eps0 it is 0, pure differential privacy"
    return Outcome(verdict_of(signs), count_signs(signs), why)


def unbiased(reading: Reading, histogram: Sequence[int], eps0: Iterable[float], projected: bool) -> Outcome:
    """Is the mean of the estimate by matrix inversion the histogram itself? The same on both readings.

    All k^n reports of the users in ``histogram`` (k counts) are listed, for every ``eps0``.
    """
    k, truth = len(histogram), np.asarray(histogram) / sum(histogram)
    cells = np.repeat(np.arange(k), histogram)
    reports = np.array(list(product(range(k), repeat=cells.size)))
    counts = np.stack([(reports == cell).sum(axis=1) for cell in range(k)], axis=1)
    signs, misses = [], []
    for budget in eps0:
        honest = reports == cells
        p = np.where(honest, truth_probability(budget, k), lie_probability(budget, k)).prod(axis=1)
        estimates = invert(counts / cells.size, budget)
        if projected:
            estimates = project_to_simplex(estimates)
        misses.append(float(np.abs(p @ estimates - truth).max()))
        signs.append(1 if misses[-1] < _ROUNDING else -1)
    what = "projected to the simplex" if projected else "not projected"
    why = (
        f"{what}, the mean estimate of {cells.size} users in {k} cells is "
        f"{span(misses) if max(misses) > _ROUNDING else 'nothing'} off (eps0 = "
        f"{', '.join(f'{value:g}' for value in eps0)})"
    )
    return Outcome(verdict_of(signs), count_signs(signs), why)


def area(reading: Reading, dataset: str, width: int, height: int) -> Outcome:
    """Does the dataset's box measure ``width`` by ``height`` km, rounded to whole km?"""
    if dataset not in reading.boxes:
        raise NoEvidenceError(f"the config has no dataset {dataset} with a box")
    box = reading.boxes[dataset]
    tall = (box["north"] - box["south"]) * _KM_PER_DEGREE
    wide = (
        (box["east"] - box["west"]) * _KM_PER_DEGREE * np.cos(np.radians((box["north"] + box["south"]) / 2))
    )
    holds = (round(wide), round(tall)) == (width, height)
    measured = f"{wide:.2f} km x {tall:.2f} km"
    return Outcome(HOLDS if holds else FAILS, measured, f"the printed box measures {measured}")


def rows_of(reading: Reading, item: str) -> list[Row]:
    """The printed values of one item; `NoEvidenceError` if there are none."""
    rows = [row for row in reading.values if row["item"] == item]
    if not rows:
        raise NoEvidenceError(f"there are no printed values of {item}")
    return rows


def point_of(row: Row) -> Point:
    """The setting of a printed value."""
    return float(row["eps"]), float(row["eps0"]), int(row["n"]), int(row["k"])
