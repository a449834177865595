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


@pytest.mark.parametrize(("printed", "exact"), [("6.580E-7", "6.580E-7"), ("123,108", "123108")])
def test_a_printed_number_keeps_all_its_digits(printed, exact):
    assert str(printed_to_decimal(printed)) == exact


@pytest.mark.parametrize("printed", ["", "-1", "1.", ".5", "12,34", "1e", "nan", " 1", "1_000"])
def test_a_text_that_is_no_printed_number_is_refused(printed):
    with pytest.raises(ValueError, match="printed must be a number"):
        printed_to_decimal(printed)


@pytest.mark.parametrize(
    "tolerance", ["", "digits", "digits or 5%", "central 0 %", "central 100 %"]
)
def test_a_text_that_is_no_tolerance_is_refused(tolerance):
    with pytest.raises(ValueError, match="tolerance must be"):
        parse_tolerance(tolerance)


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
        # 0.7 - 1e-16, cut off 0.6: noise of floats costs no digit, and wins none.
        ("0.7", 0.1 + 0.6, "same digits"),
        ("0.6", 0.1 + 0.6, "differs"),
    ],
)
def test_digits_verdict(printed, value, verdict):
    assert digits_verdict(printed, Decimal(value)) == verdict


def test_a_number_is_close_by_the_tolerance_of_its_row():
    row = {"kind": "deterministic", "tolerance": "digits or 10 %", "printed": "100"}
    assert judge_number(row, Decimal(108)).verdict == "close"


@given(
    st.integers(10**11, 10**12 - 1),
    st.integers(-500, 50),
    st.integers(1, 6),
    st.sampled_from(["ROUND_HALF_UP", "ROUND_DOWN"]),
)
def test_a_rounded_or_cut_off_number_has_the_same_digits_and_two_units_more_have_not(
    number, exponent, digits, rounding
):
    """The unit is that of the last of the printed ``digits``."""
    value = Decimal(number).scaleb(exponent)
    unit = Decimal(1).scaleb(value.adjusted() - digits + 1)
    in_units = (value / unit).to_integral_value(rounding)
    assert digits_verdict(f"{int(in_units)}E{unit.adjusted()}", value) == "same digits"

    cut_off = (value / unit).to_integral_value("ROUND_DOWN")
    two_units_more = (int(cut_off) + 2) * unit
    is_close = abs(value - two_units_more) <= Decimal("0.05") * two_units_more
    verdict = "close" if is_close else "differs"
    assert digits_verdict(str(two_units_more), value) == verdict


def judge_printed(printed, draws, mechanism="gaussian"):
    """`judge_draw` of a printed error beside our ``draws``, by their central 99 %."""
    row = {"kind": "random", "tolerance": "central 99 %", "mechanism": mechanism}
    return judge_draw({**row, "printed": printed}, np.array(draws))


ONE_TO_1000_THOUSANDTHS = np.arange(1, 1001) / 1000


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [
        ("5E-3", "inconsistent"),
        ("6E-3", "consistent"),
        ("0.25", "consistent"),
        ("0.995", "consistent"),
        ("0.996", "inconsistent"),
    ],
)
def test_a_printed_error_is_consistent_with_the_central_part_of_our_draws(printed, verdict):
    judged = judge_printed(printed, ONE_TO_1000_THOUSANDTHS)
    # The quantiles 0.005 and 0.995 as numpy interpolates: 0.001 + 0.999 * 0.005, and so on.
    assert (judged.low, judged.high) == ("5.99500e-3", "9.95005e-1")
    assert judged.verdict == verdict


def test_quantile_of_a_printed_error_counts_the_draws_below_and_half_of_the_equal_ones():
    # 249 of 1000 are smaller, and one is equal.
    assert judge_printed("0.25", ONE_TO_1000_THOUSANDTHS).quantile == "0.2495"
    # An estimate that the projection puts to 0 often has the error 0.
    assert judge_printed("0", [0, 0, 0, 0.5]).quantile == "0.375"


@pytest.mark.parametrize(("mechanism", "exact"), [("gaussian", ""), ("shuffle+INV", "5.00500e-1")])
def test_our_median_is_exact_unless_it_depends_on_how_delta_is_computed(mechanism, exact):
    judged = judge_printed("0.25", ONE_TO_1000_THOUSANDTHS, mechanism)
    assert judged.reproduced == "5.00500e-1"  # the median
    assert judged.exact == exact


@pytest.mark.parametrize("draws", [[], [nan], [[1.0, 2.0]]])
def test_draws_that_are_none_or_not_finite_are_refused(draws):
    with pytest.raises(ValueError, match="one or more finite draws"):
        judge_printed("0.5", draws)


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
