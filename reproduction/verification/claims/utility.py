"""Tests of the statements about errors: paired over repetitions, at the family-wise level of `verdict_rules`.

Every test takes a `Reading` and gives `Comparisons`. "Error" is the total variation distance or the
individual error, a fraction of n; the smaller the better.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from scipy import special

from reproduction.verification.claims.evidence import (
    GAUSSIAN,
    INV,
    RAW_GAUSSIAN,
    SHUFFLE,
    Budgets,
    NoEvidenceError,
    Reading,
    Setting,
)
from reproduction.verification.claims.verdict_rules import (
    Comparisons,
    Estimate,
    holm,
    log_ratio,
    mean,
    signs_below,
    signs_within,
    span,
    yes_or_no,
)
from reproduction.verification.printed import printed_to_decimal
from tightshuffle.arguments import Floats

COMPARABLE = 2.0  # "comparable", "close", "slightly": errors within this factor
INDISTINGUISHABLE = 1.1  # "almost indistinguishable", "the same"


def better(reading: Reading, first: str, second: str, ends: str | None = None, **where: Any) -> Comparisons:
    """Is the error of ``first`` below that of ``second`` at every setting? ``ends`` as in `at_ends`."""
    settings = at_ends(reading.pick((first, second), **where), ends)
    signs = signs_below([mean(s.samples[first] - s.samples[second]) for s in settings])
    return Comparisons(signs, _ratio(settings, first, second))


def close(reading: Reading, factor: float = COMPARABLE, ends: str | None = None, **where: Any) -> Comparisons:
    """Are the errors of shuffle+INV and the Gaussian within ``factor`` at every setting?"""
    settings = at_ends(reading.pick((INV, GAUSSIAN), **where), ends)
    signs = signs_within([_gap(setting, True) for setting in settings], factor)
    return Comparisons(signs, _ratio(settings, INV, GAUSSIAN))


def far(reading: Reading, factor: float = COMPARABLE, **where: Any) -> Comparisons:
    """Is the error of shuffle+INV more than ``factor`` times the Gaussian's at every setting?"""
    settings = reading.pick((INV, GAUSSIAN), **where)
    less = [log_ratio(s.samples[GAUSSIAN], s.samples[INV]) for s in settings]
    return Comparisons(signs_below(less, -np.log(factor)), _ratio(settings, INV, GAUSSIAN))


def small(
    reading: Reading, limit: float, mechanisms: Collection[str], ends: str | None = None, **where: Any
) -> Comparisons:
    """Is the mean error of all ``mechanisms`` below ``limit`` at every setting?"""
    settings = at_ends(reading.pick(mechanisms, **where), ends)
    errors = [mean(setting.samples[name]) for setting in settings for name in mechanisms]
    return Comparisons(signs_below(errors, limit), f"mean error {span([error.value for error in errors])}")


def gap_shrinks(
    reading: Reading, axis: str, towards: str, relative: bool = False, **where: Any
) -> Comparisons:
    """Is the gap between shuffle+INV and the Gaussian smaller at one end of every curve than at the other?

    ``axis`` "n" or "eps0", ``towards`` the end, "large" or "small". The gap is the size of the difference of
    mean errors, or with ``relative`` that of the log of their ratio.
    """
    curves = _curves(reading, (INV, GAUSSIAN), axis, **where)
    at_smallest, at_largest = ([abs(_gap(pair[end], relative)) for pair in curves] for end in (0, 1))
    if towards == "large":
        return _below(at_largest, at_smallest, f"at the largest {axis}", "at the smallest")
    return _below(at_smallest, at_largest, f"at the smallest {axis}", "at the largest")


def gap_grows_with_n(reading: Reading, **where: Any) -> Comparisons:
    """Does the ratio of shuffle+INV's error to the Gaussian's grow from the smallest to the largest n?"""
    curves = _curves(reading, (INV, GAUSSIAN), "n", **where)
    first, last = ([_gap(pair[end], True) for pair in curves] for end in (0, 1))
    return _below(first, last, "at the smallest n", "at the largest", np.exp)


