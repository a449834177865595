"""A made-up paper with known answers: settings with known errors, printed rows, quick bounds."""

from itertools import product

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

# A setting of the paper's datasets: k values, n users, eps0.
K = {"synthetic": 15, "san_francisco": 408, "paris": 192}
VALUES = read_values(ROOT / "data/published/values.csv")  # the paper's own
PRINTED = printed_numbers(VALUES)
CITIES = ("san_francisco", "paris")
N = {"synthetic": (1000, 100_000), "san_francisco": (10_000, 123_026), "paris": (1000, 11_190)}
EPS0 = {"synthetic": (4.0,), "san_francisco": (4.0, 6.0), "paris": (4.0, 6.0)}
BOXES = {  # in degrees
    "san_francisco": {"south": 37.7228, "north": 37.7946, "west": -122.5153, "east": -122.3789},
    "paris": {"south": 48.8286, "north": 48.8798, "west": 2.2855, "east": 2.3909},
}


def setting(
    dataset="synthetic", n=1000, eps0=4.0, metric="tv", cell=0, rule="", spread=0.02, **means
):
    """One setting, with 40 random errors of each mechanism, as a row of `Reading.settings`.

    ``means`` has each mechanism's mean error. ``spread`` is the relative standard deviation of its errors.
    The same arguments give the same errors.
    """
    # A seed for each setting.
    rng = np.random.default_rng(list(f"{dataset} {n} {eps0} {metric} {cell} {rule}".encode()))
    point = {"dataset": dataset, "n": n, "k": K[dataset], "eps0": eps0, "eps": eps0, "delta": 1e-30}
    samples = {
        name: value * (1 + spread * rng.standard_normal(40)) for name, value in means.items()
    }
    return point | {"metric": metric, "cell": cell, "rule": rule} | samples


def setting_with_errors(gaussian, inv, shuffle=0.5, **point):
    """A `setting` with the paper's three mechanisms, from their mean errors."""
    return setting(**point, **{GAUSSIAN: gaussian, INV: inv, SHUFFLE: shuffle})


def published_reading(*settings, name=PUBLISHED, **more):
    """What the statements are tested on: rows of `setting`, and other fields of `Reading`."""
    return Reading(name, settings=pd.DataFrame(settings), **more)


def exact_reading(*settings, **more):
    return published_reading(*settings, name=EXACT, **more)


def printed_row(mechanism="this paper", item="Table II", n=100, eps=0.1, printed="1E-2", eps0=0.5):
    """A row of values.csv with a printed delta. This paper's own have k = 10, and 0.8 n users hold x0."""
    own = mechanism == "this paper"
    return {
        "item": item, "mechanism": mechanism, "n": str(n), "k": "10" if own else "", "eps0": str(eps0),
        "eps": str(eps), "count": str(round(0.8 * n)) if own else "", "printed": printed,
    }  # fmt: skip


def printed_deltas(*rows, **cited):
    """Rows of values.csv with numbers for texts; ``cited``: mechanism -> log10 delta of the cited bound."""
    frame = printed_numbers(pd.DataFrame(rows, columns=[*COLUMNS]))
    return frame.assign(log10_cited=frame["mechanism"].map(cited).astype(float))


def bracket(eps, eps0, n, k):
    """Made-up (lower, upper) bound on log10 delta of the histogram, at once known, with the right trends."""
    log10_delta = (eps0 - 10 * eps - np.log10(n * k)) if eps < eps0 else -np.inf
    return log10_delta, log10_delta


# Factors of the errors of `world_setting`: those at the paper's eps0s, and those at eps0 = 1.
FACTORS = {GAUSSIAN: 1.0, INV: 1.5, SHUFFLE: 4.0, RAW_GAUSSIAN: 1.2, LIKELIEST: 1.4}
FACTORS_AT_1 = FACTORS | {GAUSSIAN: 4.0, SHUFFLE: 1.0}


def world_setting(dataset, n, eps0, *, rule="", metric="tv", cell=0, factors=FACTORS):
    """A `setting` of the made-up world: the mean error of each mechanism is its factor times a base error.

    The base error is 0.06 for all users at eps0 = 4, and falls as 1 / (sqrt(n) eps0). Single cells err a
    sixth as much. The ratio of shuffle+INV to the Gaussian grows with n and falls with eps0, so that trends
    have a direction.
    """
    share_of_users = n / N[dataset][-1]  # the last size is all users
    error = 0.06 * share_of_users**-0.5 * (4 / eps0)
    if metric == "individual_error":
        error /= 6
    means = {name: error * factor for name, factor in factors.items()}
    means[INV] *= share_of_users**0.05 * (4 / eps0) ** 0.25
    return setting(dataset, n, eps0, metric=metric, cell=cell, rule=rule, **means)


def papers_settings(rule):
    """The settings of the paper's tables and figures, with one rule of delta ("" if there is none)."""
    settings = []
    for dataset in N:
        for n, eps0 in product(N[dataset], EPS0[dataset]):
            settings.append(world_setting(dataset, n, eps0, rule=rule))
    for n, cell in product(N["synthetic"], (1, 3)):
        of_cell = world_setting(
            "synthetic", n, 4.0, rule=rule, metric="individual_error", cell=cell
        )
        settings.append(of_cell)
    return settings


def both_readings():
    """The published and the exact `Reading` of a made-up world. Its deltas are the printed ones.

    shuffle+INV errs about 1.5 times as much as the Gaussian, and shuffle 4 times. At eps0 = 1, which the
    paper did not run, the Gaussian errs most and shuffle least: a statement that looked there would get
    another verdict.
    """
    heatmaps = [
        world_setting(city, N[city][-1], eps0, metric="cell_error")
        for city, eps0 in product(CITIES, (2, 4, 6))
    ]
    figures_4_and_5 = [world_setting(city, N[city][-1], 2.0, rule="1e-06") for city in CITIES]
    not_papers = [
        world_setting(dataset, n, 1.0, rule="1e-06", factors=FACTORS_AT_1)
        for dataset in N
        for n in N[dataset]
    ]
    of_both = {
        "values": PRINTED.assign(log10_cited=-0.5),  # of the literature's bounds
        "boxes": BOXES,
        "calibrations": frozenset({(4.0, 1e-30)}),  # the Gaussian's (eps, delta)
    }
    published = published_reading(*papers_settings(rule=""), *heatmaps, **of_both)
    exact = exact_reading(*papers_settings(rule="1e-06"), *figures_4_and_5, *not_papers, **of_both)
    return published, exact
