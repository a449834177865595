"""The users of a dataset: how many there are, and samples of them."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from scripts.shared.histograms import NUMPYS_LIMIT
from tightshuffle.arguments import Integers

Users = int | Literal["all"]


def users_of(counts: npt.ArrayLike, n: Users) -> int:
    """The number of users that ``n`` means: itself, or for "all" the sum of the histogram ``counts`` (k,)."""
    return int(np.sum(counts)) if n == "all" else int(n)


def sample_users(counts: Integers, n: int, rng: np.random.Generator, repetitions: int) -> Integers:
    """Histograms (repetitions, k) of n users drawn without replacement from the histogram ``counts`` (k,).

    ValueError if it holds fewer than n users or at least `NUMPYS_LIMIT`.
    """
    users = int(counts.sum())
    if n > users:
        raise ValueError(f"n must lie between 1 and the dataset's {users} users; got {n}")
    if users >= NUMPYS_LIMIT:
        raise ValueError(f"counts must sum to fewer than {NUMPYS_LIMIT:,} users; got {users:,}")
    return rng.multivariate_hypergeometric(counts, n, size=repetitions, method="marginals")
