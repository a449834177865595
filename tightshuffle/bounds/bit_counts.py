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
_CLOSEST = (
    3.0  # in 1 / standard deviation, how close the line of integration comes to the pole at 0
)
_BATCH = 4096  # counts that are looked at together, which bounds the memory
_TERMS = 2**13  # about how many terms of trapezoid sums are computed at once: they fit into a cache

_Wide = np.longdouble  # exponents are differences of numbers that grow with n
_WideFloats = npt.NDArray[np.longdouble]
_Complexes = npt.NDArray[np.complex128]


class Bit(NamedTuple):
    """The bit of the target user.

    ``held`` and, smaller, ``other`` are the log of the odds that it is 1, under P and under Q. ``largest`` is
    ln(p / q), the largest loss, rounded up. ``slack`` is the relative error of ``largest`` that rounding
    may cause.
    """

    held: float
    other: float
    largest: float
    slack: float = 0.0

    @staticmethod
    def of(held: float, other: float) -> "Bit":
        """The bit that is 1 with the log odds ``held`` under P, and ``other`` under Q, with its largest loss.

        The loss of a 1 is ln (1 + e^-other) - ln (1 + e^-held).
        """
        if held == -other:
            return Bit.flipped(held)
        if held - other < 30:  # the same loss, without cancellation
            largest = math.log1p(math.expm1(held - other) / (1 + math.exp(min(held, 700.0))))
        else:
            largest = float(np.logaddexp(0, -other) - np.logaddexp(0, -held))
        slack = 2.0**-48 * (1 + abs(held) + abs(other)) / min(held - other, 1.0)
        # Rounded up, as delta counts as 0 where eps is at least this.
        return Bit(held, other, largest * (1 + 2.0**-49), slack)

    @staticmethod
    def flipped(eps0: float) -> "Bit":
        """A bit flipped with probability 1 / (e^eps0 + 1); never for eps0 = inf."""
        return Bit(eps0, -eps0, eps0)


class BitCounts:
    """Counts of bits of some kinds, among which one bit is hidden, at some eps.

    Parameters
    ----------
    eps : float array (e,)
        Each is below the largest loss of the ``bit``.
    bit : Bit
        The bit of the target user, which changes from P to Q.
    odds : sequence of floats (kinds,)
        The log odds that another user's bit is 1, for each kind of bit: eps0, -eps0, or 0 for a dummy.

    Attributes
    ----------
    theta : float array (e,)
        The tilt, where the transform of f = P - e^eps Q is 0.
    ln_a : float array (e,)
        Natural log of A = p - e^eps q, for the ``bit``.
    """

    def __init__(self, eps: Floats, bit: Bit, odds: Sequence[float]) -> None:
        """Compute A = p - e^eps q and the tilt for each eps. p and q are P and Q of a 1 of the ``bit``."""
        share = -np.expm1(eps - bit.largest)  # A / p
        self.theta = np.log1p(np.expm1(eps) * (1 + np.exp(-bit.held)) / share)
        self.ln_a = np.log(share) - np.log1p(np.exp(-bit.held))
        self._eps = eps
        self._bit = bit
        self._odds = np.array(odds, dtype=float)[:, None]
        self._variances = _chance(self.theta + self._odds) * _chance(-self.theta - self._odds)
        self._lines: dict[int, _Line] = {}

    def ln_delta(self, numbers: Integers, points: Integers) -> tuple[Floats, Floats]:
        """Natural log of delta in some counts, and the largest error of that; both (rows,).

        ``numbers`` (kinds, rows) says how many bits of each kind are counted, and ``points`` (rows,) has the
        index of one of the eps. Counts whose tilted standard deviations have the same next power of 2, their
        level, share a line of integration.
        """
        deviations = np.sqrt((numbers * self._variances[:, points]).sum(axis=0))
        levels = np.ceil(np.log2(np.maximum(deviations, 2.0**_LOWEST_LEVEL))).astype(int)
        value, error = np.empty((2, deviations.size))
        for level in np.unique(levels).tolist():
            members = np.flatnonzero(levels == level)
            for start in range(0, members.size, _BATCH):
                rows = members[start : start + _BATCH]
                value[rows], error[rows] = self._line(level).ln_delta(
                    numbers[:, rows], points[rows]
                )
        return value, error

    def _line(self, level: int) -> "_Line":
        """The line of this ``level``, which is computed once."""
        if level not in self._lines:
            self._lines[level] = _Line(
                level, self._eps, self._bit, self._odds, self.theta, self.ln_a
            )
        return self._lines[level]


