"""The published protocol: every mechanism on samples of n users of a dataset, vectorised over repetitions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scripts.paper.data.users import Users, sample_users, users_of
from scripts.paper.delta.delta_hat import log10_delta_hat
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
    """How the noise of the Gaussian mechanism is chosen: the config's section ``protocol``."""

    delta_form: str  # of delta-hat, "published" or "exact"
    delta_floor: float  # the delta that stands for a smaller delta-hat
    sensitivity: float  # the L2 sensitivity of the histogram, in users


def run_mechanisms(
    samples: Integers,
    *,
    eps0: float,
    eps: float,
    protocol: Protocol,
    rng: np.random.Generator,
    known: dict[Any, float] | None = None,
) -> tuple[dict[str, Floats], Floats]:
    """(estimates, deltas): what each mechanism estimates on each sample, and the deltas of the Gaussian.

    The estimates are mechanism -> fractions of users, shape (repetitions, k):

    - shuffle, the histogram of the randomized reports;
    - shuffle+INV, its unbiased inversion, projected to the simplex;
    - gaussian, the true histogram plus Gaussian noise, as in the paper neither projected nor clipped.

    The Gaussian's delta is the sample's delta-hat or the protocol's floor, whichever is larger. The deltas
    have shape (repetitions,).

    Parameters
    ----------
    samples: histograms of n users each, shape (repetitions, k), a sample per repetition
    eps0: the local budget of the randomized response
    eps: the Gaussian's, for which its noise is chosen
    protocol: how this noise is chosen
    rng: the source of randomness
    known: deltas that `log10_delta_hat` has computed for other samples of the same n, k, eps0 and eps, if any
    """
    n = int(samples[0].sum())
    shuffled = sample_histogram(samples, eps0, rng, repetitions=len(samples)) / n

    # A scale, the noise's standard deviation, takes diffprivlib a search. So it is computed once per delta.
    deltas = _deltas_of_gaussian(samples, eps0, eps, protocol, {} if known is None else known)
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
    """The errors in the trials of several points on one dataset, in the order of the points.

    A point is a dict of experiment ("tv", "individual" or "grid"), eps0, eps, n (a number of users, or
    "all") and repetitions. There is a row for every repetition of a mechanism and error at a point. The
    columns are `TRIAL_COLUMNS`: those of `run_point`, and the point's experiment and repetitions. For the
    other parameters see `run_point`.
    """
    tables = {}
    for point in points:
        experiment = point["experiment"]
        repetitions = int(point["repetitions"])
        eps0 = float(point["eps0"])
        eps = float(point["eps"])
        n = users_of(counts, point["n"])
        key = (experiment, repetitions, eps0, eps, n)
        if key in tables:  # listed twice, as "all" and as this number of users
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
    """The errors of every mechanism in all repetitions at one point, which is a dataset, eps0, eps and n.

    There is a row for every mechanism, error and repetition. Every repetition draws n users of the dataset,
    their reports and the Gaussian's noise anew. The columns are `POINT_COLUMNS`: dataset, eps0, eps, n, k,
    mechanism, repetition (from 1), seed (the point's own), and

    - delta, that of the Gaussian;
    - metric, which error it is, "tv" (total variation) or "individual_error" (that of one cell);
    - cell, of an individual error, and 0 for tv;
    - value, the error, a fraction of n;
    - uniform, the same error of the uniform histogram, 1 / k in each cell.

    Parameters
    ----------
    counts: how many users of the dataset each cell holds, a histogram (k,)
    dataset: its name, on which the point's seed depends
    eps0, eps: the local budget, and the eps of the Gaussian
    n: how many users are drawn, or "all"
    repetitions: how many there are
    cells: those whose individual errors are computed, numbered from 1
    protocol: how the Gaussian's noise is chosen
    seed: the root seed, on which the point's seed depends
    """
    users = users_of(counts, n)
    point: dict[str, Any] = {"dataset": dataset, "eps0": eps0, "eps": eps, "n": users}
    seed_of_point = seed_of(seed, stage="trials", repetitions=repetitions, **point)
    rng = np.random.default_rng(seed_of_point)
    repetitions_of_block = max(1, BLOCK // len(counts))  # at most BLOCK numbers in an array
    known: dict[Any, float] = {}  # deltas, which all blocks share

    def errors_of_block(start: int) -> pd.DataFrame:
        """The errors in the repetitions from ``start`` + 1 on. The arrays of a block are freed at its end."""
        samples = sample_users(counts, users, rng, min(repetitions_of_block, repetitions - start))
        estimates, deltas = run_mechanisms(
            samples, eps0=eps0, eps=eps, protocol=protocol, rng=rng, known=known
        )
        table = error_table("mechanism", estimates, samples / users, cells)
        return table.assign(
            delta=deltas[table["repetition"] - 1], repetition=table["repetition"] + start
        )

    starts = range(0, repetitions, repetitions_of_block)
    table = pd.concat(map(errors_of_block, starts), ignore_index=True)

    # Sorted, so that all repetitions of a mechanism, metric and cell follow one another.
    series = table.groupby(["mechanism", "metric", "cell"], sort=False).ngroup()
    table = table.iloc[np.argsort(series, kind="stable")].reset_index(drop=True)
    return table.assign(**point, k=len(counts), seed=seed_of_point)[POINT_COLUMNS]


def error_table(
    by: str, estimates: Mapping[str, Floats], truth: Floats, cells: Sequence[int]
) -> pd.DataFrame:
    """The errors of every estimate in every repetition: total variation, and one for each of ``cells``.

    The columns are

    - ``by``, the name of the estimate;
    - metric, which error it is, "tv" (total variation) or "individual_error" (that of one cell);
    - cell, of an individual error, numbered from 1, and 0 for tv;
    - repetition, from 1;
    - value, the error, a fraction of the users;
    - uniform, the same error of the uniform histogram, 1 / k in each cell.

    ``estimates`` are name -> fractions of users. They and ``truth`` have shape (repetitions, k).
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


def _deltas_of_gaussian(
    samples: Integers, eps0: float, eps: float, protocol: Protocol, known: dict[Any, float]
) -> Floats:
    """The Gaussian's delta for every sample, shape (repetitions,): its delta-hat, but at least a floor.

    delta-hat is the largest delta of the number of reports of one value, over the values that the sample's
    users hold. ``samples`` are histograms (repetitions, k) of n users each. ``protocol`` has the form of
    delta-hat and the floor. ``known`` keeps deltas that are computed, for later calls with the same n, k,
    eps0 and eps.
    """
    n = int(samples[0].sum())
    k = samples.shape[1]
    floor = protocol.delta_floor
    # Beside the attacked user, at most this many users hold the same value. Their number gives a bound on
    # every delta-hat. If even the bound is below the floor, no delta-hat needs to be computed.
    others = int(samples.max()) - 1
    log10_bound = log10_ceiling(eps, n=n, k=k, eps0=eps0, count=others)
    if log10_bound <= np.log10(floor):
        return np.full(len(samples), floor)

    deltas = []
    for sample in samples:
        log10_delta = log10_delta_hat(sample, eps, eps0=eps0, form=protocol.delta_form, known=known)
        deltas.append(max(10.0**log10_delta, floor))
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
