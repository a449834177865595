"""Both bounds of a matrix of your own. Upper: for each pair of values x0, x1 the smaller one of two bounds.

The values of a matrix are not symmetric, so each ordered pair has a delta of its own. `ln_upper` is the
largest, over all pairs, of the smaller one of two slow bounds: the privacy blanket's and the single value's.
Most pairs are left out, as a quick bound shows that they are not the largest. With the moment generating
function M of a gain G under a reference,

    E[(G_1 + ... + G_m)_+] <= M(theta)^m K / theta,

for every theta > 0, where K is 1 / e, or what the variance of the tilted gain says (`_ln_k`).
The same search finds the largest lower bound, `ln_lower`, of all pairs and datasets.
docs/theory.md, "Upper and lower bounds", has the proof.
"""

import functools
import hashlib
import math
from collections.abc import Callable

import numpy as np

from tightshuffle.arguments import Floats, Integers
from tightshuffle.bounds.privacy_blanket import (
    BITS,
    MIXTURES,
    WIDTH,
    merge_equal_values,
    rounded_to_bits,
)
from tightshuffle.bounds.single_value import GainSums, ln_mean
from tightshuffle.numerics.positive_part import log_positive_part, outwards
from tightshuffle.numerics.side import Side
from tightshuffle.points import Points
from tightshuffle.randomizers import Finite, Randomizer

LARGEST_MATRIX = 256  # values of a matrix, at most: the time grows as k^4
_ULP = 2.0**-52
_HIGHEST = 500.0  # theta times the largest gain, at most: e^500 is a float
# Of `_ln_k`: theta times the deviation of the smoothing, and which part of the variance may be lost.
_SMOOTHINGS = (0.03, 0.06, 0.12, 0.25, 0.5)
_LOSSES = (0.01, 0.03, 0.1, 0.3)
_LARGEST_K = math.exp(max(_SMOOTHINGS) ** 2 / 2) / 2  # that of no gain
_LEAST_K = 0.05  # a smaller K counts as this
_LARGEST_PART = 0.9  # of V / C: up to there, V and C bound f
_LENGTH = 0.2  # of a group of v, in deviations: f changes by at most 0.1 from its middle on
_GROUPS = 32
# Numbers of users left out that are rarer than e^-12 of the largest bound so far count with delta = 1.
_DEPTH = 12.0
_RISE = 0.5  # in ln: where the largest bound rises by more, the quick bounds are computed again
# Probabilities that differ by less, relatively, count as the same number where pairs are compared,
_GAP = 2.0**-44
_MOST_DOUBT = 1e-5  # unless this could change ln of a bound by more, about
_BATCH = 2**17  # numbers that are computed at once, about: they fit into a cache

_DATASETS_AT_ONCE = 16

Pair = tuple[int, int]
Dataset = tuple[Pair, int]  # a pair, and the place of one of its `PairBounds.datasets`


def is_searched(randomizer: Randomizer) -> bool:
    """Whether this module has the bound of the ``randomizer``: a matrix of up to `LARGEST_MATRIX` values."""
    return isinstance(randomizer, Finite) and randomizer.k <= LARGEST_MATRIX


def ln_upper(points: Points, *, width: float = WIDTH) -> Floats:
    """Natural log of an upper bound on delta of one round, for every dataset and pair of values; (points,).

    The randomizers are matrices. The bound is -inf where eps >= eps0. ``width`` is what the computation of
    the privacy blanket's bound may add, relative to delta.
    """
    return _at_points(largest_of_pairs, points, width)


def largest_of_pairs(bounds: "PairBounds") -> float:
    """Natural log of the largest bound of all pairs, by branch and bound.

    The first pair is the worst one for very many users, by the privacy blanket. The others come with falling
    quick bounds, until these are not above the largest bound so far.
    """
    largest, theta = bounds.of_pair(bounds.first_pair(), known=-math.inf)
    done = {bounds.kind(bounds.first_pair())}
    rose = True
    while rose:
        rose = False
        for pair, ln_quick in bounds.quick(theta, largest):
            if ln_quick <= largest:
                break  # so are the quick bounds of all later pairs
            kind = bounds.kind(pair)
            if kind in done:
                continue
            done.add(kind)
            ln_delta, its_theta = bounds.of_pair(pair, known=largest)
            if ln_delta > largest:
                rose = ln_delta > largest + _RISE
                largest, theta = ln_delta, its_theta
                if rose:
                    break
    return largest


