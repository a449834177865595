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

from tightshuffle.arguments import (
    check_at_most,
    check_colluding,
    check_log10_delta,
    check_one,
    check_positive,
    check_whole,
)
from tightshuffle.dummies.bound import HiddenByDummies
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
from tightshuffle.mechanisms.gaussian import scale_over_sensitivity
from tightshuffle.number_text import e_notation, from_log10
from tightshuffle.numerics.powers import LN10
from tightshuffle.numerics.roots import interval_with_root, least_enough, least_whole
from tightshuffle.points import (
    LARGEST_N_OF_UPPER,
    LARGEST_ROUNDS,
    Neighbours,
    check_guarantee,
    check_neighbours,
)

POWERS = (1.0, 1.25, 1.5, 1.75, 2.0)
# By default the error may be 0.3 % above the least one: the fewest dummies are searched for within that.
_NEAR_LEAST_ERROR = 1.003
# The deviations that are tried, over the smallest one with the guarantee.
_LARGER_SCALES = (1.001, 1.002, 1.004, 1.008, 1.02, 1.05, 1.15, 1.4)
_NEGLIGIBLE_SHARE = 1e-6  # of delta, for the ends of a law that counts as not cut
_DEVIATION_DIGITS = 5  # significant digits of the deviation of a law that is returned
# The Poisson mean over the variance of the Gaussian mechanism, at most, where this mean is large.
_POISSON_OVER_GAUSSIAN = 1.3
_SMALLEST_LOG10_DELTA = -280.0  # rarer numbers of dummies are not counted one by one
_RELATIVE_STEP = 1e-3  # of ln delta: its fall with the deviation is computed from this difference
_NEARLY_NORMAL = 30  # changed counts, from which on the sum of their losses is nearly normal
_OVERSHOOT = 1.2  # times the distance at which ln_ratio should be 0: a little beyond the root
_SHORTEST_STEP = 1e-5  # in ln x, from a guess that is nearly right
_LONGEST_STEP = 0.1  # in ln x, from a bad guess: much wider laws are too wide to be computed
# A smaller one counts as this: ln of a delta 0 would be -inf, without a slope.
_LEAST_LN_RATIO = -10.0
# Numbers whose probability is below e^-30 of the likeliest's do not count in an error.
_ERROR_DEPTH = 30.0


def best_cut_law(
    eps: float,
    delta: float | None = None,
    *,
    log10_delta: float | None = None,
    values_per_user: int = 1,
    rounds: int = 1,
    neighbours: str = Neighbours.REPLACEMENT,
    absolute_error: float | None = None,
    parties: int = 1,
    honest: int = 1,
) -> Law:
    """The cut law with the fewest dummies per value among those with a guarantee and a small enough error.

    A cut law (`cut_power`) has a mean, a power and a deviation. It takes the numbers 0, ..., 2 mean, and only
    shufflers can add it. For each of a few powers, the smallest deviation with the guarantee and some larger
    ones are tried, with the least mean for each.

    Parameters
    ----------
    eps, delta, log10_delta : float
        The guarantee: ``eps`` above 0, and ``delta`` in (0, 1) or, instead, its log10, ``log10_delta`` < 0.
    values_per_user, rounds : int
        The most different values that a user reports per round, and the number of rounds.
    neighbours : str
        "replacement" for a user whose values become others, "deletion" for one whose reports are removed, or
        added.
    absolute_error : float
        The largest mean absolute error of a value's count, in users. By default it is 0.3 % more than the
        least that cut laws reach.
    parties, honest : int
        Each of the ``parties`` adds a number of dummies with this law. The ``honest`` ones do not tell their
        numbers. The sum of their numbers has to give the guarantee. The error is that of all parties' sum.

    Raises
    ------
    ValueError for a bad argument, and where no cut law has so small an error.
    """
    guarantee = _Guarantee.from_arguments(
        eps, delta, log10_delta, values_per_user, rounds, neighbours, parties, honest
    )
    least_deviations = _least_deviations(guarantee)
    errors = {
        power: _error_of_uncut_law(power, deviation, parties)
        for power, deviation in least_deviations.items()
    }
    least_error = min(errors.values())
    largest_error = _NEAR_LEAST_ERROR * least_error
    if absolute_error is not None:
        positive = check_positive("absolute_error", absolute_error)
        largest_error = float(check_one("absolute_error", positive))

    # Each candidate begins with a mean that is too small: the ends of the law (0 and twice the mean, where it
    # is cut) alone have the probability delta. A law's error grows about in proportion to its deviation.
    candidates = []
    for power, least_deviation in least_deviations.items():
        largest_scale = largest_error / errors[power]
        for scale in _scales_to_try(largest_scale):
            deviation = least_deviation * scale
            mean = guarantee.least_mean_for_ends(power, deviation, guarantee.ln_delta)
            candidates.append(_Candidate(mean, power, deviation))
    best = _fewest_dummies(guarantee, candidates)
    if best is None:
        raise ValueError(f"absolute_error must be above {least_error:.6g}; got {largest_error:g}")

    # The smallest whole mean for the best candidate's deviation, and then the smallest deviation for this
    # mean. It is rounded up to a few digits, for these are shorter to write, if that keeps the guarantee.
    # Else the candidate's deviation stays. ``ln_ratio`` is ln of the law's delta over the guarantee's.
    power, deviation = best.power, best.deviation
    mean = _least_mean(guarantee, best)
    ln_ratio = functools.partial(guarantee.ln_ratio_cut, power, mean)
    smallest = _least_with_guarantee(
        ln_ratio, deviation, guarantee.fall_of_ln_delta, known_enough=deviation
    )
    rounded = _rounded_up(smallest)
    if ln_ratio(rounded) <= 0:
        deviation = rounded
    return cut_power(mean, power, deviation)


