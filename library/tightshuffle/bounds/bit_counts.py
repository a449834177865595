"""delta of one bit in a count, if it is known how many other bits of each kind are counted with it.

It is a trapezoid sum for a Fourier integral along a line theta + iu. What is needed of a line depends on eps
and on the size of the count alone, so it is computed once for all counts of about the same size.
docs/theory.md, "One count of bits", has the formula.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, Integers

_DECAY = 60.0  # points whose weight is below e^-60, far below rounding, are left out
_PERIOD = 14.0  # L, the points of a whole period, in standard deviations of the tilted distribution
_LOWEST_LEVEL = 3  # the period of a count with a small deviation is that of a deviation of 2^3
# How close the line of integration comes to the pole at 0, in 1 / standard deviation.
_CLOSEST = 3.0
_BATCH = 4096  # counts that are looked at together, which bounds the memory
_TERMS = 2**13  # about how many terms of trapezoid sums are computed at once: they fit into a cache

_Wide = np.longdouble  # exponents are differences of numbers that grow with n
_WideFloats = npt.NDArray[np.longdouble]
_Complexes = npt.NDArray[np.complex128]


class Bit(NamedTuple):
    """The bit of the target user, which is 1 with probability p under P and with a smaller q under Q.

    ``log_odds_p`` is ln(p / (1 - p)), and ``log_odds_q`` is ln(q / (1 - q)). ``largest`` is ln(p / q), the
    largest privacy loss, rounded up. ``slack`` is the relative error of ``largest`` that rounding may cause.
    """

    log_odds_p: float
    log_odds_q: float
    largest: float
    slack: float = 0.0

    @staticmethod
    def with_log_odds(log_odds_p: float, log_odds_q: float) -> "Bit":
        """The target user's bit with these log odds.

        The largest privacy loss is that of a 1: ln(p / q) = ln(1 + e^-log_odds_q) - ln(1 + e^-log_odds_p).
        """
        if log_odds_p == -log_odds_q:
            return Bit.flipped(log_odds_p)

        gap = log_odds_p - log_odds_q
        # The same loss, without cancellation. From e^30 on, the two logarithms do not cancel.
        if gap < 30:
            # From e^700 on, the quotient is about 0, and e^710 is no float.
            largest = math.log1p(math.expm1(gap) / (1 + math.exp(min(log_odds_p, 700.0))))
        else:
            largest = float(np.logaddexp(0, -log_odds_q) - np.logaddexp(0, -log_odds_p))

        # The log odds may be wrong by 2^-48 of their size, 16 units in the last place. This counts relative
        # to their gap, if the gap is small, as the loss is then about in proportion to it.
        slack = 2.0**-48 * (1 + abs(log_odds_p) + abs(log_odds_q)) / min(gap, 1.0)
        # Rounded up, as delta counts as 0 where eps is at least this.
        return Bit(log_odds_p, log_odds_q, largest * (1 + 2.0**-49), slack)

    @staticmethod
    def flipped(eps0: float) -> "Bit":
        """A bit that is 1 under P and 0 under Q, then flipped with probability 1 / (e^eps0 + 1).

        For eps0 = inf it is never flipped.
        """
        return Bit(eps0, -eps0, eps0)


class BitCounts:
    """Counts of bits of some kinds, among which one bit is hidden, at some eps.

    Parameters
    ----------
    eps : float array (e,)
        Each is below the largest loss of the ``bit``.
    bit : Bit
        The bit of the target user, which changes from P to Q.
    log_odds : sequence of floats (kinds,)
        The log odds that another user's bit is 1, for each kind of bit: eps0, -eps0, or 0 for a dummy.

    Attributes
    ----------
    theta : float array (e,)
        The tilt, where the transform of f = P - e^eps Q is 0.
    ln_a : float array (e,)
        Natural log of A = p - e^eps q, for the ``bit``.
    """

    def __init__(self, eps: Floats, bit: Bit, log_odds: Sequence[float]) -> None:
        """Compute ln A, the tilt theta, and the variance of one tilted bit of each kind; for each eps.

        A is p (1 - e^(eps - ln(p / q))), and e^theta = 1 + (e^eps - 1) / A. To tilt a bit is to multiply the
        odds that it is 1 by e^theta. ``_variances`` are (kinds, e).
        """
        share = -np.expm1(eps - bit.largest)  # A / p
        # 1 / p is 1 + e^-log_odds_p.
        self.theta = np.log1p(np.expm1(eps) * (1 + np.exp(-bit.log_odds_p)) / share)
        self.ln_a = np.log(share) - np.log1p(np.exp(-bit.log_odds_p))
        self._eps = eps
        self._bit = bit
        self._log_odds = np.array(log_odds, dtype=float)[:, None]  # (kinds, 1)

        tilted_log_odds = self.theta + self._log_odds
        self._variances = _probability_of_1(tilted_log_odds) * _probability_of_1(-tilted_log_odds)
        self._lines: dict[int, _Line] = {}

    def ln_delta(self, numbers: Integers, eps_indices: Integers) -> tuple[Floats, Floats]:
        """Natural log of delta of some counts, and the largest error of this logarithm; both (rows,).

        A row is one count at one eps. ``numbers`` (kinds, rows) are how many bits of each kind the count has
        beside the target user's. ``eps_indices`` (rows,) are the indices of the rows' eps among those of this
        object. The error is inf where nothing is known.

        Counts of about the same size share a line of integration (`_line`). A row's level is the least whole
        number, `_LOWEST_LEVEL` or more, for which the standard deviation of its tilted count is at most
        2^level.
        """
        deviations = np.sqrt((numbers * self._variances[:, eps_indices]).sum(axis=0))
        levels = np.ceil(np.log2(np.maximum(deviations, 2.0**_LOWEST_LEVEL))).astype(int)
        value, error = np.empty((2, deviations.size))
        for level in np.unique(levels).tolist():
            members = np.flatnonzero(levels == level)
            # Rows in batches, which bounds the memory.
            for start in range(0, members.size, _BATCH):
                rows = members[start : start + _BATCH]
                value[rows], error[rows] = self._line(level).ln_delta(
                    numbers[:, rows], eps_indices[rows]
                )
        return value, error

    def _line(self, level: int) -> "_Line":
        """The line of integration for counts of this ``level``, which is computed once."""
        if level not in self._lines:
            self._lines[level] = _Line(
                level, self._eps, self._bit, self._log_odds, self.theta, self.ln_a
            )
        return self._lines[level]


class _Line:
    """The line theta + iu of integration for each of some eps, and what is needed there of each kind of bit.

    With f = P - e^eps Q of a count, delta is F(t), the sum of f(s) over s >= t, for the best t. f has the
    moment generating function M(z) A (e^z - e^root). M is that of the count without the target user, and A is
    that of `BitCounts`. F(t) is a trapezoid sum along the line, in units of e^exponent A e^root. The exponent
    is ln M(theta) - theta t.

    The line serves counts with standard deviations from 2^(level - 1) to 2^level, and smaller ones if the
    ``level`` is the lowest. ``root`` (e,) is where f's transform is 0. Theta is there, too, or a little to
    the right where that is next to the pole at 0. ``ln_a`` is as for `BitCounts`, and ``log_odds`` are
    (kinds, 1).

    Arrays for each eps have the shape (e,), and those for each kind of bit (kinds, e). Those for each angle u
    have one more axis at the end. ``numbers``, ``eps_indices`` and rows are as for `BitCounts.ln_delta`.
    """

    def __init__(
        self, level: int, eps: Floats, bit: Bit, log_odds: Floats, root: Floats, ln_a: Floats
    ) -> None:
        """Choose the line theta + iu and its angles u, and compute there what every count of the level needs.

        At the pole z = 0 of the integrand no line may lie. The mean, the variance and ln of the moment
        generating function of one bit are taken under the tilt by theta, and the mean under the tilt by the
        root, too. The angles are 2 pi j / L, j = 0, 1, ..., with L in ``_period``.
        """
        self._eps = eps
        self._bit = bit
        self._deviation = 2.0**level
        # An odd number, so that each angle u but 0 has another one, -u.
        self._period = 2 * int(_PERIOD * self._deviation / 2) + 1  # L
        self._u = 2 * np.pi * np.arange(_number_of_angles(level, self._period)) / self._period
        self._root = root
        self._theta = np.maximum(root, _CLOSEST / self._deviation)
        self._ln_unit = ln_a + root  # ln(A e^root), the unit of F(t)

        self._means_at_root = tilted_probability_of_1(root, log_odds)
        self._means = tilted_probability_of_1(self._theta, log_odds)
        tilted_log_odds = self._theta + log_odds
        self._variances = _probability_of_1(tilted_log_odds) * _probability_of_1(-tilted_log_odds)
        self._ln_mgfs = ln_mgf(self._theta, log_odds)
        # With |log odds|, logarithms that are no smaller, as a measure of what rounding may change.
        self._ln_mgfs_of_likelier = ln_mgf(self._theta, np.abs(log_odds))

        # The factors of the integrand in polar form: one for each bit, and one that is the same for all
        # counts.
        self._ln_moduli_of_bits, self._phases_of_bits = self._characteristic_functions(
            log_odds[..., None]
        )
        kernel = self._kernel()
        self._moduli_of_kernel = np.abs(kernel)
        self._phases_of_kernel = np.angle(kernel)

        # Chernoff bounds for other periods are taken at theta + shift, to the right and to the left of theta,
        # with shifts (2, 1, e). A shift of 8 / deviation multiplies the bound by e^(-8 L / deviation), which
        # is e^(-8 * 14), while M grows by about e^(8^2 / 2), which is far less.
        step = min(1.0, 8 / self._deviation)
        to_the_left = -np.minimum(self._theta, step)  # to 0 at most
        self._shifts = np.stack([np.full(root.shape, step), to_the_left])[:, None]
        self._ln_mgfs_aside = ln_mgf(self._theta + self._shifts, log_odds)

    def ln_delta(self, numbers: Integers, eps_indices: Integers) -> tuple[Floats, Floats]:
        """`BitCounts.ln_delta` of counts of this level; where nothing is known, the logarithm is 0.

        The best t is one of the first two whole numbers above the mean of the count under the tilt by the
        root. In the body, ``total`` is F(t), and ``size`` the sum of the moduli of its terms.
        """
        wide_numbers = numbers.astype(_Wide)

        def sum_over_bits(of_kinds: _WideFloats) -> _WideFloats:
            """What each kind's value sums up to over all bits of a count: (..., kinds, e) -> (..., rows)."""
            return np.asarray((wide_numbers * of_kinds[..., eps_indices]).sum(axis=-2))

        # The first t is next above the mean under ``root``. The phases need the mean under ``theta``, less t.
        t = np.floor(sum_over_bits(self._means_at_root)) + 1
        mean_less_t = (sum_over_bits(self._means) - t).astype(float)
        theta = self._theta.astype(_Wide)[eps_indices]
        exponent = sum_over_bits(self._ln_mgfs) - theta * t
        total, size = self._sums_over_angles(numbers.astype(float), eps_indices, mean_less_t)

        # Both whole t; (2, rows).
        t = np.stack([t, t + 1])
        exponent = np.stack([exponent, exponent - theta])

        # Rounding. The moduli and the sum have a relative error below 2e-13. The phases add up n angles of at
        # most `last`, each with an error of two units in the last place.
        last = self._u[-1]
        error = size * (2e-13 + 2 * np.finfo(float).eps * numbers.sum(axis=0) * last)
        # Angles beyond the last one that are left out: there the modulus of a term is at most
        # e^(-variance (1 - cos u)) times that of the kernel.
        if self._u.size - 1 < self._period // 2:
            largest_kernel = (np.exp(self._theta - self._root) + 1) / -np.expm1(-self._theta)
            variance = (numbers * self._variances[:, eps_indices]).sum(axis=0)
            error = error + np.exp(-variance * _versine(last)) * largest_kernel[eps_indices]
        # What the trapezoid rule adds to the integral.
        error = error + self._error_of_other_periods(
            sum_over_bits(self._ln_mgfs_aside), eps_indices, t, exponent
        )

        # delta is the larger F of the two.
        larger = np.argmax(total * np.exp((exponent - exponent[0]).astype(float)), axis=0)
        chosen = (larger, np.arange(eps_indices.size))
        total, exponent, error = total[chosen], exponent[chosen], error[chosen]

        # The exponent may lose 16 units in the last place of its terms, whose size is `magnitude`. 1e-12 is
        # for the operations that follow.
        magnitude = 1 + sum_over_bits(self._ln_mgfs_of_likelier)
        relative = error / total + 16 * float(np.finfo(_Wide).eps) * magnitude.astype(float) + 1e-12
        # A relative error of the largest loss changes A = p (1 - e^(eps - largest)) by the factor below.
        if self._bit.slack:
            largest = self._bit.largest
            relative += (self._bit.slack * (1 + largest / (largest - self._eps)))[eps_indices]

        # If the error may be half of delta or more, nothing is known.
        with np.errstate(divide="ignore", invalid="ignore"):
            ln_delta = exponent.astype(float) + np.log(total) + self._ln_unit[eps_indices]
            is_known = (total > 0) & (relative < 0.5)
            ln_delta = np.where(is_known, ln_delta, 0.0)
            ln_error = np.where(is_known, -np.log1p(-relative), np.inf)
        # The logarithm itself is rounded: two units in its last place.
        return ln_delta, ln_error + 4e-16 * np.abs(ln_delta)

    def _sums_over_angles(
        self, numbers: Floats, eps_indices: Integers, mean_less_t: Floats
    ) -> tuple[Floats, Floats]:
        """F(t) and F(t + 1), (2, rows), and the sum of the moduli of the terms of F(t), (rows,).

        In units of e^exponent A e^root,

            F(t) = (1 / L) sum over u of e^(iu (mean - t)) K(u) prod over kinds of phi(u)^number.

        Each u = 2 pi j / L, j = 0, 1, ..., also stands for -u, so that only real parts count. L is
        ``self._period``, and K the kernel (`_kernel`). phi is the characteristic function of a centred and
        tilted bit of a kind. ``self._ln_moduli_of_bits`` and ``self._phases_of_bits`` are its polar form;
        (kinds, e, angles). ``mean_less_t`` (rows,) is the mean of the tilted count less t.
        """
        total, size = np.empty((2, eps_indices.size)), np.empty(eps_indices.size)
        # Some rows at a time, so that their terms fit into a cache.
        chunk = 1 + _TERMS // self._u.size
        for start in range(0, eps_indices.size, chunk):
            rows = slice(start, start + chunk)
            eps_of_rows = eps_indices[rows]

            # Each term is a modulus times e^(i phase); (rows, angles). The kinds multiply.
            ln_moduli = np.zeros((eps_of_rows.size, self._u.size))
            phases = mean_less_t[rows, None] * self._u + self._phases_of_kernel[eps_of_rows]
            bits = zip(
                numbers[:, rows, None], self._ln_moduli_of_bits, self._phases_of_bits, strict=True
            )
            for number, ln_moduli_of_bit, phases_of_bit in bits:
                ln_moduli += number * ln_moduli_of_bit[eps_of_rows]
                phases += number * phases_of_bit[eps_of_rows]
            moduli = np.exp(ln_moduli) * self._moduli_of_kernel[eps_of_rows]

            # The terms of F(t + 1) are those of F(t) times e^-iu.
            cosines, sines = _cosine_and_sine(phases)
            real_parts = moduli * cosines
            total[0, rows] = real_parts.sum(axis=-1)
            total[1, rows] = real_parts @ np.cos(self._u) + (moduli * sines) @ np.sin(self._u)
            size[rows] = moduli.sum(axis=-1)
        return total / self._period, size / self._period

    def _characteristic_functions(self, log_odds: Floats) -> tuple[Floats, Floats]:
        """ln of the modulus, and the phase, of each kind of bit's characteristic function at every angle u.

        Bits are centred, and tilted by theta (``self._theta``). Both results are (kinds, e, angles). The
        ``log_odds`` (kinds, 1, 1) that a bit is 1 are those before the tilt. For a tilted bit that is 1 with
        probability p, and 0 with q = 1 - p, the function is (1 + p (e^iu - 1)) e^(-iup), whose squared
        modulus is 1 - 2 p q (1 - cos u).
        """
        tilted_log_odds = self._theta[:, None] + log_odds
        p, q = _probability_of_1(tilted_log_odds), _probability_of_1(-tilted_log_odds)
        versine = _versine(self._u)  # 1 - cos u
        with np.errstate(divide="ignore"):
            ln_modulus = 0.5 * np.log1p(-2 * p * q * versine)
        return ln_modulus, np.arctan2(p * np.sin(self._u), 1 - p * versine) - p * self._u

    def _kernel(self) -> _Complexes:
        """K(u) = (e^(z - root) - 1) / (1 - e^-z) at z = theta + iu, doubled for u > 0; (e, angles).

        It is the factor of the integrand of F(t) that is the same for all counts. It is doubled as each angle
        u > 0 stands for -u, too. ``versine`` is 1 - cos u, so that 1 - versine is cos u. That way nothing
        cancels for small u.
        """
        theta = self._theta[:, None]
        gap = (self._theta - self._root)[:, None]
        sine, versine = np.sin(self._u), _versine(self._u)
        numerator = np.expm1(gap) * (1 - versine) - versine + 1j * np.exp(gap) * sine
        denominator = -np.expm1(-theta) * (1 - versine) + versine + 1j * np.exp(-theta) * sine
        kernel = numerator / denominator
        kernel[:, 1:] *= 2
        return kernel

    def _error_of_other_periods(
        self,
        ln_mgfs_aside: _WideFloats,
        eps_indices: Integers,
        t: _WideFloats,
        exponent: _WideFloats,
    ) -> Floats:
        """A bound on what the trapezoid rule adds to F(t), in units of e^exponent A e^root; (2, rows).

        With L angles per period, the rule adds F(t + l L) e^(theta l L) for every whole l != 0. At each h >=
        0, Chernoff's bound is

            |F(t)| <= e^(-h t) M(h) ((p - q) e^h + (e^eps - 1) (1 - q + q e^h)),

        where p and q are those of the target user's `Bit`. The bound is taken at h = theta +
        ``self._shifts``: to the right of theta for l > 0, and to the left for l < 0. ``ln_mgfs_aside`` (2,
        rows) are ln M there, and ``t`` and ``exponent`` are (2, rows), for both whole t. ``self._ln_unit`` is
        ln(A e^root).
        """
        bit = self._bit
        # p (1 - q) (1 - e^(log_odds_q - log_odds_p)): nothing cancels.
        p_minus_q = (
            -np.expm1(bit.log_odds_q - bit.log_odds_p)
            / (1 + np.exp(-bit.log_odds_p))
            / (1 + np.exp(bit.log_odds_q))
        )
        h = self._theta + self._shifts  # (2, 1, e)
        ln_power = ln_mgfs_aside[:, None] - h.astype(_Wide)[..., eps_indices] * t - exponent
        mgf_under_q = np.exp(ln_mgf(h, bit.log_odds_q).astype(float))
        own_bit = p_minus_q * np.exp(h) + np.expm1(self._eps) * mgf_under_q

        # The bounds for all l of one sign are a geometric series. The axes are the sign of l, t, and the row.
        decay = np.abs(self._shifts) * self._period
        ln_series = -decay - np.log(-np.expm1(-decay)) - self._ln_unit
        bounds = np.exp(ln_power.astype(float) + ln_series[..., eps_indices])
        bounds *= own_bit[..., eps_indices]
        return np.asarray(bounds.sum(axis=0))


