"""The errors of both mechanisms under other constants of the Gaussian's noise."""

import math

import numpy as np
import pytest
from scipy import stats

from scripts.paper.trials.compute_constants import compute_constants, shuffle_inv_errors
from scripts.shared.published_gaussian import published_scale
from tightshuffle.randomizers.expected_errors import krr_errors

COUNTS = np.array([600, 300, 0, 250, 10])
BUDGETS = [{"eps0": 4, "eps": 4}, {"eps0": 6, "eps": 6}]
EXPERIMENTS = {
    "tv": {"budgets": BUDGETS, "n": [500, 100, 1000]},
    "estimates": {"budgets": BUDGETS[:1], "n": "all"},
}


def constants_of(**changed):
    """The table of a dataset with 1,160 users in 5 cells, for two floors and two sensitivities."""
    arguments = {
        "floors": [1e-8, 1e-10],
        "sensitivities": [1, 2],
        "ours": (1e-10, 1),
        "repetitions": 50,
        "confidence": 0.9,
        "seed": 5,
    }
    return compute_constants({"toy": COUNTS}, {"toy": EXPERIMENTS}, **(arguments | changed))


@pytest.fixture(scope="module")
def table():
    return constants_of()


def test_points_are_both_ends_of_every_n_at_every_budget(table):
    points = table.drop_duplicates(["experiment", "eps0", "end"])
    assert list(
        zip(points["experiment"], points["eps0"], points["end"], points["n"], strict=True)
    ) == [
        ("tv", 4, "smallest", 100),
        ("tv", 4, "largest", 1000),
        ("tv", 6, "smallest", 100),
        ("tv", 6, "largest", 1000),
        ("estimates", 4, "largest", 1160),
    ]
    assert len(table) == 5 * 2 * 2


def test_the_gaussian_has_the_expected_error_of_every_floor_and_sensitivity(table):
    """A floor is the Gaussian's delta. The standard deviation of its noise is diffprivlib's, in users."""
    for row in table.to_dict("records"):
        assert row["scale"] == published_scale(row["eps"], row["floor"], row["sensitivity"])
        # TV is half the sum over k = 5 cells; the mean of |N(0, 1)| is sqrt(2 / pi).
        expected = 5 * row["scale"] * math.sqrt(2 / math.pi) / (2 * row["n"])
        assert row["gaussian"] == pytest.approx(expected, rel=1e-12)


def test_the_protocols_constants_are_tried_and_marked():
    table = constants_of(ours=(1e-12, 1))
    ours = table[table["ours"]]
    assert len(ours) == 5
    assert set(zip(ours["floor"], ours["sensitivity"], strict=True)) == {(1e-12, 1)}
    assert set(table["floor"]) == {1e-8, 1e-10, 1e-12}


def test_the_mean_error_of_shuffle_inv_is_that_of_its_own_simulation(table):
    errors = shuffle_inv_errors(COUNTS, dataset="toy", eps0=6.0, n=100, repetitions=50, seed=5)
    rows = table[(table["n"] == 100) & (table["eps0"] == 6)]
    assert rows["shuffle+INV"].to_numpy() == pytest.approx(errors.mean(), rel=1e-12)
    assert rows["standard_error"].to_numpy() == pytest.approx(stats.sem(errors), rel=1e-12)
    assert rows["ratio"].to_numpy() == pytest.approx(errors.mean() / rows["gaussian"], rel=1e-12)


def test_the_error_of_shuffle_inv_is_below_the_expected_one_before_the_projection():
    """With all users, so that the sample is the dataset. The projection makes the mean error smaller."""
    users = int(COUNTS.sum())
    before = krr_errors(COUNTS / users, n=users, eps0=2.0).sum() / 2
    errors = shuffle_inv_errors(COUNTS, dataset="toy", eps0=2.0, n=users, repetitions=400, seed=5)
    # Less than half would not be plausible: something else would be measured.
    assert 0.5 * before < errors.mean() < before


def test_intervals_hold_for_all_points_together(table):
    """Bonferroni: with five means, each may be outside with a fifth of the probability 0.1."""
    quantile = stats.t.ppf(1 - 0.1 / 5 / 2, 49)
    reach = quantile * table["standard_error"] / table["gaussian"]
    np.testing.assert_allclose(table["high"] - table["ratio"], reach, rtol=1e-9)
    np.testing.assert_allclose(table["ratio"] - table["low"], reach, rtol=1e-9)


def test_another_seed_stays_within_the_intervals():
    """Of 500 repetitions with 95 % confidence: both means are random, so by sqrt(2) times the reach."""
    first = constants_of(repetitions=500, confidence=0.95)
    second = constants_of(repetitions=500, confidence=0.95, seed=6)
    assert (first["ratio"] != second["ratio"]).all()
    reach = math.sqrt(2) * (first["high"] - first["ratio"])
    assert ((second["ratio"] - first["ratio"]).abs() <= reach).all()
