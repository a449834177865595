"""delta-hat where it is not 0, that is for eps < eps0: as printed and exact.

delta-hat is the delta that the paper gives the Gaussian mechanism. For eps >= eps0, as in the paper's figures
and tables, it is 0. Here, in an experiment of our own, eps lies below eps0, where the exact delta-hat falls
from about 1e-2 to 1e-30.
"""

from collections.abc import Iterable
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
from tightshuffle.gaussian import log10_delta_of_scale

LOG10_ENDS = (-2.0, -30.0)  # log10 of the exact delta-hat at the first and the last eps
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
    """delta-hat of samples of a dataset's users, with a row for every n, eps0 and eps.

    delta-hat is the delta that the paper gives the Gaussian mechanism. Every value that users of the sample
    hold has a delta at eps: that of releasing only the number of its reports. delta-hat is the largest of
    them. The columns are

    - dataset, n (users of the sample), k (values), eps0, eps;
    - published, log10 of delta-hat by the formula that the paper's Theorem 1 prints;
    - published_value, the value that has this delta, numbered from 1;
    - published_count, how many users of the sample hold this value;
    - exact, exact_value and exact_count, the same three by the true delta;
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
    """Evenly spaced values of eps below eps0, over which the exact delta-hat falls from 1e-2 to 1e-30.

    Every value that users of the sample hold has a delta at eps: that of releasing only the number of its
    reports. delta-hat is the largest of them.

    All eps lie between 0.001 eps0 and 0.95 eps0. If delta-hat is below 1e-2 already at 0.001 eps0, the grid
    begins there. If it is above 1e-30 still at 0.95 eps0, the grid ends there.

    ``sample`` is the histogram (k,) of the users, ``eps0`` their local budget, and ``steps`` the number of
    eps. The eps have three significant digits.
    """

    def excess(eps: float, log10_end: float) -> float:
        """How far log10 of delta-hat at eps is above ``log10_end``."""
        return log10_delta_hat(sample, eps, eps0=eps0, form="exact", known={}) - log10_end

    smallest = 1e-3 * eps0
    largest = 0.95 * eps0  # less than eps0, where delta-hat is 0 and log10 is not finite
    ends = []
    for log10_end in LOG10_ENDS:
        if excess(smallest, log10_end) <= 0:
            ends.append(smallest)
        elif excess(largest, log10_end) >= 0:
            ends.append(largest)
        else:
            # delta-hat falls with eps, so there is one eps at which it has this value. It is found to a
            # relative error of 1e-3 only, since the eps of the grid are rounded to three digits.
            end = optimize.brentq(excess, smallest, largest, args=(log10_end,), rtol=1e-3)
            ends.append(float(end))

    first, last = ends
    return [float(f"{eps:.3g}") for eps in np.linspace(first, last, steps)]


def _columns_of_deltas(sample: Integers, eps: float, eps0: float) -> dict[str, Any]:
    """One row's columns with deltas at eps, and the values that have these deltas: name -> a number.

    Every value that users hold has a delta at eps: that of releasing only the number of its reports.
    delta-hat is the largest of them. The columns are

    - published: log10 of delta-hat by the formula that the paper's Theorem 1 prints;
    - published_value and published_count: the value that has this delta, numbered from 1, and its holders;
    - exact, exact_value and exact_count: the same three by the true deltas;
    - diffprivlib: log10 of the delta that the largest noise of diffprivlib's Gaussian really gives at eps.

    ``sample`` is the histogram (k,) of the users, and ``eps0`` their local budget.
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
        settings = snakemake.params.settings
        table = compute_delta_hat(
            read_histogram(snakemake.input.histogram),
            dataset=snakemake.wildcards.dataset,
            n=settings["n"],
            eps0=settings["eps0"],
            steps=settings["steps"],
            seed=settings["seed"],
        )
        write_csv(table, snakemake.output[0])
