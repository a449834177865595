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
from scripts.beyond.bounds.compute_too_small import too_small
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
FORMULA = "$x_$"  # a title that matplotlib would take for a formula, and a broken one
BOX = {"south": 48.8, "north": 48.85, "west": 2.2, "east": 2.26}
PAIRS = [{"eps0": 4, "eps": 4}, {"eps0": 6, "eps": 6}]
ONCE: Any = {"dataset": "paris", "n": 3000, "seed": 1}
SIZES = dict.fromkeys((100, 300, 3000), (["upper", "lower"], 10))
PARITY: Any = {
    "dataset": "paris",
    "eps0": [1, 6],
    "delta": [1e-6],
    "delta_exponents": [1.1],
    "cells": [3],
}


class Drawn(NamedTuple):
    """A figure, its caption, the (x, y) of the series that it must show, what its caption must say."""

    figure: Any
    caption: str
    shows: list[Any]
    says: list[str]


def cells(on_a_map=True, rows=5, columns=6):
    """A histogram."""
    index = np.arange(rows * columns)
    row, column = np.divmod(index, columns)
    counts = np.random.default_rng(2).poisson(3, rows * columns) ** 3
    south, west = BOX["south"] + 0.01 * row, BOX["west"] + 0.01 * column
    table = pd.DataFrame({"cell": index + 1, "count": counts})
    edges = {"south": south, "north": south + 0.01, "west": west, "east": west + 0.01}
    return table.assign(row=row, column=column, **edges) if on_a_map else table


COUNTS = cells()["count"].to_numpy() * 3


def lines(table, x, *ys):
    return [(table[x], table[y]) for y in ys]


def span(values, form=".2g"):
    return f"{values.min():{form}} to {values.max():{form}}"


def audit(_):
    settings = ((60, 5, 2.0, 40), (20, 10, 1.0, 3), (5, 2, 0.5, 0))
    tallies = [
        play(n=n, k=k, eps0=eps0, count=count, runs=200_000) for n, k, eps0, count in settings
    ]
    table = pd.DataFrame(assess(tallies, [0.1, 0.3, 1.0, 1.5], confidence=0.999))
    rows = draw_audit.drawn_rows(table)
    assert rows["eps"].max() < 1.5
    shows = lines(rows, "eps", *draw_audit.LINES)
    seen = rows[rows["audited_delta"] > 0]
    shows.append((seen["eps"], np.log10(seen["audited_delta"])))
    says = [
        "n = 60, k = 5, ε₀ = 2, n_x₀ = 40; 200,000 runs",
        "99.9 % confidence",
        "none our upper bound",
    ]
    says.append(
        f"In all 3 settings, {table['violated_jointly'].sum()} of 24 bounds exceed the paper's δ"
    )
    of_count = seen.loc[seen["observes"] == "count", "audited_delta"]
    says.append(f"at ε = 0.1 it is {typeset(of_count.iloc[0], side=Side.LOWER)}")
    return Drawn(draw_audit.draw(table), draw_audit.caption(table), shows, says)


def blanket(_):
    table = draw_blanket.rows_below_eps0(blanket_tightness())
    curve, growth = (table[table["series"] == series] for series in ("eps", "n"))
    shows = lines(curve[curve["upper"] > -200], "eps", "upper", "equation_3")
    shows += lines(growth, "n", "decades")
    closest = 10 ** (curve["equation_3"].clip(upper=0) - curve["upper"]).min()
    says = [
        "n = 100, k = 10, ε₀ = 0.5, n_x₀ = 10",
        f"at least {closest:,.0f} times in (a)",
        "3 of 3 rise",
    ]
    return Drawn(draw_blanket.draw(table), draw_blanket.caption(table), shows, says)


