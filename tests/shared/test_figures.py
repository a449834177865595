"""Every figure, drawn once from small results: it shows its table, its caption says so, nothing is cut."""

import contextlib
import functools
import io
import itertools
import warnings
from typing import Any, NamedTuple

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
import scipy.stats
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from scripts.beyond.attack import draw_audit
from scripts.beyond.attack.collect_audit import assess
from scripts.beyond.attack.run_audit import play
from scripts.beyond.bounds import draw_delta_bounds, draw_delta_hat_bound, draw_too_small
from scripts.beyond.bounds.compute_delta_bounds import delta_bounds
from scripts.beyond.bounds.compute_delta_hat_bound import delta_hat_bound
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
    draw_log_tv,
    draw_tv,
)
from scripts.paper.trials.boxes import COLUMNS as TRIAL_COLUMNS
from scripts.paper.trials.boxes import DRAWN, MECHANISMS
from scripts.paper.trials.boxes import caption as caption_of_boxes
from scripts.paper.trials.compute_constants import compute_constants
from scripts.paper.trials.compute_gaussian_scale import gaussian_scale
from scripts.paper.trials.estimate_cells import estimate_cells
from scripts.paper.trials.run_delta_hat_trials import run_delta_hat_trials
from scripts.paper.trials.run_trials import Protocol, run_points
from scripts.shared import font, maps, style, wording
from scripts.shared.configuration import PAPERS_FILE, merged
from scripts.shared.figure_files import encoded
from scripts.shared.printed import PAPER
from scripts.shared.table_files import read_tables
from scripts.shared.wording import typeset
from tests import ROOT
from tightshuffle.number_text import rounded
from tightshuffle.numerics.side import Side

CONFIG = merged([PAPERS_FILE, ROOT / "config/quick.yaml"])
PROTOCOL = CONFIG["protocol"]
BROKEN_FORMULA = "$x_$"  # a title that matplotlib would take for a formula, and a broken one
BOX = {"south": 48.8, "north": 48.85, "west": 2.2, "east": 2.26}
BUDGETS = [{"eps0": 4, "eps": 4}, {"eps0": 6, "eps": 6}]


class DrawnFigure(NamedTuple):
    """A figure with its caption, and what the tests expect of both.

    What must be seen in the figure are series, pairs (x, y) of equally long columns: points in data
    coordinates. Where x is None, only the heights y are compared. What must be said in the caption are
    phrases.
    """

    figure: Any
    caption: str
    seen_in_figure: list[Any]
    said_in_caption: list[str]


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
# said. It returns a `DrawnFigure`.


@functools.cache
def attacks():
    """The attackers' lower bounds on delta: a row for each of 3 settings, 4 eps and 2 attackers.

    Each setting has 200,000 simulated runs. One attacker observes the count of x0, the other the whole
    histogram. The column audited_delta has the bound, 0 where there are too few runs for one.
    """
    settings = ((60, 5, 2.0, 40), (20, 10, 1.0, 3), (5, 2, 0.5, 0))  # n, k, eps0, count of x0
    tallies = []
    for n, k, eps0, count in settings:
        tallies.append(play(n=n, k=k, eps0=eps0, count=count, runs=200_000))
    return pd.DataFrame(assess(tallies, [0.1, 0.3, 1.0, 1.5], confidence=0.999))


def audit():
    """For the first setting, over eps: log10 delta by each formula, and the attackers' bounds."""
    table = attacks()
    rows = draw_audit.drawn_rows(table)
    formulas = columns_over(rows, "eps", *draw_audit.LINES)
    bounded = rows[rows["audited_delta"] > 0]
    attackers = [(bounded["eps"], np.log10(bounded["audited_delta"]))]

    above_the_papers_delta = table[table["violated_jointly"]].groupby("observes").size()
    # The bound of the attacker who observes the count, at the smallest eps. The caption rounds it down.
    bound = bounded.loc[bounded["observes"] == "count", "audited_delta"].iloc[0]
    phrases = [
        "n = 60, k = 5, ε₀ = 2, n_x₀ = 40; 200,000 runs",
        "99.9 % confidence",
        "our upper bound by none",
        f"In all 3 settings, the paper's δ is exceeded by {above_the_papers_delta['count']} of 12 bounds",
        f"from the count alone and {above_the_papers_delta['histogram']} of 12 from the whole",
        f"at ε = 0.1 it is {typeset(bound, side=Side.LOWER)}",
    ]
    return drawn_by(
        draw_audit, table, seen_in_figure=[*formulas, *attackers], said_in_caption=phrases
    )


def test_attacks_are_drawn_up_to_the_first_eps_at_which_none_has_a_bound():
    table = attacks()
    best_bounds = table[table["n"] == 60].groupby("eps")["audited_delta"].max()
    first_without_bound = best_bounds.index[best_bounds == 0].min()
    assert first_without_bound == 1.0  # so a larger eps, 1.5, is left out
    assert draw_audit.drawn_rows(table)["eps"].max() == first_without_bound


