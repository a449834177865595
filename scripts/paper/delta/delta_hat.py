"""delta-hat, the delta that the paper gives the Gaussian: the largest of all counts that occur (eq. 15)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from scripts.paper.delta.printed_formulas import delta_of_count
from tightshuffle.arguments import Integers

_ROUNDING = 1e-8  # of log10 delta: more than what two computed values are off together


class WorstCount(NamedTuple):
    """The largest delta of a histogram's counts."""

    log10_delta: float
    others: int  # how many other users hold the value: n_x0, one less than its count


def delta_hat(
    counts: Integers, eps: float, *, eps0: float, form: str, known: dict[tuple[int, int], float]
) -> float:
    """log10 of delta-hat: eq. (15), eq. (10) of the long version. For the arguments see `worst_count`.

    It depends on the data, a histogram ``counts`` (k,), and is no guarantee for other datasets.
    """
    return worst_count(counts, eps, eps0=eps0, form=form, known=known).log10_delta


def worst_count(
    counts: Integers, eps: float, *, eps0: float, form: str, known: dict[tuple[int, int], float]
) -> WorstCount:
    """The largest delta over all values that users hold, and the n_x0 that has it.

    ``counts`` is a histogram of shape (k,), and ``form`` is "published" (as Theorem 1 prints delta) or
    "exact". The exact form computes only some dozens of counts, those that can have the largest delta. The
    published form computes all. ``known`` keeps deltas for histograms of the same n and k, at the same eps,
    eps0 and form.
    """
    users = int(counts.sum())
    k = counts.size

    def delta_of(n: int, others: int) -> float:
        if (n, others) not in known:
            known[n, others] = float(
                delta_of_count(eps, n=n, k=k, eps0=eps0, count=others, form=form)
            )
        return known[n, others]

    occurring = (np.unique(counts[counts > 0]) - 1).tolist()
    if form == "exact":
        return _worst(occurring, users, delta_of)
    return max(WorstCount(delta_of(users, others), others) for others in occurring)


def _worst(counts: list[int], n: int, delta_of: Callable[[int, int], float]) -> WorstCount:
    """The largest ``delta_of(n, count)`` of the ascending ``counts``, without computing most of them.

    One delta bounds all counts between ``low`` and ``high``: that of ``low`` users who hold x0 and
    n - high users who do not. The missing users add noise that does not depend on the secret, and added noise
    never raises a divergence.
    """
    best = max(WorstCount(delta_of(n, count), count) for count in (counts[0], counts[-1]))
    blocks = [(0, len(counts) - 1)]
    while blocks:
        first, last = blocks.pop()
        low = counts[first]
        high = counts[last]
        bound = delta_of(n - (high - low), low)
        if last - first < 2 or bound < best.log10_delta - _ROUNDING:
            continue

        middle = (first + last) // 2
        best = max(best, WorstCount(delta_of(n, counts[middle]), counts[middle]))
        blocks += [(first, middle), (middle, last)]
    return best
