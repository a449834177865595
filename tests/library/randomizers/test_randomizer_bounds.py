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

PARTS = (0.0, 0.2, 0.5, 0.8, 0.95)  # of eps0


def mean_gain(gains, n):
    """E[(G_1 + ... + G_n)_+] / n, from every way in which n gains fall into their classes."""
    values, probabilities = gains
    probabilities = np.append(probabilities, max(0.0, 1 - probabilities.sum()))
    values = np.append(values, 0.0)
    total = 0.0
    for drawn in itertools.combinations_with_replacement(range(len(values)), n):
        often = np.bincount(drawn, minlength=len(values))
        ways = math.factorial(n) / math.prod(math.factorial(number) for number in often.tolist())
        total += ways * np.prod(probabilities**often) * max(0.0, float(often @ values))
    return total / n


CASES = [
    *[("grr", 3, 5), ("grr", 4, 4), ("subset:2", 3, 5), ("subset:2", 4, 4), ("subset:3", 4, 4)],
    *[("rappor", 2, 5), ("rappor", 3, 4), ("oue", 3, 4), ("oue", 4, 3), ("hadamard", 2, 5)],
    *[("hadamard", 3, 5), ("hadamard", 4, 4), ("hash:2", 3, 4), ("hash:3", 3, 4), ("matrix", 3, 4)],
]


@pytest.mark.parametrize("eps0", [0.5, 2.0])
@pytest.mark.parametrize(("name", "k", "n"), CASES)
def test_no_dataset_violates_the_blanket_or_the_bounds_and_references_are_datasets(
    name, k, n, eps0
):
    randomizer, matrix = both(name, k, eps0)
    pairs = list(itertools.permutations(range(k), 2))
    reports = np.eye(len(matrix)) if name == "matrix" else supports_of(name, k)
    shuffled = Shuffled(merged(reports, matrix)[0], n)
    epses = np.array(PARTS) * randomizer.eps0
    lows, highs = (10 ** bound(epses, n=n, randomizer=randomizer) for bound in (lower, upper))
    if name != "matrix":
        np.testing.assert_array_equal(
            10 ** upper(epses, n=n, k=k, eps0=eps0, randomizer=name), highs
        )
    for eps, low, high in zip(epses, lows, highs, strict=True):
        deltas = {
            pair: max(shuffled.delta(own, pair, eps) for own in shuffled.datasets())
            for pair in pairs
        }
        worst = max(deltas.values())
        # Which stands for all, but in a matrix.
        for pair in pairs if name == "matrix" else [(0, 1)]:
            most = deltas[pair] if name == "matrix" else worst
            assert (
                most <= mean_gain(randomizer.gains(eps, "blanket", pair), n) * (1 + 1e-12) + 1e-16
            )
            mixture = {"x0": 0.5, "x2" if k > 2 else "x1": 0.5}
            assert mean_gain(randomizer.gains(eps, mixture, pair), n) <= most * (1 + 1e-12) + 1e-16
            order = [*pair, *[value for value in range(k) if value not in pair]]
            for place, reference in enumerate(randomizer.references()):
                exact = shuffled.delta((order[place],) * (n - 1), pair, eps)
                ours = mean_gain(randomizer.gains(eps, reference, pair), n)
                assert ours == pytest.approx(exact, rel=1e-9, abs=1e-15), (reference, eps)
        assert low * (1 - 1e-12) <= worst <= high * (1 + 1e-12)
        assert high < 25 * low


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["grr", "subset", "rappor", "oue", "hadamard", "hash"])
def test_how_narrow_the_bracket_of_many_users_is(kind):
    """The ranges of docs/package.md, in random settings."""
    random = np.random.default_rng(20261124)
    tried = 0
    while tried < 100:
        k = int(random.choice([4, 16, 64, 256, 1024]))
        size = {"subset": random.integers(2, k // 2 + 1), "hash": random.choice([2, 3, 5, 16, 64])}
        setting = {
            "n": int(10 ** random.uniform(5, 9)),
            "k": k,
            "eps0": random.uniform(0.5, 12),
            "randomizer": f"{kind}:{size[kind]}" if kind in size else kind,
        }
        delta = 10 ** random.uniform(-12, -4)
        high = tightshuffle.epsilon(delta, **setting)
        if 0.01 <= high <= 1:
            low = tightshuffle.epsilon(delta, method="lower", **setting)
            most = 1e-4 if kind == "grr" else 2e-3 if high <= 0.1 else 0.1
            assert low <= high <= low * (1 + most), (setting, delta)
            tried += 1