def blanket():
    """Eq. (3) of the blanket paper beside our upper bound: both over eps, and their distance over n.

    The columns equation_3 and upper are log10 of the two bounds on delta, and decades is their distance.
    """
    table = draw_blanket.rows_below_eps0(blanket_tightness())
    over_eps = table[table["series"] == "eps"]
    over_n = table[table["series"] == "n"]
    # Smaller deltas are drawn at 10^-200, below the axis.
    on_the_axis = over_eps[over_eps["upper"] > -200]
    bounds_over_eps = columns_over(on_the_axis, "eps", "upper", "equation_3")
    distance_over_n = columns_over(over_n, "n", "decades")

    equation_3 = over_eps["equation_3"].clip(upper=0)  # a bound above 1 counts as 1
    closest = 10 ** (equation_3 - over_eps["upper"]).min()
    phrases = [
        "n = 100, k = 10, ε₀ = 0.5, n_x₀ = 10",
        f"at least {closest:,.0f} times in (a)",
        "3 of 3 rise",  # lines of the distance over n
    ]
    series = [*bounds_over_eps, *distance_over_n]
    return drawn_by(draw_blanket, table, seen_in_figure=series, said_in_caption=phrases)


def two_cities(folder):
    """Two cities as `draw_checkins` reads them from files in the ``folder``: with the same 400 check-ins.

    Those of Paris are bundled ones, at random places (spread), those of the other city are your own.
    """
    histogram_of_cells().to_csv(folder / "cells.csv")
    across_box = np.random.default_rng(6).random((400, 2))
    places = pd.DataFrame(
        across_box * [0.05, 0.06] + [48.8, 2.2], columns=["latitude", "longitude"]
    )
    places.assign(spread=True).to_parquet(folder / "bundled.parquet")
    places.assign(spread=False).to_parquet(folder / "own.parquet")
    return draw_checkins.read(
        [folder / "cells.csv"] * 2,
        [folder / "bundled.parquet", folder / "own.parquet"],
        ["Paris", BROKEN_FORMULA],
        [BOX] * 2,
    )


def checkins(folder):
    """The maps of two cities show the cells with check-ins."""
    cities = two_cities(folder)
    counts = histogram_of_cells()["count"]
    phrases = [
        "uniform grid",
        "6 × 5 cells",
        "latitude 48.8 to 48.85",
        "of Paris are placed at random",
        f"{counts.sum():,} check-ins in the cells, 400 in the box",
    ]
    figure = draw_checkins.draw(cities)
    caption = draw_checkins.caption(cities, "uniform")
    return DrawnFigure(figure, caption, positive_cells([counts]), phrases)


def test_a_map_of_bundled_check_ins_says_that_their_places_are_random(tmp_path):
    bundled, own = draw_checkins.draw(two_cities(tmp_path)).axes[:2]
    assert bundled.get_title().endswith("400 check-ins\nat random places in small squares")
    assert own.get_title().endswith("400 check-ins")


@pytest.mark.parametrize(
    "box",
    [
        (2.290, 2.310, 48.850, 48.865),
        (16.36, 16.38, 48.2, 48.215),
        (10, 10.0000001, 20, 20.0000001),
        (-180, 180, -90, 90),
    ],
)
def test_every_tick_of_a_map_has_its_own_number(box):
    axes = style.new_figure(4).subplots()
    maps.map_axes(axes, box, names=(True, True))
    for axis in (axes.xaxis, axes.yaxis):
        places = axis.get_majorticklocs()
        texts = axis.get_major_formatter().format_ticks(places)
        numbers = [float(text.replace("−", "-")) for text in texts]
        assert len(numbers) > 2
        np.testing.assert_allclose(numbers, places, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("text", "boxes"), [("Zürich, Ελλάδα, Москва, القاهرة", False), ("नमस्ते", True), ("東", True)]
)
def test_a_text_is_writable_unless_a_figure_would_have_boxes_in_it(text, boxes):
    with style.applied():
        figure = style.new_figure(2)
        figure.suptitle(text)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        encoded(figure, "png")
    assert any("missing from font" in str(warning.message) for warning in warned) == boxes
    with pytest.raises(ValueError, match=r"lacks: ") if boxes else contextlib.nullcontext():
        font.writable(text)


def bounds():
    """log10 delta over eps by every bound, in the first and the last of the three settings."""
    table = delta_bounds(**CONFIG["delta_bounds"])
    drawn = table[table["setting"] != 2]
    series = []
    for bound in ("lower", *draw_delta_bounds.OURS, *draw_delta_bounds.BOUNDS):
        # Smaller deltas are drawn at 10^-200, below the axis.
        on_the_axis = drawn[drawn[bound] > -200]
        series += columns_over(on_the_axis, "eps", bound)
    phrases = orders_between_bounds(table[table["setting"] == 1])
    return drawn_by(draw_delta_bounds, table, seen_in_figure=series, said_in_caption=phrases)


def orders_between_bounds(rows):
    """What a caption says of one setting: the orders of magnitude between bounds on delta, over all eps.

    Each column has log10 delta: published of one count, by the paper's formula, lower and upper our bounds,
    `BOUNDS` those of the literature. privacy_blanket is the weak adversary of Koskela et al.
    """
    best_of_literature = rows[[*draw_delta_bounds.BOUNDS]].min(axis=1) - rows["upper"]
    weak_adversary = rows["privacy_blanket"] - rows["upper"]
    ours_above_the_papers = rows["lower"] - rows["published"]
    literature = f"{best_of_literature.min():.1f} to {best_of_literature.max():.0f}"
    return [
        f"n_x₀ = 80: {literature}, {range_text(weak_adversary, '.1f')} and",
        f" and {range_text(ours_above_the_papers, ',.0f')}; n = 100,000",
        "Balle et al. (2019, Lemma 5.3)",
        "is their strong adversary only",
    ]


