"""What a report's gain and the bounds promise: delta of every dataset of the other users, enumerated."""

import itertools
import math

import numpy as np
import pytest

import tightshuffle
from tests.library.at_points import at_points
from tests.library.bounds.enumeration import Shuffled
from tests.library.randomizers.matrices import both, merged, supports_of
from tightshuffle.bounds import privacy_blanket

lower, upper = at_points(privacy_blanket.log10_lower), at_points(privacy_blanket.log10_upper)


def delta_of_gains(gains, n):
    """E[(G_1 + ... + G_n)_+] / n of independent gains, as a sum over how often each value occurs among them.

    ``gains`` is the law of each G_i: values, and their probabilities. With what is left of 1, G_i is 0.
    """
    values, probabilities = gains
    values = np.append(values, 0.0)
    probabilities = np.append(probabilities, max(0.0, 1 - probabilities.sum()))
    total = 0.0
    for drawn in itertools.combinations_with_replacement(range(len(values)), n):
        counts = np.bincount(drawn, minlength=len(values))
        ways = math.factorial(n) / math.prod(map(math.factorial, counts.tolist()))
        total += ways * np.prod(probabilities**counts) * max(0.0, float(counts @ values))
    return total / n


CASES = [
    *[("grr", 3, 5), ("grr", 4, 4), ("subset:2", 3, 5), ("subset:2", 4, 4), ("subset:3", 4, 4)],
    *[("rappor", 2, 5), ("rappor", 3, 4), ("oue", 3, 4), ("oue", 4, 3), ("hadamard", 2, 5)],
    *[("hadamard", 3, 5), ("hadamard", 4, 4), ("hash:2", 3, 4), ("hash:3", 3, 4), ("matrix", 3, 4)],
]


def shuffled_reports(name, matrix, n):
    """The shuffle model of n users; reports that support the same values are one outcome."""
    reports = np.eye(len(matrix)) if name == "matrix" else supports_of(name, matrix.shape[1])
    [matrix_of_outcomes] = merged(reports, matrix)
    return Shuffled(matrix_of_outcomes, n)


@pytest.mark.parametrize("eps0", [0.5, 2.0])
@pytest.mark.parametrize(("name", "k", "n"), CASES)
def test_no_dataset_violates_the_bounds_or_the_blanket_and_references_are_datasets(
    name, k, n, eps0
):
    """Delta is enumerated for every pair of values and every dataset of the n - 1 other users:

    1. The largest delta of all lies between ``lower`` and ``upper``, which are log10.
    2. For each pair, the largest is at most E[(sum of n gains)_+] / n under the blanket, and at least that
       under a mixture of two columns of the matrix. ``delta_of_gains`` computes this expectation.
    3. Under a single column, the expectation is delta if all other users hold this value.

    ``both`` returns the randomizer and its matrix of P(report | value). 1e-12 and 1e-16 are for rounding.
    """
    randomizer, matrix = both(name, k, eps0)
    shuffled = shuffled_reports(name, matrix, n)
    pairs = list(itertools.permutations(range(k), 2))
    eps = np.array([0.0, 0.2, 0.5, 0.8, 0.95]) * randomizer.eps0
    deltas = {
        pair: np.array([shuffled.delta(others, pair, eps) for others in shuffled.datasets()])
        for pair in pairs
    }
    largest_delta = np.max([deltas[pair].max(axis=0) for pair in pairs], axis=0)
    low = 10 ** lower(eps, n=n, randomizer=randomizer)
    high = 10 ** upper(eps, n=n, randomizer=randomizer)
    assert np.all(low * (1 - 1e-12) <= largest_delta)
    assert np.all(largest_delta <= high * (1 + 1e-12))
    assert np.all(high < 25 * low)  # so wide for so few users: a ratio of up to 20 here
    if name != "matrix":
        by_name = 10 ** upper(eps, n=n, k=k, eps0=eps0, randomizer=name)
        np.testing.assert_array_equal(by_name, high)

    # One pair is enough, as the gains of all pairs have the same law, except for "matrix".
    for pair in pairs if name == "matrix" else [(0, 1)]:
        # The values that a reference calls "x0", "x1", "x2", ...
        values = [*pair, *sorted({*range(k)} - {*pair})]
        mixture = {"x0": 0.5, "x2" if k > 2 else "x1": 0.5}
        largest_deltas = deltas[pair].max(axis=0) if name == "matrix" else largest_delta
        for i, largest in enumerate(largest_deltas):
            of_blanket = delta_of_gains(randomizer.gains(eps[i], "blanket", pair), n)
            assert largest <= of_blanket * (1 + 1e-12) + 1e-16
            of_mixture = delta_of_gains(randomizer.gains(eps[i], mixture, pair), n)
            assert of_mixture <= largest * (1 + 1e-12) + 1e-16
            for value, reference in zip(values, randomizer.references(), strict=False):
                if_all_others_hold_it = shuffled.delta((value,) * (n - 1), pair, eps[i])
                of_reference = delta_of_gains(randomizer.gains(eps[i], reference, pair), n)
                assert of_reference == pytest.approx(if_all_others_hold_it, rel=1e-9, abs=1e-15)


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
