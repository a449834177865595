"""A made-up paper with known answers: settings with known errors, printed rows, quick bounds."""

import numpy as np
import pandas as pd

from reproduction.verification.claims.evidence import (
    EXACT,
    GAUSSIAN,
    INV,
    LIKELIEST,
    PUBLISHED,
    RAW_GAUSSIAN,
    SHUFFLE,
    Reading,
    Setting,
    printed_numbers,
)
from reproduction.verification.printed import COLUMNS, read_values
from tests import ROOT

K = {"synthetic": 15, "san_francisco": 408, "paris": 192, "mine": 9}
PRINTED = printed_numbers(read_values(ROOT / "data/published/values.csv"))  # the paper's own
CITIES = ("san_francisco", "paris")
N = {"synthetic": (1000, 100_000), "san_francisco": (10_000, 123_026), "paris": (1000, 11_190)}
EPS0 = {"synthetic": (4.0,), "san_francisco": (4.0, 6.0), "paris": (4.0, 6.0)}
BOX = {"south": 37.7228, "north": 37.7946, "west": -122.5153, "east": -122.3789}


def setting(dataset="synthetic", n=1000, eps0=4.0, metric="tv", cell=0, rule="", spread=0.02, **means):
    """One setting; ``means``: mechanism -> mean error, relative deviation ``spread`` per repetition."""
    rng = np.random.default_rng(list(f"{dataset} {n} {eps0} {metric} {cell} {rule}".encode()))
    samples = {name: value * (1 + spread * rng.standard_normal(40)) for name, value in means.items()}
    return Setting(dataset, n, K[dataset], eps0, eps0, 1e-30, metric, cell, samples, rule)


def three(gaussian, inv, shuffle=0.5, **point):
    """A setting with the paper's three mechanisms."""
    return setting(**point, **{GAUSSIAN: gaussian, INV: inv, SHUFFLE: shuffle})


def published(*settings, **more):
    return Reading(PUBLISHED, settings=list(settings), **more)


def exact(*settings, **more):
    return Reading(EXACT, settings=list(settings), **more)


def row(mechanism="this paper", item="Table II", n=100, eps=0.1, printed="1E-2", eps0=0.5, varying="eps0"):
    """A printed delta; its count is 0.8 n."""
    own = mechanism == "this paper"
    return {
        "item": item, "mechanism": mechanism, "n": str(n), "k": "10" if own else "", "eps0": str(eps0),
        "eps": str(eps), "count": str(round(0.8 * n)) if own else "", "printed": printed,
        "source": f"varying {varying}",
    }  # fmt: skip


def numbers(rows, **cited):
    """Printed values as the tests take them; ``cited``: mechanism -> log10 delta of the cited bound."""
    frame = printed_numbers(pd.DataFrame(rows, columns=[*COLUMNS]))
    return frame.assign(log10_cited=frame["mechanism"].map(cited).astype(float))


def bracket(eps, n, k, eps0):
    """Quick bounds of the whole histogram's delta, with the right trends."""
    value = (eps0 - 10 * eps - np.log10(n * k)) if eps < eps0 else -np.inf
    return value, value


def readings():
    """Both readings of a world: shuffle+INV errs 1.5 times as much as the Gaussian, shuffle 4 times.

    All errors fall alike with n and eps0, which is eps on both readings. Deltas are the printed ones. At an
    eps0 that the paper did not run, it is the other way round.
    """
    times = {GAUSSIAN: 1.0, INV: 1.5, SHUFFLE: 4.0, RAW_GAUSSIAN: 1.2, LIKELIEST: 1.4}

    def errors(dataset, n, eps0, rule="", metric="tv", cell=0, times=times):
        error = 0.06 * (N[dataset][-1] / n) ** 0.5 * (4 / eps0) / (6 if metric == "individual_error" else 1)
        means = {name: error * factor for name, factor in times.items()}
        return setting(dataset, n, eps0, metric=metric, cell=cell, rule=rule, **means)

    def papers(rule):
        tv = [errors(name, n, eps0, rule) for name in N for n in N[name] for eps0 in EPS0[name]]
        cells = [(n, cell) for n in N["synthetic"] for cell in (1, 3)]
        return tv + [errors("synthetic", n, 4.0, rule, "individual_error", cell) for n, cell in cells]

    heatmaps = [errors(city, N[city][-1], eps0, metric="cell_error") for city in CITIES for eps0 in (2, 4, 6)]
    whole = [errors(city, N[city][-1], 2.0, "1e-06") for city in CITIES]  # of Figures 4, 5
    other = times | {GAUSSIAN: 4.0, SHUFFLE: 1.0}
    beyond = [errors(name, n, 1.0, "1e-06", times=other) for name in N for n in N[name]]
    more = {"values": PRINTED.assign(log10_cited=-0.5), "boxes": {"san_francisco": BOX}}
    more |= {"calibrations": frozenset({(4.0, 1e-30)})}
    return published(*papers(""), *heatmaps, **more), exact(*papers("1e-06"), *whole, *beyond, **more)


def trial_frame(n=1000, repetitions=5, value=0.1, experiment="individual"):
    """A file of trials as run_trials writes it; the values say which mechanism and metric they belong to."""
    return pd.DataFrame(
        {"experiment": experiment, "dataset": "synthetic", "eps0": 4.0, "eps": 4.0, "delta": 1e-30, "n": n}
        | {"k": 15, "mechanism": mechanism, "repetition": repetition, "metric": metric, "cell": cell}
        | {"value": value + shift + cell / 100 + repetition / 1000}
        for shift, mechanism in enumerate((SHUFFLE, INV, GAUSSIAN))
        for metric, cell in (("tv", 0), ("individual_error", 1), ("individual_error", 3))
        for repetition in range(repetitions)
    )


def parity_frame(n=1000):
    """A file of the experiments at equal privacy, with another error for each mechanism, estimator, bound."""
    errors = {
        ("shuffle", "none"): 0.5,
        ("shuffle", "inversion"): 0.12,
        ("shuffle", "projection"): 0.1,
        ("shuffle", "maximum_likelihood"): 0.09,
        ("gaussian", "none"): 0.11,
        ("gaussian", "projection"): 0.08,
    }
    return pd.DataFrame(
        {"dataset": "synthetic", "n": n, "k": 15, "eps0": eps0, "eps": eps0 / 10, "delta_rule": rule}
        | {"delta": delta, "bound": bound, "mechanism": mechanism, "estimator": estimator, "metric": metric}
        | {"cell": cell, "repetition": repetition, "value": factor * error * (1 + repetition / 1000)}
        for eps0 in (1.0, 4.0)
        for rule, delta in (("1e-06", 1e-6), ("n^-1.1", n**-1.1))
        for bound, factor in (("upper", 1.0), ("lower", 7.0))
        for (mechanism, estimator), error in errors.items()
        for metric, cell in (("tv", 0), ("individual_error", 1), ("individual_error", 3))
        for repetition in range(5)
    )
