"""Tests of the statements about errors: paired over repetitions, at the family-wise level of `verdict_rules`.

Every test takes a `Reading` and gives an `Outcome`. "Error" is the total variation distance or the individual
error, a fraction of n; the smaller the better.
"""

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from scipy import stats

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
    HOLDS,
    Estimate,
    Outcome,
    Signs,
    change,
    count_signs,
    holm,
    log_ratio,
    mean,
    signs_below,
    signs_within,
    span,
    two_sided_signs,
    verdict_of,
)
from reproduction.verification.printed import printed_to_decimal
from tightshuffle.arguments import Floats

Errors = dict[str, Floats]  # mechanism -> the printed errors of one run, (cells,)

COMPARABLE = 2.0  # "comparable", "close", "slightly": errors within this factor
INDISTINGUISHABLE = 1.1  # "almost indistinguishable", "the same"


def better(reading: Reading, first: str, second: str, ends: str | None = None, **where: Any) -> Outcome:
    """Is the error of ``first`` below that of ``second`` at every setting? ``ends`` as in `at_ends`."""
    settings = at_ends(reading.pick((first, second), **where), ends)
    signs = signs_below([mean(s.samples[first] - s.samples[second]) for s in settings])
    ratios = _ratios(settings, first, second)
    why = (
        f"{first} has the smaller error at {np.sum(signs > 0)} of {signs.size} settings, the larger at "
        f"{np.sum(signs < 0)}; error ratio to {second} {span(ratios)}"
    )
    why += _instance("larger", settings, signs)
    return Outcome(verdict_of(signs), f"{count_signs(signs)}; ratio {span(ratios)}", why)


def gaussian_better(reading: Reading, ends: str | None = None, **where: Any) -> Outcome:
    """`better` for the Gaussian against shuffle+INV; the exact reading adds the paper's unequal pairing."""
    outcome = better(reading, GAUSSIAN, INV, ends, **where)
    if not reading.is_exact:
        return outcome
    settings = at_ends(reading.pick((RAW_GAUSSIAN, INV), **where), ends)
    signs = signs_below([mean(s.samples[RAW_GAUSSIAN] - s.samples[INV]) for s in settings])
    more = (
        f"; in the paper's pairing, where only shuffle+INV is projected, the Gaussian is better at "
        f"{np.sum(signs > 0)} and worse at {np.sum(signs < 0)} of {signs.size}"
    )
    return Outcome(outcome.verdict, outcome.statistic, outcome.why + more)


def close(
    reading: Reading,
    factor: float = COMPARABLE,
    first: str = INV,
    second: str = GAUSSIAN,
    ends: str | None = None,
    **where: Any,
) -> Outcome:
    """Are the two errors within ``factor`` at every setting? ``ends`` as in `at_ends`."""
    settings = at_ends(reading.pick((first, second), **where), ends)
    signs = signs_within([log_ratio(s.samples[first], s.samples[second]) for s in settings], factor)
    ratios = _ratios(settings, first, second)
    gaps = [float(np.mean(s.samples[first] - s.samples[second])) for s in settings]
    where_to = f" ({_place(settings[0])})" if len(settings) == 1 else ""
    why = (
        f"the errors of {first} and {second} are within a factor of {factor:g} at {np.sum(signs > 0)} of "
        f"{signs.size} settings{where_to} and outside at {np.sum(signs < 0)}; ratio {span(ratios)}, "
        f"difference {span(gaps)}"
    )
    if len(settings) > 1:
        why += _instance("outside", settings, signs)
    return Outcome(verdict_of(signs), f"{count_signs(signs)}; ratio {span(ratios)}", why)


