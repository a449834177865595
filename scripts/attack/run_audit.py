"""Simulate shuffled k-RR with every report drawn, for two datasets that an attacker tries to distinguish.

In both datasets, called worlds, n users report through k-RR, independently of each other. The worlds differ
in one user, the victim, who holds x0 or x1. Of the remaining users ``count`` hold x0, and all who do not hold
x0 hold one value, ``remaining``. The observer counts the reports. The shuffler's order changes no count, so
it is not drawn.

Each report uses one of 2^32 equally likely numbers, so q is rounded up to a multiple of 2^-32. The result is
exactly k-RR with a slightly smaller eps0, which is a post-processing of each report of k-RR with eps0. So the
rounding can only lower delta, and a lower bound on delta stays valid.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.typing import NDArray

from scripts.shared.job import job, write_parquet
from tightshuffle.arguments import (
    Floats,
    Integers,
    check_choice,
    check_count,
    check_eps0,
    check_k,
    check_n,
    check_one,
    check_whole,
)
from tightshuffle.numerics.seeds import seed_of
from tightshuffle.randomizers.krr import lie_probability, truth_probability

REMAINING = ("x1", "x2")  # the values that the remaining users without x0 may hold
HALVES = ("choose", "report")
USERS = ("x0", "x1")  # the victim's value in each world
_SETTING = ["n", "k", "eps0", "count", "remaining"]

_X0, _X1, _X2 = 0, 1, 2
_BLOCK = 2**17  # reports per random stream: as many as fit into the caches
_LARGEST_N = 2000  # the tallies hold (n + 1)^2 pairs of counts
_LARGEST_K = 2**16


@dataclass(frozen=True)
class Tally:
    """What the observer counted: ``tables[half][world]``, (n+1, n+1), runs by their counts of x0 and x1.

    Half 0 chooses the event, half 1 gives the bound. In world 0 the victim holds x0, in world 1 x1. ``runs``
    is the number of runs in each world.
    """

    n: int
    k: int
    eps0: float
    count: int
    remaining: str
    runs: int
    tables: Integers

    @cached_property
    def log_likelihood_ratio(self) -> Floats:
        """log P/Q of every pair of counts (n+1, n+1), by the exact distributions."""
        # Pairs as rare as the error of the distributions occur in no run; any value is fine for them.
        distributions = [np.maximum(pair_distribution(self, world), 1e-15) for world in range(2)]
        return np.log(distributions[0]) - np.log(distributions[1])

    def columns(self) -> dict[str, NDArray[Any]]:
        """The tally as a tidy table's columns: its setting, half, user (x0 or x1), x0, x1, runs; no zeros."""
        where = np.nonzero(self.tables)
        columns: dict[str, NDArray[Any]]
        columns = {name: np.full(where[0].size, getattr(self, name)) for name in _SETTING}
        columns |= {"half": np.array(HALVES)[where[0]], "user": np.array(USERS)[where[1]]}
        return columns | {"x0": where[2], "x1": where[3], "runs": self.tables[where]}

    @classmethod
    def of(cls, columns: Mapping[str, npt.ArrayLike]) -> Self:
        """The tally whose `columns` these are, a mapping or a data frame; the order of the rows is free."""
        arrays = {name: np.asarray(column) for name, column in columns.items()}
        setting = {name: arrays[name][:1].tolist()[0] for name in _SETTING}
        tables = np.zeros((2, 2, setting["n"] + 1, setting["n"] + 1), dtype=np.int64)
        half, user = (arrays["half"] == HALVES[1]).astype(int), (arrays["user"] == USERS[1]).astype(int)
        tables[half, user, arrays["x0"], arrays["x1"]] = arrays["runs"]
        return cls(**setting, runs=int(tables[:, 0].sum()), tables=tables)


