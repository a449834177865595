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

LOG10_ENDS = (-2.0, -30.0)  # of the exact delta-hat, at the first and the last eps
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
    """delta-hat of one sample of users, with a row for every n, eps0 and eps.

    ``counts`` is the dataset's histogram (k,), and ``steps`` the number of eps. The columns are

    - dataset, n, k, eps0, eps;
    - published_value, the value whose count has the largest delta as printed, numbered from 1;
    - published_count, how many users hold it;
    - published, log10 of this delta;
    - exact_value, exact_count and exact, the same for the exact delta;
    - upper, log10 of the proven bound on delta of the whole histogram, for every dataset;
    - diffprivlib, log10 of the delta of diffprivlib's noise where its search stops.
    """
    rows = []
    for size in n:
        users = users_of(counts, size)
        sample = sample_of(counts, dataset=dataset, n=users, seed=seed)
        for budget in map(float, eps0):
            for eps in eps_grid(sample, budget, steps):
                row = {"dataset": dataset, "n": users, "k": len(counts), "eps0": budget, "eps": eps}
                row.update(_deltas(sample, eps, budget))
                rows.append(row)
    return pd.DataFrame(rows)


def sample_of(counts: Integers, *, dataset: str, n: int, seed: int) -> Integers:
    """The histogram (k,) of the n users whose delta-hat is computed, drawn from the dataset's ``counts``."""
    rng = np.random.default_rng(seed_of(seed, stage="delta-hat users", dataset=dataset, n=n))
    return sample_users(counts, n, rng, 1)[0]


def eps_grid(sample: Integers, eps0: float, steps: int) -> list[float]:
    """``steps`` values of eps below eps0, evenly spaced, at whose ends log10 of delta-hat is `LOG10_ENDS`.

    Where delta-hat never exceeds 1e-2, or does not fall to 1e-30, the grid ends near 0 or near eps0. The
    values have three significant digits.
    """

    def excess(eps: float, log10_end: float) -> float:
        return delta_hat(sample, eps, eps0=eps0, form="exact", known={}) - log10_end

    smallest = 1e-3 * eps0
    largest = 0.95 * eps0
    ends = []
    for log10_end in LOG10_ENDS:
        if excess(smallest, log10_end) <= 0:
            ends.append(smallest)
        elif excess(largest, log10_end) >= 0:
            ends.append(largest)
        else:
            end = optimize.brentq(excess, smallest, largest, args=(log10_end,), rtol=1e-3)
            ends.append(float(end))

    return [float(f"{eps:.3g}") for eps in np.linspace(ends[0], ends[1], steps)]


def _deltas(sample: Integers, eps: float, eps0: float) -> dict[str, Any]:
    """The columns of one row that depend on eps."""
    columns: dict[str, Any] = {}
    for form in ("published", "exact"):
        worst = worst_count(sample, eps, eps0=eps0, form=form, known={})
        count = worst.others + 1
        columns[f"{form}_value"] = int(np.flatnonzero(sample == count)[0]) + 1
        columns[f"{form}_count"] = count
        columns[form] = worst.log10_delta

    columns["upper"] = upper(eps, n=int(sample.sum()), k=len(sample), eps0=eps0, log10=True)
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
