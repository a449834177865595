"""Every figure, drawn once from small results: it shows its table, its caption says so, nothing is cut."""

import io
import itertools
from typing import Any, NamedTuple

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from scripts.beyond.attack import draw_audit
from scripts.beyond.attack.collect_audit import assess
from scripts.beyond.attack.run_audit import play
from scripts.beyond.bounds import draw_delta_bounds, draw_too_small
from scripts.beyond.bounds.compute_delta_bounds import delta_bounds
from scripts.beyond.bounds.compute_too_small import deltas_at_one_eps0
from scripts.beyond.companions import draw_blanket, draw_girgis, draw_koskela
from scripts.beyond.companions.compute_blanket import blanket_tightness
from scripts.beyond.companions.compute_girgis import girgis_composed, girgis_rdp
from scripts.beyond.companions.compute_koskela import koskela_fig1a, koskela_fig1b
from scripts.beyond.parity import draw_parity_ratio
from scripts.beyond.parity.run_parity import run_parity
from scripts.beyond.parity.summarise_parity import summarise_parity
from scripts.beyond.study import draw_designs
from scripts.beyond.study.compute_designs import designs
from scripts.paper.data import draw_checkins
from scripts.paper.delta import draw_delta_hat, draw_delta_surface
from scripts.paper.delta.compute_delta_hat import compute_delta_hat
from scripts.paper.delta.compute_delta_surface import delta_surface
from scripts.paper.trials import (
    draw_constants,
    draw_delta_hat_trials,
    draw_estimates,
    draw_gaussian_scale,
    draw_tv,
)
from scripts.paper.trials.compute_constants import compute_constants
from scripts.paper.trials.compute_gaussian_scale import gaussian_scale
from scripts.paper.trials.estimate_cells import estimate_cells
from scripts.paper.trials.run_delta_hat_trials import gaussian_ratios, run_delta_hat_trials
from scripts.paper.trials.run_trials import Protocol, run_points
from scripts.shared import style, wording
from scripts.shared.configuration import PAPERS_FILE, merged
from scripts.shared.figure_files import encoded
from scripts.shared.printed import PAPER
from scripts.shared.table_files import read_tables
from scripts.shared.wording import typeset
from tests import ROOT
from tightshuffle.side import Side

CONFIG = merged([PAPERS_FILE, ROOT / "config/quick.yaml"])
PROTOCOL = CONFIG["protocol"]
BROKEN_FORMULA = "$x_$"  # a title that matplotlib would take for a formula, and a broken one
BOX = {"south": 48.8, "north": 48.85, "west": 2.2, "east": 2.26}
BUDGETS = [{"eps0": 4, "eps": 4}, {"eps0": 6, "eps": 6}]


class DrawnFigure(NamedTuple):
    """A figure with its caption, and what a test expects of them.

    ``series`` are pairs (x, y) of equally long columns: points in data coordinates that the figure must show.
    Where x is None, only the heights y are compared. ``phrases`` must be in the caption.
    """

    figure: Any
    caption: str
    series: list[Any]
    phrases: list[str]


def drawn_by(module, *arguments, seen_in_figure, said_in_caption):
    """A `DrawnFigure`: what ``draw`` and ``caption`` of the module make of the arguments."""
    figure = module.draw(*arguments)
    caption = module.caption(*arguments)
    return DrawnFigure(figure, caption, seen_in_figure, said_in_caption)


def histogram_of_cells(on_a_map=True, rows=5, columns=6):
    """A histogram with a made-up count for each cell: squares of 0.01 degrees from the corner of `BOX`."""
    index = np.arange(rows * columns)
    row, column = np.divmod(index, columns)
    counts = np.random.default_rng(2).poisson(3, rows * columns) ** 3
    south, west = BOX["south"] + 0.01 * row, BOX["west"] + 0.01 * column
    table = pd.DataFrame({"cell": index + 1, "count": counts})
    edges = {"south": south, "north": south + 0.01, "west": west, "east": west + 0.01}
    return table.assign(row=row, column=column, **edges) if on_a_map else table


COUNTS = histogram_of_cells()["count"].to_numpy() * 3  # users who hold each of 30 values


def columns_over(table, x, *ys):
    """A series (x, y) for each of the columns ``ys``."""
    return [(table[x], table[y]) for y in ys]


def range_text(values, form=".2g"):
    """'0.8 to 14': the smallest and the largest value, as a caption states them."""
    return f"{values.min():{form}} to {values.max():{form}}"


# A function for each figure makes a small table, draws it, and computes from the table what must be seen and
# said. It returns a `DrawnFigure`. Its argument is an empty folder, for figures that read files.


