"""Tests of the statements about errors: paired over repetitions, at the family-wise level of `verdict_rules`.

Every test takes a `Reading` and gives `Comparisons`: of two mechanisms over settings (`_two`), or of one
number at two settings (`_falls`). "Error" is the total variation distance or the individual error, a fraction
of n; the smaller the better.
"""

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
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
    Shown,
    holm,
    judge,
    log_ratio,
    mean,
    ranges,
    ratios,
    signs_below,
    signs_within,
    span,
    yes_or_no,
)
from reproduction.verification.printed import printed_to_decimal
from tightshuffle.arguments import Floats

COMPARABLE = 2.0  # "comparable", "close", "slightly": errors within this factor
INDISTINGUISHABLE = 1.1  # "almost indistinguishable", "the same"

Pair = tuple[Estimate, Estimate]  # of one number at two settings


def better(reading: Reading, first: str, second: str, ends: str | None = None, **where: Any) -> Comparisons:
    """Is the error of ``first`` below that of ``second`` at every setting? ``ends`` as in `at_ends`."""
    settings = at_ends(reading.pick((first, second), **where), ends)
    signs = signs_below([mean(s.samples[first] - s.samples[second]) for s in settings])
    what = f"the error of {_named(first)} is below that of {_named(second)}"
    return _two(what, signs, settings, first, second)


def gaussian_better(reading: Reading, ends: str | None = None, **where: Any) -> Comparisons:
    """`better` for the Gaussian against shuffle+INV; the exact reading adds the paper's unequal pairing."""
    found = better(reading, GAUSSIAN, INV, ends, **where)
    if not reading.is_exact:
        return found
    unequal = judge(better(reading, RAW_GAUSSIAN, INV, ends, **where)).statistic
    note = f"with only {INV} projected, as in the paper: {unequal}"
    return replace(found, notes=(note,))


def close(reading: Reading, factor: float = COMPARABLE, ends: str | None = None, **where: Any) -> Comparisons:
    """Are the errors of shuffle+INV and the Gaussian within ``factor`` at every setting?"""
    settings = at_ends(reading.pick((INV, GAUSSIAN), **where), ends)
    signs = signs_within([log_ratio(s.samples[INV], s.samples[GAUSSIAN]) for s in settings], factor)
    what = f"the errors of {INV} and {_named(GAUSSIAN)} are within a factor of {factor:g}"
    found = _two(what, signs, settings, INV, GAUSSIAN)
    return replace(found, notes=(f"the errors differ by {span(found.left - found.right)}",))


def far(reading: Reading, factor: float = COMPARABLE, ends: str | None = None, **where: Any) -> Comparisons:
    """Is the error of shuffle+INV more than ``factor`` times the Gaussian's at every setting?"""
    settings = at_ends(reading.pick((INV, GAUSSIAN), **where), ends)
    less = [log_ratio(s.samples[GAUSSIAN], s.samples[INV]) for s in settings]
    what = f"the error of {INV} is more than {factor:g} times that of {_named(GAUSSIAN)}"
    return _two(what, signs_below(less, -np.log(factor)), settings, INV, GAUSSIAN)


def small(
    reading: Reading, limit: float, mechanisms: Collection[str], ends: str | None = None, **where: Any
) -> Comparisons:
    """Is the mean error of all ``mechanisms`` below ``limit`` at every setting?"""
    settings = at_ends(reading.pick(mechanisms, **where), ends)
    errors = [mean(setting.samples[name]) for setting in settings for name in mechanisms]
    values = np.array([error.value for error in errors])
    what = f"the mean error of {' and '.join(map(_named, mechanisms))} is below {limit:g}"

    def shown(left: Floats, right: Floats) -> str:
        return f"mean error {span(left)}"

    return Comparisons(what, signs_below(errors, limit), values, np.full(len(values), limit), shown)


def gap_shrinks(reading: Reading, axis: str, towards: str, relative: bool, **where: Any) -> Comparisons:
    """Is the gap between shuffle+INV and the Gaussian smaller at one end of every curve than at the other?

    ``axis`` "n" or "eps0", ``towards`` the end, "large" or "small". The gap is the size of the difference of
    mean errors, or with ``relative`` that of the log of their ratio.
    """
    pairs = [
        (abs(_gap(last, relative)), abs(_gap(first, relative)))
        for first, last in _curves(reading, (INV, GAUSSIAN), axis, **where)
    ]
    if towards == "small":
        pairs = [(right, left) for left, right in pairs]
    end, other = ("largest", "smallest") if towards == "large" else ("smallest", "largest")
    what = "|log(ratio of the errors)|" if relative else "|difference of the errors|"
    what = f"the gap, {what}, is smaller at the {end} {axis} than at the {other}"
    return _falls(what, pairs, ranges(f"at the {end} {axis}", f"at the {other}"))


