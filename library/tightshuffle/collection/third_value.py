"""delta of k-RR where all other users hold one third value, with different eps0: a lower bound.

The target user holds x0 or x1. Reports of the third value x2 are dropped. J' reports of other users are left,
each uniform over the other k - 1 values, whatever eps0 is. G'_1, G'_2, ... are independent copies of the gain
G' = (R_x0(y) - e^eps R_x1(y)) / u'(y) of such a report y. R_x(y) is the probability that the target user
reports y for the value x, and u' is uniform on the k - 1 values. The target user's report is x2, and dropped,
with probability q. The slopes r_m subtract these cases:

    delta >= sum_m P(J' = m - 1) E[(G'_1 + ... + G'_m - m r_m)_+] / m,
    r_m = q (e^eps - 1) P(J' = m) / P(J' = m - 1).

For many reports, one slope c = r_l replaces all r_m. The event G'_1 + ... + G'_m > m c shows, for every l >=
1, as r_m <= c from m = l on,

    delta >= first term - second term,
    first term = sum_m P(J' = m - 1) E[(G'_1 + ... + G'_m - m c)_+] / m,
    second term = q (e^eps - 1) P(J' < l, G'_1 + ... + G'_J' > c J').

r_m falls with m, because sums of Bernoulli and Poisson numbers are log-concave; Chernoff's bound covers the
second term. Only r_l has no proved error: it is computed to about 1e-9, and taken 1e-6 larger.
docs/theory.md, "Collections", has this dataset beside the upper bound.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import Booleans, Floats, Integers
from tightshuffle.collection.cover import Cover, has_few_reports, ln_delta, ln_probabilities
from tightshuffle.numerics.positive_part import log_positive_part, outwards, tilted_copies
from tightshuffle.numerics.roots import interval_with_root, least_enough
from tightshuffle.numerics.side import Side

_DEPTHS = (1.0, 1.5, 2.0, 3.0, 5.0, 8.0)  # of l below the likeliest m, in square roots of it
_SETTLED = 1e-4  # of delta, relative: a gain by a greater depth that is not worth its time
_SLACK = 1e-6  # of r_l, relative: far more than its computation, to 1e-9, loses
# ln of the least probability that counts: far smaller ones are too small for a float.
_LEAST_LOG = -650.0
_LARGEST_LN_T = 700.0  # e^700 is about the largest float
# The x of Chernoff's bound that are tried, in units of 1 / sqrt(mean number of reports).
_CHERNOFF_X = np.concatenate([[0.0], np.logspace(-4, 1, 60)])


class _Points(NamedTuple):
    """What the inequalities of the module need at each point, one eps a point.

    Every array has the points as its first axis. ``lower_gains`` and ``upper_gains`` (points, 3) are the
    values of G', rounded down and up. ``masses`` (points, 3) are their probabilities. ``growth`` (points,) is
    q (e^eps - 1). ``ulps`` (points, 1) are the units in the last place by which gains may be wrong.
    """

    lower_gains: Floats
    upper_gains: Floats
    masses: Floats
    growth: Floats
    ulps: Floats

    def choose(self, rows: Booleans | Integers) -> "_Points":
        """The arrays of the chosen points alone; ``rows`` is a mask (points,) or has their indices."""
        return _Points._make(array[rows] for array in self)


def ln_delta_of_third_value(
    eps: Floats,
    gains: Floats,
    q: float,
    k: int,
    cover: Cover,
    *,
    ulps: npt.ArrayLike,
    width: float = 1e-4,
) -> Floats:
    """Natural log of a lower bound on delta of k-RR where all other users hold x2; (points,).

    It is -inf where no bound above 0 is known. A smaller l makes both terms smaller. So some l are tried, and
    the largest difference counts. If J' is small, the bound with a slope r_m for each m is taken, which is
    better.

    Parameters
    ----------
    eps : array, shape (points,)
        At least 0.
    gains : array, shape (points, 3)
        (R_x0 - e^eps R_x1) / u at x0, at x1 and at another value, for u uniform on all k values.
    q : float
        The probability that the target user reports one given other value.
    k : int
        The number of values, at least 3.
    cover : Cover
        The law of J'.
    ulps : float or array
        The units in the last place by which ``gains`` may be wrong, which broadcasts against them.
    width : float
        About the relative error of the result.
    """
    # The probabilities under u' of x0, of x1 and of all k - 3 other values that are left.
    masses = np.broadcast_to(np.array([1, 1, k - 3]) / (k - 1), gains.shape)
    # G' is (k - 1) / k times ``gains``, because u' is k / (k - 1) times u on the k - 1 values that are left.
    # Subtracting a slope cancels digits, so the gains are rounded before it. The second results are rounded
    # probabilities. They are not used here, because both terms round again after the slope.
    lower_gains, _ = outwards(gains * ((k - 1) / k), masses, Side.LOWER, ulps)
    upper_gains, _ = outwards(gains * ((k - 1) / k), masses, Side.UPPER, ulps)
    growth = q * np.expm1(eps)
    cover = cover.rounded(Side.UPPER)  # more reports hide the target user better
    if has_few_reports(cover):
        return _ln_delta_term_by_term(lower_gains, masses, growth, cover, width)

    # About the m whose terms in the sum are largest. One more part of n and shares is the user's own report.
    n, shares = np.append(cover.n, 1.0), np.append(cover.shares, 1.0)
    likeliest_m = tilted_copies(lower_gains - growth[:, None], masses, n, shares)
    points = _Points(lower_gains, upper_gains, masses, growth, np.broadcast_to(ulps, (eps.size, 1)))
    best = np.full(eps.shape, -np.inf)  # natural log of the largest difference so far
    ln_first_terms = np.full(eps.shape, np.inf)
    for depth in _DEPTHS:
        # A greater depth is a smaller l (``least_m``), and so a smaller first term. A difference is below its
        # first term. So a point is settled where the last first term is hardly above the best so far.
        rows = np.flatnonzero(best < ln_first_terms - _SETTLED)
        least_m = np.maximum(np.floor(likeliest_m - depth * np.sqrt(likeliest_m)), 1)[rows]
        ln_first_terms[rows], ln_differences = _ln_first_terms_and_differences(
            points.choose(rows), cover, least_m, ln_first_terms[rows], width
        )
        best[rows] = np.fmax(best[rows], ln_differences)
    return best


def _ln_first_terms_and_differences(
    points: _Points, cover: Cover, least_m: Floats, ln_larger_terms: Floats, width: float
) -> tuple[Floats, Floats]:
    """Natural logs of the first term and of first term - second term, at l = ``least_m``; both (points,).

    ``cover`` is the law of J', and ``least_m`` (points,) are whole numbers. The first term is rounded down,
    and the second up.

    First terms grow with l. ``ln_larger_terms`` (points,) are natural logs of first terms at a larger l, or
    inf. Where even they do not exceed the second term, or where c is not known, the first term is not
    computed. There the results are ``ln_larger_terms`` and, for the difference, -inf. ``width`` is about the
    relative error of first terms.
    """
    ln_first_terms = ln_larger_terms.copy()
    ln_differences = np.full(least_m.shape, -np.inf)
    # The slope c, a bit larger. At eps = 0 it is 0, whatever the ratio is.
    with np.errstate(invalid="ignore"):
        slope = points.growth * probability_ratio(cover, least_m) * (1 + _SLACK)
    slope = np.where(points.growth == 0, 0.0, slope)
    rows = np.flatnonzero(np.isfinite(slope))

    # The second term, for gains G' - c, rounded up. It decides where the first is worth its time.
    usable = points.choose(rows)
    shifted_gains = usable.upper_gains - slope[rows, None]
    distribution = outwards(shifted_gains, usable.masses, Side.UPPER, usable.ulps)
    ln_fewer = ln_probability_of_fewer(*distribution, cover, least_m[rows])
    # At eps = 0 the growth is 0, whose log would be -inf.
    ln_second_terms = np.log(np.maximum(usable.growth, 1e-300)) + ln_fewer
    is_promising = ln_second_terms < ln_larger_terms[rows]
    rows, ln_second_terms = rows[is_promising], ln_second_terms[is_promising]

    # The first term of the promising points, for gains G' - c, rounded down.
    promising = points.choose(rows)
    shifted_gains = promising.lower_gains - slope[rows, None]
    distribution = outwards(shifted_gains, promising.masses, Side.LOWER, promising.ulps)
    ln_first_terms[rows] = ln_delta(*distribution, cover, side=Side.LOWER, width=width)
    # ln(first - second) = ln first + ln(1 - second / first), and -inf where the second is at least the first.
    with np.errstate(invalid="ignore", divide="ignore"):
        ln_quotient = np.minimum(ln_second_terms - ln_first_terms[rows], 0.0)
        ln_differences[rows] = ln_first_terms[rows] + np.log1p(-np.exp(ln_quotient))
    return ln_first_terms, ln_differences


def _ln_delta_term_by_term(
    gains: Floats, masses: Floats, growth: Floats, cover: Cover, width: float
) -> Floats:
    """Natural log of the lower bound with a slope r_m for each m, rounded down; (points,).

    ``gains`` (points, 3) are the values of G', rounded down, and ``masses`` (points, 3) their probabilities.
    ``growth`` (points,) is q (e^eps - 1), and ``cover`` the law of J'. ``width`` is about the relative error
    of the result.
    """
    ln_of_numbers = ln_probabilities(cover)  # ln P(J' = 0), ln P(J' = 1), ...
    m = np.arange(1, len(ln_of_numbers))
    with np.errstate(divide="ignore", invalid="ignore"):
        # P(J' = m) / P(J' = m - 1), 0 where P(J' = m) is 0.
        ratio = np.exp(ln_of_numbers[1:] - ln_of_numbers[:-1])
        ratio = np.where(np.isneginf(ln_of_numbers[1:]), 0.0, ratio)
    # r_m, (points, m). 1 + 1e-10 rounds up: probabilities are exact to about 1e-12.
    slopes = growth[:, None] * ratio * (1 + 1e-10)

    # The values of G' - r_m, (points, m, 3), whose sum over m copies is G'_1 + ... + G'_m - m r_m.
    masses = np.broadcast_to(masses[:, None], (*slopes.shape, 3))
    shifted_gains = gains[:, None] - slopes[..., None]
    # 64 units in the last place are far more than the difference loses.
    distribution = outwards(shifted_gains, masses, Side.LOWER, 64.0)
    # ln of P(J' = m - 1) / m, lowered by more than probabilities are wrong.
    ln_factors = ln_of_numbers[:-1] - np.log(m) - 1e-10
    ln_factors = np.where(ln_of_numbers[:-1] < _LEAST_LOG, -np.inf, ln_factors)
    # The second result is an upper bound.
    ln_lower, _ = log_positive_part(*distribution, m, width=width, log_factors=ln_factors)
    return np.asarray(scipy.special.logsumexp(ln_lower + ln_factors, axis=1))


def probability_ratio(cover: Cover, m: Floats) -> Floats:
    """P(J' = m) / P(J' = m - 1), to about 1e-9, by Fourier inversion of tilted distributions; (points,).

    It is a ratio, no logarithm. ``cover`` is the law of J'. ``m`` (points,) are whole numbers, at least 1.
    The result is inf where the tilted J' has a standard deviation below 1, as P(J' = m - 1) would be lost in
    rounding.
    """
    return np.array([_probability_ratio_at(cover, number) for number in m.tolist()], dtype=float)


def _probability_ratio_at(cover: Cover, m: float) -> float:
    """`probability_ratio` for one ``m``.

    A tilt by t makes P(J' = j) t^j times as large and normalises. With the t at which the tilted J' has the
    mean m, the tilted probabilities of m and m - 1 are not small. That of m is the average of e^(-i u m)
    phi(u) over the angles u of one period, where phi is the characteristic function of the tilted J'. The
    sums over u have the same factor, and their ratio is t times the wanted ratio.
    """
    t = _tilt_to_mean(cover, m)
    shares, means = cover.tilted_shares(t), cover.tilted_means(t)
    deviation = math.sqrt(float(means @ (1 - shares)))
    if deviation < 1:
        return math.inf

    # 2 half + 1 evenly spaced angles u are one period of phi. The sum over all of them is exact but for
    # probabilities of numbers about 24 standard deviations away. phi is negligible where |u| > 9 / deviation.
    half = 3 * math.ceil(4 * deviation + 60)
    step = 2 * math.pi / (2 * half + 1)
    last = min(half, math.ceil(9 / deviation / step))
    u = step * np.arange(-last, last + 1)
    # ln phi(u) is a sum over the parts of the cover, (angles, parts). e^(iu) - 1 is the turn of one report.
    turn = np.expm1(1j * u)[:, None]
    ln_of_parts = np.where(cover.is_poisson, means * turn, cover.n * np.log1p(shares * turn))
    ln_phi = ln_of_parts.sum(axis=1)

    # Both tilted probabilities, times the number of angles of a period.
    mass_at_m = float(np.exp(ln_phi - 1j * u * m).sum().real)
    mass_below_m = float(np.exp(ln_phi - 1j * u * (m - 1)).sum().real)
    if mass_at_m > 0 and mass_below_m > 0:
        return mass_at_m / mass_below_m / t
    return math.inf


def _tilt_to_mean(cover: Cover, mean: float) -> float:
    """The t > 0 at which a number J' of the law ``cover`` has this ``mean`` under the tilt by t.

    The mean grows with t.
    """

    def missing(ln_t: float) -> float:
        """By how much the mean under the tilt by t is too small."""
        return mean - float(cover.tilted_means(math.exp(ln_t)).sum())

    interval = interval_with_root(missing, 0.0, step=1.0, least=-_LARGEST_LN_T, most=_LARGEST_LN_T)
    if interval is None:
        return math.exp(_LARGEST_LN_T)
    return math.exp(least_enough(missing, *interval, tolerance=1e-15))


def ln_probability_of_fewer(
    values: Floats, probabilities: Floats, cover: Cover, least_m: Floats
) -> Floats:
    """Natural log of Chernoff's bound on P(J' < l, G_1 + ... + G_J' > 0), rounded up; (points,).

    ``cover`` is the law of J'. G_1, G_2, ... are independent copies of G, a gain G' less the slope, with the
    ``values`` and ``probabilities`` (points, classes). ``least_m`` (points,) has l.
    """
    rows = zip(values, probabilities, least_m.tolist(), strict=True)
    return np.array(
        [_ln_probability_of_fewer_at(g, p, cover, least) for g, p, least in rows], dtype=float
    )


def _ln_probability_of_fewer_at(g: Floats, p: Floats, cover: Cover, least_m: float) -> float:
    """`ln_probability_of_fewer` at one point; ``g`` and ``p`` are G's values and probabilities, (classes,).

    For all x >= 0 and theta >= 0, ln of the probability is at most

        x (l - 1) + ln E[y^J'],    y = e^-x E[e^(theta G)].

    The smallest of these bounds over a grid of x and theta is returned, at most 0.
    """
    if not np.any(g > 0):
        return -math.inf

    # All arrays below have the axes (x, theta), but for `exponents` and `growth`: (theta, classes).
    x = (_CHERNOFF_X / math.sqrt(max(cover.mean, 1.0)))[:, None]
    theta = np.concatenate([[0.0], np.logspace(-8, 0, 60) * 690 / g.max()])  # e^690 is a float
    exponents = theta[:, None] * g
    growth = np.expm1(exponents)
    # y - 1, without cancellation. `sizes` are the sizes of its terms, which bound its rounding error.
    excess = np.expm1(-x) + np.exp(-x) * (growth @ p)
    sizes = (np.abs(growth) + (1 + growth) * np.abs(exponents)) @ p - np.expm1(-x)

    # ln E[y^J'] is a sum over the parts of J': n (y - 1) for a Poisson(n) part, and n ln(1 + share (y - 1))
    # for a Binomial(n, share) part. `rounding` adds up the sizes of all terms.
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        ln_bounds = x * (least_m - 1)
        rounding = x * least_m + 1
        for n, share in zip(cover.n.tolist(), cover.shares.tolist(), strict=True):
            if share == 0:  # a Poisson part
                ln_of_part, size_of_part = n * excess, n * sizes
            else:
                ln_of_part = n * np.log1p(share * excess)
                size_of_part = n * (share * sizes / (1 + share * excess))
            ln_bounds = ln_bounds + ln_of_part
            rounding = rounding + np.abs(ln_of_part) + size_of_part
        # 32 units in the last place of every term are more than a few operations lose. nanmin leaves out
        # the x and theta whose terms are -inf and inf.
        return min(0.0, float(np.nanmin(ln_bounds + 32 * 2.0**-52 * rounding)))