def audit(_folder):
    """log10 delta over eps by three formulas, and the attacks' lower bounds on delta, for the first setting.

    `LINES` are the columns of the formulas. `play` simulates 200,000 runs of each of three settings. From
    them `assess` gives a row for each setting, eps and attacker, with the attacker's lower bound on delta
    (audited_delta). One attacker observes the count of x0, the other the whole histogram.
    """
    settings = ((60, 5, 2.0, 40), (20, 10, 1.0, 3), (5, 2, 0.5, 0))  # n, k, eps0, count of x0
    tallies = [
        play(n=n, k=k, eps0=eps0, count=count, runs=200_000) for n, k, eps0, count in settings
    ]
    table = pd.DataFrame(assess(tallies, [0.1, 0.3, 1.0, 1.5], confidence=0.999))
    # Rows of the first setting, up to the first eps where no attack gives a bound above 0: below 1.5 here.
    rows = draw_audit.drawn_rows(table)
    assert rows["eps"].max() < 1.5
    bounded = rows[rows["audited_delta"] > 0]
    series = columns_over(rows, "eps", *draw_audit.LINES)
    series.append((bounded["eps"], np.log10(bounded["audited_delta"])))

    # How many of the attacks' bounds, in all settings, are above the paper's delta.
    exceeded = table["violated_jointly"].sum()
    # The bound at the smallest eps, which the caption rounds down.
    first = bounded.loc[bounded["observes"] == "count", "audited_delta"].iloc[0]
    phrases = [
        "n = 60, k = 5, ε₀ = 2, n_x₀ = 40; 200,000 runs",
        "99.9 % confidence",
        "none our upper bound",
        f"In all 3 settings, {exceeded} of 24 bounds exceed the paper's δ",  # 3 x 4 eps x 2 observers
        f"at ε = 0.1 it is {typeset(first, side=Side.LOWER)}",
    ]
    return drawn_by(draw_audit, table, seen_in_figure=series, said_in_caption=phrases)


def blanket(_folder):
    """Two panels: log10 delta by eq. (3) and by our bound over eps, and their distance over n.

    Eq. (3) is a bound of the blanket paper. In the table the column series says which panel a row is for.
    equation_3 and upper are log10 of the two bounds, and decades is the distance between these. The last
    phrase says how many lines of panel (b) rise with n.
    """
    table = draw_blanket.rows_below_eps0(blanket_tightness())
    over_eps = table[table["series"] == "eps"]
    over_n = table[table["series"] == "n"]
    # A delta below 10^-200 is drawn at 10^-200, far below the axis.
    series = columns_over(over_eps[over_eps["upper"] > -200], "eps", "upper", "equation_3")
    series += columns_over(over_n, "n", "decades")
    # The smallest quotient of both bounds in panel (a). A bound above 1 counts as 1.
    closest = 10 ** (over_eps["equation_3"].clip(upper=0) - over_eps["upper"]).min()
    phrases = [
        "n = 100, k = 10, ε₀ = 0.5, n_x₀ = 10",
        f"at least {closest:,.0f} times in (a)",
        "3 of 3 rise",
    ]
    return drawn_by(draw_blanket, table, seen_in_figure=series, said_in_caption=phrases)


def checkins(folder):
    """Two cities with the same histogram and 400 check-ins: bundled ones at random places, and one's own.

    The column spread of a file of check-ins says that its places are random ones. The histogram is of 5 x 6
    cells. The maps must show the cells with positive counts (the series), and the caption must have the
    ``phrases``. `BROKEN_FORMULA` is a title with dollar signs, which must not be read as a formula.
    """
    histogram = histogram_of_cells()
    histogram_file = folder / "cells.csv"
    bundled_file = folder / "paris.parquet"
    own_file = folder / "own.parquet"
    histogram.to_csv(histogram_file)
    # Places in `BOX`, from its south-west corner.
    x, y = np.random.default_rng(6).random((2, 400))
    places = pd.DataFrame({"latitude": 48.8 + 0.05 * x, "longitude": 2.2 + 0.06 * y})
    places.assign(spread=True).to_parquet(bundled_file)
    places.assign(spread=False).to_parquet(own_file)
    titles = ["Paris", BROKEN_FORMULA]
    cities = draw_checkins.read([histogram_file] * 2, [bundled_file, own_file], titles, [BOX] * 2)

    figure = draw_checkins.draw(cities)
    caption = draw_checkins.caption(cities, "uniform")
    bundled, own = (axes.get_title() for axes in figure.axes[:2])
    assert bundled.endswith("400 check-ins\nat random places in small squares")
    assert own.endswith("400 check-ins")  # with nothing after it: the places are the true ones
    phrases = [
        "uniform grid",
        "6 × 5 cells",
        "latitude 48.8 to 48.85",
        "of Paris are placed at random",
        f"{histogram['count'].sum():,} check-ins in the cells, 400 in the box",
    ]
    return DrawnFigure(figure, caption, positive_cells([histogram["count"]]), phrases)