def _number_of_angles(level: int, period: int) -> int:
    """How many angles u = 2 pi j / ``period``, j = 0, 1, ..., a trapezoid sum needs for a ``level``.

    ``period`` is the number of angles in a whole period, of which 0, 1, ..., period // 2 are needed at most,
    since u stands for -u, too. But for the kernel, a term at u is at most e^(-variance (1 - cos u)) times the
    one at 0, with the variance of the tilted count. Angles are left out where the exponent is above about
    `_DECAY`. Counts of the level have a standard deviation of 2^(level - 1) at least. Only the lowest level
    has smaller ones, too: there all angles count.
    """
    half = period // 2 + 1
    if level == _LOWEST_LEVEL:
        return half
    least_variance = 4.0 ** (level - 1)
    # From 1 - cos u = 2 sin^2(u / 2). The kernel, 1 / (1 - e^-theta), may be about as large as 2^level.
    square_of_sine = (_DECAY + level * math.log(2)) / 2 / least_variance
    if square_of_sine >= 1:
        return half
    last = math.ceil(math.asin(math.sqrt(square_of_sine)) * period / math.pi)
    return min(half, last + 1)


def _probability_of_1(log_odds: Floats) -> Floats:
    """The probability that a bit with these ``log_odds`` is 1; of the same shape."""
    from scipy.special import expit  # here, for it takes as long to import as numpy

    return np.asarray(expit(log_odds))