class _Line:
    """The line theta + iu of integration for each of some eps, and what is needed there of each kind of bit.

    It serves counts with standard deviations from 2^(level - 1) to 2^level, and smaller ones if the ``level``
    is the lowest. ``root`` (e,) is where f's transform is 0. Theta is there, too, or a little to the right
    where that is next to the pole at 0. ``ln_a`` is as for `BitCounts`, and ``odds`` are (kinds, 1).

    Arrays for each eps have the shape (e,), and those for each kind of bit (kinds, e). Those for each angle u
    have one more axis at the end.
    """

    def __init__(
        self, level: int, eps: Floats, bit: Bit, odds: Floats, root: Floats, ln_a: Floats
    ) -> None:
        """Choose the angles u and theta, and compute at theta + iu what every count needs."""
        self._eps = eps
        self._bit = bit
        self._deviation = 2.0**level
        self._period = 2 * int(_PERIOD * self._deviation / 2) + 1  # L
        self._u = 2 * np.pi * np.arange(_number_of_angles(level, self._period)) / self._period
        self._root = root
        self._theta = np.maximum(root, _CLOSEST / self._deviation)
        self._ln_factor = ln_a + root  # of A e^root

        self._mean_at_root = wide_chance(root, odds)
        self._mean = wide_chance(self._theta, odds)
        self._variance = _chance(self._theta + odds) * _chance(-self._theta - odds)
        self._ln_mgf = ln_mgf(self._theta, odds)
        self._ln_mgf_of_likelier = ln_mgf(self._theta, np.abs(odds))
        self._ln_moduli, self._turns = self._bells(odds[..., None])
        kernel = self._kernel()
        self._moduli_of_kernel = np.abs(kernel)
        self._turns_of_kernel = np.angle(kernel)

        # Lines to the right of this one and to its left, as a Chernoff bound for other periods; (2, 1, e).
        step = min(1.0, 8 / self._deviation)
        self._shift = np.stack([np.full(root.shape, step), -np.minimum(self._theta, step)])[:, None]
        self._ln_mgf_aside = ln_mgf(self._theta + self._shift, odds)

    def ln_delta(self, numbers: Integers, points: Integers) -> tuple[Floats, Floats]:
        """Natural log of delta in some counts, and its largest error, as `BitCounts.ln_delta` gives them.

        delta is the largest F(t) = sum of P(s) - e^eps Q(s) over s >= t. It lies at one of the first two
        whole t above the count's mean under the tilt ``root``. Both F(t) are trapezoid sums along the line.
        """
        wide_numbers = numbers.astype(_Wide)

        def add_up(values: _WideFloats) -> _WideFloats:
            """The sum over all bits of a count of their kinds' ``values``: (..., kinds, e) -> (..., rows)."""
            return np.asarray((wide_numbers * values[..., points]).sum(axis=-2))

        # t is next to the mean under ``root``; angles count from the mean under ``theta``.
        t = np.floor(add_up(self._mean_at_root)) + 1
        offset = (add_up(self._mean) - t).astype(float)
        theta = self._theta.astype(_Wide)[points]
        exponent = add_up(self._ln_mgf) - theta * t
        total, size = self._sums_over_angles(numbers.astype(float), points, offset)

        # Both whole t; (2, rows).
        t = np.stack([t, t + 1])
        exponent = np.stack([exponent, exponent - theta])

        # The errors of the sum: rounding, angles left out beyond the last, and all other periods.
        last = self._u[-1]
        error = size * (2e-13 + 2 * np.finfo(float).eps * numbers.sum(axis=0) * last)
        if self._u.size - 1 < self._period // 2:
            largest_kernel = (np.exp(self._theta - self._root) + 1) / -np.expm1(-self._theta)
            variance = (numbers * self._variance[:, points]).sum(axis=0)
            error = error + np.exp(-variance * _versine(last)) * largest_kernel[points]
        error = error + self._other_periods(add_up(self._ln_mgf_aside), points, t, exponent)

        # delta is the larger F; `relative` adds what the exponent loses in rounding.
        larger = np.argmax(total * np.exp((exponent - exponent[0]).astype(float)), axis=0)
        chosen = (larger, np.arange(points.size))
        total, exponent, error = total[chosen], exponent[chosen], error[chosen]
        magnitude = 1 + add_up(self._ln_mgf_of_likelier)
        relative = error / total + 16 * float(np.finfo(_Wide).eps) * magnitude.astype(float) + 1e-12
        if self._bit.slack:
            largest = self._bit.largest
            relative += (self._bit.slack * (1 + largest / (largest - self._eps)))[points]
        with np.errstate(divide="ignore", invalid="ignore"):
            ln_delta = exponent.astype(float) + np.log(total) + self._ln_factor[points]
            is_known = (total > 0) & (relative < 0.5)
            ln_delta = np.where(is_known, ln_delta, 0.0)
            ln_error = np.where(is_known, -np.log1p(-relative), np.inf)
        return ln_delta, ln_error + 4e-16 * np.abs(ln_delta)

    def _sums_over_angles(
        self, numbers: Floats, points: Integers, offset: Floats
    ) -> tuple[Floats, Floats]:
        """F(t) and F(t + 1), (2, rows), and the sum of the moduli of their terms, (rows,).

        F(t) is delta if it is decided by s >= t, in units of e^exponent and A e^root (`ln_delta`), whose
        ``numbers`` and ``points`` these are. ``offset`` (rows,) is the tilted count's mean less t. Each term
        is a product of powers of the kinds' characteristic functions and of the kernel.
        """
        total, size = np.empty((2, points.size)), np.empty(points.size)
        chunk = 1 + _TERMS // self._u.size
        for start in range(0, points.size, chunk):
            rows = slice(start, start + chunk)
            places = points[rows]

            # Each term is a modulus times e^(i phase); (rows, angles).
            ln_moduli = np.zeros((places.size, self._u.size))
            phases = offset[rows, None] * self._u + self._turns_of_kernel[places]
            # The characteristic function of each kind of bit, to the power of its number.
            bells = zip(numbers[:, rows, None], self._ln_moduli, self._turns, strict=True)
            for number, ln_modulus, turn in bells:
                ln_moduli += number * ln_modulus[places]
                phases += number * turn[places]
            moduli = np.exp(ln_moduli) * self._moduli_of_kernel[places]

            # Those of F(t + 1) are turned by -u.
            cosines, sines = _cosine_and_sine(phases)
            real_parts = moduli * cosines
            total[0, rows] = real_parts.sum(axis=-1)
            total[1, rows] = real_parts @ np.cos(self._u) + (moduli * sines) @ np.sin(self._u)
            size[rows] = moduli.sum(axis=-1)
        return total / self._period, size / self._period

    def _bells(self, odds: Floats) -> tuple[Floats, Floats]:
        """ln of the modulus, and the angle, of the characteristic function of each kind of bit.

        Bits are centred and tilted. Both results are (kinds, e, angles), and ``odds`` are (kinds, 1, 1). Over
        u the modulus has the shape of a bell. For a bit that is 1 with probability p, and 0 with q, the
        function is (1 + p (e^iu - 1)) e^(-iup), whose squared modulus is 1 - 2 p q (1 - cos u).
        """
        tilted_odds = self._theta[:, None] + odds
        p, q = _chance(tilted_odds), _chance(-tilted_odds)
        versine = _versine(self._u)
        with np.errstate(divide="ignore"):
            ln_modulus = 0.5 * np.log1p(-2 * p * q * versine)
        return ln_modulus, np.arctan2(p * np.sin(self._u), 1 - p * versine) - p * self._u

    def _kernel(self) -> _Complexes:
        """The factor of the integrand that no count changes: (e^(z - root) - 1) / (1 - e^-z); (e, angles).

        z is theta + iu. It is doubled but for u = 0, as each u stands for -u, too.
        """
        theta = self._theta[:, None]
        shift = (self._theta - self._root)[:, None]
        sine, versine = np.sin(self._u), _versine(self._u)
        numerator = np.expm1(shift) * (1 - versine) - versine + 1j * np.exp(shift) * sine
        denominator = -np.expm1(-theta) * (1 - versine) + versine + 1j * np.exp(-theta) * sine
        kernel = numerator / denominator
        kernel[:, 1:] *= 2
        return kernel

    def _other_periods(
        self, ln_mgf_aside: _WideFloats, points: Integers, t: _WideFloats, exponent: _WideFloats
    ) -> Floats:
        """A bound on what the trapezoid rule adds to F(t), in units of e^exponent and A e^root; (2, rows).

        F(t) is delta if it is decided by the counts from t on. With the period L the rule adds F(t + l L)
        e^(theta l L) for every whole l != 0. Each is at most Chernoff's bound: for every h >= 0,

            |F(t)| <= e^(-h t) R0(h)^a R1(h)^c ((p - q) e^h + (e^eps - 1) R1(h)).

        R0 and R1 are the moment generating functions of a bit of who holds the value and of another one, of
        which there are a and c. The target user's bit is 1 with probability p under P and q under Q, and
        A = p - e^eps q. ``exponent`` is ln of the count's moment generating function at theta, less theta t.
        ``ln_mgf_aside`` (2, rows) is ln of the count's R0(h)^a R1(h)^c to the right of theta, for l > 0, and
        to its left. ``t`` and ``exponent`` are (2, rows), for both whole t.
        """
        bit = self._bit
        p_minus_q = (
            -np.expm1(bit.other - bit.held) / (1 + np.exp(-bit.held)) / (1 + np.exp(bit.other))
        )
        h = self._theta + self._shift
        ln_power = ln_mgf_aside[:, None] - h.astype(_Wide)[..., points] * t - exponent
        mgf = np.exp(ln_mgf(h, bit.other).astype(float))
        edge = p_minus_q * np.exp(h) + np.expm1(self._eps) * mgf

        # The bounds for all l of one sign are a geometric series; (2, 2, rows) before the sum.
        decay = np.abs(self._shift) * self._period
        ln_series = -decay - np.log(-np.expm1(-decay)) - self._ln_factor
        bounds = np.exp(ln_power.astype(float) + ln_series[..., points]) * edge[..., points]
        return np.asarray(bounds.sum(axis=0))


