"""delta-hat, the delta that the paper gives the Gaussian mechanism, and the count that has it.

Every value that users hold has a delta at eps: that of releasing only the number of its reports. delta-hat is
the largest of them: eq. (15) of the paper (FPS 2023), eq. (10) of its long version (arXiv 2205.08858). So it
depends on the data, and is no guarantee for other data. It has two forms: as printed ("published"), by the
delta of a count that Theorem 1 prints, and "exact", by the true one.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from scripts.paper.delta.theorem_1 import log10_delta_of_count
from tightshuffle.arguments import Integers

# Two computed values of log10 delta that are equal in truth differ by less than this.
_ERROR_OF_TWO_DELTAS = 1e-8


class WorstCount(NamedTuple):
    """The largest delta of a histogram's counts, and the count that has it.

    Tuples are compared by their first field first: the larger of two has the larger delta.
    """

    log10_delta: float
    # How many users beside the target user hold the value, the paper's n_x0: one less than its holders.
    other_holders: int


def log10_delta_hat(
    counts: Integers, eps: float, *, eps0: float, form: str, known: dict[tuple[int, int], float]
) -> float:
    """log10 of delta-hat at eps; the arguments are those of `worst_count`."""
    return worst_count(counts, eps, eps0=eps0, form=form, known=known).log10_delta


def worst_count(
    counts: Integers, eps: float, *, eps0: float, form: str, known: dict[tuple[int, int], float]
) -> WorstCount:
    """The largest log10 delta of all values x0 that users hold, and how many other users hold this x0.

    The delta of x0 depends on m = n_x0, the number of users who hold x0 beside the target user. A value with
    c holders has m = c - 1.

    Parameters
    ----------
    counts: how many users hold each value, a histogram (k,)
    eps: the eps of delta
    eps0: the local budget of the k-randomized response
    form: of delta-hat, "published" or "exact". In the exact form only some dozens of deltas are computed,
        those that can be the largest. In the published form, all are
    known: (n, m) -> log10 delta, which this function reads and fills; {} for none. A later call may have the
        same dict for a histogram with the same n and k, at the same eps, eps0 and form
    """
    users = int(counts.sum())
    k = counts.size

    def log10_delta_of(n: int, m: int) -> float:
        if (n, m) not in known:
            known[n, m] = float(log10_delta_of_count(eps, n=n, k=k, eps0=eps0, count=m, form=form))
        return known[n, m]

    # The m of every value that somebody holds, rising.
    occurring = (np.unique(counts[counts > 0]) - 1).tolist()
    if form == "exact":
        return _worst_by_halving(occurring, users, log10_delta_of)
    # The bound that lets halving skip counts is not proven for the printed formula.
    return max(WorstCount(log10_delta_of(users, m), m) for m in occurring)


def _worst_by_halving(
    occurring: list[int], n: int, log10_delta_of: Callable[[int, int], float]
) -> WorstCount:
    """The largest ``log10_delta_of(n, m)`` over all m in ``occurring``, and the m that has it.

    ``log10_delta_of(n, m)`` is log10 of the exact delta of the number of reports of x0 from n users: the
    target user and n - 1 others, m of whom hold x0. ``occurring`` rises.

    Most deltas are not computed, by branch and bound:

    - A block is a part of ``occurring``, from ``low`` to ``high``.
    - From the n users of any m in the block, take away m - low who hold x0 and high - m who do not. This
      leaves n - (high - low) users, of whom ``low`` hold x0: the same numbers for every m.
    - The reports of those taken away are noise that does not depend on the target user. Such noise never
      raises a delta. So log10_delta_of(n - (high - low), low) is a bound for every m in the block.
    - A block is halved only if its bound exceeds the largest delta so far.
    """
    ends = (occurring[0], occurring[-1])
    best = max(WorstCount(log10_delta_of(n, m), m) for m in ends)
    blocks = [(0, len(occurring) - 1)]  # the indices in ``occurring`` of a block's first and last m
    while blocks:
        first, last = blocks.pop()
        low = occurring[first]
        high = occurring[last]
        log10_bound = log10_delta_of(n - (high - low), low)
        # A block without an m between its ends is done: the deltas of all ends are computed.
        if last - first < 2 or log10_bound < best.log10_delta - _ERROR_OF_TWO_DELTAS:
            continue

        middle = (first + last) // 2
        m = occurring[middle]
        best = max(best, WorstCount(log10_delta_of(n, m), m))
        blocks += [(first, middle), (middle, last)]
    return best
