"""The analytic Gaussian's scale over delta, exact and published (diffprivlib's), and the delta it gives."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from tightshuffle.figures import style as plotting
from tightshuffle.figures.shared import read_table, write_figure
from tightshuffle.pipeline.job import job
from tightshuffle.report import findings

COLUMNS = ["eps", "log10_delta", "exact", "published", "published_log10_delta"]
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#000000")
STYLES = {"exact": {"linewidth": 1.6, "alpha": 0.55}, "published": {"linestyle": (0, (4, 1.5))}}


@plotting.style()
def draw(table):
    """The figure of a scale table: a row per (eps, log10 delta), scales for sensitivity 1."""
    figure = plotting.new_figure(3.0)
    scales, given = figure.subplots(1, 2)
    curves = dict(list(table.groupby("eps")))
    legend = []
    for rank, (eps, curve) in enumerate(curves.items()):
        colour = COLOURS[rank % len(COLOURS)]
        legend.append(Line2D([], [], color=colour, linewidth=1.6, label=f"ε = {eps:g}"))
        for reading, style in STYLES.items():
            scales.plot(curve["log10_delta"], curve[reading], color=colour, **style)
        width = 0.9 + 4 * (1 - (rank + 1) / len(curves))  # the lines lie over each other
        given.plot(curve["log10_delta"], curve["published_log10_delta"], color=colour, linewidth=width)
    ends = table["log10_delta"].max(), table["log10_delta"].min()
    given.plot(ends, ends, color=plotting.INK, linewidth=0.7, linestyle=":")
    for axes in (scales, given):
        axes.set(xlim=ends, xlabel="log₁₀ δ asked for")
        axes.grid()
    scales.set(title="(a) scale for sensitivity 1", ylabel="standard deviation of the noise")
    scales.set_ylim(0, 1.08 * table[["exact", "published"]].to_numpy().max())
    scales.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    given.set(title="(b) what the published scale gives", ylabel="log₁₀ δ of the published scale")
    legend += [Line2D([], [], color=plotting.INK, label=name, **style) for name, style in STYLES.items()]
    legend.append(Line2D([], [], color=plotting.INK, linewidth=0.7, linestyle=":", label="δ as asked for"))
    columns = len(legend) if len(legend) <= 6 else -(-len(legend) // 2)
    figure.legend(handles=legend, loc="outside lower center", ncols=columns)
    return figure


def caption(table):
    """The caption of the figure, with every parameter and where the published scale leaves the exact one."""
    ends = []
    for found in findings.saturation(table):
        words = (
            f"for ε = {found['eps']:g} the scale stays at {found['stays']:.4g} and its log₁₀ δ at"
            f" {found['gives']:.1f}, where {found['needed']:.4g} is needed for log₁₀ δ = {found['asked']:g}"
        )
        if np.isfinite(found["short_from"]):
            words += f" (short by more than {findings.SATURATED:.0%} from {found['short_from']:g} on)"
        ends.append(words)
    return (
        "The analytic Gaussian mechanism: (a) the standard deviation of the noise, for sensitivity 1, over"
        " the δ asked for: exact (the smallest with which the mechanism is (ε, δ)-private) and published"
        " (diffprivlib's GaussianAnalytic, which the paper used); (b) the smallest δ for which noise of the"
        " published scale is (ε, δ)-private, and as dots the δ asked for. diffprivlib takes the normal"
        " distribution function from erf, which has no digits left in the far tail: " + "; ".join(ends) + "."
    )


if __name__ == "__main__":
    with job(snakemake):
        scale_table = read_table(snakemake.input.scales, COLUMNS)
        write_figure(draw(scale_table), caption(scale_table), snakemake.output)
