"""A made-up paper with known answers: settings with known errors, printed rows, quick bounds."""

import numpy as np
import pandas as pd

from scripts.beyond.statements.evidence import (
    EXACT,
    GAUSSIAN,
    INV,
    LIKELIEST,
    PUBLISHED,
    RAW_GAUSSIAN,
    SHUFFLE,
    Reading,
    printed_numbers,
)
from scripts.shared.printed import COLUMNS, read_values
from tests import ROOT

K = {"synthetic": 15, "san_francisco": 408, "paris": 192}
VALUES = read_values(ROOT / "data/published/values.csv")  # the paper's own
PRINTED = printed_numbers(VALUES)
CITIES = ("san_francisco", "paris")
N = {"synthetic": (1000, 100_000), "san_francisco": (10_000, 123_026), "paris": (1000, 11_190)}
EPS0 = {"synthetic": (4.0,), "san_francisco": (4.0, 6.0), "paris": (4.0, 6.0)}
BOX = {"south": 37.7228, "north": 37.7946, "west": -122.5153, "east": -122.3789}


def setting(
    dataset="synthetic", n=1000, eps0=4.0, metric="tv", cell=0, rule="", spread=0.02, **means
):
    """One setting; ``means``: mechanism -> mean error, relative deviation ``spread`` per repetition."""
    rng = np.random.default_rng(list(f"{dataset} {n} {eps0} {metric} {cell} {rule}".encode()))
    point = {"dataset": dataset, "n": n, "k": K[dataset], "eps0": eps0, "eps": eps0, "delta": 1e-30}
    samples = {
        name: value * (1 + spread * rng.standard_normal(40)) for name, value in means.items()
    }
    return point | {"metric": metric, "cell": cell, "rule": rule} | samples


def errors_of_three(gaussian, inv, shuffle=0.5, **point):
    """A setting with the paper's three mechanisms."""
    return setting(**point, **{GAUSSIAN: gaussian, INV: inv, SHUFFLE: shuffle})


def reading(*settings, name=PUBLISHED, **more):
    return Reading(name, **({"settings": pd.DataFrame(settings)} if settings else {}), **more)


def exact(*settings, **more):
    return reading(*settings, name=EXACT, **more)


def row(mechanism="this paper", item="Table II", n=100, eps=0.1, printed="1E-2", eps0=0.5):
    """A printed delta; its count is 0.8 n."""
    own = mechanism == "this paper"
    return {
        "item": item, "mechanism": mechanism, "n": str(n), "k": "10" if own else "", "eps0": str(eps0),
        "eps": str(eps), "count": str(round(0.8 * n)) if own else "", "printed": printed,
    }  # fmt: skip


def numbers(*rows, **cited):
    """Printed values as the tests take them; ``cited``: mechanism -> log10 delta of the cited bound."""
    frame = printed_numbers(pd.DataFrame(rows, columns=[*COLUMNS]))
    return frame.assign(log10_cited=frame["mechanism"].map(cited).astype(float))


def bracket(eps, eps0, n, k):
    """Quick bounds of the whole histogram's delta, with the right trends."""
    value = (eps0 - 10 * eps - np.log10(n * k)) if eps < eps0 else -np.inf
    return value, value


def readings():
    """Both readings of a world: shuffle+INV errs about 1.5 times as much as the Gaussian, shuffle 4 times.

    Its ratio to the Gaussian grows with n and falls with eps0, so that trends have a direction.

    All errors fall alike with n and eps0, which is eps on both readings. Deltas are the printed ones. At an
    eps0 that the paper did not run, it is the other way round.
    """
    times = {GAUSSIAN: 1.0, INV: 1.5, SHUFFLE: 4.0, RAW_GAUSSIAN: 1.2, LIKELIEST: 1.4}

    def errors(dataset, n, eps0, rule="", metric="tv", cell=0, times=times):
        error = (
            0.06
            * (N[dataset][-1] / n) ** 0.5
            * (4 / eps0)
            / (6 if metric == "individual_error" else 1)
        )
        means = {name: error * factor for name, factor in times.items()}
        means[INV] *= (n / N[dataset][-1]) ** 0.05 * (4 / eps0) ** 0.25
        return setting(dataset, n, eps0, metric=metric, cell=cell, rule=rule, **means)

    def papers(rule):
        tv = [errors(name, n, eps0, rule) for name in N for n in N[name] for eps0 in EPS0[name]]
        cells = [(n, cell) for n in N["synthetic"] for cell in (1, 3)]
        return tv + [
            errors("synthetic", n, 4.0, rule, "individual_error", cell) for n, cell in cells
        ]

    heatmaps = [
        errors(city, N[city][-1], eps0, metric="cell_error")
        for city in CITIES
        for eps0 in (2, 4, 6)
    ]
    whole = [errors(city, N[city][-1], 2.0, "1e-06") for city in CITIES]  # of Figures 4, 5
    other = times | {GAUSSIAN: 4.0, SHUFFLE: 1.0}
    beyond = [errors(name, n, 1.0, "1e-06", times=other) for name in N for n in N[name]]
    more = {"values": PRINTED.assign(log10_cited=-0.5), "boxes": {"san_francisco": BOX}}
    more |= {"calibrations": frozenset({(4.0, 1e-30)})}
    return reading(*papers(""), *heatmaps, **more), exact(*papers("1e-06"), *whole, *beyond, **more)
