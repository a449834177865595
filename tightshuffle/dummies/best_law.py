"""The best law of dummies for a guarantee, if users send their values as they are.

Of the cut laws P(z) ~ exp(-|z - mean|^power / s), with powers from 1 (geometric) to 2 (Gaussian), the
geometric law is best for one round: all its losses have the same size. The more rounds and values per user,
the closer the sum of the losses is to a normal variable, and the closer the best power is to 2.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

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
from tightshuffle.dummies.laws import LARGEST_MEAN, MOST_NUMBERS, Law, cut_power, poisson
from tightshuffle.gaussian import exact_scale
from tightshuffle.numerics.roots import least_whole
from tightshuffle.points import LARGEST_N_OF_UPPER, LARGEST_ROUNDS, check_guarantee

POWERS = (1.0, 1.25, 1.5, 1.75, 2.0)
_CLOSE = 1.003  # an error over the least one, from which on fewer dummies count
_WIDER = (1.001, 1.002, 1.004, 1.008, 1.02, 1.05, 1.15, 1.4)  # scales over the smallest that are tried
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
) -> Law:
    """The cut law with the fewest dummies per value, for a guarantee and an error. Only shufflers can add it.

    ``eps`` > 0; ``delta`` in (0, 1), or ``log10_delta`` < 0 instead; others as for `HiddenByDummies`.
    ``absolute_error``: of a value's count, at most; by default 0.3 % more than the least that cut laws reach.
    ValueError names a bad argument; also if no law of the family has so small an error.
    """
    asked = _Asked.checked(eps, delta, log10_delta, values_per_user, rounds, neighbours)
    least = _least_deviations(asked)
    errors = {power: _error(power, deviation) for power, deviation in least.items()}
    most = _CLOSE * min(errors.values())
    if absolute_error is not None:
        most = float(check_one("absolute_error", check_positive("absolute_error", absolute_error)))
    tried: list[tuple[int, float, float]] = []
    for power, smallest in least.items():
        widest = most / errors[power]
        for times in sorted({*(x for x in _WIDER if x < widest), widest} if widest >= 1 else ()):
            deviation = smallest * times
            tried.append((asked.end(power, deviation, asked.ln_delta), power, deviation))
    if not tried:
        raise ValueError(f"absolute_error must be above {min(errors.values()):.6g}; got {most:g}")

    # The ends get less than delta, so that no law has a smaller mean than the one in its tuple.
    best: tuple[int, float, float] | None = None
    for fewest in sorted(tried):
        if best is not None and fewest > best:
            break
        _, power, deviation = fewest
        left = asked.surplus_uncut(power, deviation)
        if left < 0:
            mean = asked.end(power, deviation, asked.ln_delta + math.log(-math.expm1(left)))
            best = min(best or (mean, power, deviation), (mean, power, deviation))
    if best is None:
        raise ValueError(f"absolute_error must be above {min(errors.values()):.6g}; got {most:g}")
    mean, power, deviation = best
    enough = least_whole(
        functools.cache(lambda whole: asked.surplus(power, whole, deviation, rough=True)),
        guess=mean,
        least=1,
        most=MOST_NUMBERS // 2,
    )
    if enough is None:
        raise _too_many(asked.eps)
    while asked.surplus(power, enough, deviation) > 0:  # a rough bound is not always above the other one
        enough += math.ceil(enough / 1000)
    surplus = functools.partial(asked.surplus, power, enough)
    smallest = _smallest(surplus, deviation, asked.slope, high=deviation)
    unit = 10.0 ** (math.floor(math.log10(smallest)) + 1 - _DIGITS)
    rounded = float(f"{math.ceil(smallest / unit) * unit:.{_DIGITS}g}")
    return cut_power(enough, power, rounded if asked.surplus(power, enough, rounded) <= 0 else deviation)


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

    ``devices`` add dummies, 1 for the shuffler; the shares of ``colluding`` devices do not count (below 1 it
    is a share of them). ``values_per_user`` per device and round, at most; other parameters and errors as for
    `best_cut_law`. Devices without reports add dummies too.
    """
    asked = _Asked.checked(eps, delta, log10_delta, values_per_user, rounds, neighbours)
    devices = check_whole("devices", devices, 1, int(LARGEST_N_OF_UPPER))
    honest = devices - int(check_one("colluding", check_colluding(colluding, devices)))
    guess = asked.gaussian**2
    if _SPARE * guess > LARGEST_MEAN:
        raise _too_many(asked.eps)
    # The mean is the square of a deviation.
    return _smallest(lambda mean: asked.surplus_of(poisson(mean)), guess, asked.slope / 2) / honest


