"""Simulate shuffled k-RR with every report drawn, for two datasets that an attacker tries to distinguish.

In both datasets, called worlds, n users report through k-RR, independently of each other. The worlds differ
in one user, the target user, who holds x0 or x1. Of the other users ``count`` hold x0, and all who do not
hold x0 hold one value, ``remaining``. The attacker counts the reports of x0 and x1. The shuffler's order
changes no count, so it is not drawn.

Each report uses one of 2^32 equally likely numbers, so q is rounded up to a multiple of 2^-32. The result is
exactly k-RR with a slightly smaller eps0, which is a post-processing of each report of k-RR with eps0. So the
rounding can only lower delta, and a lower bound on delta stays valid.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.typing import NDArray

from scripts.shared.job import job, write_parquet
from tightshuffle.arguments import Floats, Integers
from tightshuffle.krr import lie_probability, truth_probability
from tightshuffle.numerics.seeds import seed_of

REMAINING = ("x1", "x2")  # the value, x2 being any third one, of the other users who do not hold x0
HALVES = ("choose", "report")
USERS = ("x0", "x1")  # the target user's value in each world
_SETTING = ["n", "k", "eps0", "count", "remaining"]
_BLOCK = 2**17  # reports per random stream: as many as fit into the caches


@dataclass(frozen=True)
class Tally:
    """What the attacker counted: ``tables[half][world]``, (n+1, n+1), runs by their counts of x0 and x1.

    Half 0 chooses the event, half 1 gives the bound. In world 0 the target user holds x0, in world 1 x1.
    ``runs`` is the number of runs in each world.
    """

    n: int
    k: int
    eps0: float
    count: int
    remaining: str
    runs: int
    tables: Integers

    @property
    def reporting_runs(self) -> int:
        """How many of the runs in each world are in the half that gives the bound."""
        return self.runs - self.runs // 2

    @cached_property
    def log_likelihood_ratio(self) -> Floats:
        """log P/Q of every pair of counts (n+1, n+1), by the exact distributions."""
        # Pairs as rare as the error of the distributions occur in no run; any value is fine for them.
        distributions = [np.maximum(pair_distribution(self, world), 1e-15) for world in range(2)]
        return np.log(distributions[0]) - np.log(distributions[1])

    def frame(self) -> pd.DataFrame:
        """The tally as a tidy table: its setting, half, user (x0 or x1), x0, x1, runs; no zeros."""
        half, world, x0, x1 = np.nonzero(self.tables)
        setting = pd.DataFrame({name: getattr(self, name) for name in _SETTING}, index=range(len(half)))
        runs = self.tables[half, world, x0, x1]
        return setting.assign(
            half=np.array(HALVES)[half], user=np.array(USERS)[world], x0=x0, x1=x1, runs=runs
        )

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Self:
        """The tally with this `frame`; the order of the rows is free."""
        setting: dict[str, Any] = {name: frame[name].tolist()[0] for name in _SETTING}
        tables = np.zeros((2, 2, setting["n"] + 1, setting["n"] + 1), dtype=np.int64)
        half, world = frame["half"].map(HALVES.index), frame["user"].map(USERS.index)
        tables[half, world, frame["x0"], frame["x1"]] = frame["runs"]
        return cls(**setting, runs=int(tables[:, 0].sum()), tables=tables)


def draw_steps(n: int, eps0: float, k: int, rng: np.random.Generator, runs: int) -> NDArray[np.uint32]:
    """How far k-RR moves each of n users' values around the ring 0..k-1, less 1: shape (runs, n).

    0 to k - 2 are false reports, equally likely; k - 1 leads around the whole ring to the true value.
    """
    # Two draws of 32 bits in each of 64: the same numbers, in less than half the time.
    pairs = rng.integers(0, 2**64, size=(runs * n + 1) // 2, dtype=np.uint64)
    draws = pairs.view(np.uint32)[: runs * n].reshape(runs, n)
    draws //= np.uint32(_lie_weight(eps0, k))
    return np.minimum(draws, np.uint32(k - 1), out=draws)


def count_reports(value: int, values: npt.ArrayLike, steps: NDArray[np.uint32], k: int) -> Integers:
    """How many of the reports values + 1 + steps, modulo k, are ``value``; shape (runs,).

    ``values`` in 0..k-1 of the users, shape (n,); ``steps`` as `draw_steps`.
    """
    wanted = (value - 1 - np.asarray(values, dtype=int)) % k
    return (steps == wanted.astype(np.uint32)).view(np.uint8).sum(axis=1, dtype=np.uint16).astype(int)


def play(
    *, n: int, k: int, eps0: float, count: int, runs: int, remaining: str | None = None, seed: int = 0
) -> Tally:
    """Simulate ``runs`` runs in each world and count the reports, in about 3 ns per report.

    Of the ``n`` users, ``count`` of the other n - 1 hold x0. The first half of the runs is for choosing
    events, the second for reporting. ``remaining``: of `REMAINING`, by default x2 if there is a third value.
    ValueError for an eps0 that is too small for so many values.
    """
    if k * _lie_weight(eps0, k) > 2**32:
        raise ValueError(f"eps0 must be at least about {k * k / 2**32:.0e} for an audit; got {eps0:g}")
    eps0, remaining = float(eps0), remaining or ("x2" if k > 2 else "x1")
    others = [0] * count + [REMAINING.index(remaining) + 1] * (n - 1 - count)
    tables = np.zeros((2, 2, (n + 1) ** 2), dtype=np.int64)
    for half, world, number, size in _blocks(n, runs):
        # In seeds ``remaining`` is called "rest": another name would change the numbers of every run.
        names: dict[str, Any] = {
            "stage": "audit",
            "half": HALVES[half],
            "rest": remaining,
            "world": world,
            "block": number,
        }
        rng = np.random.default_rng(seed_of(seed, **names, n=n, k=k, eps0=eps0, count=count))
        steps = draw_steps(n, eps0, k, rng, size)
        x0, x1 = (count_reports(value, [world, *others], steps, k) for value in (0, 1))
        tables[half, world] += np.bincount(x0 * (n + 1) + x1, minlength=(n + 1) ** 2)
    return Tally(n, k, eps0, count, remaining, runs, tables.reshape(2, 2, n + 1, n + 1))


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
    return np.fft.ifft2(remaining * transforms[USERS[world]]).real


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        tally = play(**params.setting, remaining=params.remaining, seed=params.seed)
        write_parquet([tally.frame()], snakemake.output[0])
