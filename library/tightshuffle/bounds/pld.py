"""A shuffled round as a privacy loss distribution of dp-accounting, which composes it with other mechanisms.

* *Pessimistic.* The pair that `dominating_grid` makes of the upper bound; it dominates every dataset.
* *Optimistic.* One dataset, by `lower_pair.values_below_delta`: all other users hold a third value. With two
  values, each other user draws a new value in each round, which is at most as bad as some fixed values.

Errors are of second order in the distance of points, about 1/50 of a standard deviation of the loss.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tightshuffle.arguments import Floats, Integers, check_one, check_positive
from tightshuffle.bounds.lower_pair import probabilities_of_losses, values_below_delta
from tightshuffle.numerics.loss_grid import LossGrid, dominating_grid
from tightshuffle.numerics.positive_part import log_positive_part, outwards
from tightshuffle.numerics.side import Side
from tightshuffle.points import Points
from tightshuffle.randomizers import Randomizer

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

_POINTS = 500  # grid points at which delta is computed
LN_NEGLIGIBLE = -20.0 * math.log(
    10
)  # ln of the delta from which on losses count as infinite (pessimistic) or 0
_LARGEST = 10**7  # grid points that dp-accounting would hold
_SLACK = 1e-12  # relative error of powers of 10 and of sums of a thousand terms


def dominating_losses(
    ln_delta: Callable[[Floats], Floats], last: float, spacing: float
) -> LossGrid:
    """A distribution of privacy losses that dominates every mechanism with this bound on delta.

    ``ln_delta`` is a function from eps (e,) to ln of the bound (e,), the same in both directions. It is
    called at eps from 0 to ``last``. The losses are multiples of ``spacing``, and what is left of delta at
    ``last`` is the probability of an infinite loss.
    """
    index, eps = _make_grid(last, spacing)
    return dominating_grid(index, spacing, ln_delta(eps))


def pessimistic_pld(
    ln_delta: Callable[[Floats], Floats], last: float, spacing: float
) -> "PrivacyLossDistribution":
    """The losses of `dominating_losses`, as dp-accounting has them."""
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    grid = dominating_losses(ln_delta, last, spacing)

    # dp-accounting takes {place of a loss on the grid: probability}. The places of the grid's masses are
    # grid.first, grid.first + 1, ...; only those with a positive probability are given.
    possible = np.flatnonzero(np.isfinite(grid.log_mass))
    losses = (grid.first + possible).tolist()
    probabilities = np.exp(grid.log_mass[possible]).tolist()
    infinite = float(np.exp(grid.log_infinite))
    return PrivacyLossDistribution.create_from_rounded_probability(
        dict(zip(losses, probabilities, strict=True)), infinite, spacing
    )


def optimistic_pld(point: Points, last: float, spacing: float) -> "PrivacyLossDistribution":
    """A distribution of privacy losses that is dominated by that of one dataset of the setting ``point``.

    So its delta is nowhere above that of the dataset. ``point`` has length 1; it gives the randomizer and the
    number of users. The losses are multiples of ``spacing``, and delta is computed at eps from 0 to ``last``.
    The target user holds the value 0 under P, and 1 under Q. "Forward" is P against Q, and "reverse" is Q
    against P.
    """
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    randomizer, users = point.randomizers[0], point.honest_users.item()
    index, eps = _make_grid(last, spacing)
    forward_low, forward_high = _delta_of_one_dataset(randomizer, (0, 1), eps, users)
    reverse_low, reverse_high = _delta_of_one_dataset(randomizer, (1, 0), eps, users)
    forward_values = values_below_delta(eps, forward_low, forward_high, reverse_high)
    reverse_values = values_below_delta(eps, reverse_low, reverse_high, forward_high)
    # At eps = 0, delta of both directions is the same, so both get the smaller value.
    at_zero = min(forward_values[0], reverse_values[0])
    forward_values[0] = reverse_values[0] = at_zero

    # Forward first; dp-accounting calls the reverse "add".
    return PrivacyLossDistribution.create_from_rounded_probability(
        probabilities_of_losses(index, eps, forward_values, reverse_values),
        infinity_mass=0.0,
        value_discretization_interval=spacing,
        pessimistic_estimate=False,  # losses between two points were rounded down
        rounded_probability_mass_function_add=probabilities_of_losses(
            index, eps, reverse_values, forward_values
        ),
        infinity_mass_add=0.0,
        symmetric=False,
    )


def _make_grid(last: float, spacing: float) -> tuple[Integers, Floats]:
    """About 500 whole numbers i from 0 on, and their multiples eps = i * ``spacing``, which reach ``last``.

    At these eps delta is computed. ValueError if there would be too many multiples in all.
    """
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
    """A lower and an upper bound on delta at ``eps`` of one dataset, of ``n`` users; both (e,), as ``eps``.

    The target user's value changes from the first of the ``pair`` to the second. All other users hold a third
    value; for k = 2 each draws one of the two evenly. With the gains G_1, G_2, ... of the reports, delta is
    E[(G_1 + ... + G_n)_+] / n. In the body, ``values`` and ``probabilities`` (e, classes) are those of one
    gain.
    """
    reference = "x2" if randomizer.k > 2 else {"x0": 0.5, "x1": 0.5}
    gains = np.array([randomizer.gains(point, reference, pair) for point in eps.tolist()])
    values, probabilities = gains[:, 0], gains[:, 1]
    # Units in the last place by which the values may be wrong. They grow with the number of classes, eps and
    # eps0.
    ulps = 16 + 2 * (gains.shape[2] + eps + randomizer.eps0)[:, None]

    # Distributions whose delta is surely smaller, and larger. `log_positive_part` gives a lower and an upper
    # bound on ln(n delta) of each.
    smaller = outwards(values, probabilities, Side.LOWER, ulps)
    larger = outwards(values, probabilities, Side.UPPER, ulps)
    ln_low, _ = log_positive_part(*smaller, n)
    _, ln_high = log_positive_part(*larger, n)
    # The slack covers the rounding of what follows.
    low = np.exp(np.minimum(ln_low - np.log(n), 0.0)) * (1 - _SLACK)
    high = np.exp(np.minimum(ln_high - np.log(n), 0.0)) * (1 + _SLACK)
    return low, np.minimum(high, 1.0)
