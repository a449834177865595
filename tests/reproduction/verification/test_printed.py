"""Reading the printed values, and the rules of the verdicts."""

import csv
from decimal import Decimal
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reproduction.verification.printed import (
    COLUMNS,
    digits_verdict,
    judge_draw,
    judge_number,
    parse_tolerance,
    printed_to_decimal,
    read_values,
    to_text,
)
from tests import ROOT
from tightshuffle.number_text import from_log10

VALUES = ROOT / "data/published/values.csv"
NUMBER = {"kind": "deterministic", "tolerance": "digits or 5 %", "mechanism": "this paper"}
DRAW = {"kind": "random", "tolerance": "central 99 %", "mechanism": "gaussian"}


@pytest.mark.parametrize(
    ("printed", "digits", "exponent"),
    [
        ("12E-4", (1, 2), -4),
        ("6.580E-7", (6, 5, 8, 0), -10),
        ("0.2", (2,), -1),
        ("0", (0,), 0),
        ("123,108", (1, 2, 3, 1, 0, 8), 0),
        ("3.61E-400", (3, 6, 1), -402),
    ],
)
def test_printed_characters_keep_their_digits(printed, digits, exponent):
    assert printed_to_decimal(printed).as_tuple() == (0, digits, exponent)


@pytest.mark.parametrize("printed", ["", "-1", "1.", ".5", "12,34", "1e", "nan", "0x1", " 1", "1_000"])
def test_printed_must_be_a_number(printed):
    with pytest.raises(ValueError, match="printed must be a number"):
        printed_to_decimal(printed)


@pytest.mark.parametrize(
    ("printed", "value", "verdict"),
    [
        ("12E-4", "0.00124", "same digits"),  # cut off and rounded alike
        ("12E-4", "0.00129", "same digits"),  # cut off
        ("12E-4", "0.00116", "same digits"),  # rounded up
        ("12E-4", "0.00114999", "close"),  # rounds to 11; 4.2 % away
        ("12E-4", "0.00130", "differs"),
        ("2.38E-28", "2.3893E-28", "same digits"),
        ("2.38E-28", "2.39E-28", "close"),
        ("6.580E-7", "6.58445E-7", "close"),  # the printed fourth digit counts
        ("0.2", "0.2999", "same digits"),
        ("0.01", "0.00499", "differs"),
        ("0", "0", "same digits"),
        ("0", "1E-400", "differs"),  # only 0 is 0
        ("1.00E-400", "1.004E-400", "same digits"),
        ("1.00E-400", "0", "differs"),
        ("100", "105", "close"),  # the border of 5 % belongs to close
        ("100", "105.001", "differs"),
        ("123,108", "123026", "close"),
        ("1E-9", "1E10", "differs"),  # far more digits than a Decimal's context holds
    ],
)
def test_digits_verdict(printed, value, verdict):
    assert digits_verdict(printed, Decimal(value)) == verdict


def test_noise_of_floats_does_not_cost_a_digit():
    assert digits_verdict("2.50E-1", from_log10(np.log10(0.25))) == "same digits"
    assert digits_verdict("0.7", Decimal(0.1 + 0.6)) == "same digits"  # 0.7 - 1e-16, cut off 0.6


def test_closeness_is_the_rows_own():
    row = {**NUMBER, "printed": "100"}
    assert judge_number(row, Decimal(108)).verdict == "differs"
    assert judge_number({**row, "tolerance": "digits or 10 %"}, Decimal(108)).verdict == "close"


@given(
    st.integers(10**11, 10**12 - 1),
    st.integers(-500, 50),
    st.integers(1, 6),
    st.sampled_from(["ROUND_HALF_UP", "ROUND_DOWN"]),
)
def test_rounding_and_cutting_off_are_exact_and_two_units_more_are_not(number, exponent, digits, rounding):
    value = Decimal(number).scaleb(exponent)
    last = Decimal(1).scaleb(value.adjusted() - digits + 1)
    whole = (value / last).to_integral_value(rounding)
    assert digits_verdict(f"{int(whole)}E{last.adjusted()}", value) == "same digits"
    off = (int((value / last).to_integral_value("ROUND_DOWN")) + 2) * last
    near = abs(value - off) <= Decimal("0.05") * off
    assert digits_verdict(str(off), value) == ("close" if near else "differs")


def test_numbers_as_text():
    values = None, Decimal(0), Decimal("3.24512349E-400"), 0.5
    assert [to_text(value) for value in values] == ["", "0", "3.24512e-400", "5.00000e-1"]