def bounds(_folder):
    """log10 delta over eps by every bound, in the first and the last of the three settings.

    The table has a row per setting and eps, and a column of log10 delta per method: published (of one count,
    by the paper's formula), exact (its true value), lower and upper (our bounds for all counts), and
    `BOUNDS`, those of the literature. `OURS` are upper, exact and published.
    """
    table = delta_bounds(**CONFIG["delta_bounds"])
    drawn = table[table["setting"] != 2]
    series = []
    for bound in ("lower", *draw_delta_bounds.OURS, *draw_delta_bounds.BOUNDS):
        inside = drawn[drawn[bound] > -200]  # a smaller delta is drawn at 10^-200, under the axis
        series.append((inside["eps"], inside[bound]))

    # For the first setting the caption states three ranges of orders of magnitude: the best bound of the
    # literature above our upper one, the weak adversary of Koskela et al. (the privacy blanket, which is not
    # drawn) above it, and our lower one above the paper's delta.
    first = table[table["setting"] == 1]
    best = first[[*draw_delta_bounds.BOUNDS]].min(axis=1) - first["upper"]
    weak_adversary = first["privacy_blanket"] - first["upper"]
    paper = first["lower"] - first["published"]
    phrases = [
        f"n_x₀ = 80: {best.min():.1f} to {best.max():.0f}, {range_text(weak_adversary, '.1f')} and",
        f" and {range_text(paper, ',.0f')}; n = 100,000",
        "Balle et al. (2019, Lemma 5.3)",
        "is their strong adversary only",
    ]
    return drawn_by(draw_delta_bounds, table, seen_in_figure=series, said_in_caption=phrases)


def surface(_folder):
    table = delta_surface(**CONFIG["delta_surface"])
    orders = (table["exact"] - table["published"]).max()
    phrases = [
        "n = 100, k = 10, n_x₀ = 80",
        "0.1 to 3 in 8 steps",
        "these 36 of 64 points",
        f"up to {orders:.0f} orders",
    ]
    # The triangles of a surface have no series.
    return drawn_by(draw_delta_surface, table, seen_in_figure=[], said_in_caption=phrases)


def noise(_folder):
    """The scale of diffprivlib's noise over the exact one, over log10 delta: a line for each eps.

    The table has a row per eps and delta, the deltas falling. Its scales, published (diffprivlib's) and
    exact, are standard deviations at sensitivity 1. published_log10_delta is log10 of the delta that
    diffprivlib's scale really gives.
    """
    table = gaussian_scale()
    ratio = table["published"] / table["exact"]
    series = columns_over(table.assign(ratio=ratio), "log10_delta", "ratio")
    phrases = []
    for eps, curve in table.groupby("eps"):
        # From the smallest delta upwards: ``met`` is the place of the first one where diffprivlib's scale is
        # at least 99 % of the exact one. The caption states the scale of the smallest delta, log10 of the
        # delta that it really gives, and log10 of the last delta before ``met``, with too small a scale.
        backwards = curve.iloc[::-1]
        met = int((backwards["published"] >= 0.99 * backwards["exact"]).argmax())
        scale, log10_delta = backwards[["published", "published_log10_delta"]].iloc[0]
        last_missed = backwards["log10_delta"].iloc[met - 1]
        phrases.append(f"ε = {eps}: {scale:.4g}, {log10_delta:.1f} and {last_missed:g}")
    return drawn_by(draw_gaussian_scale, table, seen_in_figure=series, said_in_caption=phrases)


def girgis(_folder):
    """Girgis et al.: Renyi divergences of one round at eps0 = 2, and log10 delta after 100 rounds.

    `PANEL_A` and `PANEL_B` are the columns that the two panels draw, over the order and over eps: bounds of
    Girgis et al. (at each order the smallest of this order or a larger one), values of the clones, and a
    lower bound by two counts.
    The last phrase is the range of the first bound over the clones' divergence, for all eps0.
    """
    divergences = draw_girgis.envelope(girgis_rdp())
    composed = girgis_composed()
    one_round, most_rounds = draw_girgis.panel_rows(divergences, composed)
    assert set(one_round["eps0"]) == {2}
    assert set(most_rounds["rounds"]) == {100}
    series = columns_over(one_round, "order", *draw_girgis.PANEL_A)
    series += columns_over(most_rounds, "eps", *draw_girgis.PANEL_B)
    ratios = divergences["girgis"] / divergences["clones"]
    phrases = ["n = 10,000, k = 10, ε₀ = 2", "ε₀ = 0.5, 2 and 4"]
    phrases.append(f"{range_text(ratios)} times")
    return drawn_by(
        draw_girgis, divergences, composed, seen_in_figure=series, said_in_caption=phrases
    )


def koskela(table):
    """A panel of Figure 1 of Koskela et al.: log10 delta over eps after several rounds."""
    rows = draw_koskela.drawn_rows(table)
    assert set(rows["rounds"]) == set(table["rounds"])
    phrases = [f"n = {table['n'].iloc[0]:,}", f"ε₀ = {table['eps0'].iloc[0]:.4g}"]
    series = columns_over(rows, "eps", "upper")
    return drawn_by(draw_koskela, table, seen_in_figure=series, said_in_caption=phrases)


def koskela_1a(_folder):
    return koskela(koskela_fig1a(rounds=(1, 4), axis=(0.05, 4.0, 20)))


def koskela_1b(_folder):
    return koskela(koskela_fig1b(rounds=(1, 2), axis=(0.02, 2.0, 20)))


