"""The table of a proven bound beside delta-hat."""

import numpy as np
import pytest

from scripts.beyond.bounds.compute_delta_hat_bound import delta_hat_bound
from scripts.paper.delta.compute_delta_hat import compute_delta_hat
from tightshuffle import delta

COUNTS_OF_711_USERS = np.array([400, 30, 0, 250, 1, 30])


@pytest.fixture(scope="module")
def delta_hats():
    """delta-hat of a sample of 300 of the 711 users and of all, at two eps0 and four eps each."""
    return compute_delta_hat(
        COUNTS_OF_711_USERS, dataset="toy", n=[300, "all"], eps0=[1, 2], steps=4, seed=5
    )


def test_each_bound_is_that_of_its_rows_setting(delta_hats):
    table = delta_hat_bound(delta_hats)
    assert len(table) == 16
    for row in table.to_dict("records"):
        assert row["upper"] == delta(
            row["eps"], n=row["n"], k=row["k"], eps0=row["eps0"], log10=True
        )


def test_the_bound_of_the_whole_histogram_is_above_both_forms_of_delta_hat(delta_hats):
    table = delta_hat_bound(delta_hats)
    assert (table["published"] < table["upper"]).all()
    assert (table["exact"] < table["upper"]).all()


def test_both_forms_of_delta_hat_stand_beside_it_as_they_are(delta_hats):
    table = delta_hat_bound(delta_hats)
    columns = ["dataset", "n", "k", "eps0", "eps", "published", "exact"]
    assert table[columns].equals(delta_hats[columns])