@pytest.mark.parametrize(
    "text", ["", "digits", "digits or 5%", "central 0 %", "central 100 %", "central -5 %"]
)
def test_tolerance_must_be_a_rule(text):
    with pytest.raises(ValueError, match="tolerance must be"):
        parse_tolerance(text)


def test_draw_within_and_outside():
    sample = np.arange(1, 1001) / 1000  # central 99 %: 0.005995 to 0.995005
    inside = judge_draw({**DRAW, "printed": "0.25"}, sample)
    assert inside.verdict == "consistent"
    assert (inside.quantile, inside.reproduced, inside.exact) == ("0.2495", "5.00500e-1", "")
    assert (inside.low, inside.high) == ("5.99500e-3", "9.95005e-1")
    for printed in ("5E-3", "0.996", "12"):
        assert judge_draw({**DRAW, "printed": printed}, sample).verdict == "inconsistent"
    for printed in ("6E-3", "0.995"):
        assert judge_draw({**DRAW, "printed": printed}, sample).verdict == "consistent"


def test_ties_count_half():
    sample = np.array([0, 0, 0, 0.5])  # an estimate that the projection puts to 0 has error 0 often
    assert judge_draw({**DRAW, "printed": "0"}, sample).quantile == "0.375"
    assert judge_draw({**DRAW, "printed": "1E-9"}, sample).quantile == "0.75"
    assert judge_draw({**DRAW, "printed": "0"}, np.zeros(10)).verdict == "consistent"


def test_only_the_shuffle_models_draw_is_exact_too():
    verdict = judge_draw({**DRAW, "mechanism": "shuffle+INV", "printed": "0.5"}, np.array([0.25, 0.5, 1]))
    assert verdict.exact == verdict.reproduced == "5.00000e-1"


@pytest.mark.parametrize("sample", [[], [nan], [[1.0, 2.0]], [inf]])
def test_draw_needs_a_sample(sample):
    with pytest.raises(ValueError, match="one or more finite draws"):
        judge_draw({**DRAW, "printed": "0.5"}, np.array(sample))


@pytest.mark.slow
def test_one_draw_in_a_hundred_is_inconsistent():
    """Draws of one law, judged by 1,000 others of it: the share called inconsistent is 1 %.

    The rank of a fresh draw among 1,000 is uniform, so the share lies between 0.9 % and 1.2 % exactly.
    The number in 2,000 independent trials stays in the bounds with probability above 1 - 1e-6.
    """
    rng = np.random.default_rng(7)
    trials = 2000
    wrong = 0
    for draws in rng.standard_normal((trials, 1001)):
        magnitudes = np.abs(draws)
        row = {**DRAW, "printed": f"{magnitudes[0]:.12f}"}
        wrong += judge_draw(row, magnitudes[1:]).verdict == "inconsistent"
    assert stats.binom.ppf(5e-7, trials, 0.009) <= wrong <= stats.binom.isf(5e-7, trials, 0.012)


def change(tmp_path, edit):
    """A copy of the real file with its rows (lists of fields, header first) edited."""
    with open(VALUES, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    edit(rows)
    path = tmp_path / "values.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    return path


def put(line, name, value):
    def edit(rows):
        rows[line - 1][COLUMNS.index(name)] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (put(1, "eps", "epsilon"), "the columns must be item,"),
        (put(5, "item", "Table 2"), "line 5: item must be one of Table II, "),
        (put(5, "mechanism", "gaussian"), "line 5: mechanism must be one of erlingsson, "),
        (put(5, "kind", "random"), "line 5: kind must be one of deterministic; got 'random'"),
        (put(5, "n", ""), "line 5: n is empty"),
        (put(5, "k", "ten"), "line 5: k must be a whole number; got 'ten'"),
        (put(5, "eps0", "0,49"), "line 5: eps0 must be a number; got '0,49'"),
        (put(5, "printed", "1.18E"), "line 5: printed must be a number"),
        (put(5, "tolerance", "central 99 %"), "line 5: tolerance 'central 99 %' is no rule for kind"),
        (lambda rows: rows[4].pop(), "line 5: expected 15 fields"),
        (lambda rows: rows.insert(5, list(rows[4])), "line 6: the same setting as line 5"),
        (lambda rows: rows.pop(4), "Table II must have 40 rows; got 39"),
        (lambda rows: rows.clear(), "the columns must be item,"),
    ],
)
def test_bad_file_is_one_clear_line(tmp_path, edit, message):
    path = change(tmp_path, edit)
    with pytest.raises(ValueError, match=r"values\.csv") as caught:
        read_values(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