def checkins(folder):
    points = np.random.default_rng(6).random((2, 400))
    places = {"latitude": 48.8 + 0.05 * points[0], "longitude": 2.2 + 0.06 * points[1]}
    files = [folder / name for name in ("cells.csv", "paris.parquet", "own.parquet")]
    cells().to_csv(files[0])
    for path in files[1:]:
        pd.DataFrame(places).assign(spread=path.stem == "paris").to_parquet(path)
    cities = draw_checkins.read([files[0]] * 2, files[1:], ["Paris", FORMULA], [BOX] * 2)
    says = [
        "uniform grid",
        "6 × 5 cells",
        "latitude 48.8 to 48.85",
        "of Paris are placed at random",
    ]
    says.append(f"{cells()['count'].sum():,} check-ins in the cells, 400 in the box")
    caption, figure = draw_checkins.caption(cities, "uniform"), draw_checkins.draw(cities)
    bundled, given = (axes.get_title() for axes in figure.axes[:2])
    assert bundled.endswith("400 check-ins\nat random places in small squares")
    assert given.endswith("400 check-ins")  # the places of a file's check-ins are theirs
    return Drawn(figure, caption, maps([cells()["count"]]), says)


def bounds(_):
    table = delta_bounds(**CONFIG["delta_bounds"])
    drawn = table[table["setting"] != 2]  # the first and the last
    shows = []
    for bound in ("lower", *draw_delta_bounds.OURS, *draw_delta_bounds.BOUNDS):
        inside = drawn[drawn[bound] > -200]
        shows.append((inside["eps"], inside[bound]))
    first = table[table["setting"] == 1]
    best = first[[*draw_delta_bounds.BOUNDS]].min(axis=1) - first["upper"]
    weak = first["privacy_blanket"] - first["upper"]
    says = [
        f"n_x₀ = 80: {best.min():.1f} to {best.max():.0f}, {weak.min():.1f} to {weak.max():.1f} and"
    ]
    says.append(f" and {span(first['lower'] - first['published'], ',.0f')}; n = 100,000")
    says += ["Balle et al. (2019, Lemma 5.3)", "is their strong adversary only"]
    return Drawn(draw_delta_bounds.draw(table), draw_delta_bounds.caption(table), shows, says)


def surface(_):
    table = delta_surface(**CONFIG["delta_surface"])
    says = ["n = 100, k = 10, n_x₀ = 80", "0.1 to 3 in 8 steps", "these 36 of 64 points"]
    says.append(f"up to {(table['exact'] - table['published']).max():.0f} orders")
    # Triangles.
    return Drawn(draw_delta_surface.draw(table), draw_delta_surface.caption(table), [], says)


def noise(_):
    table = gaussian_scale()
    shows = lines(table.assign(ratio=table["published"] / table["exact"]), "log10_delta", "ratio")
    says = []
    # From the smallest δ back to the first that is met to 1 %.
    for eps, curve in table.groupby("eps"):
        backwards = curve.iloc[::-1]
        met = int((backwards["published"] >= 0.99 * backwards["exact"]).argmax())
        scale, depth = backwards["published"].iloc[0], backwards["published_log10_delta"].iloc[0]
        says.append(
            f"ε = {eps}: {scale:.4g}, {depth:.1f} and {backwards['log10_delta'].iloc[met - 1]:g}"
        )
    return Drawn(draw_gaussian_scale.draw(table), draw_gaussian_scale.caption(table), shows, says)


def girgis(_):
    """Girgis et al.: divergences of one round, and composed deltas, from tables that are made here."""
    divergences = draw_girgis.envelope(girgis_rdp())
    composed = girgis_composed()
    one_round, most_rounds = draw_girgis.panel_rows(divergences, composed)
    assert set(one_round["eps0"]) == {2}
    assert set(most_rounds["rounds"]) == {100}
    shows = lines(one_round, "order", *draw_girgis.PANEL_A)
    shows += lines(most_rounds, "eps", *draw_girgis.PANEL_B)
    says = ["n = 10,000, k = 10, ε₀ = 2", "ε₀ = 0.5, 2 and 4"]
    says.append(f"{span(divergences['girgis'] / divergences['clones'])} times")
    figure = draw_girgis.draw(divergences, composed)
    return Drawn(figure, draw_girgis.caption(divergences, composed), shows, says)