def gap_grows_with_n(reading: Reading, **where: Any) -> Comparisons:
    """Does the ratio of shuffle+INV's error to the Gaussian's grow from the smallest to the largest n?"""
    curves = _curves(reading, (INV, GAUSSIAN), "n", **where)
    pairs = [(_gap(first, True), _gap(last, True)) for first, last in curves]
    what = f"the error of {INV} over that of {_named(GAUSSIAN)} grows from the smallest n to the largest"
    return _falls(what, pairs, ranges("at the smallest n", "at the largest"), np.exp)


def closest_at_corner(reading: Reading, **where: Any) -> Comparisons:
    """Is the gap (log ratio) at the smallest n and the largest eps0 smaller than at every other setting?"""
    settings = reading.pick((INV, GAUSSIAN), **where)
    corners = at_ends(settings, "corner")
    pairs = [
        (_gap(corner, True), _gap(setting, True))
        for corner in corners
        for setting in settings
        if (setting.rule, setting.dataset) == (corner.rule, corner.dataset) and setting is not corner
    ]
    if not pairs:
        raise NoEvidenceError(f"the config's {reading.name} experiments have one setting only")
    shown = ranges("there", "elsewhere")
    found = _falls("", [(abs(corner), abs(other)) for corner, other in pairs], shown)
    left, right = (np.exp([gap.value for gap in side]) for side in zip(*pairs, strict=True))
    what = f"the ratio of {INV} to {_named(GAUSSIAN)} is closer to 1 at the smallest n and largest eps0"
    return replace(found, what=what, left=left, right=right)


def depends_on_cell(reading: Reading, ends: str, **where: Any) -> Comparisons:
    """Does the ratio of the two errors differ between cells? Cochran's Q on the logs of the ratios."""
    settings = at_ends(reading.pick((INV, GAUSSIAN), metric="individual_error", **where), ends)
    groups = [list(group) for _, group in groupby(settings, key=lambda s: (s.dataset, s.n, s.eps0, s.rule))]
    p_values, extremes = [], []
    for group in groups:
        logs = [_gap(setting, True) for setting in group]
        weights = np.array([1 / each.error**2 for each in logs])
        values = np.array([each.value for each in logs])
        spread = np.sum(weights * (values - np.average(values, weights=weights)) ** 2)
        p_values.append(special.chdtrc(len(logs) - 1, spread))
        extremes.append(np.exp([values.min(), values.max()]))
    least, largest = np.array(extremes).T
    note = f"Cochran's Q: p up to {max(p_values):.1g}"
    what = f"the error of {INV} over that of {_named(GAUSSIAN)} differs between values of x0"
    shown = ranges("is the smallest ratio", "the largest")
    return Comparisons(what, holm(p_values).astype(int), least, largest, shown, notes=(note,))


def same_noise_for_all_n(reading: Reading, **where: Any) -> Comparisons:
    """Is the Gaussian's individual error, in users, the same at the smallest and the largest n?

    On the exact reading it is so by definition: at one (eps, delta) the calibration has no n in it. How far
    the errors at equal privacy differ, where eps falls with n, is reported but not judged.
    """
    name = RAW_GAUSSIAN if reading.is_exact else GAUSSIAN  # the noise itself, not projected
    curves = _curves(reading, (name,), "n", metric="individual_error", **where)
    logs = [_log_users(last, name) - _log_users(first, name) for first, last in curves]
    pooled = _pooled(logs)
    factor = float(np.exp(pooled.value))
    one = np.ones(1)
    what = "the Gaussian's error in users is the same at the largest n as at the smallest"
    if reading.is_exact:
        note = (
            f"at equal privacy eps falls with n, and the error is {factor:.3g} times that at the smallest n"
        )
        what += ", because at one (eps, delta) the noise does not depend on n"
        return Comparisons(what, yes_or_no(one), one, one, notes=(note,))
    note = f"for single values the ratio is {span(np.exp([each.value for each in logs]))}"
    signs = signs_within([pooled], INDISTINGUISHABLE)
    return Comparisons(what, signs, factor * one, one, ratios("ratio"), notes=(note,))


def falls_along(
    reading: Reading, axis: str, mechanisms: Collection[str] = (INV, GAUSSIAN), **where: Any
) -> Comparisons:
    """Does every mechanism's error fall from the smallest to the largest value of ``axis`` on every curve?"""
    pairs = [
        (mean(last.samples[name]), mean(first.samples[name]))
        for first, last in _curves(reading, mechanisms, axis, **where)
        for name in mechanisms
    ]
    what = f"the error is smaller at the largest {axis} than at the smallest"
    return _falls(what, pairs, ratios(f"ratio of the largest {axis} to the smallest"))


