"""delta-hat where it is not 0, that is for eps < eps0: as printed, exact, and beside a proven bound.

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
from scripts.paper.delta.delta_hat import delta_hat, worst_count
from scripts.shared.histograms import read_histogram
from scripts.shared.job import job, write_csv
from scripts.shared.published_gaussian import published_scale
from tightshuffle.arguments import Integers
from tightshuffle.gaussian import log10_delta_of_scale
from tightshuffle.guarantee import upper  # the guarantee alone: this stage needs no other bound
from tightshuffle.numerics.seeds import seed_of

SETTING = ["dataset", "n", "k", "eps0"]  # what the rows of one sample and one eps0 share
LOG10_ENDS = (-2.0, -30.0)  # log10 of the exact delta-hat at the first and the last eps
SMALLEST_FLOAT = 324  # -log10 of a delta that is 0 as a float, so that diffprivlib refuses it
DELTA_AFTER_THE_STOP = 1e-30  # a delta at which the search for diffprivlib's scale has stopped


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

    delta-hat is the largest delta that the number of reports of one value has, over all values that users of
    the sample hold. The paper gives this delta to the Gaussian mechanism. The columns are

    - dataset, n (users of the sample), k (values), eps0, eps;
    - published_value, the value with the largest delta by the paper's printed formula, numbered from 1;
    - published_count, how many users of the sample hold it;
    - published, log10 of this delta;
    - exact_value, exact_count and exact, the same by the exact delta;
    - upper, log10 of a proven bound on the delta of the whole histogram of reports, for every dataset;
    - diffprivlib, log10 of the delta of the largest noise that diffprivlib's Gaussian adds at this eps.

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
    """The histogram (k,) of the n users whose delta-hat is computed, drawn from the dataset's ``counts``."""
    rng = np.random.default_rng(seed_of(seed, stage="delta-hat users", dataset=dataset, n=n))
    return sample_users(counts, n, rng, 1)[0]


def eps_grid(sample: Integers, eps0: float, steps: int) -> list[float]:
    """Evenly spaced values of eps below eps0, over which the exact delta-hat falls from 1e-2 to 1e-30.

    delta-hat is the largest delta of a count that occurs. ``sample`` is a histogram (k,) of users, of whom
    delta-hat is computed, and ``steps`` is how many values there are. They have three significant digits.
    Where delta-hat is below 1e-2 even at the smallest eps, or above 1e-30 even at the largest one, the grid
    begins or ends there.
    """

    def excess(eps: float, log10_end: float) -> float:
        log10_delta_hat = delta_hat(sample, eps, eps0=eps0, form="exact", known={})
        return log10_delta_hat - log10_end

    smallest = 1e-3 * eps0
    largest = 0.95 * eps0  # at eps0, delta-hat is 0
    ends = []
    for log10_end in LOG10_ENDS:
        if excess(smallest, log10_end) <= 0:
            ends.append(smallest)
        elif excess(largest, log10_end) >= 0:
            ends.append(largest)
        else:
            # delta-hat falls with eps, so there is one eps at which it has this value.
            end = optimize.brentq(excess, smallest, largest, args=(log10_end,), rtol=1e-3)
            ends.append(float(end))

    return [float(f"{eps:.3g}") for eps in np.linspace(ends[0], ends[1], steps)]


def _columns_of_deltas(sample: Integers, eps: float, eps0: float) -> dict[str, Any]:
    """The columns of one row that depend on eps, by name, as `compute_delta_hat` explains them.

    They are value, count and log10 delta of the worst count in both forms of delta ("published" and "exact"),
    and log10 of two other deltas, upper and diffprivlib. ``sample`` is the histogram (k,) of the users.
    """
    columns: dict[str, Any] = {}
    for form in ("published", "exact"):
        worst = worst_count(sample, eps, eps0=eps0, form=form, known={})
        count = worst.others + 1  # the other holders of the value, and the attacked user
        columns[f"{form}_value"] = int(np.flatnonzero(sample == count)[0]) + 1  # numbered from 1
        columns[f"{form}_count"] = count
        columns[form] = worst.log10_delta

    columns["upper"] = upper(eps, n=int(sample.sum()), k=len(sample), eps0=eps0, log10=True)
    # For a smaller delta diffprivlib adds no more noise. The sensitivity is 1 in both calls.
    scale = published_scale(eps, DELTA_AFTER_THE_STOP, 1.0)
    columns["diffprivlib"] = float(log10_delta_of_scale(eps, scale=scale))
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
