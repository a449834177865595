"""Rounds composed from bounds on delta: against full enumeration, closed forms and brute force."""

import itertools
import math
from fractions import Fraction
from functools import partial

import mpmath as mp
import numpy as np
import pytest

import tightshuffle
from tests.library.at_points import at_points
from tests.library.bounds import dominating
from tests.library.bounds.dominating import histograms, weak
from tests.library.bounds.enumeration import krr
from tightshuffle.bounds import privacy_blanket, rounds
from tightshuffle.bounds.gaussian_limit import gaussian_eps
from tightshuffle.gaussian import log10_delta_of_scale
from tightshuffle.randomizers import Finite, KRandomizedResponse

upper = at_points(privacy_blanket.log10_upper)


def gaussian(mu):
    return rounds.Curve(lambda eps: log10_delta_of_scale(eps, scale=1 / mu), math.inf)


def of_outcomes(probabilities, largest=math.inf):
    """The exact curve of a finite pair: rows (P, Q), its own mirror image."""
    p, q = np.array(probabilities).T

    def log10_delta(eps):
        with np.errstate(divide="ignore"):
            return np.log10(np.maximum(p - np.exp(eps)[:, None] * q, 0).sum(axis=1))

    return rounds.Curve(log10_delta, largest)


def of_product(eps, *pairs):
    """delta of the product of finite pairs, outcome by outcome."""
    p, q = np.array([np.prod(outcome, axis=0) for outcome in itertools.product(*pairs)]).T
    return np.maximum(p - math.exp(eps) * q, 0).sum()


@pytest.mark.parametrize("ratios", [(3, 3), (2, 5)])
def test_no_dataset_of_two_rounds_exceeds_the_bound(ratios):
    n, k = 3, 3
    datasets = list(itertools.combinations_with_replacement(range(k), n - 1))
    # Symmetric.
    matrices = [[krr(value, Fraction(ratio), k) for value in range(k)] for ratio in ratios]
    of_round = [
        [list(histograms(own, values, n).values()) for values in datasets] for own in matrices
    ]
    owns = [KRandomizedResponse(k, math.log(ratio)) for ratio in ratios]
    curves = [rounds.Curve(partial(upper, n=n, randomizer=own), own.eps0) for own in owns]
    of_curves = [
        [(float(p), float(q)) for p, q in weak(n, k, math.log(r)).values()] for r in ratios
    ]
    both = rounds.Rounds([(own, 1) for own in curves])
    for grown in (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(4), Fraction(7)):
        worst = max(
            sum(
                max(p * r - grown * q * s, 0) for (p, q), (r, s) in itertools.product(first, second)
            )
            for first, second in itertools.product(*of_round)
        )
        bound = 10 ** both.log10_delta(math.log(grown))
        assert worst <= bound
        # No wider than the bound of each round.
        assert bound <= 1.01 * of_product(math.log(grown), *of_curves) + 1e-9


@pytest.mark.parametrize("mu", [0.003, 0.2, 1.5])
@pytest.mark.parametrize("times", [1, 2, 52, 1000])
def test_gaussian_rounds_are_a_gaussian(mu, times):
    together = rounds.Rounds([(gaussian(mu), times)])
    total = mu * math.sqrt(times)
    for wanted in (-2, -6, -12, -40, -150):
        exact = gaussian_eps(wanted, total)
        assert exact <= together.epsilon(wanted) <= 1.0015 * exact
        assert exact == 0 or together.log10_delta(exact) >= wanted


# Each with its mirror image; the second has an infinite loss, the third losses far apart.
THREE = [(0.5, 0.2), (0.2, 0.5), (0.3, 0.3)]
INFINITE = [(0.01, 0.0), (0.0, 0.01), (0.6, 0.39), (0.39, 0.6)]
FAR = [(0.0201, 1e-4), (1e-4, 0.0201), (0.9798, 0.9798)]


def test_different_rounds_of_small_distributions():
    parts = [
        (of_outcomes(THREE, math.log(2.5)), 2),
        (of_outcomes(INFINITE), 1),
        (of_outcomes(FAR), 1),
    ]
    together = rounds.Rounds(parts)
    eps = np.array([0.0, 0.3, 1.0, 2.5, 5.0, 7.0, 9.0])
    bound = 10 ** together.log10_delta(eps)
    exact = np.array([of_product(e, THREE, THREE, INFINITE, FAR) for e in eps])
    assert np.all(bound >= exact)
    assert np.all(bound <= 1.02 * exact)
    assert exact[-1] == pytest.approx(0.01)  # the infinite loss
    assert math.isnan(together.epsilon(-2.01))
    assert together.epsilon(-1.9) < 7.0


def test_rounds_of_one_large_loss():
    """Where every round has to have its largest loss."""
    p, q, times = 0.6, 0.3, 5
    largest = math.log(p / q)
    together = rounds.Rounds([(of_outcomes([(p, q), (q, p), (0.1, 0.1)], largest), times)])
    for share in (0.9, 0.999, 1 - 1e-9):
        eps = times * largest * share
        exact = p**times * -math.expm1(eps - times * largest)
        assert exact <= 10 ** together.log10_delta(eps) <= 1.001 * exact
    assert together.log10_delta(together.largest) == -math.inf
    assert together.epsilon(-300) <= together.largest == pytest.approx(times * largest, rel=1e-15)


