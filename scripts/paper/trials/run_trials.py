"""The published protocol: every mechanism on samples of n users of a dataset, vectorised over repetitions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scripts.paper.data.users import Users, sample_users, users_of
from scripts.paper.delta.delta_hat import delta_hat
from scripts.paper.trials.metrics import individual_error, total_variation, uniform_histogram
from scripts.shared.histograms import read_histogram
from scripts.shared.job import job, write_parquet
from scripts.shared.published_gaussian import published_scale
from tightshuffle.arguments import Floats, Integers
from tightshuffle.krr import invert, project_to_simplex, sample_histogram
from tightshuffle.literature.count import ceiling
from tightshuffle.numerics.seeds import seed_of

MECHANISMS = ("shuffle", "shuffle+INV", "gaussian")
BLOCK = 2**20  # cells of all repetitions in memory at a time; above it, memory depends on k only
TRIAL_COLUMNS = [
    "experiment", "dataset", "eps0", "eps", "delta", "n", "repetitions", "k", "mechanism", "repetition",
    "metric", "cell", "value", "uniform", "seed",
]  # fmt: skip
POINT_COLUMNS = [name for name in TRIAL_COLUMNS if name not in ("experiment", "repetitions")]


@dataclass(frozen=True)
class Protocol:
    """How the published reading calibrates the Gaussian: the config's ``protocol``."""

    delta_form: str
    delta_floor: float
    sensitivity: float


def run_mechanisms(
    samples: Integers,
    *,
    eps0: float,
    eps: float,
    protocol: Protocol,
    rng: np.random.Generator,
    known: dict[Any, float] | None = None,
) -> tuple[dict[str, Floats], Floats]:
    """(estimates, deltas): mechanism -> fractions of n, shape (repetitions, k); the Gaussian's deltas.

    ``shuffle`` is the noisy histogram itself, ``shuffle+INV`` its inversion projected to the simplex,
    ``gaussian`` the true histogram plus noise, as in the paper neither projected nor clipped. A delta is
    max(delta_hat of the sample, the protocol's floor), shape (repetitions,).

    Parameters: ``samples``, whole numbers, shape (repetitions, k), every row summing to the same n; ``known``
    as for `delta_hat`, to share between samples of one point.
    """
    n = int(samples[0].sum())
    shuffled = sample_histogram(samples, eps0, rng, repetitions=len(samples)) / n
    deltas = _calibration_deltas(samples, eps0, eps, protocol, {} if known is None else known)
    distinct, which = np.unique(deltas, return_inverse=True)
    scales = np.array([published_scale(eps, delta, protocol.sensitivity) for delta in distinct])[which]
    noise = rng.standard_normal(samples.shape) * scales[:, None]
    estimates = {
        "shuffle": shuffled,
        "shuffle+INV": project_to_simplex(invert(shuffled, eps0)),
        "gaussian": (samples + noise) / n,
    }
    return estimates, deltas


def run_points(
    counts: Integers,
    points: Iterable[Mapping[str, Any]],
    *,
    dataset: str,
    cells: Sequence[int],
    protocol: Protocol,
    seed: int,
) -> pd.DataFrame:
    """The trials of ``points`` (as `parts.parts_of`) on one dataset; for the rest see `run_point`.

    Returns a DataFrame with the columns of `run_point`, the experiment and the point's repetitions; points in
    order, one that is listed twice ("all" and this number) once.
    """
    shared: dict[str, Any] = {"dataset": dataset, "cells": cells, "protocol": protocol, "seed": seed}
    frames = {}
    for point in points:
        experiment = point["experiment"]
        repetitions = int(point["repetitions"])
        eps0 = float(point["eps0"])
        eps = float(point["eps"])
        n = users_of(counts, point["n"])
        key = (experiment, repetitions, eps0, eps, n)
        if key not in frames:
            trials = run_point(counts, eps0=eps0, eps=eps, n=n, repetitions=repetitions, **shared)
            frames[key] = trials.assign(experiment=experiment, repetitions=repetitions)
    return pd.concat(frames.values(), ignore_index=True)[TRIAL_COLUMNS]