def ln_lower(points: Points, *, width: float = WIDTH) -> Floats:
    """Natural log of a lower bound on delta of one round: some dataset has at least this delta; (points,).

    It is the largest one over all pairs of values and over each one's `PairBounds.datasets`. The randomizers
    are matrices. The bound is -inf where eps >= eps0. ``width`` is what the computation may take away,
    relative to delta.
    """
    return _at_points(largest_of_datasets, points, width)


def _at_points(largest: Callable[["PairBounds"], float], points: Points, width: float) -> Floats:
    """The ``largest`` bound of each point's `PairBounds`, at most ln 1; (points,)."""
    ln_bounds = np.full(points.eps.size, -math.inf)
    for number, (eps, users, randomizer) in enumerate(
        zip(points.eps.tolist(), points.honest_users.tolist(), points.randomizers, strict=True)
    ):
        assert isinstance(randomizer, Finite)
        # Elsewhere delta is 0.
        if eps < randomizer.eps0:
            ln_bounds[number] = largest(PairBounds(eps, users, randomizer, width))
    return np.minimum(ln_bounds, 0.0)


def largest_of_datasets(bounds: "PairBounds") -> float:
    """Natural log of the largest lower bound of all pairs and datasets, by branch and bound.

    It starts with all datasets of one pair. The others come with falling quick bounds, some at a time, until
    these are not above the largest bound so far.
    """
    first = bounds.first_pair()
    largest, theta = bounds.of_datasets(
        [(first, row) for row in range(len(bounds.datasets(first)))]
    )
    rose = True
    while rose:
        rose = False
        waiting = bounds.quick_datasets(theta, largest)
        while waiting and waiting[0][1] > largest:
            some, waiting = waiting[:_DATASETS_AT_ONCE], waiting[_DATASETS_AT_ONCE:]
            ln_delta, its_theta = bounds.of_datasets([dataset for dataset, _ in some])
            if ln_delta > largest:
                rose = ln_delta > largest + _RISE
                largest, theta = ln_delta, its_theta
                if rose:
                    break
    return largest


