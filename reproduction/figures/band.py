"""The gap between the rigorous bounds: upper and lower over tight, the delta of the worst known datasets."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reproduction.figures import style, wording
from reproduction.figures.table_files import groups, reader
from reproduction.figures.wording import USED, USED_NAME

# One row per (k, n, share of eps0).
COLUMNS = ["eps0", "k", "n", "share", "eps", "lower", "tight", "upper"]
BOUNDS = ["upper", "lower"]
TOP = 3.0  # log10 of the largest ratio drawn

read = reader(COLUMNS)


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """The figure: one panel per k, upper and lower over tight against eps / eps0, one colour per n."""
    figure = style.new_figure(2.6)
    cells = list(groups(table, "k"))
    panels = figure.subplots(1, len(cells), sharey=True, squeeze=False)[0]
    names = {}
    for axes, (k, rows) in zip(panels, cells, strict=True):
        for rank, (n, curve) in enumerate(groups(rows, "n")):
            colour = style.CYCLE[rank % len(style.CYCLE)]
            names[f"n = {wording.short_number(n)}"] = colour
            ratios = [10 ** (curve[bound] - curve["tight"]).clip(-TOP - 1, TOP + 1) for bound in BOUNDS]
            axes.fill_between(curve["share"], *ratios, color=colour, alpha=0.12, linewidth=0)
            for ratio in ratios:
                axes.plot(curve["share"], ratio, color=colour, linewidth=0.8, linestyle=":")
                axes.plot(curve["share"], ratio.where(curve["tight"] >= USED), color=colour, linewidth=1.5)
        axes.axhline(1, color=style.INK, linewidth=0.7)
        axes.set(yscale="log", xlim=(0, 1), ylim=(0.5, 10**TOP), xlabel="ε / ε₀", title=f"k = {k:g}")
        axes.grid()
    panels[0].set_ylabel("bound / tight δ")
    legend = [Line2D([], [], color=colour, linewidth=1.5, label=name) for name, colour in names.items()]
    legend += [
        Line2D([], [], color=style.INK, linewidth=1.5, label=f"δ ≥ {USED_NAME}"),
        Line2D([], [], color=style.INK, linewidth=0.8, linestyle=":", label=f"δ < {USED_NAME}"),
    ]
    figure.legend(handles=legend, loc="outside lower center", ncols=len(legend))
    return figure


def caption(table: pd.DataFrame) -> str:
    """The caption of the figure, with every parameter and the largest ratios."""
    used = table[table["tight"] >= USED]
    text = (
        "The gap (shaded) between the rigorous upper and lower bounds on the worst-case δ of the shuffled"
        " histogram, relative to tight, the δ of the worst known dataset. Lines above 1 are upper over tight,"
        " lines below 1 are lower over tight."
    )
    if len(used):
        high, low = (used["upper"] - used["tight"]).max(), (used["tight"] - used["lower"]).max()
        text += (
            f" Where δ ≥ {USED_NAME}, upper is at most {10**high:.2f} times tight, and tight at most"
            f" {max(1.0, 10**low):.2f} times lower."
        )
    return (
        f"{text}\n\nε₀ = {table['eps0'].iloc[0]:g}. Tight is the largest δ of the datasets in which none of"
        " the remaining users holds x₁, and all who do not hold x₀ hold one third value. It is a rigorous"
        " lower bound. It is exact if no other dataset is worse, which is a conjecture. Solid lines:"
        f" δ ≥ {USED_NAME}; dotted lines: smaller δ, where the gap is wider."
    )
