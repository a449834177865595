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
_FACTOR = 4.0  # between the parameters that are compared first,
_FINEST = 1.1  # and last, unless they are small:
_SMALL = 16  # up to here with all others within a factor of 2, since the error of few users is jagged
_WIDTH = 1e-2  # of the bounds, relative to delta
_PER_OCTAVE, _OCTAVES = 8, 40  # parameters that are tried for a start


def first_guess(kind: Tunable, *, n: Floats, k: Floats, sigma: Floats) -> tuple[Integers, Floats]:
    """The m or g with the least error, and eps0, in the approximation by a Gaussian for many users.

    delta is that of noise ``sigma`` on every count where c alpha (e^eps0 - 1)^2 = n / sigma^2; all (points,).
    """
    users, cells, noise = (np.asarray(x, dtype=float)[:, None] for x in (n, k, sigma))
    tried = np.unique(np.rint(2.0 ** (np.arange(_PER_OCTAVE * _OCTAVES) / _PER_OCTAVE)))
    possible = [kind.parameters(int(cell)) for cell in np.ravel(k)]
    first, last = (np.array([values[end] for values in possible], dtype=float)[:, None] for end in (0, -1))
    parameters = np.clip(tried, first, last)
    alpha, beta = kind.chances(cells, parameters)
    s, share = alpha + beta, users / noise**2
    y = (share * s + np.sqrt((share * s) ** 2 + 4 * alpha * share)) / (2 * alpha)
    variance = ((1 - s) * s * (1 + y) / cells + (1 - 1 / cells) * (s + beta * y) * (1 - s + alpha * y)) / (
        alpha * y
    ) ** 2
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

    It walks from ``start`` to the best of some parameters around it, in ever smaller steps: to a minimum
    nearby, and a parameter above 16 to a few percent, where the error hardly changes. Arrays are (points,).
    ``variance``: of the unbiased estimate of a value's share of n users, uniform data; ``hidden``: users
    whose reports the adversary does not know, n by default. eps0 is inf where none has this variance.
    Nothing is checked.
    """
    users = n if hidden is None else hidden
    best, factors = [int(p) for p in start], [_FACTOR] * len(start)
    known: dict[tuple[int, int], tuple[float, float]] = {}  # log10 delta and eps0 of a point's parameter
    left = list(range(len(best)))
    while left:
        near = {i: _neighbours(kind, int(k[i]), best[i], factors[i]) for i in left}
        asked = [(i, p) for i in left for p in (best[i], *near[i]) if (i, p) not in known]
        if asked:
            i, p = np.array(asked).T
            eps0 = _eps0_of_variance(kind, p, n=n[i], k=k[i], variance=variance[i])
            values = np.full(len(asked), np.inf)
            some = np.flatnonzero(eps0 <= LARGEST_EPS0_OF_UPPER)
            owns = [kind.of(int(k[i[a]]), float(eps0[a]), int(p[a])) for a in some]
            where = i[some]
            points = points_of_randomizers(eps[where], users[where], owns)
            values[some] = log10_upper_of_round(points, width=_WIDTH)
            known |= dict(zip(asked, zip(values.tolist(), eps0.tolist(), strict=True), strict=True))
        still = []
        for i in left:
            *_, found = min((known[i, p][0], p != best[i], p) for p in (best[i], *near[i]))
            if found == best[i]:
                if factors[i] <= _FINEST or found <= _SMALL:
                    continue
                factors[i] = np.cbrt(factors[i])
            best[i] = found
            still.append(i)
        left = still
    return np.array(best, dtype=np.int64), np.array([known[i, p][1] for i, p in enumerate(best)])


def _eps0_of_variance(
    kind: Tunable, parameter: Integers, *, n: Floats, k: Floats, variance: Floats
) -> Floats:
    """The eps0 at which an estimated share has this variance, uniform data; inf where every eps0 has more.

    Eq. (4) of Wang et al. 2017 is quadratic in y = e^eps0 - 1: with s = alpha + beta and f = 1 / k,

        n variance alpha^2 y^2 = f s (1 - s) (1 + y) + (1 - f) (s + beta y) (1 - s + alpha y).
    """
    alpha, beta = kind.chances(k, parameter)
    s, f = alpha + beta, 1 / k
    square = n * variance * alpha**2 - (1 - f) * alpha * beta
    linear = f * s * (1 - s) + (1 - f) * (s * alpha + beta * (1 - s))
    with np.errstate(divide="ignore", invalid="ignore"):
        y = (linear + np.sqrt(linear**2 + 4 * square * s * (1 - s))) / (2 * square)
    return np.where(square > 0, np.log1p(np.where(square > 0, y, 0.0)), np.inf)


def _neighbours(kind: Tunable, k: int, parameter: int, factor: float) -> list[int]:
    """Parameters about ``factor`` times smaller and larger, and all within twice of a small one."""
    possible = kind.parameters(k)
    near = {round(parameter / factor), round(parameter * factor)}
    if parameter <= _SMALL:
        near |= set(range(-(-parameter // 2), 2 * parameter + 1))
    near = {min(max(p, possible[0]), possible[-1]) for p in near}
    return sorted(near - {parameter})
