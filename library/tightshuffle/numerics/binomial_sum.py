"""The mean absolute deviation of a sum of binomial and Poisson numbers, exact however few are expected."""

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats

# From this variance on a normal variable has the same mean absolute deviation, to 1e-6 of it.
NORMAL_VARIANCE = 1e5
# Of a sum of standard deviation s and mean m, no number beyond m +- (6 s + 24) has a weight that shows.
_DEVIATIONS, _NUMBERS = 6.0, 24.0
_NODES = 64  # of a Fourier sum: from there on a characteristic function is below e^-40
_ROWS_AT_A_TIME = 1000  # which bounds the memory


def mean_absolute_deviation(
    trials: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    complements: npt.ArrayLike,
    poisson_means: npt.ArrayLike = 0.0,
) -> Floats:
    """E|S - E S| of sums S of independent numbers, (sums,).

    Row by row, S is the sum of binomial numbers of so many ``trials``, whole numbers, with these
    ``probabilities``, each (sums, parts), and of a Poisson number with the mean ``poisson_means`` (sums,).
    ``complements`` are 1 - probability, which may be known to more digits. Shapes broadcast.

    S is a sum of independent indicators X_i of probabilities p_i. With m = floor(E S),

        E|S - E S| = 2 E[(S - E S) 1(S > m)] = 2 sum_i p_i (1 - p_i) P(S - X_i = m).

    Here X_i contributes p_i (1 - p_i) times P(S > m | X_i = 1) - P(S > m | X_i = 0), and this difference is
    P(S - X_i = m). For one binomial number it is De Moivre's formula. No terms cancel. A Poisson number is
    the limit of many indicators. Each probability is a sum of values of the characteristic function
    (`_deviation_of_rows`).
    """
    p, complement, trials = np.broadcast_arrays(
        np.atleast_2d(np.asarray(probabilities, dtype=float)),
        np.atleast_2d(np.asarray(complements, dtype=float)),
        np.atleast_2d(np.asarray(trials, dtype=float)),
    )
    poisson = np.broadcast_to(np.asarray(poisson_means, dtype=float), len(p))
    variances = (trials * p * complement).sum(axis=1) + poisson
    deviations = np.sqrt(2 / np.pi * variances)

    # A table of many values has many equal rows.
    few = np.flatnonzero((variances > 0) & (variances < NORMAL_VARIANCE))
    if few.size:
        rows = np.column_stack([trials[few], p[few], complement[few], poisson[few]])
        different, places = np.unique(rows, axis=0, return_inverse=True)
        batches = np.array_split(different, -(-len(different) // _ROWS_AT_A_TIME))
        exact = np.concatenate([_deviation_of_rows(batch, p.shape[1]) for batch in batches])
        deviations[few] = exact[places.ravel()]
    return deviations


def _deviation_of_rows(rows: Floats, parts: int) -> Floats:
    """The mean absolute deviations of `mean_absolute_deviation`, for variances above 0; (rows,).

    A row has trials, probabilities and complements of the binomial numbers, so many ``parts`` of each, and
    the mean of the Poisson number.

    P(S = m) is the mean of phi(t) e^(-i m t) over N equal steps t of a whole turn, where phi is the
    characteristic function of S, but for the probabilities of m +- N, m +- 2 N, ... N is so large that these
    are below e^-70. All is centred at the mean of S: large numbers would cancel. A probability above 1/2 is
    that of a failure, counted down from the number of trials.
    """
    trials, p, complement = np.split(rows[:, :-1, None], 3, axis=1)  # (rows, parts, 1)
    poisson = rows[:, -1:]  # (rows, 1)
    rare = np.minimum(p, complement)
    sign = np.where(p <= complement, 1.0, -1.0)
    variances = trials * p * complement
    deviation = np.sqrt(variances.sum(axis=1) + poisson)
    # E S less a whole number, and less m.
    fraction = (trials * sign * rare).sum(axis=1) + poisson
    fraction -= np.floor(fraction)

    # Steps t from 0 to half a turn, (rows, nodes), as the other half has the conjugate values. Their number
    # is odd, so none is half a turn.
    half = np.ceil(_DEVIATIONS * deviation + _NUMBERS)
    node = np.arange(_NODES)
    t = 2 * np.pi * node / (2 * half + 1)
    weight = np.where(node == 0, 1.0, 2.0) * (node <= half) / (2 * half + 1)

    # ln |phi| and the angle of phi, of one trial of each part (rows, parts, nodes) and of S (rows, nodes).
    turn = t[:, None, :]
    ln_size_of_one = np.log1p(-4 * p * complement * np.sin(turn / 2) ** 2) / 2
    angle = np.arctan2(rare * np.sin(turn), 1 - 2 * rare * np.sin(turn / 2) ** 2) - rare * turn
    angle_of_one = sign * angle
    ln_size = (trials * ln_size_of_one).sum(axis=1) - 2 * poisson * np.sin(t / 2) ** 2
    angle_of_sum = (trials * angle_of_one).sum(axis=1) + poisson * (np.sin(t) - t)

    # P(S - X = m) for a trial X of each part, whose mean is p, (rows, parts); and P(S = m), (rows,).
    size = np.exp(ln_size[:, None] - ln_size_of_one)
    offset = p - fraction[:, None]
    without_one = size * np.cos(angle_of_sum[:, None] - angle_of_one - turn * offset)
    of_sum = np.exp(ln_size) * np.cos(angle_of_sum + t * fraction)
    summed = (variances[:, :, 0] * (without_one @ weight[:, :, None])[:, :, 0]).sum(axis=1)
    return np.asarray(2 * (summed + poisson[:, 0] * (of_sum * weight).sum(axis=1)))
