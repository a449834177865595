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
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(80)  # of Gauss-Legendre quadrature on [-1, 1]
_HUGE = 1e150  # its square is a float
_LAST = 45.0  # the integral ends where its integrand's slowest factor is exp(-45)


def log10_delta_of_scale(
    eps: npt.ArrayLike, *, scale: npt.ArrayLike, sensitivity: npt.ArrayLike = 1
) -> Floats:
    """log10 of the smallest delta for which Gaussian noise is (eps, delta)-private. It is -inf below -1e299.

    ``eps`` is at least 0. ``scale`` > 0 is the standard deviation of the noise, in the unit of
    ``sensitivity`` > 0, the L2 sensitivity of the query. All broadcast. delta is exact to 1e-12 down to
    1e-300, and log10 delta to 1e-14 however deep. A ValueError names a bad argument.
    """
    eps = check_eps(eps)
    scale = check_positive("scale", scale)
    with np.errstate(over="ignore", under="ignore"):
        ratio = scale / check_positive("sensitivity", sensitivity)
    ln_delta = _ln_delta(eps, check_positive("scale / sensitivity", ratio))
    return ln_delta[()] / _LN10 + 0.0  # no -0.0


def exact_scale(
    eps: npt.ArrayLike,
    delta: npt.ArrayLike | None = None,
    *,
    log10_delta: npt.ArrayLike | None = None,
    sensitivity: npt.ArrayLike = 1,
) -> Floats:
    """The smallest standard deviation of Gaussian noise that is (eps, delta)-private.

    ``delta`` lies in (0, 1), or ``log10_delta`` < 0 is given instead. Other arguments and errors are those of
    `log10_delta_of_scale`. Returns the scale, of the broadcast shape, in the unit of ``sensitivity``, with a
    relative error below 1e-10.
    """
    checked_log10_delta = check_log10_delta(delta, log10_delta)  # also refuses both, or neither
    if delta is None:
        target_ln_delta = checked_log10_delta * _LN10
    else:
        target_ln_delta = np.log(np.asarray(delta, dtype=float))
    sensitivities = check_positive("sensitivity", sensitivity)

    points = np.broadcast_arrays(check_eps(eps), target_ln_delta, sensitivities)
    scales = np.empty(points[0].shape)
    for index in np.ndindex(scales.shape):
        eps_of_point, ln_delta, sensitivity_of_point = (array[index] for array in points)
        ratio = _ratio_of_delta(eps_of_point.item(), ln_delta.item())
        scales[index] = ratio * sensitivity_of_point
    return scales[()]


def _ratio_of_delta(eps: float, target_ln_delta: float) -> float:
    """The ratio scale / sensitivity at which ln delta of the Gaussian mechanism is the target.

    delta falls while the ratio grows. The search is for ln ratio: downwards from a ratio that is surely large
    enough until one is too small, then by Brent's method in between.
    """
    # delta(eps) <= delta(0) <= 1 / (sqrt(2 pi) ratio), and sqrt(2 pi) > 2.5.
    ln_high = -target_ln_delta - np.log(2.5)
    if eps > 0:
        # delta <= Phi(-reach) <= e^(-reach^2 / 2) where eps ratio - 1 / (2 ratio) = reach.
        reach = np.sqrt(-2 * target_ln_delta)
        root = np.hypot(reach, np.sqrt(2 * eps))
        ln_high = min(ln_high, np.log(reach + root) - np.log(2 * eps))
    if ln_high > 700:  # e^710 is no float
        raise ValueError(f"eps must be larger for this delta: the scale overflows; got {eps}")

    def surplus(ln_ratio: float) -> float:
        """ln delta less its target."""
        ln_delta = _ln_delta(np.asarray(eps, dtype=float), np.exp(np.asarray(ln_ratio)))
        return float(ln_delta) - target_ln_delta

    ln_low = ln_high
    step = 0.25
    while surplus(ln_low) < 0:
        ln_high = ln_low
        ln_low -= step
        step *= 2
    if ln_low == ln_high:  # the first bound is tight: rounding alone is left
        return np.exp(ln_high)
    return np.exp(scipy.optimize.brentq(surplus, ln_low, ln_high, xtol=1e-14, rtol=1e-14))


