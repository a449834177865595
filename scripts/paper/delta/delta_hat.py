"""delta-hat, the delta that the paper gives the Gaussian: the largest of all counts that occur (eq. 15)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from scripts.paper.delta.printed_formulas import delta_of_count
from tightshuffle.arguments import Integers

_ROUNDING = 1e-8  # in log10 delta: more than the errors of two computed values together


class WorstCount(NamedTuple):
    """The largest delta of a histogram's counts, and the count that has it."""

    log10_delta: float
    # n_x0: how many users beside the attacked one hold the value, one less than its count.
    others: int


def delta_hat(
    counts: Integers, eps: float, *, eps0: float, form: str, known: dict[tuple[int, int], float]
) -> float:
    """log10 of delta-hat, the largest delta of all counts that occur (eq. 15; eq. 10 of the long version).

    delta-hat depends on the data, a histogram ``counts`` (k,). So it is no guarantee for other datasets. For
    the other arguments see `worst_count`.
    """
    return worst_count(counts, eps, eps0=eps0, form=form, known=known).log10_delta


def worst_count(
    counts: Integers, eps: float, *, eps0: float, form: str, known: dict[tuple[int, int], float]
) -> WorstCount:
    """The largest log10 delta over all values x0 that users hold, and the n_x0 that has it.

    The delta of a value is that of the number of its reports. It depends on n_x0, which is how many users
    beside the attacked one hold the value. For a value with c holders n_x0 is c - 1.

    Parameters
    ----------
    counts: how many users hold each value, a histogram (k,)
    eps, eps0: the eps of delta, and the local budget of the randomized response
    form: "published", delta as Theorem 1 prints it, or "exact", the true one. In the exact form only some
        dozens of counts are computed, those that can have the largest delta. In the published form, all are
    known: (n, n_x0) -> log10 delta. What is known is not computed, and what is computed is added. A later
        call may have it again for a histogram of the same n and k, at the same eps, eps0 and form
    """
    users = int(counts.sum())
    k = counts.size

    def log10_delta_of(n: int, others: int) -> float:
        if (n, others) not in known:
            known[n, others] = float(
                delta_of_count(eps, n=n, k=k, eps0=eps0, count=others, form=form)
            )
        return known[n, others]

    occurring = (np.unique(counts[counts > 0]) - 1).tolist()  # n_x0 of every value that is held
    if form == "exact":
        return _worst_by_halving(occurring, users, log10_delta_of)
    return max(WorstCount(log10_delta_of(users, others), others) for others in occurring)


def _worst_by_halving(
    occurring: list[int], n: int, log10_delta_of: Callable[[int, int], float]
) -> WorstCount:
    """The largest ``log10_delta_of(n, others)`` for ``others`` in ``occurring``, and the others that have it.

    ``occurring`` rises. Most of its deltas are not computed: a block of it, from ``low`` to ``high`` others,
    is halved only if one of its deltas can exceed the largest one so far. All of them are at most the delta
    of a smaller group of n - (high - low) users, ``low`` of whom hold x0. Every n users with a count in the
    block contain such a group. The further users add noise that does not depend on the secret, and added
    noise never raises a divergence.
    """
    ends = (occurring[0], occurring[-1])
    best = max(WorstCount(log10_delta_of(n, others), others) for others in ends)
    blocks = [(0, len(occurring) - 1)]  # the places of the first and the last count of a block
    while blocks:
        first, last = blocks.pop()
        low = occurring[first]
        high = occurring[last]
        bound = log10_delta_of(n - (high - low), low)
        if last - first < 2 or bound < best.log10_delta - _ROUNDING:
            continue

        middle = (first + last) // 2
        others = occurring[middle]
        best = max(best, WorstCount(log10_delta_of(n, others), others))
        blocks += [(first, middle), (middle, last)]
    return best
