"""Small tables of the curves."""

from functools import cache

import pandas as pd

from reproduction.experiments.curves import blanket_regions as blanket_curves
from reproduction.experiments.curves import delta_bounds as bound_curves
from reproduction.experiments.curves import frontier as frontier_curves
from reproduction.experiments.curves import gaussian_scale as scale_curves
from reproduction.experiments.curves import girgis_rdp as girgis_curves
from reproduction.experiments.curves import koskela as koskela_curves
from reproduction.figures import blanket_regions, girgis_rdp


@cache
def koskela_table(pairs=("strong", "weak"), compositions=(1, 3)):
    eps = {"start": 0.05, "stop": 1.5, "steps": 22}
    settings = {"compositions": list(compositions), "eps": eps}
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