def surface():
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


def noise():
    """The scale of diffprivlib's noise over the exact one, over log10 delta: a line for each eps.

    The columns published (diffprivlib's) and exact are standard deviations of noise.
    """
    table = gaussian_scale(log10_delta=(-2, -100, 50))
    table_with_ratio = table.assign(ratio=table["published"] / table["exact"])
    series = columns_over(table_with_ratio, "log10_delta", "ratio")
    phrases = [least_noise_in_words(eps, rows) for eps, rows in table.groupby("eps")]
    return drawn_by(draw_gaussian_scale, table, seen_in_figure=series, said_in_caption=phrases)


def least_noise_in_words(eps, rows):
    """'ε = 1: 5.7, -16.2 and -17': what the caption says of diffprivlib's noise at one ``eps``.

    These are its scale for the smallest delta, log10 of the delta which that scale really gives, and log10 of
    the delta from which on downwards its scale is less than 99 % of the exact one.
    """
    smallest_delta = rows.loc[rows["log10_delta"].idxmin()]
    scale = smallest_delta["published"]
    log10_delta = smallest_delta["published_log10_delta"]
    large_enough = rows[rows["published"] >= 0.99 * rows["exact"]]
    too_small = rows[rows["log10_delta"] < large_enough["log10_delta"].min()]
    return f"ε = {eps}: {scale:.4g}, {log10_delta:.1f} and {too_small['log10_delta'].max():g}"


def girgis():
    """Girgis et al.: Renyi divergences of one round over the order, and log10 delta of 100 rounds over eps.

    At each order the bounds are the smallest of this order or a larger one (`envelope`).
    """
    orders = (1.1, 2000, 10)
    divergences = draw_girgis.envelope(girgis_rdp(orders=orders))
    composed = girgis_composed(axis=(0.02, 20, 16), orders=orders)
    one_round = divergences[divergences["eps0"] == 2]
    most_rounds = composed[composed["rounds"] == 100]
    left_panel = columns_over(one_round, "order", *draw_girgis.PANEL_A)
    right_panel = columns_over(most_rounds, "eps", *draw_girgis.PANEL_B)
    bound_over_clones = divergences["girgis"] / divergences["clones"]
    phrases = [
        "n = 10,000, k = 10, ε₀ = 2",
        "ε₀ = 0.5, 2 and 4",
        f"{range_text(bound_over_clones)} times",
    ]
    series = [*left_panel, *right_panel]
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


def koskela_1a():
    return koskela(koskela_fig1a(rounds=(1, 4), axis=(0.05, 4.0, 10)))


def koskela_1b():
    return koskela(koskela_fig1b(rounds=(1, 2), axis=(0.02, 2.0, 10)))


def first_picture():
    """log10 delta over eps: the paper's and the true one of a count, and the bound for all counts."""
    table = deltas_at_one_eps0(**CONFIG["delta_surface"])
    true_delta = typeset(10 ** table["exact"].iloc[0])
    phrases = ["n = 100, k = 10", f"{true_delta}. The δ of all counts"]
    series = columns_over(table, "eps", "published", "exact", "upper")
    return drawn_by(draw_too_small, table, seen_in_figure=series, said_in_caption=phrases)


def every_design():
    """Two marks for each design, in the line of its name: the errors of a rare and of a popular value."""
    table = designs(CONFIG["study"]["designs"])
    lines = table["name"].map(draw_designs.DESIGNS.index)
    series = []
    for error in ("rare_error", "popular_error"):
        series += [([mark], [line]) for mark, line in zip(table[error], lines, strict=True)]
    phrases = [
        "a value that 10% of the users hold",
        krr_over_the_best_in_words(table, "rare_error"),
        krr_over_the_best_in_words(table, "popular_error"),
    ]
    return drawn_by(draw_designs, table, seen_in_figure=series, said_in_caption=phrases)


def krr_over_the_best_in_words(table, error):
    """k-RR's error over the smallest one of all designs but those for reference: '24', or '1 to 24'.

    It is a number for one setting, which a k names here, and a range for several. ``error`` is a column.
    """
    designs_in_use = table[~table["reference"]]
    best = designs_in_use.groupby("k")[error].min()
    krr = designs_in_use[designs_in_use["name"] == "k-RR"].set_index("k")[error]
    ratios = krr / best
    return f"{ratios.min():.2g}" if len(ratios) == 1 else range_text(ratios)


def positive_cells(maps):
    """A series for each map: the places of its positive cells in the image, and their values.

    A map is a column with a value for each cell. Empty and negative cells have no colour.
    """
    return [(np.flatnonzero(values > 0), values[values > 0]) for values in maps]


