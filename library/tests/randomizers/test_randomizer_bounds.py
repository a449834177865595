"""What a report's gain and the bounds promise: delta of every dataset of the other users, enumerated."""

import functools
import itertools
import math

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


@functools.cache
def randomizer_and_shuffled(name, k, n, eps0):
    """A randomizer, and the `Shuffled` reports of n users, which enumerate delta of every dataset.

    "matrix" is a random matrix, whose eps0 is its own.
    """
    if name == "matrix":
        matrix = random_matrix(k)
        return Finite(matrix), Shuffled(matrix, n)
    return parse(name, k=k, eps0=eps0), Shuffled(matrix_of_kinds(name, k, eps0), n)


@functools.cache
def worst_deltas(name, k, n, eps0):
    """delta of the worst dataset of the other users, for every pair of values: {pair: delta at all eps}."""
    randomizer, shuffled = randomizer_and_shuffled(name, k, n, eps0)
    eps = SHARES_OF_EPS0 * randomizer.eps0
    return {
        pair: np.max([shuffled.delta(others, pair, eps) for others in shuffled.datasets()], axis=0)
        for pair in itertools.permutations(range(k), 2)
    }


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
    randomizer, _ = randomizer_and_shuffled(name, k, n, eps0)
    eps = SHARES_OF_EPS0 * randomizer.eps0
    worst = np.max(list(worst_deltas(name, k, n, eps0).values()), axis=0)
    low = tightshuffle.delta(eps, method="lower", n=n, randomizer=randomizer)
    high = tightshuffle.delta(eps, method="privacy-blanket", n=n, randomizer=randomizer)
    assert np.all(low <= worst * ROUNDING)
    assert np.all(worst <= high * ROUNDING)
    assert np.all(high < 25 * low)  # so wide for so few users: a ratio of up to 20 here


@pytest.mark.parametrize("name", ["grr", "subset:2", "rappor", "oue", "hadamard", "hash:3"])
def test_a_randomizer_has_the_same_bound_by_its_name(name):
    randomizer = parse(name, k=3, eps0=0.5)
    by_name = tightshuffle.delta(0.4, n=4, k=3, eps0=0.5, randomizer=name)
    assert by_name == tightshuffle.delta(0.4, n=4, randomizer=randomizer)


@pytest.mark.parametrize("eps0", [0.5, 2.0])
@pytest.mark.parametrize(("name", "k", "n"), NAMES_K_N)
def test_delta_of_the_worst_dataset_is_between_those_of_a_mixture_and_the_blanket(name, k, n, eps0):
    """The laws of a report are a mixture of two columns of the matrix, and the blanket."""
    randomizer, _ = randomizer_and_shuffled(name, k, n, eps0)
    all_eps = SHARES_OF_EPS0 * randomizer.eps0
    mixture = {"x0": 0.5, f"x{min(k - 1, 2)}": 0.5}
    for pair, worst_of_pair in worst_deltas(name, k, n, eps0).items():
        for eps, worst in zip(all_eps, worst_of_pair, strict=True):
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
            all_eps = SHARES_OF_EPS0 * randomizer.eps0
            of_datasets = shuffled.delta([value] * (n - 1), pair, all_eps)
            for eps, of_dataset in zip(all_eps, of_datasets, strict=True):
                of_gains = delta_of_gains(randomizer.gains(eps, reference, pair), n)
                assert of_gains == pytest.approx(of_dataset, rel=1e-9, abs=1e-15)


def largest_width(randomizer, high):
    """What docs/package.md says of the bracket of many users: upper eps over lower eps, less 1, at most."""
    if randomizer == "grr":
        return 0.002
    return 0.1 if high <= 0.1 else 1.0


def bracket_is_as_narrow_as_said(delta, **setting):
    low, high = tightshuffle.bracket(delta, **setting)
    assert 0 < low <= high <= low * (1 + largest_width(setting["randomizer"], high)), setting


