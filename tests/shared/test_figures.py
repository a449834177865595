"""Every figure, drawn once from small results: it shows its table, its caption says so, nothing is cut."""

import io
from importlib import import_module
from inspect import signature
from types import SimpleNamespace

import matplotlib.image
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from scripts.attack import draw_audit as audit
from scripts.privacy import draw_delta_bounds as delta_bounds
from scripts.privacy import draw_girgis as girgis_rdp
from scripts.shared import style, wording
from scripts.shared.wording import typeset
from scripts.trials import draw_estimates as estimates
from tests.shared.results import FORMULA, rows, write

ROWS = rows()
SAME = "parity_san", "parity_estimates_san", "estimates_san", "tv_san", "parity_paris", "tv_paris"
NAMES = [name for name in ROWS if not any(part in name for part in SAME)]


def lines(x, *ys):
    return lambda table: [(table[x], table[y]) for y in ys]


def audited(table):
    below = audit.drawn(table)
    below = below[below["eps"] < below["eps0"]]
    seen = below[below["audited_delta"] > 0]
    return [
        *((below["eps"], -below[column]) for column in audit.LINES),
        (seen["eps"], -np.log10(seen["audited_delta"])),
    ]


def blanket(tables):
    regions, tightness = tables
    curve, growth = (tightness[tightness["series"] == series] for series in ("eps", "n"))
    shallow = curve[curve["upper"] > -3]  # deep bounds leave the panel
    return [
        *lines("eps0", "eps0", "case_border", "kappa_4", "log_kappa_2")(regions),
        *lines("eps", "lower", "upper", "count_forward", "count_reverse")(shallow),
        (curve["eps"], curve["equation_3"]),
        (growth["n"], growth["equation_3"].clip(upper=0) - growth["upper"]),
    ]


def bounds(table):
    orders = -table[["published", "exact", "lower", "upper", *delta_bounds.BOUNDS]].clip(upper=-0.004)
    return [(table["eps"], orders[name]) for name in orders]  # what is nearly 1 is above the panel


def scales(table):
    ratio = table.assign(ratio=table["published"] / table["exact"])
    return lines("log10_delta", "exact", "published", "ratio")(ratio)


def renyi(tables):
    return [*lines("order", *girgis_rdp.LEFT)(tables[0]), *lines("eps", *girgis_rdp.RIGHT)(tables[1])]


def theory(table):
    rows = table[(table["metric"] == "tv") & (table["bound"] == "upper")]
    return rows[rows["comparison"] == "unprojected"].astype({"informative": bool})


def ratios(table):
    """The published ratios and the closed form at each n; points stand beside it."""
    place = {100: 0, 300: 1, 3000: 2}
    published, closed = table[table["comparison"] == "published"], theory(table)
    return [
        (published["n"].map(place), published["ratio"]),
        (closed["n"].map(place), closed["predicted"]),
        (None, closed["ratio"]),
    ]


def boxes(table):
    """The medians of the boxes, and the levels at every n."""
    series = table.groupby(["eps0", "mechanism", "n"])["value"].agg(["mean", "median"]).reset_index()
    level, place = (
        series[series["mechanism"] == "shuffle"],
        {n: i for i, n in enumerate(sorted(set(table["n"])))},
    )
    uniform = table.groupby(["eps0", "n"])["uniform"].mean().reset_index()
    return [
        (level["n"].map(place), level["mean"]),
        (uniform["n"].map(place), uniform["uniform"]),
        (None, series.loc[series["mechanism"] != "shuffle", "median"]),
    ]


def cells_of_a_city(table):
    plain, projected = (table[table["estimator"] == name] for name in ("inversion", "projection"))
    return [
        (plain["k"], plain["predicted"]),
        (projected["k"], projected["mean"]),
        (table["k"], table["uniform"]),
    ]


def maps(data):
    """Every cell's place in its image and its value, where it is neither empty nor negative."""
    values = [city.histogram["count"] for city in data] if isinstance(data, list) else []
    for run in getattr(data, "runs", []):
        for name in estimates.MECHANISMS:
            values += [run.table[name], run.table[name] - run.table["original"]]
    return [(np.flatnonzero(one > 0), one[one > 0]) for one in values]


