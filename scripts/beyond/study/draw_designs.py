"""Which design: the errors of a popular and of a rare value, one panel per guarantee."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_table

SETTING = ["n", "k", "eps", "delta", "rounds"]
COLUMNS = [*SETTING, "share", "name", "rare_error", "popular_error", "bits_per_user", "reference"]
DESIGNS = [  # from the top of a panel, by whom one has to trust
    "k-RR",
    "k-RR with dummies",
    "Poisson dummies, from devices",
    "dummies of the best law",
    "OUE, sums only",
    "RAPPOR, sums only",
    "noise of aggregators",
    "central Gaussian",
    "central geometric",
]
RARE, POPULAR, CURATOR = "#56B4E9", "#0072B2", "#777777"  # colours of errors
# The axis of errors ends at so many times the largest error. The bits are written behind this error.
WIDTH_FOR_BITS = 12.0


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """The errors of two values by every design, with its bits: a panel for each guarantee, a line per design.

    ``table`` has a row per guarantee and design. A guarantee is n, k, eps, delta and rounds. The other
    columns are name (of the design), rare_error and popular_error (the mean absolute error of a count, in
    users, of a value that nobody holds, and of one that a ``share`` of the users holds), bits_per_user, and
    reference (whether a curator adds the noise). Design number i of `DESIGNS` is at y = i, downwards. The
    axis of errors is logarithmic, and at its end the bits are written.
    """
    settings = list(groups(table, SETTING, sort=False))
    figure = style.new_figure(3.2)
    panels = figure.subplots(1, len(settings), sharex=True, sharey=True, squeeze=False)[0]
    errors = table[["rare_error", "popular_error"]].to_numpy()
    smallest = float(errors.min())
    largest = float(errors.max())
    right_of_bits = largest * WIDTH_FOR_BITS / 1.3  # a little left of the axis's end
    text = {"ha": "right", "va": "center", "fontsize": 7}

    for axes, (setting, rows) in zip(panels, settings, strict=True):
        _draw_errors(axes, rows)
        n, k, eps, delta, rounds = setting
        unit = "rounds" if rounds > 1 else "round"
        title = f"n = {wording.short_number(n)}, k = {k:,}\n"
        title += f"ε = {eps:g}, δ = {wording.typeset(delta)}, {rounds} {unit}"
        axes.set_title(title)

        axes.text(right_of_bits, -0.8, "bits", **text)  # above the first design, which is at y = 0
        for name, bits in zip(rows["name"], rows["bits_per_user"], strict=True):
            axes.text(right_of_bits, DESIGNS.index(name), f"{bits:,.0f}", **text)
        axes.set(xscale="log", xlim=(smallest / 1.5, largest * WIDTH_FOR_BITS))
        style.log_ticks(axes.xaxis, (1,))
        axes.grid(axis="x")
        axes.set_xlabel("error of a value's count (users)")

    panels[0].set_yticks(range(len(DESIGNS)), DESIGNS)
    # y goes downwards, and has room for the word "bits" at its top. All panels share the axis.
    panels[0].set_ylim(len(DESIGNS) - 0.4, -1.4)
    marks = {"linestyle": "none", "marker": "o", "markersize": 4.5}
    entries = [
        style.line(f"held by {table['share'].iloc[0]:.0%} of the users", color=POPULAR, **marks),
        style.line("held by nobody", color=RARE, **marks),
        style.line("a curator's, for comparison", color=CURATOR, **marks),
    ]
    style.below(figure, entries)
    return figure


def _draw_errors(axes: Axes, designs: pd.DataFrame) -> None:
    """Draw two marks per design, its errors of the rare and of the popular value, joined by a line.

    ``designs`` has the columns name, rare_error and popular_error (in users), and reference, which says
    whether a curator adds the noise. The errors of such a design are equal, and have a colour of their own.
    A joining line has the colour of the rare value.
    """
    for design in designs.to_dict("records"):
        height = DESIGNS.index(design["name"])
        rare = design["rare_error"]
        popular = design["popular_error"]
        rare_colour, colour = (CURATOR, CURATOR) if design["reference"] else (RARE, POPULAR)
        axes.plot([rare, popular], [height, height], color=rare_colour, linewidth=1.5, zorder=2)
        axes.plot([rare], [height], "o", color=rare_colour, markersize=4.5, zorder=3)
        axes.plot([popular], [height], "o", color=colour, markersize=4.5, zorder=4)


def caption(table: pd.DataFrame) -> str:
    """The caption of `draw`: the ratio of k-RR's error to the best design's, for both values, and the legend.

    The ratios are ranges over all guarantees: one for the popular value, which a ``share`` of the users
    holds, and one for the rare value, which nobody holds. The best design is the one with the least error of
    this value among those that need no curator.
    """
    popular_ratios = []
    rare_ratios = []
    for _, rows in groups(table, SETTING, sort=False):
        # Those that need no curator.
        designs = rows[~rows["reference"].to_numpy(bool)].set_index("name")
        krr = designs.loc["k-RR"]
        popular_ratios.append(krr["popular_error"] / designs["popular_error"].min())
        rare_ratios.append(krr["rare_error"] / designs["rare_error"].min())

    popular_value = f"a value that {table['share'].iloc[0]:.0%} of the users hold"
    ratios = (
        f"The error of k-RR without dummies is {wording.two_digits(popular_ratios)} times that of the best"
        f" design for {popular_value}, and {wording.two_digits(rare_ratios)} times for a value that nobody"
        " holds:"
    )
    meaning = (
        "mean error of how many users hold it, every design at its best parameters for the same (ε, δ) of"
        " all rounds together; no projection."
    )
    marks = (
        "Where only one mark is seen, both errors are equal."
        " Bits are per user and round, dummies included."
    )
    trust = (
        "Nothing is left without local noise (dummies alone, noise of aggregators) if the trusted party"
        " fails."
    )
    return f"{ratios} {meaning} {marks} {trust}"


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        write_figure(draw(table), caption(table), snakemake.output)
