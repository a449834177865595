"""A second upper bound on delta for every dataset: close to the lower bound where the blanket's is not.

The blanket hides the target user among the reports that do not depend on a value; this bound hides the target
user among nearly all other users:

    delta <= E[D(n - 1 - g)],  g geometric,    D(m) >= E[(G_1 + ... + G_m)_+] / m for all m users at any x,
    G = (R_x0 - e^eps R_x1)(y) / R_x(y),  y ~ R_x,

with D(m) a trapezoid sum of absolute values, which cost about 0.3 % of delta. docs/theory.md, "Upper and
lower bounds", has the proof. `Randomizer.references` has one value of each kind. Local hashing with g > 2
needs three-wise independent hash functions here (`privacy_blanket.ln_upper`: pairwise).
"""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from tightshuffle.arguments import Booleans, Floats, Integers
from tightshuffle.bounds.privacy_blanket import BITS, merge_equal_values, rounded_to_bits
from tightshuffle.numerics.positive_part import outwards
from tightshuffle.points import Points
from tightshuffle.randomizers import Density, Finite, KRandomizedResponse, Randomizer, WorstPair
from tightshuffle.side import Side

_ULP = 2.0**-52
# Of `GainSums`, a trapezoid sum along the line theta + iu with the nodes u = 0, h, 2 h, ..., each of which
# has the weight e^(-(tau u)^2 / 2), so that the sum can end.
_SMOOTHING = 0.04  # theta tau: it adds 1.5 (theta tau)^2 to delta, relatively
_LENGTH = 12.0  # 2 pi / h in standard deviations of the tilted sum
_LAST = 8.0  # u tau of the last node: beyond, e^-32 is left
_NODES = 4000  # at most, about: for tiny delta tau is larger
_GROUPS = (40, 5)  # nodes that are left out together, at first and at last,
SMALL_TERM = -60.0  # if the log of each one's term over the largest is surely less
_HIGHEST = 500.0  # theta times the largest gain, at most: e^500 is a float
# Of `_may_be_smaller`, by how much a Chernoff exponent has to be smaller than the blanket's.
_LEAST, _WORTH = 4e-4, 1e-4  # in all, and as a part of the exponent: 0.005 % of eps
# Where eps is above eps0 / 2: by what it may be larger, as the exponents say less there.
_DOUBT = 0.3
_FINE, _COARSE = 0.25, 1.1  # of the blocks of g: first steps, in 1 / gamma, and later factor


def ln_upper(points: Points, *, other_bound: Floats | None = None) -> Floats:
    """ln of an upper bound on delta of one round, for every dataset and both directions; (points,).

    It is -inf where eps >= eps0. For many users the bound is close to the lower bound
    `privacy_blanket.ln_lower`. For few users, the upper bound of `privacy_blanket` is smaller. The time is
    1 to 5 ms per point, or for a matrix of your own up to that for every pair of values.

    ``other_bound`` (points,) is ln of another upper bound, if there is one. Where the bound of this function
    is larger, the result may be a smaller number, to save time, but none below the other. So it still holds.
    """
    if other_bound is None:
        other_bound = np.full(points.eps.size, math.inf)
    points_with_other = zip(
        points.eps.tolist(),
        points.honest_users.tolist(),
        points.randomizers,
        other_bound.tolist(),
        strict=True,
    )
    ln_bounds = np.full(points.eps.size, -math.inf)
    for number, (eps, users, randomizer, ln_other) in enumerate(points_with_other):
        # Elsewhere delta is 0.
        if eps < randomizer.eps0:
            ln_bounds[number] = ln_bound(eps, users, randomizer, ln_other)
    return np.minimum(ln_bounds, 0.0)


