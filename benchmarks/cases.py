"""The accountants (functions that compute delta) that are measured, and their settings."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tightshuffle.bounds import composition, histogram
from tightshuffle.bounds.inverse import epsilon
from tightshuffle.literature import count
from tightshuffle.methods import METHODS

K, EPS0 = 408, 4.0  # cells and budget of the main paper's San Francisco experiments
SHARE = 0.8  # of the users hold x0, as in the main paper's tables: near the widest windows of `count`
DELTA = 1e-6  # every accountant is measured at the eps of this delta
ROUNDS = 4
SIZES = tuple(10**power for power in range(2, 10))


@dataclass(frozen=True)
class Case:
    """An accountant: ``bound(eps, *, n, k, eps0)``, and the n for which it is measured.

    It is measured at ``factor`` times the eps of the case ``eps_of``; None: the eps of its own delta `DELTA`.
    """

    bound: Callable
    eps_of: str | None = None
    factor: float = 1.0
    sizes: tuple = SIZES


def count_of_x0(eps, *, n, k, eps0, form="exact"):
    """`count.delta` where the share `SHARE` of the users holds x0."""
    return count.delta(eps, n=n, k=k, eps0=eps0, count=min(n - 1, int(SHARE * n)), form=form)


def delta_hat(eps, *, n, k, eps0):
    """`count.delta_hat` of a dataset whose cells all have different counts: none is computed for another."""
    return count.delta_hat(different_counts(n, k), eps, eps0=eps0)


def different_counts(n, k):
    """Whole numbers (k,), all different, that sum to ``n``; ValueError where there are none."""
    spare = n - k * (k + 1) // 2
    if spare < 0:
        raise ValueError(f"n must be at least {k * (k + 1) // 2} for {k} different counts; got {n}")
    counts = np.arange(1, k + 1) + spare // k
    counts[-1] += spare % k
    return counts


CASES = {
    "Theorem 1 as printed": Case(functools.partial(count_of_x0, form="published"), eps_of="count-exact"),
    "count-exact": Case(count_of_x0),
    "delta-hat": Case(delta_hat, sizes=(10**5, 10**6)),
    "lower": Case(histogram.lower, eps_of="upper"),
    # Rounds are computed from distributions, which takes time; a closed form takes none.
    **{name: Case(method.function) for name, method in METHODS.items() if method.composes},
    f"koskela-strong, {ROUNDS} rounds": Case(
        functools.partial(composition.koskela_strong, compositions=ROUNDS),
        eps_of="koskela-strong",
        factor=math.sqrt(ROUNDS),  # losses add up as nearly normal ones do
    ),
}


@functools.cache
def eps_of(name, n, k=K, eps0=EPS0):
    """The eps at which the named accountant, or the one whose eps it shares, has delta = `DELTA`.

    nan where there is none, or only the trivial one, eps0 of the local randomizer.
    """
    case = CASES[name]
    if case.eps_of:
        return case.factor * eps_of(case.eps_of, n, k, eps0)
    eps = float(epsilon(case.bound, DELTA, n=n, k=k, eps0=eps0))
    return eps if eps < eps0 else np.nan
