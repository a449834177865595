"""The table of eps of the two mechanisms that the paper's Figure 2 compares."""

import pandas as pd
import pytest

import tightshuffle
from scripts.beyond.parity.compute_unequal_privacy import eps_of_gaussian, unequal_privacy
from tests.report.world import parity_rows


def test_gaussian_has_the_eps_of_its_noise():
    """The noise has the scale 2.1517 of diffprivlib, for whatever delta eps is asked."""
    assert eps_of_gaussian(1e-6) == pytest.approx(3.04907, abs=1e-5)
    assert eps_of_gaussian(1e-17) == pytest.approx(5.59460, abs=1e-5)


def test_shuffled_reports_have_the_eps_of_the_upper_bound_at_both_ends_of_n():
    """At delta = 1e-6 it is that of the ratios, which is made up, and at 1e-17 it is computed."""
    ratios = pd.DataFrame(parity_rows())
    # Rows that must not be taken have another eps than 0.25.
    ratios.loc[ratios["bound"] == "lower", "eps"] = 9.0
    in_between = ratios[ratios["n"] == 1000].assign(n=10_000, eps=9.0)
    table = unequal_privacy(pd.concat([in_between, ratios]))

    shuffled = table[table["mechanism"] == "shuffle"].set_index(["delta", "n"])["eps"]
    assert list(shuffled.index) == [(1e-6, 1000), (1e-6, 100_000), (1e-17, 1000), (1e-17, 100_000)]
    assert list(shuffled[1e-6]) == [0.25, 0.25]
    for n in (1000, 100_000):
        eps = shuffled[1e-17, n]
        assert tightshuffle.delta(eps, n=n, k=15, eps0=4) == pytest.approx(1e-17, rel=1e-3)


def test_without_the_papers_eps0_only_the_gaussian_has_rows():
    table = unequal_privacy(pd.DataFrame(parity_rows(eps0s=[2])))
    assert list(table["mechanism"]) == ["gaussian", "gaussian"]