class PairBounds:
    """Bounds on delta of the pairs of values of one matrix, at one eps and ``users``.

    Parameters
    ----------
    eps, users, randomizer
        As for `ln_upper`; eps is below eps0.
    width : float
        What the computation of the privacy blanket's bound may add, relative to delta.
    """

    def __init__(self, eps: float, users: int, randomizer: Finite, width: float) -> None:
        """Note the distributions of a report: of each value, and what they share, the blanket."""
        self.eps, self.users, self.randomizer, self.width = eps, users, randomizer, width
        self.chances = np.ascontiguousarray(
            randomizer.matrix.T
        )  # R_x of every report; (values, reports)
        self.blanket = self.chances.min(axis=0)  # (reports,)
        # The mass of the blanket, rounded down: rather more users are left out.
        self.gamma = randomizer.gamma * (1 - 1e-12)
        # Units in the last place by which gains may be wrong, as in `privacy_blanket` and `single_value`: of
        # the formula, of sums over all reports, and of rounding to `BITS` of 53 bits.
        classes = self.chances.shape[1]
        self.ulps = 32.0 + 2.0 * (classes + eps + randomizer.eps0) + 2.0 ** (54 - BITS)
        # `_doubt` is by how much probabilities may be larger, relatively, so that a bound also holds for all
        # pairs of the same kind. Where this would change the bound, each pair is its own kind.
        self._kinds: _Kinds | None = _kinds(randomizer)
        self._doubt = self._kinds.spread + 8 * _ULP
        change = users * self._theta_of(self.first_pair()) * self._doubt * 4 * math.exp(eps)
        if change > _MOST_DOUBT or self._doubt > 2.0**-BITS:
            self._kinds, self._doubt = None, 0.0

    def first_pair(self) -> Pair:
        """The pair whose gain has the largest variance under the blanket at eps = 0."""
        scaled = self.chances / np.sqrt(self.blanket)
        products = scaled @ scaled.T
        squares = np.diag(products)
        distances = squares[:, None] + squares[None, :] - 2 * products
        x0, x1 = np.unravel_index(int(distances.argmax()), distances.shape)
        return int(x0), int(x1)

    def kind(self, pair: Pair) -> object:
        """A name that pairs share only if `of_pair` holds for all of them."""
        return self._kinds.of_pair(pair) if self._kinds else pair

    # --- the two slow bounds -------------------------------------------------------------------------------

    def of_pair(self, pair: Pair, known: float) -> tuple[float, float]:
        """ln of the smaller bound of one pair, and the theta > 0 at which Chernoff's bound is about least.

        Where the smaller bound is at most ``known``, in ln, the result may be the larger one, if this is at
        most ``known``, too.
        """
        numerators = self._numerators(pair)
        if not np.any(numerators > 0):
            return -math.inf, 1.0  # delta is 0
        # A report with the same gain as another one counts as the same report.
        values, masses = _classes(numerators / self.blanket, self.blanket[None])
        by_blanket = self._ln_by_blanket(values, masses)
        theta = _theta(values[0], masses[0], self.users)
        if by_blanket <= known or self.users == 1:
            return by_blanket, theta
        sums = GainSums(self.ulps, self.users, self._gains_under_values(numerators))
        # Numbers of users left out that are reached with a probability of e^-depth count with delta = 1. This
        # adds about e^-12 of Chernoff's bound for all users.
        depth = _DEPTH - min(0.0, float(sums.ln_chernoff(np.array([self.users]))[0]))

        def ln_delta_of_many(m: Floats) -> Floats:
            """ln of a bound for m users who are left: Chernoff's, which is fast, if these are few."""
            ln_delta = sums.ln_chernoff(m)
            many = m >= self.users / 2
            ln_delta[many] = sums.ln_delta(m[many])
            return ln_delta

        # The faster ones come first, as they can be enough, unless nothing is known.
        bounds = [sums.ln_chernoff, ln_delta_of_many, sums.ln_delta]
        by_value = math.inf
        for ln_delta in bounds if math.isfinite(known) else bounds[-1:]:
            if by_value > known:
                by_value = ln_mean(self.users, self.gamma, depth, ln_delta)
        return (by_blanket, theta) if by_blanket < by_value else (by_value, sums.theta)

    def _numerators(self, pair: Pair) -> Floats:
        """R_x0 - e^eps R_x1 at every report, for all pairs of this kind; (1, reports)."""
        x0, x1 = pair
        sizes = self.chances[x0] + math.exp(self.eps) * self.chances[x1]
        return self.randomizer.numerators_of_gains(x0, [x1], self.eps) + self._doubt * sizes

    def _theta_of(self, pair: Pair) -> float:
        """About the best theta for the blanket's bound of the ``pair``; inf if the bound is 0."""
        gains = (self.chances[pair[0]] - math.exp(self.eps) * self.chances[pair[1]]) / self.blanket
        return _theta(gains, self.blanket, self.users) if gains.max() > 0 else math.inf

    def _ln_by_blanket(self, values: Floats, masses: Floats) -> float:
        """ln of the blanket's bound: a row of ``values`` of the gain, and of their ``masses``."""
        distribution = outwards(values, masses, Side.UPPER, self.ulps)
        _, ln_high = log_positive_part(*distribution, np.array([self.users]), width=self.width)
        return min(float(ln_high[0]) - math.log(self.users), 0.0)

    def _gains_under_values(self, numerators: Floats) -> list[tuple[Floats, Floats]]:
        """Values and probabilities of the gain if all others hold one value, for each different value."""
        values, masses = _classes(numerators / self.chances, self.chances)
        rows = np.hstack([values, rounded_to_bits(masses)])
        _, firsts = np.unique(rows, axis=0, return_index=True)
        return list(zip(values[firsts], masses[firsts], strict=True))

    # --- the lower bounds -----------------------------------------------------------------------------------

    def datasets(self, pair: Pair) -> Floats:
        """The distribution of another user's report in each dataset of a ``pair``; (datasets, reports).

        All other users hold one value, in the order of the values, or each draws one of two: x0 or x1, and x0
        or the first other value.
        """
        x0, x1 = pair
        others = [x1, *(value for value in range(self.randomizer.k) if value not in pair)][:2]
        mixtures = [
            share * self.chances[x0] + (1 - share) * self.chances[other]
            for other in others
            for share in MIXTURES
        ]
        return np.vstack([self.chances, *mixtures])

    def of_datasets(self, datasets: list[Dataset]) -> tuple[float, float]:
        """ln of the largest lower bound of these ``datasets``, and the best theta for the one that has it."""
        numerators = np.vstack(
            [self.randomizer.numerators_of_gains(x0, [x1], self.eps) for (x0, x1), _ in datasets]
        )
        chances = np.array([self.datasets(pair)[row] for pair, row in datasets])
        values, masses = _classes(numerators / chances, chances)
        # As in `privacy_blanket`: of the formula, of the sums and of rounding to `BITS` of 53 bits.
        ulps = 16.0 + 2 * (values.shape[1] + self.eps + self.randomizer.eps0) + 2.0 ** (53 - BITS)
        distribution = outwards(values, masses, Side.LOWER, ulps)
        groups = np.zeros(len(datasets), dtype=int)  # only the largest has to be exact
        ln_low, _ = log_positive_part(
            *distribution, np.full(len(datasets), self.users), width=self.width, groups=groups
        )
        largest = int(ln_low.argmax())
        if not values[largest].max() > 0:
            return -math.inf, 1.0
        theta = _theta(values[largest], masses[largest], self.users)
        return float(ln_low[largest]) - math.log(self.users), theta

    def quick_datasets(self, theta: float, known: float) -> list[tuple[Dataset, float]]:
        """The datasets of all pairs whose quick bound is above ``known``, and ln of it, which falls.

        Of pairs of one kind only the first comes.
        """
        pairs, _ = self._quick_by_blanket(theta, known)
        first_of_kind: dict[object, Pair] = {}
        for x0, x1 in pairs.tolist():
            first_of_kind.setdefault(self.kind((x0, x1)), (x0, x1))
        found = []
        for pair in first_of_kind.values():
            chances = self.datasets(pair)
            tilt = _Tilt(theta * self._raised_numerators(*np.array([pair]).T) / chances, chances)
            ln_bounds = tilt.ln_bounds(self.users, theta, known)
            above = np.flatnonzero(ln_bounds > known).tolist()
            found += [((pair, row), float(ln_bounds[row])) for row in above]
        return sorted(found, key=lambda item: item[1], reverse=True)

    # --- the quick bound -----------------------------------------------------------------------------------

    def quick(self, theta: float, known: float) -> list[tuple[Pair, float]]:
        """The pairs whose quick bound is above ``known``, and ln of this bound, which falls along the list.

        ``theta`` > 0 is any number; the bound is good for pairs with about the same delta as the one whose
        Chernoff's bound is least there.
        """
        pairs, ln_bounds = self._quick_by_blanket(theta, known)
        ln_bounds = np.minimum(ln_bounds, self._quick_by_value(pairs, theta, known))
        order = np.argsort(-ln_bounds, kind="stable")
        above = order[ln_bounds[order] > known]
        return [(tuple(pairs[row].tolist()), float(ln_bounds[row])) for row in above]

    def _quick_by_blanket(self, theta: float, known: float) -> tuple[Integers, Floats]:
        """The pairs whose quick bound by the blanket is above ``known``, (pairs, 2), and its ln, (pairs,)."""
        k = self.randomizer.k
        at_once = 1 + _BATCH // self.chances.size
        all_pairs, all_bounds = [], []
        for start in range(0, k, at_once):
            x0, x1 = np.divmod(np.arange(start * k, min(start + at_once, k) * k), k)
            x0, x1 = x0[x0 != x1], x1[x0 != x1]
            numerators = self._raised_numerators(x0, x1)
            has_gain = (numerators > 0).any(axis=1)  # else delta is 0
            x0, x1 = x0[has_gain], x1[has_gain]
            tilt = _Tilt(theta * numerators[has_gain] / self.blanket, self.blanket)
            ln_bounds = tilt.ln_bounds(self.users, theta, known)
            above = ln_bounds > known
            all_pairs.append(np.column_stack([x0, x1])[above])
            all_bounds.append(ln_bounds[above])
        return np.concatenate(all_pairs), np.concatenate(all_bounds)

    def _quick_by_value(self, pairs: Integers, theta: float, known: float) -> Floats:
        """ln of a quick bound on each pair's single-value bound, or a number <= ``known``; (pairs,).

        Numbers g of users left out that are rarer than e^-12 of ``known`` count with delta = 1. For smaller
        ones, M^m K / (theta m) with m = n - 1 - g is at most what it is for g = 0, with K at least
        `_LEAST_K`, times e^(``ln_growths`` g).
        """
        others = self.users - 1
        ln_stay = math.log1p(-self.gamma)
        depth = _DEPTH - (known if math.isfinite(known) else -700.0)
        most_left_out = math.ceil(depth / -ln_stay)
        if most_left_out >= others:
            return np.full(len(pairs), math.inf)
        of_m = math.log(others / (others - most_left_out)) / most_left_out
        of_k = math.log(_LARGEST_K / _LEAST_K) / others

        result = np.empty(len(pairs))
        at_once = 1 + _BATCH // self.chances.size
        for start in range(0, len(pairs), at_once):
            chunk = slice(start, start + at_once)
            numerators = self._raised_numerators(*pairs[chunk].T)
            exponents = theta * numerators[:, None] / self.chances  # (pairs, values, reports)
            shape = exponents.shape[:2]
            rows = (-1, exponents.shape[2])
            tilt = _Tilt(
                exponents.reshape(rows),
                np.broadcast_to(self.chances, exponents.shape).reshape(rows),
            )
            ln_growths = of_m + of_k - tilt.ln_mgf_low.reshape(shape).min(axis=1)
            # ln of the mean of e^(ln_growths g) over g, or inf
            ln_ratios = ln_stay + ln_growths
            ln_factors = np.full(len(ln_ratios), math.inf)
            finite = ln_ratios < 0
            ln_factors[finite] = math.log(self.gamma) - np.log(-np.expm1(ln_ratios[finite]))
            known_of_rows = np.repeat(known - ln_factors, shape[1])
            ln_bounds = tilt.ln_bounds(others, theta, known_of_rows).reshape(shape)
            result[chunk] = ln_bounds.max(axis=1) + ln_factors
        return np.logaddexp(result, (most_left_out + 1) * ln_stay)

    def _raised_numerators(self, x0: Integers, x1: Integers) -> Floats:
        """R_x0 - e^eps R_x1 at every report, and more than rounding may take away; (pairs, reports)."""
        r_x0, r_x1 = self.chances[x0], math.exp(self.eps) * self.chances[x1]
        return r_x0 - r_x1 + (self._doubt + 16 * _ULP) * (r_x0 + r_x1)


