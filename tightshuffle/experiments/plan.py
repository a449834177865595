"""What a guarantee costs: the largest eps0 that still gives it, and the accuracy that it leaves.

The errors are expected total variation distances, half the sum over the k cells of the mean absolute error,
of a uniform histogram (each cell holds the share f = 1 / k of the n users), before any projection to the
simplex: the closed forms of `expected`. No histogram is worse for k-RR than the uniform one, since the
error of a cell is concave in f. Values above 1 happen where an estimate is worthless.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import optimize

from tightshuffle.arguments import Floats, check_k, check_n, check_positive
from tightshuffle.mechanisms.expected import krr_deviation, mean_absolute
from tightshuffle.mechanisms.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.privacy.histogram import upper
from tightshuffle.privacy.methods import LARGEST_EPS0, LARGEST_N

_SMALLEST_EPS = 1e-100  # below it the local model's error overflows for many cells
_PRECISION = 1e-6  # of eps0, relative
_DEEP = -1e3  # log10 of delta over the wanted one; to the search, what lies deeper is 0


@dataclass(frozen=True)
class Plan:
    """A guarantee met with k-RR of budget ``eps0``, whose ``upper`` is ``log10_delta`` (-inf for eps0 = eps).

    ``capped``: eps0 could be larger than the largest that is looked at. ``sigma``: standard deviation of the
    analytic Gaussian's noise on each count at the same guarantee. ``tv``: expected total variation distances
    of "shuffle+INV", "gaussian", and "local": k-RR with eps0 = eps, which needs no shuffler, with delta = 0.
    """

    eps0: float
    log10_delta: float
    capped: bool
    sigma: float
    tv: dict[str, float]


def make_plan(n: int, k: int, eps: float, *, log10_delta: float) -> Plan:
    """The `Plan` for (eps, 10^log10_delta)-differential privacy of n users in k cells, for every dataset.

    Parameters: whole numbers ``n`` (up to 10^9) and ``k``; ``eps`` from 1e-100 to below 20; ``log10_delta``
    < 0. Raises ValueError naming the argument that is out of range.
    """
    n, k = int(check_n(n)), int(check_k(k))
    eps = float(check_positive("eps", eps))
    if n > LARGEST_N:
        raise ValueError(f"n must be at most {LARGEST_N}; got {n}")
    if not _SMALLEST_EPS <= eps < LARGEST_EPS0:
        raise ValueError(f"eps must be at least {_SMALLEST_EPS:g} and below {LARGEST_EPS0}; got {eps:g}")
    sigma = float(exact_scale(eps, log10_delta=log10_delta, sensitivity=HISTOGRAM_SENSITIVITY))
    eps0, reached = _largest_eps0(n, k, eps, float(log10_delta), _eps0_of_noise(n, k, sigma))
    tv = {
        "shuffle+INV": float(expected_tv_krr(n, k, eps0)),
        "gaussian": float(expected_tv_gaussian(n, k, sigma)),
        "local": float(expected_tv_krr(n, k, eps)),
    }
    return Plan(eps0, reached, eps0 == LARGEST_EPS0, sigma, tv)


def expected_tv_krr(n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """Expected total variation distance of inverted k-RR, uniform data, unprojected; all broadcast."""
    return _distance(k, krr_deviation(1 / check_k(k), n=n, k=k, eps0=eps0))


def expected_tv_gaussian(n: npt.ArrayLike, k: npt.ArrayLike, sigma: npt.ArrayLike) -> Floats:
    """Expected total variation distance of counts with Gaussian noise of deviation ``sigma`` on each."""
    return _distance(k, check_positive("sigma", sigma) / check_n(n))


def _distance(k: npt.ArrayLike, deviation: npt.ArrayLike) -> Floats:
    return np.asarray(check_k(k) / 2 * mean_absolute(deviation))[()]


def _eps0_of_noise(n: int, k: int, sigma: float) -> float:
    """The eps0 whose inversion leaves the noise ``sigma`` in an empty cell's count: a good first guess.

    n q (1 - q) / (p - q)^2 = sigma^2 is quadratic in y = e^eps0 - 1: sigma^2 y^2 = n (y + k - 1).
    """
    share = n / sigma**2
    return math.log1p((share + math.sqrt(share**2 + 4 * share * (k - 1))) / 2)


def _largest_eps0(n: int, k: int, eps: float, wanted: float, guess: float) -> tuple[float, float]:
    """The largest eps0 with upper(eps) <= wanted, to _PRECISION, and upper there.

    ``upper`` grows with eps0, since k-RR of a smaller budget is post-processing; it is computed to about
    0.1 % of delta, so that the search ends on a value at which it was computed to hold.
    """
    seen = {eps: -np.inf}  # eps0-LDP alone

    def surplus(eps0: float) -> float:
        if eps0 not in seen:
            seen[eps0] = float(upper(eps, n=n, k=k, eps0=eps0))
        return max(seen[eps0] - wanted, _DEEP)

    low = high = min(max(guess, eps), LARGEST_EPS0)
    step = 0.01 * low
    while low > eps and surplus(low) > 0:
        high, low, step = low, max(low - step, eps), 2 * step
    while high < LARGEST_EPS0 and surplus(high) <= 0:
        low, high, step = high, min(high + step, LARGEST_EPS0), 2 * step
    if surplus(high) > 0:
        optimize.brentq(surplus, low, high, xtol=_PRECISION * low, rtol=_PRECISION)
    best = max(eps0 for eps0, log_delta in seen.items() if log_delta <= wanted)
    return best, seen[best]
