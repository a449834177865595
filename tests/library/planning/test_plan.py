"""The plan: its guarantee holds and is the largest; its errors are those of a simulation."""

import itertools
import math
from functools import partial

import numpy as np
import pytest

import tightshuffle
from tightshuffle.gaussian import log10_delta_of_scale
from tightshuffle.planning.tuning import most_private
from tightshuffle.randomizers import SubsetSelection, parse
from tightshuffle.randomizers.expected_errors import errors

upper = partial(tightshuffle.delta, log10=True)


@pytest.mark.parametrize(
    ("n", "k", "eps", "log10_delta"),
    [
        (100_000, 408, 0.5, -6.0),
        (1000, 15, 1.0, -6.0),
        (1000, 10, 1e-6, -5.0),
        (10**12, 50, 0.001, -9.0),
        (1000, 15, 0.5, -500.0),
    ],
)
def test_the_guarantee_holds_and_no_larger_eps0_gives_it(n, k, eps, log10_delta):
    allowed = tightshuffle.plan(n=n, k=k, eps=eps, log10_delta=log10_delta)
    assert allowed.eps0 > eps
    assert not allowed.capped
    assert upper(eps, n=n, k=k, eps0=allowed.eps0) == allowed.log10_delta <= log10_delta
    assert upper(eps, n=n, k=k, eps0=allowed.eps0 * 1.001) > log10_delta
    # The Gaussian beside it has the same guarantee, and no smaller noise has.
    gaussian = log10_delta_of_scale(eps, scale=allowed.sigma, sensitivity=np.sqrt(2))
    assert gaussian == pytest.approx(log10_delta, abs=1e-8)


def test_one_user_has_randomized_response():
    # n = 1: delta = p - e^eps q, hence e^eps0 (1 - delta) = e^eps + delta (k - 1).
    eps, k, delta = 1.0, 5, 1e-3
    allowed = tightshuffle.plan(n=1, k=k, eps=eps, log10_delta=np.log10(delta))
    # upper is moved up by 2e-8 of delta, the search ends within 1e-6 of eps0
    expected = np.log((np.exp(eps) + delta * (k - 1)) / (1 - delta))
    assert allowed.eps0 == pytest.approx(expected, rel=3e-6)
    assert allowed.eps0 < expected


@pytest.mark.parametrize("randomizer", ["grr", "oue", "hash:4"])
def test_fewest_users_are_those_of_a_search_one_by_one(randomizer):
    setting = {"k": 4, "eps": 1.0, "delta": 1e-2, "randomizer": randomizer}
    plans = (tightshuffle.plan(n=n, **setting) for n in itertools.count(1))
    first = next(found for found in plans if found.tv["shuffle+INV"] <= 0.3)
    assert tightshuffle.plan(error=0.3, **setting).n == first.n > 10


ERRORS = [
    *[("grr", 1000, 0.01, -12.0, 1e-4, 0.5), ("grr", 4, 5.0, -300.0, 1e-5, 0)],
    ("grr", 5, 3.0, -6.0, 0.5, 0),  # two users, who need no shuffler
    *[("oue", 50, 0.5, -6.0, 0.02, 0.01), ("rappor", 20, 1.0, -9.0, 0.001, 5000)],
]


@pytest.mark.parametrize(("randomizer", "k", "eps", "log10", "error", "colluding"), ERRORS)
def test_with_fewer_users_guarantee_and_error_are_not_both_met(
    randomizer, k, eps, log10, error, colluding
):
    options = {"log10_delta": log10, "randomizer": randomizer, "colluding": colluding}
    found = tightshuffle.plan(k=k, eps=eps, error=error, **options)
    setting = {"k": k, "eps0": found.eps0, "randomizer": randomizer, "colluding": colluding}
    assert upper(eps, n=found.n, **setting) == found.log10_delta <= log10
    own = parse(randomizer, k=k, eps0=found.eps0)
    assert found.tv["shuffle+INV"] <= error
    expected = errors(own, np.full(k, 1 / k), n=found.n).sum() / 2
    assert found.tv["shuffle+INV"] == pytest.approx(expected, rel=1e-12)
    assert tightshuffle.plan(n=found.n - 1, k=k, eps=eps, **options).tv["shuffle+INV"] > error


