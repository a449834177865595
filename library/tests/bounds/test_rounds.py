"""Rounds composed from bounds on delta: against full enumeration, closed forms and brute force."""

import itertools
import math
from fractions import Fraction
from unittest.mock import patch

import mpmath as mp
import numpy as np
import pytest

import tightshuffle
from tests.bounds import dominating
from tests.bounds.dominating import histogram_pair
from tests.randomizers.matrices import MATRIX_WHOSE_DIRECTIONS_DIFFER, matrix_of
from tightshuffle.bounds import rounds
from tightshuffle.bounds.gaussian_limit import gaussian_eps
from tightshuffle.mechanisms.gaussian import log10_delta_of_scale
from tightshuffle.numerics.powers import LN10
from tightshuffle.randomizers import Finite


def gaussian_curve(mu):
    """The curve of a Gaussian mechanism of sensitivity 1 and standard deviation 1 / ``mu``."""
    return rounds.Curve(lambda eps: log10_delta_of_scale(eps, scale=1 / mu) * LN10, math.inf)


def exact_curve(probabilities, largest=math.inf):
    """The exact curve of a finite pair with no loss above ``largest`` and one delta for both directions.

    ``probabilities`` has a row (P, Q) for each outcome.
    """
    p, q = np.array(probabilities).T

    def ln_delta(eps):
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(p - np.exp(eps)[:, None] * q, 0).sum(axis=1))

    return rounds.Curve(ln_delta, largest)


def delta_of_product(e_eps, *pairs):
    """delta at e^eps of independent outcomes of all ``pairs``, each of which has rows (P, Q)."""
    products = [np.prod(outcomes, axis=0) for outcomes in itertools.product(*pairs)]
    return sum(max(p - e_eps * q, 0) for p, q in products)


@pytest.mark.parametrize("mu", [0.003, 0.2, 1.5])
@pytest.mark.parametrize("times", [1, 2, 52, 1000])
def test_gaussian_rounds_are_a_gaussian(mu, times):
    """mu, the sensitivity over the standard deviation, grows as the root of the number of rounds."""
    together = rounds.Rounds([(gaussian_curve(mu), times)])
    for log10_delta in (-2, -6, -12, -40, -150):
        ln_delta = log10_delta * LN10
        exact = gaussian_eps(ln_delta, mu * math.sqrt(times))
        assert exact <= together.epsilon_of(ln_delta) <= 1.0015 * exact
        assert exact == 0 or together.ln_delta(np.array(exact)) >= ln_delta


def test_epsilon_is_rounded_up_to_where_delta_is_small_enough():
    """The search ends within 1e-11 of the root, on either side of it: the margin has to make up for that."""
    together = rounds.Rounds([(gaussian_curve(0.2), 4)])
    for target in np.linspace(-60, -3, 40).tolist():
        eps = together.epsilon_of(target)
        ln_delta, ln_delta_before = together.ln_delta(np.array([eps, eps - 1e-9]))
        assert ln_delta <= target < ln_delta_before


# Rows (P, Q) of pairs that are their own mirror images.
THREE_OUTCOMES = [(0.5, 0.2), (0.2, 0.5), (0.3, 0.3)]
INFINITE_LOSS = [(0.01, 0.0), (0.0, 0.01), (0.6, 0.39), (0.39, 0.6)]
LOSSES_FAR_APART = [(0.0201, 1e-4), (1e-4, 0.0201), (0.9798, 0.9798)]
FOUR_ROUNDS = rounds.Rounds(
    [
        (exact_curve(THREE_OUTCOMES, largest=math.log(2.5)), 2),
        (exact_curve(INFINITE_LOSS), 1),
        (exact_curve(LOSSES_FAR_APART), 1),
    ]
)


