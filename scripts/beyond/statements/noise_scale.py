"""Which scale of Gaussian noise fits the printed errors: a likelihood of any scale.

The paper states neither the delta nor the sensitivity of its Gaussian. It prints 28 errors of single cells
and two total variation distances, with one or two digits each, all at eps = 4. With Z standard normal an
error of one cell is |Z| scale / n, and an unprojected distance is the sum of |Z| scale / (2 n) over cells.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from scripts.shared.printed import printed_to_decimal, records
from tightshuffle.arguments import Floats

STEP, POINTS = 0.002, 2**16  # the grid on which |Z| is summed
SCALES = np.arange(1000, 4000) / 1000  # those among which `likely` looks


class Error(NamedTuple):
    """A printed error, how many significant digits it has, and what it is the error of."""

    printed: float
    digits: int
    users: int
    cells: int  # of a total variation distance; 1: the error of one cell


def gaussian_errors(values: pd.DataFrame, users: Mapping[str, int]) -> list[Error]:
    """The Gaussian's errors among ``values`` (values.csv as text); ``users``: dataset -> all its users."""
    errors = []
    for row in records(values[(values["kind"] == "random") & (values["mechanism"] == "gaussian")]):
        printed = printed_to_decimal(row["printed"])
        n = users[row["dataset"]] if row["n"] == "all" else int(row["n"])
        cells = int(row["k"]) if row["quantity"] == "tv" else 1
        errors.append(Error(float(printed), len(printed.as_tuple().digits), n, cells))
    return errors


def log_likelihood(
    errors: Iterable[Error], scales: npt.ArrayLike, *, cut_off: bool = False
) -> Floats:
    """ln of the probability that Gaussian noise of each of ``scales`` gives errors that print as ``errors``.

    A scale is a standard deviation in users. The result has the shape of ``scales``. With Z standard normal,
    the error of one cell is |Z| scale / n, and a total variation distance over cells is the sum of as many
    |Z| scale / (2 n). All errors are independent. Errors that print alike are an interval: those that are
    rounded to the printed digits, or if ``cut_off`` those whose further digits are cut off.
    """
    scales = np.asarray(scales, dtype=float)
    total = np.zeros(scales.shape)
    for error in errors:
        interval = _cut_off_alike if cut_off else _rounded_alike
        lowest_error, highest_error = interval(error.printed, error.digits)
        low = lowest_error * error.users
        high = highest_error * error.users
        if error.cells == 1:
            probability = stats.halfnorm.cdf(high / scales) - stats.halfnorm.cdf(low / scales)
        else:
            points, cumulative = sum_distribution(error.cells)
            up_to_high = np.interp(2 * high / scales, points, cumulative)
            up_to_low = np.interp(2 * low / scales, points, cumulative)
            probability = up_to_high - up_to_low
        total += np.log(probability)
    return total


def likely(errors: Sequence[Error], *, cut_off: bool = False) -> tuple[float, float]:
    """(lowest scale, highest scale) of the 95 % interval by the likelihood ratio, in users.

    ``cut_off``: if the errors are printed with further digits cut off instead of rounded.
    """
    ln_likelihood = log_likelihood(errors, SCALES, cut_off=cut_off)
    is_likely = 2 * (ln_likelihood.max() - ln_likelihood) <= stats.chi2.ppf(0.95, 1)
    return float(SCALES[is_likely][0]), float(SCALES[is_likely][-1])


def sum_distribution(count: int) -> tuple[Floats, Floats]:
    """Of the sum of ``count`` <= 60 independent |Z|: points, and the probability up to each.

    Z is standard normal. |Z| is taken on a grid of `STEP`, and its probabilities are convolved by an FFT.
    """
    ends = np.append(0, (np.arange(POINTS // 2) + 0.5) * STEP)
    spectrum = np.fft.rfft(np.diff(stats.halfnorm.cdf(ends)), POINTS)
    return (np.arange(POINTS) + 0.5) * STEP, np.cumsum(np.fft.irfft(spectrum**count, POINTS))


def _rounded_alike(error: float, digits: int) -> tuple[float, float]:
    """Ends of the interval of errors that are rounded to ``error``, with its digits."""
    unit = _unit_of_last_digit(error, digits)
    last = np.floor(error / unit + 0.5)
    below = 0.05 if last == 10 ** (digits - 1) else 0.5  # the next smaller number has finer digits
    return float((last - below) * unit), float((last + 0.5) * unit)


def _cut_off_alike(error: float, digits: int) -> tuple[float, float]:
    """Ends of the interval of errors whose first digits are those of ``error``."""
    unit = _unit_of_last_digit(error, digits)
    last = np.floor(error / unit + 0.5)
    return float(last * unit), float((last + 1) * unit)


def _unit_of_last_digit(error: float, digits: int) -> float:
    """What one more in the last of the ``digits`` significant digits adds: 0.01 for 0.23 with two digits."""
    # 1e-12: the logarithm of a power of ten may come out just below an integer.
    return float(10 ** (np.floor(np.log10(error) + 1e-12) - digits + 1))