def printed(
    reading: Reading,
    claim: Callable[[Errors, Errors], Iterable[bool]],
    quantity: str,
    ours: Callable[[Reading], Outcome],
) -> Outcome:
    """Is ``claim`` true of the errors that the paper prints for N(0, 2), one run at each n?

    ``claim``: the printed `Errors` at the smallest and at the largest n -> one truth value per comparison.
    ``quantity``: "tv" or "individual_error". ``ours``: the same test on our runs of the protocol; its finding
    goes into the reason and decides nothing.
    """
    runs: dict[int, dict[str, list[float]]] = {}
    for row in reading.values:
        if row["dataset"] == "synthetic" and row["quantity"] == quantity:
            errors = runs.setdefault(int(row["n"]), {}).setdefault(row["mechanism"], [])
            errors.append(float(printed_to_decimal(row["printed"])))
    if not runs:
        raise NoEvidenceError("there are no printed errors")
    small, large = (
        {name: np.array(errors) for name, errors in runs[n].items()} for n in (min(runs), max(runs))
    )
    signs = [1 if shown else -1 for shown in claim(small, large)]
    first, last = f"{printed_ratio(small):.3g}", f"{printed_ratio(large):.3g}"
    mean_of = " (mean over the cells)" if small[INV].size > 1 else ""
    why = (
        f"the printed error of {INV}{mean_of} is {first} times that of {GAUSSIAN} at n = {min(runs):,} and "
        f"{last} times at {max(runs):,} ({count_signs(signs)})"
    )
    with suppress(NoEvidenceError):
        why += f"; in our runs of the protocol, which do not judge here: {ours(reading).statistic}"
    return Outcome(verdict_of(signs), f"{count_signs(signs)}; ratio {first} and {last}", why)


def printed_ratio(errors: Errors) -> float:
    """shuffle+INV's mean printed error over the Gaussian's."""
    return float(errors[INV].mean() / errors[GAUSSIAN].mean())


def printed_close(errors: Errors) -> list[bool]:
    """Whether the two mean printed errors are within the factor `COMPARABLE`: one comparison."""
    return [1 / COMPARABLE <= printed_ratio(errors) <= COMPARABLE]


def far(
    reading: Reading, factor: float = COMPARABLE, first: str = INV, second: str = GAUSSIAN, **where: Any
) -> Outcome:
    """Is the error of ``first`` more than ``factor`` times that of ``second`` at every setting?"""
    settings = reading.pick((first, second), **where)
    ratios = [log_ratio(s.samples[first], s.samples[second]) for s in settings]
    edge = np.log(factor)
    signs = two_sided_signs([r.above(edge) for r in ratios], [r.below(edge) for r in ratios])
    spread = span(_ratios(settings, first, second))
    why = (
        f"the error of {first} is {spread} times that of {second} "
        f"({count_signs(signs)} of a factor {factor:g})"
    )
    return Outcome(verdict_of(signs), f"{count_signs(signs)}; ratio {spread}", why)


def small(
    reading: Reading, limit: float, mechanisms: Collection[str], ends: str | None = None, **where: Any
) -> Outcome:
    """Is the mean error of all ``mechanisms`` below ``limit`` at every setting?"""
    settings = at_ends(reading.pick(mechanisms, **where), ends)
    errors = [mean(setting.samples[name]) for setting in settings for name in mechanisms]
    signs = signs_below(errors, limit)
    spread = span([error.value for error in errors])
    why = f"mean errors are {spread} against a limit of {limit:g} ({count_signs(signs)})"
    return Outcome(verdict_of(signs), f"{count_signs(signs)}; errors {spread}", why)


def gap_shrinks(reading: Reading, axis: str, towards: str, relative: bool, **where: Any) -> Outcome:
    """Is the gap between shuffle+INV and the Gaussian smaller at one end of every curve than at the other?

    ``axis`` "n" or "eps0", ``towards`` the end, "large" or "small". The gap is the size of the difference of
    mean errors, or with ``relative`` that of the log of their ratio.
    """
    settings = reading.pick((INV, GAUSSIAN), **where)
    changes, ends = [], []
    for curve in _curves(settings, axis):
        narrow, wide = (curve[-1], curve[0]) if towards == "large" else (curve[0], curve[-1])
        gaps = [abs(_gap(setting, relative)) for setting in (narrow, wide)]
        changes.append(gaps[0] - gaps[1])
        ends.append((gaps[1].value, gaps[0].value))
    if not changes:
        raise _no_curves(reading, axis)
    signs = signs_below(changes)
    changed = change(*zip(*ends, strict=True))
    what = "log ratio of the errors" if relative else "difference of the errors"
    way = {"large": "smallest to the largest", "small": "largest to the smallest"}[towards]
    why = (
        f"from the {way} {axis} the size of the {what} goes {changed}, smaller on "
        f"{np.sum(signs > 0)} of {signs.size} curves, larger on {np.sum(signs < 0)}"
    )
    return Outcome(verdict_of(signs), f"{count_signs(signs)}; {changed}", why)


