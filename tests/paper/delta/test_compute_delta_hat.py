"""The table of delta-hat: the grid of eps, the worst value and its two deltas."""

import numpy as np
import pytest

from scripts.paper.delta.compute_delta_hat import compute_delta_hat, eps_grid, sample_of
from scripts.paper.delta.theorem_1 import theorem_1_as_printed
from tightshuffle.literature import count

COUNTS_OF_711_USERS = np.array([400, 30, 0, 250, 1, 30])


def table_of_delta_hat(n):
    """`compute_delta_hat` for samples of each ``n`` users in 6 cells, at eps0 = 2 and four eps."""
    return compute_delta_hat(COUNTS_OF_711_USERS, dataset="toy", n=n, eps0=[2], steps=4, seed=5)


@pytest.fixture(scope="module")
def table():
    """delta-hat for a sample of 300 of the 711 users and for all, at eps0 = 2 and four eps each."""
    return table_of_delta_hat(n=[300, "all"])


def test_there_is_a_row_for_every_n_and_eps(table):
    assert table.groupby("n", sort=False).size().to_dict() == {300: 4, 711: 4}
    assert set(table["k"]) == {6}
    assert (table["eps"] < table["eps0"]).all()


def exact(eps, **setting):
    """log10 of the exact delta of the count of x0."""
    return count.ln_delta_of_count(eps, **setting) / np.log(10)


@pytest.mark.parametrize(
    ("form", "log10_delta"), [("exact", exact), ("published", theorem_1_as_printed)]
)
def test_each_delta_hat_is_the_largest_delta_of_all_values_that_somebody_holds(
    table, form, log10_delta
):
    """For each form the table has log10 of delta-hat, the value that has it, and this value's holders."""
    for row in table.to_dict("records"):
        sample = sample_of(COUNTS_OF_711_USERS, dataset="toy", n=row["n"], seed=5)
        setting = {"n": row["n"], "k": 6, "eps0": 2}
        log10_deltas = {
            value: float(log10_delta(row["eps"], count=holders - 1, **setting))
            for value, holders in enumerate(sample.tolist(), start=1)
            if holders > 0
        }
        assert row[form] == max(log10_deltas.values())
        # Several values may have the largest delta: the one that is named has it.
        worst_value = row[f"{form}_value"]
        assert log10_deltas[worst_value] == row[form]
        assert sample[worst_value - 1] == row[f"{form}_count"]


def test_the_exact_delta_hat_runs_from_a_hundredth_to_1e_30(table):
    """The tolerances are what three digits of eps leave open."""
    for _, rows in table.groupby("n"):
        first, last = rows["exact"].iloc[[0, -1]]
        assert first == pytest.approx(-2, abs=0.05)
        assert last == pytest.approx(-30, abs=0.3)
        assert (rows["exact"].diff().dropna() < 0).all()


def test_a_grid_with_a_small_delta_hat_begins_at_half_of_its_value_at_eps_0():
    """Of two values held by 50,000 users each, delta-hat at eps = 0 is below 2e-2."""
    (first, last) = eps_grid(np.array([50_000, 50_000]), 2.0, 2)
    setting = {"n": 100_000, "k": 2, "eps0": 2.0, "count": 49_999}
    log10_deltas = exact(np.array([0.0, first, last]), **setting)
    assert log10_deltas[0] < -2 + np.log10(2)
    assert log10_deltas[1] == pytest.approx(log10_deltas[0] - np.log10(2), abs=0.01)
    assert log10_deltas[2] == pytest.approx(-30, abs=0.3)


def test_the_eps_have_even_ratios(table):
    eps = table["eps"].to_numpy()[:4]
    assert eps[1:] / eps[:-1] == pytest.approx((eps[3] / eps[0]) ** (1 / 3), rel=0.01)


def test_the_printed_delta_hat_is_below_the_exact_one(table):
    assert (table["published"] < table["exact"]).all()


def test_with_one_user_of_two_values_the_grid_ends_below_eps0():
    """delta-hat of a single user never falls to 1e-30."""
    grid = eps_grid(np.array([1, 0]), 1.0, 3)
    assert grid[-1] == pytest.approx(0.95)


def test_rows_of_a_sample_do_not_depend_on_other_samples(table):
    assert table_of_delta_hat(n=[300]).equals(table.head(4))


def test_a_sample_has_n_users():
    assert sample_of(COUNTS_OF_711_USERS, dataset="toy", n=300, seed=5).sum() == 300
