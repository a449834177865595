"""delta-hat where it is not 0, that is for eps < eps0: as printed and exact.

For eps >= eps0, as in the paper's figures and tables, delta-hat is 0. Here, in an experiment of our own, eps
lies below eps0.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize

from scripts.paper.data.users import Users, sample_users, users_of
from scripts.paper.delta.delta_hat import log10_delta_hat, worst_count
from scripts.shared.histograms import read_histogram
from scripts.shared.job import job, write_csv
from scripts.shared.published_gaussian import published_scale
from scripts.shared.seeds import seed_of
from tightshuffle.arguments import Integers
from tightshuffle.mechanisms.gaussian import log10_delta_of_scale

LARGEST_LOG10_DELTA = -2.0  # log10 of the exact delta-hat at the first eps is at most this
SMALLEST_LOG10_DELTA = -30.0  # log10 of the exact delta-hat at the last eps
# diffprivlib's noise does not grow any more where delta falls further. At this delta it is the largest.
DELTA_OF_LARGEST_NOISE = 1e-30


def compute_delta_hat(
    counts: Integers,
    *,
    dataset: str,
    n: Iterable[Users],
    eps0: Iterable[float],
    steps: int,
    seed: int,
) -> pd.DataFrame:
    """`log10_delta_hat` of samples of a dataset's users, with a row for every n, eps0 and eps.

    The columns are

    - dataset, n (users of the sample), k (values), eps0, eps;
    - published, log10 of delta-hat as printed;
    - published_value, the value that has this delta, numbered from 1;
    - published_count, how many users of the sample hold this value;
    - exact, exact_value and exact_count, the same three of the exact delta-hat;
    - diffprivlib, log10 of a delta. diffprivlib's Gaussian adds more noise for a smaller delta, but only up
      to a largest noise. This column has the delta that the largest noise really gives at eps.

    Parameters
    ----------
    counts: how many users of the dataset hold each value, a histogram (k,)
    dataset: its name, on which the samples depend
    n: sizes of the samples; "all" is the whole dataset
    eps0: local budgets
    steps: how many eps there are for every n and eps0
    seed: the root seed, on which the samples depend too
    """
    rows = []
    for size in n:
        users = users_of(counts, size)
        sample = sample_of(counts, dataset=dataset, n=users, seed=seed)
        for budget in map(float, eps0):
            for eps in eps_grid(sample, budget, steps):
                row = {"dataset": dataset, "n": users, "k": len(counts), "eps0": budget, "eps": eps}
                row.update(_columns_of_deltas(sample, eps, budget))
                rows.append(row)
    return pd.DataFrame(rows)


def sample_of(counts: Integers, *, dataset: str, n: int, seed: int) -> Integers:
    """The histogram (k,) of n users, drawn at random from the dataset's histogram ``counts`` (k,).

    The same ``dataset`` (its name), n and ``seed`` (the root seed) give the same users again.
    """
    rng = np.random.default_rng(seed_of(seed, stage="delta-hat users", dataset=dataset, n=n))
    (sample,) = sample_users(counts, n, rng, repetitions=1)
    return sample


def eps_grid(sample: Integers, eps0: float, steps: int) -> list[float]:
    """Values of eps below eps0 in even ratios, over which the exact delta-hat falls to 1e-30.

    The first eps is where the exact delta-hat is 1e-2, or half of its value at eps = 0 where this is smaller.
    So the grid does not begin at an eps that is small without a reason: the error of a Gaussian whose delta
    is far too small grows like 1 / eps. The last eps is where the exact delta-hat is 1e-30. No eps is larger
    than 0.95 eps0.

    ``sample`` is the histogram (k,) of the users, ``eps0`` their local budget, and ``steps`` the number of
    eps. The eps have three significant digits.
    """

    def log10_delta(eps: float) -> float:
        return log10_delta_hat(sample, eps, eps0=eps0, form="exact", known={})

    half_of_largest = log10_delta(0.0) - math.log10(2)
    first = _eps_of(min(LARGEST_LOG10_DELTA, half_of_largest), log10_delta, eps0)
    last = _eps_of(SMALLEST_LOG10_DELTA, log10_delta, eps0)
    return [float(f"{eps:.3g}") for eps in np.geomspace(first, last, steps)]


def _eps_of(log10_end: float, log10_delta: Callable[[float], float], eps0: float) -> float:
    """The eps at which ``log10_delta(eps)``, which falls with eps, is ``log10_end``; 0.95 eps0 at most.

    At eps = 0 it must be larger than ``log10_end``.
    """
    largest = 0.95 * eps0  # less than eps0, where delta-hat is 0 and log10 is not finite
    if log10_delta(largest) >= log10_end:
        return largest

    def excess(eps: float) -> float:
        return log10_delta(eps) - log10_end

    # To a relative error of 1e-3 only, since the eps of the grid are rounded to three digits.
    return float(optimize.brentq(excess, 0.0, largest, rtol=1e-3))


def _columns_of_deltas(sample: Integers, eps: float, eps0: float) -> dict[str, Any]:
    """One row's columns with deltas at eps, and the values that have these deltas: name -> a number.

    They are those of `compute_delta_hat` from published on. ``sample`` is the histogram (k,) of the users,
    and ``eps0`` their local budget.
    """
    columns: dict[str, Any] = {}
    for form in ("published", "exact"):
        worst = worst_count(sample, eps, eps0=eps0, form=form, known={})
        holders = worst.other_holders + 1  # with the target user
        # All values with so many holders have the same delta: the first of them is named.
        columns[f"{form}_value"] = int(np.flatnonzero(sample == holders)[0]) + 1
        columns[f"{form}_count"] = holders
        columns[form] = worst.log10_delta

    # The sensitivity is 1 here, and by default in `log10_delta_of_scale`.
    largest_noise = published_scale(eps, DELTA_OF_LARGEST_NOISE, sensitivity=1.0)
    columns["diffprivlib"] = float(log10_delta_of_scale(eps, scale=largest_noise))
    return columns


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        table = compute_delta_hat(
            read_histogram(snakemake.input.histogram),
            dataset=snakemake.wildcards.dataset,
            n=params.delta_hat["n"],
            eps0=params.delta_hat["eps0"],
            steps=params.delta_hat["steps"],
            seed=params.seed,
        )
        write_csv(table, snakemake.output[0])
