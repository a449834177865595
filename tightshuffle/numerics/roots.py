"""The least whole number at which a falling function is at most 0."""

import math
from collections.abc import Callable


def least_whole(function: Callable[[int], float], *, guess: float, least: int, most: int) -> int | None:
    """The smallest whole number from ``least`` to ``most`` at which ``function``, which falls, is at most 0.

    None where it is above 0 at ``most``. The search starts at ``guess``, and ends at a number with which the
    function is at most 0 while it is above 0 at the number before.
    """
    low = high = max(least, math.ceil(min(guess, most)))
    low_value = high_value = function(high)
    factor = 1.2
    while high_value > 0:
        if high == most:
            return None
        low, low_value = high, high_value
        high = min(math.ceil(high * factor), most)
        high_value = function(high)
        factor **= 2
    while low_value <= 0 and low > least:
        high, high_value = low, low_value
        low = max(int(low / factor), least)
        low_value = function(low)
        factor **= 2
    if low_value <= 0:
        return low

    # Where the line between both ends is 0. An end that stays twice counts half (the Illinois method).
    was_above: bool | None = None
    while high - low > 1:
        share = low_value / (low_value - high_value)
        number = min(max(round(low + share * (high - low)), low + 1), high - 1)
        value = function(number)
        is_above = value > 0
        if is_above:
            low, low_value = number, value
        else:
            high, high_value = number, value
        if is_above and was_above is True:
            high_value /= 2
        if not is_above and was_above is False:
            low_value /= 2
        was_above = is_above
    return high
