"""The table of delta-hat: the grid of eps, the worst value and its two deltas, and the proven bound."""

import numpy as np
import pytest

from scripts.paper.delta.compute_delta_hat import LOG10_ENDS, compute_delta_hat, eps_grid, sample_of
from scripts.paper.delta.printed_formulas import theorem_1_as_printed
from tightshuffle import upper
from tightshuffle.literature import count

COUNTS = np.array([400, 30, 0, 250, 1, 30])
ARGUMENTS = {"dataset": "toy", "n": [300, "all"], "eps0": [2], "steps": 4, "seed": 5}


@pytest.fixture(scope="module")
def table():
    return compute_delta_hat(COUNTS, **ARGUMENTS)


def test_there_is_a_row_for_every_n_and_eps(table):
    assert table.groupby("n", sort=False).size().to_dict() == {300: 4, 711: 4}
    assert set(table["k"]) == {6}
    assert (table["eps"] < table["eps0"]).all()


@pytest.mark.parametrize(
    ("form", "delta"), [("exact", count.delta), ("published", theorem_1_as_printed)]
)
def test_each_delta_is_the_largest_of_all_values_that_somebody_holds(table, form, delta):
    """For each form of delta-hat ``table`` has its log10, the value that has it, and this value's count.

    A row of ``table`` is for one n and eps. The ``form`` exact has the columns exact, exact_value (numbered
    from 1) and exact_count (users who hold this value); so has the form published. ``delta`` is the function
    that gives log10 delta of one value, if ``count`` users besides the target user hold this value.
    `sample_of` draws the histogram of the row's n users again.
    """
    for row in table.to_dict("records"):
        sample = sample_of(COUNTS, dataset="toy", n=row["n"], seed=5)
        setting = {"n": row["n"], "k": 6, "eps0": 2}
        deltas = {
            value: float(delta(row["eps"], count=users - 1, **setting))
            for value, users in enumerate(sample.tolist(), start=1)
            if users > 0
        }
        assert row[form] == max(deltas.values())
        # Several values may have the largest delta: the one that is named has it.
        assert deltas[row[f"{form}_value"]] == row[form]
        assert sample[row[f"{form}_value"] - 1] == row[f"{form}_count"]


def test_the_exact_delta_hat_runs_from_a_hundredth_to_1e_30(table):
    """To within the three digits of eps."""
    for _, rows in table.groupby("n"):
        first, last = rows["exact"].iloc[[0, -1]]
        assert first == pytest.approx(LOG10_ENDS[0], abs=0.05)
        assert last == pytest.approx(LOG10_ENDS[1], abs=0.3)
        assert (rows["exact"].diff().dropna() < 0).all()


def test_the_bound_of_the_whole_histogram_is_above_both_forms(table):
    assert (table["published"] < table["exact"]).all()
    assert (table["exact"] < table["upper"]).all()
    row = table.iloc[2]
    assert row["upper"] == upper(row["eps"], n=int(row["n"]), k=6, eps0=2, log10=True)


def test_with_one_user_of_two_values_the_grid_ends_below_eps0():
    """delta-hat of a single user never falls to 1e-30."""
    grid = eps_grid(np.array([1, 0]), 1.0, 3)
    assert grid[-1] == pytest.approx(0.95)


def test_the_sample_depends_on_its_own_parameters_only():
    again = compute_delta_hat(COUNTS, **(ARGUMENTS | {"n": [300]}))
    assert again.equals(compute_delta_hat(COUNTS, **ARGUMENTS).head(4))
    assert sample_of(COUNTS, dataset="toy", n=300, seed=5).sum() == 300
