"""Simulate shuffled k-RR with every report drawn, for two datasets that an attacker tries to distinguish.

In both datasets, called worlds, n users report through k-RR, independently of each other. The worlds differ
in one user, the target user, who holds x0 in world 0 and x1 in world 1. Of the other users ``count`` hold x0,
and all who do not hold x0 hold one value, ``remaining``. The attacker counts the reports of x0 and x1. The
shuffler's order changes no count, so it is not drawn.

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
from scripts.shared.seeds import seed_of
from tightshuffle.arguments import Floats, Integers
from tightshuffle.mechanisms.krr import lie_probability, truth_probability

REMAINING = ("x1", "x2")  # the value, x2 being any third one, of the other users who do not hold x0
HALVES = ("choose", "report")
USERS = ("x0", "x1")  # the target user's value in each world
_SETTING = ["n", "k", "eps0", "count", "remaining"]
_REPORTS_PER_BLOCK = 2**17  # of one random stream: as many as fit into the caches
_EQUALLY_LIKELY = 2**32  # numbers, of which every report is drawn as one


@dataclass(frozen=True)
class Tally:
    """What the attacker counted: how many runs have which counts of x0 and x1.

    ``tables`` says how many runs have i reports of x0 and j of x1, by [half, world, i, j]. Half 0 chooses the
    event, half 1 gives the bound. ``runs`` is the number of runs in each world.
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
    def ln_likelihood_ratio(self) -> Floats:
        """ln(P / Q) of every pair (count of x0, count of x1), shape (n + 1, n + 1).

        P is the exact probability of the pair if the target user holds x0, and Q if the target user holds x1.
        """
        # The distributions have an absolute error of about 1e-16. Pairs as rare as that occur in no run, so
        # any ratio is fine for them.
        with_x0 = np.maximum(pair_distribution(self, 0), 1e-15)
        with_x1 = np.maximum(pair_distribution(self, 1), 1e-15)
        return np.log(with_x0) - np.log(with_x1)

    def frame(self) -> pd.DataFrame:
        """The tally as a table: a row for every half, world and pair of counts that occurs in some run.

        The columns are:

        - n, k, eps0, count (of the other users, who hold x0) and remaining (the value of the rest of them):
          the setting, the same in every row
        - half: "choose" for the runs that choose an event, "report" for those that give its bound
        - user: the value of the target user, "x0" in world 0 and "x1" in world 1
        - x0 and x1: how many reports have this value
        - runs: how many runs of this half and world have these two counts
        """
        half, world, x0, x1 = np.nonzero(self.tables)
        runs = self.tables[half, world, x0, x1]
        setting = pd.DataFrame(
            {name: getattr(self, name) for name in _SETTING}, index=range(len(half))
        )
        return setting.assign(
            half=np.array(HALVES)[half], user=np.array(USERS)[world], x0=x0, x1=x1, runs=runs
        )

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Self:
        """The tally whose `frame` this is; its rows may have any order."""
        setting: dict[str, Any] = {name: frame[name].tolist()[0] for name in _SETTING}
        tables = np.zeros((2, 2, setting["n"] + 1, setting["n"] + 1), dtype=np.int64)
        half = frame["half"].map(HALVES.index)
        world = frame["user"].map(USERS.index)
        tables[half, world, frame["x0"], frame["x1"]] = frame["runs"]
        return cls(**setting, runs=int(tables[:, 0].sum()), tables=tables)


