"""Small tables as the pipeline makes them, and the figures that the scripts draw from them."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from scripts import (
    draw_audit,
    draw_blanket_regions,
    draw_checkins,
    draw_delta_bounds,
    draw_delta_surface,
    draw_estimates,
    draw_gaussian_scale,
    draw_girgis_rdp,
    draw_koskela,
    draw_parity_ratio,
    draw_parity_tv,
    draw_tv,
)
from tightshuffle.experiments.audit import assess
from tightshuffle.experiments.curves import blanket_regions, delta_bounds, gaussian_scale, girgis_rdp, koskela
from tightshuffle.experiments.game import play
from tightshuffle.figures import parity_words as _parity

LONG = "Wage earners of the municipality of Oberammergau, 1999-2024"  # the schema allows 60 characters
PROTOCOL = {"delta_form": "published", "delta_floor": 1e-30, "sensitivity": 1}


def surface_table(steps=6, stop=3.0):
    values = np.linspace(0.5, stop, steps)
    eps, eps0 = (grid.ravel() for grid in np.meshgrid(values, values))
    exact = np.where(eps < eps0, -20 * eps / eps0, -np.inf)
    return pd.DataFrame(
        {"eps": eps, "eps0": eps0, "n": 120, "k": 11, "count": 81, "published": 2 * exact, "exact": exact}
    )


def trial_table(budgets=((4, 4), (6, 6)), sizes=(1000, 20000), repetitions=10, delta=1e-30):
    rng = np.random.default_rng(11)
    levels = {"shuffle": 0.4, "shuffle+INV": 0.05, "gaussian": 0.002}
    return pd.DataFrame(
        [
            (eps0, eps, delta, n, 15, mechanism, repetition, metric, level * rng.uniform(0.9, 1.1))
            for eps0, eps in budgets
            for n in sizes
            for mechanism, level in levels.items()
            for repetition in range(repetitions)
            for metric in ("tv", "individual_error")
        ],
        columns=draw_tv.COLUMNS,
    )


def histogram_table(rows=5, columns=6, seed=2):
    index = np.arange(rows * columns)
    row, column = np.divmod(index, columns)
    counts = np.random.default_rng(seed).poisson(3, rows * columns) ** 3
    south, west = 48.8 + 0.01 * row, 2.2 + 0.01 * column
    return pd.DataFrame(
        {
            "cell": index + 1,
            "count": counts,
            "row": row,
            "column": column,
            "south": south,
            "north": south + 0.01,
        }
        | {"west": west, "east": west + 0.01}
    )


def flat_table():
    """A grid twice as wide as high."""
    return histogram_table(rows=4, columns=12)


def estimate_table(histogram, seed=4):
    original = histogram["count"] / histogram["count"].sum()
    noise = np.random.default_rng(seed).normal(0, 0.01, len(original))
    inverted = np.clip(original + 2 * noise, 0, None)
    return pd.DataFrame(
        {"cell": histogram["cell"], "original": original, "gaussian": original + noise}
        | {"shuffle+INV": inverted / inverted.sum()}
    )


def runs_of(histogram, budgets=((2, 2), (6, 6)), delta=1e-30):
    n = int(histogram["count"].sum())
    return [
        {"eps0": eps0, "eps": eps, "n": n, "delta": delta, "table": estimate_table(histogram)}
        for eps0, eps in budgets
    ]


def city(title="Paris", spread=True, seed=2):
    histogram = histogram_table(seed=seed)
    rng = np.random.default_rng(6)
    points = pd.DataFrame(
        {"latitude": 48.8 + 0.05 * rng.random(400), "longitude": 2.2 + 0.06 * rng.random(400)}
    )
    return {
        "title": title,
        "box": (2.2, 2.26, 48.8, 48.85),
        "histogram": histogram,
        "points": points.assign(spread=spread),
    }


def koskela_table(pairs=("strong", "weak"), compositions=(1, 3), lowest=-6):
    plan = {
        "compositions": list(compositions),
        "eps": {"start": 0.05, "stop": 1.5, "steps": 22},
        "lowest": lowest,
    }
    setting = {"n": 400, "k": 4, "eps0": 2.0}
    parts = [koskela.composed_curves(plan, setting, pairs)]
    if "strong" in pairs:
        for name in ("balle_analytic", "balle_bennett"):
            bound = getattr(koskela, name)
            parts.append(koskela.one_round(plan, setting, name, bound))
    return pd.concat(parts, ignore_index=True)


def blanket_plan(n=40, eps0=0.7, growth=(0.1, 0.3)):
    return {
        "n": n,
        "k": 4,
        "share": 0.25,
        "eps0": {"start": 0.1, "stop": 2.0, "steps": 12},
        "curve": {"eps0": eps0, "eps": {"start": 0.01, "stop": 3.0, "steps": 15}},
        "growth": {"eps": list(growth), "n": [5, 20, 80]},
    }


def blanket_tables(**changes):
    plan = blanket_plan(**changes)
    return blanket_regions.blanket_regions(plan), blanket_regions.blanket_tightness(plan)


def scale_table(eps=(1, 5), stop=-60):
    return gaussian_scale.gaussian_scales(
        {"eps": list(eps), "log10_delta": {"start": -2, "stop": stop, "steps": 30}}
    )


BOUND_SETTINGS = (
    {"n": 60, "k": 5, "eps0": 0.5, "count": 40, "eps": {"start": 0.02, "stop": 0.45}},
    {"n": 5000, "k": 30, "eps0": 3, "count": 10, "eps": {"start": 0.01, "stop": 0.2}},
    {"n": 300, "k": 2, "eps0": 1, "count": 0, "eps": {"start": 0.01, "stop": 0.9}},
)


def bound_table(settings=BOUND_SETTINGS, steps=4):
    return delta_bounds.delta_bounds({"steps": steps, "settings": settings})


def girgis_plan(eps0=(0.5, 3), compositions=(1, 20), deepest=-8, eps=(0.05, 10)):
    return {
        "n": 300,
        "k": 5,
        "eps0": list(eps0),
        "orders": {"start": 1.5, "stop": 60, "steps": 6},
        "composed": {
            "eps0": 1,
            "compositions": list(compositions),
            "eps": {"start": eps[0], "stop": eps[1], "steps": 9},
            "deepest": deepest,
        },
    }


def girgis_tables(**changes):
    plan = girgis_plan(**changes)
    return girgis_rdp.renyi_divergences(plan), girgis_rdp.renyi_composed(plan)


AUDIT_SETTINGS = (
    {"n": 60, "k": 5, "eps0": 2.0, "count": 40},
    {"n": 20, "k": 10, "eps0": 1.0, "count": 3},
    {"n": 5, "k": 2, "eps0": 0.5, "count": 0},
)


def audit_table(settings=AUDIT_SETTINGS, eps=(0.1, 0.3, 1.0, 1.5), runs=20_000):
    tallies = [play(**setting, runs=runs) for setting in settings]
    return pd.DataFrame(assess(tallies, list(eps), confidence=0.999))


def tv_rows(trials):
    return trials[trials["metric"] == "tv"]


PARITY_TITLES = {"a": "N(0, 2)", "b": "San Francisco", "c": "Paris"}
PARITY_NAMES = {name: pair for pair, name in _parity.ESTIMATES.items()}


def parity_trials(sizes=(1000, 20000), eps0=(1, 2, 4, 6)):
    """Rows as run_parity writes them: the trial table's, with eps falling with n."""
    rows = trial_table([(budget, 1) for budget in eps0], sizes, delta=1e-6)
    pairs = [PARITY_NAMES[name] for name in rows["mechanism"]]
    rows = rows.assign(
        mechanism=[pair[0] for pair in pairs], estimator=[pair[1] for pair in pairs], delta_rule="1e-06"
    )
    rows["eps"] = rows["eps0"] / np.sqrt(rows["n"])
    return pd.concat([rows.assign(bound="upper"), rows.assign(bound="lower", value=7.0)], ignore_index=True)