def koskela(table):
    rows = draw_koskela.drawn_rows(table)
    assert set(rows["rounds"]) == set(table["rounds"])
    says = [f"n = {table['n'].iloc[0]:,}", f"ε₀ = {table['eps0'].iloc[0]:.4g}"]
    return Drawn(
        draw_koskela.draw(table), draw_koskela.caption(table), lines(rows, "eps", "upper"), says
    )


def koskela_1a(_):
    return koskela(koskela_fig1a(rounds=(1, 4), axis=(0.05, 4.0, 20)))


def koskela_1b(_):
    return koskela(koskela_fig1b(rounds=(1, 2), axis=(0.02, 2.0, 20)))


def first_picture(_):
    table = too_small(**CONFIG["delta_surface"])
    says = ["n = 100, k = 10", f"{typeset(10 ** table['exact'].iloc[0])}. The δ of all counts"]
    shows = lines(table, "eps", "published", "exact", "upper")
    return Drawn(draw_too_small.draw(table), draw_too_small.caption(table), shows, says)


def every_design(_):
    table = designs(CONFIG["study"]["designs"])
    shows = []
    for error in ("rare_error", "popular_error"):
        for value, name in zip(table[error], table["name"], strict=True):
            shows.append(([value], [draw_designs.DESIGNS.index(name)]))
    used = table[~table["reference"]].set_index("name")
    says = ["a value that 10% of the users hold"]
    for error in ("rare_error", "popular_error"):
        ratios = used[error]["k-RR"] / used.groupby("k")[error].min()
        says.append(
            f"{ratios.min():.2g}"
            if len(ratios) == 1
            else f"{ratios.min():.2g} to {ratios.max():.2g}"
        )
    return Drawn(draw_designs.draw(table), draw_designs.caption(table), shows, says)


def maps(values):
    """Every cell's place in its image and its value, where it is neither empty nor negative."""
    shown = []
    for shares in values:
        positive = shares > 0
        shown.append((np.flatnonzero(positive), shares[positive]))
    return shown


def estimates(folder, histogram=None, title="Paris"):
    histogram = cells() if histogram is None else histogram
    table = estimate_cells(COUNTS, budgets=PAIRS, protocol=Protocol(**CONFIG["protocol"]), **ONCE)
    histogram.to_csv(folder / "cells.csv")
    table.to_csv(folder / "estimates.csv")
    runs = draw_estimates.read(folder / "cells.csv", folder / "estimates.csv")
    figure = draw_estimates.draw(runs, title)
    first = runs.runs[0].table
    seen = [text.get_text() for text in figure.findobj(Text)]
    for name in draw_estimates.MECHANISMS:
        error = (first[name] - first["original"]).abs().sum() / 2
        assert any(f"{style.LABELS[name]}, TV = {error:#.2g}" in text for text in seen)
    assert any("δ = 10⁻³⁰ (our choice)" in text for text in seen)
    values = [run.table[name] for run in runs.runs for name in draw_estimates.MECHANISMS]
    values.append(first["original"])
    assert seen.count("original") == 1  # all runs have it
    below = " and ".join(str((run.table["gaussian"] < 0).sum()) for run in runs.runs)
    says = [title, f"{below} of the Gaussian's 30 shares are negative"]
    shows = maps(values) if "row" in histogram else []
    return Drawn(figure, draw_estimates.caption(runs, title, CONFIG["protocol"]), shows, says)


def estimates_without_a_grid(folder):
    return estimates(folder, cells(on_a_map=False), FORMULA)


def trials(pairs):
    points = [
        {"experiment": "tv", "n": n, "repetitions": 10, **pair}
        for pair in pairs
        for n in (300, 3000)
    ]
    protocol = Protocol(**CONFIG["protocol"])
    return run_points(COUNTS, points, protocol=protocol, dataset="paris", cells=[3], seed=1)


def boxes(table):
    """The medians of all boxes, on the paper's axis and as 0 of the enlarged ones; what the caption says."""
    medians = table.groupby(["eps0", "mechanism", "n"])["value"].median()
    uniform = table.groupby("n")["uniform"].mean()
    says = ["k = 30", "10 repetitions", f"the TV error {wording.two_digits(uniform)}"]
    says += ["from left to right, Gaussian, shuffle and shuffle+INV", "The small panels are ours"]
    return [(None, medians), (None, [0.0])], says