def gap_grows_with_n(reading: Reading, **where: Any) -> Outcome:
    """Does the ratio of shuffle+INV's error to the Gaussian's grow from the smallest to the largest n?"""
    changes, ends = [], []
    for curve in _curves(reading.pick((INV, GAUSSIAN), **where), "n"):
        first, last = (_gap(setting, True) for setting in (curve[0], curve[-1]))
        changes.append(first - last)
        ends.append((np.exp(first.value), np.exp(last.value)))
    if not changes:
        raise _no_curves(reading, "n")
    signs = signs_below(changes)
    changed = change(*zip(*ends, strict=True))
    why = f"from the smallest to the largest n the ratio of the errors goes {changed} ({count_signs(signs)})"
    return Outcome(verdict_of(signs), f"{count_signs(signs)}; {changed}", why)


def closest_at_corner(reading: Reading, **where: Any) -> Outcome:
    """Is the gap (log ratio) at the smallest n and the largest eps0 smaller than at every other setting?"""
    settings = reading.pick((INV, GAUSSIAN), **where)
    corners = at_ends(settings, "corner")
    changes = []
    for corner in corners:
        gap = abs(_gap(corner, True))
        comparable = [s for s in settings if s.rule == corner.rule and s.dataset == corner.dataset]
        changes += [gap - abs(_gap(setting, True)) for setting in comparable if setting is not corner]
    if not changes:
        raise _no_curves(reading, "n")
    signs = signs_below(changes)
    ratios, elsewhere = _ratios(corners), _ratios([s for s in settings if s not in corners])
    why = (
        f"the ratio is {span(ratios)} at the smallest n and largest eps0 and {span(elsewhere)} elsewhere, "
        f"closer there than at {np.sum(signs > 0)} of {signs.size} other settings, farther than at "
        f"{np.sum(signs < 0)}"
    )
    return Outcome(verdict_of(signs), f"{count_signs(signs)}; ratio {span(ratios)}", why)


def depends_on_cell(reading: Reading, ends: str, **where: Any) -> Outcome:
    """Does the ratio of the two errors differ between cells? Cochran's Q on the logs of the ratios."""
    settings = at_ends(reading.pick((INV, GAUSSIAN), metric="individual_error", **where), ends)
    groups = [list(group) for _, group in groupby(settings, key=lambda s: (s.dataset, s.n, s.eps0, s.rule))]
    p_values = []
    for group in groups:
        logs = [_gap(setting, True) for setting in group]
        weights = np.array([1 / ratio.error**2 for ratio in logs])
        values = np.array([ratio.value for ratio in logs])
        spread = np.sum(weights * (values - np.average(values, weights=weights)) ** 2)
        p_values.append(stats.chi2.sf(spread, len(logs) - 1))
    signs = holm(p_values).astype(int)
    ratios = _ratios(settings)
    largest = max(p_values)
    why = f"the ratio of the errors is {span(ratios)} over the cells (Cochran's Q: p up to {largest:.1g})"
    return Outcome(verdict_of(signs), f"p <= {largest:.1g}; ratio {span(ratios)}", why)


def same_noise_for_all_n(reading: Reading, **where: Any) -> Outcome:
    """Is the Gaussian's individual error, in users, the same at the smallest and the largest n?

    On the exact reading it is so by definition: at one (eps, delta) the calibration has no n in it. How far
    the errors at equal privacy differ, where eps falls with n, is told and not judged.
    """
    name = RAW_GAUSSIAN if reading.is_exact else GAUSSIAN  # the noise itself, not projected
    settings = reading.pick((name,), metric="individual_error", **where)
    ratios, ends = [], []
    for curve in _curves(settings, "n"):
        first, last = (setting.samples[name] * setting.n for setting in (curve[0], curve[-1]))
        changes = [log_ratio(sample, np.full(len(sample), 1.0)) for sample in (last, first)]
        ratios.append(changes[0] - changes[1])
        ends.append(float(np.exp(ratios[-1].value)))
    if not ratios:
        raise _no_curves(reading, "n")
    pooled = _pooled(ratios)
    ratio = float(np.exp(pooled.value))
    if reading.is_exact:
        why = (
            "at one (eps, delta) the calibration has no n in it; at equal privacy eps falls with n, so that "
            f"the Gaussian's error in users at the largest n is {ratio:.3g} times that at the smallest"
        )
        return Outcome(HOLDS, "by definition", why)
    why = (
        f"the Gaussian's error in users at the largest n is {ratio:.3g} times that at the smallest "
        f"(cells between {span(ends)})"
    )
    return Outcome(verdict_of(signs_within([pooled], INDISTINGUISHABLE)), f"ratio {ratio:.3g}", why)


