"""The least whole number, against trying every one."""

import pytest

from tightshuffle.numerics.roots import least_whole


@pytest.mark.parametrize("zero", [3, 4, 17.5, 999, 1000, 1000.5])
@pytest.mark.parametrize("guess", [0.1, 5, 18, 1e9])
def test_the_least_whole_number(zero, guess):
    calls = []

    def function(n):
        calls.append(n)
        return (zero - n) ** 3

    wanted = next((n for n in range(3, 1001) if zero - n <= 0), None)
    assert least_whole(function, guess=guess, least=3, most=1000) == wanted
    assert len(calls) < 60