def first_picture(_folder):
    """log10 delta over eps: the paper's and the true one of a count, and the bound for all counts."""
    table = deltas_at_one_eps0(**CONFIG["delta_surface"])
    true_delta = typeset(10 ** table["exact"].iloc[0])
    phrases = ["n = 100, k = 10", f"{true_delta}. The δ of all counts"]
    series = columns_over(table, "eps", "published", "exact", "upper")
    return drawn_by(draw_too_small, table, seen_in_figure=series, said_in_caption=phrases)


def every_design(_folder):
    """Two marks for each design, in the line of its name: the errors of a rare and of a popular value.

    The table has a row per setting and design, the errors in users. The ``series`` are the marks, at (error,
    number of the line). For either value the caption states the ratio of k-RR's error to the smallest one of
    all designs but those for reference: a number for one setting (k), a range for several.
    """
    table = designs(CONFIG["study"]["designs"])
    lines = table["name"].map(draw_designs.DESIGNS.index)
    used = table[~table["reference"]].set_index("name")
    series = []
    phrases = ["a value that 10% of the users hold"]
    for error in ("rare_error", "popular_error"):
        series += [([value], [line]) for value, line in zip(table[error], lines, strict=True)]
        ratios = used[error]["k-RR"] / used.groupby("k")[error].min()
        phrases.append(f"{ratios.min():.2g}" if len(ratios) == 1 else range_text(ratios))
    return drawn_by(draw_designs, table, seen_in_figure=series, said_in_caption=phrases)


def positive_cells(maps):
    """A series for each map: the places of its positive cells in the image, and their values.

    A map is a column with a value for each cell. Empty and negative cells have no colour.
    """
    return [(np.flatnonzero(values > 0), values[values > 0]) for values in maps]


def estimates(folder, histogram=None, title="Paris"):
    """The original histogram of 3,000 users, and the estimate of each mechanism at two budgets.

    Each estimate is a column of fractions of users, and has a panel. ``histogram`` has the 30 cells, by
    default with their places in a grid, and then the panels are maps. A map must show the colours of its
    positive cells (the ``series``). The caption must have the ``phrases``.
    """
    histogram = histogram_of_cells() if histogram is None else histogram
    table = estimate_cells(
        COUNTS, budgets=BUDGETS, protocol=Protocol(**PROTOCOL), dataset="paris", n=3000, seed=1
    )
    histogram.to_csv(folder / "cells.csv")
    table.to_csv(folder / "estimates.csv")
    runs = draw_estimates.read(folder / "cells.csv", folder / "estimates.csv")
    figure = draw_estimates.draw(runs, title)

    # The panels of the first run state each estimate's TV error, half the sum of the absolute errors.
    first = runs.runs[0].table
    texts = [text.get_text() for text in figure.findobj(Text)]
    for name in draw_estimates.MECHANISMS:
        error = (first[name] - first["original"]).abs().sum() / 2
        assert any(f"{style.LABELS[name]}, TV = {error:#.2g}" in text for text in texts)
    assert any("δ = 10⁻³⁰ (our choice)" in text for text in texts)
    assert texts.count("original") == 1  # one panel, since all runs have it

    # Phrases: how many of the Gaussian's estimated shares are negative, for each of the two budgets.
    maps = [run.table[name] for run in runs.runs for name in draw_estimates.MECHANISMS]
    on_a_map = "row" in histogram
    series = positive_cells([*maps, first["original"]]) if on_a_map else []
    negative = " and ".join(str((run.table["gaussian"] < 0).sum()) for run in runs.runs)
    phrases = [title, f"{negative} of the Gaussian's 30 shares are negative"]
    caption = draw_estimates.caption(runs, title, PROTOCOL)
    return DrawnFigure(figure, caption, series, phrases)


def estimates_without_a_grid(folder):
    return estimates(folder, histogram_of_cells(on_a_map=False), BROKEN_FORMULA)


def trials_at(budgets):
    """The trials of all mechanisms with 300 and 3,000 users, 10 repetitions of each."""
    points = []
    for budget in budgets:
        for n in (300, 3000):
            points.append({"experiment": "tv", "n": n, "repetitions": 10, **budget})
    return run_points(
        COUNTS, points, protocol=Protocol(**PROTOCOL), dataset="paris", cells=[3], seed=1
    )


def tv(folder, budgets=BUDGETS, title="Paris"):
    """Box plots of the TV errors for each budget, on the paper's axis and enlarged.

    `trials_at` gives 10 errors of each mechanism with 300 and 3,000 users, in the column value, and in the
    column uniform those of the uniform histogram. Each box has a line at the median error: at its value on
    the paper's axis, and at 0 in the enlarged panels. These heights (the series) must be seen in the figure,
    and the ``phrases`` in its caption.
    """
    files = [folder / f"{number}.parquet" for number in range(len(budgets))]
    for budget, file in zip(budgets, files, strict=True):
        trials_at([budget]).to_parquet(file)
    table = read_tables(files, draw_tv.COLUMNS, draw_tv.DRAWN)
    medians = table.groupby(["eps0", "mechanism", "n"])["value"].median()
    uniform = table.groupby("n")["uniform"].mean()
    phrases = [
        "k = 30",
        "10 repetitions",
        f"the TV error {wording.two_digits(uniform)}",
        "from left to right, Gaussian, shuffle and shuffle+INV",
        "The small panels are ours",
        title,
    ]
    caption = draw_tv.caption(table, title, PROTOCOL)
    series = [(None, medians), (None, [0.0])]
    return DrawnFigure(draw_tv.draw(table, title), caption, series, phrases)


