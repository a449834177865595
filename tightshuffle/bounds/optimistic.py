"""A distribution of losses whose delta is nowhere above that of one dataset, from delta at some eps.

Between two points a line exceeds a convex function by at most a quarter of their distance times the change of
the slope. Values lowered by this belong to a pair that the dataset's own pair dominates in every composition.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import Floats


def masses(index: npt.NDArray[Any], eps: Floats, forward: Floats, reverse: Floats) -> dict[int, float]:
    """The probabilities of the losses under P, by their index, from delta at ``eps`` of both directions.

    The loss 0 gets what is missing to 1. The deltas are bounds: a sum above 1 is scaled down.
    """
    (at_p, _), (_, at_minus_p) = (_jumps(eps, values) for values in (forward, reverse))
    total = float(forward[-1] + at_p.sum() + at_minus_p.sum())
    scale = 1 / total if total > 1 else 1.0
    losses = [*(-index[:0:-1]).tolist(), 0, *index[1:].tolist()]
    return dict(zip(losses, [*scale * at_minus_p[::-1], max(1 - total, 0.0), *scale * at_p], strict=True))


def _jumps(eps: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Probabilities under P and Q of the losses eps[1:], from the largest convex function of e^eps below."""
    steps = np.exp(eps[:-1]) * np.expm1(np.diff(eps))
    slopes = scipy.optimize.isotonic_regression(np.diff(values) / steps, weights=steps).x
    jumps = np.maximum(np.diff(np.append(slopes, 0.0)), 0.0)
    return np.exp(eps[1:]) * jumps, jumps


def below(eps: Floats, low: Floats, high: Floats, reverse_high: Floats) -> Floats:
    """Values at ``eps``, ending in 0, such that the lines between them, in e^eps, are nowhere above delta."""
    steps = np.exp(eps[:-1]) * np.expm1(np.diff(eps))
    least, most = (low[1:] - high[:-1]) / steps, (high[1:] - low[:-1]) / steps
    # The slope just below e^eps = 1, by delta at -eps[1].
    first = (low[0] - np.exp(-eps[1]) * reverse_high[1]) / -np.expm1(-eps[1]) - 1
    excess = steps * (np.append(most[1:], 0.0) - np.append(first, least[:-1])) / 4
    values = np.minimum.accumulate(low - np.maximum(np.append(excess, 0.0), np.append(0.0, excess)))
    values[max(int((values > 0).sum()) - 1, 0) :] = 0.0
    return values
