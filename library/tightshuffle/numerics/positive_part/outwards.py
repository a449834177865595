"""Distributions that are moved to the safe side by more than rounding moved them."""

import math

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats
from tightshuffle.numerics.side import Side

_ULP = 2.0**-52  # a unit in the last place of 1


def outwards(
    values: Floats, probabilities: Floats, side: Side, ulps: npt.ArrayLike
) -> tuple[Floats, Floats]:
    """Distributions moved to a larger (`Side.UPPER`) or smaller E[S_+] by more than rounding moved them.

    S is a sum of independent copies of a random number G. Returns the moved values of G and their
    probabilities, (..., c) each. Upwards, the probabilities sum to at most 1.

    E[S_+] grows with every value, and with mass that moves to a larger value. So upwards, positive values
    become likelier and negative ones less likely. Downwards, all values become less likely, and the smallest
    value, if it is negative, gets what they lost.

    Parameters
    ----------
    values, probabilities : float arrays (..., c)
        The values of one G and their probabilities, both as rounded. What is missing to 1 is the probability
        of the value 0.
    side : Side
        Where E[S_+] moves to.
    ulps : number, or array that broadcasts to (..., c)
        By how many units in the last place a value or a probability may be wrong.
    """
    up = 1 + np.asarray(ulps) * _ULP
    positive = values > 0
    moves_up = side is Side.UPPER
    moved = np.where(positive == moves_up, values * up, values / up)
    if moves_up:
        # The positive values, above, come first. The others, below, get at most what these leave to 1.
        above = np.where(positive, probabilities * up, 0.0)
        below = np.where(positive, 0.0, probabilities / up)
        above /= np.maximum(above.sum(axis=-1, keepdims=True), 1.0)
        room = np.maximum(1 - above.sum(axis=-1, keepdims=True), 0.0)
        mass = below.sum(axis=-1, keepdims=True)
        share_kept = np.where(mass > room, room / np.where(mass > 0, mass, 1.0), 1.0)
        return moved, above + below * share_kept

    # All probabilities are divided by ``up``. The smallest value, if it is negative, gains ``gain``, more
    # than all lost together, but not more than the others leave to 1, the rest.
    lowered = probabilities / up
    total = probabilities.sum(axis=-1, keepdims=True)
    gain = (total * (up - 1 / up)).max(axis=-1, keepdims=True)
    is_smallest = (np.arange(values.shape[-1]) == values.argmin(axis=-1)[..., None]) & (values < 0)
    others = np.where(is_smallest, 0.0, lowered)
    rests = [_rest_to_one(row) for row in others.reshape(-1, others.shape[-1]).tolist()]
    rest = np.reshape(rests, (*others.shape[:-1], 1))
    raised = np.minimum(lowered + np.maximum(gain, 0.0), rest)
    return moved, np.where(is_smallest, raised, lowered)


def _rest_to_one(probabilities: list[float]) -> float:
    """1 less the sum of the probabilities, rounded up.

    The rest is the probability of the smallest value. Were it a bit too small, the value 0, which is larger,
    would get this bit. `math.fsum` is exact before it rounds.
    """
    negative = [-probability for probability in probabilities]
    rest = math.fsum([1.0, *negative])
    return rest if math.fsum([1.0, -rest, *negative]) <= 0 else math.nextafter(rest, 2.0)
