"""Which randomizer to use with a shuffler: a comparison of all randomizers at the same (eps, delta).

For every n, k and (eps, delta) it finds the largest eps0 of each randomizer, by the rigorous `upper`. It then
computes the expected errors (`expected_errors`, uniform data, before projection), and those of the analytic
Gaussian mechanism with the same (eps, delta). `upper` is not equally tight for all randomizers. So every
search is repeated with `lower` for the first rule of delta; the largest eps0 that is possible lies between
the two.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from reproduction.experiments.parity import delta_rules
from tightshuffle.arguments import Floats
from tightshuffle.bounds.histogram import bound_of_each
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.randomizers import BY_KEY
from tightshuffle.randomizers.base import SupportRandomizer
from tightshuffle.randomizers.expected_errors import errors, largest_error, mean_absolute
from tightshuffle.setting import LARGEST_EPS0_OF_UPPER

Family = Callable[[int, float], SupportRandomizer]  # of k and eps0
_WIDTH = 1e-3  # of the bounds, relative to delta
_CLOSE = 1e-3  # how far below the target log10 delta a search may end
_SHORTEST = 1e-6  # relative width of an interval of eps0 at which a search ends in any case
_SECANTS = 8  # secant steps before a search halves the interval

FAMILIES: dict[str, Family] = {key: kind.tuned for key, kind in BY_KEY.items()}


def study(settings: Mapping[str, Any]) -> pd.DataFrame:
    """Every randomizer at every n, k, eps and rule of delta of the config's ``study``: one row each.

    Returns a DataFrame: n, k, eps, delta_rule, delta; of central noise sigma (the Gaussian's, in counts),
    gaussian_tv, gaussian_largest and geometric_tv; randomizer (of `FAMILIES`), name (with m or g), eps0,
    log10_delta (of `upper` there), bits (of a report), expected (reports that support an empty cell), tv and
    largest (expected total variation distance, and expected largest error of a cell), ratio (of the tv to the
    Gaussian's), empty_ratio (of an empty cell's deviation), local_tv (without shuffler, eps0 = eps and
    delta = 0), eps0_lower and ratio_lower (by `lower`; nan but for the first rule). If the shuffler fails,
    eps0-local differential privacy still holds.
    """
    rules = delta_rules(settings["delta"], settings["delta_exponents"])
    points = pd.DataFrame(
        [
            (int(n), int(k), float(eps), rule.name, rule.delta(n))
            for n in settings["n"]
            for k in settings["k"]
            for eps in settings["eps"]
            for rule in rules
        ],
        columns=["n", "k", "eps", "delta_rule", "delta"],
    )
    n, k, eps = (points[name].to_numpy(float) for name in ("n", "k", "eps"))
    sigma = exact_scale(eps, points["delta"], sensitivity=HISTOGRAM_SENSITIVITY)
    points = points.assign(
        sigma=sigma,
        gaussian_tv=k / 2 * mean_absolute(sigma / n),
        gaussian_largest=_largest(k, sigma / n),
        geometric_tv=k / 2 * geometric_error(eps) / n,
    )
    parts = [_family_table(family, points, points["delta_rule"] == rules[0].name) for family in FAMILIES]
    order = ["n", "k", "eps", "delta_rule"]
    return pd.concat(parts).sort_values(order, kind="stable", ignore_index=True)


def geometric_error(eps: Floats) -> Floats:
    """E|X| of a count with two-sided geometric noise that is (eps, 0)-private for a histogram.

    One user moves two cells by 1, so P(X = x) is proportional to a^|x| with a = e^(-eps / 2) (Ghosh,
    Roughgarden and Sundararajan 2012), and E|X| = 2 a / (1 - a^2) = 1 / sinh(eps / 2).
    """
    return 1 / np.sinh(np.asarray(eps) / 2)


def largest_eps0(
    family: Family, eps: Floats, log10_delta: Floats, n: Floats, k: Floats, *, round_up: bool = True
) -> tuple[Floats, Floats]:
    """The largest eps0 at which `upper` (``round_up``) or `lower` is at most ``log10_delta``, and the bound.

    All arguments and results are arrays (points,). eps0 = eps, with log10 delta -inf, where the search finds
    no larger eps0. log log(1 / delta) is nearly linear in eps0. So secants need 3 or 4 evaluations, starting
    from the eps0 at which k-RR has the Gaussian's noise in an empty cell. Where a parameter of the family
    (m, g) jumps, the bound may jump, too. There the search may end up to a few percent early, on an eps0 that
    meets the guarantee.
    """
    sigma = exact_scale(eps, log10_delta=log10_delta, sensitivity=HISTOGRAM_SENSITIVITY)
    share = n / sigma**2
    guess = np.log1p((share + np.sqrt(share**2 + 4 * share * (k - 1))) / 2)
    aim = np.log(-(log10_delta - _CLOSE / 2))
    low, high = eps.copy(), np.full(len(eps), LARGEST_EPS0_OF_UPPER)
    reached = np.full(len(eps), -np.inf)
    here = np.clip(guess, 1.01 * eps, LARGEST_EPS0_OF_UPPER)
    last, surplus_last = np.full((2, len(eps)), np.nan)
    left, step = np.arange(len(eps)), 0
    while left.size:
        x = here[left]
        owns = [family(int(cells), float(eps0)) for cells, eps0 in zip(k[left], x, strict=True)]
        value = bound_of_each(round_up, eps[left], owns, n=n[left], width=_WIDTH, mixtures=False)
        met = value <= log10_delta[left]
        low[left[met]], reached[left[met]] = x[met], value[met]
        high[left[~met]] = x[~met]
        surplus = np.log(np.clip(-value, 1e-3, 1e4)) - aim[left]
        slope = (surplus - surplus_last[left]) / (x - last[left])
        new = x - np.clip(surplus / np.where(slope < -0.01, slope, -1.0), -1.5, 1.5)
        below, above = low[left], high[left]
        outside = ~((below < new) & (new < above)) | (step >= _SECANTS)
        last[left], surplus_last[left] = x, surplus
        here[left] = np.where(outside, (below + np.minimum(above, below + 2)) / 2, new)
        open_ = ~(met & (value >= log10_delta[left] - _CLOSE)) & (above - below > _SHORTEST * above)
        left, step = left[open_], step + 1
    return low, reached


def _family_table(name: str, points: pd.DataFrame, searched: "pd.Series[bool]") -> pd.DataFrame:
    family, wanted = FAMILIES[name], np.log10(points["delta"].to_numpy())
    n, k, eps = (points[column].to_numpy(float) for column in ("n", "k", "eps"))
    eps0, reached = largest_eps0(family, eps, wanted, n, k)
    owns = _of(family, k, eps0)
    tv = _tv(owns, n)
    eps0_lower, tv_lower = np.full((2, len(points)), np.nan)
    here = np.flatnonzero(searched)
    eps0_lower[here], _ = largest_eps0(family, eps[here], wanted[here], n[here], k[here], round_up=False)
    tv_lower[here] = _tv(_of(family, k[here], eps0_lower[here]), n[here])
    variances = [float(own.variance(0.0, int(users))) for own, users in zip(owns, n, strict=True)]
    return points.assign(
        randomizer=name,
        name=[own.name for own in owns],
        eps0=eps0,
        log10_delta=reached,
        bits=[own.bits for own in owns],
        expected=n * [own.q_star for own in owns],
        tv=tv,
        largest=_largest(k, 2 / k * tv / mean_absolute(1.0)),
        ratio=tv / points["gaussian_tv"],
        empty_ratio=np.sqrt(variances) * n / points["sigma"],
        local_tv=_tv(_of(family, k, eps), n),
        eps0_lower=eps0_lower,
        ratio_lower=tv_lower / points["gaussian_tv"],
    )


def _largest(k: Floats, deviation: Floats) -> Floats:
    """Expected largest error of k cells of the same deviation."""
    unit = {cells: largest_error(np.ones(int(cells))) for cells in np.unique(k)}
    return np.array([unit[cells] for cells in k]) * deviation


def _of(family: Family, k: Floats, eps0: Floats) -> list[SupportRandomizer]:
    return [family(int(cells), float(budget)) for cells, budget in zip(k, eps0, strict=True)]


def _tv(randomizers: Sequence[SupportRandomizer], n: Floats) -> Floats:
    """Expected total variation distance of each randomizer's estimate: uniform data, before projection."""
    pairs = zip(randomizers, n, strict=True)
    return np.array([own.k / 2 * errors(own, 1 / own.k, n=int(users)) for own, users in pairs])
