"""diffprivlib's scale for the analytic Gaussian mechanism over the exact one, over the requested delta."""

import pandas as pd
from matplotlib.figure import Figure

from scripts.shared import style
from scripts.shared.figure_files import run_figure_job
from scripts.shared.table_files import groups

# One row per (eps, log10 delta), for sensitivity 1.
COLUMNS = ["eps", "log10_delta", "exact", "published", "published_log10_delta"]
SATURATED = 0.01  # a scale that is this share below the exact one has stopped growing


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """The figure: diffprivlib's scale over the exact one, with a line per eps over the requested delta.

    ``table`` has a row for every eps and log10 delta, with the scales in the columns exact and published.
    """
    figure = style.new_figure(2.7, width=5.0)
    axes = figure.add_subplot()
    ratio = table["published"] / table["exact"]
    # delta falls to the right.
    axes.set_xlim(table["log10_delta"].max(), table["log10_delta"].min())
    axes.set_ylim(0, 1.1 * max(1, ratio.max()))
    ends = []
    for colour, (eps, rows) in zip(style.CYCLE, groups(table, "eps"), strict=False):
        log10_delta = rows["log10_delta"].sort_values(ascending=False)
        curve = ratio[log10_delta.index]
        axes.plot(log10_delta, curve, color=colour, linewidth=1.6)
        ends.append((curve.iloc[-1], f"ε = {eps:g}", colour))
    axes.axhline(1, color=style.INK, linewidth=0.8)
    axes.text(0.03, 0.08, "below 1: too little noise for (ε, δ)", transform=axes.transAxes)
    axes.xaxis.set_major_formatter(style.POWERS)
    axes.set(xlabel="requested δ", ylabel="diffprivlib's noise / exact noise")
    axes.grid()
    style.end_labels(axes, ends)
    return figure


def caption(table: pd.DataFrame) -> str:
    """The caption: that diffprivlib's scale leaves the exact one, and for each eps where.

    ``table`` has a row for every eps and requested log10 delta, with the scales exact and published, and
    log10 of the delta that the published scale really has.
    """
    verdict = (
        "diffprivlib, the library that the paper names, gives too little noise for a very small δ: its scale"
        " of the analytic Gaussian mechanism stops growing (sensitivity 1)."
    )
    stops = [_stop_in_words(eps, curve) for eps, curve in groups(table, "eps")]
    where = (
        "Scale at which it stops, log₁₀ δ that this gives, and log₁₀ δ from which on the scale is more than"
        f" {100 * SATURATED:g} % too small: {'; '.join(stops)}."
    )
    return f"{verdict} {where}"


def _stop_in_words(eps: float, curve: pd.DataFrame) -> str:
    """Three numbers in words: where diffprivlib's scale stops growing at one eps.

    They are the scale at the smallest delta, log10 of the delta that this scale really has, and the requested
    log10 delta from which on the scale is more than the share `SATURATED` too small, or "never". ``curve``
    are the rows of the eps, one for every requested log10 delta.
    """
    last = curve.sort_values("log10_delta").iloc[0]
    enough = curve["published"] >= (1 - SATURATED) * curve["exact"]
    # Below the smallest log10 delta whose scale is large enough, all scales are too small.
    last_enough = curve.loc[enough, "log10_delta"].min()
    short = curve.loc[curve["log10_delta"] < last_enough, "log10_delta"]
    beginning = "never" if short.empty else f"{short.max():g}"
    return (
        f"ε = {eps:g}: {last['published']:.4g}, {last['published_log10_delta']:.1f} and {beginning}"
    )


if __name__ == "__main__":
    run_figure_job(COLUMNS, draw, caption)
