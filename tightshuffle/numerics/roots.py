"""Root of a function, of reals or of whole numbers.

Without scipy.optimize, whose import takes longer than most computations here.
"""

import math
from collections.abc import Callable

_MOST = 100  # evaluations; halving alone needs fewer for the tolerances of this package


def find_root(
    function: Callable[[float], float], low: float, high: float, *, xtol: float, rtol: float = 2.0**-50
) -> float:
    """The root of a continuous ``function`` between ``low`` and ``high``, where its signs differ.

    Brent's method (1973, chapter 4): the secant or the inverse parabola through the last three points; and
    bisection where the interval does not shrink fast enough. The error is at most ``xtol`` + ``rtol`` times
    the result, and every digit is that of `scipy.optimize.brentq`. Raises ValueError for equal signs, and
    RuntimeError after 100 evaluations.
    """
    before, x = float(low), float(high)
    at_before, value = function(before), function(x)
    if at_before == 0 or value == 0:
        return before if at_before == 0 else x
    if (at_before > 0) == (value > 0):
        raise ValueError(f"the function must have different signs at {low} and {high}")
    other = at_other = step = earlier = (
        0.0  # ``other`` is the end of the interval in which the root is with x
    )
    for _ in range(_MOST):
        if (at_before > 0) != (value > 0):
            other, at_other, step, earlier = before, at_before, x - before, x - before
        if abs(at_other) < abs(value):
            before, x, other = x, other, x
            at_before, value, at_other = value, at_other, value
        tolerance, half = (xtol + rtol * abs(x)) / 2, (other - x) / 2
        if value == 0 or abs(half) < tolerance:
            return x
        proposed = None
        if abs(earlier) > tolerance and abs(value) < abs(at_before):
            if before == other:
                proposed = -value * (x - before) / (value - at_before)
            else:
                slope, across = (at_before - value) / (before - x), (at_other - value) / (other - x)
                bent = at_other * across - at_before * slope
                proposed = -value * bent / (across * slope * (at_other - at_before))
        if proposed is not None and 2 * abs(proposed) < min(abs(earlier), 3 * abs(half) - tolerance):
            earlier, step = step, proposed
        else:
            earlier = step = half
        before, at_before = x, value
        x += step if abs(step) > tolerance else tolerance if half > 0 else -tolerance
        value = function(x)
    raise RuntimeError(f"no root found in {_MOST} steps between {low} and {high}")


def least_whole(function: Callable[[int], float], *, guess: float, least: int, most: int) -> int | None:
    """The smallest whole number from ``least`` to ``most`` at which ``function``, which falls, is at most 0.

    None where it is above 0 at ``most``. The search starts at ``guess``, and ends at a number with which the
    function is at most 0 while it is above 0 at the number before.
    """
    low = high = max(least, math.ceil(min(guess, most)))
    factor = 1.2
    while function(high) > 0:
        if high == most:
            return None
        low, high, factor = high, min(math.ceil(high * factor), most), factor**2
    while low > least and function(low) <= 0:
        low, high, factor = max(int(low / factor), least), low, factor**2
    if function(low) <= 0:
        return low
    found = round(find_root(lambda number: function(round(number)), low, high, xtol=0.5))
    while function(found) > 0:
        found += 1
    while function(found - 1) <= 0:
        found -= 1
    return found
