"""A shuffled round as a privacy loss distribution of dp-accounting, which composes it with other mechanisms.

* *Pessimistic.* The pair that `loss_grid.connected` makes of the upper bound; it dominates every dataset.
* *Optimistic.* One dataset, by `optimistic.below`: all other users hold a third value. With two values, each
  other user draws a new value in each round, which is at most as bad as some fixed values.

Errors are of second order in the distance of points, about 1/50 of a standard deviation of the loss.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tightshuffle.arguments import Floats, Integers, check_one, check_positive
from tightshuffle.bounds.optimistic import below, masses
from tightshuffle.numerics.loss_grid import connected
from tightshuffle.numerics.positive_part import log_positive_part, outwards
from tightshuffle.points import Points
from tightshuffle.randomizers import Randomizer

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

_POINTS = 500  # grid points at which delta is computed
NEGLIGIBLE = -20.0  # log10 of the delta from which on losses count as infinite (pessimistic) or 0
_LARGEST = 10**7  # grid points that dp-accounting would hold
_SLACK = 1e-12  # relative error of powers of 10 and of sums of a thousand terms


def of_upper_bound(
    log10_delta: Callable[[Floats], Floats], last: float, spacing: float
) -> "PrivacyLossDistribution":
    """The pessimistic distribution of a bound on log10 delta at eps (e,), looked at up to ``last``."""
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    index, eps = _grid(last, spacing)
    grid = connected(index, spacing, log10_delta(eps) * np.log(10))
    possible = np.flatnonzero(np.isfinite(grid.log_mass))
    losses = (grid.first + possible).tolist()
    probabilities = np.exp(grid.log_mass[possible]).tolist()
    infinite = float(np.exp(grid.log_infinite))
    return PrivacyLossDistribution.create_from_rounded_probability(
        dict(zip(losses, probabilities, strict=True)), infinite, spacing
    )


def of_one_dataset(point: Points, last: float, spacing: float) -> "PrivacyLossDistribution":
    """The optimistic distribution: that of one dataset, from delta at eps up to ``last``."""
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    randomizer, users = point.randomizers[0], point.users.item()
    index, eps = _grid(last, spacing)
    forward = _delta_of_one_dataset(randomizer, (0, 1), eps, users)
    reverse = _delta_of_one_dataset(randomizer, (1, 0), eps, users)
    forward_values = below(eps, *forward, reverse[1])
    reverse_values = below(eps, *reverse, forward[1])
    # At eps = 0 both directions are the same.
    at_zero = min(forward_values[0], reverse_values[0])
    forward_values[0] = reverse_values[0] = at_zero
    return PrivacyLossDistribution.create_from_rounded_probability(
        masses(index, eps, forward_values, reverse_values),
        0.0,
        spacing,
        False,
        masses(index, eps, reverse_values, forward_values),
        0.0,
        symmetric=False,
    )


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


def _delta_of_one_dataset(
    randomizer: Randomizer, pair: tuple[int, int], eps: Floats, n: int
) -> tuple[Floats, Floats]:
    """Lower and upper bound on delta at ``eps`` of the dataset of the optimistic estimate (see module)."""
    reference = "x2" if randomizer.k > 2 else {"x0": 0.5, "x1": 0.5}
    gains = np.array([randomizer.gains(point, reference, pair) for point in eps.tolist()])
    values, probabilities = gains[:, 0], gains[:, 1]
    ulps = 16 + 2 * (gains.shape[2] + eps + randomizer.eps0)[:, None]
    ln_low = log_positive_part(*outwards(values, probabilities, False, ulps), n)[0]
    ln_high = log_positive_part(*outwards(values, probabilities, True, ulps), n)[1]
    low, high = (np.exp(np.minimum(ln_sum - np.log(n), 0.0)) for ln_sum in (ln_low, ln_high))
    return low * (1 - _SLACK), np.minimum(high * (1 + _SLACK), 1.0)
