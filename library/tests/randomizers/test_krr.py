"""The sampler against its exact law, the inversion against its mean, the projection against all supports."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from tests.bounds.enumeration import add_report, krr_probabilities
from tightshuffle import krr as module
from tightshuffle.krr import invert, maximum_likelihood, project_to_simplex, sample_histogram


def nearest_distribution(point):
    """The distribution with the least squared distance to ``point``, by trying every support.

    A support is which values have a positive probability: there the point moves by the same number for each
    value, to the sum 1.
    """
    distributions = []
    for support in itertools.product([False, True], repeat=point.size):
        if any(support):
            move = (1 - point[list(support)].sum()) / sum(support)
            distribution = np.where(support, point + move, 0.0)
            if np.all(distribution >= 0):
                distributions.append(distribution)
    return min(distributions, key=lambda distribution: np.sum((distribution - point) ** 2))


def test_projection_is_the_nearest_distribution():
    rng = np.random.default_rng(9)
    for _ in range(30):
        k = int(rng.integers(2, 9))
        point = rng.normal(1 / k, rng.choice([0.05, 0.5, 3]), k)
        np.testing.assert_allclose(
            project_to_simplex(point), nearest_distribution(point), rtol=0, atol=1e-13
        )


@pytest.mark.parametrize("spread", [1e-9, 1e-4, 0.05, 3.0])
def test_projection_of_many_values_is_that_by_a_sort(spread, monkeypatch):
    """Points of more than MOST_SORTED values, less than 4000, are projected without a sort."""
    points = np.random.default_rng(3).normal(1 / 4000, spread, (2, 3, 4000))
    points[0] = np.round(points[0], 3)  # with many equal values
    points[1, 0] = 1 / 4000
    without_a_sort = project_to_simplex(points)
    monkeypatch.setattr(module, "MOST_SORTED", 4000)
    np.testing.assert_allclose(without_a_sort, project_to_simplex(points), rtol=0, atol=1e-15)
    np.testing.assert_allclose(without_a_sort.sum(axis=-1), 1, atol=1e-12)


def test_projection_of_points_far_out():
    points = [[1e20, 0.0, 0.0], [1e20, 1e20, 3.0], [1e308, -1e308, 0.0]]
    expected = [[1, 0, 0], [0.5, 0.5, 0], [1, 0, 0]]
    np.testing.assert_array_equal(project_to_simplex(points), expected)


@pytest.mark.parametrize("counts", [[2, 1, 1], [2, 2], [0, 4, 1]])
def test_samples_follow_the_exact_law(counts):
    """3,000 sampled histograms of k-RR's reports pass a chi-square test at the level 1e-4.

    ``counts`` is how many users hold each value. The law, {histogram: probability}, is built up by
    ``add_report``, which adds one user's report. Histograms that are expected fewer than 5 times are tested
    together.
    """
    k, eps0 = len(counts), 0.8
    law = {(0,) * k: 1.0}
    for value in np.repeat(np.arange(k), counts):
        law = add_report(law, krr_probabilities(value, np.exp(eps0), k))
    samples = sample_histogram(counts, eps0, np.random.default_rng(20261122), 3_000)
    drawn = Counter(map(tuple, samples.tolist()))
    assert drawn.keys() <= law.keys()
    observed = np.array([drawn[histogram] for histogram in law])
    expected = 3_000 * np.array(list(law.values()))
    if (rare := expected < 5).any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    assert expected.min() >= 5
    assert stats.chisquare(observed, expected).pvalue > 1e-4


def test_one_dataset_per_repetition():
    datasets = [[10, 0, 0], [0, 0, 25]]  # at eps0 = 80 all but 1e-17 of the reports are true
    samples = sample_histogram(datasets, 80.0, np.random.default_rng(1), repetitions=2)
    np.testing.assert_array_equal(samples, datasets)


def test_inversion_of_a_budget_that_tells_little():
    """The estimate is 0.5 + (0.3 - 0.5) / (p - q)."""
    eps0 = 1e-6  # 1 / (p - q) = coth(eps0 / 2) for k = 2
    expected = 0.5 - 0.2 / np.tanh(eps0 / 2)
    assert invert([0.3, 0.7], eps0)[0] == pytest.approx(expected, rel=1e-9)


def test_inversion_of_a_budget_that_tells_all():
    """e^1000 is no float. All reports are true but for 1e-434 of them."""
    assert invert([0.3, 0.7], 1000.0).tolist() == [0.3, 0.7]


@st.composite
def frequencies_of_reports(draw):
    """Shares of the reports of 2 to 12 values, in 1 to 4 rows, each of which has a report."""
    shape = draw(st.tuples(st.integers(1, 4), st.integers(2, 12)))
    counts = draw(arrays(np.int64, shape, elements=st.integers(0, 50)))
    counts[:, 0] += 1
    return counts / counts.sum(axis=1, keepdims=True)


@given(frequencies_of_reports(), st.floats(1e-3, 30))
def test_maximum_likelihood_satisfies_its_conditions(frequencies, eps0):
    """The estimated shares f satisfy the conditions of Karush, Kuhn and Tucker for the largest likelihood.

    They are enough, as the log-likelihood is concave. The expected share of the reports of a value is
    proportional to 1 / (e^eps0 - 1) + f. The gradient is the same number for all f > 0, and no larger for
    f = 0.
    """
    f = maximum_likelihood(frequencies, eps0)
    assert np.all(f >= 0)
    np.testing.assert_allclose(f.sum(axis=1), 1, atol=1e-9)
    gradient = frequencies / (1 / np.expm1(eps0) + f)
    largest = gradient.max(axis=1, keepdims=True)
    # 1e-7 and 1e-9 are for rounding.
    assert np.all((gradient >= largest * (1 - 1e-7)) | (f < 1e-9))


@given(frequencies_of_reports(), st.floats(1e-3, 30))
def test_maximum_likelihood_is_the_inversion_where_that_has_no_negative_share(frequencies, eps0):
    inverted = invert(frequencies, eps0)
    inside = np.all(inverted >= 0, axis=1)
    found = maximum_likelihood(frequencies, eps0)
    np.testing.assert_allclose(found[inside], inverted[inside], atol=1e-9)