@pytest.mark.parametrize("eps", [0.0, 0.3, 1.0, 2.5, 5.0, 7.0, 9.0])
def test_delta_of_four_different_rounds(eps):
    """The bound is at least delta of the product of the four pairs, and at most 2 % above (1e-9 was seen)."""
    pairs = (THREE_OUTCOMES, THREE_OUTCOMES, INFINITE_LOSS, LOSSES_FAR_APART)
    exact = delta_of_product(math.exp(eps), *pairs)
    assert exact <= math.exp(FOUR_ROUNDS.ln_delta(np.array(eps))) <= 1.02 * exact


def test_no_eps_has_a_delta_below_the_probability_of_an_infinite_loss():
    """One round of FOUR_ROUNDS has an infinite loss with the probability 0.01."""
    assert math.isnan(FOUR_ROUNDS.epsilon_of(math.log(0.0099)))
    assert FOUR_ROUNDS.epsilon_of(math.log(0.0125)) < 7.0  # the largest finite loss is about 7.6


# Five equal rounds, whose largest loss is ln(0.6 / 0.3) each.
LARGEST_OF_FIVE = 5 * math.log(2)
FIVE_ROUNDS = rounds.Rounds(
    [(exact_curve([(0.6, 0.3), (0.3, 0.6), (0.1, 0.1)], largest=math.log(2)), 5)]
)


@pytest.mark.parametrize("share_of_largest", [0.9, 0.999, 1 - 1e-9])
def test_delta_of_five_rounds_next_to_their_largest_loss(share_of_largest):
    """It is 0.6^5 - e^eps 0.3^5: every round has its own largest loss, ln(0.6 / 0.3)."""
    eps = LARGEST_OF_FIVE * share_of_largest
    exact = 0.6**5 * -math.expm1(eps - LARGEST_OF_FIVE)
    assert exact <= math.exp(FIVE_ROUNDS.ln_delta(np.array(eps))) <= 1.001 * exact


def test_delta_is_0_from_the_largest_loss_of_all_rounds_on():
    """So no eps is larger than that loss, not even for delta = 1e-300."""
    assert FIVE_ROUNDS.largest == pytest.approx(LARGEST_OF_FIVE, rel=1e-15)
    assert FIVE_ROUNDS.ln_delta(np.array(FIVE_ROUNDS.largest)) == -math.inf
    assert FIVE_ROUNDS.epsilon_of(-300 * LN10) <= FIVE_ROUNDS.largest


@pytest.mark.parametrize(("times", "eps0"), [(3, 0.7), (3, 0.3), (5, 0.1), (7, 0.7)])
def test_delta_next_to_all_budgets_together_is_not_0(times, eps0):
    """One user, k = 2: p^t (1 - e^(eps - t eps0)). As floats, t eps0 can be below the sum of the budgets."""
    p, rounded_sum = 1 / (1 + math.exp(-eps0)), times * eps0
    exact_sum = times * Fraction(eps0)
    setting = {"n": 1, "k": 2, "eps0": eps0, "rounds": times}
    missing = float(exact_sum - Fraction(rounded_sum))
    assert tightshuffle.delta(rounded_sum, **setting) >= p**times * missing
    eps = tightshuffle.epsilon(log10_delta=-20, **setting)
    assert Fraction(eps) >= exact_sum - Fraction(1e-19)


def test_delta_at_an_eps_does_not_depend_on_the_other_eps_of_the_call():
    setting = {"n": 10_000, "k": 10, "eps0": 2.0, "rounds": 10}
    eps = tightshuffle.epsilon(1e-3, **setting)
    together = tightshuffle.delta([eps, 0.0, eps / 2], **setting)
    alone = [tightshuffle.delta(one, **setting) for one in (eps, 0.0, eps / 2)]
    assert together.tolist() == alone


