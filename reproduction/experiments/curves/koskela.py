"""delta of several rounds over eps, as in Koskela et al., Figure 1: both panels, both estimates."""

import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from reproduction.experiments.curves.axes import Section, linear_axis, rounded
from tightshuffle.arguments import OutsideRange
from tightshuffle.bounds.composition import balle_analytic, composed, eps0_of_blanket
from tightshuffle.literature.amplification import balle_bennett

AT_A_TIME = 40  # values of eps
COLUMNS = ["curve", "compositions", "n", "k", "eps0", "eps", "lower", "upper"]


def koskela_fig1a(settings: Section) -> pd.DataFrame:
    """The strong and the weak adversary, and two bounds for one round; rows of `COLUMNS`, delta as log10.

    ``settings``: the config's ``koskela.fig1a``; eps0 follows from gamma, the blanket.
    """
    eps0 = float(eps0_of_blanket(settings["gamma"], settings["k"]))
    fixed = {"n": settings["n"], "k": settings["k"], "eps0": eps0}
    curves = [composed_curves(settings, fixed, ("strong", "weak"))]
    curves.append(one_round(settings, fixed, "balle_analytic", balle_analytic))
    curves.append(one_round(settings, fixed, "balle_bennett", balle_bennett))
    return pd.concat(curves, ignore_index=True)


def koskela_fig1b(settings: Section) -> pd.DataFrame:
    """The clones and the stronger clones; rows of `COLUMNS`, delta as log10.

    ``settings``: the config's ``koskela.fig1b``. The clones do not depend on k.
    """
    fixed = {"n": settings["n"], "k": 2, "eps0": settings["eps0"]}
    return composed_curves(settings, fixed, ("clones", "stronger-clones"))


def composed_curves(settings: Section, fixed: dict[str, Any], pairs: tuple[str, ...]) -> pd.DataFrame:
    """Both estimates for every dominating pair and number of rounds, as deep as the figure shows them."""
    tables = []
    for pair, compositions in itertools.product(pairs, settings["compositions"]):
        parts = math.ceil(settings["eps"]["steps"] / AT_A_TIME)
        for eps in np.array_split(rounded(linear_axis(settings["eps"])), parts):
            lower, upper = (
                composed(eps, pair, compositions=compositions, estimate=estimate, **fixed)
                for estimate in ("optimistic", "pessimistic")
            )
            rows = {"curve": pair, "compositions": compositions, "eps": eps, "lower": lower, "upper": upper}
            tables.append(pd.DataFrame(rows | fixed)[COLUMNS])
            if upper[-1] < settings["lowest"]:  # what is deeper costs most and is not drawn
                break
    return pd.concat(tables, ignore_index=True)


def one_round(settings: Section, fixed: dict[str, Any], name: str, bound: Callable[..., Any]) -> pd.DataFrame:
    """A bound for one round without a lower estimate; eps at which it does not apply are left out."""
    eps = rounded(linear_axis(settings["eps"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideRange)
        upper = bound(eps, **fixed)
    rows = {"curve": name, "compositions": 1, "eps": eps, "lower": np.nan, "upper": upper} | fixed
    return pd.DataFrame(rows)[COLUMNS].dropna(subset="upper")
