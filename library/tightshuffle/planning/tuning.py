"""Tune the m of subset selection or the g of local hashing for shuffled reports.

The parameter with the least error at a given (eps, delta) has the least delta among all with this error: with
a smaller delta, another one could raise eps0, and would have a smaller error. So two parameters are compared
at the same error, where eps0 has a closed form. Data are uniform: a parameter must not depend on values.
"""

import numpy as np

from tightshuffle.arguments import Floats, Integers
from tightshuffle.bounds.guarantee import ln_upper_of_round
from tightshuffle.points import LARGEST_EPS0_OF_UPPER, points_of_randomizers
from tightshuffle.randomizers import LocalHashing, SubsetSelection

Tunable = type[SubsetSelection] | type[LocalHashing]
TUNABLE: dict[str, Tunable] = {kind.key: kind for kind in (SubsetSelection, LocalHashing)}
_Results = dict[tuple[int, int], tuple[float, float]]  # point and parameter -> ln delta and eps0
# The search compares a parameter with those about so many times smaller and larger: at first, and, or by a
# smaller factor, at last.
_FIRST_FACTOR = 4.0
_LAST_FACTOR = 1.1
# A parameter up to this is compared with all within a factor of 2, since the error of few users is jagged.
_SMALL_PARAMETER = 16
_WIDTH = 1e-2  # what the computation of a bound on delta may add, relative to delta
# The first guess tries 2^0, 2^(1 / 8), 2^(2 / 8), ... below 2^40, rounded.
_PER_OCTAVE = 8
_OCTAVES = 40


def first_guess(kind: Tunable, *, n: Floats, k: Floats, sigma: Floats) -> tuple[Integers, Floats]:
    """The parameter m or g with the least error for many users, and its eps0; each (points,).

    m is the number of values in a subset, for subset selection. g is the number of hash values, for local
    hashing. ``kind`` is the class of one of these two randomizers. A point has ``n`` users, ``k`` values, and
    a guarantee that Gaussian noise of the deviation ``sigma`` on every count would have, too. Arguments are
    (points,).

    For many users, the shuffled reports have the delta of Gaussian noise. Each m or g is tried with the eps0
    whose noise has the deviation sigma, which solves

        alpha y^2 / (1 + s y) = n / sigma^2,    y = e^eps0 - 1,    s = alpha + beta,

    where a report that is drawn without regard to values supports one given value and not another with the
    probability alpha, and both with the probability beta. The error is that for uniform data.
    """
    cells = np.asarray(k, dtype=float)[:, None]  # k again, (points, 1)
    # Powers of 2 with whole and broken exponents, cut to the range of m or g that is possible for each k.
    grid = np.unique(np.rint(2.0 ** (np.arange(_PER_OCTAVE * _OCTAVES) / _PER_OCTAVE)))
    possible = [kind.parameters(int(cell)) for cell in np.ravel(k)]
    smallest = np.array([values[0] for values in possible], dtype=float)[:, None]
    largest = np.array([values[-1] for values in possible], dtype=float)[:, None]
    parameters = np.clip(grid, smallest, largest)  # (points, tried), as are y and the variance

    # With ratio = n / sigma^2, y is the positive root of alpha y^2 - ratio s y - ratio = 0.
    alpha, beta = kind.chances(cells, parameters)
    s = alpha + beta
    ratio = np.asarray(n, dtype=float)[:, None] / np.asarray(sigma, dtype=float)[:, None] ** 2
    y = (ratio * s + np.sqrt((ratio * s) ** 2 + 4 * alpha * ratio)) / (2 * alpha)

    # n times the variance of a value's estimated share: from the 1 / k who hold it, and from all others.
    holders_term = (1 - s) * s * (1 + y) / cells
    others_term = (1 - 1 / cells) * (s + beta * y) * (1 - s + alpha * y)
    variance = (holders_term + others_term) / (alpha * y) ** 2
    best = (np.arange(len(parameters)), variance.argmin(axis=1))
    return parameters[best].astype(np.int64), np.log1p(y[best])