def best_noise(
    eps: float,
    delta: float | None = None,
    *,
    log10_delta: float | None = None,
    values_per_user: int = 1,
    rounds: int = 1,
    neighbours: str = Neighbours.REPLACEMENT,
    parties: int = 2,
    honest: int = 1,
) -> Law:
    """The law of `noise` with the least error that has a guarantee.

    Each party adds a number with this law to every sum. The law is not cut, since a sum may be negative. For
    each of a few powers, the smallest deviation with the guarantee is found. The power with the least mean
    absolute error of all parties' numbers is taken.

    Parameters and errors are those of `best_cut_law`, without ``absolute_error``.
    """
    guarantee = _Guarantee.from_arguments(
        eps, delta, log10_delta, values_per_user, rounds, neighbours, parties, honest
    )
    deviations = _least_deviations(guarantee)
    power = min(
        deviations, key=lambda power: _error_of_uncut_law(power, deviations[power], parties)
    )

    deviation = _narrowest_noise(guarantee, power, deviations[power])
    return noise(power, deviation, guarantee.mean_with_negligible_ends(power, deviation))


def geometric_deviation(
    eps: float,
    delta: float | None = None,
    *,
    log10_delta: float | None = None,
    values_per_user: int = 1,
    rounds: int = 1,
    neighbours: str = Neighbours.REPLACEMENT,
) -> float:
    """The smallest deviation of two-sided geometric `noise` (of the power 1) with a guarantee, rounded up.

    One such number on every sum gives the guarantee, whether one party adds it or several add shares of it
    (`dummies.shares`). Parameters and errors are those of `best_cut_law`.
    """
    guarantee = _Guarantee.from_arguments(
        eps, delta, log10_delta, values_per_user, rounds, neighbours
    )
    guess = guarantee.approximate_deviation(1.0)
    guarantee.mean_with_negligible_ends(1.0, guess)  # ValueError at once for too small an eps
    ln_ratio = functools.partial(guarantee.ln_ratio_uncut, 1.0)
    enough = _least_with_guarantee(ln_ratio, guess, guarantee.fall_of_ln_delta)
    return _narrowest_noise(guarantee, 1.0, enough)


def _narrowest_noise(guarantee: "_Guarantee", power: float, enough: float) -> float:
    """The smallest deviation of `noise` of this ``power`` with the guarantee, rounded up.

    ``enough`` is a deviation with the guarantee by a rough bound, close to the smallest one.
    """
    # By deviation, ln of the law's delta over the guarantee's.
    ln_ratio = functools.partial(guarantee.ln_ratio_uncut, power, rough=False)
    smallest = _least_with_guarantee(
        ln_ratio, enough, guarantee.fall_of_ln_delta, known_enough=enough
    )
    # It is rounded up to a few digits if that keeps the guarantee.
    rounded = _rounded_up(smallest)
    return rounded if ln_ratio(rounded) <= 0 else smallest


def _rounded_up(deviation: float) -> float:
    """The deviation, rounded up to five significant digits."""
    unit = 10.0 ** (math.floor(math.log10(deviation)) + 1 - _DEVIATION_DIGITS)
    return float(f"{math.ceil(deviation / unit) * unit:.{_DEVIATION_DIGITS}g}")


