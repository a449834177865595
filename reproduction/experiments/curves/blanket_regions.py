"""Where the blanket paper's theorems apply, over eps0, and its eq. (3) with the true delta."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from reproduction.experiments.curves.axes import Section, linear_axis, log_axis
from tightshuffle.arguments import Integers
from tightshuffle.bounds import histogram
from tightshuffle.literature import blanket, count

BOUNDS = {"lower": histogram.lower, "upper": histogram.upper}  # of the whole histogram, for every dataset


def blanket_regions(settings: Section) -> pd.DataFrame:
    """Where the theorems' regions end and how many real roots P and H have, one row per eps0.

    ``settings``: the config's ``blanket_regions``.
    """
    eps0 = linear_axis(settings["eps0"])
    fixed = {"n": settings["n"], "k": settings["k"], "count": x0_count(settings["share"], settings["n"])}
    constants = blanket.kappas(eps0=eps0, **fixed)
    ends = {
        "log_kappa_2": constants.log_kappa_2,
        "kappa_4": constants.kappa_4,
        "case_border": blanket.case_border(eps0),
        "roots_P": blanket.polynomial_roots(constants),
        "roots_H": blanket.equation_roots(constants),
    }
    return pd.DataFrame({"eps0": eps0, **fixed, **ends})


def blanket_tightness(settings: Section) -> pd.DataFrame:
    """log10 delta by eq. (3), of the count of x0 and of the whole histogram.

    The column ``series`` says over what: "eps" at one n, "n" at some eps, or "S_2" for eps = ln(kappa_2) / 2
    at every n. ``settings``: the config's ``blanket_regions``. ValueError names the eps that reaches
    curve.eps0.
    """
    eps0, k, share = settings["curve"]["eps0"], settings["k"], settings["share"]
    largest = {
        "curve.eps.start": settings["curve"]["eps"]["start"],
        "growth.eps": max(settings["growth"]["eps"]),
    }
    for key, eps in largest.items():
        if eps >= eps0:
            raise ValueError(
                f"blanket_regions.{key} must be below curve.eps0 = {eps0}, or delta is 0; got {eps}"
            )
    sizes = np.array(settings["growth"]["n"])
    middle = blanket.kappas(n=sizes, k=k, eps0=eps0, count=x0_count(share, sizes)).log_kappa_2 / 2
    points = [("eps", eps, settings["n"]) for eps in log_axis(settings["curve"]["eps"])]
    points += [("n", eps, n) for eps in settings["growth"]["eps"] for n in sizes]
    points += [("S_2", eps, n) for eps, n in zip(middle, sizes, strict=True)]
    table = pd.DataFrame(points, columns=["series", "eps", "n"])
    table = table.assign(k=k, eps0=eps0, count=x0_count(share, table["n"].to_numpy()))
    eps, held = table["eps"].to_numpy(), table["count"].to_numpy()
    setting: dict[str, Any] = {name: table[name].to_numpy() for name in ("n", "k", "eps0")}
    constants = blanket.kappas(count=held, **setting)
    table = table.assign(log_kappa_2=constants.log_kappa_2, kappa_4=constants.kappa_4)
    table["equation_3"] = blanket.equation_3(eps, **setting)
    table["surplus"] = blanket.surplus(eps, count=held, **setting)
    for direction in ("forward", "reverse"):
        table[f"count_{direction}"] = count.delta(eps, count=held, direction=direction, **setting)
    return table.assign(**{name: bound(eps, **setting) for name, bound in BOUNDS.items()})


def x0_count(share: float, n: npt.ArrayLike) -> Integers:
    """How many of the remaining n - 1 users hold x0: pi(x0) (n - 1), rounded; the shape of ``n``."""
    return np.rint(share * (np.asarray(n) - 1)).astype(int)