def _ln_delta(eps: Floats, ratio: Floats) -> Floats:
    """Natural log of delta of the Gaussian mechanism, with ``ratio`` = scale / sensitivity; both broadcast.

    With a = 1 / (2 ratio) and b = eps ratio, delta is Phi(a - b) - e^eps Phi(-a - b) of the normal
    distribution function Phi. Each point takes the one of three forms of it that loses no digits there.
    """
    eps, ratio = np.broadcast_arrays(eps, ratio)
    with np.errstate(over="ignore", under="ignore"):
        a, b = 0.5 / ratio, eps * ratio
    a = np.minimum(a, _HUGE)  # delta is 1 there already
    b = np.where(b < _HUGE, b, np.nan)  # else ln delta is -inf: nan is in none of the three ranges

    large = a >= np.maximum(b, 0.5)  # delta is above 0.2
    # The Mills' ratios of b - a and b + a have leading digits in common, which a difference would lose.
    near = (a <= 0.5 * np.maximum(b, 1.0)) & ~large
    between = (a < b) & ~near
    ln_delta = np.full(eps.shape, -np.inf)
    forms = (
        (large, _ln_delta_by_complement),
        (near, _ln_delta_by_integral),
        (between, _ln_delta_by_mills),
    )
    for in_range, form in forms:
        if np.any(in_range):
            ln_delta[in_range] = form(a[in_range], b[in_range])
    return ln_delta


def _ln_delta_by_integral(a: Floats, b: Floats) -> Floats:
    """ln of phi(b - a) int_0^inf e^(-t^2/2 - b t) 2 sinh(a t) dt, all of whose terms are positive."""
    slope = b - a
    last_t = 2 * _LAST / (slope + np.sqrt(slope**2 + 2 * _LAST))  # slope t + t^2 / 2 = _LAST
    t = last_t[..., None] * (_NODES + 1) / 2
    # 2 sinh(a t) e^(-b t) = (1 - e^(-2 a t)) e^(-(b - a) t), here divided by a, which may be tiny.
    terms = (
        -np.expm1(-2 * a[..., None] * t) / a[..., None] * np.exp(-(t**2) / 2 - slope[..., None] * t)
    )
    return _ln_phi(slope) + np.log(terms @ _WEIGHTS * last_t / 2) + np.log(a)


def _ln_delta_by_complement(a: Floats, b: Floats) -> Floats:
    """ln delta where delta is not small: 1 - delta = Phi(b - a) + e^eps Phi(-a - b)."""
    from scipy.special import ndtr  # here, as the import takes as long as that of numpy

    complement = ndtr(b - a) + np.exp(_ln_phi(a - b)) * _mills_ratio(a + b)
    return np.log1p(-complement)


def _ln_delta_by_mills(a: Floats, b: Floats) -> Floats:
    """ln of phi(b - a) (M(b - a) - M(b + a)), with Mills' ratio M."""
    return _ln_phi(a - b) + np.log(_mills_ratio(b - a) - _mills_ratio(b + a))


def _ln_phi(x: Floats) -> Floats:
    return -(x**2) / 2 - np.log(2 * np.pi) / 2


def _mills_ratio(x: Floats) -> Floats:
    """M(x) = Phi(-x) / phi(x) for x >= 0."""
    from scipy.special import erfcx

    return np.sqrt(np.pi / 2) * erfcx(x / np.sqrt(2))


def geometric_error(eps: Floats | float) -> Floats:
    """E|X| of a count with two-sided geometric noise that is (eps, 0)-private for a histogram.

    One user moves two cells by 1, so P(X = x) is proportional to a^|x| with a = e^(-eps / 2) (Ghosh,
    Roughgarden and Sundararajan 2012), and E|X| = 2 a / (1 - a^2) = 1 / sinh(eps / 2).
    """
    return np.asarray(1 / np.sinh(np.asarray(eps) / 2))
