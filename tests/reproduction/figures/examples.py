"""Small tables as the pipeline makes them, and figures drawn from them."""

from functools import cache
from inspect import signature
from itertools import product

import numpy as np
import pandas as pd

from reproduction.experiments.curves import band as band_curves
from reproduction.experiments.curves import blanket_regions as blanket_curves
from reproduction.experiments.curves import delta_bounds as bound_curves
from reproduction.experiments.curves import frontier as frontier_curves
from reproduction.experiments.curves import gaussian_scale as scale_curves
from reproduction.experiments.curves import girgis_rdp as girgis_curves
from reproduction.experiments.curves import koskela as koskela_curves
from reproduction.experiments.study import FAMILIES, study
from reproduction.experiments.study_trials import simulate
from reproduction.figures import (
    audit,
    band,
    blanket_regions,
    checkins,
    delta_bounds,
    delta_surface,
    estimates,
    frontier,
    gaussian_scale,
    girgis_rdp,
    koskela,
    parity_estimates,
    parity_ratio,
    parity_tv,
    study_best,
    study_estimators,
    study_grids,
    study_ratio,
    too_small,
    tv,
)
from tightshuffle.audit.assessment import assess
from tightshuffle.audit.game import play

LONG = "Wage earners of the municipality of Oberammergau, 1999-2024"  # the schema allows 60 characters
FORMULA = "$x_$"  # of matplotlib, and a broken one
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
            (eps0, eps, delta, n, 15, mechanism, repetition, metric, level * rng.uniform(0.9, 1.1), 0.6)
            for eps0, eps in budgets
            for n in sizes
            for mechanism, level in levels.items()
            for repetition in range(repetitions)
            for metric in ("tv", "individual_error")
        ],
        columns=tv.COLUMNS,
    )


def histogram_table(rows=5, columns=6, seed=2):
    index = np.arange(rows * columns)
    row, column = np.divmod(index, columns)
    counts = np.random.default_rng(seed).poisson(3, rows * columns) ** 3
    south, west = 48.8 + 0.01 * row, 2.2 + 0.01 * column
    return pd.DataFrame(
        {"cell": index + 1, "count": counts, "row": row, "column": column}
        | {"south": south, "north": south + 0.01, "west": west, "east": west + 0.01}
    )


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
    table = estimate_table(histogram)
    return estimates.Runs(histogram, [estimates.Run(eps0, eps, n, delta, table) for eps0, eps in budgets])


def city(title="Paris", spread=True, seed=2):
    rng = np.random.default_rng(6)
    points = pd.DataFrame(
        {"latitude": 48.8 + 0.05 * rng.random(400), "longitude": 2.2 + 0.06 * rng.random(400)}
    )
    box = (2.2, 2.26, 48.8, 48.85)
    return checkins.City(title, box, histogram_table(seed=seed), points.assign(spread=spread))


def uneven_city():
    """A city whose westernmost cells are 4 % narrower than the rest."""
    histogram = histogram_table()
    narrow = histogram["column"] == 0
    histogram.loc[narrow, "west"] += 0.01 * (1 - 1 / 1.04)
    return city()._replace(histogram=histogram)


@cache
def koskela_table(pairs=("strong", "weak"), compositions=(1, 3), lowest=-6):
    eps = {"start": 0.05, "stop": 1.5, "steps": 22}
    settings = {"compositions": list(compositions), "eps": eps, "lowest": lowest}
    setting = {"n": 400, "k": 4, "eps0": 2.0}
    parts = [koskela_curves.composed_curves(settings, setting, pairs)]
    if "strong" in pairs:
        for name in ("balle_analytic", "balle_bennett"):
            bound = getattr(koskela_curves, name)
            parts.append(koskela_curves.one_round(settings, setting, name, bound))
    return pd.concat(parts, ignore_index=True)


def blanket_settings(n=40, eps0=0.7, growth=(0.1, 0.3)):
    return {
        "n": n,
        "k": 4,
        "share": 0.25,
        "eps0": {"start": 0.1, "stop": 2.0, "steps": 12},
        "curve": {"eps0": eps0, "eps": {"start": 0.01, "stop": 3.0, "steps": 15}},
        "growth": {"eps": list(growth), "n": [5, 20, 80]},
    }


@cache
def blanket_tables(**changes):
    settings = blanket_settings(**changes)
    regions, tightness = blanket_curves.blanket_regions(settings), blanket_curves.blanket_tightness(settings)
    return blanket_regions.Tables(regions, tightness)


@cache
def band_table(n=(10, 40), eps0=1.0):
    shares = {"start": 0.1, "stop": 0.9, "steps": 4}
    return band_curves.band({"eps0": eps0, "k": [3, 6], "n": list(n), "shares": shares})


@cache
def scale_table(eps=(1, 5), stop=-60):
    return scale_curves.gaussian_scale(
        {"eps": list(eps), "log10_delta": {"start": -2, "stop": stop, "steps": 30}}
    )


FRONTIERS = (
    {"n": 3000, "k": 8, "eps": 1},
    {"n": 300, "k": 2, "eps": 0.5},
    {"n": 100_000_000, "k": 4096, "eps": 0.1},
)


