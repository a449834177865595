"""One trial point: every mechanism on samples of n users of a dataset, vectorised over repetitions."""

import hashlib
import json
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tightshuffle.gaussian import published_scale
from tightshuffle.metrics import individual_error, total_variation
from tightshuffle.privacy.count import delta_hat
from tightshuffle.randomizer import invert, project_to_simplex, sample_histogram

MECHANISMS = ("shuffle", "shuffle+INV", "gaussian")


@dataclass(frozen=True)
class Protocol:
    """How the published reading calibrates the Gaussian: the config's ``protocol``."""

    delta_form: str
    delta_floor: float
    sensitivity: float


def seed_of(root, **parameters):
    """A seed of 63 bits from the root seed and the point's parameters.

    It depends on nothing else, so that a point's values are the same whichever other points run, on any
    number of cores and on any machine.
    """
    text = json.dumps([root, sorted(parameters.items())])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def sample_users(counts, n, rng, repetitions):
    """Histograms of n users drawn without replacement, shape (repetitions, k).

    ``counts``: whole numbers, shape (k,), the dataset's histogram. ValueError if it holds fewer than n users.
    """
    counts = np.asarray(counts, dtype=np.int64)
    if not 1 <= n <= counts.sum():
        raise ValueError(f"n must lie between 1 and the dataset's {counts.sum()} users; got {n}")
    return rng.multivariate_hypergeometric(counts, n, size=repetitions, method="marginals")


def release(samples, *, eps0, eps, protocol, rng):
    """Every mechanism's estimate of every sample's distribution, and the delta that the Gaussian got.

    ``shuffle`` is the noisy histogram itself, ``shuffle+INV`` its inversion projected to the simplex,
    ``gaussian`` the true histogram plus noise, as in the paper neither projected nor clipped.

    Parameters
    ----------
    samples : whole numbers, shape (repetitions, k), every row summing to the same n

    Returns
    -------
    estimates : dict from mechanism to fractions of n, shape (repetitions, k)
    deltas : shape (repetitions,): max(delta_hat of the sample, the protocol's floor)
    """
    n = int(samples[0].sum())
    shuffled = sample_histogram(samples, eps0, rng, repetitions=len(samples)) / n
    deltas = np.array([_calibration_delta(sample, eps0, eps, protocol) for sample in samples])
    distinct, which = np.unique(deltas, return_inverse=True)
    scales = np.array([published_scale(eps, delta, protocol.sensitivity) for delta in distinct])[which]
    noise = rng.standard_normal(samples.shape) * scales[:, None]
    estimates = {
        "shuffle": shuffled,
        "shuffle+INV": project_to_simplex(invert(shuffled, eps0)),
        "gaussian": (samples + noise) / n,
    }
    return estimates, deltas


def run_point(counts, *, dataset, eps0, eps, n, repetitions, cells, protocol, seed):
    """All repetitions of one point (dataset, eps0, eps, n) as a tidy frame.

    Parameters: ``counts`` the dataset's histogram, ``n`` users or "all", ``cells`` (numbered from 1)
    whose individual error is wanted, ``seed`` the root seed.

    Returns
    -------
    DataFrame: dataset, eps0, eps, delta, n, k, mechanism, repetition, metric, cell, value, seed; metric
    is "tv" (cell 0) or "individual_error"; values are fractions of n.
    """
    n = int(np.sum(counts)) if n == "all" else int(n)
    seed = seed_of(seed, stage="trials", dataset=dataset, eps0=eps0, eps=eps, n=n, repetitions=repetitions)
    rng = np.random.default_rng(seed)
    samples = sample_users(counts, n, rng, repetitions)
    estimates, deltas = release(samples, eps0=eps0, eps=eps, protocol=protocol, rng=rng)
    truth = samples / n

    frames = []
    for mechanism in MECHANISMS:
        for metric, cell, value in errors_of(estimates[mechanism], truth, cells):
            frames.append(
                pd.DataFrame(
                    {
                        "dataset": dataset,
                        "eps0": eps0,
                        "eps": eps,
                        "delta": deltas,
                        "n": n,
                        "k": len(counts),
                        "mechanism": mechanism,
                        "repetition": np.arange(1, repetitions + 1),
                        "metric": metric,
                        "cell": cell,
                        "value": value,
                        "seed": seed,
                    }
                )
            )
    return pd.concat(frames, ignore_index=True)


def errors_of(estimates, truth, cells):
    """(metric, cell, values (repetitions,)) of both metrics; ``estimates``, ``truth``: (repetitions, k)."""
    individual = individual_error(estimates, truth, cells)
    return [("tv", 0, total_variation(estimates, truth))] + [
        ("individual_error", cell, individual[:, i]) for i, cell in enumerate(cells)
    ]


def estimate_cells(counts, *, dataset, eps0, eps, n, protocol, seed):
    """One run at one point: DataFrame cell, original, gaussian, shuffle+INV (fractions of n), delta."""
    n = int(np.sum(counts)) if n == "all" else int(n)
    seed = seed_of(seed, stage="estimates", dataset=dataset, eps0=eps0, eps=eps, n=n)
    rng = np.random.default_rng(seed)
    samples = sample_users(counts, n, rng, 1)
    estimates, deltas = release(samples, eps0=eps0, eps=eps, protocol=protocol, rng=rng)
    return pd.DataFrame(
        {
            "cell": np.arange(1, len(counts) + 1),
            "original": samples[0] / n,
            "gaussian": estimates["gaussian"][0],
            "shuffle+INV": estimates["shuffle+INV"][0],
            "delta": deltas[0],
        }
    )


def _calibration_delta(sample, eps0, eps, protocol):
    log_delta = delta_hat(sample, eps, eps0=eps0, form=protocol.delta_form)
    return max(10.0**log_delta, protocol.delta_floor)
