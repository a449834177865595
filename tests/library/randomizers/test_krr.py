"""The sampler against its exact law, the inversion against its mean, the projection against a solver."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import optimize, stats

from tightshuffle.randomizers.krr import (
    invert,
    lie_probability,
    maximum_likelihood,
    project_to_simplex,
    sample_histogram,
    truth_probability,
)

LEVEL = 1e-4  # significance of each test of a sampler, with a fixed seed


def enumerated_distribution(counts, eps0):
    """Probability of every histogram, from every user's every report."""
    k = len(counts)
    p, q = truth_probability(eps0, k), lie_probability(eps0, k)
    users = np.repeat(np.arange(k), counts)
    distribution = {}
    for reports in itertools.product(range(k), repeat=len(users)):
        probability = np.prod(
            [p if report == user else q for report, user in zip(reports, users, strict=True)]
        )
        histogram = tuple(np.bincount(reports, minlength=k))
        distribution[histogram] = distribution.get(histogram, 0) + probability
    return distribution


@pytest.mark.parametrize(("counts", "eps0"), [([3, 1, 0], 1.0), ([2, 2], 0.3), ([0, 1, 2, 1], 3.0)])
def test_histogram_has_its_exact_law(counts, eps0):
    distribution = enumerated_distribution(counts, eps0)
    assert sum(distribution.values()) == pytest.approx(1)
    draws = 40_000
    rows, seen = np.unique(
        sample_histogram(counts, eps0, np.random.default_rng(7), draws), axis=0, return_counts=True
    )
    observed = dict(zip(map(tuple, rows.tolist()), seen, strict=True))
    assert set(observed) <= set(distribution)
    keys = sorted(distribution, key=distribution.get)
    expected = np.array([distribution[key] for key in keys]) * draws
    table = np.array([observed.get(key, 0) for key in keys])
    # Rare histograms are pooled, so that every expectation is at least 5.
    pooled = np.searchsorted(np.cumsum(expected), 5) + 1
    expected = np.append(expected[pooled:], expected[:pooled].sum())
    table = np.append(table[pooled:], table[:pooled].sum())
    assert stats.chisquare(table, expected).pvalue > LEVEL


def test_one_dataset_per_repetition():
    samples = np.array([[10, 0, 0], [0, 0, 25]])
    assert sample_histogram(samples, 2.0, np.random.default_rng(1), 2).sum(axis=1).tolist() == [10, 25]


@pytest.mark.parametrize(
    "counts", [[-1, 3], [1.5, 2], [np.nan, 1], [3], ["a", "b"], [[1, 2], [3, 4], [5, 6]]]
)
def test_bad_counts(counts):
    with pytest.raises(ValueError, match="counts must"):
        sample_histogram(counts, 1.0, np.random.default_rng(1), 2)


def test_inversion_inverts_the_channel():
    k, eps0 = 7, 0.8
    p, q = truth_probability(eps0, k), lie_probability(eps0, k)
    channel = np.full((k, k), q) + np.eye(k) * (p - q)
    frequencies = np.random.default_rng(3).dirichlet(np.ones(k), 20)
    np.testing.assert_allclose(invert(frequencies, eps0), frequencies @ np.linalg.inv(channel), atol=1e-13)


def test_projection_is_the_quadratic_programs_solution():
    rng = np.random.default_rng(9)
    for _ in range(30):
        k = int(rng.integers(2, 9))
        point = rng.normal(1 / k, rng.choice([0.05, 0.5, 3]), k)
        # Non-negative least squares; the sum of 1 enters as one row of overwhelming weight.
        weight = 1e5
        solution, _ = optimize.nnls(
            np.vstack([np.eye(k), np.full(k, weight)]), np.append(point, weight), maxiter=1000
        )
        np.testing.assert_allclose(project_to_simplex(point), solution, atol=1e-8)


@given(arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 12)), elements=st.floats(-1e3, 1e3)))
def test_projection_lands_on_the_simplex_and_stays(points):
    projected = project_to_simplex(points)
    assert np.all(projected >= 0)
    np.testing.assert_allclose(projected.sum(axis=-1), 1, atol=1e-9)
    np.testing.assert_allclose(project_to_simplex(projected), projected, atol=1e-9)


