"""The analytic Gaussian mechanism (Balle and Wang 2018): its delta and its scale.

Noise of standard deviation sigma on a query of L2 sensitivity D is (eps, delta)-private exactly for

    delta = Phi(a - b) - e^eps Phi(-a - b),    a = D / (2 sigma),  b = eps sigma / D,    (Theorem 8)
          = phi(b - a) (M(b - a) - M(b + a)) = phi(b - a) int_0^inf e^(-t^2/2 - b t) 2 sinh(a t) dt,

with Mills' ratio M(x) = Phi(-x) / phi(x). One of these forms always keeps all digits.
"""

import math

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import Floats, check_eps, check_log10_delta, check_positive

HISTOGRAM_SENSITIVITY = math.sqrt(2)  # L2 sensitivity of a histogram if one user's value changes
_LN10 = np.log(10)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(80)
_HUGE = 1e150  # its square is a float
_LAST = 45.0  # the integral ends where its integrand's slowest factor is exp(-45)


def log10_delta_of_scale(
    eps: npt.ArrayLike, *, scale: npt.ArrayLike, sensitivity: npt.ArrayLike = 1
) -> Floats:
    """log10 of the smallest delta for which Gaussian noise is (eps, delta)-private; -inf below -1e299.

    ``eps`` >= 0; ``scale`` > 0, the standard deviation of the noise, in the unit of ``sensitivity`` > 0, the
    L2 sensitivity of the query. All broadcast. delta is exact to 1e-12 down to 1e-300, and log10 delta to
    1e-14 however deep. A ValueError names a bad argument.
    """
    eps, scale = check_eps(eps), check_positive("scale", scale)
    with np.errstate(over="ignore", under="ignore"):
        ratio = scale / check_positive("sensitivity", sensitivity)
    return _ln_delta(eps, check_positive("scale / sensitivity", ratio))[()] / _LN10 + 0.0  # no -0.0


def exact_scale(
    eps: npt.ArrayLike,
    delta: npt.ArrayLike | None = None,
    *,
    log10_delta: npt.ArrayLike | None = None,
    sensitivity: npt.ArrayLike = 1,
) -> Floats:
    """The smallest standard deviation of Gaussian noise that is (eps, delta)-private.

    ``delta`` in (0, 1), or ``log10_delta`` < 0 instead; else as `log10_delta_of_scale`. Returns the scale, of
    the broadcast shape, in the unit of ``sensitivity``; relative error below 1e-10.
    """
    aim = check_log10_delta(delta, log10_delta)  # also refuses both, or neither
    wanted = aim * _LN10 if delta is None else np.log(np.asarray(delta, dtype=float))
    units = check_positive("sensitivity", sensitivity)
    points = np.broadcast_arrays(check_eps(eps), wanted, units)
    scales = np.empty(points[0].shape)
    for index in np.ndindex(scales.shape):
        scales[index] = _solve(*(point[index].item() for point in points[:2])) * points[2][index]
    return scales[()]


def _solve(eps: float, wanted: float) -> float:
    """The ratio scale / sensitivity at which the natural log of delta is ``wanted``."""
    # delta(eps) <= delta(0) <= 1 / (sqrt(2 pi) ratio); and delta <= Phi(a - b) <= exp(-(b - a)^2 / 2)
    reach = np.sqrt(-2 * wanted)
    bounds = [-wanted - np.log(2.5)]
    if eps > 0:
        # b - a = reach, as eps ratio^2 - reach ratio - 1/2 = 0
        bounds.append(np.log(reach + np.hypot(reach, np.sqrt(2 * eps))) - np.log(2 * eps))
    high = min(bounds)
    if high > 700:
        raise ValueError(f"eps must be larger for this delta: the scale overflows; got {eps}")

    def surplus(log_ratio: float) -> float:
        return float(_ln_delta(np.asarray(eps, dtype=float), np.exp(np.asarray(log_ratio)))) - wanted

    step, low = 0.25, high
    while surplus(low) < 0:
        high, low, step = low, low - step, 2 * step
    if low == high:
        return np.exp(high)
    return np.exp(scipy.optimize.brentq(surplus, low, high, xtol=1e-14, rtol=1e-14))


def _ln_delta(eps: Floats, ratio: Floats) -> Floats:
    """Natural log of delta; ``ratio`` = scale / sensitivity."""
    eps, ratio = np.broadcast_arrays(eps, ratio)
    with np.errstate(over="ignore", under="ignore"):
        a, b = 0.5 / ratio, eps * ratio
    result = np.full(eps.shape, -np.inf)
    a, b = np.minimum(a, _HUGE), np.where(b < _HUGE, b, np.nan)  # nan: log delta overflows, too
    close = a <= 0.5 * np.maximum(b, 1.0)  # here M(b - a) and M(b + a) have common digits
    large = a >= np.maximum(b, 0.5)
    between = (a < b) & ~close
    result[close] = _by_integral(a[close], b[close])
    if np.any(large):
        result[large] = _by_complement(a[large], b[large])
    if np.any(between):
        a, b = a[between], b[between]
        result[between] = _log_phi(a - b) + np.log(_mills(b - a) - _mills(b + a))
    return result


def _by_integral(a: Floats, b: Floats) -> Floats:
    """log delta from the integral, all of whose terms are positive."""
    slope = b - a
    end = 2 * _LAST / (slope + np.sqrt(slope**2 + 2 * _LAST))  # slope t + t^2 / 2 = _LAST
    t = end[..., None] * (_NODES + 1) / 2
    # 2 sinh(a t) e^(-b t) = (1 - e^(-2 a t)) e^(-(b - a) t); divided by a, which may be tiny
    terms = -np.expm1(-2 * a[..., None] * t) / a[..., None] * np.exp(-(t**2) / 2 - slope[..., None] * t)
    return _log_phi(slope) + np.log(terms @ _WEIGHTS * end / 2) + np.log(a)


def _by_complement(a: Floats, b: Floats) -> Floats:
    """log delta where delta is not small: 1 - delta = Phi(b - a) + e^eps Phi(-a - b)."""
    from scipy.special import ndtr  # here, as the import takes as long as that of numpy

    miss = ndtr(b - a) + np.exp(_log_phi(a - b)) * _mills(a + b)
    return np.log1p(-miss)


def _log_phi(x: Floats) -> Floats:
    return -(x**2) / 2 - np.log(2 * np.pi) / 2


def _mills(x: Floats) -> Floats:
    """Phi(-x) / phi(x) for x >= 0."""
    from scipy.special import erfcx

    return np.sqrt(np.pi / 2) * erfcx(x / np.sqrt(2))


def geometric_error(eps: Floats | float) -> Floats:
    """E|X| of a count with two-sided geometric noise that is (eps, 0)-private for a histogram.

    One user moves two cells by 1, so P(X = x) is proportional to a^|x| with a = e^(-eps / 2) (Ghosh,
    Roughgarden and Sundararajan 2012), and E|X| = 2 a / (1 - a^2) = 1 / sinh(eps / 2).
    """
    return np.asarray(1 / np.sinh(np.asarray(eps) / 2))
