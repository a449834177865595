"""diffprivlib's scale for the analytic Gaussian mechanism over the exact one, over the requested delta."""

import pandas as pd
from matplotlib.figure import Figure

from scripts.shared import style
from scripts.shared.figure_files import run_figure_job
from scripts.shared.table_files import groups

# One row per (eps, log10 delta), for sensitivity 1.
COLUMNS = ["eps", "log10_delta", "exact", "published", "published_log10_delta"]
TOO_SMALL_BY = 0.01  # a scale that is more than this share below the exact one has stopped growing


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """The figure: diffprivlib's scale divided by the exact one, as a line per eps over the requested delta.

    A scale is the standard deviation of the analytic Gaussian's noise. ``table`` has a row for every eps and
    requested log10 delta, with the columns exact (the smallest scale that is enough) and published
    (diffprivlib's scale).
    """
    figure = style.new_figure(2.7, width=5.0)
    axes = figure.add_subplot()
    ratio = table["published"] / table["exact"]
    # From the largest delta at the left to the smallest one at the right.
    axes.set_xlim(table["log10_delta"].max(), table["log10_delta"].min())
    axes.set_ylim(0, 1.1 * max(1, ratio.max()))
    ends = []
    for colour, (eps, rows) in zip(style.CYCLE, groups(table, "eps"), strict=False):
        log10_delta = rows["log10_delta"].sort_values(ascending=False)
        curve = ratio[log10_delta.index]
        axes.plot(log10_delta, curve, color=colour, linewidth=1.6)
        # The right end of the line: its height, name and colour.
        ends.append((curve.iloc[-1], f"ε = {eps:g}", colour))
    axes.axhline(1, color=style.INK, linewidth=0.8)
    axes.text(0.03, 0.08, "below 1: too little noise for (ε, δ)", transform=axes.transAxes)
    axes.xaxis.set_major_formatter(style.POWERS)
    axes.set(xlabel="requested δ", ylabel="diffprivlib's noise / exact noise")
    axes.grid()
    style.end_labels(axes, ends)
    return figure


def caption(table: pd.DataFrame) -> str:
    """The caption: that diffprivlib's scale falls below the exact one, and for each eps from which delta on.

    A scale is the standard deviation of the analytic Gaussian's noise. ``table`` has a row for every eps and
    requested log10 delta (the column log10_delta), with the columns exact (the smallest scale that is
    enough), published (diffprivlib's scale) and published_log10_delta (log10 of the delta that diffprivlib's
    scale really has).
    """
    verdict = (
        "diffprivlib, the library that the paper names, gives too little noise for a very small δ: its scale"
        " of the analytic Gaussian mechanism stops growing (sensitivity 1)."
    )
    stops = [_stop_in_words(eps, rows) for eps, rows in groups(table, "eps")]
    where = (
        "Scale at which it stops, log₁₀ δ that this gives, and log₁₀ δ from which on the scale is more than"
        f" {100 * TOO_SMALL_BY:g} % too small: {'; '.join(stops)}."
    )
    return f"{verdict} {where}"


def _stop_in_words(eps: float, rows: pd.DataFrame) -> str:
    """Where diffprivlib's scale stops growing at one eps, in three numbers: 'ε = 4: 2.152, -17.8 and -18.5'.

    The numbers are

    1. the scale for the smallest requested delta;
    2. log10 of the delta that this scale really has;
    3. the requested log10 delta from which on the scale is more than the share `TOO_SMALL_BY`, 1 %, below the
       exact one, or "never".

    ``rows`` are those of the eps, one for every requested log10 delta, with the columns log10_delta,
    published, exact and published_log10_delta.
    """
    at_smallest_delta = rows.sort_values("log10_delta").iloc[0]
    large_enough = rows["published"] >= (1 - TOO_SMALL_BY) * rows["exact"]
    # At every delta below the last one whose scale is large enough, the scale is too small.
    last_large_enough = rows.loc[large_enough, "log10_delta"].min()
    too_small = rows.loc[rows["log10_delta"] < last_large_enough, "log10_delta"]
    beginning = "never" if too_small.empty else f"{too_small.max():g}"

    scale = at_smallest_delta["published"]
    real_log10_delta = at_smallest_delta["published_log10_delta"]
    return f"ε = {eps:g}: {scale:.4g}, {real_log10_delta:.1f} and {beginning}"


if __name__ == "__main__":
    run_figure_job(COLUMNS, draw, caption)
