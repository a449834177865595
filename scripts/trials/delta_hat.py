"""delta_hat, the delta that the paper gives the Gaussian: the largest of all counts that occur (eq. 15)."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from scripts.privacy.printed_formulas import delta_of_count
from tightshuffle.arguments import check_eps, check_eps0

_ROUNDING = 1e-8  # of log10 delta: more than what two computed values are off together


def delta_hat(
    counts: npt.ArrayLike,
    eps: float,
    *,
    eps0: float,
    form: str = "exact",
    direction: str = "forward",
    known: dict[tuple[int, int], float] | None = None,
) -> float:
    """log10 of the largest delta over all values that users hold: eq. (15), eq. (10) of the long version.

    It depends on the data and is no guarantee for other datasets. The exact form computes only some dozens
    of counts, those that can have the largest delta; the published form computes all.

    Parameters: ``counts``, whole numbers of shape (k,), the histogram of all n users; ``eps`` and
    ``eps0``, numbers; ``known``, a dict in which deltas are kept for further histograms. These must have the
    same n and k, at the same eps, eps0, form and direction. Returns a float. Raises ValueError naming a bad
    argument.
    """
    counts = np.asarray(counts)
    held = np.unique(counts[counts > 0])
    if counts.ndim != 1 or held.size == 0:
        raise ValueError("counts must be one histogram of shape (k,) with at least one user")
    if np.all(np.asarray(eps) >= np.asarray(eps0)):
        check_eps(eps), check_eps0(eps0)
        return -np.inf
    n, deltas = int(counts.sum()), {} if known is None else known

    def delta_of(n: int, count: int) -> float:
        if (n, count) not in deltas:
            deltas[n, count] = float(
                delta_of_count(
                    eps, n=n, k=counts.size, eps0=eps0, count=count, form=form, direction=direction
                )
            )
        return deltas[n, count]

    remaining = (held - 1).tolist()
    if form == "exact":
        return _worst(remaining, n, delta_of)
    return max(delta_of(n, count) for count in remaining)


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