def tv(folder, pairs=PAIRS, title="Paris"):
    for number, pair in enumerate(pairs):
        trials([pair]).to_parquet(folder / f"{number}.parquet")
    table = read_tables(
        [folder / f"{number}.parquet" for number in range(len(pairs))],
        draw_tv.COLUMNS,
        draw_tv.DRAWN,
    )
    shows, says = boxes(table)
    caption = draw_tv.caption(table, title, CONFIG["protocol"])
    return Drawn(draw_tv.draw(table, title), caption, shows, [*says, title])


def tv_of_one_budget(folder):
    """The two panels of Figure 2."""
    return tv(folder, PAIRS[:1], FORMULA)


def quartiles(axes):
    """(middle, lower quartile, upper quartile) of every box of a panel, and its height in points."""
    corners = [box.get_path().get_extents() for box in axes.patches]
    height = axes.get_position().height * axes.figure.get_figheight() * 72 / np.ptp(axes.get_ylim())
    return [((box.x0 + box.x1) / 2, box.y0, box.y1, box.height * height) for box in corners]


@pytest.mark.parametrize("pairs", [PAIRS, PAIRS[:1]], ids=["two budgets", "one budget"])
def test_every_mechanism_has_boxes_on_the_papers_axis_and_enlarged_ones_that_can_be_read(pairs):
    """In the order of the paper's captions, on linear axes from 0."""
    table = pd.concat([trials([pair]) for pair in pairs])
    table = table[(table["experiment"] == "tv") & (table["metric"] == "tv")]
    errors = table.groupby(["eps0", "mechanism", "n"])["value"]
    low, median, high = (errors.quantile(share) for share in (0.25, 0.5, 0.75))
    figure = draw_tv.draw(table, "Paris")
    encoded(figure, "png")  # which lays it out
    everything, inverted = ["gaussian", "shuffle", "shuffle+INV"], ["gaussian", "shuffle+INV"]

    papers = figure.axes[:2]
    shown = (
        [(4, everything), (6, everything)] if len(pairs) == 2 else [(4, everything), (4, inverted)]
    )
    for axes, (eps0, mechanisms) in zip(papers, shown, strict=True):
        assert (axes.get_yscale(), axes.get_ylim()[0]) == ("linear", 0)
        assert axes.get_ylim()[1] > errors.max()[eps0][mechanisms].max()
        boxes = [(eps0, name, n) for n in (300, 3000) for name in mechanisms]  # from left to right
        expected = [(low[box], high[box]) for box in boxes]
        assert np.allclose([box[1:3] for box in sorted(quartiles(axes))], expected, rtol=1e-12)
    scales = {axes.get_ylim() for axes in papers}
    assert len(scales) == (1 if len(pairs) == 2 else 2)  # two budgets can be compared

    small = [(pair["eps0"], name) for pair in pairs for name in everything]
    for axes, box in zip(figure.axes[2:], small, strict=True):
        percent = [100 * (quartile[box] / median[box] - 1) for quartile in (low, high)]
        seen = np.array(sorted(quartiles(axes)))
        assert np.allclose(seen[:, 1:3], np.transpose(percent), atol=1e-9)
        assert seen[:, 3].min() > 4  # points
        labels = [label.get_text() for label in axes.get_xticklabels()]
        medians = map(wording.significant, median[box])
        assert labels == [f"{n}\n{error}" for n, error in zip(["300", "3k"], medians, strict=True)]


def test_boxes_of_one_repetition_or_without_any_error():
    """A dataset of your own may have one n, and estimates without any error."""
    setting = {
        "eps0": 4.0,
        "eps": 1.0,
        "delta": 1e-30,
        "n": 200,
        "k": 4,
        "uniform": 0.3,
        "value": 0.2,
    }
    once = pd.DataFrame({"mechanism": draw_tv.MECHANISMS}).assign(**setting)
    for table in (once, once.assign(value=0.0)):
        figure = draw_tv.draw(table, "Mine")
        assert encoded(figure, "png")
        assert len(figure.axes[0].patches) == 3
    assert "1 repetition per box" in draw_tv.caption(once, "Mine", CONFIG["protocol"])


