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
from tightshuffle.literature.count import log10_ceiling
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
    """The estimates of every mechanism on every sample, and the Gaussian's deltas.

    The estimates are fractions of n, by mechanism, each of shape (repetitions, k). ``shuffle`` is the noisy
    histogram itself, ``shuffle+INV`` its inversion projected to the simplex, and ``gaussian`` the true
    histogram plus noise, as in the paper neither projected nor clipped. The deltas have shape (repetitions,).
    Each is the larger one of the sample's delta-hat and the protocol's floor.

    ``samples`` are whole numbers of shape (repetitions, k), and every row has the sum n. ``known`` is that of
    `delta_hat`, for all samples of one point.
    """
    n = int(samples[0].sum())
    shuffled = sample_histogram(samples, eps0, rng, repetitions=len(samples)) / n

    # diffprivlib searches for a scale, so each delta's is computed once.
    deltas = _calibration_deltas(samples, eps0, eps, protocol, {} if known is None else known)
    distinct, index_of_delta = np.unique(deltas, return_inverse=True)
    scales = np.array([published_scale(eps, delta, protocol.sensitivity) for delta in distinct])
    noise = rng.standard_normal(samples.shape) * scales[index_of_delta][:, None]

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
    """The trials of all ``points`` of a file (see `parts_of`) on one dataset, in the points' order.

    The columns are `TRIAL_COLUMNS`: those of `run_point`, the experiment and the point's repetitions. A point
    that is listed twice, as "all" and as this number of users, is run once. For the other parameters see
    `run_point`.
    """
    tables = {}
    for point in points:
        experiment = point["experiment"]
        repetitions = int(point["repetitions"])
        eps0 = float(point["eps0"])
        eps = float(point["eps"])
        n = users_of(counts, point["n"])
        key = (experiment, repetitions, eps0, eps, n)
        if key in tables:
            continue
        trials = run_point(
            counts,
            dataset=dataset,
            eps0=eps0,
            eps=eps,
            n=n,
            repetitions=repetitions,
            cells=cells,
            protocol=protocol,
            seed=seed,
        )
        tables[key] = trials.assign(experiment=experiment, repetitions=repetitions)
    return pd.concat(tables.values(), ignore_index=True)[TRIAL_COLUMNS]


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
    """The errors of all repetitions at one point (dataset, eps0, eps, n): a DataFrame with `POINT_COLUMNS`.

    The column metric is "tv" (with cell 0) or "individual_error". Values are fractions of n. The column
    uniform has the same error of `uniform_histogram` against the same users, and seed the point's seed.

    ``counts`` is the dataset's histogram (k,), ``n`` the number of users or "all", ``cells`` those whose
    individual error is computed, numbered from 1, and ``seed`` the root seed.
    """
    users = users_of(counts, n)
    point: dict[str, Any] = {"dataset": dataset, "eps0": eps0, "eps": eps, "n": users}
    seed_of_point = seed_of(seed, stage="trials", repetitions=repetitions, **point)
    rng = np.random.default_rng(seed_of_point)
    repetitions_of_block = max(1, BLOCK // len(counts))
    known: dict[Any, float] = {}

    def block(start: int) -> pd.DataFrame:  # a function, to free its arrays when it ends
        samples = sample_users(counts, users, rng, min(repetitions_of_block, repetitions - start))
        estimates, deltas = run_mechanisms(
            samples, eps0=eps0, eps=eps, protocol=protocol, rng=rng, known=known
        )
        table = error_table("mechanism", estimates, samples / users, cells)
        return table.assign(
            delta=deltas[table["repetition"] - 1], repetition=table["repetition"] + start
        )

    blocks = [block(start) for start in range(0, repetitions, repetitions_of_block)]
    table = pd.concat(blocks, ignore_index=True)

    # All repetitions of a mechanism, metric and cell follow one another.
    series = table.groupby(["mechanism", "metric", "cell"], sort=False).ngroup()
    table = table.iloc[np.argsort(series, kind="stable")].reset_index(drop=True)
    return table.assign(**point, k=len(counts), seed=seed_of_point)[POINT_COLUMNS]


def error_table(
    by: str, estimates: Mapping[str, Floats], truth: Floats, cells: Sequence[int]
) -> pd.DataFrame:
    """Both errors of every estimate and, in the column ``uniform``, of the uniform histogram.

    ``estimates`` are fractions by name, each of shape (repetitions, k), as ``truth`` is. ``cells`` are
    numbered from 1. The columns are ``by`` (the estimate's name), metric, cell (0 for tv), repetition
    (from 1), value and uniform.
    """
    uniform = uniform_histogram(truth.shape[-1])
    tv_of_uniform = total_variation(uniform, truth)
    individual_of_uniform = individual_error(uniform, truth, cells)  # (repetitions, cells)
    repetition = np.arange(1, len(truth) + 1)

    tables = []
    for name, estimate in estimates.items():
        row = {by: name, "metric": "tv", "cell": 0, "repetition": repetition}
        row["value"] = total_variation(estimate, truth)
        row["uniform"] = tv_of_uniform
        tables.append(pd.DataFrame(row))

        errors = individual_error(estimate, truth, cells)  # (repetitions, cells)
        for index, cell in enumerate(cells):
            row = {by: name, "metric": "individual_error", "cell": cell, "repetition": repetition}
            row["value"] = errors[:, index]
            row["uniform"] = individual_of_uniform[:, index]
            tables.append(pd.DataFrame(row))
    return pd.concat(tables, ignore_index=True)


def _calibration_deltas(
    samples: Integers, eps0: float, eps: float, protocol: Protocol, known: dict[Any, float]
) -> Floats:
    """The larger one of delta-hat and the protocol's floor, for every sample, (repetitions,)."""
    n = int(samples[0].sum())
    k = samples.shape[1]
    floor = protocol.delta_floor
    bound = log10_ceiling(eps, n=n, k=k, eps0=eps0, count=int(samples.max()) - 1)
    if bound <= np.log10(floor):  # no delta-hat exceeds the floor
        return np.full(len(samples), floor)

    deltas = []
    for sample in samples:
        log10_delta_hat = delta_hat(sample, eps, eps0=eps0, form=protocol.delta_form, known=known)
        deltas.append(max(10.0**log10_delta_hat, floor))
    return np.array(deltas)


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
