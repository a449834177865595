"""The calculator's picture: log10 of delta over eps, a curve per method."""

from typing import Any

from cycler import cycler
from matplotlib.figure import Figure

from tightshuffle.calculator import answers

_THIN = 1.2  # points, the width of all curves but `upper`
_LOOKS_OF_BRACKET: dict[str, dict[str, Any]] = {
    "upper": {"linestyle": "-", "color": "black", "linewidth": 2.5},
    # In front of the other curves, whose zorder is 2.
    "lower": {"linestyle": "-", "color": "tab:red", "linewidth": _THIN, "zorder": 3},
}
# Of the other curves: the first nine solid, the next nine dashed.
_COLOURS = ("blue", "orange", "green", "purple", "brown", "pink", "gray", "olive", "cyan")
_LOOKS = cycler(linestyle=["-", "--"]) * cycler(color=[f"tab:{colour}" for colour in _COLOURS])


def draw(setting: answers.Setting, log10_delta: float, eps: float) -> Figure:
    """The figure with log10 delta over eps, a curve per method, and a dot at (``eps``, ``log10_delta``).

    The methods are those that may apply in the ``setting``. The bounds `upper` and `lower` have looks of
    their own. The other curves take the looks of a cycle, in their order.
    """
    eps_of_curves, curves = answers.curves(setting, log10_delta, eps)
    figure = Figure(figsize=(8, 4.2), layout="constrained")  # inches
    axes = figure.subplots()

    axes.set_prop_cycle(_LOOKS)
    for method, log10_deltas in curves.items():
        look = _LOOKS_OF_BRACKET.get(method, {"linewidth": _THIN})
        axes.plot(eps_of_curves, log10_deltas, label=method, **look)

    axes.plot(eps, log10_delta, "o", color="black")
    axes.set(xlabel="eps", ylabel="log10 of delta", xlim=(0, eps_of_curves[-1]))
    # Up to a little above delta = 1.
    axes.set_ylim(min(answers.LOG10_DELTA_BELOW, answers.MARGIN * log10_delta), 0.2)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return figure
