"""What the drawing scripts read, draw and say: every parameter in the captions, errors that name the file."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from tests.figures.examples import (
    PROTOCOL,
    city,
    draw_checkins,
    draw_delta_surface,
    draw_estimates,
    draw_tv,
    estimate_table,
    histogram_table,
    runs_of,
    surface_table,
    trial_table,
    tv_rows,
)
from tightshuffle.figures import shared as _figure
from tightshuffle.figures import style as plotting

READING = _figure.reading_words(PROTOCOL)

# Delta surface --------------------------------------------------------------------------------


def test_surface_caption_says_every_parameter_and_what_is_left_out():
    text = draw_delta_surface.caption(surface_table())
    for words in ("n = 120", "k = 11", "n_x₀ = 81", "0.5 to 3 in 6 steps", "published", "exact"):
        assert words in text
    assert "these 21 of 36 points are left out." in text
    assert "by up to 17 orders" in text  # 20 * 2.5 / 3 = 16.7 at eps = 2.5, eps0 = 3
    table = surface_table()
    table.loc[(table["eps"] == 0.5) & (table["eps0"] == 3.0), "published"] = -np.inf
    assert "left out, and 1 more in published." in draw_delta_surface.caption(table)


def test_surface_panels_have_one_scale():
    figure = draw_delta_surface.draw(surface_table())
    left, right = figure.axes[:2]
    assert left.get_zlim() == right.get_zlim()
    assert left.collections[0].get_clim() == right.collections[0].get_clim()
    assert [axes.get_title() for axes in (left, right)] == ["(a) published", "(b) exact"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: pd.concat([t, t.iloc[:1]]), "stands there twice"),
        (lambda t: t.iloc[1:], "is missing"),
        (lambda t: t.assign(published=-np.inf, exact=-np.inf), "delta is 0 everywhere"),
    ],
)
def test_surface_names_what_is_wrong(change, message):
    with pytest.raises(ValueError, match=message):
        draw_delta_surface.draw(change(surface_table()))


# TV distance ----------------------------------------------------------------------------------


def test_tv_has_a_row_per_budget_and_plain_shuffle_only_in_the_first_column():
    figure = draw_tv.draw(tv_rows(trial_table()), "Paris")
    assert len(figure.axes) == 4
    assert [len(axes.patches) for axes in figure.axes] == [6, 4, 6, 4]
    assert all(axes.get_yscale() == "log" for axes in figure.axes)
    assert figure.axes[0].get_ylim() == figure.axes[2].get_ylim()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "shuffle",
        "shuffle+INV",
        "Gaussian",
    ]


def test_tv_with_distances_of_zero_is_drawn_on_a_linear_scale():
    trials = tv_rows(trial_table()).copy()
    trials.loc[trials["mechanism"] == "gaussian", "value"] = 0.0
    figure = draw_tv.draw(trials, "Paris")
    assert figure.axes[1].get_yscale() == "linear"
    plotting.png(figure)


def test_tv_caption_says_every_parameter_and_the_reading():
    text = draw_tv.caption(tv_rows(trial_table()), "San Francisco", READING)
    for words in (
        "San Francisco",
        "k = 15 cells",
        "10 repetitions",
        "n = 1,000 and 20,000",
        "ε₀ = ε = 4, δ = 10⁻³⁰; ε₀ = ε = 6, δ = 10⁻³⁰",
        "Reading: published.",
        "sensitivity 1,",
        "at least 10⁻³⁰",
    ):
        assert words in text
    text = draw_tv.caption(
        tv_rows(trial_table([(6, 4.5)], repetitions=1, delta=2e-9)),
        "x",
        _figure.reading_words({"delta_form": "exact", "delta_floor": 1e-25, "sensitivity": 1.5}),
    )
    for words in (
        "ε₀ = 6, ε = 4.5, δ = 2×10⁻⁹",
        "1 repetition ",
        "δ̂ in its exact form",
        "10⁻²⁵",
        "sensitivity 1.5",
    ):
        assert words in text


def test_trials_are_read_and_errors_name_the_file(tmp_path):
    path = tmp_path / "paris_eps0-4_eps-4.parquet"
    table = trial_table()
    shared = pd.concat([table.assign(experiment=name) for name in ("tv", "individual")])
    shared.to_parquet(path)
    trials = draw_tv.read_trials([path])
    assert set(trials["metric"]) == set(trials["experiment"]) == {"tv"}
    assert len(trials) == 120
    for column in ("delta", "experiment"):
        shared.drop(columns=column).to_parquet(path)
        with pytest.raises(ValueError, match=rf"paris_eps0-4.*no column '{column}'"):
            draw_tv.read_trials([path])
    for rest in (shared.query("metric != 'tv'"), shared.query("experiment != 'tv'")):
        rest.to_parquet(path)
        with pytest.raises(ValueError, match=r"paris_eps0-4.*no rows with experiment 'tv', metric 'tv'"):
            draw_tv.read_trials([path])
    with pytest.raises(ValueError, match="no trials to draw"):
        draw_tv.read_trials([])


def test_an_unknown_mechanism_is_named():
    with pytest.raises(ValueError, match="'laplace'"):
        draw_tv.draw(tv_rows(trial_table()).replace("gaussian", "laplace"), "Paris")


# Check-ins ------------------------------------------------------------------------------------


def test_the_map_says_when_points_are_spread():
    places = [city("San Francisco", spread=True), city("Paris", spread=False)]
    figure = draw_checkins.draw(places)
    assert "spread inside their cells" in figure.axes[0].get_title()
    assert "spread" not in figure.axes[1].get_title()
    text = draw_checkins.caption(places, "stepped")
    assert "The points of San Francisco are spread at random" in text
    assert "spread" not in draw_checkins.caption(places[1:], "stepped")
    counts = places[1]["histogram"]["count"]
    for words in (
        "stepped grid",
        "6 × 5 cells",
        f"{counts.sum():,} check-ins",
        f"{(counts > 0).sum()} of them not empty",
        "latitude 48.8 to 48.85",
        f"from 1 to {counts.max():,}",
    ):
        assert words in text


def test_all_cities_have_one_colour_scale_and_their_true_proportion():
    figure = draw_checkins.draw([city(seed=2), city(seed=3)])
    maps = figure.axes[2:4]
    assert maps[0].images[0].norm is maps[1].images[0].norm
    assert figure.axes[0].get_aspect() == pytest.approx(1 / np.cos(np.radians(48.825)))


def test_cities_are_read_and_errors_name_the_file(tmp_path):
    box = {"south": 48.8, "north": 48.85, "west": 2.2, "east": 2.26}
    histogram, points = tmp_path / "paris.csv", tmp_path / "paris.parquet"
    city()["histogram"].to_csv(histogram, index=False)
    city()["points"].to_parquet(points)
    [read] = draw_checkins.read_cities(["Paris"], [box], [histogram], [points])
    assert read["box"] == (2.2, 2.26, 48.8, 48.85)
    city()["histogram"].drop(columns="row").to_csv(histogram, index=False)
    with pytest.raises(ValueError, match=r"paris\.csv: no column 'row'"):
        draw_checkins.read_cities(["Paris"], [box], [histogram], [points])
    city()["points"].iloc[:0].to_parquet(points)
    city()["histogram"].to_csv(histogram, index=False)
    with pytest.raises(ValueError, match=r"paris\.parquet: no rows"):
        draw_checkins.read_cities(["Paris"], [box], [histogram], [points])
    with pytest.raises(ValueError, match="no city to draw"):
        draw_checkins.read_cities([], [], [], [])


# Estimates ------------------------------------------------------------------------------------


def test_estimates_are_heatmaps_on_one_scale_with_their_distance():
    histogram = histogram_table()
    runs = runs_of(histogram)
    figure = draw_estimates.draw(histogram, runs, "Paris")
    panels = figure.axes[:6]
    table = runs[0]["table"]
    distance = (table["gaussian"] - table["original"]).abs().sum() / 2
    assert panels[0].get_title() == "original"
    assert panels[1].get_title() == f"Gaussian, TV = {distance:.2g}"
    assert len({id(axes.images[0].norm) for axes in panels}) == 1
    marks = panels[1].collections[0].get_offsets()
    assert len(marks) == (table["gaussian"] < 0).sum() > 0


def test_estimates_caption_says_every_parameter_and_how_negative_values_are_drawn():
    histogram = histogram_table()
    runs = runs_of(histogram)
    below = (runs[0]["table"]["gaussian"] < 0).sum()
    text = draw_estimates.caption(histogram, runs, "Paris", READING)
    for words in (
        f"n = {histogram['count'].sum():,}",
        "k = 30 cells",
        "ε₀ = ε = 2, δ = 10⁻³⁰",
        "ε₀ = ε = 6, δ = 10⁻³⁰",
        f"{below} and {below} of the 30 values are negative",
        "grey with a minus sign",
        "Reading: published.",
    ):
        assert words in text
    plain = draw_estimates.caption(histogram[["cell", "count"]], runs, "own", READING)
    assert "Grey area: original" in plain
    assert "minus sign" not in plain
    fine = histogram_table(rows=2, columns=plotting.SIGNS_FIT + 1)
    text = draw_estimates.caption(fine, runs_of(fine), "fine", READING)
    assert "negative ones orange. Where cells are smaller than a pixel, several share one." in text
    assert "minus sign" not in text


def test_a_fine_grid_is_an_image_per_panel_in_a_small_pdf():
    fine = histogram_table(rows=300, columns=300)
    figure = draw_estimates.draw(fine, runs_of(fine)[:1], "fine")
    pdf = plotting.pdf(figure)
    assert pdf.count(b"/Subtype /Image") == 3 + 1  # and the colour bar
    assert len(pdf) < 2_000_000  # a path per cell takes 6 MB
    [negative] = (entry for entry in figure.legends[0].legend_handles if "negative" in entry.get_label())
    assert to_hex(negative.get_facecolor()) == plotting.COLOURS["gaussian"].lower()


def test_estimates_are_read_per_budget(tmp_path):
    histogram, path = tmp_path / "own.csv", tmp_path / "estimates.csv"
    histogram_table().to_csv(histogram, index=False)
    parts = [
        estimate_table(histogram_table(), seed).assign(eps0=eps0, eps=eps, n=n, delta=delta)
        for seed, (eps0, eps, n, delta) in enumerate(
            [(10, 1e1, 900, 1e-30), (6, 4, 500, 3e-9), (2, 2, 900, 1e-30)]
        )
    ]
    pd.concat(parts).to_csv(path, index=False)
    cells, runs = draw_estimates.read_runs(histogram, path)
    assert cells.equals(pd.read_csv(histogram))
    found = [(run["eps0"], run["eps"], run["n"], run["delta"]) for run in runs]
    assert found == [(2, 2, 900, 1e-30), (6, 4, 500, 3e-9), (10, 10, 900, 1e-30)]
    for run, part in zip(runs, reversed(parts), strict=True):
        np.testing.assert_allclose(run["table"]["gaussian"], part["gaussian"], rtol=1e-12)


def test_estimates_name_the_file_that_does_not_fit(tmp_path):
    histogram, path = tmp_path / "own.csv", tmp_path / "estimates.csv"
    histogram_table().to_csv(histogram, index=False)
    table = estimate_table(histogram_table()).assign(eps0=4, eps=4, n=900, delta=1e-30)
    table.iloc[:-1].to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"estimates\.csv: its cells are not those of .*own\.csv"):
        draw_estimates.read_runs(histogram, path)
    for column in ("eps0", "delta"):
        table.drop(columns=column).to_csv(path, index=False)
        with pytest.raises(ValueError, match=rf"estimates\.csv: no column '{column}'"):
            draw_estimates.read_runs(histogram, path)
    table.iloc[:0].to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"estimates\.csv: no rows"):
        draw_estimates.read_runs(histogram, path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h.assign(row=h["row"] + 0.5), "row must hold whole numbers"),
        (lambda h: h.assign(column=0), "two cells have the same row and column"),
        (lambda h: h[h["row"] != 1], "row must run from 0 without a gap"),
        (lambda h: h.assign(south=-h["south"], north=-h["north"]), "south must rise with row"),
    ],
)
def test_a_grid_that_is_none_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        _figure.grid_edges(change(histogram_table()))


# Files ----------------------------------------------------------------------------------------


def test_a_figure_is_three_whole_files(tmp_path):
    names = {kind: str(tmp_path / f"fig.{kind}") for kind in ("png", "pdf", "txt")}
    figure = draw_tv.draw(tv_rows(trial_table()), "Paris")
    _figure.write_figure(figure, "δ = 10⁻³⁰.", SimpleNamespace(**names))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fig.pdf", "fig.png", "fig.txt"]
    assert Path(names["txt"]).read_text(encoding="utf-8") == "δ = 10⁻³⁰.\n"
    assert Path(names["png"]).read_bytes() == plotting.png(figure)