def same_order(reading: Reading, model: Budgets, tested: Budgets) -> Comparisons:
    """Do the three mechanisms have the same order at every setting as, on the whole, in the model?

    ``model`` and ``tested``: one dataset each. With the same eps0s in both, each eps0 has its own order.
    """
    names = (GAUSSIAN, INV, SHUFFLE)
    like, settings = (reading.pick(names, budgets=budgets) for budgets in (model, tested))
    alone = [*model.values()] != [*tested.values()]
    differences, means, orders = [], [], set()
    for setting in settings:
        group = [s for s in like if s.rule == setting.rule and (alone or s.eps0 == setting.eps0)]
        totals = {name: sum(float(s.samples[name].mean()) for s in group) for name in names}
        order = sorted(names, key=lambda name: totals[name])
        orders.add(", ".join(map(_named, order)))
        for a, b in pairwise(order):
            differences.append(mean(setting.samples[a] - setting.samples[b]))
            means.append((setting.samples[a].mean(), setting.samples[b].mean()))
    what = f"from the smallest error to the largest, the order is {' or '.join(sorted(orders))}"
    left, right = np.array(means).T
    return Comparisons(what, signs_below(differences), left, right)


def printed(
    reading: Reading, test: Callable[..., Comparisons], over_cells: bool = False, **where: Any
) -> Comparisons:
    """``test`` on the errors that the paper prints for N(0, 2), one run at each n.

    ``over_cells``: on their mean over the cells. What our runs give is reported but not judged.
    """
    rows = reading.values
    metric = where.get("metric", "tv")
    rows = rows[(rows["dataset"] == "synthetic") & (rows["quantity"] == metric)]
    if rows.empty:
        raise NoEvidenceError("there are no printed errors")
    errors = rows["printed"].map(printed_to_decimal).astype(float)
    rows = rows.assign(error=errors, cell=rows["x0"].fillna(0).astype(int))
    means = rows.groupby(["n", "mechanism"])["error"].mean().unstack()
    if over_cells:
        rows = rows.groupby(["dataset", "n", "k", "eps0", "eps", "quantity", "mechanism"], as_index=False)
        rows = rows["error"].mean().assign(cell=0)
    settings = []
    for point, cells in rows.groupby(["dataset", "n", "k", "eps0", "eps", "quantity", "cell"]):
        dataset, n, k, eps0, eps, quantity, cell = point
        samples = {
            name: np.full(2, error) for name, error in zip(cells["mechanism"], cells["error"], strict=True)
        }
        settings.append(Setting(dataset, int(n), int(k), eps0, eps, 0.0, quantity, cell, samples))
    found = test(replace(reading, settings=settings), **where)
    mean_ratios = means[INV] / means[GAUSSIAN]
    by_size = " and ".join(f"{value:.3g} at n = {int(n):,}" for n, value in mean_ratios.items())
    notes = [f"the mean printed error of {INV} over that of {_named(GAUSSIAN)} is {by_size}"]
    with suppress(NoEvidenceError):
        notes.append(f"our runs, not judged: {judge(test(reading, **where)).statistic}")
    return replace(found, at=(), notes=tuple(notes))


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


def _named(mechanism: str) -> str:
    """The mechanism in a sentence."""
    return {GAUSSIAN: "the Gaussian", RAW_GAUSSIAN: "the unprojected Gaussian"}.get(mechanism, mechanism)


def _two(what: str, signs: Any, settings: list[Setting], first: str, second: str) -> Comparisons:
    """Comparisons of two mechanisms over settings: their mean errors and the settings' names."""
    left, right = (np.array([s.samples[name].mean() for s in settings]) for name in (first, second))
    shown = ratios(f"ratio of {_named(first)} to {_named(second)}")
    return Comparisons(what, signs, left, right, shown, [_place(setting) for setting in settings])


def _falls(
    what: str, pairs: Iterable[Pair], shown: Shown, scale: Callable[[Any], Any] = np.asarray
) -> Comparisons:
    """Is the first number of every pair below the second? ``scale`` turns the numbers into what is shown."""
    pairs = list(pairs)
    left, right = (scale([each.value for each in side]) for side in zip(*pairs, strict=True))
    return Comparisons(what, signs_below([a - b for a, b in pairs]), left, right, shown)


def _curves(
    reading: Reading, mechanisms: Collection[str], axis: str, **where: Any
) -> list[tuple[Setting, Setting]]:
    """The settings at the smallest and at the largest ``axis``, of those that differ in it only."""
    names = [name for name in ("dataset", "eps0", "rule", "n", "metric", "cell") if name != axis]

    def key(setting: Setting) -> list[Any]:
        return [getattr(setting, name) for name in names]

    settings = reading.pick(mechanisms, **where)
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


def _place(setting: Setting) -> str:
    cell = f", cell {setting.cell}" if setting.cell else ""
    rule = f", delta = {setting.rule}" if setting.rule else ""
    return (
        f"{setting.dataset.replace('_', ' ').title()}, n = {setting.n:,}, eps0 = {setting.eps0:g}{rule}{cell}"
    )
