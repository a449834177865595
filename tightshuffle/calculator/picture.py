"""The calculator's picture: log10 of delta over eps, a curve per method."""

from cycler import cycler
from matplotlib.figure import Figure

from tightshuffle.calculator import answers

# For all but `upper` and `lower`, which are black and red: the first nine solid, the next nine dashed.
_COLOURS = ("blue", "orange", "green", "purple", "brown", "pink", "gray", "olive", "cyan")
_LOOKS = cycler(linestyle=["-", "--"]) * cycler(color=[f"tab:{colour}" for colour in _COLOURS])


def draw(setting: answers.Setting, log10_delta: float, eps: float) -> Figure:
    """The curves of all methods that this setting has, and a dot at (``eps``, ``log10_delta``)."""
    points, curves = answers.curves(setting, log10_delta, eps)
    figure = Figure(figsize=(8, 4.2), layout="constrained")
    axes = figure.subplots()

    axes.set_prop_cycle(_LOOKS)
    # Colour, width, order of drawing.
    bracket = {"upper": ("black", 2.5, 2), "lower": ("tab:red", 1.2, 3)}
    for name, log10_deltas in curves.items():
        if name in bracket:
            colour, width, above = bracket[name]
            axes.plot(
                points, log10_deltas, "-", label=name, color=colour, linewidth=width, zorder=above
            )
        else:
            axes.plot(points, log10_deltas, label=name, linewidth=1.2)

    axes.plot(eps, log10_delta, "o", color="black")
    axes.set(xlabel="eps", ylabel="log10 of delta", xlim=(0, points[-1]))
    axes.set_ylim(min(answers.DEEPEST, 1.2 * log10_delta), 0.2)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return figure