def runs_at_two_budgets(folder, histogram):
    """What `draw_estimates` reads from files in the ``folder``: the shares of 30 cells, for two budgets.

    A run has the true shares of 3,000 users (original), and those that each mechanism estimates. On the
    ``histogram`` depends whether there are places of the cells.
    """
    table = estimate_cells(
        COUNTS, budgets=BUDGETS, protocol=Protocol(**PROTOCOL), dataset="paris", n=3000, seed=1
    )
    histogram.to_csv(folder / "cells.csv")
    table.to_csv(folder / "estimates.csv")
    return draw_estimates.read(folder / "cells.csv", folder / "estimates.csv")


def negative_shares(runs):
    """'9 and 7 of the Gaussian's 30 shares are negative': how many are, at each budget."""
    numbers = [str((run.table["gaussian"] < 0).sum()) for run in runs.runs]
    return f"{' and '.join(numbers)} of the Gaussian's 30 shares are negative"


def estimates(folder):
    """In a row per budget the original and the estimates: each map shows the colours of positive cells."""
    runs = runs_at_two_budgets(folder, histogram_of_cells())
    maps = [run.table[name] for run in runs.runs for name in draw_estimates.SHOWN]
    figure = draw_estimates.draw(runs, "Paris")
    caption = draw_estimates.caption(runs, "Paris", PROTOCOL)
    return DrawnFigure(figure, caption, positive_cells(maps), ["Paris", negative_shares(runs)])


def test_each_map_of_estimates_states_its_total_variation_error(tmp_path):
    """The error is half the sum of the absolute errors of all shares."""
    runs = runs_at_two_budgets(tmp_path, histogram_of_cells())
    texts = [text.get_text() for text in draw_estimates.draw(runs, "Paris").findobj(Text)]
    first = runs.runs[0].table
    for name in draw_estimates.MECHANISMS:
        error = (first[name] - first["original"]).abs().sum() / 2
        assert any(f"{style.LABELS[name]}, TV = {error:#.2g}" in text for text in texts)


def test_every_row_of_estimates_is_complete_and_names_the_delta_of_our_choice(tmp_path):
    """There are two rows of three maps, and at the left of each stand the numbers of its vertical axis."""
    runs = runs_at_two_budgets(tmp_path, histogram_of_cells())
    figure = draw_estimates.draw(runs, "Paris")
    maps = figure.axes[:-1]  # without the colour bar
    titles = [axes.get_title().partition(",")[0] for axes in maps]
    assert titles == 2 * ["original", "Gaussian", "shuffle+INV"]
    numbered = [any(label.get_visible() for label in axes.get_yticklabels()) for axes in maps]
    assert numbered == 2 * [True, False, False]
    assert all("δ = 10⁻¹⁷ (our choice)" in axes.get_ylabel() for axes in maps[::3])


def test_the_legend_of_estimates_names_both_reasons_for_a_grey_cell(tmp_path):
    runs = runs_at_two_budgets(tmp_path, histogram_of_cells())
    [legend] = draw_estimates.draw(runs, "Paris").legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert "0: an empty cell, or an estimate that the projection cut to 0" in labels


def estimates_without_a_grid(folder):
    """Without places there is no map, and the panels have no series here."""
    runs = runs_at_two_budgets(folder, histogram_of_cells(on_a_map=False))
    figure = draw_estimates.draw(runs, BROKEN_FORMULA)
    caption = draw_estimates.caption(runs, BROKEN_FORMULA, PROTOCOL)
    return DrawnFigure(figure, caption, [], [BROKEN_FORMULA, negative_shares(runs)])


def trials_at(budgets):
    """The trials of all mechanisms with 300 and 3,000 users, 10 repetitions of each."""
    points = []
    for budget in budgets:
        for n in (300, 3000):
            points.append({"experiment": "tv", "n": n, "repetitions": 10, **budget})
    return run_points(
        COUNTS, points, protocol=Protocol(**PROTOCOL), dataset="paris", cells=[3], seed=1
    )


def errors_of_boxes(folder, budgets):
    """The TV errors of the trials at these budgets, from a file for each of them."""
    files = []
    for budget in budgets:
        files.append(folder / f"{budget['eps0']}.parquet")
        trials_at([budget]).to_parquet(files[-1])
    return read_tables(files, TRIAL_COLUMNS, DRAWN)


def boxes(folder, budgets=BUDGETS, title="Paris"):
    """Box plots of TV errors: a box has a line at the median."""
    table = errors_of_boxes(folder, budgets)
    errors_of_uniform_histogram = table.groupby("n")["uniform"].mean()
    phrases = [
        "k = 30",
        "10 repetitions",
        f"the TV error {wording.two_digits(errors_of_uniform_histogram)}",
        "from left to right, Gaussian, shuffle and shuffle+INV",
        "diffprivlib's search stops near 10⁻¹⁸",
        title,
    ]
    caption = caption_of_boxes(table, title, PROTOCOL)
    return DrawnFigure(draw_tv.draw(table, title), caption, [(None, medians_of(table))], phrases)


def boxes_on_a_logarithmic_axis(folder, budgets=BUDGETS, title="Paris"):
    """The same boxes. The caption leaves what they show to the other figure's."""
    table = errors_of_boxes(folder, budgets)
    figure, caption = draw_log_tv.draw(table, title), draw_log_tv.caption(table, title)
    phrases = ["k = 30, 10 repetitions", "equal ratios of errors are equally far apart", title]
    return DrawnFigure(figure, caption, [(None, medians_of(table))], phrases)


