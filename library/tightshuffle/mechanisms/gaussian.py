"""The analytic Gaussian mechanism (Balle and Wang 2018): its delta and its scale.

Noise of standard deviation sigma on a query of L2 sensitivity D is (eps, delta)-private exactly for

    delta = Phi(a - b) - e^eps Phi(-a - b),    a = D / (2 sigma),  b = eps sigma / D,    (Theorem 8)
          = phi(b - a) (M(b - a) - M(b + a)) = phi(b - a) int_0^inf e^(-t^2/2 - b t) 2 sinh(a t) dt,

with Mills' ratio M(x) = Phi(-x) / phi(x). One of these forms always keeps all digits.
"""

import math

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, check_eps, check_log10_delta, check_positive
from tightshuffle.numerics.roots import interval_with_root, least_enough

HISTOGRAM_SENSITIVITY = math.sqrt(2)  # L2 sensitivity of a histogram if one user's value changes
_LN10 = np.log(10)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(80)  # of Gauss-Legendre quadrature on [-1, 1]
_LARGEST_SQUARED = 1e150  # the square of a number up to it is a float
_LAST_EXPONENT = 45.0  # the integral ends where its integrand's slowest factor is e^-45


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
    # The check refuses both of delta and log10_delta, or none. A delta is not converted twice: that would
    # cost digits.
    checked_log10_delta = check_log10_delta(delta, log10_delta)
    if delta is None:
        target_ln_delta = checked_log10_delta * _LN10
    else:
        target_ln_delta = np.log(np.asarray(delta, dtype=float))
    sensitivities = check_positive("sensitivity", sensitivity)

    eps, target_ln_delta, sensitivities = np.broadcast_arrays(
        check_eps(eps), target_ln_delta, sensitivities
    )
    scales = np.empty(eps.shape)
    for index in np.ndindex(scales.shape):
        ratio = scale_over_sensitivity(eps[index].item(), target_ln_delta[index].item())
        scales[index] = ratio * sensitivities[index]
    return scales[()]  # a number if all arguments are numbers


def scale_over_sensitivity(eps: float, target_ln_delta: float) -> float:
    """The ratio scale / sensitivity at which ln delta of the Gaussian mechanism at ``eps`` is the target.

    The scale is the standard deviation of the noise. delta falls while the ratio grows. The search is for
    ln ratio. Two bounds on delta give a ratio that is surely large enough, but for rounding. There it starts.
    """
    # delta(eps) <= delta(0) <= 1 / (sqrt(2 pi) ratio), and sqrt(2 pi) > 2.5.
    ln_high = -target_ln_delta - np.log(2.5)
    if eps > 0:
        # With z = eps ratio - 1 / (2 ratio) >= 0, delta <= Phi(-z) <= e^(-z^2 / 2). This is the target for
        # z = sqrt(-2 ln delta), at ratio = (z + sqrt(z^2 + 2 eps)) / (2 eps).
        z = np.sqrt(-2 * target_ln_delta)
        root = np.hypot(z, np.sqrt(2 * eps))
        ln_high = min(ln_high, np.log(z + root) - np.log(2 * eps))
    if ln_high > 700:  # e^710 is no float
        raise ValueError(f"eps must be larger for this delta: the scale overflows; got {eps}")

    def surplus(ln_ratio: float) -> float:
        """ln delta at this ratio, less its target."""
        return ln_delta_of_ratio(eps, math.exp(ln_ratio)) - target_ln_delta

    interval = interval_with_root(surplus, ln_high, step=0.25)
    assert interval is not None  # the search has no end above
    return math.exp(least_enough(surplus, *interval, tolerance=1e-14, relative=1e-14))


def ln_delta_of_ratio(eps: float, ratio: float) -> float:
    """Natural log of delta of the Gaussian mechanism at ``eps``; ``ratio`` is scale / sensitivity > 0."""
    return float(_ln_delta(np.asarray(eps, dtype=float), np.asarray(ratio, dtype=float)))


