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
SCALES = np.arange(1000, 4000) / 1000  # in users: those among which `likely_scales` looks


class Error(NamedTuple):
    """A printed error, how many significant digits it has, and what it is the error of."""

    printed: float
    digits: int
    users: int
    cells: int  # of a total variation distance; 1: the error of one cell


def gaussian_errors(values: pd.DataFrame, users: Mapping[str, int]) -> list[Error]:
    """The printed random errors of the Gaussian among ``values``, the rows of values.csv as texts.

    An `Error` has the printed number, its significant digits, the n users, and the number of cells that it
    sums over: k of a total variation distance, 1 of an individual error. ``users`` is dataset -> how many
    users it has.
    """
    errors = []
    for row in records(values[(values["kind"] == "random") & (values["mechanism"] == "gaussian")]):
        printed = printed_to_decimal(row["printed"])
        digits = len(printed.as_tuple().digits)
        n = users[row["dataset"]] if row["n"] == "all" else int(row["n"])
        cells = int(row["k"]) if row["quantity"] == "tv" else 1
        errors.append(Error(float(printed), digits, n, cells))
    return errors


def ln_likelihood_of_scales(
    errors: Iterable[Error], scales: npt.ArrayLike, *, cut_off: bool = False
) -> Floats:
    """ln of the probability that Gaussian noise of each of ``scales`` gives errors that print as ``errors``.

    A scale is a standard deviation in users. The result has the shape of ``scales``. With Z standard normal,
    the error of one cell of n users is |Z| scale / n. A total variation distance is the sum of as many
    independent |Z| scale / (2 n) as there are cells. The probabilities of all errors are multiplied.

    The errors that print alike are an interval. They are those that are rounded to the printed digits, or
    with ``cut_off`` those whose further digits are cut off.
    """
    scales = np.asarray(scales, dtype=float)
    ln_likelihood = np.zeros(scales.shape)
    ends_of_interval = _ends_if_cut_off if cut_off else _ends_if_rounded
    for error in errors:
        lowest_error, highest_error = ends_of_interval(error.printed, error.digits)
        # In users; over the scale, these are the ends of |Z|.
        low = lowest_error * error.users
        high = highest_error * error.users
        if error.cells == 1:
            probability = stats.halfnorm.cdf(high / scales) - stats.halfnorm.cdf(low / scales)
        else:
            # The sum of |Z| over the cells is 2 n / scale times the distance.
            points, cumulative = sum_distribution(error.cells)
            up_to_high = np.interp(2 * high / scales, points, cumulative)
            up_to_low = np.interp(2 * low / scales, points, cumulative)
            probability = up_to_high - up_to_low
        ln_likelihood += np.log(probability)
    return ln_likelihood


def likely_scales(errors: Sequence[Error], *, cut_off: bool = False) -> tuple[float, float]:
    """(lowest, highest) scale of the Gaussian's noise that fits the printed ``errors``, in users.

    This is a 95 % interval by the likelihood ratio, among `SCALES`. With ``cut_off`` the errors are taken as
    printed with further digits cut off, else as rounded.
    """
    ln_likelihood = ln_likelihood_of_scales(errors, SCALES, cut_off=cut_off)
    is_likely = 2 * (ln_likelihood.max() - ln_likelihood) <= stats.chi2.ppf(0.95, 1)
    return float(SCALES[is_likely][0]), float(SCALES[is_likely][-1])


def sum_distribution(count: int) -> tuple[Floats, Floats]:
    """(points, the probability that a sum is up to each): of the sum of ``count`` <= 60 independent |Z|.

    Z is standard normal. |Z| is rounded to a multiple of `STEP`, and its probabilities are convolved by an
    FFT. Both results have the shape (`POINTS`,).
    """
    # |Z| between two ends is rounded to the multiple of `STEP` in their middle, the first to 0.
    ends = np.append(0, (np.arange(POINTS // 2) + 0.5) * STEP)
    spectrum = np.fft.rfft(np.diff(stats.halfnorm.cdf(ends)), POINTS)
    probabilities = np.fft.irfft(spectrum**count, POINTS)
    points = (np.arange(POINTS) + 0.5) * STEP
    return points, np.cumsum(probabilities)


def _ends_if_rounded(error: float, digits: int) -> tuple[float, float]:
    """(low, high) of the errors that become ``error`` when rounded to ``digits`` significant digits."""
    unit = _unit_of_last_digit(error, digits)
    last = np.floor(error / unit + 0.5)
    # Below a power of ten, the next smaller number has a digit more after the point.
    below = 0.05 if last == 10 ** (digits - 1) else 0.5
    return float((last - below) * unit), float((last + 0.5) * unit)


def _ends_if_cut_off(error: float, digits: int) -> tuple[float, float]:
    """(low, high) of the errors whose first ``digits`` significant digits are those of ``error``."""
    unit = _unit_of_last_digit(error, digits)
    last = np.floor(error / unit + 0.5)
    return float(last * unit), float((last + 1) * unit)


def _unit_of_last_digit(error: float, digits: int) -> float:
    """What one more in the last of the ``digits`` significant digits adds: 0.01 for 0.23 with two digits."""
    # 1e-12: the logarithm of a power of ten may come out just below an integer.
    return float(10 ** (np.floor(np.log10(error) + 1e-12) - digits + 1))