def tv_of_one_budget(folder):
    """The two panels of Figure 2."""
    return tv(folder, BUDGETS[:1], BROKEN_FORMULA)


def boxes_from_left(axes):
    """Lower and upper end of each box of a panel, from left to right, and its height in points."""
    corners = [box.get_path().get_extents() for box in axes.patches]
    panel_height = axes.get_position().height * axes.figure.get_figheight() * 72
    points_per_unit = panel_height / np.ptp(axes.get_ylim())
    boxes = pd.DataFrame(
        {
            "middle": [(box.x0 + box.x1) / 2 for box in corners],
            "lower": [box.y0 for box in corners],
            "upper": [box.y1 for box in corners],
            "points": [box.height * points_per_unit for box in corners],
        }
    )
    return boxes.sort_values("middle")


def drawn_tv_errors(budgets):
    """(errors, panels): the TV errors of `trials_at`, ten per box, and the panels of their box plots."""
    table = pd.concat([trials_at([budget]) for budget in budgets])
    errors = table[(table["experiment"] == "tv") & (table["metric"] == "tv")]
    figure = draw_tv.draw(errors, "Paris")
    encoded(figure, "png")  # which lays it out
    return errors, figure.axes


def quantile_of_box(errors, eps0, mechanism, n, share):
    """The quantile of one box's errors by pandas: share 0.25 is the lower quartile."""
    of_box = (errors["eps0"] == eps0) & (errors["mechanism"] == mechanism) & (errors["n"] == n)
    return errors.loc[of_box, "value"].quantile(share)


MECHANISMS = ["gaussian", "shuffle", "shuffle+INV"]
WITHOUT_PLAIN_SHUFFLE = ["gaussian", "shuffle+INV"]
# The two panels that are the paper's, each as (eps0, its mechanisms in the order of the paper's captions).
PAPERS_PANELS = pytest.mark.parametrize(
    ("budgets", "papers_panels"),
    [
        (BUDGETS, [(4, MECHANISMS), (6, MECHANISMS)]),
        (BUDGETS[:1], [(4, MECHANISMS), (4, WITHOUT_PLAIN_SHUFFLE)]),
    ],
    ids=["two budgets", "one budget"],
)


@PAPERS_PANELS
def test_boxes_of_the_papers_panels_reach_from_the_lower_to_the_upper_quartile(
    budgets, papers_panels
):
    errors, panels = drawn_tv_errors(budgets)
    for axes, (eps0, mechanisms) in zip(panels[:2], papers_panels, strict=True):
        quartiles = []
        for n in (300, 3000):
            for mechanism in mechanisms:
                lower = quantile_of_box(errors, eps0, mechanism, n, share=0.25)
                upper = quantile_of_box(errors, eps0, mechanism, n, share=0.75)
                quartiles.append((lower, upper))
        drawn_quartiles = boxes_from_left(axes)[["lower", "upper"]]
        np.testing.assert_allclose(drawn_quartiles, quartiles, rtol=1e-12)


@PAPERS_PANELS
def test_axes_of_the_papers_panels_are_linear_from_0_to_above_the_largest_error(
    budgets, papers_panels
):
    errors, panels = drawn_tv_errors(budgets)
    for axes, (eps0, mechanisms) in zip(panels[:2], papers_panels, strict=True):
        shown = errors[(errors["eps0"] == eps0) & errors["mechanism"].isin(mechanisms)]
        bottom, top = axes.get_ylim()
        assert axes.get_yscale() == "linear"
        assert bottom == 0
        assert top > shown["value"].max()


def test_the_papers_panels_of_two_budgets_have_one_scale():
    _, panels = drawn_tv_errors(BUDGETS)
    assert panels[0].get_ylim() == panels[1].get_ylim()


def test_the_papers_panel_without_the_plain_shuffle_has_a_scale_of_its_own():
    """The errors of the plain shuffle are larger than those of the other mechanisms."""
    _, panels = drawn_tv_errors(BUDGETS[:1])
    assert panels[0].get_ylim() != panels[1].get_ylim()