def _cosine_and_sine(angles: Floats) -> tuple[Floats, Floats]:
    """cos and sin of the ``angles``, by the tangent of their halves.

    Where numpy has vector instructions for the tangent, this takes a fifth of the time.
    """
    tangent = np.tan(angles / 2)
    one_and_cosine = 2 / (1 + tangent**2)
    return one_and_cosine - 1, tangent * one_and_cosine


def _versine(u: npt.ArrayLike) -> Floats:
    """1 - cos u."""
    return np.asarray(2 * np.sin(np.asarray(u) / 2) ** 2)


def ln_mgf(theta: Floats, log_odds: npt.ArrayLike) -> _WideFloats:
    """Natural log of E[e^(theta bit)] = 1 + p (e^theta - 1), for a bit with ``log_odds`` = ln(p / (1 - p)).

    p is the probability that the bit is 1. The arguments broadcast.
    """
    wide_log_odds = np.asarray(log_odds, _Wide)
    return np.asarray(np.log1p(np.expm1(np.asarray(theta, _Wide)) / (1 + np.exp(-wide_log_odds))))


def tilted_probability_of_1(theta: Floats, log_odds: npt.ArrayLike) -> _WideFloats:
    """The probability that a bit of these ``log_odds`` is 1 after a tilt by ``theta``, its mean; wide floats.

    The tilt multiplies the odds by e^theta.
    """
    return np.asarray(1 / (1 + np.exp(-np.asarray(theta, _Wide) - np.asarray(log_odds, _Wide))))