def medians_of(table):
    return table.groupby(["eps0", "mechanism", "n"])["value"].median()


def tv(folder):
    """The two panels of Figures 6 and 7."""
    return boxes(folder)


def tv_of_one_budget(folder):
    """The two panels of Figure 2."""
    return boxes(folder, BUDGETS[:1], BROKEN_FORMULA)


def log_tv(folder):
    """The boxes of Figures 6 and 7 on a logarithmic axis."""
    return boxes_on_a_logarithmic_axis(folder)


def log_tv_of_one_budget(folder):
    """The boxes of Figure 2 on a logarithmic axis, in one panel."""
    return boxes_on_a_logarithmic_axis(folder, BUDGETS[:1], BROKEN_FORMULA)


def quartiles_of_boxes(axes):
    """The lower and the upper quartile that each box of a panel shows, from left to right: (boxes, 2)."""
    boxes = [box.get_path().get_extents() for box in axes.patches]
    boxes.sort(key=lambda box: box.x0)
    return np.array([(box.y0, box.y1) for box in boxes])


class BoxPlots(NamedTuple):
    """The paper's figure of the TV errors, the same boxes on a logarithmic axis, and the errors.

    ``panels`` says what the boxes of each panel of the paper's figure show: (eps0, mechanisms).
    """

    papers: Any
    logarithmic: Any
    errors: Any  # by eps0, mechanism and n, ten of each: a groupby of pandas
    panels: list[Any]


def box_plots(budgets, panels):
    """`BoxPlots` of the trials at these budgets, with 300 and 3,000 users."""
    trials = pd.concat([trials_at([budget]) for budget in budgets])
    trials = trials[(trials["experiment"] == "tv") & (trials["metric"] == "tv")]
    figures = draw_tv.draw(trials, "Paris"), draw_log_tv.draw(trials, "Paris")
    return BoxPlots(*figures, trials.groupby(["eps0", "mechanism", "n"])["value"], panels)


@pytest.fixture(scope="module")
def plots_of_two_budgets():
    """Each panel is for a budget."""
    return box_plots(BUDGETS, panels=[(4, MECHANISMS), (6, MECHANISMS)])


@pytest.fixture(scope="module")
def plots_of_one_budget():
    """The paper's second panel leaves the plain shuffle out."""
    return box_plots(BUDGETS[:1], panels=[(4, MECHANISMS), (4, ["gaussian", "shuffle+INV"])])


@pytest.fixture(params=["plots_of_two_budgets", "plots_of_one_budget"])
def plots(request):
    return request.getfixturevalue(request.param)


def expected_boxes(plots, eps0, mechanisms):
    """(lower, upper) quartile of each box of a panel: pandas computes them. n rises from left to right."""
    low = plots.errors.quantile(0.25)
    high = plots.errors.quantile(0.75)
    keys = [(eps0, mechanism, n) for n in (300, 3000) for mechanism in mechanisms]
    return [(low[key], high[key]) for key in keys]


def test_the_figure_has_the_papers_panels_and_nothing_else(plots):
    assert len(plots.papers.axes) == len(plots.panels)
    for axes, (eps0, mechanisms) in zip(plots.papers.axes, plots.panels, strict=True):
        expected = expected_boxes(plots, eps0, mechanisms)
        np.testing.assert_allclose(quartiles_of_boxes(axes), expected, rtol=1e-12)


def test_the_papers_axes_are_linear_and_reach_from_0_beyond_the_largest_error(plots):
    largest = plots.errors.max()
    for axes, (eps0, mechanisms) in zip(plots.papers.axes, plots.panels, strict=True):
        assert axes.get_yscale() == "linear"
        bottom, top = axes.get_ylim()
        assert bottom == 0
        assert top > max(largest.loc[eps0, mechanism].max() for mechanism in mechanisms)


def test_panels_of_two_budgets_have_one_scale_to_be_compared(plots_of_two_budgets):
    for figure in (plots_of_two_budgets.papers, plots_of_two_budgets.logarithmic):
        first, second = figure.axes
        assert first.get_ylim() == second.get_ylim()


def test_the_panel_without_the_plain_shuffle_has_a_scale_of_its_own(plots_of_one_budget):
    """The errors of the plain shuffle are larger than the other ones."""
    first, second = plots_of_one_budget.papers.axes
    assert first.get_ylim()[1] > second.get_ylim()[1]


def test_the_second_figure_has_all_boxes_of_each_budget_on_a_logarithmic_axis(plots):
    budgets = dict.fromkeys(eps0 for eps0, _ in plots.panels)
    for axes, eps0 in zip(plots.logarithmic.axes, budgets, strict=True):
        assert axes.get_yscale() == "log"
        expected = expected_boxes(plots, eps0, MECHANISMS)
        np.testing.assert_allclose(quartiles_of_boxes(axes), expected, rtol=1e-12)


