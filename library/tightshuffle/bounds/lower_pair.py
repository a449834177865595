"""A distribution of losses whose delta is nowhere above that of one dataset, from delta at some eps.

Between two points a line exceeds a convex function by at most a quarter of their distance times the change of
the slope. Values lowered by this belong to a pair that the dataset's own pair dominates in every composition.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import Floats


def probabilities_of_losses(
    index: npt.NDArray[Any], eps: Floats, forward: Floats, reverse: Floats
) -> dict[int, float]:
    """The probability under P of each privacy loss on a grid, {place on the grid: probability}.

    P and Q are the pair whose delta these are: ``forward`` (e,) is that of P against Q at ``eps`` (e,), and
    ``reverse`` (e,) that of Q against P. ``eps`` begins with 0. The possible losses are eps and -eps, and
    ``index`` (e,) are the places of eps on the grid, so that -index are those of -eps. The loss 0 gets what
    is missing to 1. The deltas are bounds, so probabilities that add up to more than 1 are scaled down.
    """
    probabilities_of_positive, _ = _probabilities_of_positive_losses(eps, forward)
    # A negative loss of P against Q is a positive one of Q against P. So P is the second of the two there.
    _, probabilities_of_negative = _probabilities_of_positive_losses(eps, reverse)
    # What is left of delta at the last eps counts, too.
    total = float(forward[-1] + probabilities_of_positive.sum() + probabilities_of_negative.sum())
    scale = 1 / total if total > 1 else 1.0

    places = np.concatenate([-index[:0:-1], index])
    probabilities = np.concatenate(
        [
            scale * probabilities_of_negative[::-1],
            [max(1 - total, 0.0)],
            scale * probabilities_of_positive,
        ]
    )
    return dict(zip(places.tolist(), probabilities.tolist(), strict=True))


def _probabilities_of_positive_losses(eps: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Probabilities under P and under Q of the losses eps[1:], both (e - 1,), from delta at ``eps``.

    ``values`` (e,) bound delta at ``eps`` (e,) from above. As a function of e^eps, delta is the largest
    convex function that is nowhere above them. At each eps its slope rises by the probability under Q.
    """
    steps = _steps_of_exponential(eps)
    slopes = scipy.optimize.isotonic_regression(np.diff(values) / steps, weights=steps).x
    under_q = np.maximum(np.diff(np.append(slopes, 0.0)), 0.0)
    return np.exp(eps[1:]) * under_q, under_q


def _steps_of_exponential(eps: Floats) -> Floats:
    """The differences of neighbours of e^eps, (e - 1,), from ``eps`` (e,)."""
    return np.exp(eps[:-1]) * np.expm1(np.diff(eps))


def values_below_delta(eps: Floats, low: Floats, high: Floats, reverse_high: Floats) -> Floats:
    """Values at ``eps``, (e,), such that the lines between neighbours, in e^eps, are nowhere above delta.

    ``low`` and ``high`` are a lower and an upper bound on delta at ``eps``, of P against Q. ``reverse_high``
    is an upper bound on delta of Q against P. All are (e,), and eps[0] is 0. The values fall and end in 0.

    delta is convex in e^eps. So a line between two points of it exceeds it by at most a quarter of the
    distance of the points times the change of its slope between them. The values are ``low`` less this.
    """
    steps = _steps_of_exponential(eps)
    least_slopes = (low[1:] - high[:-1]) / steps
    largest_slopes = (high[1:] - low[:-1]) / steps
    # A lower bound on the slope just below e^eps = 1, from delta at -eps[1]. This is 1 - e^-eps[1] plus
    # e^-eps[1] times delta of the other direction at eps[1].
    first_slope = (low[0] - np.exp(-eps[1]) * reverse_high[1]) / -np.expm1(-eps[1]) - 1

    # Before a step the slope of delta is at least, and after it at most:
    slopes_before = np.append(first_slope, least_slopes[:-1])
    slopes_after = np.append(largest_slopes[1:], 0.0)
    excess = steps * (slopes_after - slopes_before) / 4
    # A point is lowered by the larger excess of the lines on both its sides.
    excess_at_eps = np.maximum(np.append(excess, 0.0), np.append(0.0, excess))

    values = np.minimum.accumulate(low - excess_at_eps)
    # Values below 0 become 0. That would lift the line from the last value above 0, so this becomes 0, too.
    last_positive = max(int((values > 0).sum()) - 1, 0)
    values[last_positive:] = 0.0
    return values