@dataclass(frozen=True)
class _Asked:
    """A checked guarantee, with the natural log of delta, and what a law has to do for it."""

    eps: float
    ln_delta: float
    values: int
    rounds: int
    neighbours: str

    @classmethod
    def checked(
        cls,
        eps: float,
        delta: float | None,
        log10_delta: float | None,
        values: int,
        rounds: int,
        neighbours: str,
    ) -> "_Asked":
        """The arguments; ValueError names a bad one."""
        wanted = check_one("delta", check_log10_delta(delta, log10_delta))
        if wanted < _SMALLEST_DELTA:
            raise ValueError(
                f"delta must be at least 1e{_SMALLEST_DELTA:g} for dummies of a law; got log10 delta ="
                f" {wanted:g}"
            )
        values, rounds = check_whole("values_per_user", values, 1), check_whole("rounds", rounds, 1)
        check_at_most("values_per_user * rounds", np.asarray(values * rounds), LARGEST_ROUNDS)
        check_choice("neighbours", neighbours, NEIGHBOURS)
        return cls(check_guarantee(eps), wanted * _LN10, values, rounds, neighbours)

    @property
    def counts(self) -> int:
        """How many counts change."""
        return self.values * self.rounds * (2 if self.neighbours == "replace" else 1)

    @property
    def gaussian(self) -> float:
        """The standard deviation of the central Gaussian mechanism if so many counts change by 1."""
        return float(
            exact_scale(self.eps, log10_delta=self.ln_delta / _LN10, sensitivity=math.sqrt(self.counts))
        )

    def guess(self, power: float) -> float:
        """About the deviation of a law that is not cut, with the guarantee."""
        return self.gaussian * math.sqrt(_information(power) if self.counts >= _MANY else power / 2)

    @property
    def slope(self) -> float:
        """About by how much ln delta falls where a deviation grows by a factor of e: the Gaussian's."""
        deltas = self.ln_delta * np.array([1.0, 1 + _NEIGHBOUR])
        scales = exact_scale(self.eps, log10_delta=deltas / _LN10)
        return float(np.diff(-deltas)[0] / np.diff(np.log(scales))[0])

    def surplus_of(self, law: Law, rough: bool = False) -> float:
        """ln of delta over the wanted delta."""
        bound = HiddenByDummies(law, self.values, self.rounds, self.neighbours, rough=rough)
        return float(bound.ln_delta(np.array([self.eps]))[0] - self.ln_delta)

    def surplus(self, power: float, mean: int, deviation: float, rough: bool = False) -> float:
        """`surplus_of` a cut law."""
        return max(self.surplus_of(cut_power(mean, power, deviation), rough), -10.0)

    def surplus_uncut(self, power: float, deviation: float) -> float:
        """About `surplus` of a law whose ends hardly count."""
        mean = self.end(power, deviation, self.ln_delta + math.log(_RARE))
        return self.surplus(power, mean, deviation, rough=True)

    def end(self, power: float, deviation: float, infinite: float) -> int:
        """The mean at which the numbers 0 and twice the mean have this ln of their probability in all."""
        # P(0) = exp(-(mean / deviation)^power / power) over about an integral
        integral = 2 * deviation * power ** (1 / power) * math.gamma(1 + 1 / power)
        rare = math.log(self.counts / integral) - infinite
        reach: float = deviation * (power * max(rare, 0.0)) ** (1 / power)
        if 2 * reach > MOST_NUMBERS:
            raise _too_many(self.eps)
        return max(1, math.ceil(reach))


@functools.lru_cache(maxsize=16)
def _least_deviations(asked: _Asked) -> dict[float, float]:
    """For each power the smallest deviation with the guarantee if the law is hardly cut."""
    guesses = {power: asked.guess(power) for power in POWERS}
    for power, guess in guesses.items():  # too small an eps fails at once
        asked.end(power, guess, asked.ln_delta + math.log(_RARE))
    return {
        power: _smallest(functools.partial(asked.surplus_uncut, power), guess, asked.slope)
        for power, guess in guesses.items()
    }


def _information(power: float) -> float:
    """The Fisher information of the density ~ exp(-|x|^power / power) about its place.

    It is the variance of a wide law's loss, over that of the Gaussian with the same deviation.
    """
    ratio = math.gamma(2 - 1 / power) / math.gamma(1 / power)
    return float(power ** (2 - 2 / power) * ratio)


def _too_many(eps: float) -> ValueError:
    return ValueError(f"eps must be larger: too many dummies per value are needed; got {eps:g}")


def _smallest(surplus: Callable[[float], float], guess: float, slope: float, high: float = math.inf) -> float:
    """The smallest x with a surplus of at most 0, rounded up by 1e-6; ``high``, if given, has one.

    ``slope``, > 0: about by how much the surplus falls where x grows by a factor of e. The closer ``guess``
    and ``slope`` are, the fewer evaluations it takes: five where both are good.
    """

    @functools.cache
    def at(log_x: float) -> float:
        return surplus(math.exp(log_x))

    near = math.log(guess)
    enough = at(near) <= 0
    step = min(_BEYOND * max(abs(at(near)) / slope, _SHORTEST_STEP), _LONGEST_STEP)
    far = near - step if enough else near + step
    while (at(far) <= 0) == enough:
        step = min(2 * step, _LONGEST_STEP)
        near, far = far, far - step if enough else far + step
    log_low, log_high = sorted((near, far))

    root = scipy.optimize.brentq(at, log_low, log_high, xtol=1e-6, rtol=1e-12)
    smallest = math.exp(root + 1e-6)
    while surplus(smallest) > 0:
        smallest *= 1 + 1e-6
    return min(smallest, math.exp(log_high), high)


def _error(power: float, deviation: float) -> float:
    """The mean absolute error of a law that is not cut."""
    mean = math.ceil(deviation * (power * 30.0) ** (1 / power))
    return cut_power(mean, power, deviation).absolute_error