def ln_smaller(points: Points, other_bound: Floats) -> Floats:
    """ln of the smaller one of two upper bounds on delta: `ln_upper` and ``other_bound``; (points,).

    ``other_bound`` (points,) is ln of the upper bound of `privacy_blanket`. To save time, the result is this
    alone, which also holds, in three cases:

    * for matrices, which have `pairs_of_matrix` up to 256 values; beyond, the time is too long;
    * for k-RR where `_may_be_smaller` says that `ln_upper` is hardly smaller;
    * for densities, as nothing is proved for inputs between 0 and 1.
    """
    if isinstance(points.randomizer, Density):
        return other_bound
    below_eps0 = points.eps < points.eps0
    is_krr = np.array(
        [isinstance(randomizer, KRandomizedResponse) for randomizer in points.randomizers],
        dtype=bool,
    )
    is_matrix = np.array([isinstance(each, Finite) for each in points.randomizers], dtype=bool)
    worth_it = ~is_matrix & below_eps0
    krr_to_judge = is_krr & below_eps0
    if krr_to_judge.any():
        worth_it[krr_to_judge] = _may_be_smaller(points.at(krr_to_judge))

    result = other_bound.copy()
    if worth_it.any():
        bound = ln_upper(points.at(worth_it), other_bound=other_bound[worth_it])
        result[worth_it] = np.minimum(result[worth_it], bound)
    return result


def _may_be_smaller(points: Points) -> Booleans:
    """Whether `ln_upper` can be smaller than the upper bound of the privacy blanket, for k-RR; (points,).

    For k = 2 it is never worth it, as the blanket's module has delta of the worst dataset to about 0.1 %.
    Otherwise the exponents of two Chernoff bounds decide. R_x is the distribution of the report of a user
    who holds x, and the target user's value changes from x0 to x1. With the gain G = (R_x0 - e^eps R_x1) / w
    of a report with the distribution w, an exponent is ln E[e^(theta G)] times a number of users:

    * for the blanket, w is the blanket, the smallest R_x at each report, and the number is n;
    * for `ln_upper`, w is R_x of the value x of all other users, the worst of three, and the number is
      n - 1 / gamma. gamma is the mass of the blanket, and 1 / gamma the mean number of users who are left
      out.

    The second exponent has to be smaller by a small amount. In 5,158 random settings (k from 3 to 2,000, n
    from 10 to 10^8, eps0 from 0.1 to 14, delta from 1e-2 to 1e-158) `ln_upper` was smaller in 848. Where
    this function leaves it out, it would lower eps by at most 0.0042 %.
    """
    eps, n, k, eps0 = points.eps, points.honest_users, points.k, points.eps0
    e_eps0 = np.exp(eps0)
    # The gains G at the reports x0, x1, all others but x2, and x2; (references, reports, points). Each row is
    # a reference: the distribution w. Its numerator and w are both in units of the probability of a wrong
    # value, and `at_` are the numerators. expm1, as differences of exponentials can be 0 for tiny eps0, or
    # next to eps0.
    at_x0, at_x1 = np.exp(eps) * np.expm1(eps0 - eps), -np.expm1(eps + eps0)
    at_others, zero = -np.expm1(eps), np.zeros(eps.shape)
    gains = np.array(
        [
            [at_x0, at_x1, at_others, zero],  # the blanket
            [at_x0 / e_eps0, at_x1, at_others, zero],  # all other users at x0,
            [at_x0, at_x1 / e_eps0, at_others, zero],  # at x1,
            [at_x0, at_x1, at_others, at_others / e_eps0],  # and at x2
        ]
    )
    # The probabilities of these reports under each reference.
    one = np.ones(eps.shape)
    weights = np.array(
        [
            [one, one, k - 2, zero],
            [e_eps0, one, k - 2, zero],
            [one, e_eps0, k - 2, zero],
            [one, one, k - 3, e_eps0],
        ]
    )
    probabilities = weights / (e_eps0 + k - 1)

    # The theta that minimises the largest exponent of the other users' values, on ever finer grids around
    # the best theta so far. The first grid is around the best theta for a normal sum. `highest` keeps
    # e^(theta G) a float.
    users_left = n - (e_eps0 + k - 1) / k  # n - 1 / gamma
    ln_theta = -0.5 * np.log(n * (probabilities[0] * gains[0] ** 2).sum(axis=0))
    reach, highest = 8.0, np.log(_HIGHEST / at_x0)
    for _ in range(4):
        theta = np.exp(np.minimum(ln_theta + reach * np.linspace(-1, 1, 21)[:, None], highest))
        with np.errstate(over="ignore"):
            # (thetas, references, points)
            ln_mgf = np.log1p((probabilities * np.expm1(theta[:, None, None] * gains)).sum(axis=2))
        exponents = users_left * ln_mgf[:, 1:].max(axis=1)
        best = (exponents.argmin(axis=0), np.arange(eps.size))
        ln_theta, reach = np.log(theta[best]), reach / 8

    # For eps above eps0 / 2 the exponents say less, so there the second one may even be larger.
    exponent_of_blanket = n * ln_mgf[:, 0][best]
    least_gain = np.where(eps > eps0 / 2, -_DOUBT, _LEAST - _WORTH * exponent_of_blanket)
    worth_it = exponent_of_blanket - exponents[best] > least_gain
    return worth_it & (k > 2) & (eps < eps0)