@pytest.mark.parametrize(
    ("method", "n", "eps0"),
    [
        ("upper", 1e12, 1e-9),
        ("upper", 1e12, 1e-14),
        ("upper", 1, 1e-100),
        ("clones", 1e6, 1e-12),
        ("clones", 100, 1e-20),
    ],
)
def test_rounds_of_a_tiny_budget_have_at_most_the_sum_of_their_delta_at_0(method, n, eps0):
    """It is far below the rounding of 1, by which the masses of a loss may be wrong."""
    setting = {"n": n, "k": 2, "eps0": eps0, "method": method}
    delta = tightshuffle.delta(0, rounds=10, **setting)
    of_one = tightshuffle.delta(0, **setting)
    assert of_one <= delta <= 10 * of_one * (1 + 1e-9)
    assert tightshuffle.epsilon(1e-6, rounds=10, **setting) == 0
    assert 0 < tightshuffle.epsilon(delta / 2, rounds=10, **setting) <= 10 * eps0 * (1 + 1e-9)


def test_lower_bound_of_rounds_allows_for_rounding_on_the_safe_side():
    """Of each round it takes a smaller lower and a larger upper bound than the curve has."""
    curve = exact_curve(THREE_OUTCOMES, largest=math.log(2.5))
    with patch.object(rounds, "values_below_delta", wraps=rounds.values_below_delta) as spy:
        rounds.LowerRounds([(curve, curve, 2)]).epsilon_of(math.log(0.01))
    eps, lowest, highest = spy.call_args.args
    delta = np.exp(curve.ln_delta(eps))
    positive = delta > 0
    assert np.all(lowest[positive] < delta[positive] * (1 - 5e-13))
    assert np.all(highest[positive] > delta[positive] * (1 + 5e-13))


def test_rounds_without_loss_change_nothing():
    nothing = rounds.Curve(lambda eps: np.full(eps.shape, -np.inf), 1.0)
    assert np.all(rounds.Rounds([(nothing, 3)]).ln_delta(np.array([0.0, 0.1])) < -23)
    gaussian = (gaussian_curve(0.3), 2)
    alone, both = rounds.Rounds([gaussian]), rounds.Rounds([gaussian, (nothing, 50)])
    eps = np.array(1.0)
    assert both.ln_delta(eps) == pytest.approx(alone.ln_delta(eps), abs=7e-3)


# The `method` of `tightshuffle.delta` that bounds one round by this pair of `dominating.PAIRS`.
METHOD_OF_PAIR = {
    "strong": "koskela-strong",
    "weak": "upper",
    "clones": "clones",
    "stronger-clones": "stronger-clones",
}


@pytest.mark.parametrize("pair", METHOD_OF_PAIR)
@pytest.mark.parametrize(
    ("n", "k", "eps0", "times"), [(1, 3, 1.0, 3), (4, 3, 1.5, 3), (6, 4, 0.4, 2)]
)
def test_rounds_of_a_dominating_pair_multiplied_out(pair, n, k, eps0, times):
    """The bound is delta of the product of equal pairs, in which every outcome of all rounds is listed."""
    all_eps = np.array([0.0, 0.3, 1.1, 1.9]) * eps0
    outcomes = dominating.compose(dominating.PAIRS[pair](n, k, eps0), times)
    exact = np.array([float(dominating.hockey_stick(eps, outcomes)) for eps in all_eps])
    method = METHOD_OF_PAIR[pair]
    bound = tightshuffle.delta(all_eps, method=method, n=n, k=k, eps0=eps0, rounds=times)
    assert np.all((exact <= bound) & (bound <= 1.002 * exact))


@mp.workdps(50)
def log10_delta_of_largest_loss(eps, pair, n, k, eps0, rounds):
    """log10 delta of ``rounds`` equal rounds, if ``eps`` is below their largest loss and above all others.

    The largest loss is rounds * eps0: each round has its own largest one, eps0. ``pair`` names the pair of
    one round, {outcome: (P, Q)}, in `dominating.PAIRS`, whose finite losses are ln(P / Q).
    """
    largest_of_all = rounds * mp.mpf(eps0)
    almost_eps0 = eps0 * (1 - mp.mpf("1e-40"))  # equal losses differ by 50-digit rounding
    probabilities = dominating.PAIRS[pair](n, k, mp.mpf(eps0)).values()
    losses = [(mp.log(p / q), p) for p, q in probabilities if q]
    second_of_round = max(loss for loss, _ in losses if loss < almost_eps0)
    assert largest_of_all - eps0 + second_of_round < eps  # no other loss exceeds eps
    p_of_largest = sum(p for loss, p in losses if loss > almost_eps0)
    return mp.log10(p_of_largest**rounds * -mp.expm1(eps - largest_of_all))