def of_runs(runs):
    table = runs.runs[0].table
    errors = [(table[name] - table["original"]).abs().sum() / 2 for name in estimates.MECHANISMS]
    return ["k = 30", "n = 3,000", "Gaussian {:#.2g}, shuffle+INV {:#.2g}.".format(*errors)]


def of_trials(table):
    eps = table["eps"][table["eps0"] == 6]
    eps = wording.two_digits(eps) if eps.nunique() > 1 else "6"
    return ["k = 30", "10 repetitions", f"ε = {eps}, δ = {typeset(table['delta'].min())}", "3,000"]


def span(values, form=".2g"):
    return f"{values.min():{form}} to {values.max():{form}}"


SHOWN = {  # module -> (x and y of the series that it must show; what its caption says of this table)
    "audit": (
        audited,
        lambda table: [
            *("n = 60, k = 5, ε₀ = 2, n_x₀ = 40; 20,000 runs", "99.9 % confidence", "exceeded by none"),
            f"In all 3 settings, {table['violated'].sum()} of 24 bounds exceed the published δ",
        ],
    ),
    "blanket_regions": (
        blanket,
        lambda tables: ["n = 100", "k = 10", "n_x₀ = 10", "ε₀ = 0.5", "exists at 0 of the 150 ε₀"],
    ),
    "checkins": (
        maps,
        lambda cities: [
            *("Uniform grid", "6 × 5 cells", "latitude 48.8286 to 48.8798", "of Paris are placed at random"),
            f"from 1 to {cities[0].histogram['count'].max():,}",
        ],
    ),
    "delta_bounds": (
        bounds,
        lambda table: [
            "(a) n = 100, k = 10, ε₀ = 0.5, n_x₀ = 80",
            f"(b) {span((table['lower'] - table['published'])[table['setting'] == 2], ',.0f')}",
        ],
    ),
    "delta_surface": (
        lambda table: [],  # triangles
        lambda table: [
            *("n = 100, k = 10, n_x₀ = 80", "0.1 to 3 in 8 steps", "these 36 of 64 points"),
            f"up to {(table['exact'] - table['published']).max():.0f} orders",
        ],
    ),
    "estimates": (maps, of_runs),
    "gaussian_scale": (
        scales,
        lambda table: [
            f"ε = {eps} it stops at {part['published'].iloc[-1]:.4g}" for eps, part in table.groupby("eps")
        ],
    ),
    "girgis_rdp": (
        renyi,
        lambda tables: [
            *("n = 10,000, k = 10", "ε₀ = 0.5, 2 and 4", "1, 10 and 100 rounds for ε₀ = 2,"),
            f"{span(tables.divergences['girgis'] / tables.divergences['clones'])} times",
        ],
    ),
    "koskela": (
        lines("eps", "upper"),
        lambda table: [f"n = {table['n'].iloc[0]:,}", f"ε₀ = {table['eps0'].iloc[0]:.4g}"],
    ),
    "parity_estimates": (maps, of_runs),
    "parity_ratio": (
        ratios,
        lambda table: [
            *("10 repetitions", "ε₀ = 1, 6", "δ = 10⁻⁶ and n^−1.1"),
            f"In {(~theory(table)['informative']).sum()} of the {len(theory(table))} settings (crosses",
        ],
    ),
    "parity_tv": (boxes, of_trials),
    "study_best": (
        lambda table: [],  # a table of words
        lambda table: ["δ = 10⁻⁶", "of the 8 settings"],
    ),
    "study_ratio": (lines("n", "ratio", "ratio_lower"), lambda table: ["δ = 10⁻⁶", "of the 8 settings"]),
    "too_small": (
        lines("eps", "published", "exact", "upper"),
        lambda table: ["n = 100, k = 10", f"{typeset(10 ** table['exact'].iloc[0])}. The δ of all counts"],
    ),
    "tv": (boxes, of_trials),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    write(folder)
    return folder


@pytest.fixture(scope="module", params=NAMES)
def figure(request, results):
    row = ROWS[request.param]
    module = import_module(f"reproduction.figures.{row.module}")

    def file(name):
        return (
            [file(one) for one in name] if isinstance(name, list) else name.replace("<results>", str(results))
        )

    given = {name: file(files) for name, files in row.inputs.items()} | dict(row.settings)
    asked = [list(signature(function).parameters) for function in (module.read, module.draw, module.caption)]
    assert set(given) == {*asked[0], *asked[1][1:], *asked[2][1:]}  # the catalogue gives this and no more
    table = module.read(**{name: given[name] for name in asked[0]})
    drawing = module.draw(table, **{name: given[name] for name in asked[1][1:]})
    caption = module.caption(table, **{name: given[name] for name in asked[2][1:]})
    return SimpleNamespace(
        row=row, table=table, drawing=drawing, png=style.encoded(drawing, "png"), caption=caption
    )


def points_of(axes):
    """The points of every line, area, set of marks and image of a panel, in data coordinates."""
    points = [np.empty((0, 2)), *(line.get_xydata() for line in axes.lines)]
    for area in axes.collections:
        points += [path.vertices for path in area.get_paths()]
    for image in axes.images:
        if (values := image.get_array()).ndim == 2:
            points.append(
                np.stack([np.arange(values.size), values.astype(float).filled(np.nan).ravel()], axis=-1)
            )
    return np.concatenate(points)


def test_what_is_shown_are_the_tables_values(figure):
    if "estimates_mine" in figure.row.name:
        pytest.skip("steps instead of maps")
    drawn = np.concatenate([points_of(axes) for axes in figure.drawing.axes])
    for wanted in SHOWN[figure.row.module][0](figure.table):
        columns = [i for i, values in enumerate(wanted) if values is not None]
        points = np.stack([np.asarray(wanted[i], float) for i in columns], axis=-1)
        points = points[np.isfinite(points).all(axis=-1)]
        apart = [np.nanmin(np.abs(drawn[:, columns] - point).max(axis=-1)) for point in points]
        assert max(apart, default=0) <= 1e-9 * max(1, np.abs(points).max(initial=0))


def test_the_caption_states_the_numbers_of_the_table(figure):
    _, says = SHOWN[figure.row.module]
    phrases = says(figure.table) if "mine" not in figure.row.name else [FORMULA, "k = 30"]
    assert [phrase for phrase in phrases if phrase not in figure.caption] == [], figure.caption


def texts(drawing):
    """Texts that are seen, with their boxes in pixels."""
    renderer = FigureCanvasAgg(drawing).get_renderer()
    shown = [text for text in drawing.findobj(Text) if text.get_visible() and text.get_text().strip()]
    for axes in drawing.axes:  # tick labels outside of an axis' limits are not drawn
        for axis in (axes.xaxis, axes.yaxis):
            drawn = {tick.label1 for tick in axis._update_ticks()}
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            hidden = {label for tick in ticks for label in (tick.label1, tick.label2)} - drawn
            shown = [text for text in shown if text not in hidden]
    return [(text, text.get_window_extent(renderer)) for text in shown]


def test_nothing_is_cut_off_too_small_or_over_other_text(figure):
    image = matplotlib.image.imread(io.BytesIO(figure.png))[..., :3]
    assert all((side == 1).all() for side in (image[0], image[-1], image[:, 0], image[:, -1]))
    seen, page = texts(figure.drawing), figure.drawing.bbox
    assert len(seen) > 8
    assert min(text.get_fontsize() for text, _ in seen) >= 7
    if hasattr(figure.drawing.axes[0], "zaxis"):
        return  # 3-D axes place their labels while they are drawn
    clashes = [
        (a.get_text(), b.get_text()) for i, (a, x) in enumerate(seen) for b, y in seen[:i] if x.overlaps(y)
    ]
    assert clashes == []
    assert [
        text for text, box in seen if box.x0 < 0 or box.y0 < 0 or box.x1 > page.width or box.y1 > page.height
    ] == []