class _Candidate(NamedTuple):
    """The parameters of a cut law; laws compare by their means, and then by their powers."""

    mean: int
    power: float
    deviation: float


def _scales_to_try(largest: float) -> list[float]:
    """The deviations to try, in units of the smallest one with the guarantee: from 1.001 to ``largest``.

    ``largest`` is the deviation, in this unit, that has the largest error allowed. Below 1 the list is empty,
    as even the smallest deviation with the guarantee has too large an error.
    """
    if largest < 1:
        return []
    smaller = [scale for scale in _LARGER_SCALES if scale < largest]
    return [*smaller, largest]


def _fewest_dummies(guarantee: "_Guarantee", candidates: list[_Candidate]) -> _Candidate | None:
    """The candidate with the smallest mean that has the guarantee, about; None if none has it with any mean.

    The ends of a cut law are 0 and twice its mean. The ``candidates`` come with a mean that is too small:
    their ends have the probability delta. But even the law that is not cut has a delta. What this leaves of
    the guarantee's delta is the probability that the ends may have, and gives the mean that is returned.
    """
    best: _Candidate | None = None
    for candidate in sorted(candidates):
        # The ends of a law with the guarantee have less than delta. So its mean is not below the candidate's,
        # and no later candidate, sorted by mean, gets a smaller mean than the best.
        if best is not None and candidate > best:
            break
        power, deviation = candidate.power, candidate.deviation
        ln_ratio = guarantee.ln_ratio_uncut(power, deviation)
        if ln_ratio >= 0:
            continue  # no mean is enough, as not even the law without ends has the guarantee
        # ln(delta of the guarantee - delta of the law that is not cut)
        ln_ends = guarantee.ln_delta + math.log(-math.expm1(ln_ratio))
        law = candidate._replace(mean=guarantee.least_mean_for_ends(power, deviation, ln_ends))
        best = law if best is None else min(best, law)
    return best