@pytest.mark.parametrize("module", [draw_tv, draw_log_tv])
def test_boxes_of_one_repetition_or_without_any_error(module):
    """A dataset of your own may have one n, and estimates without any error."""
    setting = {"eps0": 4.0, "eps": 1.0, "delta": 1e-30, "n": 200, "k": 4}
    once = pd.DataFrame({"mechanism": MECHANISMS}).assign(**setting, uniform=0.3, value=0.2)
    for table in (once, once.assign(value=0.0)):
        figure = module.draw(table, "Mine")
        assert encoded(figure, "png")
        assert len(figure.axes[0].patches) == 3  # the boxes of three mechanisms
    assert "1 repetition per box" in caption_of_boxes(once, "Mine", PROTOCOL)


def test_an_odd_number_of_budgets_leaves_no_empty_panel():
    trials = trials_at([*BUDGETS, {"eps0": 2, "eps": 2}])
    trials = trials[(trials["experiment"] == "tv") & (trials["metric"] == "tv")]
    for module in (draw_tv, draw_log_tv):
        assert len(module.draw(trials, "Paris").axes) == 3


@functools.cache
def parity_ratios():
    """A small parity_ratio.csv, with 100, 300 and 3,000 users: shuffling's errors over the Gaussian's.

    The rows are settings of an experiment at equal privacy: two eps0, both bounds on delta that give eps, two
    rules for delta (10^-6 and n^-1.1), and several errors. The column informative says whether one of the two
    estimates is better than the uniform histogram.
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
    # How the bootstrap intervals are made: by few resamples, since only the ratios are looked at.
    how = {"resamples": 50, "confidence": 0.95, "seed": 1}
    _, ratios = summarise_parity(points, {"paris": COUNTS}, **how)
    return ratios.astype({"informative": bool})  # as it is after a file was read


def drawn_ratios(table):
    """The rows of `parity_ratios` that are drawn: (of the TV error, of the most popular value's error).

    Both estimates are projected, at delta = 1e-6 by our upper bound, and at least one of them is better than
    the uniform histogram (informative).
    """
    rows = table.query("bound == 'upper' and comparison == 'projected' and delta_rule == '1e-06'")
    of_tv = rows[(rows["metric"] == "tv") & rows["informative"]]
    of_popular_value = rows[rows["metric"] == "most_popular"].merge(of_tv[["n", "eps0"]])
    return of_tv, of_popular_value


def limit_for_many_users(table):
    """The ratio of errors of the most popular value for many users: of unprojected estimates, at eps0 = 6.

    There is no closed form for projected ones.
    """
    unprojected = "metric == 'most_popular' and comparison == 'unprojected' and eps0 == 6"
    return table.query(unprojected)["limit"]


def parity_ratio():
    """Ratios of errors over n, and their limit as a horizontal line. The paper's eps0 for Paris is 6."""
    table = parity_ratios()
    of_tv, of_popular_value = drawn_ratios(table)
    series = columns_over(of_tv, "n", "ratio")
    series += columns_over(of_popular_value, "n", "ratio")
    series.append((None, limit_for_many_users(table)))

    papers_tv = range_text(of_tv.loc[of_tv["eps0"] == 6, "ratio"], ".2f")
    papers_popular = range_text(of_popular_value.loc[of_popular_value["eps0"] == 6, "ratio"], ".2f")
    phrases = [
        f"shuffling has {papers_tv} times the Gaussian's total variation error",
        f"and {papers_popular} times its error for the most popular value",
        "10 repetitions",
        BROKEN_FORMULA,
        "like the paper's",
        "δ = 10⁻⁶,",
        "δ = n⁻¹·¹",
    ]
    titles = {"paris": BROKEN_FORMULA}
    return drawn_by(
        draw_parity_ratio, table, titles, PAPER, seen_in_figure=series, said_in_caption=phrases
    )


def test_ratios_of_useless_estimates_are_not_drawn():
    of_tv, _ = drawn_ratios(parity_ratios())
    assert 0 < len(of_tv) < 6  # of 2 eps0 and 3 n


def test_ratios_are_not_called_like_the_papers_if_one_of_its_datasets_is_changed():
    """Then the ranges are over all rows, not only those at the paper's eps0."""
    table = parity_ratios()
    of_tv, _ = drawn_ratios(table)
    without_synthetic = {name: eps0 for name, eps0 in PAPER.items() if name != "synthetic"}
    arguments = table, {"paris": "Paris"}, without_synthetic
    title = draw_parity_ratio.draw(*arguments).get_suptitle()
    caption = draw_parity_ratio.caption(*arguments)
    assert f"shuffling has {range_text(of_tv['ratio'], '.2f')} times" in title + caption
    assert "like the paper's" not in title + caption


@functools.cache
def delta_hats():
    """delta-hat at three eps below eps0 = 3, of 300 users and of all: a row for each of the 6 points."""
    return compute_delta_hat(COUNTS, dataset="paris", n=[300, "all"], eps0=[3], steps=3, seed=1)


def outwards(low, high):
    """Two numbers as a caption states them: in two digits, the first rounded down, the second up."""
    texts = []
    for number, side in ((low, Side.LOWER), (high, Side.UPPER)):
        texts.append(f"{float(rounded(number, 2, side=side)):,g}")
    return " to ".join(texts)


def delta_hat(folder):
    """-log10 delta over eps: delta-hat as printed (published) and exact, of all users."""
    delta_hats().to_csv(folder / "paris.csv", index=False)
    table = read_tables([folder / "paris.csv"], draw_delta_hat.COLUMNS)
    of_all_users = table[table["n"] == COUNTS.sum()]
    depths = -of_all_users[["published", "exact"]]
    series = columns_over(depths.assign(eps=of_all_users["eps"]), "eps", *depths.columns)
    orders_of_magnitude = table["exact"] - table["published"]
    below_floats = (table["published"] < -308).sum()
    phrases = [
        f"lies {outwards(orders_of_magnitude.min(), orders_of_magnitude.max())} orders",
        f"{BROKEN_FORMULA} (n = 300 and {COUNTS.sum():,}); ε₀ = 3;",
        "10⁻³⁰, which the Gaussian",
        f"At {below_floats} of the 6 points it is below every float",
    ]
    titles = {"paris": BROKEN_FORMULA}
    floor_of_delta = 1e-30
    arguments = table, titles, floor_of_delta
    return drawn_by(draw_delta_hat, *arguments, seen_in_figure=series, said_in_caption=phrases)


def delta_hat_beside_bound():
    """-log10 delta over eps: delta-hat as printed (published) and exact, and the proven bound (upper)."""
    table = delta_hat_bound(delta_hats())
    of_all_users = table[table["n"] == COUNTS.sum()]
    depths = -of_all_users[["published", "exact", "upper"]]
    series = columns_over(depths.assign(eps=of_all_users["eps"]), "eps", *depths.columns)
    phrases = [
        f"The exact δ̂ lies {range_text(table['upper'] - table['exact'], '.1f')} orders",
        f"as printed {range_text(table['upper'] - table['published'], ',.0f')}: {BROKEN_FORMULA}",
    ]
    arguments = table, {"paris": BROKEN_FORMULA}
    return drawn_by(
        draw_delta_hat_bound, *arguments, seen_in_figure=series, said_in_caption=phrases
    )


def delta_hat_trials(folder):
    """Mean TV errors of all users: the Gaussian's over eps for each noise, and shuffle+INV's as a height.

    The line of a noise has sensitivity 1 and no projection.
    """
    trials = run_delta_hat_trials(
        COUNTS, delta_hats(), repetitions=5, sensitivities=[1, 2**0.5], floor=1e-30, seed=1
    )
    trials.to_csv(folder / "paris.csv", index=False)
    table = read_tables([folder / "paris.csv"], draw_delta_hat_trials.COLUMNS)
    of_all_users = table[table["n"] == COUNTS.sum()]
    lines = of_all_users[~of_all_users["projected"] & (of_all_users["sensitivity"] == 1)]
    series = [(None, of_all_users["shuffle+INV"])]
    for _, line in lines.groupby("noise"):
        series += columns_over(line, "eps", "gaussian")

    # 72 ratios: 6 points, 3 noises, 2 sensitivities, projected or not. Each has two sides.
    margin = scipy.stats.norm.isf(0.05 / (2 * 72)) * table["standard_error"]
    ends = {}
    for noise, rows in table.assign(
        low=table["ratio"] - margin, high=table["ratio"] + margin
    ).groupby("noise"):
        ends[noise] = outwards(rows["low"].min(), rows["high"].max())
    least, most = ends["published"].split(" to ")
    phrases = [
        f"has at least {least} times the error of",
        f"up to {most} times here, where the smallest ε is {wording.typeset(table['eps'].min())}.",
        f"that diffprivlib adds has {ends['diffprivlib']} times",
        f"of the same histogram {ends['exact']} times",
        "sensitivities 1 and 1.41",
        "5 repetitions",
        f"6 points: {BROKEN_FORMULA} (n = 300 and {COUNTS.sum():,})",
    ]
    arguments = table, {"paris": BROKEN_FORMULA}
    return drawn_by(
        draw_delta_hat_trials, *arguments, seen_in_figure=series, said_in_caption=phrases
    )


def constants():
    """The ratio of shuffle+INV's error to the Gaussian's, over two floors of delta: at x = 0 and x = 1.

    The table has a row for each of two floors, sensitivities, budgets and ends of n, and for the cell by cell
    estimates.
    """
    experiments = {
        "tv": {"budgets": BUDGETS, "n": [300, 3000]},
        "estimates": {"budgets": BUDGETS, "n": "all"},
    }
    table = compute_constants(
        {"paris": COUNTS}, {"paris": experiments}, floors=[1e-8, 1e-30], sensitivities=[1, 2**0.5],
        ours=(1e-30, 1), repetitions=20, confidence=0.95, seed=1,
    )  # fmt: skip
    place_of_floor = table["floor"].map({1e-8: 0, 1e-30: 1})
    ratios_of_point = table.groupby(["experiment", "eps", "n"])["ratio"]
    largest_change = (ratios_of_point.max() / ratios_of_point.min()).max()
    standard_error = (table["standard_error"] / table["shuffle+INV"]).max()
    phrases = [
        f"is {table['low'].min():.2f} to {table['high'].max():.0f} times",
        "95 % confidence for all ratios together",
        f"up to {wording.significant(largest_change)}.",
        f"is at most {100 * standard_error:.1f} % of it",
        "20 repetitions",
    ]
    figure = draw_constants.draw(table, {"paris": BROKEN_FORMULA})
    caption = draw_constants.caption(table)
    return DrawnFigure(figure, caption, [(place_of_floor, table["ratio"])], phrases)


FIGURES = [
    constants,
    audit,
    blanket,
    bounds,
    delta_hat_beside_bound,
    first_picture,
    girgis,
    koskela_1a,
    koskela_1b,
    noise,
    parity_ratio,
    every_design,
    surface,
]
# These take the empty folder in which they make files.
FIGURES_FROM_FILES = [
    delta_hat,
    delta_hat_trials,
    checkins,
    estimates,
    estimates_without_a_grid,
    tv,
    tv_of_one_budget,
    log_tv,
    log_tv_of_one_budget,
]


@pytest.fixture(
    scope="module", params=[*FIGURES, *FIGURES_FROM_FILES], ids=lambda figure: figure.__name__
)
def drawn(request, tmp_path_factory):
    """The `DrawnFigure` of each figure."""
    if request.param in FIGURES:
        return request.param()
    return request.param(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def png(drawn):
    """The bytes of the figure as a png file; to make them lays the figure out."""
    return encoded(drawn.figure, "png")


def points_of(axes):
    """The points of every line, area, set of marks and image of a panel in data coordinates: (points, 2)."""
    points = [np.empty((0, 2))]
    points += [line.get_xydata() for line in axes.lines]
    for area in axes.collections:
        points += [path.vertices for path in area.get_paths()]
    points += [pixels_of(image) for image in axes.images if image.get_array().ndim == 2]
    return np.concatenate(points)


def pixels_of(image):
    """(number, value) of each pixel of an image, counted row by row; a masked pixel has the value nan."""
    values = image.get_array().astype(float).filled(np.nan).ravel()
    return np.stack([np.arange(values.size), values], axis=-1)


def test_what_is_shown_are_the_tables_values(drawn):
    """Every finite point that must be seen is one of the points that the figure shows, but for rounding.

    Rounding is 1e-9 of the largest coordinate.
    """
    shown = np.concatenate([points_of(axes) for axes in drawn.figure.axes])
    for x, y in drawn.seen_in_figure:
        heights = np.asarray(y, float)[:, None]
        points = heights if x is None else np.column_stack([x, heights])
        points = points[np.isfinite(points).all(axis=-1)]
        compared = shown[:, -points.shape[-1] :]  # without x, only the heights
        tolerance = 1e-9 * max(1, np.abs(points).max(initial=0))
        assert [point for point in points if distance_to_nearest(point, compared) > tolerance] == []


def distance_to_nearest(point, others):
    """The distance of a point to the nearest of others: the larger one of both coordinates' distances."""
    return np.nanmin(np.abs(others - point).max(axis=-1))


def test_the_caption_states_the_numbers_of_the_table(drawn):
    assert [text for text in drawn.said_in_caption if text not in drawn.caption] == [], (
        drawn.caption
    )


def visible_texts(figure):
    """The texts that are seen in a figure, each with its box in pixels: a list of pairs."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    hidden = labels_that_are_not_drawn(figure)
    seen = []
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and text not in hidden:
            seen.append((text.get_text(), text.get_window_extent(renderer)))
    return seen


def labels_that_are_not_drawn(figure):
    """The labels of ticks that matplotlib has, and does not draw.

    A tick outside of an axis' limits has none. The second label of every tick, on the other side of the
    panel, is not drawn at all.
    """
    hidden = []
    for axes, name in itertools.product(figure.axes, ("xaxis", "yaxis")):
        axis = getattr(axes, name)
        low, high = sorted(axis.get_view_interval())
        for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
            hidden.append(tick.label2)
            if not low <= tick.get_loc() <= high:
                hidden.append(tick.label1)
    return hidden


def test_the_outermost_pixels_are_white(png):
    image = matplotlib.image.imread(io.BytesIO(png))[..., :3]
    for border in (image[0], image[-1], image[:, 0], image[:, -1]):
        assert (border == 1).all()


def test_no_text_is_smaller_than_7_points(drawn):
    texts = [text for text in drawn.figure.findobj(Text) if text.get_text().strip()]
    assert min(text.get_fontsize() for text in texts) >= 7


@pytest.fixture(scope="module")
def texts_on_a_plane(drawn, png):
    """The `visible_texts` of a figure that is laid out, as ``png`` has done."""
    if hasattr(drawn.figure.axes[0], "zaxis"):
        pytest.skip("3-D axes place their labels only while they are drawn")
    return visible_texts(drawn.figure)


def test_no_texts_overlap(texts_on_a_plane):
    # With labels of ticks and names of axes every figure has more than 8 texts: else they were not found.
    assert len(texts_on_a_plane) > 8
    overlapping = []
    for (first, box), (second, other_box) in itertools.combinations(texts_on_a_plane, 2):
        if box.overlaps(other_box):
            overlapping.append((first, second))
    assert overlapping == []


def test_no_text_reaches_over_the_edge_of_the_page(drawn, texts_on_a_plane):
    page = drawn.figure.bbox
    cut_off = []
    for text, box in texts_on_a_plane:
        if min(box.x0, box.y0) < 0 or box.x1 > page.width or box.y1 > page.height:
            cut_off.append(text)
    assert cut_off == []
