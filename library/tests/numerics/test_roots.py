"""Searches for the zero of a falling function, against zeros that are known, and trying every number."""

import math

import pytest

from tightshuffle.numerics.roots import interval_with_root, least_enough, least_whole


@pytest.mark.parametrize("zero", [-40.0, -3.0, -1e-9, 0.0, 2.0, 2.5, 77.7, 1000.0])
@pytest.mark.parametrize("start", [-50.0, 0.0, 2.5, 1000.0])
def test_an_interval_holds_the_zero(zero, start):
    """The function is above 0 at the first end and enough at the second, for a zero on any side of the start.

    Both are neighbours in steps of 1, 2, 4, ... from the start, so that the interval is no longer than the
    distance of the zero from the start and 1.
    """
    low, high = interval_with_root(lambda x: zero - x, start, step=1.0)
    assert low < zero <= high
    assert high - low <= 1 + abs(zero - start)


def test_steps_end_where_they_have_to():
    """Arguments that are tried stay within the limits, and no step is longer than the longest."""
    tried = []

    def above(x):
        tried.append(x)
        return 1.0

    assert interval_with_root(above, 0.0, step=1.0, most=9.0, largest_step=3.0) is None
    assert list(dict.fromkeys(tried)) == [0.0, 1.0, 3.0, 6.0, 9.0]
    # Enough everywhere: the least argument is. Not a number is not enough.
    assert interval_with_root(lambda x: -1.0, 5.0, step=1.0, least=-2.0) == (-2.0, -2.0)
    assert interval_with_root(lambda x: math.nan, 0.0, step=1.0, most=9.0) is None


CURVES = {  # functions that fall and are 0 at 2 / 3
    "line": lambda x: 2 / 3 - x,
    "flat": lambda x: (2 / 3 - x) ** 5,
    "logarithm, -inf from 0.8 on": lambda x: math.log(2 / (3 * x)) if x < 0.8 else -math.inf,
    "inf up to 0.5": lambda x: 2 / 3 - x if x > 0.5 else math.inf,
    "jump": lambda x: 1.0 if x < 2 / 3 else -1.0,
    "from inf to -inf": lambda x: math.inf if x < 2 / 3 else -math.inf,
    "nan up to 0.5": lambda x: 2 / 3 - x if x > 0.5 else math.nan,
}


@pytest.mark.parametrize("tolerance", [1e-3, 1e-9])
@pytest.mark.parametrize("curve", CURVES)
def test_the_least_argument_is_enough_and_no_smaller_one_is(curve, tolerance):
    """The function is at most 0 at the result, which is above the zero by the tolerance at most."""
    found = least_enough(CURVES[curve], 0.1, 3.0, tolerance=tolerance)
    assert CURVES[curve](found) <= 0
    assert 2 / 3 - 1e-15 <= found <= 2 / 3 + 2 * tolerance


def test_the_result_is_enough_where_the_search_ends_just_below_the_zero():
    """A search on a jagged function, which is enough on the upper half of every step, ends where it is."""

    def jagged(x):
        return 1.0 - x + 0.3 * (1 if (x * 64) % 1 < 0.5 else -1)

    for low in (0.1, 0.2, 0.3, 0.4, 0.5):
        assert jagged(least_enough(jagged, low, 3.0, tolerance=1e-6)) <= 0


@pytest.mark.parametrize("precision", [1e-1, 1e-3])
@pytest.mark.parametrize("zero", [3.5, 64.0, 5712.3, 88888.0, 1e11])
def test_a_number_of_limited_precision(zero, precision):
    """It is larger than the smallest by the precision at most; near the end of the search, too."""

    def ln_surplus(n):
        return 8 * math.log(zero / n)

    found = least_whole(ln_surplus, guess=30 * zero, least=1, most=10**12, precision=precision)
    assert math.ceil(zero) <= found <= math.ceil(zero) * (1 + precision)


@pytest.mark.parametrize("zero", [3, 4, 17.5, 999, 1000, 1000.5])
@pytest.mark.parametrize("guess", [0.1, 5, 18, 1e9])
def test_the_least_whole_number(zero, guess):
    """`least_whole` is the first n from 3 to 1000 at which a falling function is 0 or less, or None.

    The function is 0 at ``zero``. The expected n is found by trying every one. ``calls`` has the n at which
    the function was called: 18 at most, far fewer than 60.
    """
    calls = []

    def function(n):
        calls.append(n)
        return (zero - n) ** 3

    wanted = next((n for n in range(3, 1001) if zero - n <= 0), None)
    assert least_whole(function, guess=guess, least=3, most=1000) == wanted
    assert len(calls) < 60


@pytest.mark.parametrize(
    ("zero", "guess"), [(5712.3, 5709), (421.4, 357), (6458.3, 5577), (1e9, 1.1e9)]
)
def test_a_good_guess_takes_few_evaluations(zero, guess):
    """Next to a good ``guess``, `least_whole` has in ten calls the first n with ``ln_surplus`` at most 0.

    The logarithm falls with n like that of n^-8, and is 0 next to ``zero``.
    """
    calls = []

    def ln_surplus(n):
        calls.append(n)
        return 8 * math.log(zero / n) + 1e-3

    found = least_whole(ln_surplus, guess=guess, least=1, most=10**12)
    assert len(calls) <= 10
    assert ln_surplus(found) <= 0 < ln_surplus(found - 1)
