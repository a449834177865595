"""The synthetic histogram follows the normal law."""

import mpmath
import numpy as np
import pytest

from scripts.paper.data import sample_synthetic as synthetic
from scripts.paper.data.sample_synthetic import sample_normal
from tests.chi_square import consistent

INTERVALS = {"range": [-6, 6], "cells": 15}  # the outermost cells go on to infinity


@pytest.mark.parametrize("mean", [0.5, -9.0, 13.0])
def test_counts_of_a_large_population_have_the_normal_law(mean):
    """With the means -9 and 13 one of the outermost cells, below -6 and above 6, has nearly all users."""
    histogram = sample_normal(
        **INTERVALS,
        mean=mean,
        spread=2,
        spread_is="standard deviation",
        population=10**10,
        rng=np.random.default_rng(4),
    )
    assert histogram["cell"].tolist() == list(range(1, 16))
    assert histogram["count"].sum() == 10**10
    edges = [*histogram["low"], histogram["high"].iloc[-1]]
    below = [mpmath.ncdf(edge, mean, 2) for edge in edges]
    # With 10^10 draws the test fails (with probability 95 %) if two probabilities of 0.15 are off by 2e-5. Of
    # smaller probabilities it sees smaller errors.
    assert consistent(histogram["count"], np.diff(below).astype(float))


def test_probabilities_keep_their_digits_in_both_tails():
    edges = [-np.inf, -12.0, -1.0, 0.5, 9.0, 12.0, np.inf]
    with mpmath.workdps(60):
        below = [mpmath.ncdf(edge) for edge in edges]
        exact = np.diff(below).astype(float)
    np.testing.assert_allclose(synthetic.cell_probabilities(np.array(edges)), exact, rtol=1e-12)


@pytest.mark.parametrize("users_in_a_block", [synthetic.BLOCK, 1000])
def test_users_are_drawn_and_counted_as_by_numpy_in_any_blocks(users_in_a_block, monkeypatch):
    monkeypatch.setattr(synthetic, "BLOCK", users_in_a_block)
    histogram = sample_normal(
        **INTERVALS,
        mean=0.5,
        spread=2,
        spread_is="variance",
        population=25_001,
        rng=np.random.default_rng(3),
    )
    values = np.random.default_rng(3).normal(0.5, np.sqrt(2), 25_001)
    edges = np.append(histogram["low"], np.inf)
    assert np.histogram(values, edges)[0].tolist() == histogram["count"].tolist()
