"""The literature columns as printed: the formulas, their arguments, and the printed digits."""

from functools import partial

import mpmath
import numpy as np
import pytest

from scripts.paper.delta.literature_as_printed import (
    balle_as_printed,
    erlingsson_as_printed,
    feldman_as_printed,
)
from scripts.paper.values.judgement import digits_verdict
from scripts.shared.printed import read_values, records
from tests import ROOT
from tightshuffle.number_text import from_log10

PRINTED = records(read_values(ROOT / "data/published/values.csv"))


def erlingsson_delta(eps, n, eps0):
    """delta of the printed bound eps = 12 eps0 sqrt(ln(1/delta) / n)."""
    return mpmath.exp(-n * (eps / (12 * eps0)) ** 2)


def balle_delta(eps, n, eps0):
    """delta of the bound in Table II, eps = e^eps0 sqrt(ln(1/delta) / n)."""
    return mpmath.exp(-n * (eps / mpmath.exp(eps0)) ** 2)


def short_balle_delta(eps, n, eps0):
    """delta of the bound in Table 1, eps = min(1, eps0) e^eps0 sqrt(ln(1/delta) / n)."""
    return balle_delta(eps / min(1, eps0), n, eps0)


def feldman_delta(eps, n, eps0):
    """delta of the bound in Table II, eps = sqrt((e^eps0 - 1) ln(1/delta) / n)."""
    return mpmath.exp(-n * eps**2 / (mpmath.exp(eps0) - 1))


def short_feldman_delta(eps, n, eps0):
    """delta of the bound in Table 1, eps = (1 - e^-eps0) sqrt(e^eps0 log2(1/delta) / n)."""
    return mpmath.power(2, -n * (eps / (1 - mpmath.exp(-eps0))) ** 2 / mpmath.exp(eps0))


# (mechanism, table) -> our function for log10 delta, and its definition. Table II is of the paper, Table 1
# of its short version.
FORMULAS = {
    ("erlingsson", "Table II"): (erlingsson_as_printed, erlingsson_delta),
    ("erlingsson", "Table 1"): (erlingsson_as_printed, erlingsson_delta),
    ("balle", "Table II"): (balle_as_printed, balle_delta),
    ("balle", "Table 1"): (partial(balle_as_printed, version="short"), short_balle_delta),
    ("feldman", "Table II"): (feldman_as_printed, feldman_delta),
    ("feldman", "Table 1"): (partial(feldman_as_printed, version="short"), short_feldman_delta),
}


@pytest.mark.parametrize(("log10_delta", "delta_by_definition"), dict.fromkeys(FORMULAS.values()))
def test_each_formula_is_its_definition_in_40_digits(log10_delta, delta_by_definition):
    """The 40 random settings reach beyond those of the tables, with eps up to 0.4 and eps0 up to 0.5."""
    rng = np.random.default_rng(1)
    eps = rng.uniform(1e-4, 5, 40)
    eps0 = rng.uniform(1e-3, 8, 40)
    n = rng.integers(1, 10**6, 40)
    with mpmath.workdps(40):
        settings = [map(mpmath.mpf, setting) for setting in zip(eps, n.tolist(), eps0, strict=True)]
        expected = [float(mpmath.log10(delta_by_definition(*setting))) for setting in settings]
    # The largest relative difference seen is 4e-16. More is left for other machines' exp and log.
    np.testing.assert_allclose(log10_delta(eps, n=n, eps0=eps0), expected, rtol=1e-13)


@pytest.mark.parametrize("function", [erlingsson_as_printed, balle_as_printed, feldman_as_printed])
@pytest.mark.parametrize(("name", "value"), [("eps", -0.1), ("n", 10.5), ("eps0", 0)])
def test_a_bad_number_is_named(function, name, value):
    with pytest.raises(ValueError, match=rf"^{name} must be"):
        function(**{"eps": 0.1, "n": 100, "eps0": 0.5, name: value})


@pytest.mark.parametrize("function", [balle_as_printed, feldman_as_printed])
def test_an_unknown_version_is_named(function):
    with pytest.raises(ValueError, match=r"^version must be one of long, short"):
        function(0.1, n=100, eps0=0.5, version="Table 3")


# Item, n, eps and mechanism of two cells that the formulas do not give to the digit.
EXCEPTIONS = {
    ("Table II", "100", "0.3", "feldman"): "close",
    ("Table II", "100", "0.4", "balle"): "differs",
}


def test_the_formulas_give_the_printed_digits_but_for_two_cells_of_table_ii():
    """The rows are the deltas that the paper prints for cited works, in Table II and the short Table 1.

    `FORMULAS` has our function for each of these columns, and `EXCEPTIONS` the verdict on the two cells.
    """
    printed = [row for row in PRINTED if (row["mechanism"], row["item"]) in FORMULAS]
    assert len(printed) == 42  # three mechanisms: ten rows each of Table II, four of Table 1
    for row in printed:
        log10_delta, _definition = FORMULAS[row["mechanism"], row["item"]]
        ours = log10_delta(float(row["eps"]), n=int(row["n"]), eps0=float(row["eps0"]))
        cell = (row["item"], row["n"], row["eps"], row["mechanism"])
        expected = EXCEPTIONS.get(cell, "same digits")
        assert digits_verdict(row["printed"], from_log10(ours)) == expected, row


def test_feldmans_column_of_table_ii_is_not_the_bound_of_section_iv_a():
    """Section IV-A states eps = (1 - e^-eps0) sqrt(e^eps0 log(1/delta) / n), with the constant 1."""
    n, eps0 = 100, 0.49
    eps = np.array([0.01, 0.1, 0.2, 0.3, 0.4])  # the rows of Table II
    ln_delta = -n * (eps / -np.expm1(-eps0)) ** 2 * np.exp(-eps0)  # solved for delta
    # Rounding to three digits changes a delta by 0.28 % at most.
    in_three_digits = [0.960, 0.0169, 8.09e-8, 1.10e-16, 4.28e-29]
    np.testing.assert_allclose(np.exp(ln_delta), in_three_digits, rtol=3e-3)

    log10_column = feldman_as_printed(eps, n=n, eps0=eps0)
    orders_of_magnitude = log10_column - ln_delta / np.log(10)
    assert 17 < orders_of_magnitude.max() < 18  # 17.4 at eps = 0.4


@pytest.mark.parametrize(
    ("version", "delta"),
    [
        pytest.param("long", 0.687, id="Table II"),
        pytest.param("short", 0.209, id="Table 1, with the factor min(1, eps0)"),
    ],
)
def test_balles_column_of_table_ii_lacks_a_factor_of_table_1(version, delta):
    log10_delta = balle_as_printed(0.1, n=100, eps0=0.49, version=version)
    assert 10**log10_delta == pytest.approx(delta, abs=5e-4)  # three digits
