"""The least whole number at which a falling function is at most 0."""

import functools
import math
from collections.abc import Callable

import scipy


def least_whole(
    function: Callable[[int], float], *, guess: float, least: int, most: int
) -> int | None:
    """The smallest whole number from ``least`` to ``most`` at which ``function``, which falls, is at most 0.

    The result is None where the function is above 0 at ``most``. The search starts at ``guess``. It ends at a
    number at which the function is at most 0, while the function is above 0 at the number before.
    """
    function = functools.cache(function)
    # Steps that grow, upwards until the function is at most 0, or downwards until it is above.
    low = high = max(least, math.ceil(min(guess, most)))
    factor = 1.2
    while function(high) > 0:
        if high == most:
            return None
        low, high = high, min(math.ceil(high * factor), most)
        factor **= 2
    while low > least and function(low) <= 0:
        low, high = max(int(low / factor), least), low
        factor **= 2
    if function(low) <= 0:
        return low

    # Brent's method on the rounded argument ends next to the number, which two loops then find.
    root = scipy.optimize.brentq(lambda number: function(round(number)), low, high, xtol=0.5)
    number = round(root)
    while function(number) > 0:
        number += 1
    while function(number - 1) <= 0:
        number -= 1
    return number