def _ln_delta(eps: Floats, ratio: Floats) -> Floats:
    """Natural log of delta of the Gaussian mechanism at ``eps``, of the broadcast shape; -inf below -1e299.

    ``ratio`` is scale / sensitivity: standard deviation of the noise over L2 sensitivity of the query. With
    a = 1 / (2 ratio), b = eps ratio and the normal distribution function Phi (Balle and Wang 2018)

        delta = Phi(a - b) - e^eps Phi(-a - b).

    This difference loses digits. There are three other forms, and each point takes the one that keeps all
    digits there.
    """
    eps, ratio = np.broadcast_arrays(eps, ratio)
    with np.errstate(over="ignore", under="ignore"):
        a, b = 0.5 / ratio, eps * ratio
    a = np.minimum(a, _LARGEST_SQUARED)  # delta is 1 there already
    # nan is in none of the three ranges below, so that ln delta stays -inf.
    b = np.where(b < _LARGEST_SQUARED, b, np.nan)

    # delta is above 0.2: it follows from 1 - delta.
    large = a >= np.maximum(b, 0.5)
    # With Mills' ratio M(x) = Phi(-x) / phi(x), delta = phi(b - a) (M(b - a) - M(b + a)), where phi is the
    # normal density. The two M have leading digits in common if a is small beside b or 1: then an integral
    # takes the place of their difference.
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
    """ln of delta = phi(b - a) int_0^inf e^(-t^2/2 - b t) 2 sinh(a t) dt, a <= max(b, 1) / 2; (points,).

    phi is the normal density. The integrand is positive, so no digits are lost. The quadrature is that of
    Gauss and Legendre with the nodes t (points, nodes), up to the t where the exponent of
    e^(-t^2/2 - (b - a) t) is -45.
    """
    slope = b - a
    # The t > 0 with t^2 / 2 + slope t = _LAST_EXPONENT.
    last_t = 2 * _LAST_EXPONENT / (slope + np.sqrt(slope**2 + 2 * _LAST_EXPONENT))
    t = last_t[..., None] * (_NODES + 1) / 2
    # 2 sinh(a t) e^(-b t) = (1 - e^(-2 a t)) e^(-(b - a) t), here divided by a, which may be tiny.
    terms = (
        -np.expm1(-2 * a[..., None] * t) / a[..., None] * np.exp(-(t**2) / 2 - slope[..., None] * t)
    )
    return _ln_phi(slope) + np.log(terms @ _WEIGHTS * last_t / 2) + np.log(a)


def _ln_delta_by_complement(a: Floats, b: Floats) -> Floats:
    """ln delta where delta is not small, from 1 - delta = Phi(b - a) + e^eps Phi(-a - b); (points,).

    Phi is the normal distribution function. As eps = 2 a b, e^eps Phi(-a - b) = phi(a - b) M(a + b) with the
    normal density phi and Mills' ratio M(x) = Phi(-x) / phi(x).
    """
    from scipy.special import ndtr  # here, as the import takes as long as that of numpy

    complement = ndtr(b - a) + np.exp(_ln_phi(a - b)) * _mills_ratio(a + b)
    return np.log1p(-complement)


def _ln_delta_by_mills(a: Floats, b: Floats) -> Floats:
    """ln of delta = phi(b - a) (M(b - a) - M(b + a)), a < b, with Mills' ratio M(x) = Phi(-x) / phi(x)."""
    return _ln_phi(a - b) + np.log(_mills_ratio(b - a) - _mills_ratio(b + a))


def _ln_phi(x: Floats) -> Floats:
    """Natural log of the normal density phi(x) = e^(-x^2 / 2) / sqrt(2 pi)."""
    return -(x**2) / 2 - np.log(2 * np.pi) / 2


def _mills_ratio(x: Floats) -> Floats:
    """M(x) = Phi(-x) / phi(x) for x >= 0, of the normal distribution function and density."""
    from scipy.special import erfcx

    return np.sqrt(np.pi / 2) * erfcx(x / np.sqrt(2))


def geometric_error(eps: Floats | float) -> Floats:
    """E|X| of the two-sided geometric noise X that makes each count of a histogram (eps, 0)-private.

    One user moves two cells by 1. So P(X = x) is proportional to a^|x| with a = e^(-eps / 2) (Ghosh,
    Roughgarden and Sundararajan 2012), and E|X| = 2 a / (1 - a^2) = 1 / sinh(eps / 2), in users. The result
    has the shape of ``eps``.
    """
    return np.asarray(1 / np.sinh(np.asarray(eps) / 2))