def _least_mean(guarantee: "_Guarantee", law: _Candidate) -> int:
    """The smallest whole mean, or a little more, with which a cut law has the guarantee.

    Its power and deviation are those of ``law``, at whose mean the search starts. ValueError where no mean
    is enough.
    """

    @functools.cache
    def rough_ln_ratio(mean: int) -> float:
        """ln of the law's delta over that of the guarantee, by a faster and wider bound."""
        return guarantee.ln_ratio_cut(law.power, mean, law.deviation, rough=True)

    mean = least_whole(rough_ln_ratio, guess=law.mean, least=1, most=MOST_NUMBERS // 2)
    if mean is None:
        raise _too_many_dummies(guarantee.eps)
    while guarantee.ln_ratio_cut(law.power, mean, law.deviation) > 0:
        # A rough bound is not always above the exact one: a thousandth more, until that holds.
        mean += math.ceil(mean / 1000)
    return mean


def smallest_poisson_mean(
    eps: float,
    delta: float | None = None,
    *,
    log10_delta: float | None = None,
    devices: int = 1,
    colluding: float = 0,
    values_per_user: int = 1,
    rounds: int = 1,
    neighbours: str = Neighbours.REPLACEMENT,
) -> float:
    """The smallest mean, rounded up, of the Poisson number of dummies that each device adds for every value.

    The numbers of the devices that do not collude add up to one Poisson number, which gives the guarantee.

    Parameters
    ----------
    devices : int
        How many devices add dummies, with a report of their own or without; 1 if the shuffler adds them.
    colluding : number
        How many of the devices collude, so that their dummies are known and do not count; below 1, the share
        of the devices that do.
    values_per_user : int
        The most different values that a device reports per round.

    Other parameters and errors are those of `best_cut_law`.
    """
    guarantee = _Guarantee.from_arguments(
        eps, delta, log10_delta, values_per_user, rounds, neighbours
    )
    devices = check_whole("devices", devices, 1, int(LARGEST_N_OF_UPPER))
    honest = devices - int(check_one("colluding", check_colluding(colluding, devices)))
    guess = guarantee.gaussian_deviation**2  # of the mean: it is a Poisson number's variance, too
    if _POISSON_OVER_GAUSSIAN * guess > LARGEST_MEAN:
        raise _too_many_dummies(guarantee.eps)

    def ln_ratio(mean: float) -> float:
        """ln of the law's delta over the guarantee's, for the ``mean`` of all honest devices together."""
        return guarantee.ln_delta_ratio(poisson(mean))

    # The mean is the deviation squared: ln delta falls half as fast with ln mean as with ln deviation.
    return _least_with_guarantee(ln_ratio, guess, guarantee.fall_of_ln_delta / 2) / honest


@dataclass(frozen=True)
class _Guarantee:
    """A checked guarantee, with the natural log of delta, and what a law has to do for it.

    A user reports ``values`` different values per round, at most, in each of the ``rounds``. ``honest``
    parties do not tell their numbers of dummies: the sum of these numbers has to give the guarantee.
    """

    eps: float
    ln_delta: float
    values: int
    rounds: int
    neighbours: Neighbours
    honest: int = 1

    @classmethod
    def from_arguments(
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
        """The guarantee with these arguments, those of `best_cut_law`; ValueError names a bad one."""
        target_log10_delta = check_one("delta", check_log10_delta(delta, log10_delta))
        if target_log10_delta < _SMALLEST_LOG10_DELTA:
            least = f"1e{_SMALLEST_LOG10_DELTA:g}"
            given = e_notation(from_log10(target_log10_delta))
            raise ValueError(f"delta must be at least {least} for dummies of a law; got {given}")
        values = check_whole("values_per_user", values, 1)
        rounds = check_whole("rounds", rounds, 1)
        check_at_most("values_per_user * rounds", np.asarray(values * rounds), LARGEST_ROUNDS)
        parties = check_whole("parties", parties, 1, MOST_PARTIES)
        honest = check_whole("honest", honest, 1, parties)
        return cls(
            check_guarantee(eps),
            target_log10_delta * LN10,
            values,
            rounds,
            check_neighbours(neighbours),
            honest,
        )

    @property
    def changed_counts(self) -> int:
        """How many counts of values change in all rounds if one user does."""
        return self.neighbours.changed_counts * self.values * self.rounds

    @property
    def gaussian_deviation(self) -> float:
        """The standard deviation of the central Gaussian mechanism with the guarantee, in users.

        Its sensitivity is the root of `changed_counts`, as each of these counts changes by 1.
        """
        sensitivity = math.sqrt(self.changed_counts)
        return scale_over_sensitivity(self.eps, self.ln_delta) * sensitivity

    def approximate_deviation(self, power: float) -> float:
        """About the smallest deviation with which a law of this power that is not cut has the guarantee."""
        # The squared deviation over that of the Gaussian mechanism, for one party: the sum of many losses is
        # nearly normal, so that only the variance of a loss counts. For few it is about power / 2.
        squared_ratio = (
            _fisher_information(power) if self.changed_counts >= _NEARLY_NORMAL else power / 2
        )
        return self.gaussian_deviation * math.sqrt(squared_ratio / self.honest)

    @property
    def fall_of_ln_delta(self) -> float:
        """About by how much ln delta falls where a law's deviation grows by a factor of e; above 0.

        It is that of the Gaussian mechanism, between this ln delta and one that is 0.1 % larger without sign.
        """
        ln_deltas = self.ln_delta * np.array([1.0, 1 + _RELATIVE_STEP])
        deviations = [scale_over_sensitivity(self.eps, target) for target in ln_deltas.tolist()]
        return float(np.diff(-ln_deltas)[0] / np.diff(np.log(deviations))[0])

    def ln_delta_ratio(self, law: Law, rough: bool = False) -> float:
        """Natural log of a law's delta over the guarantee's: at most 0 where the law has the guarantee.

        Each honest party adds a number with this law. A ``rough`` bound on delta is faster and wider.
        """
        total = sum_of_parties(law, self.honest)
        bound = HiddenByDummies(total, self.values, self.rounds, self.neighbours, rough=rough)
        return float(bound.ln_delta(np.array([self.eps]))[0] - self.ln_delta)

    def ln_ratio_cut(self, power: float, mean: int, deviation: float, rough: bool = False) -> float:
        """`ln_delta_ratio` of the cut law with these parameters, at least -10."""
        return max(self.ln_delta_ratio(cut_power(mean, power, deviation), rough), _LEAST_LN_RATIO)

    def ln_ratio_uncut(self, power: float, deviation: float, rough: bool = True) -> float:
        """`ln_delta_ratio` of the law of `noise` with these parameters, at least -10.

        This law is a cut law without its ends: it takes all whole numbers, with the mean 0. Only the numbers
        up to `mean_with_negligible_ends` on both sides are listed. What lies beyond counts as an infinite
        loss.
        """
        reach = self.mean_with_negligible_ends(power, deviation)
        return max(self.ln_delta_ratio(noise(power, deviation, reach), rough), _LEAST_LN_RATIO)

    def mean_with_negligible_ends(self, power: float, deviation: float) -> int:
        """The least mean with which the ends of a cut law have a millionth of delta, and hardly count."""
        return self.least_mean_for_ends(
            power, deviation, self.ln_delta + math.log(_NEGLIGIBLE_SHARE)
        )

    def least_mean_for_ends(self, power: float, deviation: float, ln_probability: float) -> int:
        """The least whole mean of a cut law whose ends have at most this probability, about.

        The ends of the law are 0 and twice the mean. ``ln_probability`` is the natural log of P(0) times
        `changed_counts`. ValueError where the mean is too large.
        """
        # P(0) = exp(-(mean / deviation)^power / power) / integral, where the integral is about the sum of all
        # such terms. So the exponent is ln(counts / integral) - ln(probability), and the mean follows.
        integral = 2 * deviation * power ** (1 / power) * math.gamma(1 + 1 / power)
        exponent = math.log(self.changed_counts / integral) - ln_probability
        reach: float = deviation * (power * max(exponent, 0.0)) ** (1 / power)
        most = MOST_NUMBERS if self.honest == 1 else MOST_NUMBERS_OF_SUM / self.honest
        if 2 * reach > most:
            raise _too_many_dummies(self.eps)
        return max(1, math.ceil(reach))


@functools.lru_cache(maxsize=16)
def _least_deviations(guarantee: _Guarantee) -> dict[float, float]:
    """For each power of `POWERS`, from 1 to 2, the smallest deviation with the guarantee of a law not cut."""
    guesses = {power: guarantee.approximate_deviation(power) for power in POWERS}
    for power, guess in guesses.items():
        guarantee.mean_with_negligible_ends(power, guess)  # ValueError at once for too small an eps

    deviations = {}
    for power, guess in guesses.items():
        ln_ratio = functools.partial(guarantee.ln_ratio_uncut, power)
        deviations[power] = _least_with_guarantee(ln_ratio, guess, guarantee.fall_of_ln_delta)
    return deviations


def _fisher_information(power: float) -> float:
    """The Fisher information, about x0, of the density in proportion to exp(-|x - x0|^power / power).

    It is the variance of a wide law's loss, over that of the Gaussian with the same ``deviation`` parameter.
    """
    ratio = math.gamma(2 - 1 / power) / math.gamma(1 / power)
    return float(power ** (2 - 2 / power) * ratio)


def _too_many_dummies(eps: float) -> ValueError:
    """The error for an ``eps`` that needs more dummies than can be computed."""
    return ValueError(f"eps must be larger: too many dummies per value are needed; got {eps:g}")


def _least_with_guarantee(
    ln_ratio: Callable[[float], float],
    guess: float,
    slope: float,
    known_enough: float = math.inf,
) -> float:
    """The smallest x > 0 with ``ln_ratio`` (x) <= 0, rounded up by 1e-6 of it at most; the search is in ln x.

    x is a deviation or a mean of a law. ``ln_ratio`` (x) is the natural log of the law's delta over that of
    the guarantee. So the law with the returned x has the guarantee.

    ``guess`` is about the result. ``slope`` > 0 is by how much ``ln_ratio`` falls, about, where x grows by a
    factor of e. If both are good, five evaluations are enough. ``known_enough`` is an x with the guarantee,
    if one is known: the result is not larger.
    """

    @functools.cache
    def ln_ratio_at(ln_x: float) -> float:
        """``ln_ratio`` of the law with x = e^``ln_x``."""
        return ln_ratio(math.exp(ln_x))

    # The first step in ln x is a little more than the slope says.
    near = math.log(guess)
    step = min(_OVERSHOOT * max(abs(ln_ratio_at(near)) / slope, _SHORTEST_STEP), _LONGEST_STEP)
    interval = interval_with_root(ln_ratio_at, near, step=step, largest_step=_LONGEST_STEP)
    assert interval is not None  # the search has no end above
    smallest = math.exp(least_enough(ln_ratio_at, *interval, tolerance=1e-6))
    return min(smallest, known_enough)


def _error_of_uncut_law(power: float, deviation: float, parties: int) -> float:
    """The mean absolute error, in users, of the sum of all ``parties``' numbers, by a law that is not cut.

    The law is that of `noise`. Its numbers are listed up to where the exponent is 30.
    """
    reach = math.ceil(deviation * (power * _ERROR_DEPTH) ** (1 / power))
    return error_of_parties(noise(power, deviation, reach), parties)
