"""The rules of the verdicts on printed values."""

from decimal import Decimal
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.paper.values.judgement import digits_verdict, judge_draw, judge_number
from scripts.shared.printed import parse_tolerance, printed_to_decimal, read_values
from tests import ROOT
from tightshuffle.number_text import from_log10

DRAW = {"kind": "random", "tolerance": "central 99 %", "mechanism": "gaussian"}


def test_printed_characters_keep_their_digits():
    """1. A printed number becomes an exact Decimal with all digits: as_tuple is (sign, digits, exponent).

    2. A text that is no number as the paper prints them is refused. 3. So is a tolerance, unless it is like
    "digits or 5 %" or like "central 99 %", with a share above 0 and below 100 %.
    """
    for printed, digits, exponent in (
        ("6.580E-7", (6, 5, 8, 0), -10),
        ("123,108", (1, 2, 3, 1, 0, 8), 0),
    ):
        assert printed_to_decimal(printed).as_tuple() == (0, digits, exponent)
    for wrong in ("", "-1", "1.", ".5", "12,34", "1e", "nan", " 1", "1_000"):
        with pytest.raises(ValueError, match="printed must be a number"):
            printed_to_decimal(wrong)
    for wrong in ("", "digits", "digits or 5%", "central 0 %", "central 100 %"):
        with pytest.raises(ValueError, match="tolerance must be"):
            parse_tolerance(wrong)


@pytest.mark.parametrize(
    ("printed", "value", "verdict"),
    [
        ("12E-4", "0.00124", "same digits"),  # cut off and rounded alike
        ("12E-4", "0.00129", "same digits"),  # cut off
        ("12E-4", "0.00116", "same digits"),  # rounded up
        ("12E-4", "0.00114999", "close"),  # rounds to 11; 4.2 % away
        ("12E-4", "0.00130", "differs"),
        ("6.580E-7", "6.58445E-7", "close"),  # the printed fourth digit counts
        ("0", "0", "same digits"),
        ("0", "1E-400", "differs"),  # only 0 is 0
        ("1.00E-400", "1.004E-400", "same digits"),
        ("1.00E-400", "0", "differs"),
        ("100", "105", "close"),  # the border of 5 % belongs to close
        ("100", "105.001", "differs"),
        ("1E-9", "1E10", "differs"),  # far more digits than a Decimal's context holds
        ("2.50E-1", from_log10(np.log10(0.25)), "same digits"),
        # 0.7 - 1e-16, cut off 0.6: noise of floats costs no digit.
        ("0.7", 0.1 + 0.6, "same digits"),
    ],
)
def test_digits_verdict(printed, value, verdict):
    assert digits_verdict(printed, Decimal(value)) == verdict
    row = {"kind": "deterministic", "tolerance": "digits or 10 %", "printed": "100"}
    assert judge_number(row, Decimal(108)).verdict == "close"  # the row's own tolerance


@given(
    st.integers(10**11, 10**12 - 1),
    st.integers(-500, 50),
    st.integers(1, 6),
    st.sampled_from(["ROUND_HALF_UP", "ROUND_DOWN"]),
)
def test_rounding_and_cutting_off_are_exact_and_two_units_more_are_not(
    number, exponent, digits, rounding
):
    value = Decimal(number).scaleb(exponent)
    last = Decimal(1).scaleb(value.adjusted() - digits + 1)
    whole = (value / last).to_integral_value(rounding)
    assert digits_verdict(f"{int(whole)}E{last.adjusted()}", value) == "same digits"
    off = (int((value / last).to_integral_value("ROUND_DOWN")) + 2) * last
    near = abs(value - off) <= Decimal("0.05") * off
    assert digits_verdict(str(off), value) == ("close" if near else "differs")


def test_a_draw_is_judged_by_the_central_part_of_ours():
    """A printed random error is consistent if it lies in the central part of ``sample``, our own draws.

    `DRAW` is such an error of the Gaussian, with the tolerance "central 99 %". The judgement's fields are
    texts: the verdict, the ends low and high of the central part, the quantile of the printed number in our
    sample, reproduced (our median), and exact.
    """
    sample = np.arange(1, 1001) / 1000
    # The quantiles 0.005 and 0.995 of 1000 points, as numpy interpolates: 0.001 + 0.999 * 0.005, and so on.
    inside = judge_draw({**DRAW, "printed": "0.25"}, sample)
    assert (inside.verdict, inside.low, inside.high) == ("consistent", "5.99500e-3", "9.95005e-1")
    assert inside.quantile == "0.2495"  # 249 of 1000 are smaller, and one is equal
    assert (inside.reproduced, inside.exact) == ("5.00500e-1", "")  # the median; no exact Gaussian
    # The Gaussian's errors hang on how delta is computed. Those of shuffle+INV do not: they are exact.
    shuffled = judge_draw({**DRAW, "mechanism": "shuffle+INV", "printed": "0.25"}, sample)
    assert shuffled.exact == shuffled.reproduced
    # Printed numbers on both sides of either end of the central part.
    verdicts = {
        "5E-3": "inconsistent",
        "6E-3": "consistent",
        "0.995": "consistent",
        "0.996": "inconsistent",
    }
    for printed, verdict in verdicts.items():
        assert judge_draw({**DRAW, "printed": printed}, sample).verdict == verdict


def test_a_draw_that_is_often_0_counts_ties_half():
    """An estimate that the projection puts to 0 often has the error 0."""
    errors = np.array([0, 0, 0, 0.5])
    assert judge_draw({**DRAW, "printed": "0"}, errors).quantile == "0.375"


def test_draws_that_are_none_or_not_finite_are_refused():
    for wrong in ([], [nan], [[1.0, 2.0]]):
        with pytest.raises(ValueError, match="one or more finite draws"):
            judge_draw({**DRAW, "printed": "0.5"}, np.array(wrong))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("item,", "what,", "the columns must be item,"),
        ("Table II,", "Table II,,", "line 2: expected 15"),
    ],
)
def test_a_bad_file_is_one_clear_line(tmp_path, old, new, message):
    text = (ROOT / "data/published/values.csv").read_text("utf-8")
    path = tmp_path / "values.csv"
    path.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(ValueError, match=rf"values\.csv.*{message}"):
        read_values(path)