def ratios():
    points = run_parity(COUNTS, SIZES, seed=1, **PARITY)
    published = [trials([pair]) for pair in PAIRS]
    how = {"resamples": 50, "confidence": 0.95, "seed": 1}
    return summarise_parity(points, published, {"paris": COUNTS}, **how)[1]


def parity_ratio(_):
    """The ratios at the first delta, both projected, where at least one estimate is useful; two metrics."""
    table = ratios().astype({"informative": bool})
    given = table, {"paris": FORMULA}, PAPER
    rows = table.query("bound == 'upper' and comparison == 'projected' and delta_rule == '1e-06'")
    tv = rows[(rows["metric"] == "tv") & rows["informative"]]
    popular = rows[rows["metric"] == "most_popular"].merge(tv[["n", "eps0"]])
    assert 0 < len(tv) == len(popular) < 6
    of_tv = tv.loc[tv["eps0"] == 6, "ratio"]
    of_popular = popular.loc[popular["eps0"] == 6, "ratio"]
    says = [f"shuffling has {span(of_tv, '.2f')} times the Gaussian's total variation error"]
    says += [
        f"and {span(of_popular, '.2f')} times its error for the most popular value",
        "10 repetitions",
    ]
    says += [FORMULA, "like the paper's", "δ = 10⁻⁶,", "δ = n⁻¹·¹"]
    limit = table.query("metric == 'most_popular' and comparison == 'unprojected' and eps0 == 6")[
        "limit"
    ]
    shows = [*lines(tv, "n", "ratio"), *lines(popular, "n", "ratio"), (None, limit)]
    changed = *given[:2], {name: eps0 for name, eps0 in PAPER.items() if name != "synthetic"}
    said = draw_parity_ratio.draw(*changed).get_suptitle() + draw_parity_ratio.caption(*changed)
    assert f"shuffling has {span(tv['ratio'], '.2f')} times" in said
    assert "like the paper's" not in said
    return Drawn(draw_parity_ratio.draw(*given), draw_parity_ratio.caption(*given), shows, says)


def delta_hats():
    return compute_delta_hat(COUNTS, dataset="paris", n=[300, "all"], eps0=[3], steps=3, seed=1)


def delta_hat(folder):
    delta_hats().to_csv(folder / "paris.csv", index=False)
    table = read_tables([folder / "paris.csv"], draw_delta_hat.COLUMNS)
    given = table, {"paris": FORMULA}, 1e-30
    depths = -table[["published", "exact", "upper"]]
    shows = lines(depths.assign(eps=table["eps"]), "eps", *depths.columns)
    gaps = table["exact"] - table["published"]
    says = [
        f"lies {gaps.min():,.0f} to {gaps.max():,.0f} orders",
        FORMULA,
        "10⁻³⁰, which the Gaussian",
    ]
    says.append(f"At {(table['published'] < -308).sum()} of the 6 points it is below every float")
    return Drawn(draw_delta_hat.draw(*given), draw_delta_hat.caption(*given), shows, says)


def delta_hat_trials(folder):
    table = run_delta_hat_trials(COUNTS, delta_hats(), repetitions=5, sensitivity=1, seed=1)
    table.to_parquet(folder / "paris.parquet")
    table = read_tables([folder / "paris.parquet"], draw_delta_hat_trials.COLUMNS)
    means = table.groupby(["n", "form", "eps"])["value"].mean().reset_index()
    shows = lines(means, "eps", "value")
    shows.append((None, table[table["mechanism"] == "shuffle+INV"].groupby("n")["value"].mean()))
    ratios = gaussian_ratios(table).groupby("form")["ratio"]
    printed, exact = ratios.get_group("published"), ratios.get_group("exact")
    says = [f"has {printed.min():.1f} to {printed.max():,.0f} times the error of", "sensitivity 1,"]
    says += [f"it has {exact.min():.2f} to {exact.max():.1f} times", "5 repetitions"]
    figure = draw_delta_hat_trials.draw(table, {"paris": FORMULA})
    return Drawn(figure, draw_delta_hat_trials.caption(table, 1), shows, says)


