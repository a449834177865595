"""Settings with known errors, and the frames of the pipeline's files with them."""

import numpy as np
import pandas as pd

from reproduction.verification.claims.evidence import (
    EXACT,
    GAUSSIAN,
    INV,
    PUBLISHED,
    SHUFFLE,
    Reading,
    Setting,
    printed_numbers,
)
from reproduction.verification.claims.verdict_rules import judge
from reproduction.verification.printed import COLUMNS, read_values
from tests import ROOT

REPETITIONS = 40
K = {"synthetic": 15, "san_francisco": 408, "paris": 192, "mine": 9}


def setting(dataset="synthetic", n=1000, eps0=4.0, metric="tv", cell=0, rule="", spread=0.02, **means):
    """One setting; ``means``: mechanism -> mean error, relative deviation ``spread`` per repetition."""
    name = f"{dataset} {n} {eps0} {metric} {cell} {rule}"
    rng = np.random.default_rng(list(name.encode()))
    samples = {
        mechanism: value * (1 + spread * rng.standard_normal(REPETITIONS))
        for mechanism, value in means.items()
    }
    return Setting(dataset, n, K[dataset], eps0, eps0, 1e-30, metric, cell, samples, rule)


def three(gaussian, inv, shuffle=0.5, **point):
    """A setting with the paper's three mechanisms."""
    return setting(**point, **{GAUSSIAN: gaussian, INV: inv, SHUFFLE: shuffle})


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


PRINTED = printed_numbers(read_values(ROOT / "data/published/values.csv"))  # the paper's own


def verdict(found):
    """The verdict on what a test returns."""
    return outcome(found).verdict


def says(found, told):
    """Whether an outcome's counts are those of ``told``, and its numbers begin as there."""
    (counts, *numbers), (expected, *begin) = (text.split("; ") for text in (found.statistic, told))
    return counts == expected and all(map(str.startswith, numbers, begin)) and len(begin) <= len(numbers)


def outcome(found):
    """Verdict, numbers and sentence of what a test returns."""
    return judge(*found) if isinstance(found, list) else judge(found)


def bracket(eps, n, k, eps0):
    """Quick bounds of the whole histogram's delta, with the right trends."""
    value = (eps0 - 10 * eps - np.log10(n * k)) if eps < eps0 else -np.inf
    return value, value


def published(*settings, **more):
    return Reading(PUBLISHED, settings=list(settings), **more)


def exact(*settings, **more):
    return Reading(EXACT, settings=list(settings), **more)


def trial_frame(dataset="synthetic", n=1000, repetitions=5, value=0.1, cells=(1, 3), experiment="individual"):
    """A file of trials as run_trials writes it; the values say which mechanism and metric they belong to."""
    frames = []
    for shift, mechanism in enumerate(("shuffle", "shuffle+INV", "gaussian")):
        for metric, where in (("tv", (0,)), ("individual_error", cells)):
            for cell in where:
                frames.append(
                    pd.DataFrame(
                        {
                            "experiment": experiment, "dataset": dataset, "eps0": 4.0, "eps": 4.0,
                            "delta": 1e-30, "n": n, "repetitions": repetitions, "k": K[dataset],
                            "mechanism": mechanism, "repetition": np.arange(1, repetitions + 1),
                            "metric": metric, "cell": cell,
                            "value": value + shift + cell / 100 + np.arange(repetitions) / 1000, "seed": 1,
                        }
                    )
                )  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def parity_frame(dataset="synthetic", n=1000, eps0=(1.0, 4.0), repetitions=5, errors=None):
    """A file of the parity experiments; ``errors``: (mechanism, estimator) -> error with the upper bound."""
    errors = errors or {
        ("shuffle", "none"): 0.5,
        ("shuffle", "inversion"): 0.12,
        ("shuffle", "projection"): 0.1,
        ("shuffle", "maximum_likelihood"): 0.09,
        ("gaussian", "none"): 0.11,
        ("gaussian", "projection"): 0.08,
    }
    frames = []
    for budget in eps0:
        for rule, delta in (("1e-06", 1e-6), ("n^-1.1", n**-1.1)):
            for bound, factor in (("upper", 1.0), ("lower", 7.0)):
                for (mechanism, estimator), error in errors.items():
                    for metric, cell in (("tv", 0), ("individual_error", 1), ("individual_error", 3)):
                        frames.append(
                            pd.DataFrame(
                                {
                                    "dataset": dataset, "n": n, "k": K[dataset], "eps0": budget,
                                    "delta_rule": rule, "delta": delta, "bound": bound, "eps": budget / 10,
                                    "mechanism": mechanism, "estimator": estimator, "metric": metric,
                                    "cell": cell, "repetition": np.arange(1, repetitions + 1),
                                    "value": factor * error * (1 + np.arange(repetitions) / 1000), "seed": 1,
                                }
                            )
                        )  # fmt: skip
    return pd.concat(frames, ignore_index=True)
