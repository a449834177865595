"""What a report's gain and the bounds promise: delta of every dataset of the other users, enumerated."""

import itertools

import numpy as np
import pytest

import tightshuffle
from tests.bounds.enumeration import Shuffled
from tests.randomizers.matrices import matrix_of_kinds, random_matrix
from tightshuffle.randomizers import Finite, parse


def delta_of_gains(gains, n):
    """E[(G_1 + ... + G_n)_+] / n of independent gains, as a sum over all outcomes.

    ``gains`` is the law of each G_i: values, and their probabilities. With what is left of 1, G_i is 0.
    """
    values, probabilities = gains
    values = np.append(values, 0.0)
    probabilities = np.append(probabilities, max(0.0, 1 - probabilities.sum()))
    sums, chances = np.zeros(1), np.ones(1)
    for _ in range(n):
        sums = np.add.outer(sums, values).ravel()
        chances = np.multiply.outer(chances, probabilities).ravel()
    return chances @ np.maximum(sums, 0) / n


def randomizer_and_shuffled(name, k, n, eps0):
    """A randomizer, and the `Shuffled` reports of n users, which enumerate delta of every dataset.

    "matrix" is a random matrix, whose eps0 is its own.
    """
    if name == "matrix":
        matrix = random_matrix(k)
        return Finite(matrix), Shuffled(matrix, n)
    return parse(name, k=k, eps0=eps0), Shuffled(matrix_of_kinds(name, k, eps0), n)


SHARES_OF_EPS0 = np.array([0.0, 0.2, 0.5, 0.8, 0.95])
ROUNDING = 1 + 1e-12
NAMES_K_N = [
    *[("grr", 3, 5), ("grr", 4, 4), ("subset:2", 3, 5), ("subset:2", 4, 4), ("subset:3", 4, 4)],
    *[("rappor", 2, 5), ("rappor", 3, 4), ("oue", 3, 4), ("oue", 4, 3), ("hadamard", 2, 5)],
    *[("hadamard", 3, 5), ("hadamard", 4, 4), ("hash:2", 3, 4), ("hash:3", 3, 4), ("matrix", 3, 4)],
]


@pytest.mark.parametrize("eps0", [0.5, 2.0])
@pytest.mark.parametrize(("name", "k", "n"), NAMES_K_N)
def test_delta_of_the_worst_dataset_is_within_the_bounds(name, k, n, eps0):
    """Every dataset of the other users and every pair of values of the target user is enumerated."""
    randomizer, shuffled = randomizer_and_shuffled(name, k, n, eps0)
    eps = SHARES_OF_EPS0 * randomizer.eps0
    cases = itertools.product(shuffled.datasets(), itertools.permutations(range(k), 2))
    worst = np.max([shuffled.delta(others, pair, eps) for others, pair in cases], axis=0)
    low = tightshuffle.delta(eps, method="lower", n=n, randomizer=randomizer)
    high = tightshuffle.delta(eps, method="privacy-blanket", n=n, randomizer=randomizer)
    assert np.all(low <= worst * ROUNDING)
    assert np.all(worst <= high * ROUNDING)
    assert np.all(high < 25 * low)  # so wide for so few users: a ratio of up to 20 here


@pytest.mark.parametrize("name", ["grr", "subset:2", "rappor", "oue", "hadamard", "hash:3"])
def test_a_randomizer_has_the_same_bound_by_its_name(name):
    randomizer = parse(name, k=3, eps0=0.5)
    by_name = tightshuffle.upper(0.4, n=4, k=3, eps0=0.5, randomizer=name)
    assert by_name == tightshuffle.upper(0.4, n=4, randomizer=randomizer)


@pytest.mark.parametrize("eps0", [0.5, 2.0])
@pytest.mark.parametrize(("name", "k", "n"), NAMES_K_N)
def test_delta_of_the_worst_dataset_is_between_those_of_a_mixture_and_the_blanket(name, k, n, eps0):
    """The laws of a report are a mixture of two columns of the matrix, and the blanket."""
    randomizer, shuffled = randomizer_and_shuffled(name, k, n, eps0)
    all_eps = SHARES_OF_EPS0 * randomizer.eps0
    mixture = {"x0": 0.5, f"x{min(k - 1, 2)}": 0.5}
    for pair in itertools.permutations(range(k), 2):
        deltas = [shuffled.delta(others, pair, all_eps) for others in shuffled.datasets()]
        for eps, worst in zip(all_eps, np.max(deltas, axis=0), strict=True):
            of_mixture = delta_of_gains(randomizer.gains(eps, mixture, pair), n)
            of_blanket = delta_of_gains(randomizer.gains(eps, "blanket", pair), n)
            assert of_mixture <= worst * ROUNDING + 1e-16
            assert worst <= of_blanket * ROUNDING + 1e-16


@pytest.mark.parametrize("eps0", [0.5, 2.0])
@pytest.mark.parametrize(("name", "k", "n"), NAMES_K_N)
def test_delta_of_a_value_as_the_reference_is_that_of_a_dataset(name, k, n, eps0):
    """In this dataset all other users hold the value.

    A reference calls the values of the pair "x0" and "x1", and the other ones "x2", ..., ascending.
    """
    randomizer, shuffled = randomizer_and_shuffled(name, k, n, eps0)
    for pair in itertools.permutations(range(k), 2):
        values = [*pair, *sorted({*range(k)} - {*pair})]
        for value, reference in zip(values, randomizer.references(), strict=False):
            for eps in SHARES_OF_EPS0 * randomizer.eps0:
                of_dataset = shuffled.delta([value] * (n - 1), pair, eps)
                of_gains = delta_of_gains(randomizer.gains(eps, reference, pair), n)
                assert of_gains == pytest.approx(of_dataset, rel=1e-9, abs=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["grr", "subset", "rappor", "oue", "hadamard", "hash"])
def test_how_narrow_the_bracket_of_many_users_is(kind):
    """For k-RR ("grr") the upper eps is at most 1e-4 above the lower one, relatively: see docs/package.md.

    For each other kind it is at most 0.2 % above it up to eps 0.1, and 10 % up to eps 1. Tried are 100 random
    settings where eps is between 0.01 and 1.
    """
    rng = np.random.default_rng(20261124)
    tried = 0
    while tried < 100:
        k = int(rng.choice([4, 16, 64, 256, 1024]))
        # How many values a subset has, and how many results a hash function.
        numbers = {"subset": rng.integers(2, k // 2 + 1), "hash": rng.choice([2, 3, 5, 16, 64])}
        setting = {
            "n": int(10 ** rng.uniform(5, 9)),
            "k": k,
            "eps0": rng.uniform(0.5, 12),
            "randomizer": f"{kind}:{numbers[kind]}" if kind in numbers else kind,
        }
        delta = 10 ** rng.uniform(-12, -4)
        high = tightshuffle.epsilon(delta, **setting)
        if 0.01 <= high <= 1:
            low = tightshuffle.epsilon(delta, method="lower", **setting)
            width_of_others = 2e-3 if high <= 0.1 else 0.1
            relative_width = 1e-4 if kind == "grr" else width_of_others
            assert low <= high <= low * (1 + relative_width), (setting, delta)
            tried += 1