def test_projection_of_points_far_out():
    points = [[1e20, 0.0, 0.0], [1e20, 1e20, 3.0], [1e308, -1e308, 0.0]]
    expected = [[1, 0, 0], [0.5, 0.5, 0], [1, 0, 0]]
    np.testing.assert_array_equal(project_to_simplex(points), expected)


@pytest.mark.parametrize("estimate", [invert, maximum_likelihood])
def test_budgets_that_tell_nothing_cannot_be_inverted(estimate):
    with pytest.raises(ValueError, match="eps0 must be at least 1e-09 to be inverted"):
        estimate([0.3, 0.7], 1e-12)
    eps0 = 1e-6  # 1 / (p - q) = coth(eps0 / 2) for k = 2
    expected = 0.5 - 0.2 / np.tanh(eps0 / 2)
    assert invert([0.3, 0.7], eps0)[0] == pytest.approx(expected, rel=1e-9)


def test_projection_refuses_nan():
    with pytest.raises(ValueError, match="finite"):
        project_to_simplex([np.nan, 1])


# Maximum likelihood ----------------------------------------------------------------------------


def log_likelihood(frequencies, estimate, eps0):
    """sum_x y_x log(q + (p - q) f_x), row by row."""
    k = frequencies.shape[-1]
    p, q = truth_probability(eps0, k), lie_probability(eps0, k)
    return np.sum(frequencies * np.log(q + (p - q) * estimate), axis=-1)


def bayesian_update(frequencies, estimate, eps0):
    """One step of expectation maximisation, with the whole k x k channel."""
    k = frequencies.shape[-1]
    p, q = truth_probability(eps0, k), lie_probability(eps0, k)
    channel = np.full((k, k), q) + np.eye(k) * (p - q)
    return estimate * ((frequencies / (estimate @ channel)) @ channel.T)


def noisy_rows(k, eps0, seed, rows=20):
    """Shuffled histograms of few users in few of the cells: inversion is negative in some of them."""
    counts = np.random.default_rng(seed).multinomial(150, np.arange(k) ** 3 / np.sum(np.arange(k) ** 3))
    return sample_histogram(counts, eps0, np.random.default_rng(seed + 1), rows) / 150


@pytest.mark.parametrize(
    ("k", "eps0"),
    [(12, 3.0), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((2, 0.5), (6, 1.0)))],
)
def test_the_iterative_bayesian_update_climbs_to_the_maximum_likelihood(k, eps0):
    frequencies = noisy_rows(k, eps0, seed=3)
    limit = maximum_likelihood(frequencies, eps0)
    assert np.any(limit == 0)  # the border is where the two could differ
    estimate = np.full(frequencies.shape, 1 / k)
    last = log_likelihood(frequencies, estimate, eps0)
    for _ in range(4000):
        estimate = bayesian_update(frequencies, estimate, eps0)
        now = log_likelihood(frequencies, estimate, eps0)
        assert np.all(now >= last - 1e-14)
        last = now
    # At the border of the simplex the update slows down to 1 / (number of steps).
    best = log_likelihood(frequencies, limit, eps0)
    assert np.all(best >= last - 1e-14)
    np.testing.assert_allclose(last, best, atol=1e-6)
    np.testing.assert_allclose(estimate, limit, atol=5e-3)


@given(
    arrays(np.int64, st.tuples(st.integers(1, 4), st.integers(2, 12)), elements=st.integers(0, 50)),
    st.floats(1e-3, 30),
)
def test_maximum_likelihood_satisfies_its_conditions(counts, eps0):
    counts[:, 0] += 1
    frequencies = counts / counts.sum(axis=1, keepdims=True)
    found = maximum_likelihood(frequencies, eps0)
    assert np.all(found >= 0)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-9)
    # The gradient is one number where f > 0, and no larger where f = 0.
    gradient = frequencies / (1 / np.expm1(eps0) + found)
    top = gradient.max(axis=1, keepdims=True)
    assert np.all((gradient >= top * (1 - 1e-7)) | (found < 1e-9))
    inverted = invert(frequencies, eps0)
    inside = np.all(inverted >= 0, axis=1)
    np.testing.assert_allclose(found[inside], inverted[inside], atol=1e-9)


@pytest.mark.parametrize("bad", [[-0.1, 1.1], [0.5, 0.6], [np.nan, 1.0]])
def test_maximum_likelihood_refuses_what_is_no_histogram(bad):
    with pytest.raises(ValueError, match="frequencies >= 0 that sum to 1"):
        maximum_likelihood(bad, 1.0)
