"""The synthetic histogram follows the normal law."""

import itertools

import mpmath
import numpy as np
import pytest

from scripts.paper.data import sample_synthetic as synthetic
from scripts.paper.data.sample_synthetic import sample_normal
from tests.chi_square import consistent

SETTINGS = {"mean": 0.5, "range": [-6, 6], "cells": 15, "population": 200_000}


@pytest.mark.parametrize("mean", [0.5, -9.0, 13.0])
def test_a_large_population_has_the_normal_probabilities_cell_by_cell(mean):
    """The counts of 10^10 normal users fit the probabilities of the cells, which mpmath gives.

    `SETTINGS` cut the interval from -6 to 6 into 15 cells, of which the outermost edges are infinite. So with
    the means -9 and 13 one outermost cell has nearly all users. `consistent` is a chi-square test at the
    level 1e-4. The seed is fixed.
    """
    settings = {**SETTINGS, "mean": mean, "population": 10**10}
    histogram = sample_normal(
        spread=2, spread_is="standard deviation", rng=np.random.default_rng(4), **settings
    )
    assert histogram["cell"].tolist() == list(range(1, 16))
    assert histogram["count"].sum() == 10**10
    probabilities = [
        mpmath.ncdf((high - mean) / mpmath.mpf(2)) - mpmath.ncdf((low - mean) / mpmath.mpf(2))
        for low, high in zip(histogram["low"], histogram["high"], strict=True)
    ]
    # With 10^10 draws the test fails (with probability 95 %) if two probabilities of 0.15 are off by 2e-5. Of
    # smaller probabilities it sees smaller errors.
    assert consistent(histogram["count"], np.array(probabilities, dtype=float))


def test_probabilities_keep_their_digits_in_both_tails():
    edges = np.array([-np.inf, -12.0, -1.0, 0.5, 9.0, 12.0, np.inf])
    with mpmath.workdps(60):
        exact = [
            float(mpmath.ncdf(b) - mpmath.ncdf(a))
            for a, b in itertools.pairwise(map(mpmath.mpf, edges))
        ]
    np.testing.assert_allclose(synthetic.cell_probabilities(edges), exact, rtol=1e-12)


def test_blocks_of_users_do_not_change_the_draw(monkeypatch):
    """The 25,001 users are drawn in one block, and then in 25 blocks of 1,000 users and one of a single user.

    Both times the histogram has the counts of numpy's own normal draws from the same seed.
    """

    def draw():
        """The histogram of 25,001 users with the variance 2: columns low and high (edges), count."""
        rng = np.random.default_rng(3)
        settings = {**SETTINGS, "population": 25_001}
        return sample_normal(spread=2, spread_is="variance", rng=rng, **settings)

    whole = draw()
    monkeypatch.setattr(synthetic, "BLOCK", 1000)
    assert draw().equals(whole)
    # The same draws in one call of numpy's, and its own counting between the edges.
    edges = np.append(whole["low"], np.inf)
    values = np.random.default_rng(3).normal(SETTINGS["mean"], np.sqrt(2), 25_001)
    assert np.histogram(values, edges)[0].tolist() == whole["count"].tolist()