class _Tilt:
    """Distributions of the gain, tilted by e^(theta G), and a bound on the sum of m copies of each.

    Parameters
    ----------
    exponents, masses : float arrays (rows, reports)
        theta G at each report, and its probability; ``masses`` (reports,) for the same ones in every row. G
        is 0 with what these lack to 1.

    Attributes
    ----------
    ln_mgf, ln_mgf_low : float arrays (rows,)
        ln M(theta), rounded up and down.
    """

    def __init__(self, exponents: Floats, masses: Floats) -> None:
        """Sum up M - 1; `lost` is more than rounding may take away from it."""
        self._exponents, self._masses = exponents, masses
        with np.errstate(over="ignore", invalid="ignore"):  # an infinite M makes no bound
            self._growths = np.expm1(exponents)
            terms = masses * self._growths
            sizes = np.abs(terms)
            lost = 16 * _ULP * ((1 + np.abs(exponents)) * sizes).sum(axis=1)
            lost += exponents.shape[1] * _ULP * sizes.sum(axis=1)
            self.ln_mgf = np.log1p(terms.sum(axis=1) + lost)
            self.ln_mgf_low = np.log1p(np.maximum(terms.sum(axis=1) - lost, -1 + _ULP))

    def ln_bounds(self, m: int, theta: float, known: float | Floats) -> Floats:
        """ln of M(theta)^m K / (theta m), with K at least `_LEAST_K`, or a number <= ``known``; (rows,)."""
        ln_without_k = m * self.ln_mgf - math.log(theta) - math.log(m)
        ln_without_k += 1e-9 + 8 * _ULP * m * np.abs(self.ln_mgf)
        ln_bounds = ln_without_k - 1  # Chernoff's bound: K is 1 / e
        for groups in (0, _GROUPS):
            rows = np.flatnonzero((ln_bounds > known) & np.isfinite(ln_bounds))
            if not rows.size:
                break
            masses = self._masses if self._masses.ndim == 1 else self._masses[rows]
            tilted = masses * (1 + self._growths[rows]) * np.exp(-self.ln_mgf[rows, None])
            ln_k = _ln_k(self._exponents[rows], tilted, m, groups)
            ln_bounds[rows] = ln_without_k[rows] + np.maximum(ln_k, math.log(_LEAST_K))
        return ln_bounds