def falls_along(
    reading: Reading, axis: str, mechanisms: Collection[str] = (INV, GAUSSIAN), **where: Any
) -> Outcome:
    """Does every mechanism's error fall from the smallest to the largest value of ``axis`` on every curve?"""
    changes, ends = [], []
    for curve in _curves(reading.pick(mechanisms, **where), axis):
        for name in mechanisms:
            first, last = (mean(setting.samples[name]) for setting in (curve[0], curve[-1]))
            changes.append(last - first)
            ends.append(last.value / first.value)
    if not changes:
        raise _no_curves(reading, axis)
    signs = signs_below(changes)
    why = (
        f"the errors at the largest {axis} are {span(ends)} times those at the smallest "
        f"({count_signs(signs)})"
    )
    return Outcome(verdict_of(signs), f"{count_signs(signs)}; factor {span(ends)}", why)


def same_order(reading: Reading, model: Budgets, tested: Budgets) -> Outcome:
    """Do the three mechanisms have the same order at every setting as, on the whole, in the model?

    ``model`` and ``tested``: one dataset each. With the same eps0s in both, each eps0 has its own order.
    """
    names = (GAUSSIAN, INV, SHUFFLE)
    like, settings = (reading.pick(names, budgets=budgets) for budgets in (model, tested))
    alone = [*model.values()] != [*tested.values()]
    differences, orders = [], set()
    for setting in settings:
        group = [s for s in like if s.rule == setting.rule and (alone or s.eps0 == setting.eps0)]
        totals = {name: sum(float(s.samples[name].mean()) for s in group) for name in names}
        order = sorted(names, key=lambda name: totals[name])
        orders.add(" < ".join(order))
        differences += [mean(setting.samples[a] - setting.samples[b]) for a, b in pairwise(order)]
    signs = signs_below(differences)
    in_words = " or ".join(sorted(orders))
    why = f"the order of the errors in the model is {in_words}; {count_signs(signs)} where tested"
    return Outcome(verdict_of(signs), count_signs(signs), why)


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


def _curves(settings: list[Setting], axis: str) -> list[list[Setting]]:
    """Settings that differ in ``axis`` only, ascending, at least two of them each."""
    names = [name for name in ("dataset", "eps0", "rule", "n", "metric", "cell") if name != axis]

    def key(setting: Setting) -> list[Any]:
        return [getattr(setting, name) for name in names]

    ordered = sorted(settings, key=lambda setting: (key(setting), getattr(setting, axis)))
    curves = [list(group) for _, group in groupby(ordered, key=key)]
    return [curve for curve in curves if len(curve) > 1]


def _no_curves(reading: Reading, axis: str) -> NoEvidenceError:
    return NoEvidenceError(f"the config's {reading.name} experiments have one {axis} only")


def _gap(setting: Setting, relative: bool) -> Estimate:
    """shuffle+INV against the Gaussian: log ratio of mean errors, or their difference, an `Estimate`."""
    first, second = setting.samples[INV], setting.samples[GAUSSIAN]
    return log_ratio(first, second) if relative else mean(first - second)


def _pooled(estimates: list[Estimate]) -> Estimate:
    """The plain mean of independent estimates."""
    total = estimates[0]
    for estimate in estimates[1:]:
        total = total - Estimate(-estimate.value, estimate.error, estimate.freedom)
    size = len(estimates)
    return Estimate(total.value / size, total.error / size, total.freedom)


def _ratios(settings: Iterable[Setting], first: str = INV, second: str = GAUSSIAN) -> list[float]:
    return [float(np.mean(s.samples[first]) / np.mean(s.samples[second])) for s in settings]


def _instance(word: str, settings: Iterable[Setting], signs: Signs) -> str:
    """Where a comparison goes against the claim, as the end of a sentence; "" if none does."""
    against = [setting for setting, sign in zip(settings, signs, strict=True) if sign < 0]
    return f"; {word} for instance at {_place(against[0])}" if against else ""


def _place(setting: Setting) -> str:
    cell = f", cell {setting.cell}" if setting.cell else ""
    rule = f", delta {setting.rule}" if setting.rule else ""
    return f"{setting.dataset}, n = {setting.n:,}, eps0 = {setting.eps0:g}{rule}{cell}"
