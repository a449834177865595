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
from scripts.shared.seeds import seed_of
from tightshuffle.arguments import Floats, Integers
from tightshuffle.literature.count import ln_ceiling
from tightshuffle.mechanisms.krr import invert, project_to_simplex, sample_histogram

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

    delta_form: str  # of delta-hat, "published" or "exact" (scripts/paper/delta/delta_hat.py)
    delta_floor: float  # the Gaussian's delta where delta-hat is smaller than this number
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

    - shuffle, the histogram of the k-randomized reports;
    - shuffle+INV, its unbiased inversion, projected to the simplex;
    - gaussian, the true histogram plus Gaussian noise, as in the paper neither projected nor clipped.

    The Gaussian's noise is chosen for eps and delta, at the sensitivity of the protocol. The delta of a
    sample is its `log10_delta_hat`, or protocol.delta_floor where this is smaller. The deltas have shape
    (repetitions,).

    Parameters
    ----------
    samples: histograms of n users each, shape (repetitions, k), a sample per repetition
    eps0: the local budget of the randomized response
    eps: the budget of the Gaussian
    protocol: how the Gaussian's noise is chosen
    rng: the source of randomness
    known: log10 deltas that are already computed for other samples of the same n, k, eps0 and eps, in the
        form of the protocol. Further ones are added
    """
    n = int(samples[0].sum())
    shuffled = sample_histogram(samples, eps0, rng, repetitions=len(samples)) / n

    # published_scale is the standard deviation of diffprivlib's noise, for which it needs a search. So this
    # is done only once for each different delta.
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
    """The errors of shuffle, shuffle+INV and the Gaussian on one dataset, at several points.

    There are the rows of `run_point` for every point, in the order of the points. The columns are
    `TRIAL_COLUMNS`: those of `run_point`, and the point's experiment and repetitions (how many).

    Parameters
    ----------
    counts: how many users of the dataset each cell holds, a histogram (k,)
    points: dicts of experiment ("tv", "individual" or "grid"), eps0 (the local budget), eps (the Gaussian's),
        n (how many users are drawn, or "all") and repetitions
    dataset: its name, on which the random numbers depend
    cells: those whose individual errors are computed, numbered from 1
    protocol: how the Gaussian's noise is chosen
    seed: the root seed, on which the random numbers depend too
    """
    tables = {}
    for point in points:
        experiment = point["experiment"]
        repetitions = int(point["repetitions"])
        eps0 = float(point["eps0"])
        eps = float(point["eps"])
        n = users_of(counts, point["n"])
        key = (experiment, repetitions, eps0, eps, n)
        # A point may be listed twice, with n as "all" and as this number of users.
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
    """The errors of shuffle, shuffle+INV and the Gaussian at one point: a dataset, eps0, eps and n.

    There is a row for every mechanism, error and repetition. Every repetition draws n users of the dataset,
    their reports and the Gaussian's noise. The columns are `POINT_COLUMNS`: those of `error_table`, with the
    mechanism, and

    - dataset, eps0, eps, n (users), k (cells), and seed (of the point's random numbers);
    - delta, for which the Gaussian's noise is chosen at eps.

    Parameters
    ----------
    counts: how many users of the dataset each cell holds, a histogram (k,)
    dataset: its name, on which the point's seed depends
    eps0: the local budget of the randomized response
    eps: the budget of the Gaussian
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
    # Repetitions are run in blocks, whose arrays fit into memory: they have at most BLOCK numbers.
    repetitions_of_block = max(1, BLOCK // len(counts))
    known: dict[Any, float] = {}  # the log10 deltas that are computed, which all blocks share

    def errors_of_block(start: int) -> pd.DataFrame:
        """The errors in the block of repetitions from ``start`` + 1 on, whose arrays are then freed."""
        repetitions_left = repetitions - start
        samples = sample_users(counts, users, rng, min(repetitions_of_block, repetitions_left))
        estimates, deltas = run_mechanisms(
            samples, eps0=eps0, eps=eps, protocol=protocol, rng=rng, known=known
        )
        table = error_table("mechanism", estimates, samples / users, cells)
        repetition = table["repetition"]  # from 1 in every block
        return table.assign(delta=deltas[repetition - 1], repetition=repetition + start)

    starts = range(0, repetitions, repetitions_of_block)
    table = pd.concat(map(errors_of_block, starts), ignore_index=True)

    # Sorted, so that all repetitions of a mechanism, metric and cell follow one another, in their order.
    number_of_series = table.groupby(["mechanism", "metric", "cell"], sort=False).ngroup()
    table = table.iloc[np.argsort(number_of_series, kind="stable")].reset_index(drop=True)
    return table.assign(**point, k=len(counts), seed=seed_of_point)[POINT_COLUMNS]


def error_table(
    name_column: str, estimates: Mapping[str, Floats], truth: Floats, cells: Sequence[int]
) -> pd.DataFrame:
    """The errors of every estimate in every repetition: total variation, and one for each of ``cells``.

    There is a row for every estimate, error and repetition. The columns are

    - ``name_column``, "mechanism" for instance, which has the name of the estimate;
    - metric, which error it is, "tv" (total variation) or "individual_error" (that of one cell);
    - cell, of an individual error, numbered from 1, and 0 for tv;
    - repetition, from 1;
    - value, the error, a fraction of the users;
    - uniform, the same error of the uniform histogram, 1 / k in each cell.

    ``estimates``: name -> estimated fractions of users, and ``truth``: the true ones. Both have shape
    (repetitions, k). ``cells`` are numbered from 1.
    """
    uniform = uniform_histogram(truth.shape[-1])
    tv_of_uniform = total_variation(uniform, truth)
    individual_of_uniform = individual_error(uniform, truth, cells)  # (repetitions, cells)
    repetition = np.arange(1, len(truth) + 1)

    tables = []
    for name, estimate in estimates.items():
        row = {name_column: name, "metric": "tv", "cell": 0, "repetition": repetition}
        row["value"] = total_variation(estimate, truth)
        row["uniform"] = tv_of_uniform
        tables.append(pd.DataFrame(row))

        errors = individual_error(estimate, truth, cells)  # (repetitions, cells)
        for index, cell in enumerate(cells):
            row = {name_column: name, "metric": "individual_error", "cell": cell}
            row["repetition"] = repetition
            row["value"] = errors[:, index]
            row["uniform"] = individual_of_uniform[:, index]
            tables.append(pd.DataFrame(row))
    return pd.concat(tables, ignore_index=True)


def _deltas_of_gaussian(
    samples: Integers, eps0: float, eps: float, protocol: Protocol, known: dict[Any, float]
) -> Floats:
    """The Gaussian's delta for every sample, shape (repetitions,): `log10_delta_hat`, but at least a floor.

    Parameters
    ----------
    samples: histograms of n users each, shape (repetitions, k)
    eps0: the local budget of the randomized response
    eps: the eps of delta
    protocol: its delta_form says how delta-hat is computed, and its delta_floor is the floor
    known: log10 deltas that are already computed for the same n, k, eps0, eps and form. Further ones are
        added, for later calls
    """
    n = int(samples[0].sum())
    k = samples.shape[1]
    floor = protocol.delta_floor
    # Beside the target user, at most this many users hold a value. This gives a bound on every delta-hat, in
    # both forms. If even the bound is below the floor, no delta-hat needs to be computed.
    most_other_holders = int(samples.max()) - 1
    ln_bound = ln_ceiling(eps, n=n, k=k, eps0=eps0, count=most_other_holders)
    if ln_bound <= np.log(floor):
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
