"""Numbers as text: every form at its edges, and rounding that stays on its side at any depth."""

import math
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tightshuffle.number_text import e_notation, from_log10, plain, rounded
from tightshuffle.numerics.side import Side

SIDES = st.sampled_from([Side.LOWER, None, Side.UPPER])


@settings(derandomize=True)
@given(st.floats(-5000, 0), SIDES)
def test_e_notation_of_a_logarithm_rounds_to_its_side(log10, side):
    text = e_notation(from_log10(log10), 4, side=side)
    error = float(Decimal(text).log10()) - log10
    assert float(Decimal(text)) <= 1
    assert abs(error) <= (2.2e-4 if side is None else 4.4e-4) + 1e-11  # a unit of the fourth digit
    assert side is None or (error if side is Side.UPPER else -error) >= -1e-11
    assert len(text.split("e")[0].replace(".", "")) in (1, 4)


@settings(derandomize=True)
@given(st.floats(1e-12, 1e12), SIDES)
def test_plain_rounds_to_its_side(value, side):
    text = plain(value, side=side)
    error = float(text) / value - 1
    assert abs(error) <= (5.1e-6 if side is None else 1.1e-5)
    assert side is None or (error if side is Side.UPPER else -error) >= -1e-11
    assert side is not None or text == f"{value:.6g}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (plain(0.1, 4, side=Side.UPPER), "0.1"),  # the float is a hair above
        (plain(-0.12345, 2, side=Side.UPPER), "-0.12"),
        (plain(1e-7), "1e-07"),
        (plain(math.inf, side=Side.UPPER), "inf"),
        (plain("0.99996", 4, noughts=True), "1.000"),
        (plain(123.4, 2, noughts=True), "120"),
        (e_notation("2.48e-5"), "2.48e-05"),
        (e_notation(from_log10(-math.inf), 4, side=Side.UPPER), "0"),
        (e_notation(from_log10(-1e-9), 4, side=Side.UPPER), "1"),
        (e_notation(from_log10(-1e-9), 4, side=Side.LOWER), "9.999e-01"),
        (e_notation(from_log10(-567 + math.log10(1.2341)), 4, side=Side.UPPER), "1.235e-567"),
        (e_notation(from_log10(-1e11), 4, side=Side.LOWER), "1.000e-100000000000"),
    ],
)
def test_text_of_a_number(text, expected):
    assert text == expected


def test_numbers_from_logarithms():
    assert from_log10(math.log10(2.5) - 400) == Decimal("2.5e-400")
    assert rounded("9.9991", 4, side=Side.UPPER) == 10
    for log10 in (math.nan, math.inf):
        with pytest.raises(ValueError, match="log10 of a value must be finite or -inf"):
            from_log10(log10)
