"""A shuffled round as a privacy loss distribution of dp-accounting, which composes it with other mechanisms.

* *Pessimistic.* The pair that `loss_grid.connected` makes of the upper bound; it dominates every dataset.
* *Optimistic.* One dataset, by `optimistic.below`: all other users hold a third value. With two values, each
  other user draws a new value in each round, which is at most as bad as some fixed values.

Errors are of second order in the distance of points, about 1/50 of a standard deviation of the loss.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tightshuffle.arguments import Floats, Integers, check_flag, check_installed, check_one, check_positive
from tightshuffle.bounds import upper
from tightshuffle.bounds.inverse import eps_of_setting
from tightshuffle.bounds.optimistic import below, masses
from tightshuffle.numerics.loss_grid import connected
from tightshuffle.numerics.positive_part import log_positive_part, outwards
from tightshuffle.randomizers import Randomizer
from tightshuffle.setting import Setting

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

_POINTS = 500  # grid points at which delta is computed
NEGLIGIBLE = -20.0  # log10 of the delta from which on losses count as infinite (pessimistic) or 0
_LARGEST = 10**7  # grid points that dp-accounting would hold
_SLACK = 1e-12  # relative error of powers of 10 and of sums of a thousand terms


def to_pld(setting: Setting, *, pessimistic: bool = True, spacing: float = 1e-4) -> "PrivacyLossDistribution":
    """The privacy loss distribution of one shuffled round: `tightshuffle.to_pld` explains the parameters."""
    check_installed("pld", "dp_accounting")
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    pessimistic = check_flag("pessimistic", pessimistic)
    users, own = setting.one()
    reach = eps_of_setting(upper.of_one_round, NEGLIGIBLE, setting, round_up=True)
    last = own.eps0 if np.isnan(reach) else reach
    if pessimistic:
        return of_curve(lambda eps: upper.of_one_round(eps, setting), last, spacing)
    index, eps = _grid(last, spacing)
    forward, reverse = (_one_dataset(own, pair, eps, users) for pair in ((0, 1), (1, 0)))
    curves = below(eps, *forward, reverse[1]), below(eps, *reverse, forward[1])
    for curve in curves:  # at eps = 0 both directions are the same
        curve[0] = min(own_curve[0] for own_curve in curves)
    one, other = (masses(index, eps, *both) for both in (curves, curves[::-1]))
    return PrivacyLossDistribution.create_from_rounded_probability(
        one, 0.0, spacing, False, other, 0.0, symmetric=False
    )


def of_curve(
    log10_delta: Callable[[Floats], Floats], last: float, spacing: float
) -> "PrivacyLossDistribution":
    """The pessimistic distribution of a bound on log10 delta at eps (e,), looked at up to ``last``."""
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    index, eps = _grid(last, spacing)
    grid = connected(index, spacing, log10_delta(eps) * np.log(10))
    held = np.flatnonzero(np.isfinite(grid.log_mass))
    known = dict(zip((grid.first + held).tolist(), np.exp(grid.log_mass[held]).tolist(), strict=True))
    infinite = float(np.exp(grid.log_infinite))
    return PrivacyLossDistribution.create_from_rounded_probability(known, infinite, spacing)


def _grid(last: float, spacing: float) -> tuple[Integers, Floats]:
    """The points at which delta is computed: multiples of the spacing up to ``last``, and their eps."""
    spacing = float(check_one("spacing", check_positive("spacing", spacing)))
    steps = np.ceil(last / spacing)
    if steps > _LARGEST:
        raise ValueError(
            f"spacing must be at least {spacing * steps / _LARGEST:.2g} in this setting; got {spacing:g}"
        )
    index = np.unique(np.rint(np.linspace(0, steps, _POINTS + 1))).astype(int)
    return index, index * spacing


def _one_dataset(own: Randomizer, pair: tuple[int, int], eps: Floats, n: int) -> tuple[Floats, Floats]:
    """Lower and upper bound on delta at ``eps`` of the dataset of the optimistic estimate (see module)."""
    reference = "x2" if own.k > 2 else {"x0": 0.5, "x1": 0.5}
    gains = np.array([own.gains(e, reference, pair) for e in eps.tolist()])
    ulps = 16 + 2 * (gains.shape[2] + eps + own.eps0)[:, None]
    ends = (
        log_positive_part(*outwards(gains[:, 0], gains[:, 1], round_up, ulps), n)[int(round_up)]
        for round_up in (False, True)
    )
    low, high = (np.exp(np.minimum(end - np.log(n), 0.0)) for end in ends)
    return low * (1 - _SLACK), np.minimum(high * (1 + _SLACK), 1.0)