def randomize(
    values: npt.ArrayLike, eps0: float, k: int, rng: "np.random.Generator", runs: int
) -> NDArray[np.uint32]:
    """Every user's report by k-RR in each of ``runs`` runs.

    Parameters: ``values``, whole numbers in 0..k-1, shape (n,). Returns whole numbers, shape (runs, n).
    """
    values = np.asarray(values, dtype=np.uint32)
    # Two draws of 32 bits in each of 64: the same numbers, in less than half the time.
    pairs = rng.integers(0, 2**64, size=(runs * values.size + 1) // 2, dtype=np.uint64)
    draws = pairs.view(np.uint32)[: runs * values.size].reshape(runs, values.size)
    # Steps 1 to k - 1 around the ring of values are false reports, equally likely; step k is the true value.
    draws //= np.uint32(_lie_weight(eps0, k))
    np.minimum(draws, np.uint32(k - 1), out=draws)
    draws += values + np.uint32(1)
    # Unsigned: draws - k wraps to a huge number where draws < k.
    np.minimum(draws, draws - np.uint32(k), out=draws)
    return draws


def play(
    *,
    n: int,
    k: int,
    eps0: float,
    count: int,
    runs: int,
    remaining: str | None = None,
    seed: int = 0,
    cores: int = 1,
) -> Tally:
    """Simulate ``runs`` runs in each world and count the reports.

    Parameters
    ----------
    n, k, eps0, count : ``n`` users, ``k`` values, ``count`` of the remaining n - 1 users hold x0
    runs : in each world, at least 2; the first half is for choosing events, the second for reporting
    remaining : "x1" or "x2" (any third value), held by the remaining users who do not hold x0; by default x2
        if there is one
    seed : root seed; the tally depends on the seed and the parameters above only
    cores : threads; any number gives the same tally

    Returns
    -------
    Tally. Time about 5 ns per report and core, memory some MB per core.

    Raises
    ------
    ValueError naming the argument that is out of range.
    """
    n, k, count = (
        check_one(*pair) for pair in (("n", check_n(n)), ("k", check_k(k)), ("count", check_count(count, n)))
    )
    eps0 = check_one("eps0", check_eps0(eps0))
    if remaining is None:
        remaining = "x2" if k > 2 else "x1"
    check_choice("remaining", remaining, REMAINING)
    if n > _LARGEST_N:
        raise ValueError(f"n must be at most {_LARGEST_N} for an audit, as it draws every report; got {n}")
    if k > _LARGEST_K:
        raise ValueError(f"k must be at most {_LARGEST_K} for an audit; got {k}")
    if k == 2 and remaining == "x2":
        raise ValueError("remaining must be x1 for k = 2; got x2, a third value")
    if k * _lie_weight(eps0, k) > 2**32:
        raise ValueError(f"eps0 must be at least about {k * k / 2**32:.0e} for an audit; got {eps0:g}")
    runs, cores = check_whole("runs", runs, 2), check_whole("cores", cores, 1)

    all_but_one = [_X0] * count + [_X1 if remaining == "x1" else _X2] * (n - 1 - count)
    setting: dict[str, float] = {"n": n, "k": k, "eps0": eps0, "count": count}
    blocks = list(_blocks(n, runs))

    def work(share: list[tuple[int, int, int, int]]) -> Integers:
        tables = np.zeros((2, 2, (n + 1) ** 2), dtype=np.int64)
        for half, world, number, size in share:
            place = {"world": world, "block": number}
            # In seeds ``remaining`` is called "rest": another name would change the numbers of every run.
            names = {"stage": "audit", "half": HALVES[half], "rest": remaining}
            rng = np.random.default_rng(seed_of(seed, **names, **place, **setting))
            values = np.array([_X0 if world == 0 else _X1, *all_but_one])
            reports = randomize(values, eps0, k, rng, size)
            x0, x1 = ((reports == value).view(np.uint8).sum(axis=1, dtype=np.uint16) for value in (_X0, _X1))
            tables[half, world] += np.bincount(x0.astype(np.intp) * (n + 1) + x1, minlength=(n + 1) ** 2)
        return tables

    with ThreadPoolExecutor(int(cores)) as pool:
        shares = [blocks[i :: int(cores)] for i in range(int(cores))]
        tables = np.sum(list(pool.map(work, shares)), axis=0)
    return Tally(n, k, eps0, count, remaining, int(runs), tables.reshape(2, 2, n + 1, n + 1))


def _blocks(n: int, runs: int) -> Iterator[tuple[int, int, int, int]]:
    """(half, world, number, runs) of every block; the block's size depends on n alone."""
    most = max(1, _BLOCK // n)
    for half, share in enumerate((runs // 2, runs - runs // 2)):
        for number, start in enumerate(range(0, share, most)):
            for world in range(2):
                yield half, world, number, min(most, share - start)


def _lie_weight(eps0: float, k: int) -> int:
    """How many of 2^32 equally likely numbers give one particular false report: q rounded up."""
    return int(np.floor(lie_probability(eps0, k) * 2.0**32)) + 1


def pair_distribution(tally: Tally, world: int) -> Floats:
    """Exact distribution of (count of x0, count of x1), shape (n+1, n+1); absolute error about 1e-16."""
    n, k, eps0 = tally.n, tally.k, tally.eps0
    p, q = truth_probability(eps0, k), lie_probability(eps0, k)
    root = np.exp(-2j * np.pi * np.arange(n + 1) / (n + 1)) - 1
    x0, x1 = root[:, None], root[None, :]
    transforms = {"x0": 1 + p * x0 + q * x1, "x1": 1 + q * x0 + p * x1, "x2": 1 + q * (x0 + x1)}
    remaining = transforms["x0"] ** tally.count * transforms[tally.remaining] ** (n - 1 - tally.count)
    return np.fft.ifft2(remaining * transforms[("x0", "x1")[world]]).real


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        tally = play(**params.setting, remaining=params.remaining, cores=snakemake.threads, seed=params.seed)
        write_parquet([pd.DataFrame(tally.columns())], snakemake.output[0])
