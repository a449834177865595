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
    """The probabilities of the losses under P, by their place on a grid, from delta of both directions.

    ``eps`` (e,), which begins with 0, are the losses that are not negative, and ``index`` (e,) their places
    on the grid. ``forward`` and ``reverse`` (e,) are delta at ``eps``, of P against Q and of Q against P. The
    loss 0 gets what is missing to 1. The deltas are bounds, so a sum above 1 is scaled down.
    """
    # Negative losses are the positive ones of Q against P, whose probabilities under P are the second ones.
    of_positive, _ = _jumps(eps, forward)
    _, of_negative = _jumps(eps, reverse)
    total = float(forward[-1] + of_positive.sum() + of_negative.sum())
    scale = 1 / total if total > 1 else 1.0

    losses = np.concatenate([-index[:0:-1], index])
    probabilities = np.concatenate(
        [scale * of_negative[::-1], [max(1 - total, 0.0)], scale * of_positive]
    )
    return dict(zip(losses.tolist(), probabilities.tolist(), strict=True))


def _jumps(eps: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Probabilities under P and under Q of the losses eps[1:], both (e - 1,), from delta at ``eps`` (e,).

    Of the largest convex function of e^eps that is nowhere above these ``values``, the slope rises at each
    eps by the probability under Q.
    """
    steps = _steps_of_exponential(eps)
    slopes = scipy.optimize.isotonic_regression(np.diff(values) / steps, weights=steps).x
    jumps = np.maximum(np.diff(np.append(slopes, 0.0)), 0.0)
    return np.exp(eps[1:]) * jumps, jumps


def _steps_of_exponential(eps: Floats) -> Floats:
    """The differences of neighbours of e^eps."""
    return np.exp(eps[:-1]) * np.expm1(np.diff(eps))


def values_below_delta(eps: Floats, low: Floats, high: Floats, reverse_high: Floats) -> Floats:
    """Values at ``eps`` (e,) such that the lines between them, in e^eps, are nowhere above delta.

    They fall and end in 0. delta is convex in e^eps. So a line between two points exceeds it by at most a
    quarter of their distance times the change of the slope, by which ``low`` is lowered.

    ``low`` and ``high`` are a lower and an upper bound on delta at ``eps``, and ``reverse_high`` is an upper
    bound on delta of the other direction; all are (e,).
    """
    steps = _steps_of_exponential(eps)
    least_slopes = (low[1:] - high[:-1]) / steps
    largest_slopes = (high[1:] - low[:-1]) / steps
    # The slope just below e^eps = 1, by delta at -eps[1].
    first_slope = (low[0] - np.exp(-eps[1]) * reverse_high[1]) / -np.expm1(-eps[1]) - 1

    slopes_before = np.append(first_slope, least_slopes[:-1])
    slopes_after = np.append(largest_slopes[1:], 0.0)
    excess = steps * (slopes_after - slopes_before) / 4
    excess_at_eps = np.maximum(np.append(excess, 0.0), np.append(0.0, excess))

    values = np.minimum.accumulate(low - excess_at_eps)
    last_positive = max(int((values > 0).sum()) - 1, 0)
    values[last_positive:] = 0.0
    return values
