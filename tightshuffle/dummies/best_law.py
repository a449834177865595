"""The best law of dummies for a guarantee, if users send their values as they are, and of aggregators' noise.

Each of several parties adds a number with the same law. Whoever colludes with some of them knows their
numbers, so those of the honest ones have to be enough, and the error is that of all.

Of the cut laws P(z) ~ exp(-|z - mean|^power / s), with powers from 1 (geometric) to 2 (Gaussian), the
geometric law is best for one round: all its losses have the same size. The more rounds and values per user,
the closer the sum of the losses is to a normal variable, and the closer the best power is to 2.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from tightshuffle.arguments import (
    check_at_most,
    check_choice,
    check_colluding,
    check_log10_delta,
    check_one,
    check_positive,
    check_whole,
    renamed,
)
from tightshuffle.dummies.bound import NEIGHBOURS, HiddenByDummies
from tightshuffle.dummies.laws import (
    LARGEST_MEAN,
    MOST_NUMBERS,
    MOST_NUMBERS_OF_SUM,
    MOST_PARTIES,
    Law,
    cut_power,
    error_of_parties,
    noise,
    poisson,
    sum_of_parties,
)
from tightshuffle.gaussian import exact_scale
from tightshuffle.numerics.roots import least_whole
from tightshuffle.points import LARGEST_N_OF_UPPER, LARGEST_ROUNDS, check_guarantee

POWERS = (1.0, 1.25, 1.5, 1.75, 2.0)
_CLOSE = 1.003  # an error over the least one, from which on fewer dummies count
_WIDER = (
    1.001,
    1.002,
    1.004,
    1.008,
    1.02,
    1.05,
    1.15,
    1.4,
)  # scales over the smallest that are tried
_RARE = 1e-6  # of delta: the ends of a law that counts as not cut
_DIGITS = 5  # of the deviation
_SPARE = 1.3  # the Poisson mean over the variance of the Gaussian, at most, where it is large
_SMALLEST_DELTA = -280.0  # log10: rarer numbers of dummies are not counted one by one
_NEIGHBOUR = 1e-3  # relative, in ln delta: the difference from which the slope is computed
_MANY = 30  # counts that change, from which on the sum of their losses is nearly normal
_BEYOND = 1.2  # times the distance to where a surplus should be 0: a little behind it
_SHORTEST_STEP = 1e-5  # of a logarithm, from a guess that is nearly right
_LONGEST_STEP = 0.1  # and from a bad one: much wider laws are too wide to be computed
_LN10 = math.log(10)


@renamed
def best_cut_law(
    eps: float,
    delta: float | None = None,
    *,
    log10_delta: float | None = None,
    values_per_user: int = 1,
    rounds: int = 1,
    neighbours: str = "replace",
    absolute_error: float | None = None,
    parties: int = 1,
    honest: int = 1,
) -> Law:
    """The cut law with the fewest dummies per value, for a guarantee and an error. Only shufflers can add it.

    Cut laws (`cut_power`) have a mean, a power and a deviation. For each of a few powers the smallest
    deviation with the guarantee, and some larger ones, are tried, with the least mean for each. ``eps`` is
    above 0, ``delta`` in (0, 1), or ``log10_delta`` < 0 is given instead. ``absolute_error`` is the largest
    of a value's count, by default 0.3 % more than the least that cut laws reach. So many ``parties`` add
    dummies with this law, of whom ``honest`` ones do not tell their numbers. The others are those of
    `HiddenByDummies`. ValueError names a bad argument; also if no law of the family has so small an error.
    """
    guarantee = _Guarantee.checked(
        eps, delta, log10_delta, values_per_user, rounds, neighbours, parties, honest
    )
    least_deviations = _least_deviations(guarantee)
    errors = {
        power: _error(power, deviation, parties) for power, deviation in least_deviations.items()
    }
    least_error = min(errors.values())
    largest_error = _CLOSE * least_error
    if absolute_error is not None:
        positive = check_positive("absolute_error", absolute_error)
        largest_error = float(check_one("absolute_error", positive))

    # To begin with, means that are too small: the ends of the law (0 and twice the mean, where it is cut)
    # alone have the probability delta.
    candidates = []
    for power, least_deviation in least_deviations.items():
        for scale in _scales(largest_error / errors[power]):
            deviation = least_deviation * scale
            mean = guarantee.mean_of_ends(power, deviation, guarantee.ln_delta)
            candidates.append(_Candidate(mean, power, deviation))
    best = _fewest_dummies(guarantee, candidates)
    if best is None:
        raise ValueError(f"absolute_error must be above {least_error:.6g}; got {largest_error:g}")

    # The smallest whole mean for the best candidate, and then the smallest deviation for this mean.
    power, deviation = best.power, best.deviation
    mean = _least_mean(guarantee, best)
    surplus = functools.partial(guarantee.surplus, power, mean)
    smallest = _least_without_surplus(surplus, deviation, guarantee.slope, enough=deviation)
    rounded = _rounded_up(smallest)
    if surplus(rounded) <= 0:
        deviation = rounded
    return cut_power(mean, power, deviation)


def best_noise(
    eps: float,
    delta: float | None = None,
    *,
    log10_delta: float | None = None,
    values_per_user: int = 1,
    rounds: int = 1,
    neighbours: str = "replace",
    parties: int = 2,
    honest: int = 1,
) -> Law:
    """The power law with the least error that each party adds to every sum, as `noise`, for a guarantee.

    Parameters and errors are those of `best_cut_law`. The law is not cut, since a sum may be negative. Of
    each of a few powers it is the law with the smallest deviation that has the guarantee.
    """
    guarantee = _Guarantee.checked(
        eps, delta, log10_delta, values_per_user, rounds, neighbours, parties, honest
    )
    deviations = _least_deviations(guarantee)
    power = min(deviations, key=lambda power: _error(power, deviations[power], parties))

    surplus = functools.partial(guarantee.surplus_uncut, power, rough=False)
    smallest = _least_without_surplus(
        surplus, deviations[power], guarantee.slope, enough=deviations[power]
    )
    deviation = _rounded_up(smallest)
    if surplus(deviation) > 0:
        deviation = smallest
    return noise(power, deviation, guarantee.mean_of_rare_ends(power, deviation))


def _rounded_up(deviation: float) -> float:
    """The deviation with five digits."""
    unit = 10.0 ** (math.floor(math.log10(deviation)) + 1 - _DIGITS)
    return float(f"{math.ceil(deviation / unit) * unit:.{_DIGITS}g}")


class _Candidate(NamedTuple):
    """A cut law, compared by its mean."""

    mean: int
    power: float
    deviation: float


def _scales(widest: float) -> list[float]:
    """The scales that are tried, over the smallest with the guarantee; none if even 1 is too wide."""
    if widest < 1:
        return []
    smaller = [scale for scale in _WIDER if scale < widest]
    return [*smaller, widest]


def _fewest_dummies(guarantee: "_Guarantee", candidates: list[_Candidate]) -> _Candidate | None:
    """The candidate with about the smallest mean that has the guarantee; None if none has with any mean.

    The ``candidates`` come with a mean that is too small: the law's ends, 0 and twice the mean, where it is
    cut, have the probability delta. A law that is not cut leaves a part of delta to its ends, from which the
    mean follows.
    """
    best: _Candidate | None = None
    for candidate in sorted(candidates):
        # The ends of a law with the guarantee have less than delta: no later law has a smaller mean.
        if best is not None and candidate > best:
            break
        power, deviation = candidate.power, candidate.deviation
        ln_surplus = guarantee.surplus_uncut(power, deviation)
        if ln_surplus >= 0:
            continue
        # What the law that is not cut leaves of delta: ln(delta - its own delta).
        ln_ends = guarantee.ln_delta + math.log(-math.expm1(ln_surplus))
        law = candidate._replace(mean=guarantee.mean_of_ends(power, deviation, ln_ends))
        best = law if best is None else min(best, law)
    return best


def _least_mean(guarantee: "_Guarantee", law: _Candidate) -> int:
    """The smallest whole mean with the guarantee, or a little more, for the law's power and deviation."""

    @functools.cache
    def rough_surplus(mean: int) -> float:
        """ln of delta over that of the guarantee, by a faster bound."""
        return guarantee.surplus(law.power, mean, law.deviation, rough=True)

    mean = least_whole(rough_surplus, guess=law.mean, least=1, most=MOST_NUMBERS // 2)
    if mean is None:
        raise _too_many(guarantee.eps)
    while guarantee.surplus(law.power, mean, law.deviation) > 0:
        mean += math.ceil(mean / 1000)  # a rough bound is not always above the other one
    return mean


@renamed
def smallest_poisson_mean(
    eps: float,
    delta: float | None = None,
    *,
    log10_delta: float | None = None,
    devices: int = 1,
    colluding: float = 0,
    values_per_user: int = 1,
    rounds: int = 1,
    neighbours: str = "replace",
) -> float:
    """The smallest mean of the Poisson number of dummies that each device adds for every value, rounded up.

    ``devices`` is the number of devices that add dummies, with a report of their own or without; it is 1 if
    the shuffler adds them. ``colluding`` devices know how many dummies they add, so theirs do not count;
    below 1 it is a share of the devices. The numbers of the others add up to one Poisson number.
    ``values_per_user`` are per device and round, at most. Other parameters and errors are those of
    `best_cut_law`.
    """
    guarantee = _Guarantee.checked(eps, delta, log10_delta, values_per_user, rounds, neighbours)
    devices = check_whole("devices", devices, 1, int(LARGEST_N_OF_UPPER))
    honest = devices - int(check_one("colluding", check_colluding(colluding, devices)))
    guess = guarantee.central_deviation**2  # a Poisson number's variance is its mean
    if _SPARE * guess > LARGEST_MEAN:
        raise _too_many(guarantee.eps)

    def surplus(mean: float) -> float:
        """ln of delta over that of the guarantee, with so many dummies per value in all."""
        return guarantee.surplus_of_law(poisson(mean))

    # ln mean is 2 ln deviation, so the surplus falls half as fast with the one as with the other.
    return _least_without_surplus(surplus, guess, guarantee.slope / 2) / honest


@dataclass(frozen=True)
class _Guarantee:
    """A checked guarantee, with the natural log of delta, and what a law has to do for it."""

    eps: float
    ln_delta: float
    values: int
    rounds: int
    neighbours: str
    honest: int = 1

    @classmethod
    def checked(
        cls,
        eps: float,
        delta: float | None,
        log10_delta: float | None,
        values: int,
        rounds: int,
        neighbours: str,
        parties: int = 1,
        honest: int = 1,
    ) -> "_Guarantee":
        """The guarantee with these arguments; ValueError names a bad one."""
        target_log10_delta = check_one("delta", check_log10_delta(delta, log10_delta))
        if target_log10_delta < _SMALLEST_DELTA:
            raise ValueError(
                f"delta must be at least 1e{_SMALLEST_DELTA:g} for dummies of a law; got log10 delta ="
                f" {target_log10_delta:g}"
            )
        values = check_whole("values_per_user", values, 1)
        rounds = check_whole("rounds", rounds, 1)
        check_at_most("values_per_user * rounds", np.asarray(values * rounds), LARGEST_ROUNDS)
        check_choice("neighbours", neighbours, NEIGHBOURS)
        honest = check_whole("honest", honest, 1, check_whole("parties", parties, 1, MOST_PARTIES))
        return cls(
            check_guarantee(eps), target_log10_delta * _LN10, values, rounds, neighbours, honest
        )

    @property
    def counts(self) -> int:
        """How many counts change."""
        changed_values = self.values * self.rounds
        return 2 * changed_values if self.neighbours == "replace" else changed_values

    @property
    def central_deviation(self) -> float:
        """The standard deviation of the central Gaussian mechanism if so many counts change by 1."""
        sensitivity = math.sqrt(self.counts)
        log10_delta = self.ln_delta / _LN10
        return float(exact_scale(self.eps, log10_delta=log10_delta, sensitivity=sensitivity))

    def guess_deviation(self, power: float) -> float:
        """About the deviation of a law that is not cut, with the guarantee."""
        squared_ratio = _information(power) if self.counts >= _MANY else power / 2
        return self.central_deviation * math.sqrt(squared_ratio / self.honest)

    @property
    def slope(self) -> float:
        """About by how much ln delta falls where a deviation grows by a factor of e: the Gaussian's."""
        deltas = self.ln_delta * np.array([1.0, 1 + _NEIGHBOUR])
        scales = exact_scale(self.eps, log10_delta=deltas / _LN10)
        return float(np.diff(-deltas)[0] / np.diff(np.log(scales))[0])

    def surplus_of_law(self, law: Law, rough: bool = False) -> float:
        """Natural log of delta over the delta of the guarantee, if each honest party adds by this law."""
        total = sum_of_parties(law, self.honest)
        bound = HiddenByDummies(total, self.values, self.rounds, self.neighbours, rough=rough)
        return float(bound.ln_delta(np.array([self.eps]))[0] - self.ln_delta)

    def surplus(self, power: float, mean: int, deviation: float, rough: bool = False) -> float:
        """`surplus_of_law` for a cut law, at least -10."""
        return max(self.surplus_of_law(cut_power(mean, power, deviation), rough), -10.0)

    def surplus_uncut(self, power: float, deviation: float, rough: bool = True) -> float:
        """`surplus` of the law that is not cut. Numbers that hardly count are as bad as they can be."""
        law = noise(power, deviation, self.mean_of_rare_ends(power, deviation))
        return max(self.surplus_of_law(law, rough), -10.0)

    def mean_of_rare_ends(self, power: float, deviation: float) -> int:
        """The mean at which the ends of a law hardly count."""
        return self.mean_of_ends(power, deviation, self.ln_delta + math.log(_RARE))

    def mean_of_ends(self, power: float, deviation: float, ln_probability: float) -> int:
        """The least mean at which the ends of a cut law are as rare as this in all changed counts together.

        The ends are 0 and twice the mean, and ``ln_probability`` is the natural log of their probability.
        """
        # P(0) = exp(-(mean / deviation)^power / power), divided by about the integral of such terms.
        integral = 2 * deviation * power ** (1 / power) * math.gamma(1 + 1 / power)
        exponent = math.log(self.counts / integral) - ln_probability
        reach: float = deviation * (power * max(exponent, 0.0)) ** (1 / power)
        most = MOST_NUMBERS if self.honest == 1 else MOST_NUMBERS_OF_SUM / self.honest
        if 2 * reach > most:
            raise _too_many(self.eps)
        return max(1, math.ceil(reach))


@functools.lru_cache(maxsize=16)
def _least_deviations(guarantee: _Guarantee) -> dict[float, float]:
    """For each power of `POWERS` the smallest deviation with the guarantee if the law is not cut."""
    guesses = {power: guarantee.guess_deviation(power) for power in POWERS}
    for power, guess in guesses.items():
        guarantee.mean_of_rare_ends(power, guess)  # too small an eps fails at once

    deviations = {}
    for power, guess in guesses.items():
        surplus = functools.partial(guarantee.surplus_uncut, power)
        deviations[power] = _least_without_surplus(surplus, guess, guarantee.slope)
    return deviations


def _information(power: float) -> float:
    """The Fisher information of the density ~ exp(-|x|^power / power) about its place.

    It is the variance of a wide law's loss, over that of the Gaussian with the same deviation.
    """
    ratio = math.gamma(2 - 1 / power) / math.gamma(1 / power)
    return float(power ** (2 - 2 / power) * ratio)


def _too_many(eps: float) -> ValueError:
    return ValueError(f"eps must be larger: too many dummies per value are needed; got {eps:g}")


def _least_without_surplus(
    surplus: Callable[[float], float],
    guess: float,
    slope: float,
    enough: float = math.inf,
) -> float:
    """The smallest x > 0 with ``surplus`` (x) <= 0, rounded up by 1e-6, by Brent's method in ln x.

    The surplus falls while x grows. It falls by about ``slope`` > 0 where x grows by a factor of e. ``guess``
    is about the result. The closer both are, the fewer evaluations it takes: five where both are good.
    ``enough`` is an x that is known to have no surplus, if one is known: then the result is not larger.
    """

    @functools.cache
    def surplus_at(ln_x: float) -> float:
        """The surplus of e^``ln_x``."""
        return surplus(math.exp(ln_x))

    # Step from the guess, by a little more than the slope says, to where the surplus has the other sign.
    near = math.log(guess)
    is_enough = surplus_at(near) <= 0
    direction = -1 if is_enough else 1
    step = min(_BEYOND * max(abs(surplus_at(near)) / slope, _SHORTEST_STEP), _LONGEST_STEP)
    far = near + direction * step
    while (surplus_at(far) <= 0) == is_enough:
        step = min(2 * step, _LONGEST_STEP)
        near, far = far, far + direction * step
    ln_low, ln_high = sorted((near, far))

    root = scipy.optimize.brentq(surplus_at, ln_low, ln_high, xtol=1e-6, rtol=1e-12)
    smallest = math.exp(root + 1e-6)
    while surplus(smallest) > 0:
        smallest *= 1 + 1e-6
    return min(smallest, math.exp(ln_high), enough)


def _error(power: float, deviation: float, parties: int) -> float:
    """The mean absolute error of the sum of so many numbers of a law that is not cut."""
    reach = math.ceil(deviation * (power * 30.0) ** (1 / power))
    return error_of_parties(noise(power, deviation, reach), parties)
