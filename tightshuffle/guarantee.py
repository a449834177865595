"""The guarantee: the smallest proven upper bound on delta for every dataset, and its inverse.

`of_one_round` is the one place where a bound becomes part of the guarantee: rounds, trade-off curves, loss
distributions and plans all ask it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats
from tightshuffle.bounds import histogram, rounds, single_value, sums
from tightshuffle.bounds.inverse import eps_of_setting
from tightshuffle.randomizers import Randomizer
from tightshuffle.setting import Setting


def of_one_round(eps: npt.ArrayLike, setting: Setting) -> Floats:
    """log10 of the smallest proven upper bound on delta of one round; -inf where eps >= eps0."""
    return setting.each(bound_of_each, eps)


def bound_of_each(
    eps: Floats, randomizers: Sequence[Randomizer], *, n: npt.ArrayLike, width: float = histogram.WIDTH
) -> Floats:
    """`of_one_round` at many points at once: the smaller one of the blanket's bound and the single value's.

    Parameters are those of `histogram.bound_of_each`, which already takes the bound of the count for k = 2.
    """
    blanket = histogram.bound_of_each(True, eps, randomizers, n=n, width=width)
    return single_value.smaller(blanket, eps, randomizers, n=n)


def log10_delta(eps: npt.ArrayLike, setting: Setting) -> Floats:
    """log10 of the upper bound on delta of all rounds together; -inf where eps >= compositions * eps0."""
    if setting.release == "sums":
        return setting.solve(_log10_delta_of_sums, np.asarray(eps))
    return rounds.log10_delta(of_one_round, eps, setting)


def epsilon(wanted: Floats, setting: Setting) -> Floats:
    """The smallest eps with log10 delta = ``wanted``, rounded up; the bound is up to 1e-5 smaller there."""
    return setting.solve(_epsilon, wanted)


def _epsilon(wanted: float, one: Setting) -> float:
    if one.release == "sums":
        return sums.epsilon(wanted, **_summed(one))
    if one.compositions > 1:
        return rounds.epsilon(of_one_round, wanted, one)
    return eps_of_setting(of_one_round, wanted, one, round_up=True)


def _log10_delta_of_sums(eps: float, one: Setting) -> float:
    return float(sums.log10_delta(eps, **_summed(one)))


def _summed(one: Setting) -> dict[str, Any]:
    """The arguments of a function of `sums`."""
    users, own = one.one()
    rounds = one.compositions.item()
    return {"n": users, "randomizer": own, "compositions": rounds, "deletion": one.deletion}