def _pad(gains: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """The values and probabilities of distributions of different lengths, filled up with zeros.

    ``gains`` has a pair of arrays for each distribution. Both results are (distributions, classes).
    """
    classes = max(len(values) for values, _ in gains)
    g, p = np.zeros((2, len(gains), classes))
    for row, (values, probabilities) in enumerate(gains):
        g[row, : len(values)] = values
        p[row, : len(values)] = probabilities
    return g, p


def ln_bound(eps: float, n: int, randomizer: Randomizer, ln_other: float) -> float:
    """Natural log of an upper bound on delta of ``n`` users, for the worst pair of values x0, x1.

    The bound is the mean of D(m). D(m) bounds delta among m other users who all hold the same value, the
    worst one; `GainSums.ln_delta` has ln D. m is n - 1 less a geometric number of users who are left out,
    over which `ln_mean` takes the mean. ``ln_other`` is the natural log of another bound on delta, or inf.
    Once the largest bound of the pairs so far is above ``ln_other``, it is the result, and no other pair is
    looked at. It is ln 1 for a `WorstPair`, as a third value's reports are not known.
    """
    if n == 1 or isinstance(randomizer, WorstPair):
        return 0.0
    # The mass of the blanket, rounded down: rather more users are left out.
    gamma = randomizer.gamma * (1 - 1e-12)
    ln_largest = -math.inf
    for pair in _gains_of_pairs(eps, n, randomizer, gamma):
        # Pairs come with falling Chernoff bounds, so no later one can have a larger delta, either.
        if pair.ln_chernoff <= ln_largest or ln_largest > ln_other:
            break
        values_of_first_reference, _ = pair.gains[0]
        if not np.any(values_of_first_reference > 0):
            continue  # a gain has the same sign for every reference: no gain is positive, and delta is 0

        # Units in the last place by which gains may be wrong: rounding of eps and eps0 counts, too.
        ulps = pair.ulps + 2 * (eps + randomizer.eps0)
        sums = GainSums(ulps, n, pair.gains)
        # Numbers of users left out that are reached with a probability of e^-depth count with delta = 1. This
        # adds about e^-12 of Chernoff's bound for n users.
        depth = 12 - min(0.0, float(sums.ln_chernoff(np.array([n]))[0]))
        # First Chernoff's bound, as it is fast: a pair for which even this is not larger ends here.
        if ln_mean(n, gamma, depth, sums.ln_chernoff) > ln_largest:
            ln_largest = max(ln_largest, ln_mean(n, gamma, depth, sums.ln_delta))
    return ln_largest


class _PairGains(NamedTuple):
    """The distributions of the gain G of one pair x0, x1, and what is known of its bound.

    ``gains`` has the values and probabilities of G under each reference, both (classes,). ``ulps`` is the
    number of units in the last place by which these may be wrong. ``ln_chernoff`` is the natural log of an
    upper bound on the bound for this pair, or inf.
    """

    gains: list[tuple[Floats, Floats]]
    ulps: float
    ln_chernoff: float


def _gains_of_pairs(
    eps: float, n: int, randomizer: Randomizer, gamma: float
) -> Iterator[_PairGains]:
    """For every pair of values x0, x1 that may have the largest delta, the distributions of the gain.

    The gain of a report y is (R_x0(y) - e^eps R_x1(y)) / R_x(y), with y drawn from R_x, the distribution of
    the report of a user who holds x. There is a distribution of gains for each reference x, the value of all
    other users. Pairs come with falling Chernoff bounds
    on delta (`_ln_chernoff`, for ``n`` users and the blanket's mass ``gamma``), so that a search can end
    early.

    A randomizer without a matrix lists pairs itself; they have the bound inf. Of a matrix come all pairs that
    have a positive gain; for other pairs delta is 0.
    """
    if not isinstance(randomizer, Finite):
        for pair in randomizer.pairs():
            gains = [
                randomizer.trusted_gains(eps, reference, pair)
                for reference in randomizer.references()
            ]
            # These gains come from a formula of a few operations.
            yield _PairGains(gains, ulps=16.0, ln_chernoff=math.inf)
        return

    # The errors of a matrix's gains: of the formula, of sums over all reports, and of rounding to `BITS` of
    # 53 bits.
    ulps = 32.0 + 2.0 * randomizer.matrix.shape[0] + 2.0 ** (54 - BITS)
    pairs = []
    for unmerged_values, unmerged_masses in _different_pairs(eps, randomizer):
        values, masses = merge_equal_values(unmerged_values, unmerged_masses)
        if np.any(values > 0):
            ln_chernoff = _ln_chernoff(values, masses, n, gamma)
            gains = list(zip(values, masses, strict=True))
            pairs.append(_PairGains(gains, ulps, ln_chernoff))
    pairs.sort(key=lambda pair: pair.ln_chernoff, reverse=True)
    yield from pairs


def _different_pairs(eps: float, randomizer: Finite) -> Iterable[tuple[Floats, Floats]]:
    """For each pair of values x0, x1, the gains of all reports and their chances; (references, reports).

    The gain of a report is (R_x0 - e^eps R_x1) / R_x, and its probability is R_x, that of the report if a
    user holds x. There is a row for each reference x, the value of all other users. Gains are rounded to
    `BITS` bits, and ascend in each row. Of pairs that agree to `BITS` bits only the first comes, and of such
    references only the first.
    """
    chances = randomizer.matrix.T  # R_x of every report; (references, reports)
    # Pairs that agree have the same rows, and so the same bytes as a key.
    different: dict[bytes, tuple[Floats, Floats]] = {}
    # `distributions` has the gains of all x1 with one x0, over the blanket and not yet over R_x.
    for gains_over_blanket, blanket in randomizer.distributions(eps, ["blanket"]):
        for excess in gains_over_blanket * blanket:  # R_x0 - e^eps R_x1 at every report, for one x1
            g = rounded_to_bits(excess / chances)
            order = np.lexsort((chances, g))
            g = np.take_along_axis(g, order, axis=1)
            p = np.take_along_axis(chances, order, axis=1)
            rounded_rows = np.hstack([g, rounded_to_bits(p)])
            _, firsts = np.unique(rounded_rows, axis=0, return_index=True)
            different.setdefault(rounded_rows[firsts].tobytes(), (g[firsts], p[firsts]))
    return different.values()


def _ln_chernoff(g: Floats, p: Floats, n: int, gamma: float) -> float:
    """Natural log of an upper bound on delta for one pair of values, which takes little time.

    ``g`` and ``p`` (references, classes) are the gains G of a report and their probabilities, under each
    reference, the value of all other users. ``n`` is the number of users, and ``gamma`` the mass of the
    blanket. With the moment generating function M of G, delta for m users who are left is at most
    M(theta)^m / (e theta m) for every theta > 0. The result is the mean over m, which is random (`ln_mean`).
    One theta serves all m. It is searched on three ever finer grids.
    """
    # The first grid is around the best theta for a normal sum; `highest` keeps e^(theta G) a float.
    largest_variance = float((p * g**2).sum(axis=1).max())
    best_ln_theta, reach = -0.5 * math.log(n * largest_variance), 6.0
    highest = math.log(_HIGHEST / g.max())
    for _ in range(3):
        ln_theta = np.minimum(best_ln_theta + reach * np.linspace(-1, 1, 9), highest)
        theta = np.exp(ln_theta)[:, None, None]
        # ln M of the worst reference; (thetas,)
        ln_mgf = np.log1p((p * np.expm1(theta * g)).sum(axis=-1)).max(axis=1)
        best = int((n * ln_mgf - 2 * ln_theta).argmin())
        best_ln_theta, best_ln_mgf = float(ln_theta[best]), float(ln_mgf[best])
        reach /= 4

    best_ln_mgf += 1e-11 * (1 + abs(best_ln_mgf))  # more than rounding may have lost

    def ln_delta(m: Floats) -> Floats:
        """ln of Chernoff's bound for m users who are left."""
        return m * best_ln_mgf - 1 - best_ln_theta - np.log(m)

    # What is left out in the mean is then at most e^-12 of Chernoff's bound for n users.
    depth = 12 - min(0.0, n * best_ln_mgf - 1 - best_ln_theta - math.log(n))
    return ln_mean(n, gamma, depth, ln_delta)


def ln_mean(n: int, gamma: float, depth: float, ln_delta: Callable[[Floats], Floats]) -> float:
    """Natural log of an upper bound on the mean of delta over the random number of users who are left.

    This number is n - 1 - g. g is the number of users who are left out, with P(g) = gamma (1 - gamma)^g, for
    the blanket's mass ``gamma``. ``ln_delta`` is a function from numbers of users who are left (blocks,) to
    the natural log of delta for so many, which falls where more are left. The mean is taken over blocks of
    neighbouring g. A block counts as its last g, where delta is largest. This is the start of the next block
    less 1, so that n - start of the next block users are left. All g that are reached with a probability of
    about e^-``depth`` or less are one block, with delta = 1.
    """
    # Where blocks start, in units of 1 / gamma, about the mean of g: first in steps of _FINE, up to 4, then
    # by a factor of _COARSE. The last block starts at about `depth`, where P(g >= start) is e^-depth.
    growing = 4 * _COARSE ** np.arange(math.log(max(depth / 4, 1)) / math.log(_COARSE) + 1)
    starts = np.ceil(np.concatenate([np.arange(0, 4, _FINE), growing]) / gamma)
    starts = np.minimum(starts, n - 1)
    # Without blocks that are empty.
    starts = starts[np.diff(starts, prepend=-1) > 0]

    # The probability of a block is P(g >= its start) - P(g >= the next start).
    ln_at_least = starts * math.log1p(-gamma)  # ln P(g >= start)
    with np.errstate(divide="ignore"):
        ln_weights = ln_at_least[:-1] + np.log(-np.expm1(np.diff(ln_at_least)))
    ln_blocks = ln_weights + np.minimum(ln_delta(n - starts[1:]), 0.0)
    ln_last_block = ln_at_least[-1]
    # 1e-12 is more than what rounding may take away.
    return float(np.logaddexp.reduce([*ln_blocks, ln_last_block])) + 1e-12


class GainSums:
    """Upper bounds on D(m) at any m, for one eps and one pair of values.

    D(m) is the largest E[(G_1 + ... + G_m)_+] / m over all references, the values that all other users may
    hold. With the moment generating function M of one gain G under a reference, m times its mean is at most
    the trapezoid sum over the nodes u = 0, h, 2 h, ... of |M(theta + iu)|^m e^(-(tau u)^2 / 2) / (theta^2 +
    u^2), times h / pi, where u = 0 counts half; and but for what the smoothing by tau and the nodes that are
    left out may add (`ln_delta`).

    Parameters
    ----------
    ulps : float
        Units in the last place by which the gains may be wrong, but for what adding them up may lose.
    n : int
        The number of users for whom theta, tau and the nodes are chosen.
    gains : list of pairs of arrays
        For each reference the values of G and their probabilities.

    Attributes
    ----------
    g, p : float arrays (references, classes)
        The gains and their probabilities, rounded up.
    theta, tau, h, u : floats, and float array (nodes,)
        As above.
    ln_mgf : float array (references,)
        ln M(theta).
    weights : float array (references, classes)
        The probabilities tilted by e^(theta G).
    deviations : float array (references,)
        The standard deviations of a tilted gain, rounded up.
    """

    def __init__(self, ulps: float, n: int, gains: list[tuple[Floats, Floats]]) -> None:
        """Choose the line theta + iu of integration, its nodes u, and the smoothing tau, for ``n`` gains.

        The ``gains`` are moved to a larger delta by ``ulps`` units in the last place, and more for rounding
        here. theta is where Chernoff's bound M(theta)^n / theta^2 is least, for the worst reference. h is as
        small as the largest standard deviation of the tilted sum asks for. The last node is where tau u is
        `_LAST`.
        """
        values, probabilities = _pad(gains)
        self.g, self.p = outwards(values, probabilities, Side.UPPER, ulps + 2 * values.shape[1])

        # ln theta at which Chernoff's bound is least, on ever finer grids. The first one is around the best
        # theta for a normal sum, and `highest` keeps e^(theta G) a float.
        largest_variance = float((self.p * self.g**2).sum(axis=1).max())
        best_ln_theta, reach = -0.5 * math.log(n * largest_variance), 10.0
        highest = math.log(_HIGHEST / self.g.max())
        while reach > 1e-3:  # every theta gives a bound: one near the best is enough
            ln_theta = np.minimum(best_ln_theta + reach * np.linspace(-1, 1, 21), highest)
            ln_mgfs = self._ln_mgf(np.exp(ln_theta)[:, None])  # (thetas, references)
            ln_chernoff = (n * ln_mgfs).max(axis=-1) - 2 * ln_theta
            best_ln_theta, reach = float(ln_theta[ln_chernoff.argmin()]), reach / 8
        self.theta = math.exp(best_ln_theta)

        # The distributions of G under the tilt, and the largest standard deviation of a sum of n.
        self.ln_mgf = self._ln_mgf(np.array([self.theta]))
        self.weights = self.p * np.exp(self.theta * self.g - self.ln_mgf[:, None])
        mean = (self.weights * self.g).sum(axis=1)
        second_moment = (self.weights * self.g**2).sum(axis=1)
        variances = second_moment - mean**2
        rounding = 1e-12 * second_moment  # more than what rounding may take away
        self.deviations = np.sqrt(variances + rounding)
        largest_deviation = math.sqrt(n * float(variances.max()))

        # The period 2 pi / h is `_LENGTH` times the deviation, or times 1 / theta if this is larger. tau is
        # large enough for at most about `_NODES` nodes.
        self.h = 2 * math.pi / (_LENGTH * max(largest_deviation, 1 / self.theta))
        self.tau = max(_SMOOTHING / self.theta, _LAST / (_NODES * self.h))
        self.u = self.h * np.arange(math.ceil(_LAST / (self.tau * self.h)) + 1)

    def _ln_mgf(self, theta: Floats) -> Floats:
        """ln M(theta) for each reference, rounded up: (..., references), from ``theta`` (..., 1).

        ``lost`` is more than what rounding may take away from M(theta) - 1.
        """
        exponents = theta[..., None] * self.g
        terms = self.p * np.expm1(exponents)
        lost = 8 * _ULP * (np.abs(terms) * (1 + np.abs(exponents))).sum(axis=-1)
        return np.log1p(terms.sum(axis=-1) + lost * terms.shape[-1])

    def _ln_modulus(self, u: Floats, kind: int) -> Floats:
        """ln of |M(theta + iu) / M(theta)| for the reference number ``kind``, rounded up; (nodes,), as ``u``.

        With the probabilities w of the tilted gain G, the quotient is E[e^(iuG)] = 1 + real + i imaginary.
        ``lost`` is in proportion to what rounding may take away from the square of its modulus less 1.
        """
        w, angle = self.weights[kind, :, None], self.g[kind, :, None] * u
        sine, versine = np.sin(angle), 2 * np.sin(angle / 2) ** 2
        real, imaginary = -(w * versine).sum(axis=0), (w * sine).sum(axis=0)
        lost = (w * (versine + np.abs(angle * sine))).sum(axis=0)
        lost += np.abs(imaginary) * (w * np.abs(angle)).sum(axis=0)
        square_less_1 = 2 * real + real**2 + imaginary**2 + 8 * _ULP * self.weights.shape[1] * lost
        # A modulus is at most 1, and its logarithm is to be finite.
        return 0.5 * np.log1p(np.clip(square_less_1, -1 + 1e-300, 0.0))

    def _indices_of_nodes(self, users: float, kind: int) -> Integers:
        """The indices in ``self.u`` of the nodes whose terms count, for m = ``users`` or more; ascending.

        A term of the reference number ``kind`` has the factor f(u)^m with f(u) = |M(theta + iu) / M(theta)|.
        Nodes are left out where ln of this factor, less m times by how much ln M(theta) is below that of the
        largest reference, is surely below `SMALL_TERM`.

        To find them, f is computed in the middle of groups of neighbouring nodes: of 40 at first, then of 5
        of those that are left. f^2 is E[cos(u (G - G'))] of two independent tilted gains G and G', which have
        the standard deviation s = ``self.deviations[kind]``. So per unit of u, f changes by at most s, and
        f^2 by at most 2 s^2 u.
        """
        s = float(self.deviations[kind])
        ln_below_largest = float(self.ln_mgf.max() - self.ln_mgf[kind])
        least_square = math.exp(2 * (SMALL_TERM / users + ln_below_largest))
        nodes = np.arange(len(self.u))
        for group in _GROUPS:
            firsts = nodes[nodes % group == 0]
            middles, reach = (firsts + group // 2) * self.h, group / 2 * self.h
            f = np.exp(self._ln_modulus(middles, kind))
            # The largest that f^2 can be within a group.
            by_slope_of_f = (f + s * reach) ** 2
            by_slope_of_square = f**2 + 2 * s**2 * (middles + reach) * reach
            largest_square = np.minimum(by_slope_of_f, by_slope_of_square)
            nodes = (firsts[largest_square > least_square, None] + np.arange(group)).ravel()
        return nodes[nodes < len(self.u)]

    def ln_chernoff(self, users: Floats) -> Floats:
        """Natural log of Chernoff's bound on D(m) for m = ``users``, (blocks,): larger, but in no time.

        The bound is M(theta)^m / (e theta m), since x_+ <= e^(theta x) / (e theta).
        """
        m = np.asarray(users, dtype=float)
        top = m * self.ln_mgf.max()
        return top - 1 - math.log(self.theta) - np.log(m) + 1e-12 + 4 * _ULP * np.abs(top)

    def ln_delta(self, users: Floats) -> Floats:
        """Natural log of a bound on D(m) for m = ``users``, (blocks,).

        It is a trapezoid sum, smoothed with tau, plus what is left out: beyond the last node, and at nodes
        with small terms.
        """
        m = np.asarray(users, dtype=float)
        last = self.u[-1]
        # The weights beyond the last node, and then those of all nodes whose terms are small.
        left_out = math.exp(-((last * self.tau) ** 2) / 2) / (math.pi * last)
        left_out += self.h / math.pi * len(self.u) * math.exp(SMALL_TERM) / self.theta**2
        # ln of the largest M(theta)^m, the unit of the sums.
        top = m * self.ln_mgf.max()
        total = np.log(self.largest_sums(m) + left_out) + top + (self.theta * self.tau) ** 2 / 2
        return total - np.log(m) + 1e-12 + 4 * _ULP * np.abs(top)

    def largest_sums(self, m: Floats) -> Floats:
        """For each number ``m`` of users, the trapezoid sum of the reference that has the largest; (blocks,).

        The sums are in units of the largest M(theta)^m of all references.
        """
        # No sum is larger than that of a reference whose |M(theta + iu)| is M(theta) at every node.
        most = float(self._sum(self.u, np.zeros(self.u.shape)))
        largest = np.zeros(m.shape)
        for kind in np.argsort(-self.ln_mgf, kind="stable").tolist():
            # ln of M(theta)^m of this reference, in units of the largest.
            ln_heights = m * self.ln_mgf[kind] - m * self.ln_mgf.max()
            if np.all(np.exp(ln_heights) * most <= largest):
                break  # neither this reference nor a later one, whose M is smaller, can be the largest
            u = self.u[self._indices_of_nodes(float(m.min(initial=math.inf)), kind)]
            ln_integrands = ln_heights[:, None] + m[:, None] * self._ln_modulus(u, kind)
            largest = np.maximum(largest, self._sum(u, ln_integrands))
        return largest

    def _sum(self, u: Floats, ln_integrands: Floats) -> Floats:
        """The trapezoid sum over the nodes ``u`` (nodes,), which stand for -u, too; (...).

        ``ln_integrands`` (..., nodes) are ln |M(theta + iu)|^m in some unit.
        """
        terms = np.exp(ln_integrands - (u * self.tau) ** 2 / 2) / (self.theta**2 + u**2)
        at_zero = terms[..., 0] if 0.0 in u else 0.0
        return np.asarray(self.h / (2 * math.pi) * (2 * terms.sum(axis=-1) - at_zero))
