"""The searches of plans: the fewest users or dummies with a guarantee, and the largest eps0 that has it."""

import functools
import math
from collections.abc import Callable

from tightshuffle.numerics.roots import interval_with_root, least_enough, least_whole
from tightshuffle.points import LARGEST_N_OF_UPPER

# A surplus is ln of delta over its target. A search takes any smaller one, also -inf, for this.
_LEAST_SURPLUS = -2e3
_FIRST_STEP = 0.01  # of eps0, relative to the guess
_PRECISION_OF_LEAST_EPS0 = 1e-9  # relative


def fewest(
    ln_delta_of: Callable[[int], float],
    target_ln_delta: float,
    *,
    guess: float,
    least: int,
    precision: float = 0.0,
    of: str = "users",
    culprit: str = "eps or delta",
) -> int:
    """The fewest users, or whatever the number is ``of``, with at most the target delta; at least ``least``.

    ``ln_delta_of`` is a function from a number of them, and ``guess`` where the search starts. With a
    ``precision`` the result may be too large by this share of it, or by 1. ValueError, which names the
    ``culprit``, if 10^12 of them are too few.
    """
    most = int(LARGEST_N_OF_UPPER)
    number = least_whole(
        lambda number: _surplus(ln_delta_of(number), target_ln_delta),
        guess=guess,
        least=least,
        most=most,
        precision=precision,
    )
    if number is None:
        raise ValueError(f"{culprit} must be larger: even {most:.0e} {of} are too few")
    return number


def _surplus(ln_delta: float, target_ln_delta: float) -> float:
    """ln of delta over its target, at least `_LEAST_SURPLUS`."""
    return max(ln_delta - target_ln_delta, _LEAST_SURPLUS)


def largest_eps0_with_guarantee(
    ln_delta_of: Callable[[float], float],
    target_ln_delta: float,
    *,
    guess: float,
    least: float,
    most: float,
    precision: float,
) -> float:
    """The largest eps0 from ``least`` to ``most`` with at most the target delta, to a relative ``precision``.

    ``ln_delta_of`` is a function of eps0. It grows, and is at most the target at ``least``. The search
    starts at ``guess``.

    A bound has an error of about 0.01 % of delta, so that a root between two eps0 proves nothing. So the
    result is the largest one of the eps0 that were tried and have the guarantee.
    """
    enough = {least}  # every eps0 that was tried and has the guarantee

    @functools.cache
    def surplus_of_minus(minus_eps0: float) -> float:
        """The surplus at an eps0 that thereby has been tried. It falls with the argument, -eps0."""
        eps0 = -minus_eps0
        surplus = _surplus(ln_delta_of(eps0), target_ln_delta)
        if surplus <= 0:
            enough.add(eps0)
        return surplus

    start = min(max(guess, least), most)
    interval = interval_with_root(
        surplus_of_minus, -start, step=_FIRST_STEP * start, least=-most, most=-least
    )
    assert interval is not None  # ``least`` has the guarantee
    low, high = interval
    if low < high:
        # Only what this tries on its way to the root is used.
        least_enough(surplus_of_minus, low, high, tolerance=-precision * high, relative=precision)
    return max(enough)


def least_eps0(is_enough: Callable[[float], bool], least: float, most: float) -> float:
    """The smallest eps0 in [``least``, ``most``] that ``is_enough``, rounded up by 1e-9 of it at most.

    It is inf where none is enough. Every eps0 that is larger than one that is enough must be enough, too.
    """

    def missing(eps0: float) -> float:
        """-inf where eps0 is enough, else inf: so the search halves its interval."""
        return -math.inf if is_enough(eps0) else math.inf

    if not is_enough(most):
        return math.inf
    return least_enough(missing, least, most, tolerance=0.0, relative=_PRECISION_OF_LEAST_EPS0)