def _ln_k(exponents: Floats, tilted: Floats, m: int, groups: int) -> Floats:
    """ln of K with E[(G_1 + ... + G_m)_+] <= M(theta)^m K / theta; (rows,).

    ``exponents`` t = theta G and ``tilted``, their probabilities under the tilt, are (rows, reports). With
    f(v) = |M(theta + i theta v) / M(theta)| and the smoothing s, the product of theta and the deviation,

        K = e^(s^2 / 2) / pi times the integral of f(v)^m e^(-(s v)^2 / 2) / (1 + v^2) over v > 0.

    Let V be the variance of t under the tilt, and C = E[(t - t')^4] / 24 for an independent t'. Then f(v)^2
    is at most 1 - V v^2 + C v^4, and f changes by at most sqrt(V) per unit of v. The integral is bounded in
    four parts: up to `first`, where a part `lost` of V is enough for C; up to `last`, v^2 = 0.9 V / C; in
    ``groups`` of v of equal length, by f in the middle of each; and beyond, where f <= 1.
    """
    moments = []
    terms = tilted
    for _ in range(4):
        terms = terms * exponents
        moments.append(terms.sum(axis=1))
    m1, m2, m3, m4 = moments
    # 1e-12 is more than what rounding may add to V, or take away from C.
    variance = m2 - m1**2 - 1e-12 * m2
    k = np.full(len(exponents), math.exp(-1))  # Chernoff's bound
    rows = variance > 1e-6 * m2  # else most digits of V are lost
    fourth = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
    v = variance[rows]
    c = ((2 * fourth + 6 * m2**2) / 24 + 1e-12 * (m4 + m2**2))[rows]
    last = np.sqrt(_LARGEST_PART * v / c)
    length = _LENGTH / np.sqrt(v)
    starts = last[:, None] + length[:, None] * np.arange(groups)  # of each group; (rows, groups)
    powers_of_f = _largest_f(exponents[rows], tilted[rows], starts, length) ** m
    for smoothing in _SMOOTHINGS:
        integrals = np.asarray(sum(_parts_of_integral(v, c, starts, powers_of_f, m, smoothing)))
        least = integrals.min(axis=0)
        k[rows] = np.minimum(k[rows], math.exp(smoothing**2 / 2) / math.pi * least)
    return np.log(k) + 1e-9