@pytest.mark.parametrize("budgets", [BUDGETS, BUDGETS[:1]], ids=["two budgets", "one budget"])
def test_an_enlarged_panel_shows_distances_from_the_median_in_percent_of_the_median(budgets):
    """Each budget and mechanism has an enlarged panel, with a box for 300 and one for 3,000 users.

    Below each box stand its number of users and its median.
    """
    errors, panels = drawn_tv_errors(budgets)
    enlarged = [(budget["eps0"], name) for budget in budgets for name in MECHANISMS]
    for axes, (eps0, mechanism) in zip(panels[2:], enlarged, strict=True):
        distances = []
        labels = []
        for n, users in ((300, "300"), (3000, "3k")):
            lower, median, upper = (
                quantile_of_box(errors, eps0, mechanism, n, share) for share in (0.25, 0.5, 0.75)
            )
            distances.append((100 * (lower / median - 1), 100 * (upper / median - 1)))
            labels.append(f"{users}\n{wording.significant(median)}")
        drawn_distances = boxes_from_left(axes)[["lower", "upper"]]
        # Both are percent, and so is the tolerance.
        np.testing.assert_allclose(drawn_distances, distances, rtol=0, atol=1e-9)
        assert [label.get_text() for label in axes.get_xticklabels()] == labels


@pytest.mark.parametrize("budgets", [BUDGETS, BUDGETS[:1]], ids=["two budgets", "one budget"])
def test_enlarged_boxes_are_high_enough_to_be_seen_as_boxes(budgets):
    """A box of less than 4 points looks like a line. The smallest one here has 5.7."""
    _, panels = drawn_tv_errors(budgets)
    for axes in panels[2:]:
        assert boxes_from_left(axes)["points"].min() > 4


def test_boxes_of_one_repetition_or_without_any_error():
    """A dataset of your own may have one n, and estimates without any error."""
    setting = {"eps0": 4.0, "eps": 1.0, "delta": 1e-30, "n": 200, "k": 4}
    once = pd.DataFrame({"mechanism": draw_tv.MECHANISMS}).assign(**setting, uniform=0.3, value=0.2)
    for table in (once, once.assign(value=0.0)):
        figure = draw_tv.draw(table, "Mine")
        assert encoded(figure, "png")
        assert len(figure.axes[0].patches) == 3  # the boxes of three mechanisms
    assert "1 repetition per box" in draw_tv.caption(once, "Mine", PROTOCOL)


def parity_ratios():
    """A small parity_ratio.csv, with 100, 300 and 3,000 users: shuffling's errors over the Gaussian's.

    The rows are settings of an experiment at equal privacy: two eps0, both bounds on delta that give eps, two
    rules for delta (10^-6 and n^-1.1), and several errors. The last rows are of the paper's own protocol. The
    column informative says whether one of the two estimates is better than the uniform histogram.
    """
    # `run_parity` gives the tables of errors. It takes n -> (bounds on delta, repetitions).
    repetitions = 10
    bounds_on_delta = ["upper", "lower"]
    points = run_parity(
        COUNTS,
        dict.fromkeys((100, 300, 3000), (bounds_on_delta, repetitions)),
        dataset="paris",
        eps0=[1, 6],
        delta=[1e-6],
        delta_exponents=[1.1],
        cells=[3],
        seed=1,
    )
    published = [trials_at([budget]) for budget in BUDGETS]
    # How the bootstrap intervals are made: by few resamples, since only the ratios are looked at.
    how = {"resamples": 50, "confidence": 0.95, "seed": 1}
    _, ratios = summarise_parity(points, published, {"paris": COUNTS}, **how)
    return ratios.astype({"informative": bool})  # as it is after a file was read


def parity_ratio(_folder):
    """Ratios over n for two metrics: projected, at delta = 1e-6, where at least one estimate is useful.

    A ratio is shuffling's mean error over the Gaussian's: the TV error, or that of the most popular value.
    `PAPER` is dataset -> eps0s of the paper's settings, of which the table has eps0 = 6 for Paris (beside 1).
    1. The ``series`` (x, y) must be seen in the figure, and the ``phrases``, with the ranges of ratios at the
    paper's eps0, in its caption. 2. If one of the paper's datasets is changed, the ranges are over
    all rows, and none is said to be like the paper's.
    """
    table = parity_ratios()
    titles = {"paris": BROKEN_FORMULA}  # dollar signs, which must not make a formula
    rows = table.query("bound == 'upper' and comparison == 'projected' and delta_rule == '1e-06'")
    tv = rows[(rows["metric"] == "tv") & rows["informative"]]
    popular = rows[rows["metric"] == "most_popular"].merge(tv[["n", "eps0"]])
    assert 0 < len(tv) == len(popular) < 6  # of 2 eps0 and 3 n: some are useless
    # A horizontal line, the limit of the ratio for many users. It is that of unprojected estimates, as there
    # is no closed form for projected ones.
    unprojected = "metric == 'most_popular' and comparison == 'unprojected' and eps0 == 6"
    limit = table.query(unprojected)["limit"]
    series = [*columns_over(tv, "n", "ratio"), *columns_over(popular, "n", "ratio"), (None, limit)]

    of_tv = range_text(tv.loc[tv["eps0"] == 6, "ratio"], ".2f")  # at the paper's eps0
    of_popular = range_text(popular.loc[popular["eps0"] == 6, "ratio"], ".2f")
    phrases = [
        f"shuffling has {of_tv} times the Gaussian's total variation error",
        f"and {of_popular} times its error for the most popular value",
        "10 repetitions",
        BROKEN_FORMULA,
        "like the paper's",
        "δ = 10⁻⁶,",
        "δ = n⁻¹·¹",
    ]

    # Without the synthetic dataset among those that are as the paper's.
    others = {name: eps0 for name, eps0 in PAPER.items() if name != "synthetic"}
    changed = table, titles, others
    said = draw_parity_ratio.draw(*changed).get_suptitle() + draw_parity_ratio.caption(*changed)
    assert f"shuffling has {range_text(tv['ratio'], '.2f')} times" in said
    assert "like the paper's" not in said
    return drawn_by(
        draw_parity_ratio, table, titles, PAPER, seen_in_figure=series, said_in_caption=phrases
    )


