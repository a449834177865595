"""Where a falling function gets to 0: the one place of the package's searches for a bracket and a root.

A function is enough at an argument if it is at most 0 there; nan is not enough. Every function here falls, or
at least is enough from some argument on. For one that rises, search by the argument without its sign. Values
are kept, so that no argument is tried twice.
"""

import functools
import math
from collections.abc import Callable

import scipy

_LEAST_RELATIVE = 4 * 2.0**-52  # tolerance that Brent's method takes


def interval_with_root(
    function: Callable[[float], float],
    start: float,
    *,
    step: float,
    largest_step: float = math.inf,
    least: float = -math.inf,
    most: float = math.inf,
) -> tuple[float, float] | None:
    """Two arguments: the ``function``, which falls, is above 0 at the first, and at most 0 at the second.

    The search goes up from ``start`` if the function is not enough there, else down. The first step is
    ``step`` > 0. Each one is twice the last, up to ``largest_step``. The last one ends at ``least`` or
    ``most``. The result is (least, least) if the function is enough there, and None if it is not at ``most``.
    """
    low = high = min(max(start, least), most)
    if not function(low) <= 0:
        while not function(high) <= 0:
            if high == most:
                return None
            low, high = high, min(high + step, most)
            step = min(2 * step, largest_step)
        return low, high
    while function(low) <= 0:
        if low == least:
            return least, least
        low, high = max(low - step, least), low
        step = min(2 * step, largest_step)
    return low, high


def least_enough(
    function: Callable[[float], float],
    low: float,
    high: float,
    *,
    tolerance: float,
    relative: float = 0.0,
) -> float:
    """The least argument at which the ``function`` is at most 0, rounded up: it is at most 0 at the result.

    It is at most 0 at ``high``, and above 0 at ``low``, or ``low`` is the result; -inf and inf are allowed.
    The result is too large by about ``tolerance`` + ``relative`` * result, if the function is enough
    everywhere above the least argument. The search is Brent's.
    """
    function = functools.cache(function)
    if function(low) <= 0:
        return low

    # Brent's method cannot interpolate with infinities. So first the interval is halved until both ends are
    # finite.
    while not (math.isfinite(function(low)) and math.isfinite(function(high))):
        if high - low <= tolerance + relative * abs(high):
            return high
        middle = (low + high) / 2
        if function(middle) <= 0:
            high = middle
        else:
            low = middle

    relative = max(relative, _LEAST_RELATIVE)
    result = scipy.optimize.brentq(function, low, high, xtol=tolerance, rtol=relative)
    step = tolerance + relative * abs(result)
    while not function(result) <= 0:
        result = min(result + step, high)
        step *= 2
    return result


def least_whole(
    function: Callable[[int], float],
    *,
    guess: float,
    least: int,
    most: int,
    precision: float = 0.0,
) -> int | None:
    """The smallest whole number from ``least`` to ``most`` at which ``function``, which falls, is at most 0.

    The result is None where the function is above 0 at ``most``, which is at most 10^14. ``least`` is at
    least 1. The search starts at ``guess``. With a ``precision``, the result is larger than the smallest
    number by at most this share of it.
    """
    function = functools.cache(function)

    def at_logarithm(ln_number: float) -> float:
        """The function at the whole number next to e^``ln_number``."""
        return function(round(math.exp(ln_number)))

    # Factors that grow, at first 1.2.
    interval = interval_with_root(
        at_logarithm,
        math.log(max(guess, 1.0)),
        step=math.log(1.2),
        least=math.log(least),
        most=math.log(most),
    )
    if interval is None:
        return None
    low, high = (round(math.exp(end)) for end in interval)
    if function(low) <= 0:
        return low

    # A rounded argument is enough from half a unit below the smallest number on. The search ends above that
    # by at most the tolerance. So with half a unit it still rounds to this number.
    tolerance = max(0.5, precision * low / 2)
    return round(
        least_enough(lambda number: function(round(number)), low, high, tolerance=tolerance)
    )
