"""delta_hat, the delta that the paper gives the Gaussian: the largest of all counts that occur (eq. 15)."""

from collections.abc import Callable

import numpy as np

from scripts.paper.delta.printed_formulas import delta_of_count
from tightshuffle.arguments import Integers

_ROUNDING = 1e-8  # of log10 delta: more than what two computed values are off together


def delta_hat(
    counts: Integers, eps: float, *, eps0: float, form: str, known: dict[tuple[int, int], float]
) -> float:
    """log10 of the largest delta over all values that users hold: eq. (15), eq. (10) of the long version.

    It depends on the data, a histogram ``counts`` (k,), and is no guarantee for other datasets. The exact
    form computes only some dozens of counts, those that can have the largest delta; the published form
    computes all. ``known`` keeps deltas for histograms of the same n and k, at the same eps, eps0 and form.
    """
    users, k = int(counts.sum()), counts.size

    def delta_of(n: int, count: int) -> float:
        if (n, count) not in known:
            known[n, count] = float(delta_of_count(eps, n=n, k=k, eps0=eps0, count=count, form=form))
        return known[n, count]

    others = (np.unique(counts[counts > 0]) - 1).tolist()
    if form == "exact":
        return _worst(others, users, delta_of)
    return max(delta_of(users, count) for count in others)


def _worst(counts: list[int], n: int, delta_of: Callable[[int, int], float]) -> float:
    """The largest ``delta_of(n, count)`` of the ascending ``counts``, without computing most of them.

    One delta bounds all counts between ``low`` and ``high``: that of ``low`` users who hold x0 and
    n - high users who do not. The missing users add noise that does not depend on the secret, and added noise
    never raises a divergence.
    """
    best = max(delta_of(n, counts[0]), delta_of(n, counts[-1]))
    blocks = [(0, len(counts) - 1)]
    while blocks:
        first, last = blocks.pop()
        low, high = counts[first], counts[last]
        if last - first < 2 or delta_of(n - (high - low), low) < best - _ROUNDING:
            continue
        middle = (first + last) // 2
        best = max(best, delta_of(n, counts[middle]))
        blocks += [(first, middle), (middle, last)]
    return best
