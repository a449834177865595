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
    for ten: in Loader's saddle-point form, deviances and remainders of Stirling's formula take the place of
    differences of large log-factorials.
    """
    arrays = [np.asarray(argument, dtype=float) for argument in (successes, trials, probability)]
    x, n, p = np.broadcast_arrays(*arrays)
    y = n - x  # failures
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = (
            _stirling_remainder(n)
            - _stirling_remainder(x)
            - _stirling_remainder(y)
            - _deviance(x, n * p)
            - _deviance(y, n * (1 - p))
            + 0.5 * np.log(n / (2 * np.pi * x * y))
        )
        all_succeed = scipy.special.xlogy(n, p)
        all_fail = scipy.special.xlog1py(n, -p)
    ln_pmf = np.where(x == n, all_succeed, np.where(x == 0, all_fail, inner))
    return np.where((x < 0) | (y < 0), -np.inf, ln_pmf)


def log2_choose(k: int, m: int) -> float:
    """log2 of the number of subsets of m of k values."""
    return float(-(np.log(k + 1) + scipy.special.betaln(k - m + 1, m + 1)) / np.log(2))


def _stirling_remainder(n: Floats) -> Floats:
    """log n! - log(sqrt(2 pi n) (n / e)^n): a table of exact differences below 16, the series above."""
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
    n = np.arange(1, 16)
    exact = scipy.special.gammaln(n + 1.0) - (0.5 * np.log(2 * np.pi * n) + n * np.log(n) - n)
    return np.concatenate([[0.0], exact])


def _deviance(x: Floats, mean: Floats) -> Floats:
    """x log(x / mean) + mean - x >= 0, without cancellation where x is near its mean."""
    v = (x - mean) / (x + mean)
    near = np.abs(v) < 0.1
    u = np.where(near, v, 0.0)
    # x log(x / mean) = 2 x artanh(v): the series of Loader's bd0.
    series = (x - mean) * u + 2 * x * u * np.polynomial.polynomial.polyval(u * u, _ARTANH)
    return np.where(near, series, scipy.special.xlogy(x, x / mean) + mean - x)