def constants(_):
    choices = {"floors": [1e-8, 1e-30], "sensitivities": [1, 2**0.5]}
    table = compute_constants([trials([pair]) for pair in PAIRS], **choices)
    shows = [(table["floor"].map({1e-8: 0, 1e-30: 1}), table["ratio"])]
    by_point = table.groupby("eps")["ratio"]
    change = (by_point.max() / by_point.min()).max()
    says = [
        f"is {wording.two_digits(table['ratio'])} times",
        f"up to {wording.significant(change)}.",
    ]
    return Drawn(
        draw_constants.draw(table, {"paris": FORMULA}), draw_constants.caption(table), shows, says
    )


FIGURES = (
    *(constants, delta_hat, delta_hat_trials),
    *(audit, blanket, bounds, checkins, estimates, estimates_without_a_grid, first_picture, girgis),
    *(koskela_1a, koskela_1b, noise, parity_ratio, every_design),
    *(surface, tv, tv_of_one_budget),
)


@pytest.fixture(scope="module", params=FIGURES, ids=lambda figure: figure.__name__)
def drawn(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp("results"))


def points_of(axes):
    """The points of every line, area, set of marks and image of a panel, in data coordinates."""
    points = [np.empty((0, 2)), *(line.get_xydata() for line in axes.lines)]
    points += [path.vertices for area in axes.collections for path in area.get_paths()]
    for image in axes.images:
        if (values := image.get_array()).ndim == 2:
            flat = values.astype(float).filled(np.nan).ravel()
            points.append(np.stack([np.arange(values.size), flat], axis=-1))
    return np.concatenate(points)


def test_what_is_shown_are_the_tables_values(drawn):
    points_drawn = np.concatenate([points_of(axes) for axes in drawn.figure.axes])
    for series in drawn.shows:
        columns = [i for i, values in enumerate(series) if values is not None]
        points = np.stack([np.asarray(series[i], float) for i in columns], axis=-1)
        points = points[np.isfinite(points).all(axis=-1)]
        apart = [
            np.nanmin(np.abs(points_drawn[:, columns] - point).max(axis=-1)) for point in points
        ]
        assert max(apart, default=0) <= 1e-9 * max(1, np.abs(points).max(initial=0))


def test_the_caption_states_the_numbers_of_the_table(drawn):
    assert [phrase for phrase in drawn.says if phrase not in drawn.caption] == [], drawn.caption


def texts(figure):
    """Texts that are seen, with their boxes in pixels."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    shown = [
        text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()
    ]
    for axes in figure.axes:  # tick labels outside of an axis' limits are not drawn
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                inside = low <= tick.get_loc() <= high
                hidden = (tick.label2,) if inside else (tick.label1, tick.label2)
                shown = [text for text in shown if text not in hidden]
    return [(text.get_text(), text.get_window_extent(renderer)) for text in shown]


def test_nothing_is_cut_off_too_small_or_over_other_text(drawn):
    png = encoded(drawn.figure, "png")
    image = matplotlib.image.imread(io.BytesIO(png))[..., :3]
    assert all((side == 1).all() for side in (image[0], image[-1], image[:, 0], image[:, -1]))
    seen, page = texts(drawn.figure), drawn.figure.bbox
    assert len(seen) > 8
    assert (
        min(text.get_fontsize() for text in drawn.figure.findobj(Text) if text.get_text().strip())
        >= 7
    )
    if hasattr(drawn.figure.axes[0], "zaxis"):
        return  # 3-D axes place their labels while they are drawn

    overlapping = []
    for (first, box), (second, other_box) in itertools.combinations(seen, 2):
        if box.overlaps(other_box):
            overlapping.append((first, second))
    assert overlapping == []

    cut_off = []
    for text, box in seen:
        if min(box.x0, box.y0) < 0 or box.x1 > page.width or box.y1 > page.height:
            cut_off.append(text)
    assert cut_off == []
