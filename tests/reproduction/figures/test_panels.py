"""What the panels of the figures show, and on which scales."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from reproduction.figures import (
    checkins,
    delta_bounds,
    delta_surface,
    estimates,
    girgis_rdp,
    koskela,
    parity_ratio,
    parity_tv,
    style,
    tv,
)
from reproduction.figures.wording import DELTA_AXIS
from tests.reproduction.figures.examples import (
    PARITY_TITLES,
    bound_table,
    city,
    girgis_tables,
    histogram_table,
    koskela_table,
    parity_rows,
    ratio_table,
    runs_of,
    surface_table,
    trial_table,
    tv_rows,
)


def legend(figure):
    return {text.get_text() for text in figure.legends[0].get_texts()}


def test_both_surfaces_and_their_contours_have_one_scale():
    figure = delta_surface.draw(surface_table())
    left, _, right, _ = figure.axes
    assert left.get_zlim() == right.get_zlim()
    drawn = [axes.collections[0].get_clim() for axes in figure.axes]
    assert drawn == [left.get_zlim()] * 4
    assert [axes.get_title() for axes in (left, right)] == ["(a) published", "(b) exact"]


def test_contours_carry_their_values_where_they_are():
    eps = eps0 = np.linspace(0, 3, 31)
    values = np.where(np.subtract.outer(eps0, eps) > 0, np.subtract.outer(0 * eps0, 10 * eps), -np.inf)
    axes = style.new_figure(3).subplots()
    style.contours(axes, eps, eps0, values, limits=(-30, 0))
    assert len(axes.texts) > 2
    for text in axes.texts:
        assert 10 * text.get_position()[0] == pytest.approx(
            -float(text.get_text().replace("−", "-")), abs=0.1
        )


def names(axes):
    return [text.get_text() for text in sorted(axes.texts, key=lambda text: text.get_position()[1])]


def test_boxplots_have_a_panel_per_budget_and_lines_for_plain_shuffle_and_the_uniform_histogram():
    table = tv_rows(trial_table())
    figure = tv.draw(table, "Paris")
    assert [axes.get_title()[:15] for axes in figure.axes] == ["(a) ε₀ = ε = 4,", "(b) ε₀ = ε = 6,"]
    assert [len(axes.patches) for axes in figure.axes] == [4, 4]  # a box per n and mechanism
    assert all(axes.get_yscale() == "log" for axes in figure.axes)
    left, right = figure.axes
    assert left.get_ylim() == right.get_ylim()
    plain = table[table["mechanism"] == "shuffle"].groupby(["eps0", "n"])["value"].mean()
    for axes, eps0 in ((left, 4), (right, 6)):
        assert names(axes) == [
            "Gaussian",
            "shuffle+INV",
            f"shuffle {plain.loc[eps0, 20000]:#.2g}",
            "uniform 0.60",
        ]


def test_a_single_budget_is_shown_with_and_without_plain_shuffle_as_in_figure_2():
    left, right = tv.draw(tv_rows(trial_table([(4, 4)])), "N(0, 2)").axes
    assert [len(axes.patches) for axes in (left, right)] == [4, 4]
    assert left.get_ylim()[1] > 0.6 > 0.4 > right.get_ylim()[1]
    assert names(right) == ["Gaussian", "shuffle+INV"]


def test_boxplots_at_equal_privacy_share_a_scale_in_a_row_only():
    rows = parity_rows()
    rows["value"] *= np.where(rows["eps0"] > 3, 0.1, 1)
    axes = parity_tv.draw(rows, "Paris").axes
    limits = [panel.get_ylim() for panel in axes]
    assert limits[0] == limits[1] != limits[2] == limits[3]


def test_all_cities_have_one_colour_scale_and_the_map_says_when_points_are_spread():
    figure = checkins.draw([city("San Francisco", spread=True), city("Paris", spread=False, seed=3)])
    upper, lower = figure.axes[:2], figure.axes[2:4]
    assert ["random" in axes.get_title() for axes in upper] == [True, False]
    assert lower[0].images[0].norm is lower[1].images[0].norm


def test_estimates_and_their_errors_are_heatmaps_on_two_scales_below_one_original():
    runs = runs_of(histogram_table())
    original, *panels = estimates.draw(runs, "Paris").axes[:9]
    table = runs.runs[0].table
    error = table["gaussian"] - table["original"]
    assert original.get_title() == "original"
    names = ["Gaussian, unprojected", f"error (TV = {error.abs().sum() / 2:#.2g})", "shuffle+INV, projected"]
    assert [axes.get_title() for axes in panels[:3]] == names
    for some in ([original, *panels[::2]], panels[1::2]):
        assert len({id(axes.images[0].norm) for axes in some}) == 1
    marks = panels[0].collections[0].get_offsets()
    assert len(marks) == (table["gaussian"] < 0).sum() > 0


def test_an_original_that_is_not_the_same_in_all_rows_says_whose_it_is():
    runs = runs_of(histogram_table())
    other = runs.runs[1].table.assign(original=1 / 30)
    figure = estimates.draw(runs._replace(runs=[runs.runs[0], runs.runs[1]._replace(table=other)]), "Paris")
    assert figure.axes[0].get_title() == "original of the first row"


@pytest.mark.slow
def test_a_fine_grid_is_an_image_per_panel_in_a_small_pdf():
    figure = estimates.draw(runs_of(histogram_table(rows=300, columns=300), [(2, 2)]), "fine")
    pdf = style.pdf(figure)
    assert pdf.count(b"/Subtype /Image") == 5 + 2  # and the colour bars
    assert len(pdf) < 2_000_000  # a path per cell takes 6 MB
    legends = [axes.get_legend() for axes in figure.axes if axes.get_legend()]
    [negative] = (entry for entry in legends[0].legend_handles if "negative" in entry.get_label())
    assert to_hex(negative.get_facecolor()) == style.COLOURS["gaussian"].lower()


def test_ratios_have_one_scale_as_published_and_a_legend_of_budgets_and_deltas():
    figure = parity_ratio.draw(ratio_table(), PARITY_TITLES)
    axes = np.reshape(figure.axes, (3, 3))
    assert [panel.get_yscale() for panel in axes[:, 0]] == ["log", "linear", "linear"]
    assert len({panel.get_ylim() for panel in axes[0]}) == 1
    deltas = "δ = 10⁻⁶", "δ = $n^{-1.1}$"
    assert legend(figure) >= {"ε₀ = 1", "ε₀ = 6", *deltas, *(f"theory, {delta}" for delta in deltas)}


def test_ratios_without_a_published_protocol_have_no_row_for_it():
    table = ratio_table()
    figure = parity_ratio.draw(table[table["comparison"] != "published"], PARITY_TITLES)
    assert len(figure.axes) == 6
    assert "published" not in figure.get_suptitle()
    untold = parity_ratio.draw(table.assign(informative=False), PARITY_TITLES).get_suptitle()
    assert untold.replace("\n", " ").endswith(
        "published protocol; at equal (ε, δ) no setting beats the uniform histogram"
    )


def test_a_column_label_names_the_cells():
    histogram = histogram_table()[["cell", "count"]].iloc[:4]
    histogram["label"] = ["north", "south", "$x$", "a name that is much too long to stand there"]
    figure = estimates.draw(runs_of(histogram), "Mine")
    ticks = figure.axes[-1].get_xticklabels()
    assert [tick.get_text() for tick in ticks] == ["north", "south", r"\$x\$", "a name that is much too…"]
    assert figure.axes[-1].get_xlabel() == ""
    many = histogram_table()[["cell", "count"]].assign(label="a district")
    assert {
        tick.get_rotation() for tick in estimates.draw(runs_of(many), "M").axes[-1].get_xticklabels()
    } == {90}


def test_lines_are_named_beside_their_ends_from_above():
    figure = delta_bounds.draw(bound_table())
    *_, last = figure.axes
    names = {text.get_text(): text.get_position()[1] for text in last.texts}
    rows = bound_table().query("setting == setting.max()").iloc[-1]
    ends = {label: rows[name] for name, (label, _) in (delta_bounds.COUNTS | delta_bounds.BOUNDS).items()}
    ranked = sorted(ends, key=lambda label: ends[label])
    heights = [names[label] for label in ranked]
    assert heights == sorted(heights)
    assert min(np.diff(heights)) > 0.02  # of the panel: names do not overlap
    assert figure.axes[0].get_ylabel() == DELTA_AXIS


def test_no_colour_has_two_meanings():
    figure = girgis_rdp.draw(girgis_tables(), -8)
    left, right = ({line.get_color() for line in axes.lines} for axes in figure.axes)
    assert not left & right
    looks = [
        (entry.get_color(), entry.get_linestyle(), entry.get_marker())
        for entry in koskela.draw(koskela_table(), -6).axes[0].get_legend().legend_handles
        if entry.get_label().strip()
    ]
    assert len(set(looks)) == len(looks)
