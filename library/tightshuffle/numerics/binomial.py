"""Binomial probabilities and coefficients in logarithms, to 13 digits for any number of trials."""

import functools

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import Floats

# Coefficients of artanh(v) / v - 1 in v^2.
_ARTANH = (0.0, *(1 / (2 * j + 1) for j in range(1, 10)))


def log_binomial_pmf(
    successes: npt.ArrayLike, trials: npt.ArrayLike, probability: npt.ArrayLike
) -> Floats:
    """Natural log of P(B = ``successes``) for B ~ Bin(``trials``, ``probability``). The arguments broadcast.

    It is -inf outside of 0..trials. The relative error of the probability stays near 1e-13 for 10^9 trials as
    for ten. For this, Loader's saddle-point form has no differences of large log-factorials. With x
    successes, y = n - x failures in n trials and the probability p it is, for x and y above 0,

        R(n) - R(x) - R(y) - D(x, n p) - D(y, n (1 - p)) + ln(n / (2 pi x y)) / 2.

    R(n) = ln(n!) - ln(sqrt(2 pi n) (n / e)^n) is the remainder of Stirling's formula, and the deviance
    D(x, m) = x ln(x / m) + m - x.
    """
    arrays = [np.asarray(argument, dtype=float) for argument in (successes, trials, probability)]
    x, n, p = np.broadcast_arrays(*arrays)
    y = n - x  # failures
    with np.errstate(divide="ignore", invalid="ignore"):
        with_both = (
            _stirling_remainder(n)
            - _stirling_remainder(x)
            - _stirling_remainder(y)
            - _deviance(x, n * p)
            - _deviance(y, n * (1 - p))
            + 0.5 * np.log(n / (2 * np.pi * x * y))
        )
        all_succeed = scipy.special.xlogy(n, p)
        all_fail = scipy.special.xlog1py(n, -p)
    ln_pmf_below_n = np.where(x == 0, all_fail, with_both)
    ln_pmf = np.where(x == n, all_succeed, ln_pmf_below_n)
    return np.where((x < 0) | (y < 0), -np.inf, ln_pmf)


def log2_choose(k: int, m: int) -> float:
    """log2 of the number of subsets of m of k values, (k choose m)."""
    return float(-(np.log(k + 1) + scipy.special.betaln(k - m + 1, m + 1)) / np.log(2))


def _stirling_remainder(n: Floats) -> Floats:
    """The remainder of Stirling's formula, ln(n!) - ln(sqrt(2 pi n) (n / e)^n), with the shape of ``n``.

    Below 16 it is taken from a table, and from 16 on it is the series 1 / (12 n) - 1 / (360 n^3) + ...
    """
    exact = _exact_remainders()
    small = n < exact.size
    table = exact[np.where(small & (n >= 0), n, 0).astype(int)]
    with np.errstate(divide="ignore", invalid="ignore"):
        square = n * n
        series = (
            1 / 12
            - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square
        ) / n
    return np.where(small, table, series)


@functools.cache
def _exact_remainders() -> Floats:
    """The remainders of Stirling's formula for n = 1, ..., 15, after 0 in the place of n = 0; (16,)."""
    n = np.arange(1, 16)
    exact = scipy.special.gammaln(n + 1.0) - (0.5 * np.log(2 * np.pi * n) + n * np.log(n) - n)
    return np.concatenate([[0.0], exact])


def _deviance(x: Floats, mean: Floats) -> Floats:
    """The deviance x ln(x / mean) + mean - x >= 0, without cancellation where x is near its mean."""
    v = (x - mean) / (x + mean)
    near = np.abs(v) < 0.1
    u = np.where(near, v, 0.0)
    # x ln(x / mean) is 2 x artanh(v), with v = (x - mean) / (x + mean). Its series is that of Loader's bd0.
    series = (x - mean) * u + 2 * x * u * np.polynomial.polynomial.polyval(u * u, _ARTANH)
    return np.where(near, series, scipy.special.xlogy(x, x / mean) + mean - x)