def delta_hats():
    """delta-hat at three eps below eps0 = 3, of 300 users and of all: a row for each of the 6 points."""
    return compute_delta_hat(COUNTS, dataset="paris", n=[300, "all"], eps0=[3], steps=3, seed=1)


def delta_hat(folder):
    """The depths -log10 delta over eps: delta-hat as printed and exact, and the proven bound.

    `delta_hats` has a row for each of 6 points, three eps for 300 and for all users, and log10 of the three
    deltas in the columns published, exact and upper. The title `BROKEN_FORMULA` has dollar signs, and must be
    no formula.
    """
    delta_hats().to_csv(folder / "paris.csv", index=False)
    table = read_tables([folder / "paris.csv"], draw_delta_hat.COLUMNS)
    depths = -table[["published", "exact", "upper"]]
    series = columns_over(depths.assign(eps=table["eps"]), "eps", *depths.columns)
    gaps = table["exact"] - table["published"]  # orders of magnitude
    below_floats = (table["published"] < -308).sum()
    phrases = [
        f"lies {range_text(gaps, ',.0f')} orders",
        BROKEN_FORMULA,
        "10⁻³⁰, which the Gaussian",
        f"At {below_floats} of the 6 points it is below every float",
    ]
    arguments = table, {"paris": BROKEN_FORMULA}, 1e-30  # the table, titles, and the floor of delta
    return drawn_by(draw_delta_hat, *arguments, seen_in_figure=series, said_in_caption=phrases)


def delta_hat_trials(folder):
    """Mean TV errors: the Gaussian's over eps, with delta-hat as printed and exact, and shuffle+INV's.

    The table has five errors (value) of each point: of the Gaussian for n, eps and form of delta-hat
    ("published" or "exact"), and of shuffle+INV for n. The ``series`` must be seen in the figure; where x is
    None, as heights. The caption states the ranges of the Gaussian's mean over shuffle+INV's, for each form.
    """
    table = run_delta_hat_trials(COUNTS, delta_hats(), repetitions=5, sensitivity=1, seed=1)
    table.to_parquet(folder / "paris.parquet")
    table = read_tables([folder / "paris.parquet"], draw_delta_hat_trials.COLUMNS)
    means = table.groupby(["n", "form", "eps"])["value"].mean().reset_index()
    shuffled = table[table["mechanism"] == "shuffle+INV"].groupby("n")["value"].mean()
    series = [*columns_over(means, "eps", "value"), (None, shuffled)]

    ratios = gaussian_ratios(table).groupby("form")["ratio"]
    printed = ratios.get_group("published")
    exact = ratios.get_group("exact")
    phrases = [
        f"has {printed.min():.1f} to {printed.max():,.0f} times the error of",
        "sensitivity 1,",
        f"it has {exact.min():.2f} to {exact.max():.1f} times",
        "5 repetitions",
    ]
    # The title has dollar signs, which must not make a formula.
    figure = draw_delta_hat_trials.draw(table, {"paris": BROKEN_FORMULA})
    return DrawnFigure(figure, draw_delta_hat_trials.caption(table, 1), series, phrases)


def constants(_folder):
    """The ratio of shuffle+INV's error to the Gaussian's, drawn over two floors of delta, at x = 0 and 1.

    The floor is the Gaussian's delta at eps = eps0. The table has a row for each of two floors, sensitivities
    and budgets. The ``series`` must be seen in the figure. The ``phrases``, in its caption, are the range of
    all ratios, and the largest factor by which floor and sensitivity change the ratio of one budget.
    """
    trials = [trials_at([budget]) for budget in BUDGETS]
    table = compute_constants(trials, floors=[1e-8, 1e-30], sensitivities=[1, 2**0.5])
    series = [(table["floor"].map({1e-8: 0, 1e-30: 1}), table["ratio"])]
    by_point = table.groupby("eps")["ratio"]
    change = (by_point.max() / by_point.min()).max()
    phrases = [
        f"is {wording.two_digits(table['ratio'])} times",
        f"up to {wording.significant(change)}.",
    ]
    # The title has dollar signs, which must not make a formula.
    figure = draw_constants.draw(table, {"paris": BROKEN_FORMULA})
    return DrawnFigure(figure, draw_constants.caption(table), series, phrases)


