"""Which scale of Gaussian noise fits the printed errors: a test, and a likelihood, of any scale.

The paper states neither the delta nor the sensitivity of its Gaussian. It prints 28 errors of single cells
and two total variation distances, with one or two digits each, all at eps = 4. With Z standard normal an
error of one cell is |Z| scale / n, and an unprojected distance is the sum of |Z| scale / (2 n) over cells.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from reproduction.verification.joint import RUNS, kolmogorov_smirnov
from reproduction.verification.printed import printed_to_decimal, records
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


def p_value(errors: Sequence[Error], scale: float, *, cut: bool, rng: np.random.Generator) -> float:
    """The Kolmogorov-Smirnov p-value of the errors of single cells, if the noise has the ``scale``.

    The quantile of an error is the middle of those that are printed alike, with its digits rounded or ``cut``
    off. The distribution of the distance comes from `joint.RUNS` draws, of which the same is made.
    """
    single = [error for error in errors if error.cells == 1]
    printed, digits, users, _ = np.array(single).T
    drawn = np.abs(rng.standard_normal((RUNS, len(single)))) * scale / users
    seen, null = (
        kolmogorov_smirnov(stats.halfnorm.cdf(_alike(each, digits, cut) * users / scale).mean(axis=0))
        for each in (printed, drawn)
    )
    return float((1 + np.sum(null >= seen - 1e-9)) / (1 + RUNS))


def log_likelihood(errors: Iterable[Error], scales: npt.ArrayLike, *, cut: bool) -> Floats:
    """The natural log of the probability that noise of each of the ``scales`` (any shape) is printed so."""
    scales = np.asarray(scales, dtype=float)
    total = np.zeros(scales.shape)
    for error in errors:
        low, high = _alike(np.array(error.printed), np.array(error.digits), cut) * error.users
        if error.cells == 1:
            probability = stats.halfnorm.cdf(high / scales) - stats.halfnorm.cdf(low / scales)
        else:
            at, below = sum_distribution(error.cells)
            probability = np.interp(2 * high / scales, at, below) - np.interp(2 * low / scales, at, below)
        total += np.log(probability)
    return total


def likely(errors: Sequence[Error], *, cut: bool) -> tuple[float, float, float]:
    """(lowest scale, highest scale, largest log-likelihood): the 95 % interval by the likelihood ratio."""
    found = log_likelihood(errors, SCALES, cut=cut)
    inside = SCALES[2 * (found.max() - found) <= stats.chi2.ppf(0.95, 1)]
    return float(inside[0]), float(inside[-1]), float(found.max())


def sum_distribution(count: int) -> tuple[Floats, Floats]:
    """Of the sum of ``count`` <= 60 independent |Z|: points, and the probability up to each."""
    ends = np.append(0, (np.arange(POINTS // 2) + 0.5) * STEP)
    spectrum = np.fft.rfft(np.diff(stats.halfnorm.cdf(ends)), POINTS)
    return (np.arange(POINTS) + 0.5) * STEP, np.cumsum(np.fft.irfft(spectrum**count, POINTS))


def _alike(errors: Floats, digits: NDArray[np.float64], cut: bool) -> Floats:
    """Ends (2, ...) of the interval of errors that are printed as each of ``errors`` is, with its digits."""
    unit = 10 ** (np.floor(np.log10(errors) + 1e-12) - digits + 1)
    if cut:
        last = np.floor(errors / unit + 1e-9)
        return np.stack([last, last + 1]) * unit
    last = np.floor(errors / unit + 0.5)
    below = np.where(last == 10 ** (digits - 1), 0.05, 0.5)  # the next smaller number has finer digits
    above = np.where(last == 10**digits, 5, 0.5)
    return np.stack([last - below, last + above]) * unit
