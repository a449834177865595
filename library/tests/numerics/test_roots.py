"""The least whole number, against trying every one."""

import math

import pytest

from tightshuffle.numerics.roots import least_whole


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