@pytest.mark.parametrize(("times", "eps0"), [(3, 0.7), (3, 0.3), (5, 0.1), (7, 0.7)])
def test_delta_next_to_all_budgets_together_is_not_0(times, eps0):
    """One user, k = 2: p^t (1 - e^(eps - t eps0)). As floats, t eps0 can be below the sum of the budgets."""
    p, eps = 1 / (1 + math.exp(-eps0)), times * eps0
    short = float(times * Fraction(eps0) - Fraction(eps))
    assert tightshuffle.upper(eps, n=1, k=2, eps0=eps0, rounds=times) >= p**times * short
    found = tightshuffle.epsilon(log10_delta=-20, n=1, k=2, eps0=eps0, rounds=times)
    assert Fraction(found) >= times * Fraction(eps0) - Fraction(1e-19)


def test_a_curve_without_loss():
    nothing = rounds.Curve(lambda eps: np.full(eps.shape, -np.inf), 1.0)
    assert np.all(rounds.Rounds([(nothing, 3)]).log10_delta([0.0, 0.1]) < -10)
    alone, both = (rounds.Rounds([(gaussian(0.3), 2), *more]) for more in ([], [(nothing, 50)]))
    assert both.log10_delta(1.0) == pytest.approx(alone.log10_delta(1.0), abs=3e-3)


METHOD = {  # that computes one round of the dominating pair
    "strong": "koskela-strong",
    "weak": "upper",
    "clones": "clones",
    "stronger-clones": "stronger-clones",
}


@pytest.mark.parametrize("pair", METHOD)
@pytest.mark.parametrize(
    ("n", "k", "eps0", "times"), [(1, 3, 1.0, 3), (4, 3, 1.5, 3), (6, 4, 0.4, 2)]
)
def test_rounds_of_a_dominating_pair_multiplied_out(pair, n, k, eps0, times):
    outcomes = dominating.compose(dominating.PAIRS[pair](n, k, eps0), times)
    for eps in (0.0, 0.3 * eps0, 1.1 * eps0, 1.9 * eps0):
        exact = float(dominating.hockey_stick(eps, outcomes))
        bound = tightshuffle.delta(eps, method=METHOD[pair], n=n, k=k, eps0=eps0, rounds=times)
        assert exact <= bound <= 1.002 * exact


@mp.workdps(50)
def only_the_largest_loss(eps, pair, n, k, eps0, times):
    """log10 delta where no loss but ``times`` times the largest, eps0, exceeds eps; None where others do."""
    bound, almost = times * mp.mpf(eps0), eps0 * (1 - mp.mpf("1e-40"))
    losses = [
        (mp.log(p / q), p) for p, q in dominating.PAIRS[pair](n, k, mp.mpf(eps0)).values() if q
    ]
    if max(loss for loss, _ in losses if loss < almost) + bound - eps0 >= eps:
        return None
    return mp.log10(sum(p for loss, p in losses if loss > almost) ** times * -mp.expm1(eps - bound))


def test_rounds_next_to_the_largest_loss():
    cases = [
        *((79.999992, "weak", 3, 3, 20.0, 4), (41.999958, "clones", 2, 2, 14.0, 3)),
        *((79.999992, "clones", 2, 4, 20.0, 4), (3.99999999999996, "weak", 1, 7, 4.0, 1)),
    ]
    rng = np.random.default_rng(25)
    for _ in range(40):
        pair = ("weak", "clones", "stronger-clones")[rng.integers(3)]
        n, k, times = (
            int(rng.integers(1, 5)),
            int(rng.integers(3, 8)),
            int(rng.choice([1, 2, 3, 4])),
        )
        eps0 = float(rng.choice([0.001, 0.1, 1, 4, 14, 20]))
        cases.append((times * eps0 * (1 - 10 ** -rng.uniform(3, 14)), pair, n, k, eps0, times))
    compared = 0
    for eps, pair, n, k, eps0, times in cases:
        truth = only_the_largest_loss(eps, pair, n, k, eps0, times)
        if truth is not None:
            compared += 1
            rounds_of = {"method": METHOD[pair], "rounds": times, "log10": True}
            bound = tightshuffle.delta(eps, n=n, k=k, eps0=eps0, **rounds_of)
            # Where delta is so small that the bound on the transform's noise counts.
            rounding = 1e-12 * max(times * eps0, 1) / max(times * eps0 - eps, 1e-16)
            assert 0 <= bound - truth <= 1e-8 + math.log10(1 + rounding), (
                eps,
                pair,
                n,
                k,
                eps0,
                times,
            )
    assert compared > 40


def test_a_matrix_whose_directions_differ():
    columns = np.array([[0.6, 0.2, 0.3], [0.3, 0.4, 0.3], [0.1, 0.4, 0.4]])
    own = Finite(columns)
    # Any two values of the user and any dataset, in each round.
    pairs = [
        np.array(list(histograms(columns[:, [x0, x1, *values]], (2, 3), 3).values()))
        for x0, x1 in itertools.permutations(range(3), 2)
        for values in itertools.combinations_with_replacement(range(3), 2)
    ]
    for eps in (0.0, 0.4, 1.1):
        worst = 0.0
        for first, second in itertools.combinations_with_replacement(pairs, 2):
            p, q = np.einsum("ic,jc->cij", first, second)
            worst = max(worst, np.maximum(p - np.exp(eps) * q, 0).sum())
        assert worst <= tightshuffle.delta(eps, n=3, randomizer=own, rounds=2)