def parity_rows(folder, **changes):
    path = Path(folder) / "own.parquet"
    parity_trials(**changes).to_parquet(path)
    return draw_parity_tv.read_rows(path, 1e-6)


def parity_tv():
    with tempfile.TemporaryDirectory() as folder:
        rows, budgets = parity_rows(folder)
    return draw_tv.draw(rows, "Paris", budgets=budgets, reading=_parity.READING)


def ratio_table(datasets=("a", "b", "c"), sizes=(10, 200, 3000), eps0=(1, 6), rules=("1e-06", "n^-1.1")):
    rng, rows = np.random.default_rng(3), []
    for dataset in datasets:
        for n in sizes:
            for budget in eps0:
                setting = {"dataset": dataset, "n": n, "k": 15, "eps0": budget, "metric": "tv"}
                for bound in ("upper", "lower"):
                    for rule in rules:
                        for comparison in ("projected", "unprojected", "maximum likelihood"):
                            ratio = 1 + budget / 20 + rng.normal(0, 0.02) * (bound == "upper")
                            here = {
                                "delta_rule": rule,
                                "bound": bound,
                                "eps": 0.1,
                                "predicted": 1 + budget / 20,
                            }
                            here |= {"comparison": comparison, "ratio": ratio, "repetitions": 200}
                            rows.append(setting | here | {"low": ratio - 0.05, "high": ratio + 0.05})
                ratio = 1 + np.sqrt(n) / budget
                here = {"comparison": "published", "eps": budget, "ratio": ratio, "repetitions": 10}
                rows.append(setting | here | {"low": ratio * 0.95, "high": ratio * 1.05})
    return pd.DataFrame(rows).reindex(columns=draw_parity_ratio.COLUMNS)


