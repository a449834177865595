"""Numbers as captions and the report write them."""

import math

import pytest

from scripts.shared.wording import span, typeset, with_powers
from tightshuffle.number_text import from_log10
from tightshuffle.numerics.side import Side

TEXTS = [  # a text that is made, and what it should be
    (typeset(0), "0"),
    (typeset(1234), "1,234"),
    (typeset("1000000000"), "10⁹"),
    (typeset(999_999_999), "999,999,999"),
    (typeset(99.7), "100"),
    (typeset(1236.5), "1,236"),
    (typeset("0.001"), "0.001"),
    (typeset(0.0009996), "10⁻³"),
    (typeset("2.34567e-9", 4), "2.346×10⁻⁹"),
    (typeset(2.5e-7), "2.5×10⁻⁷"),
    (typeset(2.51e-7, side=Side.UPPER), "2.6×10⁻⁷"),
    (typeset("0.0339", side=Side.LOWER), "0.033"),
    (typeset(from_log10(-30)), "10⁻³⁰"),
    (typeset(from_log10(-1234567.8)), "1.6×10⁻¹²³⁴⁵⁶⁸"),
    (typeset(math.inf, side=Side.UPPER), "inf"),
    (
        with_powers("delta 2.49E-15, 1e6, 1.0e-3 and x1e5"),
        "delta 2.49×10⁻¹⁵, 10⁶, 1.0×10⁻³ and x1e5",
    ),
    (span([2, 0.5, 1]), "0.5 to 2"),
    (span([1.0001, 1.0002], "{:.2f}".format), "1.00"),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_texts(text, expected):
    assert text == expected