def draw_steps(
    n: int, eps0: float, k: int, rng: np.random.Generator, runs: int
) -> NDArray[np.uint32]:
    """Random steps of k-RR, whole numbers (runs, n): a report is (the user's value + 1 + step) modulo k.

    The steps 0 to k - 2 give the k - 1 false reports, which are equally likely. The step k - 1 leads around
    the whole ring of values to the true report.
    """
    # Two draws of 32 bits in each of 64: the same numbers, in less than half the time.
    pairs = rng.integers(0, 2**64, size=(runs * n + 1) // 2, dtype=np.uint64)
    draws = pairs.view(np.uint32)[: runs * n].reshape(runs, n)
    # Every false report has equally many of the numbers. All that are left give the true report.
    draws //= np.uint32(_numbers_per_lie(eps0, k))
    return np.minimum(draws, np.uint32(k - 1), out=draws)


def count_reports(value: int, values: npt.ArrayLike, steps: NDArray[np.uint32], k: int) -> Integers:
    """The number of reports that are ``value``, (runs,). A report is (values + 1 + steps) modulo k.

    ``values`` (n,) are those of the users, in 0..k-1. ``steps`` (runs, n) are those of `draw_steps`: how far
    k-RR moves each value, less 1.
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
    """The `Tally` of simulated runs of shuffled k-RR, of ``n`` users who hold one of ``k`` values each.

    ``count`` and ``remaining`` are those of the module. ``remaining`` is "x1" or "x2"; the default is "x2" if
    there is a third value, else "x1". Each world has ``runs`` runs, of which half choose an event, and the
    rest give its bound. ``seed`` is the root seed of all random numbers. A run takes about 3 ns per report.

    Raises ValueError if eps0 is too small for so many values. Every report is drawn as one of 2^32 equally
    likely numbers, so the probabilities of true and false reports cannot be closer than about k 2^-32.
    """
    # The true report has the numbers that the k - 1 false ones leave. It must have as many as one of these.
    if k * _numbers_per_lie(eps0, k) > _EQUALLY_LIKELY:
        raise ValueError(
            f"eps0 must be at least about {k * k / _EQUALLY_LIKELY:.0e} for an audit; got {eps0:g}"
        )
    eps0 = float(eps0)
    if remaining is None:
        remaining = "x2" if k > 2 else "x1"

    # The values x0, x1, x2 have the numbers 0, 1, 2.
    values_of_others = [0] * count + [REMAINING.index(remaining) + 1] * (n - 1 - count)

    # (half, world, pair): the pair of counts (i, j) has the number i (n + 1) + j.
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
        # The number of the target user's value is that of the world: x0 in world 0, x1 in world 1.
        values = [block.world, *values_of_others]
        i = count_reports(0, values, steps, k)
        j = count_reports(1, values, steps, k)
        tables[block.half, block.world] += np.bincount(i * (n + 1) + j, minlength=(n + 1) ** 2)
    return Tally(n, k, eps0, count, remaining, runs, tables.reshape(2, 2, n + 1, n + 1))


class _Block(NamedTuple):
    """So many ``runs`` of one half and world, which have a random stream to themselves.

    ``number`` counts the blocks of this half and world from 0.
    """

    half: int
    world: int
    number: int
    runs: int


def _blocks(n: int, runs: int) -> Iterator[_Block]:
    """The blocks (half, world, number, runs) into which ``runs`` runs of each of the two worlds are divided.

    The largest number of runs in a block depends on n alone. The second half has one run more if ``runs`` is
    odd.
    """
    largest = max(1, _REPORTS_PER_BLOCK // n)
    for half, runs_of_half in enumerate((runs // 2, runs - runs // 2)):
        for number, start in enumerate(range(0, runs_of_half, largest)):
            for world in range(2):
                yield _Block(half, world, number, min(largest, runs_of_half - start))


def _numbers_per_lie(eps0: float, k: int) -> int:
    """How many of 2^32 equally likely numbers give one particular false report.

    This is 2^32 q, rounded up, with q the probability of a particular false report of k-RR.
    """
    return int(np.floor(lie_probability(eps0, k) * _EQUALLY_LIKELY)) + 1


def pair_distribution(tally: Tally, world: int) -> Floats:
    """The exact probability of every pair (count of x0, count of x1) in a world, of shape (n + 1, n + 1).

    Element [i, j] is the probability that i reports are x0 and j are x1. Its absolute error is about 1e-16.
    ``tally`` gives the setting.

    A user's report adds (1, 0), (0, 1) or (0, 0) to the pair. If x0 is reported with probability a, and x1
    with probability b, the distribution of what the report adds has the Fourier transform

        1 + a (u - 1) + b (v - 1),

    where u and v are the roots of unity exp(-2 pi i f / (n + 1)) of the two frequencies f = 0 to n. In k-RR p
    is the probability of the true report, and q that of a particular false one. So (a, b) is (p, q) for a
    user who holds x0, (q, p) for x1, and (q, q) for x2. The pair is a sum over independent users, so its
    transform is the product of theirs.
    """
    n = tally.n
    p = truth_probability(tally.eps0, tally.k)
    q = lie_probability(tally.eps0, tally.k)

    root_minus_1 = np.exp(-2j * np.pi * np.arange(n + 1) / (n + 1)) - 1
    u_1 = root_minus_1[:, None]  # u - 1
    v_1 = root_minus_1[None, :]  # v - 1
    # The value that a user holds -> the transform of this user's report, (n + 1, n + 1).
    transforms = {
        "x0": 1 + p * u_1 + q * v_1,
        "x1": 1 + q * u_1 + p * v_1,
        "x2": 1 + q * (u_1 + v_1),
    }

    others = transforms["x0"] ** tally.count * transforms[tally.remaining] ** (n - 1 - tally.count)
    return np.fft.ifft2(others * transforms[USERS[world]]).real


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        tally = play(**params.setting, remaining=params.remaining, seed=params.seed)
        write_parquet([tally.frame()], snakemake.output[0])