@pytest.mark.parametrize(
    ("kind", "n", "k", "eps"),
    [
        ("subset", 30, 64, 0.1),
        ("subset", 1000, 12, 1.0),
        ("hash", 200, 30, 0.5),
        ("hash", 1000, 12, 1.0),
    ],
)
def test_without_a_number_the_plan_has_the_least_error_of_all_m_or_g(kind, n, k, eps):
    setting = {"n": n, "k": k, "eps": eps, "delta": 1e-4}
    found = tightshuffle.plan(**setting, randomizer=kind)
    assert found == tightshuffle.plan(**setting, randomizer=found.randomizer)
    numbers = range(2, k) if kind == "subset" else range(2, 60)
    names = [f"{kind}:{number}" for number in numbers]
    if kind == "subset":
        names.append("grr")
    errors_of = [tightshuffle.plan(**setting, randomizer=name).tv["shuffle+INV"] for name in names]
    assert found.tv["shuffle+INV"] <= min(errors_of) * (1 + 1e-5 if kind == "subset" else 1.003)


def test_a_tuned_plan_counts_colluding_users_and_does_not_depend_on_the_data():
    setting = {"k": 300, "eps": 0.1, "delta": 1e-6, "randomizer": "subset", "colluding": 500}
    found = tightshuffle.plan(n=1000, **setting)
    fixed = tightshuffle.plan(n=1000, **{**setting, "randomizer": "subset:2"})
    assert found.tv["shuffle+INV"] < fixed.tv["shuffle+INV"]
    skewed = tightshuffle.plan(n=1000, **setting, shares=np.eye(300)[0])
    assert skewed.randomizer == found.randomizer
    assert skewed.tv["shuffle+INV"] != found.tv["shuffle+INV"]


@pytest.mark.slow
def test_fewest_users_of_four_rounds():
    setting = {"k": 5, "eps": 1.0, "log10_delta": -6.0, "rounds": 4}
    found = tightshuffle.plan(error=0.02, **setting)
    assert (
        found.tv["shuffle+INV"]
        <= 0.02
        < tightshuffle.plan(n=found.n - 1, **setting).tv["shuffle+INV"]
    )
    bound = tightshuffle.upper(1.0, n=found.n, k=5, eps0=found.eps0, rounds=4, log10=True)
    assert bound == found.log10_delta <= -6


def test_the_gaussian_has_the_neighbours_of_the_sums():
    """One count of a user who has a value or none changes, two of one whose value is replaced."""
    asked = {"randomizer": "rappor", "release": "sums"}
    replaced, deleted = (
        tightshuffle.plan(n=100_000, k=64, eps=1.0, delta=1e-6, deletion=each, **asked).tv
        for each in (False, True)
    )
    assert replaced["gaussian"] == pytest.approx(math.sqrt(2) * deleted["gaussian"], rel=1e-9)


def test_ends_of_the_range():
    assert tightshuffle.plan(n=50, k=4, eps=3.0, log10_delta=-1e-9).capped
    # So small a delta leaves nothing but eps0 = eps, but for the last digits.
    assert tightshuffle.plan(n=3, k=4, eps=3.0, log10_delta=-1e5).eps0 == pytest.approx(
        3.0, rel=1e-6
    )


def test_a_variance_that_no_parameter_reaches_has_an_infinite_eps0():
    setting = {"n": np.array([1e4]), "k": np.array([10.0]), "variance": np.array([1e-30])}
    _, eps0 = most_private(SubsetSelection, np.array([2]), np.array([0.5]), **setting)
    assert eps0.tolist() == [math.inf]