FIGURES = (
    constants,
    delta_hat,
    delta_hat_trials,
    audit,
    blanket,
    bounds,
    checkins,
    estimates,
    estimates_without_a_grid,
    first_picture,
    girgis,
    koskela_1a,
    koskela_1b,
    noise,
    parity_ratio,
    every_design,
    surface,
    tv,
    tv_of_one_budget,
)


@pytest.fixture(scope="module", params=FIGURES, ids=lambda figure: figure.__name__)
def drawn(request, tmp_path_factory):
    """The `DrawnFigure` of each function in `FIGURES`."""
    return request.param(tmp_path_factory.mktemp("results"))


def points_of(axes):
    """The points of every line, area, set of marks and image of a panel in data coordinates: (points, 2).

    A point of an image is the place of a pixel, counted row by row, and its value.
    """
    points = [np.empty((0, 2)), *(line.get_xydata() for line in axes.lines)]
    points += [path.vertices for area in axes.collections for path in area.get_paths()]
    for image in axes.images:
        if (values := image.get_array()).ndim == 2:
            flat = values.astype(float).filled(np.nan).ravel()
            points.append(np.stack([np.arange(values.size), flat], axis=-1))
    return np.concatenate(points)


def test_what_is_shown_are_the_tables_values(drawn):
    """Every finite point of a series is one of the points that the figure shows, but for rounding.

    ``drawn`` is a figure with its ``series``, pairs (x, y) of columns in data coordinates. Where x is None,
    only the heights y are compared. `points_of` gives all points (x, y) of a panel. Rounding is 1e-9 of the
    largest coordinate.
    """
    shown = np.concatenate([points_of(axes) for axes in drawn.figure.axes])
    for x, y in drawn.series:
        coordinates = [y] if x is None else [x, y]
        points = np.stack([np.asarray(values, float) for values in coordinates], axis=-1)
        points = points[np.isfinite(points).all(axis=-1)]
        # For each point, the distance (the larger one of both coordinates') to the nearest that is shown.
        compared = shown[:, -len(coordinates) :]
        distances = [np.nanmin(np.abs(compared - point).max(axis=-1)) for point in points]
        assert max(distances, default=0) <= 1e-9 * max(1, np.abs(points).max(initial=0))


def test_the_caption_states_the_numbers_of_the_table(drawn):
    assert [text for text in drawn.phrases if text not in drawn.caption] == [], drawn.caption


def visible_texts(figure):
    """The texts that are seen in a figure, each with its box in pixels: a list of pairs.

    These are all visible ones but labels of ticks that matplotlib does not draw: those outside of an axis'
    limits, and the second label of every tick, on the other side of the panel.
    """
    renderer = FigureCanvasAgg(figure).get_renderer()
    shown = [
        text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()
    ]
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                inside = low <= tick.get_loc() <= high
                hidden = (tick.label2,) if inside else (tick.label1, tick.label2)
                shown = [text for text in shown if text not in hidden]
    return [(text.get_text(), text.get_window_extent(renderer)) for text in shown]


@pytest.fixture(scope="module")
def laid_out(drawn):
    """The figure of ``drawn``, after it was saved once: then its texts are at their final places."""
    encoded(drawn.figure, "png")
    return drawn.figure


def test_the_outermost_pixels_of_a_figure_are_white(drawn):
    png = encoded(drawn.figure, "png")
    image = matplotlib.image.imread(io.BytesIO(png))[..., :3]
    for border in (image[0], image[-1], image[:, 0], image[:, -1]):
        assert (border == 1).all()


def test_no_text_of_a_figure_is_smaller_than_7_points(drawn):
    texts = [text for text in drawn.figure.findobj(Text) if text.get_text().strip()]
    assert min(text.get_fontsize() for text in texts) >= 7


def has_3d_axes(figure):
    """Whether the figure is a surface: such axes place their labels only while they are drawn."""
    return hasattr(figure.axes[0], "zaxis")


def test_no_two_texts_of_a_figure_overlap(laid_out):
    """`visible_texts` gives pairs of a text and its box in pixels."""
    texts = visible_texts(laid_out)
    # With tick labels and names of axes every figure has more than 8 texts: else they were not found.
    assert len(texts) > 8
    overlapping = []
    for (first, box), (second, other_box) in itertools.combinations(texts, 2):
        if box.overlaps(other_box):
            overlapping.append((first, second))
    assert overlapping == [] or has_3d_axes(laid_out)


def test_no_text_reaches_over_the_edge_of_the_page(laid_out):
    """`visible_texts` gives pairs of a text and its box in pixels. The page begins at (0, 0)."""
    page = laid_out.bbox
    cut_off = []
    for text, box in visible_texts(laid_out):
        if min(box.x0, box.y0) < 0 or box.x1 > page.width or box.y1 > page.height:
            cut_off.append(text)
    assert cut_off == [] or has_3d_axes(laid_out)