def most_private(
    kind: Tunable,
    start: Integers,
    eps: Floats,
    *,
    n: Floats,
    k: Floats,
    variance: Floats,
    hidden: Floats | None = None,
) -> tuple[Integers, Floats]:
    """The parameter m or g with the least delta among those of equal accuracy, and its eps0; each (points,).

    m is the number of values in a subset, for subset selection. g is the number of hash values, for local
    hashing. ``kind`` is the class of one of these two randomizers. Each parameter gets the eps0 at which
    the unbiased estimate of a value's share of the users has this ``variance``, for uniform data. The
    result has the least delta at ``eps``. Its eps0 is inf where no parameter has this variance.

    The search walks from the parameter ``start`` to the best of some parameters around it, then on from
    there, in ever smaller steps. So it finds a minimum nearby. A parameter above 16 is known to a few
    percent, within which the error hardly changes.

    A point has ``n`` users and ``k`` values. ``hidden`` of the users, by default all, do not show their
    reports to the adversary. All arrays are (points,). Nothing is checked.
    """
    users = n if hidden is None else hidden
    best = [int(parameter) for parameter in start]
    factors = [_FIRST_FACTOR] * len(start)
    results: _Results = {}

    unfinished = list(range(len(best)))
    while unfinished:
        # Compute delta for the best parameter of each point so far, and for others around it.
        candidates = {}
        new_tries = []
        for point in unfinished:
            candidates[point] = _candidates(kind, int(k[point]), best[point], factors[point])
            new_tries += [(point, p) for p in candidates[point] if (point, p) not in results]
        if new_tries:
            rows, parameters = np.array(new_tries).T  # each (tries,); a row is a point's index
            eps0 = _eps0_of_variance(
                kind, parameters, n=n[rows], k=k[rows], variance=variance[rows]
            )
            ln_deltas = _ln_deltas(kind, parameters, eps0, eps[rows], users[rows], k[rows])
            pairs = zip(ln_deltas.tolist(), eps0.tolist(), strict=True)
            results.update(zip(new_tries, pairs, strict=True))

        # Move to the best candidate. Where that is the parameter itself, take smaller steps, or finish.
        still_unfinished = []
        for point in unfinished:
            winner = _best_candidate(point, candidates[point], results)
            if winner == best[point]:
                if factors[point] <= _LAST_FACTOR or winner <= _SMALL_PARAMETER:
                    continue  # finished
                factors[point] = np.cbrt(factors[point])  # 4, 1.6, 1.2, 1.05
            best[point] = winner
            still_unfinished.append(point)
        unfinished = still_unfinished

    best_eps0 = [results[point, parameter][1] for point, parameter in enumerate(best)]
    return np.array(best, dtype=np.int64), np.array(best_eps0)


def _best_candidate(point: int, candidates: list[int], results: _Results) -> int:
    """The parameter with the least delta at this ``point``, among its ``candidates``.

    ``results`` maps a point and a parameter to its ln delta and eps0. Of several parameters with the same
    delta, the result is the first candidate if it is among them, or else the smallest.
    """

    def rank(parameter: int) -> tuple[float, bool, int]:
        """What is least for the best candidate."""
        ln_delta, _ = results[point, parameter]
        return ln_delta, parameter != candidates[0], parameter

    return min(candidates, key=rank)


def _ln_deltas(
    kind: Tunable, parameters: Integers, eps0: Floats, eps: Floats, users: Floats, k: Floats
) -> Floats:
    """ln of the upper bound on delta of one round, for each parameter with its eps0; (tries,).

    It is inf where eps0 is too large for the bound.
    """
    ln_deltas = np.full(len(parameters), np.inf)
    rows = np.flatnonzero(eps0 <= LARGEST_EPS0_OF_UPPER)
    randomizers = [kind.of(int(k[row]), float(eps0[row]), int(parameters[row])) for row in rows]
    points = points_of_randomizers(eps[rows], users[rows], randomizers)
    ln_deltas[rows] = ln_upper_of_round(points, width=_WIDTH)
    return ln_deltas


def _eps0_of_variance(
    kind: Tunable, parameter: Integers, *, n: Floats, k: Floats, variance: Floats
) -> Floats:
    """The eps0 at which the unbiased estimate of a value's share has this ``variance``; (points,).

    It is inf where the variance is larger however large eps0 is. Data are uniform: a share f = 1 / k of the
    ``n`` users holds each value. For this ``parameter`` (m or g), a report that is drawn without regard to
    values supports one given value and not another with the probability alpha, and both with the probability
    beta. Let s = alpha + beta. Eq. (4) of Wang et al. 2017 is quadratic in y = e^eps0 - 1:

        n variance alpha^2 y^2 = f s (1 - s) (1 + y) + (1 - f) (s + beta y) (1 - s + alpha y),

    or square y^2 - linear y - s (1 - s) = 0, which has a positive root if square > 0.
    """
    alpha, beta = kind.chances(k, parameter)
    s = alpha + beta
    f = 1 / k
    square = n * variance * alpha**2 - (1 - f) * alpha * beta
    linear = f * s * (1 - s) + (1 - f) * (s * alpha + beta * (1 - s))
    with np.errstate(divide="ignore", invalid="ignore"):
        y = (linear + np.sqrt(linear**2 + 4 * square * s * (1 - s))) / (2 * square)
    eps0 = np.log1p(np.where(square > 0, y, 0.0))
    return np.where(square > 0, eps0, np.inf)


def _candidates(kind: Tunable, k: int, parameter: int, factor: float) -> list[int]:
    """The ``parameter``, then others to compare it with in ascending order, all of them possible for k.

    The others are about ``factor`` times smaller and larger. For a small parameter they are also all from
    half of it to twice it.
    """
    parameters = {round(parameter / factor), round(parameter * factor)}
    if parameter <= _SMALL_PARAMETER:
        parameters.update(range(-(-parameter // 2), 2 * parameter + 1))  # half is rounded up
    possible = kind.parameters(k)
    neighbours = {min(max(p, possible[0]), possible[-1]) for p in parameters}
    return [parameter, *sorted(neighbours - {parameter})]
