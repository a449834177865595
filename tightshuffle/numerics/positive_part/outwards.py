"""Distributions that are moved to the safe side by more than rounding moved them."""

import math

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats
from tightshuffle.side import Side

_ULP = 2.0**-52


def outwards(values: Floats, probabilities: Floats, side: Side, ulps: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Distributions moved to a larger (`Side.UPPER`) or smaller E[S_+] by more than rounding moved them.

    ``values`` and ``probabilities`` (..., c) are known to ``ulps`` units in the last place, which broadcast.
    E[S_+] grows with every value, and with mass that moves to a larger value. So upwards positive values
    become likelier and negative ones less likely; downwards all become less likely but the smallest, which
    gets the rest.
    """
    up = 1 + np.asarray(ulps) * _ULP
    positive = values > 0
    moves_up = side is Side.UPPER
    moved = np.where(positive == moves_up, values * up, values / up)
    if moves_up:
        above = np.where(positive, probabilities * up, 0.0)
        below = np.where(positive, 0.0, probabilities / up)
        above /= np.maximum(above.sum(axis=-1, keepdims=True), 1.0)
        room = np.maximum(1 - above.sum(axis=-1, keepdims=True), 0.0)
        mass = below.sum(axis=-1, keepdims=True)
        return moved, above + below * np.where(mass > room, room / np.where(mass > 0, mass, 1.0), 1.0)
    kept = probabilities / up
    total = probabilities.sum(axis=-1, keepdims=True)
    rest = (total * (up - 1 / up)).max(axis=-1, keepdims=True)
    smallest = (np.arange(values.shape[-1]) == values.argmin(axis=-1)[..., None]) & (values < 0)
    others = np.where(smallest, 0.0, kept)
    left = [_what_is_left(row) for row in others.reshape(-1, others.shape[-1]).tolist()]
    most = np.reshape(left, (*others.shape[:-1], 1))
    return moved, np.where(smallest, np.minimum(kept + np.maximum(rest, 0.0), most), kept)


def _what_is_left(probabilities: list[float]) -> float:
    """What these leave to 1, and not a bit less: the value 0 would get it, which is not the smallest."""
    negative = [-each for each in probabilities]
    left = math.fsum([1.0, *negative])
    return left if math.fsum([1.0, -left, *negative]) <= 0 else math.nextafter(left, 2.0)
