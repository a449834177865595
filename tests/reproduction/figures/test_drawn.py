"""What is drawn is what the table says: every series of every figure, in its panel and its colour."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from reproduction.figures import (
    audit,
    band,
    blanket_regions,
    checkins,
    delta_bounds,
    estimates,
    frontier,
    gaussian_scale,
    girgis_rdp,
    koskela,
    parity_ratio,
    randomizers,
    study_best,
    study_estimators,
    study_grids,
    study_ratio,
    style,
    too_small,
    tv,
)
from reproduction.figures.grids import on_grid
from tests.reproduction.figures.examples import (
    PARITY_TITLES,
    audit_table,
    band_table,
    blanket_tables,
    bound_table,
    city,
    frontier_table,
    girgis_tables,
    histogram_table,
    koskela_table,
    ratio_table,
    runs_of,
    scale_table,
    study_table,
    study_trials,
    surface_table,
    trial_table,
    tv_rows,
    uneven_city,
)


def audited():
    """Orders of magnitude below 1, downwards: three lines, and the marks of both observers."""
    table = audit_table()
    yield audit.draw(table)
    below = table[table["eps"] < table["eps0"]]
    for panel, (_, rows) in enumerate(below.groupby(audit.SETTING, sort=False)):
        for column, (_, look) in audit.LINES.items():
            yield panel, rows["eps"], -rows[column], look["color"]
        for observes, (_, look) in audit.AUDITS.items():
            seen = rows[(rows["observes"] == observes) & (rows["audited_delta"] > 0)]
            yield panel, seen["eps"], -np.log10(seen["audited_delta"]), look["color"]


def open_band():
    table = band_table()
    yield band.draw(table)
    for panel, (_, cells) in enumerate(table.groupby("k")):
        for colour, (_, rows) in zip(style.CYCLE, cells.groupby("n"), strict=False):
            for bound in ("upper", "lower"):
                yield panel, rows["share"], 10 ** (rows[bound] - rows["tight"]).clip(-4, 4), colour


def blanket():
    regions, tightness = tables = blanket_tables()
    yield blanket_regions.draw(tables)
    for border in ("eps0", "case_border"):
        yield 0, regions["eps0"], regions[border], style.INK
    for border in ("kappa_4", "log_kappa_2"):
        [below] = [colour for end, colour in blanket_regions.REGIONS.values() if end == border]
        yield 0, regions["eps0"], regions[border], below
    curve = tightness[tightness["series"] == "eps"]
    yield 1, curve["eps"], curve["equation_3"], blanket_regions.BLANKET
    surplus = curve[curve["surplus"] > 0]
    yield 1, surplus["eps"], np.log10(surplus["surplus"]), blanket_regions.SURPLUS
    shallow = curve[curve["upper"] > -3]
    for column in ("lower", "upper"):
        yield 1, shallow["eps"], shallow[column], blanket_regions.TRUTH
    for direction in ("forward", "reverse"):
        yield 1, shallow["eps"], shallow[f"count_{direction}"], blanket_regions.COUNT
    growth = tightness[tightness["series"] != "eps"]
    fixed, half = growth[growth["series"] == "n"], growth[growth["series"] == "S_2"]
    for colour, rows in zip(
        blanket_regions.GROWTH, [*(fixed[fixed["eps"] == eps] for eps in (0.3, 0.1)), half], strict=False
    ):
        yield 2, rows["n"], rows["equation_3"].clip(upper=0) - rows["upper"], colour


def bounds():
    table = bound_table()
    yield delta_bounds.draw(table)
    for panel, (_, rows) in enumerate(table.groupby("setting")):
        looks = {
            name: look["color"] for name, (_, look) in (delta_bounds.COUNTS | delta_bounds.BOUNDS).items()
        }
        for column, colour in (looks | dict.fromkeys(delta_bounds.BAND, delta_bounds.TRUTH)).items():
            yield panel, rows["eps"], (-rows[column]).clip(lower=0.004), colour


def printed_and_true():
    table = surface_table(7)
    yield too_small.draw(table, 2.1)
    rows = table[np.isclose(table["eps0"], 13 / 6) & (table["eps"] < 1.3)]
    assert len(rows) == 2
    for column, (_, colour) in too_small.LINES.items():
        yield 0, rows["eps"], rows[column], colour


def scales():
    table = scale_table()
    yield gaussian_scale.draw(table)
    for colour, (_, rows) in zip(style.CYCLE, table.groupby("eps"), strict=False):
        for column in ("exact", "published"):
            yield 0, rows["log10_delta"], rows[column], colour
        yield 1, rows["log10_delta"], rows["published"] / rows["exact"], colour


def renyi():
    divergences, composed = tables = girgis_tables()
    yield girgis_rdp.draw(tables, -8)
    for colour, (_, rows) in zip(girgis_rdp.BUDGETS, divergences.groupby("eps0"), strict=False):
        for column in girgis_rdp.LEFT:
            yield 0, rows["order"], rows[column], colour
    for colour, (_, rows) in zip(girgis_rdp.ROUNDS, composed.groupby("compositions"), strict=False):
        for column in girgis_rdp.RIGHT:
            yield 1, rows["eps"], rows[column], colour


def rounds():
    table = koskela_table()
    yield koskela.draw(table, -6)
    for (name, _), rows in table.groupby(["curve", "compositions"]):
        for column in ("upper", "lower"):
            yield 0, rows["eps"], rows[column], koskela.COLOURS[name]


def all_randomizers():
    table = study_table()
    yield study_ratio.draw(table)
    for panel, (_, here) in enumerate(table.groupby(["eps", "k"])):
        for name, rows in here.groupby("randomizer"):
            for column in ("ratio", "ratio_lower"):
                yield panel, rows["n"], rows[column], randomizers.COLOURS[name]


def dummies():
    table = frontier_table()
    yield frontier.draw(table)
    for panel, (_, rows) in enumerate(table.groupby(["n", "k", "eps"], sort=False)):
        for some in (rows, rows.iloc[:1], rows.iloc[-1:]):
            yield panel, some["messages"], some["ratio"], randomizers.COLOURS["grr"]


def cells_of_a_city():
    table = study_trials()
    yield study_grids.draw(table, "Paris")
    for panel, (_, here) in enumerate(table.groupby("eps")):
        for name, rows in here.groupby("randomizer"):
            colour = randomizers.COLOURS[name]
            for estimator, column in (("inversion", "predicted"), ("projection", "mean")):
                one = rows[rows["estimator"] == estimator]
                yield panel, one["k"], one[column], colour
        yield panel, here["k"], here["uniform"], style.UNIFORM[0]


def estimators():
    table, datasets = study_trials(), ["synthetic", "paris"]
    yield study_estimators.draw(table, {"synthetic": "N(0, 2)", "paris": "Paris"})
    names = [name for name in randomizers.LABELS if name in set(table["randomizer"])]
    below = {"maximum_likelihood": 0.32}
    for (eps, dataset, name, estimator), rows in table.groupby(["eps", "dataset", "randomizer", "estimator"]):
        panel = 2 * [0.1, 1].index(eps) + datasets.index(dataset)
        place = names.index(name) + below.get(estimator, 0)
        yield panel, rows["mean"], rows["mean"] * 0 + place, randomizers.COLOURS[name]


def published_and_predicted_ratios():
    table = ratio_table()
    yield parity_ratio.draw(table, PARITY_TITLES)
    colours = {eps0: to_hex(colour) for eps0, colour in parity_ratio._colours(table).items()}
    for column, dataset in enumerate(PARITY_TITLES):
        here = table[table["dataset"] == dataset]
        for eps0, rows in here.groupby("eps0"):
            published = rows[rows["comparison"] == "published"]
            yield column, range(3), published["ratio"], colours[eps0]
            theory = rows[(rows["comparison"] == "unprojected") & (rows["bound"] == "upper")]
            yield 6 + column, range(3), theory.drop_duplicates("n")["predicted"], colours[eps0]


SERIES = [
    *(audited, open_band, blanket, bounds, printed_and_true, scales, renyi, rounds),
    *(all_randomizers, dummies, cells_of_a_city, estimators, published_and_predicted_ratios),
]


def artists(axes):
    """(colour, its points in data coordinates) of every line, area and set of marks in a panel."""
    for line in axes.lines:
        points = line.get_xydata()
        yield to_hex(line.get_color()), points[np.isfinite(points).all(axis=-1)]
    for area in axes.collections:
        points = np.concatenate([path.vertices for path in area.get_paths()] or [np.empty((0, 2))])
        inks = area.get_facecolor() if len(area.get_facecolor()) else area.get_edgecolor()
        yield to_hex(inks[0]), points


@pytest.mark.parametrize("series", SERIES)
def test_every_series_is_drawn_in_its_panel_and_colour(series):
    figure, *expected = series()
    panels = [list(artists(axes)) for axes in figure.axes]
    for panel, x, y, colour in expected:
        points = np.stack([np.asarray(x, float), np.asarray(y, float)], axis=-1)
        points = points[np.isfinite(points).all(axis=-1)]
        candidates = [drawn for ink, drawn in panels[panel] if not colour or ink == to_hex(colour)]
        distances = [
            np.abs(drawn[None] - points[:, None]).max(axis=-1).min(axis=-1)
            for drawn in candidates
            if len(drawn)
        ]
        assert distances, (panel, colour)
        worst = min(distance.max(initial=0) for distance in distances)
        assert worst <= 1e-9 * max(1, np.abs(points).max(initial=0)), (panel, colour, points)


def test_whole_lines_have_no_empty_list_of_dashes_for_which_typst_draws_nothing():
    svg = style.FORMATS["svg"](delta_bounds.draw(bound_table())).decode()
    assert "stroke-dasharray: 1,1.2" in svg
    assert "stroke-dasharray: ;" not in svg


def test_every_eps0_of_a_design_stands_at_its_point():
    table = frontier_table()
    settings = table.groupby(["n", "k", "eps"], sort=False)
    for axes, (_, rows) in zip(frontier.draw(table).axes[:3], settings, strict=True):
        budgets = {(row["messages"], row["ratio"]): row["eps0"] for row in rows.to_dict("records")}
        written = {text.xy: text.get_text() for text in axes.texts}
        assert written == {
            place: "∞" if budgets[place] == np.inf else f"{budgets[place]:.3g}" for place in written
        }
        assert {written[place] for place in (min(written), max(written))} >= {"∞"}
        assert 3 <= len(written) <= len(rows)


def test_ratios_stand_beside_their_n_and_say_where_they_say_nothing():
    table = ratio_table()
    axes = np.reshape(parity_ratio.draw(table, PARITY_TITLES).axes, (3, 3))
    upper = table[table["bound"] == "upper"]
    for row, comparison in enumerate(("projected", "unprojected"), start=1):
        for column, dataset in enumerate(PARITY_TITLES):
            expected = upper[(upper["comparison"] == comparison) & (upper["dataset"] == dataset)]
            for informative, marker in ((True, "o"), (False, "x")):
                lines = [line for line in axes[row, column].lines if line.get_marker() == marker]
                drawn = np.concatenate([line.get_xydata() for line in lines])
                rows = expected[expected["informative"] == informative]
                wanted = zip(rows["n"].map([10, 200, 3000].index), rows["ratio"], strict=True)
                assert sorted((round(x), y) for x, y in drawn) == sorted(wanted)


def test_the_best_randomizers_colour_and_ratio_are_at_their_n_and_k():
    table = study_table()
    best = table.loc[table.groupby(["n", "k", "eps"])["ratio"].idxmin()]
    for axes, (_, rows) in zip(study_best.draw(table).axes, best.groupby("eps"), strict=True):
        expected = {
            ([1000, 100_000].index(row["n"]), [4, 64].index(row["k"])): row for row in rows.to_dict("records")
        }
        assert {text.get_position(): text.get_text() for text in axes.texts} == {
            place: f"{row['ratio']:.2f}" for place, row in expected.items()
        }
        for patch in axes.patches:
            assert (patch.get_width(), patch.get_height()) == (1, 1)
            row = expected[patch.get_x() + 0.5, patch.get_y() + 0.5]
            assert (
                to_hex(patch.get_facecolor()) == randomizers.COLOURS[row["name"].split(":")[0]].lower()
            )  # m = 1: k-RR
            assert patch.get_alpha() == (
                study_best.FULL if row["tv"] <= study_best.USELESS else study_best.PALE
            )


def test_the_legend_has_every_colour_of_the_best_randomizers_full_and_pale():
    figure = study_best.draw(study_table())
    looks = [
        {patch.get_facecolor() for patch in patches}
        for patches in (figure.axes[0].patches, figure.axes[1].patches)
    ]
    assert {patch.get_facecolor() for patch in figure.legends[0].get_patches()} >= looks[0] | looks[1]


def heatmaps():
    """(panel, histogram, value per cell) of the figures that have maps."""
    cities = [city(), uneven_city()]
    figure = checkins.draw(cities)
    yield from ((figure.axes[2 + i], c.histogram, c.histogram["count"]) for i, c in enumerate(cities))
    runs = runs_of(histogram_table())
    original, *panels = estimates.draw(runs, "Paris").axes
    yield original, runs.histogram, runs.runs[0].table["original"]
    for row, run in enumerate(runs.runs):
        for column, name in enumerate(estimates.MECHANISMS):
            estimate = run.table[name]
            yield panels[4 * row + 2 * column], runs.histogram, estimate
            yield panels[4 * row + 2 * column + 1], runs.histogram, estimate - run.table["original"]


def test_heatmaps_have_every_cells_value_between_its_edges():
    for axes, histogram, values in heatmaps():
        [image] = axes.images
        x, y = (
            [*sorted(set(histogram[low])), histogram[high].max()]
            for low, high in (("west", "east"), ("south", "north"))
        )
        drawn, expected = image.get_array(), on_grid(histogram, values)
        shown = ~np.ma.getmaskarray(drawn)
        assert shown.any()
        assert np.allclose(drawn[shown], expected[shown], rtol=1e-12)
        assert (expected[~shown] <= 0).all()
        if hasattr(image, "_Ax"):  # uneven cells: every edge is its own
            assert np.allclose(image._Ax, x)
            assert np.allclose(image._Ay, y)
        else:
            assert np.allclose(image.get_extent(), [x[0], x[-1], y[0], y[-1]])


def test_steps_have_every_cells_value_around_its_number():
    runs = runs_of(histogram_table()[["cell", "count"]])
    for axes, run in zip(estimates.draw(runs, "own").axes, runs.runs, strict=True):
        for step, name in zip(axes.patches, ["original", *estimates.MECHANISMS], strict=True):
            data = step.get_data()
            assert np.array_equal(data.values, run.table[name])
            assert np.array_equal(data.edges, np.arange(31) + 0.5)


def test_boxes_and_level_lines_are_the_trials():
    table = tv_rows(trial_table())
    for axes, (_, rows) in zip(tv.draw(table, "Paris").axes, table.groupby("eps0"), strict=True):
        drawn = [line.get_ydata() for line in axes.lines]
        for (n, mechanism), values in rows.groupby(["n", "mechanism"])["value"]:
            if mechanism == "shuffle":
                assert any(np.isclose(values.mean(), y).any() for y in drawn if len(y) == 4), n
            else:
                assert any(np.allclose(values.median(), y) for y in drawn if len(y) == 2), (n, mechanism)
        assert any(np.allclose(0.6, y) for y in drawn)
