"""A lower bound on delta of the worst dataset, and its inverse."""

import numpy.typing as npt

from tightshuffle.arguments import Floats
from tightshuffle.bounds import histogram
from tightshuffle.bounds.inverse import eps_of_setting
from tightshuffle.setting import Setting


def log10_delta(eps: npt.ArrayLike, setting: Setting) -> Floats:
    """log10 of a delta that some dataset has at least, for one round."""
    return histogram.log10_delta(eps, setting, round_up=False)


def epsilon(wanted: Floats, setting: Setting) -> Floats:
    """An eps, rounded down, at which log10 delta of some dataset is at least ``wanted``."""
    return setting.solve(lambda aim, one: eps_of_setting(log10_delta, aim, one, round_up=False), wanted)