def closest_at_corner(reading: Reading, **where: Any) -> Comparisons:
    """Is the gap (log ratio) at the smallest n and the largest eps0 smaller than at every other setting?"""
    settings = reading.pick((INV, GAUSSIAN), **where)
    pairs = [
        (_gap(corner, True), _gap(setting, True))
        for corner in at_ends(settings, "corner")
        for setting in settings
        if (setting.rule, setting.dataset) == (corner.rule, corner.dataset) and setting is not corner
    ]
    if not pairs:
        raise NoEvidenceError(f"the config's {reading.name} experiments have one setting only")
    signs = signs_below([abs(corner) - abs(other) for corner, other in pairs])
    there, elsewhere = (span(np.exp([gap.value for gap in side])) for side in zip(*pairs, strict=True))
    return Comparisons(signs, f"{there} there, {elsewhere} elsewhere")


def depends_on_cell(reading: Reading, ends: str, **where: Any) -> Comparisons:
    """Does the ratio of the two errors differ between cells? Cochran's Q on the logs of the ratios."""
    settings = at_ends(reading.pick((INV, GAUSSIAN), metric="individual_error", **where), ends)
    p_values, least, largest = [], [], []
    for _, group in groupby(settings, key=lambda s: (s.dataset, s.n, s.eps0, s.rule)):
        logs = [_gap(setting, True) for setting in group]
        weights = np.array([1 / each.error**2 for each in logs])
        values = np.array([each.value for each in logs])
        spread = np.sum(weights * (values - np.average(values, weights=weights)) ** 2)
        p_values.append(special.chdtrc(len(logs) - 1, spread))
        least.append(np.exp(values.min()))
        largest.append(np.exp(values.max()))
    ratios = f"{span(least)} is the smallest ratio, {span(largest)} the largest"
    return Comparisons(holm(p_values).astype(int), ratios)


def same_noise_for_all_n(reading: Reading, **where: Any) -> Comparisons:
    """Is the Gaussian's individual error, in users, the same at the smallest and the largest n?

    On the exact reading it is so by definition: at one (eps, delta) the calibration has no n in it.
    """
    name = RAW_GAUSSIAN if reading.is_exact else GAUSSIAN  # the noise itself, not projected
    curves = _curves(reading, (name,), "n", metric="individual_error", **where)
    if reading.is_exact:
        return Comparisons(yes_or_no([True]))
    pooled = _pooled([_log_users(last, name) - _log_users(first, name) for first, last in curves])
    return Comparisons(signs_within([pooled], INDISTINGUISHABLE), f"ratio: {span(np.exp(pooled.value))}")


def falls_along(
    reading: Reading, axis: str, mechanisms: Collection[str] = (INV, GAUSSIAN), **where: Any
) -> Comparisons:
    """Does every mechanism's error fall from the smallest to the largest value of ``axis`` on every curve?"""
    curves = _curves(reading, mechanisms, axis, **where)
    first, last = (
        [mean(pair[end].samples[name]) for pair in curves for name in mechanisms] for end in (0, 1)
    )
    ratios = span([after.value / before.value for before, after in zip(first, last, strict=True)])
    signs = signs_below([after - before for before, after in zip(first, last, strict=True)])
    return Comparisons(signs, f"ratio of the largest {axis} to the smallest: {ratios}")


def same_order(reading: Reading, model: Budgets, tested: Budgets) -> Comparisons:
    """Do the three mechanisms have the same order at every setting as, on the whole, in the model?

    ``model`` and ``tested``: one dataset each. With the same eps0s in both, each eps0 has its own order.
    """
    names = (GAUSSIAN, INV, SHUFFLE)
    like, settings = (reading.pick(names, budgets=budgets) for budgets in (model, tested))
    alone = [*model.values()] != [*tested.values()]
    differences = []
    for setting in settings:
        group = [s for s in like if s.rule == setting.rule and (alone or s.eps0 == setting.eps0)]
        totals = {name: sum(float(s.samples[name].mean()) for s in group) for name in names}
        order = sorted(names, key=lambda name: totals[name])
        differences += [mean(setting.samples[a] - setting.samples[b]) for a, b in pairwise(order)]
    return Comparisons(signs_below(differences))


