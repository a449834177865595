"""A synthetic dataset: users with normal values, counted in cells."""

import numpy as np
import pandas as pd
from scipy import special

from scripts.shared.job import job, write_csv
from scripts.shared.seeds import seed_of
from tightshuffle.arguments import Floats

# Larger populations are sampled cell by cell: the same distribution, faster.
MOST_USERS_ONE_BY_ONE = 10**7
BLOCK = 10**6  # users that are sampled at a time


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
    """The histogram of a random population with normal values, counted in cells of equal width.

    There is one row per cell, with the columns cell (from 1), count (how many users it holds), low and high
    (its limits). Values outside of ``range`` count for the first or the last cell, so low of the first cell
    and high of the last one are infinite.

    Parameters
    ----------
    mean: of the normal distribution
    spread: its standard deviation or its variance
    spread_is: which of both spread is, "standard deviation" or "variance". The paper's N(0, 2) does not say
    range: (low, high), the interval that is cut into the cells
    cells: how many cells there are
    population: how many users are drawn
    rng: the source of randomness
    """
    deviation = spread if spread_is == "standard deviation" else np.sqrt(spread)
    edges = np.linspace(*range, cells + 1)
    edges[0], edges[-1] = -np.inf, np.inf
    if population > MOST_USERS_ONE_BY_ONE:
        # Counts of many users at once: time and memory do not grow with the population.
        counts = rng.multinomial(population, cell_probabilities((edges - mean) / deviation))
    else:
        # User by user, in blocks: memory does not grow with the population.
        counts = np.zeros(cells, dtype=np.int64)
        for start in np.arange(0, population, BLOCK).tolist():
            values = rng.normal(mean, deviation, min(BLOCK, population - start))
            # searchsorted counts the edges up to a value. This is the number of its cell, from 1.
            counts += np.bincount(np.searchsorted(edges, values, side="right") - 1, minlength=cells)
    return pd.DataFrame(
        {"cell": np.arange(1, cells + 1), "count": counts, "low": edges[:-1], "high": edges[1:]}
    )


def cell_probabilities(edges: Floats) -> Floats:
    """The probabilities of a standard normal number between neighbouring edges: shape (k,), sum 1.

    ``edges`` are k + 1 rising numbers, in standard deviations from the mean. Each probability has an error of
    about 1e-12. ndtr(x) is P(number <= x), and so close to 1 for large x that differences of it lose digits.
    So a cell above 0 is mirrored: it has the probability of the cell from -high to -low.
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
