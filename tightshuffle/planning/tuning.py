"""Tune the m of subset selection or the g of local hashing for shuffled reports.

The parameter with the least error at a given (eps, delta) has the least delta among all with this error: with
a smaller delta, another one could raise eps0, and would have a smaller error. So two parameters are compared
at the same error, where eps0 has a closed form. Data are uniform: a parameter must not depend on values.
"""

import numpy as np

from tightshuffle.arguments import Floats, Integers
from tightshuffle.guarantee import log10_upper_of_round
from tightshuffle.points import LARGEST_EPS0_OF_UPPER, points_of_randomizers
from tightshuffle.randomizers import LocalHashing, SubsetSelection

Tunable = type[SubsetSelection] | type[LocalHashing]
TUNABLE: dict[str, Tunable] = {kind.key: kind for kind in (SubsetSelection, LocalHashing)}
_Results = dict[tuple[int, int], tuple[float, float]]  # point and parameter -> log10 delta and eps0
_FACTOR = 4.0  # between the parameters that are compared first,
_FINEST = 1.1  # and last, unless they are small:
_SMALL = (
    16  # up to here with all others within a factor of 2, since the error of few users is jagged
)
_WIDTH = 1e-2  # of the bounds, relative to delta
_PER_OCTAVE, _OCTAVES = 8, 40  # parameters that are tried for a start


def first_guess(kind: Tunable, *, n: Floats, k: Floats, sigma: Floats) -> tuple[Integers, Floats]:
    """The m or g with the least error, and its eps0, in the approximation by a Gaussian for many users.

    m is the number of values in a subset, for subset selection, and g that of hashes, for local hashing. For
    ``n`` users and ``k`` values, each m or g has the eps0 whose delta is that of Gaussian noise with the
    deviation ``sigma`` on every count: c alpha y^2 = n / sigma^2, with y = e^eps0 - 1 and c = 1 / (1 + s y).
    A report that is drawn without regard to values supports one given value and not another with the
    probability alpha, both with beta, and so one of them with s = alpha + beta. All arrays are (points,).
    """
    cells = np.asarray(k, dtype=float)[:, None]
    grid = np.unique(np.rint(2.0 ** (np.arange(_PER_OCTAVE * _OCTAVES) / _PER_OCTAVE)))
    possible = [kind.parameters(int(cell)) for cell in np.ravel(k)]
    smallest = np.array([values[0] for values in possible], dtype=float)[:, None]
    largest = np.array([values[-1] for values in possible], dtype=float)[:, None]
    parameters = np.clip(grid, smallest, largest)  # (points, tried)

    # y = e^eps0 - 1 solves alpha y^2 = share (1 + s y), with share = n / sigma^2.
    alpha, beta = kind.chances(cells, parameters)
    s = alpha + beta
    share = np.asarray(n, dtype=float)[:, None] / np.asarray(sigma, dtype=float)[:, None] ** 2
    y = (share * s + np.sqrt((share * s) ** 2 + 4 * alpha * share)) / (2 * alpha)

    # The variance of a value's estimated share, times n: of the 1 / k who hold it, and of all others.
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
    """The m or g with the least delta among those whose estimates have the same variance, and its eps0.

    m is that of subset selection and g that of local hashing, by ``kind``. The search walks from ``start`` to
    the best of some parameters around it, in ever smaller steps: to a minimum nearby, and a parameter above
    16 to a few percent, where the error hardly changes. Arrays are (points,). ``variance`` is that of the
    unbiased estimate of a value's share of n users, for uniform data. ``hidden`` are the users whose reports
    the adversary does not know, n by default. eps0 is inf where no parameter has this variance. Nothing is
    checked.
    """
    users = n if hidden is None else hidden
    best = [int(parameter) for parameter in start]
    factors = [_FACTOR] * len(start)
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
            rows, parameters = np.array(new_tries).T
            eps0 = _eps0_of_variance(
                kind, parameters, n=n[rows], k=k[rows], variance=variance[rows]
            )
            log10_deltas = _log10_deltas(kind, parameters, eps0, eps[rows], users[rows], k[rows])
            pairs = zip(log10_deltas.tolist(), eps0.tolist(), strict=True)
            results.update(zip(new_tries, pairs, strict=True))

        # Move to the best candidate; where that is the parameter itself, take smaller steps, or stop.
        still_unfinished = []
        for point in unfinished:
            winner = _best_of(point, candidates[point], results)
            if winner == best[point]:
                if factors[point] <= _FINEST or winner <= _SMALL:
                    continue
                factors[point] = np.cbrt(factors[point])
            best[point] = winner
            still_unfinished.append(point)
        unfinished = still_unfinished

    best_eps0 = [results[point, parameter][1] for point, parameter in enumerate(best)]
    return np.array(best, dtype=np.int64), np.array(best_eps0)


def _best_of(point: int, candidates: list[int], results: _Results) -> int:
    """The candidate with the least delta; of equal ones the first candidate, then the smallest."""

    def rank(parameter: int) -> tuple[float, bool, int]:
        log10_delta, _ = results[point, parameter]
        return log10_delta, parameter != candidates[0], parameter

    return min(candidates, key=rank)


def _log10_deltas(
    kind: Tunable, parameters: Integers, eps0: Floats, eps: Floats, users: Floats, k: Floats
) -> Floats:
    """log10 of delta of one round with each parameter and its eps0, inf where eps0 is too large; (tries,)."""
    log10_deltas = np.full(len(parameters), np.inf)
    rows = np.flatnonzero(eps0 <= LARGEST_EPS0_OF_UPPER)
    randomizers = [kind.of(int(k[row]), float(eps0[row]), int(parameters[row])) for row in rows]
    points = points_of_randomizers(eps[rows], users[rows], randomizers)
    log10_deltas[rows] = log10_upper_of_round(points, width=_WIDTH)
    return log10_deltas


def _eps0_of_variance(
    kind: Tunable, parameter: Integers, *, n: Floats, k: Floats, variance: Floats
) -> Floats:
    """The eps0 at which the estimated share of a value has this ``variance``; (points,).

    It is inf where even the largest eps0 has a larger variance. Data are uniform: a share f = 1 / k of ``n``
    users holds each value. For this ``parameter`` (m or g), a report that is drawn without regard to values
    supports one given value and not another with the probability alpha, and both with beta. Let s = alpha +
    beta. Eq. (4) of Wang et al. 2017 is quadratic in y = e^eps0 - 1:

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
    """The parameter, those about ``factor`` times smaller and larger, and all within twice of a small one."""
    parameters = {round(parameter / factor), round(parameter * factor)}
    if parameter <= _SMALL:
        parameters.update(range(-(-parameter // 2), 2 * parameter + 1))
    possible = kind.parameters(k)
    neighbours = {min(max(p, possible[0]), possible[-1]) for p in parameters}
    return [parameter, *sorted(neighbours - {parameter})]