def printed(
    reading: Reading, test: Callable[..., Comparisons], over_cells: bool = False, **where: Any
) -> Comparisons:
    """``test`` on the errors that the paper prints for N(0, 2), one run at each n.

    ``over_cells``: on their mean over the cells.
    """
    rows = reading.values
    rows = rows[(rows["dataset"] == "synthetic") & (rows["quantity"] == where.get("metric", "tv"))]
    if rows.empty:
        raise NoEvidenceError("there are no printed errors")
    errors = rows["printed"].map(printed_to_decimal).astype(float)
    rows = rows.assign(error=errors, cell=0 if over_cells else rows["x0"].fillna(0).astype(int))
    point = ["dataset", "n", "k", "eps0", "eps", "quantity", "cell"]
    means = rows.groupby([*point, "mechanism"])["error"].mean().unstack()
    settings = []
    for key, errors_of in means.iterrows():
        dataset, n, k, eps0, eps, quantity, cell = key
        samples = {str(name): np.full(2, error) for name, error in errors_of.items()}
        settings.append(Setting(dataset, int(n), int(k), eps0, eps, 0.0, quantity, cell, samples))
    return test(replace(reading, settings=settings), **where)


def at_ends(settings: list[Setting], ends: str | None) -> list[Setting]:
    """Of each dataset and rule the settings at one end: None all, "small n", "large n", "corner".

    The corner has the smallest n and the largest eps0: few users and little privacy.
    """
    if ends is None:
        return settings
    chosen = []
    for dataset, rule in sorted({(setting.dataset, setting.rule) for setting in settings}):
        group = [s for s in settings if (s.dataset, s.rule) == (dataset, rule)]
        if ends == "corner":
            top = max(s.eps0 for s in group)
            group = [s for s in group if s.eps0 == top]
        n = {"large n": max}.get(ends, min)(s.n for s in group)
        chosen += [s for s in group if s.n == n]
    return chosen


def _ratio(settings: list[Setting], first: str, second: str) -> str:
    """The range of the ratios of mean errors, with the mechanisms' names."""
    names = {GAUSSIAN: "the Gaussian", RAW_GAUSSIAN: "the unprojected Gaussian"}
    ratios = [s.samples[first].mean() / s.samples[second].mean() for s in settings]
    return f"ratio of {names.get(first, first)} to {names.get(second, second)}: {span(ratios)}"


def _below(
    left: list[Estimate],
    right: list[Estimate],
    first: str,
    second: str,
    scale: Callable[[Any], Floats] = np.asarray,
) -> Comparisons:
    """Is each of ``left`` below its one of ``right``? ``scale`` turns the numbers into what is shown."""
    signs = signs_below([a - b for a, b in zip(left, right, strict=True)])
    here, there = (span(scale([each.value for each in side])) for side in (left, right))
    return Comparisons(signs, f"{here} {first}, {there} {second}")


def _curves(
    reading: Reading, mechanisms: Iterable[str], axis: str, **where: Any
) -> list[tuple[Setting, Setting]]:
    """The settings at the smallest and at the largest ``axis``, of those that differ in it only."""
    names = [name for name in ("dataset", "eps0", "rule", "n", "metric", "cell") if name != axis]

    def key(setting: Setting) -> list[Any]:
        return [getattr(setting, name) for name in names]

    settings = reading.pick(tuple(mechanisms), **where)
    ordered = sorted(settings, key=lambda setting: (key(setting), getattr(setting, axis)))
    curves = [list(group) for _, group in groupby(ordered, key=key)]
    found = [(curve[0], curve[-1]) for curve in curves if len(curve) > 1]
    if not found:
        raise NoEvidenceError(f"the config's {reading.name} experiments have one {axis} only")
    return found


def _gap(setting: Setting, relative: bool) -> Estimate:
    """shuffle+INV against the Gaussian: log ratio of mean errors, or their difference, an `Estimate`."""
    first, second = setting.samples[INV], setting.samples[GAUSSIAN]
    return log_ratio(first, second) if relative else mean(first - second)


def _log_users(setting: Setting, name: str) -> Estimate:
    """The log of a mean error in users, an `Estimate`."""
    errors = setting.samples[name] * setting.n
    return log_ratio(errors, np.ones(len(errors)))


def _pooled(estimates: list[Estimate]) -> Estimate:
    """The plain mean of independent estimates."""
    total = estimates[0]
    for estimate in estimates[1:]:
        total = total - Estimate(-estimate.value, estimate.error, estimate.freedom)
    size = len(estimates)
    return Estimate(total.value / size, total.error / size, total.freedom)