FIGURES = {
    "parity_tv": parity_tv,
    "parity_estimates": lambda: draw_estimates.draw(
        histogram_table(),
        runs_of(histogram_table(), [(2, 0.0312345), (6, 1.0412345)], 1e-6),
        "Paris",
        reading=_parity.READING,
    ),
    "parity_ratio": lambda: draw_parity_ratio.draw(ratio_table(), PARITY_TITLES),
    "parity_ratio, as large as the config's": lambda: draw_parity_ratio.draw(
        ratio_table(sizes=range(10000, 100001, 10000), eps0=(1, 2, 4, 6)), PARITY_TITLES
    ),
    "parity_ratio, one point": lambda: draw_parity_ratio.draw(
        ratio_table(["a"], [500], [2], ["1e-06"]), {"a": LONG}
    ),
    "koskela": lambda: draw_koskela.draw(koskela_table(), -6),
    "koskela, clones": lambda: draw_koskela.draw(
        koskela_table(("clones", "stronger-clones"), (1, 2, 4, 8, 16, 1000)), -12
    ),
    "delta_surface": lambda: draw_delta_surface.draw(surface_table()),
    "delta_surface, three points": lambda: draw_delta_surface.draw(surface_table(steps=3)),
    "tv": lambda: draw_tv.draw(tv_rows(trial_table(sizes=range(10000, 100001, 10000))), "San Francisco"),
    "tv, one point": lambda: draw_tv.draw(tv_rows(trial_table([(4, 4)], [500], 1)), "a"),
    "tv, many deltas": lambda: draw_tv.draw(
        tv_rows(trial_table([(6, 4), (6, 5)], delta=np.nan)).assign(delta=np.geomspace(1e-30, 3e-22, 120)),
        "b",
    ),
    "checkins": lambda: draw_checkins.draw([city("San Francisco"), city("Paris")]),
    "checkins, one city": lambda: draw_checkins.draw([city()]),
    "checkins, four cities": lambda: draw_checkins.draw([city(), city(), city(), city()]),
    "estimates": lambda: draw_estimates.draw(histogram_table(), runs_of(histogram_table()), "Paris"),
    "checkins, long titles": lambda: draw_checkins.draw([city(LONG), city(LONG)]),
    "tv, long title": lambda: draw_tv.draw(tv_rows(trial_table()), LONG),
    "estimates, long title": lambda: draw_estimates.draw(histogram_table(), runs_of(histogram_table()), LONG),
    "estimates, long budgets": lambda: draw_estimates.draw(
        flat_table(), runs_of(flat_table(), [(2.25, 0.125), (6.5, 4.25)], 3.2e-22), "Paris"
    ),
    "estimates, one budget": lambda: draw_estimates.draw(
        histogram_table(), runs_of(histogram_table(), [(4, 4)]), "Paris"
    ),
    "estimates, no degrees": lambda: draw_estimates.draw(
        histogram_table()[["cell", "count", "row", "column"]], runs_of(histogram_table()), "grid"
    ),
    "blanket_regions": lambda: draw_blanket_regions.draw(*blanket_tables()),
    "blanket_regions, one user": lambda: draw_blanket_regions.draw(
        *blanket_tables(n=1, growth=(0.001, 0.2, 0.5))
    ),
    "audit": lambda: draw_audit.draw(audit_table()),
    "audit, one setting": lambda: draw_audit.draw(audit_table(AUDIT_SETTINGS[:1], runs=2)),
    "audit, nothing below eps0": lambda: draw_audit.draw(audit_table(AUDIT_SETTINGS[2:], eps=(1.0, 2.0))),
    "audit, eight settings": lambda: draw_audit.draw(
        audit_table([{"n": 100, "k": 65_536, "eps0": 2.25, "count": i} for i in range(8)], runs=2)
    ),
    "delta_bounds": lambda: draw_delta_bounds.draw(bound_table()),
    "delta_bounds, one setting": lambda: draw_delta_bounds.draw(bound_table(BOUND_SETTINGS[2:], steps=2)),
    "delta_bounds, two users": lambda: draw_delta_bounds.draw(
        bound_table([{**BOUND_SETTINGS[0], "n": 2, "count": 1}] * 2)
    ),
    "gaussian_scale": lambda: draw_gaussian_scale.draw(scale_table()),
    "gaussian_scale, six budgets": lambda: draw_gaussian_scale.draw(
        scale_table(eps=(0.1, 0.5, 1, 2, 4, 10), stop=-250)
    ),
    "girgis_rdp": lambda: draw_girgis_rdp.draw(*girgis_tables(), -8),
    "girgis_rdp, six of each": lambda: draw_girgis_rdp.draw(
        *girgis_tables(eps0=(0.25, 0.5, 1, 2, 4, 10), compositions=(1, 2, 3, 10, 100, 10**5)), -8
    ),
    "estimates, no grid": lambda: draw_estimates.draw(
        histogram_table()[["cell", "count"]], runs_of(histogram_table()), "own counts"
    ),
}