@cache
def frontier_table(settings=3):
    return frontier_curves.frontier({"delta": 1e-6, "settings": FRONTIERS[:settings]})


BOUND_SETTINGS = (
    {"n": 60, "k": 5, "eps0": 0.5, "count": 40, "eps": {"start": 0.02, "stop": 0.45}},
    {"n": 5000, "k": 30, "eps0": 3, "count": 10, "eps": {"start": 0.01, "stop": 0.2}},
    {"n": 300, "k": 2, "eps0": 1, "count": 0, "eps": {"start": 0.01, "stop": 0.9}},
)


def bound_table(settings=BOUND_SETTINGS, steps=4):
    return bound_curves.delta_bounds({"steps": steps, "settings": settings})


def girgis_settings(eps0=(0.5, 3), compositions=(1, 20), deepest=-8, eps=(0.05, 10)):
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


@cache
def girgis_tables(**changes):
    settings = girgis_settings(**changes)
    return girgis_rdp.Tables(girgis_curves.girgis_rdp(settings), girgis_curves.girgis_composed(settings))


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


def parity_rows(sizes=(1000, 20000), eps0=(1, 2, 4, 6)):
    """Rows at equal privacy as they are drawn: the trial table's, with eps falling with n."""
    rows = tv_rows(trial_table([(budget, 1) for budget in eps0], sizes, delta=1e-6))
    return rows.assign(eps=rows["eps0"] / np.sqrt(rows["n"]))


def ratio_table(datasets=("a", "b", "c"), sizes=(10, 200, 3000), eps0=(1, 6), rules=("1e-06", "n^-1.1")):
    rng, rows = np.random.default_rng(3), []
    comparisons = ("projected", "unprojected", "maximum likelihood")
    for dataset, n, budget in product(datasets, sizes, eps0):
        setting = {"dataset": dataset, "n": n, "k": 15, "eps0": budget, "metric": "tv"}
        predicted = 1 + budget / 20
        for bound, rule, comparison in product(("upper", "lower"), rules, comparisons):
            ratio = predicted + rng.normal(0, 0.02) * (bound == "upper")
            row = {"delta_rule": rule, "bound": bound, "eps": 0.1, "comparison": comparison}
            row |= {"ratio": ratio, "low": ratio - 0.05, "high": ratio + 0.05}
            row |= {"informative": budget > 1 or n > 10 or dataset == "a"}
            rows.append(setting | row | {"repetitions": 200, "predicted": predicted})
        ratio = 1 + np.sqrt(n) / budget
        row = {"comparison": "published", "eps": budget, "ratio": ratio, "repetitions": 10}
        rows.append(setting | row | {"low": ratio * 0.95, "high": ratio * 1.05, "informative": True})
    return pd.DataFrame(rows).reindex(columns=parity_ratio.COLUMNS)


@cache
def study_table(n=(1000, 100_000), k=(4, 64), eps=(0.1, 1)):
    return study({"n": n, "k": k, "eps": eps, "delta": [1e-6], "delta_exponents": []})


