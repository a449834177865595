"""delta over eps by several bounds, for one setting: what the command `tightshuffle compare` draws."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reproduction.figures import style
from reproduction.figures.delta_bounds import BOUNDS, TRUTH
from tightshuffle.arguments import Floats

LOOKS = {name.replace("_", "-"): look for name, (_, look) in BOUNDS.items()} | {
    "balle-hoeffding": {"color": "#009E73", "linestyle": (0, (4, 1.5))},
    "feldman": {"color": "#CC79A7", "linestyle": (0, (1, 1.2))},
    "erlingsson": {"color": "#666666"},
}


@style.applied()
def draw(eps: Floats, curves: Mapping[str, Floats], title: str) -> Figure:
    """The figure: log10 delta of every bound over ``eps`` (points,), upper and lower as a band.

    ``curves`` have the names of methods, lower and upper among them; nan where a theorem does not apply,
    and where delta is 0.
    """
    figure = style.new_figure(3.8)
    axes = figure.subplots()
    upper = curves["upper"]
    bottom = 1.1 * float(np.min(upper, initial=-1.0, where=np.isfinite(upper)))
    ends = []
    for name, log10_delta in curves.items():
        known = np.flatnonzero(np.isfinite(log10_delta))
        if name in ("lower", "upper") or not known.size:
            continue
        axes.plot(eps, log10_delta, **LOOKS[name])
        ends.append((max(float(log10_delta[known[-1]]), bottom), name, LOOKS[name]))
    axes.fill_between(
        eps, *np.maximum([curves["lower"], upper], 2 * bottom), color=TRUTH, alpha=0.3, linewidth=0
    )
    for name in ("lower", "upper"):
        axes.plot(eps, curves[name], color=TRUTH, linewidth=1.8, linestyle="-" if name == "upper" else "--")
    ends.append((max(float(upper[-1]), bottom), "upper, lower", {"color": TRUTH, "linewidth": 1.8}))
    axes.set(xlim=(0, max(eps[-1], 1e-12)), ylim=(bottom, 0), xlabel="ε", ylabel="δ", title=title)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"$10^{{{value:g}}}$" if value else "1"))
    axes.grid()
    style.end_labels(
        axes,
        [(y, name, look["color"]) for y, name, look in ends],
        looks={name: look for _, name, look in ends},
    )
    return figure
