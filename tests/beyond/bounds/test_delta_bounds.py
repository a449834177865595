"""The table of all bounds: the accountants' values, in the order that theory asks for."""

import numpy as np
import pytest

from scripts.beyond.bounds.compute_delta_bounds import BOUNDS, delta_bounds
from scripts.paper.delta.theorem_1 import theorem_1_as_printed
from tightshuffle import delta
from tightshuffle.literature import count
from tightshuffle.methods import METHODS

BOUNDED = [
    {"n": 60, "k": 5, "eps0": 0.5, "count": 40, "eps": {"start": 0.02, "stop": 0.45}},
    {"n": 5000, "k": 30, "eps0": 3, "count": 10, "eps": {"start": 0.01, "stop": 0.2}},
    {"n": 300, "k": 2, "eps0": 1, "count": 0, "eps": {"start": 0.01, "stop": 0.9}},
]


@pytest.fixture(scope="module")
def bounds():
    """log10 of delta and of its bounds: four eps for each of the three settings of `BOUNDED`, a row each."""
    return delta_bounds(4, BOUNDED)


def test_every_setting_has_four_eps(bounds):
    assert bounds["setting"].value_counts().to_dict() == {1: 4, 2: 4, 3: 4}


# Of the second eps of setting 1, and of the third one of setting 2.
@pytest.mark.parametrize("position", [1, 6])
def test_a_row_has_the_values_of_the_functions_of_a_single_delta(bounds, position):
    row = bounds.iloc[position]
    eps, holders = row["eps"], row["count"]
    setting = row[["n", "k", "eps0"]].to_dict()
    # Two columns are of the count of x0.
    assert row["published"] == theorem_1_as_printed(eps, count=holders, **setting)
    ln_exact = count.ln_delta_of_count(eps, count=holders, direction="both", **setting)
    assert row["exact"] == ln_exact / np.log(10)
    assert row["upper"] == delta(eps, log10=True, **setting)
    assert row["koskela_strong"] == delta(eps, method="koskela-strong", log10=True, **setting)


def test_the_lower_bound_and_the_delta_of_one_count_are_below_the_upper_bound(bounds):
    assert (bounds["lower"] <= bounds["upper"]).all()
    assert (bounds["exact"] <= bounds["upper"]).all()


@pytest.mark.parametrize("name", sorted(set(BOUNDS) - {"lower"}))
def test_upper_is_the_smallest_upper_bound(bounds, name):
    # Up to the relative error of a computed delta, 1e-3. (Here no bound is below `upper` by any bit.)
    slack = np.log10(1.001)
    assert (bounds[METHODS[name].column] >= bounds["upper"] - slack).all()


def test_the_printed_formula_is_a_tenth_of_a_proven_lower_bound_or_less(bounds):
    first_setting = bounds[bounds["setting"] == 1]
    assert (first_setting["published"] < first_setting["lower"] - 1).all()
