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
from typing import Any, NamedTuple, Self

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
    """What the attacker counted: how many runs have which counts of x0 and x1.

    ``count`` of the n - 1 other users hold x0, and the rest hold ``remaining``, "x1" or "x2". ``tables`` has
    the shape (half, world, n + 1, n + 1). Half 0 chooses the event, half 1 gives the bound. In world 0 the
    target user holds x0, in world 1 x1. ``runs`` is the number of runs in each world.
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
        """ln(P / Q) of every pair (count of x0, count of x1), shape (n + 1, n + 1).

        P and Q are the pair's exact probabilities where the target user holds x0 (P) or x1 (Q).
        """
        # Pairs as rare as the error of the distributions occur in no run: any value is fine for them.
        with_x0 = np.maximum(pair_distribution(self, 0), 1e-15)
        with_x1 = np.maximum(pair_distribution(self, 1), 1e-15)
        return np.log(with_x0) - np.log(with_x1)

    def frame(self) -> pd.DataFrame:
        """The tally as a table: how many runs of each half and world have which pair of counts, if any.

        The columns are n, k, eps0, count, remaining, half ("choose" or "report"), user (the target user's
        value, "x0" or "x1"), x0 and x1 (how many reports have this value) and runs. Here `tables` has the
        shape (half, world, count of x0, count of x1).
        """
        half, world, x0, x1 = np.nonzero(self.tables)
        setting = pd.DataFrame(
            {name: getattr(self, name) for name in _SETTING}, index=range(len(half))
        )
        runs = self.tables[half, world, x0, x1]
        return setting.assign(
            half=np.array(HALVES)[half], user=np.array(USERS)[world], x0=x0, x1=x1, runs=runs
        )

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Self:
        """The tally with this `frame`, whose rows may have any order."""
        setting: dict[str, Any] = {name: frame[name].tolist()[0] for name in _SETTING}
        tables = np.zeros((2, 2, setting["n"] + 1, setting["n"] + 1), dtype=np.int64)
        half = frame["half"].map(HALVES.index)
        world = frame["user"].map(USERS.index)
        tables[half, world, frame["x0"], frame["x1"]] = frame["runs"]
        return cls(**setting, runs=int(tables[:, 0].sum()), tables=tables)


def draw_steps(
    n: int, eps0: float, k: int, rng: np.random.Generator, runs: int
) -> NDArray[np.uint32]:
    """How far k-RR moves each of n users' values around the ring 0..k-1, less 1, of shape (runs, n).

    0 to k - 2 are false reports, equally likely. k - 1 leads around the whole ring to the true value.
    """
    # Two draws of 32 bits in each of 64: the same numbers, in less than half the time.
    pairs = rng.integers(0, 2**64, size=(runs * n + 1) // 2, dtype=np.uint64)
    draws = pairs.view(np.uint32)[: runs * n].reshape(runs, n)
    draws //= np.uint32(_numbers_per_lie(eps0, k))
    return np.minimum(draws, np.uint32(k - 1), out=draws)


def count_reports(value: int, values: npt.ArrayLike, steps: NDArray[np.uint32], k: int) -> Integers:
    """How many of each run's reports, values + 1 + steps modulo k, are ``value``, of shape (runs,).

    ``values`` (n,) are those of the users, in 0..k-1, and ``steps`` (runs, n) as `draw_steps` gives them.
    """
    steps_to_value = (value - 1 - np.asarray(values, dtype=int)) % k
    is_value = steps == steps_to_value.astype(np.uint32)
    return is_value.view(np.uint8).sum(axis=1, dtype=np.uint16).astype(int)


def play(
    *,
    n: int,
    k: int,
    eps0: float,
    count: int,
    runs: int,
    remaining: str | None = None,
    seed: int = 0,
) -> Tally:
    """How many simulated runs of shuffled k-RR have which counts of x0 and x1. About 3 ns per report.

    ``runs`` runs have a target user who holds x0 (world 0), and as many a target user who holds x1 (world 1).
    In both worlds ``count`` of the n - 1 other users hold x0, and the rest hold ``remaining``. This is "x1"
    or "x2", by default "x2" if there is a third value. The first half of the runs is for choosing an event,
    the second for its bound. ``seed`` is the root seed.

    Raises ValueError for an eps0 that is too small for so many values: a report is drawn as one of 2^32
    equally likely numbers.
    """
    if k * _numbers_per_lie(eps0, k) > 2**32:
        raise ValueError(
            f"eps0 must be at least about {k * k / 2**32:.0e} for an audit; got {eps0:g}"
        )
    eps0 = float(eps0)
    if remaining is None:
        remaining = "x2" if k > 2 else "x1"

    # The values x0, x1, x2 have the numbers 0, 1, 2. A pair of counts has the number x0 (n + 1) + x1.
    others = [0] * count + [REMAINING.index(remaining) + 1] * (n - 1 - count)
    tables = np.zeros((2, 2, (n + 1) ** 2), dtype=np.int64)
    for block in _blocks(n, runs):
        block_seed = seed_of(
            seed,
            stage="audit",
            n=n,
            k=k,
            eps0=eps0,
            count=count,
            rest=remaining,  # another name than "rest" would change the numbers of every run
            half=HALVES[block.half],
            world=block.world,
            block=block.number,
        )
        steps = draw_steps(n, eps0, k, np.random.default_rng(block_seed), block.runs)
        values = [block.world, *others]  # the target user's value is the number of the world
        x0 = count_reports(0, values, steps, k)
        x1 = count_reports(1, values, steps, k)
        tables[block.half, block.world] += np.bincount(x0 * (n + 1) + x1, minlength=(n + 1) ** 2)
    return Tally(n, k, eps0, count, remaining, runs, tables.reshape(2, 2, n + 1, n + 1))


class _Block(NamedTuple):
    """Runs of one world with a random stream to themselves; ``number`` counts within the half."""

    half: int
    world: int
    number: int
    runs: int


def _blocks(n: int, runs: int) -> Iterator[_Block]:
    """The blocks into which ``runs`` runs of each world are divided, of both halves and worlds.

    How large a block is depends on n alone. The second half has one run more if ``runs`` is odd.
    """
    largest = max(1, _BLOCK // n)
    for half, runs_of_half in enumerate((runs // 2, runs - runs // 2)):
        for number, start in enumerate(range(0, runs_of_half, largest)):
            for world in range(2):
                yield _Block(half, world, number, min(largest, runs_of_half - start))


def _numbers_per_lie(eps0: float, k: int) -> int:
    """How many of 2^32 equally likely numbers give one particular false report.

    This is 2^32 q, rounded up, with q the probability of a particular false report of k-RR.
    """
    return int(np.floor(lie_probability(eps0, k) * 2.0**32)) + 1


def pair_distribution(tally: Tally, world: int) -> Floats:
    """The exact probability of every pair (count of x0, count of x1) in a world, of shape (n + 1, n + 1).

    Element [i, j] is the probability that i reports are x0 and j are x1, with an absolute error of about
    1e-16. In world 0 the target user holds x0, in world 1 x1.

    A user's report adds (1, 0), (0, 1) or (0, 0) to the pair. Its distribution has the Fourier transform 1 +
    a (u - 1) + b (v - 1), where u and v are the two frequencies' roots of unity, a and b the probabilities of
    the reports x0 and x1. These are p, the probability of the true value, or q, that of a particular other
    value. The pair is a sum over independent users, so its transform is the product of theirs.
    """
    n = tally.n
    p = truth_probability(tally.eps0, tally.k)
    q = lie_probability(tally.eps0, tally.k)

    # The transforms of one user's report, by the value that the user holds.
    root_minus_1 = np.exp(-2j * np.pi * np.arange(n + 1) / (n + 1)) - 1
    x0 = root_minus_1[:, None]
    x1 = root_minus_1[None, :]
    transforms = {"x0": 1 + p * x0 + q * x1, "x1": 1 + q * x0 + p * x1, "x2": 1 + q * (x0 + x1)}

    others = transforms["x0"] ** tally.count * transforms[tally.remaining] ** (n - 1 - tally.count)
    return np.fft.ifft2(others * transforms[USERS[world]]).real


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        tally = play(**params.setting, remaining=params.remaining, seed=params.seed)
        write_parquet([tally.frame()], snakemake.output[0])
