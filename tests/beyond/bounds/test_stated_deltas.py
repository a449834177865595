"""The table of the deltas that texts state and no other table has."""

import pytest

from scripts.beyond.bounds.compute_stated_deltas import stated_deltas
from tightshuffle.literature import count


@pytest.fixture(scope="module")
def log10_deltas():
    """log10 of each delta of the table: by setting, eps and which delta it is."""
    return stated_deltas().set_index(["setting", "eps", "delta"])["log10_delta"]


@pytest.mark.parametrize(
    "eps", [0.5, 1.0]
)  # the worse direction is the reverse one, the forward one
def test_the_worst_count_is_the_worst_of_all_one_by_one(log10_deltas, eps):
    """Table IV's default setting: n = 100, k = 10 and eps0 = 2, with 0 to 99 other holders of a value."""
    deltas = [
        count.delta(eps, n=100, k=10, eps0=2.0, count=holders, direction=direction)
        for holders in range(100)
        for direction in ("forward", "reverse")
    ]
    assert log10_deltas["Table IV", eps, "worst count"] == pytest.approx(max(deltas))


def test_the_lower_bound_is_below_the_others(log10_deltas):
    lower = log10_deltas["Table 1", 0.1, "lower"]
    assert lower < log10_deltas["Table 1", 0.1, "stronger-clones"]
    for eps in (1.0, 2.0):
        assert log10_deltas["example", eps, "lower"] < log10_deltas["example", eps, "upper"]