def _number_of_angles(level: int, period: int) -> int:
    """How many angles u of the trapezoid rule are needed from 0 on, for all counts of the ``level``.

    There are ``period`` in a period, of which those beyond 1 - cos u = `_DECAY` / variance, about, are left
    out: the count's moment generating function R has |R(h + iu)| <= R(h) e^(-variance (1 - cos u)). Counts of
    the level have a variance of at least 4^(level - 1).
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


def _chance(odds: Floats) -> Floats:
    """The probability that a bit of these log ``odds`` is 1."""
    from scipy.special import expit  # here, for it takes as long to import as numpy

    return np.asarray(expit(odds))


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


def ln_mgf(theta: Floats, odds: npt.ArrayLike) -> _WideFloats:
    """Natural log of E[e^(theta bit)] = 1 + p (e^theta - 1), for a bit that is 1 with these log ``odds``."""
    wide_odds = np.asarray(odds, _Wide)
    return np.asarray(np.log1p(np.expm1(np.asarray(theta, _Wide)) / (1 + np.exp(-wide_odds))))


def wide_chance(theta: Floats, odds: npt.ArrayLike) -> _WideFloats:
    """The probability that a bit of log ``odds``, tilted by ``theta``, is 1; in more digits than a float."""
    return np.asarray(1 / (1 + np.exp(-np.asarray(theta, _Wide) - np.asarray(odds, _Wide))))
