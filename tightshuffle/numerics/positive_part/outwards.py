"""Distributions that are moved to the safe side by more than rounding moved them."""

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats

_ULP = 2.0**-52


def outwards(
    values: Floats, probabilities: Floats, round_up: bool, ulps: npt.ArrayLike
) -> tuple[Floats, Floats]:
    """Distributions moved to a larger (``round_up``) or smaller E[S_+] by more than rounding moved them.

    ``values`` and ``probabilities`` (..., c) are known to ``ulps`` units in the last place, which broadcast.
    E[S_+] grows with every value, and with mass that moves to a larger value. So upwards positive values
    become likelier and negative ones less likely; downwards all become less likely but the smallest, which
    gets the rest.
    """
    up = 1 + np.asarray(ulps) * _ULP
    positive = values > 0
    moved = np.where(positive == round_up, values * up, values / up)
    if round_up:
        above = np.where(positive, probabilities * up, 0.0)
        below = np.where(positive, 0.0, probabilities / up)
        above /= np.maximum(above.sum(axis=-1, keepdims=True), 1.0)
        room = np.maximum(1 - above.sum(axis=-1, keepdims=True), 0.0)
        mass = below.sum(axis=-1, keepdims=True)
        return moved, above + below * np.where(mass > room, room / np.where(mass > 0, mass, 1.0), 1.0)
    kept = probabilities / up
    total = probabilities.sum(axis=-1, keepdims=True)
    rest = np.minimum(
        (total * (up - 1 / up)).max(axis=-1, keepdims=True), 1 - kept.sum(axis=-1, keepdims=True)
    )
    smallest = (np.arange(values.shape[-1]) == values.argmin(axis=-1)[..., None]) & (values < 0)
    return moved, kept + smallest * np.maximum(rest, 0.0)