def _parts_of_integral(
    variance: Floats,
    c: Floats,
    starts: Floats,
    powers_of_f: Floats,
    m: int,
    smoothing: float,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Bounds on the four parts of the integral of `_ln_k`, in their order, which broadcast to (lost, rows).

    The first two parts depend on ``lost``, for which all of `_LOSSES` are taken: they are (lost, rows), and
    the others (rows,). ``variance`` and ``c`` (rows,) are V and C. ``starts`` and ``powers_of_f`` (rows,
    groups) are where each group starts, and the most that f^m can be there. The integral of 1 / (1 + v^2)
    from a point on is at most 1 over this point.
    """
    import scipy.special

    lost = np.array(_LOSSES)[:, None]
    first = np.sqrt(lost * variance / c)
    last = np.sqrt(_LARGEST_PART * variance / c)
    length = _LENGTH / np.sqrt(variance)
    end = last + starts.shape[1] * length
    deviation = np.sqrt(m * variance * (1 - lost) + smoothing**2)
    up_to_first = math.pi / 2 * scipy.special.erfcx(deviation / math.sqrt(2))
    # V v^2 - C v^4 is least at one of both ends.
    least_part = np.minimum(lost * (1 - lost), _LARGEST_PART * (1 - _LARGEST_PART))
    up_to_last = np.exp(-m / 2 * least_part * variance**2 / c) / first
    weights = np.exp(-((smoothing * starts) ** 2) / 2) / starts**2
    in_groups = length * (powers_of_f * weights).sum(axis=1)
    squares = (smoothing * end) ** 2
    beyond = np.exp(-squares / 2) / (end * np.maximum(1, squares))
    return up_to_first, up_to_last, in_groups, beyond


def _largest_f(exponents: Floats, tilted: Floats, starts: Floats, length: Floats) -> Floats:
    """The most that f of `_ln_k` can be from each start on, over the ``length`` (rows,); (rows, groups)."""
    result = np.empty(starts.shape)
    at_once = 1 + _BATCH // max(1, starts.shape[1] * exponents.shape[1])
    for start in range(0, len(starts), at_once):
        rows = slice(start, start + at_once)
        middles = starts[rows] + length[rows, None] / 2
        angles = middles[:, :, None] * exponents[rows, None]  # (rows, groups, reports)
        weights = tilted[rows, None]
        real = 1 - 2 * (weights * np.sin(angles / 2) ** 2).sum(axis=2)
        imaginary = (weights * np.sin(angles)).sum(axis=2)
        result[rows] = np.hypot(real, imaginary) + _LENGTH / 2 + 1e-6
    return np.minimum(result, 1.0)


def _theta(values: Floats, masses: Floats, n: int) -> float:
    """About the theta at which M(theta)^n / theta^2 is least; (classes,) each, one value at least > 0."""
    highest = math.log(_HIGHEST / values.max())
    # About the best theta for a normal sum is -0.5 ln(n variance); next to eps0 it is far larger.
    lowest = min(-0.5 * math.log(n * float(masses @ values**2)), highest) - 6.0
    for _ in range(3):
        ln_thetas = np.linspace(lowest, highest, 41)
        terms = masses * np.expm1(np.exp(ln_thetas)[:, None] * values)
        ln_chernoff = n * np.log1p(terms.sum(axis=1)) - 2 * ln_thetas
        best = int(ln_chernoff.argmin())
        lowest, highest = ln_thetas[max(best - 1, 0)], ln_thetas[min(best + 1, 40)]
    return math.exp(ln_thetas[best])


class _Kinds:
    """Which pairs of a matrix have the same bounds, as their tables have the same numbers in another order.

    The table of a pair has a row for each value x, the multiset of (R_x0, R_x1, R_x) over all reports. Pairs
    with the same rows have the same bounds at every eps.

    Attributes
    ----------
    spread : float
        By how much two probabilities that count as the same number may differ, relatively.
    numbers : int array (values, reports)
        Equal for probabilities that count as the same number.
    """

    def __init__(self, chances: Floats, spread: float) -> None:
        """Number the ``chances`` (values, reports): a gap of more than ``spread`` starts a new number."""
        ascending, places = np.unique(chances, return_inverse=True)
        is_new = ascending[1:] > ascending[:-1] * (1 + spread)
        numbers = np.concatenate([[0], np.cumsum(is_new)])
        firsts = ascending[np.searchsorted(numbers, numbers)]
        self.spread = float((ascending / firsts - 1).max())
        self.numbers = numbers[places].reshape(chances.shape).astype(np.int64)
        self._names: dict[Pair, bytes] = {}

    def of_pair(self, pair: Pair) -> bytes:
        """A name of the table of the ``pair``: a digest."""
        if pair not in self._names:
            at_x0, at_x1 = self.numbers[list(pair)]
            # 21 bits for each number
            rows = np.sort((at_x0 << 42) + (at_x1 << 21) + self.numbers, axis=1)
            row_type = np.dtype((np.void, rows.shape[1] * rows.itemsize))
            table = np.sort(rows.view(row_type), axis=0).tobytes()
            self._names[pair] = hashlib.blake2b(table, digest_size=16).digest()
        return self._names[pair]


@functools.lru_cache(maxsize=16)
def _kinds(randomizer: Finite) -> _Kinds:
    """The `_Kinds` of this matrix: computed once, for every eps."""
    return _Kinds(randomizer.matrix.T, _GAP)


def _classes(gains: Floats, masses: Floats) -> tuple[Floats, Floats]:
    """The different values of ``gains``, rounded to `BITS` bits, and their masses; (rows, classes).

    ``gains`` and ``masses`` are (rows, reports).
    """
    rounded = rounded_to_bits(gains)
    order = np.argsort(rounded, axis=1)
    return merge_equal_values(
        np.take_along_axis(rounded, order, axis=1), np.take_along_axis(masses, order, axis=1)
    )
