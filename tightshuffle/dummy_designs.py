"""The best law of dummies for a guarantee, if users send their values as they are.

Of the cut laws P(z) ~ exp(-|z - mean|^power / s), with powers from 1 (geometric) to 2 (Gaussian), the
geometric law is best for one round: all its losses have the same size. The more rounds and values per user,
the closer the sum of the losses is to a normal variable, and the closer the best power is to 2.
"""

import functools
import math
from collections.abc import Callable

import numpy as np
import scipy

from tightshuffle.arguments import (
    check_choice,
    check_colluding,
    check_log10_delta,
    check_one,
    check_positive,
    check_whole,
)
from tightshuffle.bounds.dummies import NEIGHBOURS, HiddenByDummies
from tightshuffle.dummy_laws import Law, cut_power, poisson
from tightshuffle.gaussian import exact_scale
from tightshuffle.setting import LARGEST_N_OF_UPPER

POWERS = (1.0, 1.25, 1.5, 1.75, 2.0)
_CLOSE = 1.003  # an error over the least one, from which on fewer dummies count
_WIDER = (1.001, 1.002, 1.004, 1.008, 1.02, 1.05, 1.15, 1.4)  # scales over the smallest that are tried
_RARE = 1e-6  # of delta: the ends of a law that counts as not cut
_DIGITS = 5  # of the deviation
_LN10 = math.log(10)


def best_cut_law(
    eps: float,
    delta: float | None = None,
    *,
    log10_delta: float | None = None,
    values: int = 1,
    rounds: int = 1,
    neighbours: str = "replace",
    absolute_error: float | None = None,
) -> Law:
    """The cut law with the fewest dummies per value, for a guarantee and an error. Only shufflers can add it.

    ``eps`` > 0; ``delta`` in (0, 1), or ``log10_delta`` < 0 instead; others as for `HiddenByDummies`.
    ``absolute_error``: of a value's count, at most; by default 0.3 % more than the least that cut laws reach.
    ValueError names a bad argument; also if no law of the family has so small an error.
    """
    eps, wanted, counts = _checked(eps, delta, log10_delta, values, rounds, neighbours)

    def surplus(power: float, mean: int, deviation: float) -> float:
        law = cut_power(mean, power, deviation)
        bound = HiddenByDummies(law, values, rounds, neighbours)
        return float(max(bound.ln_delta(np.array([eps]))[0] - wanted, -10.0))

    def end(power: float, deviation: float, infinite: float) -> int:
        """The mean at which the numbers 0 and twice the mean have this ln of their probability in all."""
        # P(0) = exp(-(mean / deviation)^power / power) over about an integral
        integral = 2 * deviation * power ** (1 / power) * math.gamma(1 + 1 / power)
        rare = math.log(counts / integral) - infinite
        reach: float = deviation * (power * max(rare, 0.0)) ** (1 / power)
        return max(1, math.ceil(reach))

    def uncut(power: float, deviation: float) -> float:
        return surplus(power, end(power, deviation, wanted + math.log(_RARE)), deviation)

    sigma = _gaussian(eps, wanted, counts)
    least: dict[float, float] = {}
    for power in POWERS:
        least[power] = _smallest(functools.partial(uncut, power), sigma * (power / 2) ** 0.5)
    errors = {power: _error(power, deviation) for power, deviation in least.items()}
    most = _CLOSE * min(errors.values())
    if absolute_error is not None:
        most = float(check_one("absolute_error", check_positive("absolute_error", absolute_error)))
    tried: list[tuple[int, float, float]] = []
    for power, smallest in least.items():
        widest = most / errors[power]
        for times in sorted({*(x for x in _WIDER if x < widest), widest} if widest >= 1 else ()):
            deviation = smallest * times
            surplus_left = uncut(power, deviation)
            if surplus_left < 0:
                infinite = wanted + math.log(-math.expm1(surplus_left))
                tried.append((end(power, deviation, infinite), power, deviation))
    if not tried:
        raise ValueError(f"absolute_error must be above {min(errors.values()):.6g}; got {most:g}")
    mean, power, deviation = min(tried)
    while surplus(power, mean, deviation) > 0:
        mean += 1
    while mean > 1 and surplus(power, mean - 1, deviation) <= 0:
        mean -= 1
    smallest = _smallest(functools.partial(surplus, power, mean), deviation, deviation)
    unit = 10.0 ** (math.floor(math.log10(smallest)) + 1 - _DIGITS)
    rounded = float(f"{math.ceil(smallest / unit) * unit:.{_DIGITS}g}")
    return cut_power(mean, power, rounded if surplus(power, mean, rounded) <= 0 else deviation)


def smallest_poisson_mean(
    eps: float,
    delta: float | None = None,
    *,
    log10_delta: float | None = None,
    devices: int = 1,
    colluding: float = 0,
    values: int = 1,
    rounds: int = 1,
    neighbours: str = "replace",
) -> float:
    """The smallest mean of the Poisson number of dummies that each device adds for every value, rounded up.

    ``devices`` add dummies, 1 for the shuffler; the shares of ``colluding`` devices do not count (below 1 it
    is a share of them). ``values`` per device and round, at most; other parameters and errors as for
    `best_cut_law`. Devices without reports add dummies too.
    """
    eps, wanted, counts = _checked(eps, delta, log10_delta, values, rounds, neighbours)
    devices = check_whole("devices", devices, 1, int(LARGEST_N_OF_UPPER))
    honest = devices - int(check_one("colluding", check_colluding(colluding, devices)))

    def surplus(mean: float) -> float:
        bound = HiddenByDummies(poisson(mean), values, rounds, neighbours)
        return float(bound.ln_delta(np.array([eps]))[0] - wanted)

    return _smallest(surplus, _gaussian(eps, wanted, counts) ** 2) / honest


def _checked(
    eps: float,
    delta: float | None,
    log10_delta: float | None,
    values: int,
    rounds: int,
    neighbours: str,
) -> tuple[float, float, int]:
    """eps, the natural log of delta, and how many counts change."""
    wanted = check_one("delta", check_log10_delta(delta, log10_delta))
    times = check_whole("values", values, 1) * check_whole("rounds", rounds, 1)
    check_choice("neighbours", neighbours, NEIGHBOURS)
    counts = times * (2 if neighbours == "replace" else 1)
    return check_one("eps", check_positive("eps", eps)), wanted * _LN10, counts


def _gaussian(eps: float, ln_delta: float, counts: int) -> float:
    """The standard deviation of the central Gaussian mechanism if so many counts change by 1."""
    return float(exact_scale(eps, log10_delta=ln_delta / _LN10, sensitivity=math.sqrt(counts)))


def _smallest(surplus: Callable[[float], float], guess: float, high: float = math.inf) -> float:
    """The smallest x with a surplus of at most 0, rounded up by 1e-6; ``high``, if given, has one."""
    low = min(guess, high / 1.01)
    if high == math.inf:
        high = guess
        while surplus(high) > 0:
            low, high = high, 1.1 * high
    low = min(low, high / 1.02)
    while surplus(low) <= 0:
        low, high = low / 1.1, low
    root = scipy.optimize.brentq(
        lambda x: surplus(math.exp(x)), math.log(low), math.log(high), xtol=1e-6, rtol=1e-12
    )
    found = math.exp(root + 1e-6)
    while surplus(found) > 0:
        found *= 1 + 1e-6
    return min(found, high)


def _error(power: float, deviation: float) -> float:
    """The mean absolute error of a law that is not cut."""
    mean = math.ceil(deviation * (power * 30.0) ** (1 / power))
    return cut_power(mean, power, deviation).absolute_error