def run_point(
    counts: Integers,
    *,
    dataset: str,
    eps0: float,
    eps: float,
    n: Users,
    repetitions: int,
    cells: Sequence[int],
    protocol: Protocol,
    seed: int,
) -> pd.DataFrame:
    """All repetitions of one point (dataset, eps0, eps, n) as a tidy frame.

    ``counts``: the dataset's histogram (k,); ``n``: users or "all"; ``cells``, numbered from 1: those whose
    individual error is computed; ``seed``: the root seed. Returns a DataFrame with `POINT_COLUMNS`: metric is
    "tv" (cell 0) or "individual_error"; values are fractions of n; uniform is the same error of
    `uniform_histogram` against the same users.
    """
    n = users_of(counts, n)
    seed = seed_of(seed, stage="trials", dataset=dataset, eps0=eps0, eps=eps, n=n, repetitions=repetitions)
    rng = np.random.default_rng(seed)
    at_once = max(1, BLOCK // len(counts))
    known: dict[Any, float] = {}

    def block(start: int) -> pd.DataFrame:  # a function, to free its arrays when it ends
        samples = sample_users(counts, n, rng, min(at_once, repetitions - start))
        estimates, deltas = run_mechanisms(
            samples, eps0=eps0, eps=eps, protocol=protocol, rng=rng, known=known
        )
        table = error_table("mechanism", estimates, samples / n, cells)
        return table.assign(delta=deltas[table["repetition"] - 1], repetition=table["repetition"] + start)

    table = pd.concat([block(start) for start in range(0, repetitions, at_once)], ignore_index=True)
    series = table.groupby(["mechanism", "metric", "cell"], sort=False).ngroup()
    table = table.iloc[np.argsort(series, kind="stable")]
    table = table.assign(dataset=dataset, eps0=eps0, eps=eps, n=n, k=len(counts), seed=seed)
    return table.reset_index(drop=True)[POINT_COLUMNS]


def error_table(
    by: str, estimates: Mapping[str, Floats], truth: Floats, cells: Sequence[int]
) -> pd.DataFrame:
    """Both errors of every estimate and, in the column ``uniform``, of the uniform histogram.

    ``estimates``: name -> fractions, shape (repetitions, k), as ``truth``; ``cells`` numbered from 1. Returns
    a DataFrame: ``by`` (the name), metric, cell (0 for tv), repetition (from 1), value, uniform.
    """
    uniform = uniform_histogram(truth.shape[-1])
    parts = []
    for name, estimate in estimates.items():
        cell_errors = individual_error(estimate, truth, cells).T
        uniform_cell_errors = individual_error(uniform, truth, cells).T
        errors = [("tv", 0, total_variation(estimate, truth), total_variation(uniform, truth))]
        for row in zip(cells, cell_errors, uniform_cell_errors, strict=True):
            errors.append(("individual_error", *row))

        for metric, cell, error, uniform_error in errors:
            columns = {
                by: name,
                "metric": metric,
                "cell": cell,
                "repetition": np.arange(1, len(error) + 1),
                "value": error,
                "uniform": uniform_error,
            }
            parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def _calibration_deltas(
    samples: Integers, eps0: float, eps: float, protocol: Protocol, known: dict[Any, float]
) -> Floats:
    """max(delta_hat, the protocol's floor) of every sample; delta_hat only where it may exceed the floor."""
    n, k = int(samples[0].sum()), samples.shape[1]
    bound = ceiling(eps, n=n, k=k, eps0=eps0, count=int(samples.max()) - 1)
    if bound <= np.log10(protocol.delta_floor):
        return np.full(len(samples), protocol.delta_floor)
    form = protocol.delta_form
    logs = [delta_hat(sample, eps, eps0=eps0, form=form, known=known) for sample in samples]
    return np.array([max(10.0**log10, protocol.delta_floor) for log10 in logs])


if __name__ == "__main__":
    with job() as snakemake:
        trials = run_points(
            read_histogram(snakemake.input.histogram),
            snakemake.params.points,
            dataset=snakemake.wildcards.dataset,
            cells=snakemake.params.cells,
            protocol=Protocol(**snakemake.params.protocol),
            seed=snakemake.params.seed,
        )
        write_parquet([trials], snakemake.output[0])
