"""Total variation is what the best event gains; individual errors are its cells."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scripts.paper.trials.metrics import individual_error, total_variation, uniform_histogram

weights = arrays(float, 6, elements=st.floats(0.0, 1.0)).filter(lambda weight: weight.sum() > 1e-3)
distributions = weights.map(lambda weight: weight / weight.sum())


@given(distributions, distributions)
def test_total_variation_is_the_best_event(a, b):
    events = (np.arange(2**6)[:, None] >> np.arange(6)) & 1
    assert total_variation(a, b) == pytest.approx(np.max(events @ (a - b)), abs=1e-12)


@given(distributions, distributions)
def test_individual_errors_add_up_to_twice_the_distance(a, b):
    errors = individual_error(a, b, [1, 2, 3, 4, 5, 6])
    assert errors.sum() == pytest.approx(2 * total_variation(a, b), abs=1e-12)


def test_the_uniform_histogram_has_the_same_fraction_in_every_cell():
    assert uniform_histogram(4).tolist() == [0.25, 0.25, 0.25, 0.25]


def test_cells_are_numbered_from_one():
    errors = individual_error([[0.2, 0.8], [0.5, 0.5]], [0.3, 0.7], [2])
    np.testing.assert_allclose(errors, [[0.1], [0.2]])


@pytest.mark.parametrize("cell", [0, 3])
def test_a_cell_that_does_not_exist_is_refused(cell):
    with pytest.raises(ValueError, match="between 1 and 2"):
        individual_error([0.2, 0.8], [0.3, 0.7], [cell])