@cache
def study_trials(repetitions=3):
    settings = {"eps": [0.1, 1], "delta": 1e-6, "repetitions": repetitions, "confidence": 0.95}
    names = {"synthetic": 15, "paris": 40}
    tables = [
        simulate(np.arange(100, 100 + k), settings, dataset=name, randomizers=list(FAMILIES), seed=1)
        for name, k in names.items()
    ]
    return pd.concat(
        [table.assign(columns=k // 5, rows=5) for table, k in zip(tables, names.values(), strict=True)]
    )


class Example:
    """A figure of a table: ``draw()`` and ``caption()`` with the settings that each one names."""

    def __init__(self, module, table, **settings):
        self.module, self.table, self.settings = module, table, settings

    def draw(self):
        return self._call(self.module.draw)

    def caption(self):
        return self._call(self.module.caption)

    def _call(self, function):
        asked = list(signature(function).parameters)[1:]
        return function(self.table(), **{name: self.settings[name] for name in asked})


def boxes(title, *args, **kwargs):
    return Example(tv, lambda: tv_rows(trial_table(*args, **kwargs)), title=title, protocol=PROTOCOL)


def maps(title, budgets=((2, 2), (6, 6)), delta=1e-30, kept=None, **grid):
    def runs():
        histogram = histogram_table(**grid)
        return runs_of(histogram[kept] if kept else histogram, budgets, delta)

    return Example(estimates, runs, title=title, protocol=PROTOCOL)


def audits(*args, **kwargs):
    return Example(audit, lambda: audit_table(*args, **kwargs))


def bounds(*args, **kwargs):
    return Example(delta_bounds, lambda: bound_table(*args, **kwargs))


FIGURES = {
    "parity_tv": Example(parity_tv, parity_rows, title="Paris"),
    "parity_tv, long title": Example(parity_tv, parity_rows, title=LONG),
    "parity_estimates": Example(
        parity_estimates,
        lambda: runs_of(histogram_table(), [(2, 0.0312345), (6, 1.0412345)], 1e-6),
        title="Paris",
    ),
    "parity_ratio": Example(parity_ratio, ratio_table, titles=PARITY_TITLES),
    "parity_ratio, as large as the config's": Example(
        parity_ratio,
        lambda: ratio_table(sizes=range(10000, 100001, 10000), eps0=(1, 2, 4, 6)),
        titles=PARITY_TITLES,
    ),
    "parity_ratio, one point": Example(
        parity_ratio, lambda: ratio_table(["a"], [500], [2], ["1e-06"]), titles={"a": FORMULA}
    ),
    "koskela": Example(koskela, koskela_table, lowest=-6),
    "koskela, clones": Example(
        koskela, lambda: koskela_table(("clones", "stronger-clones"), (1, 2, 4, 8, 16, 1000)), lowest=-12
    ),
    "delta_surface": Example(delta_surface, surface_table),
    "delta_surface, three points": Example(delta_surface, lambda: surface_table(steps=3)),
    "tv": boxes("San Francisco", sizes=range(10000, 100001, 10000)),
    "tv, one point": boxes(FORMULA, [(4, 4)], [500], 1),
    "tv, many deltas": Example(
        tv,
        lambda: tv_rows(trial_table([(6, 4), (6, 5)], delta=np.nan)).assign(
            delta=np.geomspace(1e-30, 3e-22, 120)
        ),
        title="b",
        protocol=PROTOCOL,
    ),
    "tv, three budgets": boxes("Paris", [(2, 2), (4, 4), (6, 6)]),
    "tv, long title": boxes(LONG),
    "checkins": Example(checkins, lambda: [city("San Francisco"), city("Paris")], grid="stepped"),
    "checkins, one city": Example(checkins, lambda: [city(FORMULA)], grid="uniform"),
    "checkins, four cities": Example(checkins, lambda: [city(), city(), city(), city()], grid="uniform"),
    "checkins, long titles": Example(checkins, lambda: [city(LONG), city(LONG)], grid="uniform"),
    "estimates": maps("Paris"),
    "estimates, long title": maps(LONG),
    "estimates, long budgets": maps("Paris", [(2.25, 0.125), (6.5, 4.25)], 3.2e-22, rows=4, columns=12),
    "estimates, one budget": maps(FORMULA, [(4, 4)]),
    "estimates, no degrees": maps("grid", kept=["cell", "count", "row", "column"]),
    "estimates, no grid": maps("own counts", kept=["cell", "count"]),
    "blanket_regions": Example(blanket_regions, blanket_tables),
    "blanket_regions, one user": Example(
        blanket_regions, lambda: blanket_tables(n=1, growth=(0.001, 0.2, 0.5))
    ),
    "audit": audits(),
    "audit, one setting": audits(AUDIT_SETTINGS[:1], runs=2),
    "audit, nothing below eps0": audits(AUDIT_SETTINGS[2:], eps=(1.0, 2.0)),
    "audit, eight settings": audits(
        [{"n": 100, "k": 65_536, "eps0": 2.25, "count": i} for i in range(8)], runs=2
    ),
    "too_small": Example(too_small, surface_table, eps0=2.0),
    "too_small, one eps": Example(too_small, lambda: surface_table(3), eps0=2.0),
    "delta_bounds": bounds(),
    "delta_bounds, one setting": bounds(BOUND_SETTINGS[2:], steps=2),
    "delta_bounds, two users": bounds([{**BOUND_SETTINGS[0], "n": 2, "count": 1}] * 2),
    "band": Example(band, band_table),
    "band, deep only": Example(band, lambda: band_table(n=(80,), eps0=20.0)),
    "study_ratio": Example(study_ratio, study_table),
    "study_ratio, all k": Example(
        study_ratio, lambda: study_table(k=(2, 4, 16, 64, 256), eps=(0.1, 0.5, 1, 2))
    ),
    "study_best": Example(study_best, study_table),
    "study_best, three eps": Example(study_best, lambda: study_table(eps=(0.1, 0.5, 1))),
    "study_grids": Example(study_grids, study_trials, title=FORMULA),
    "study_grids, long title": Example(study_grids, study_trials, title=LONG),
    "study_estimators": Example(
        study_estimators, study_trials, titles={"synthetic": "N(0, 2)", "paris": FORMULA}
    ),
    "frontier": Example(frontier, frontier_table),
    "frontier, one setting": Example(frontier, lambda: frontier_table(1)),
    "gaussian_scale": Example(gaussian_scale, scale_table),
    "gaussian_scale, six budgets": Example(
        gaussian_scale, lambda: scale_table(eps=(0.1, 0.5, 1, 2, 4, 10), stop=-250)
    ),
    "girgis_rdp": Example(girgis_rdp, girgis_tables, deepest=-8),
    "girgis_rdp, six of each": Example(
        girgis_rdp,
        lambda: girgis_tables(eps0=(0.25, 0.5, 1, 2, 4, 10), compositions=(1, 2, 3, 10, 100, 10**5)),
        deepest=-8,
    ),
}
