"""A synthetic dataset: users with normal values, counted in cells."""

import numpy as np
import pandas as pd
from scipy import special

from scripts.shared.job import job, write_csv
from tightshuffle.arguments import Floats
from tightshuffle.numerics.seeds import seed_of

# Populations beyond it are sampled cell by cell: the same distribution, faster.
USER_BY_USER = 10**7
BLOCK = 10**6  # users sampled at a time: memory does not grow with the population


def sample_normal(
    *,
    mean: float,
    spread: float,
    spread_is: str,
    range: tuple[float, float],
    cells: int,
    population: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Sample a population from a normal distribution and count it in cells of equal width.

    ``spread`` is a "standard deviation" or a "variance": the paper's N(0, 2) does not say which. ``range``,
    (low, high), is cut into cells; numbers outside count for the first or last cell. Returns one row per
    cell: cell (from 1), count, low, high; the outermost limits are infinite. Beyond `USER_BY_USER` users the
    counts are sampled as one multinomial, so time and memory depend on ``cells`` only.
    """
    deviation = spread if spread_is == "standard deviation" else np.sqrt(spread)
    edges = np.linspace(*range, cells + 1)
    edges[0], edges[-1] = -np.inf, np.inf
    if population > USER_BY_USER:
        counts = rng.multinomial(population, cell_probabilities((edges - mean) / deviation))
    else:
        counts = np.zeros(cells, dtype=np.int64)
        for start in np.arange(0, population, BLOCK).tolist():
            values = rng.normal(mean, deviation, min(BLOCK, population - start))
            counts += np.bincount(np.searchsorted(edges, values, side="right") - 1, minlength=cells)
    return pd.DataFrame(
        {"cell": np.arange(1, cells + 1), "count": counts, "low": edges[:-1], "high": edges[1:]}
    )


def cell_probabilities(edges: Floats) -> Floats:
    """Standard normal probabilities between neighbouring edges (k + 1,): shape (k,), each to about 1e-12.

    Above 0 they are differences of upper tails, so that no digits are lost there either.
    """
    low, high = edges[:-1], edges[1:]
    mirrored = low > 0
    low, high = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
    probabilities = special.ndtr(high) - special.ndtr(low)
    return np.asarray(probabilities / probabilities.sum())


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        seed = seed_of(params.seed, stage="synthetic", dataset=snakemake.wildcards.dataset)
        write_csv(
            sample_normal(**params.normal, rng=np.random.default_rng(seed)), snakemake.output[0]
        )