# The widest brackets that searches for them found: the randomizer, n, k, eps0 and log10 of delta. Of each
# kind some have an upper eps up to 0.1, and some a larger one.
WIDEST = [
    ("grr", 117_839, 2, 5.758822941700951, -2.0),
    ("grr", 469_568, 14, 5.8308605339280195, -2.0),
    ("grr", 102_329, 2, 7.961207984125866, -4.13250258650911),
    ("hash:3", 1_000_000, 3, 7.263331005859376, -2.0),
    ("hash:2", 102_329, 2, 8.597112897626491, -9.406698237797182),
    ("hash:2", 10_000_000, 3, 14.8720703125, -2.0),
    ("hash:30", 100_000, 2, 9.514404296875, -2.0),
    ("subset:1", 100_000, 2, 4.854696166992186, -2.0),
    ("subset:2", 853_260, 4, 11.690221969238191, -2.0),
    ("subset:512", 100_000, 1024, 10.26513671875, -2.0),
    ("rappor", 1_072_282, 3, 6.650227597873583, -2.0),
    ("rappor", 100_000, 2, 9.49609375, -2.0),
    ("oue", 430_420, 2, 7.032686397389925, -2.0),
    ("oue", 102_329, 2, 8.3142833448469, -11.149980503141162),
    ("oue", 100_000, 2, 10.80712890625, -2.0),
    ("hadamard", 156_761, 2, 6.187482676081967, -2.0),
    ("hadamard", 100_000, 2, 10.80712890625, -2.0),
]


@pytest.mark.parametrize(("randomizer", "n", "k", "eps0", "log10_delta"), WIDEST)
def test_the_widest_brackets_of_many_users_are_as_narrow_as_said(
    randomizer, n, k, eps0, log10_delta
):
    setting = {"n": n, "k": k, "eps0": eps0, "randomizer": randomizer}
    bracket_is_as_narrow_as_said(10**log10_delta, **setting)


# m above k/2, of which docs/package.md promises no width.
LARGE_SUBSETS = [
    ("subset:10", 102_329, 11, 6.749947624541271, -4.985431552411411, 1.01),
    ("subset:3", 102_329, 4, 8.971469070534088, -5.713899849407072, 1.16),
    ("subset:166", 4_315_186, 167, 12.6796875, math.log10(1.0241627805169322e-08), 3.95),
]


@pytest.mark.parametrize(("randomizer", "n", "k", "eps0", "log10_delta", "ratio"), LARGE_SUBSETS)
def test_the_bracket_of_large_subsets_may_be_wide(randomizer, n, k, eps0, log10_delta, ratio):
    """The upper eps is up to four times the lower one."""
    setting = {"n": n, "k": k, "eps0": eps0, "randomizer": randomizer}
    low, high = tightshuffle.bracket(10**log10_delta, **setting)
    assert 0.01 <= high <= 1
    assert high / low == pytest.approx(ratio, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["grr", "subset", "rappor", "oue", "hadamard", "hash"])
def test_how_narrow_the_bracket_of_many_users_is(kind):
    """It is at most as wide as docs/package.md says, in 20 random settings of the range that it names.

    These are 10^5 to 10^8 users, 2 to 1024 values, an upper eps from 0.01 to 1, delta from 1e-12 to 0.01, and
    subsets of up to half of the values. A third of the settings has two values, and a third the largest
    delta.
    """
    rng = np.random.default_rng(20261124)
    tried = 0
    while tried < 20:
        k = int(rng.choice([2, 2, 3, 4, 16, 1024]))
        # How many values a subset has, and how many results a hash function.
        subsets = [1, max(1, k // 2), rng.integers(1, k // 2 + 1)]
        numbers = {"subset": rng.choice(subsets), "hash": rng.choice([2, 3, 5, 16, 64, 1000])}
        setting = {
            "n": int(10 ** rng.uniform(5, 8)),
            "k": k,
            "eps0": rng.uniform(0.5, 15),
            "randomizer": f"{kind}:{numbers[kind]}" if kind in numbers else kind,
        }
        delta = 0.01 if tried % 3 == 0 else 10 ** rng.uniform(-12, -2)
        if 0.01 <= tightshuffle.epsilon(delta, **setting) <= 1:
            bracket_is_as_narrow_as_said(delta, **setting)
            tried += 1