def random_cases_next_to_the_largest_loss():
    """40 random cases; eps is smaller by 1e-3 to 1e-14 of the largest loss, which is rounds eps0.

    The last 25 are for `make check` only.
    """
    rng = np.random.default_rng(25)
    for number in range(40):
        pair = ("weak", "clones", "stronger-clones")[rng.integers(3)]
        n = int(rng.integers(1, 5))
        k = int(rng.integers(3, 8))
        times = int(rng.choice([1, 2, 3, 4]))
        eps0 = float(rng.choice([0.001, 0.1, 1, 4, 14, 20]))
        eps = times * eps0 * (1 - 10 ** -rng.uniform(3, 14))
        setting = {"n": n, "k": k, "eps0": eps0, "rounds": times}
        yield pytest.param(pair, eps, setting, marks=[pytest.mark.slow] if number >= 15 else [])


@pytest.mark.parametrize(
    ("pair", "eps", "setting"),
    [
        ("weak", 79.999992, {"n": 3, "k": 3, "eps0": 20.0, "rounds": 4}),
        ("clones", 41.999958, {"n": 2, "k": 2, "eps0": 14.0, "rounds": 3}),
        ("clones", 79.999992, {"n": 2, "k": 4, "eps0": 20.0, "rounds": 4}),
        ("weak", 3.99999999999996, {"n": 1, "k": 7, "eps0": 4.0, "rounds": 1}),
        *random_cases_next_to_the_largest_loss(),
    ],
)
def test_delta_of_rounds_next_to_the_largest_loss(pair, eps, setting):
    """log10 of the bound is at least that of a closed form, in 50 digits, and close to it."""
    exact = log10_delta_of_largest_loss(eps, pair, **setting)
    bound = tightshuffle.delta(eps, method=METHOD_OF_PAIR[pair], log10=True, **setting)
    # What the bound on the Fourier transform's noise may add, relatively: the more, the closer eps is to the
    # largest loss, as delta is smaller there. 1e-16 is against a division by 0.
    largest_loss = setting["rounds"] * setting["eps0"]
    rounding = 1e-12 * max(largest_loss, 1) / max(largest_loss - eps, 1e-16)
    assert 0 <= bound - exact <= 1e-8 + math.log10(1 + rounding)


def pairs_of_matrix(matrix):
    """An array of rows (P, Q) for every dataset of two other users, and any two values of the target user.

    There is a row for each histogram. ``matrix`` is one as `Finite` takes it.
    """
    values = range(matrix.shape[1])
    datasets = itertools.combinations_with_replacement(values, 2)
    for own, others in itertools.product(itertools.permutations(values, 2), datasets):
        # Columns 0 and 1 are now the target user's values, and 2 and 3 those of the others.
        columns = matrix[:, [*own, *others]]
        yield np.array(list(histogram_pair(columns, others=(2, 3)).values()))


@pytest.mark.parametrize(
    "matrix", [MATRIX_WHOSE_DIRECTIONS_DIFFER, matrix_of("grr", k=3, eps0=1.1)]
)
def test_delta_of_no_two_datasets_exceeds_the_bound_of_two_rounds(matrix):
    """In each round of three users, the others have any dataset, and the target user any two values."""
    all_eps = [0.0, 0.4, 1.1]
    bounds = tightshuffle.delta(all_eps, n=3, randomizer=Finite(matrix), rounds=2)
    pairs = list(pairs_of_matrix(matrix))
    for first, second in itertools.combinations_with_replacement(pairs, 2):
        p, q = [np.outer(first[:, side], second[:, side]) for side in (0, 1)]
        for eps, bound in zip(all_eps, bounds, strict=True):
            assert np.maximum(p - np.exp(eps) * q, 0).sum() <= bound
