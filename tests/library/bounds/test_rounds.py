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
from tests.library.bounds.dominating import histogram_pair, weak
from tests.library.bounds.enumeration import krr_probabilities
from tightshuffle.bounds import privacy_blanket, rounds
from tightshuffle.bounds.gaussian_limit import gaussian_eps
from tightshuffle.gaussian import log10_delta_of_scale
from tightshuffle.randomizers import Finite, KRandomizedResponse

upper = at_points(privacy_blanket.log10_upper)


def gaussian_curve(mu):
    """The curve of a Gaussian mechanism of sensitivity 1 and standard deviation 1 / ``mu``."""
    return rounds.Curve(lambda eps: log10_delta_of_scale(eps, scale=1 / mu), math.inf)


def exact_curve(probabilities, largest=math.inf):
    """The exact curve of a finite pair with no loss above ``largest`` and one delta for both directions.

    ``probabilities`` has a row (P, Q) for each outcome.
    """
    p, q = np.array(probabilities).T

    def log10_delta(eps):
        with np.errstate(divide="ignore"):
            return np.log10(np.maximum(p - np.exp(eps)[:, None] * q, 0).sum(axis=1))

    return rounds.Curve(log10_delta, largest)


def delta_of_product(e_eps, *pairs):
    """delta at e^eps of independent outcomes of all ``pairs``, each of which has rows (P, Q)."""
    products = [np.prod(outcomes, axis=0) for outcomes in itertools.product(*pairs)]
    return sum(max(p - e_eps * q, 0) for p, q in products)


@pytest.mark.parametrize("e_eps0s", [(3, 3), (2, 5)])
def test_no_dataset_of_two_rounds_exceeds_the_bound(e_eps0s):
    """delta of two rounds of k-RR, each with its own e^eps0, is at most the bound of `Rounds`.

    Three users take part. A dataset is the values of both other users, which may change between rounds.
    `histogram_pair` has (P, Q) of all histograms of a dataset, in fractions. Exact is delta of the product of
    both rounds' distributions, for all pairs of datasets. A curve, of which `Rounds` takes one for each
    round, is a bound on delta of the round, as a function of eps, and the largest loss.
    """
    n, k = 3, 3
    datasets = list(itertools.combinations_with_replacement(range(k), n - 1))
    pairs_of_rounds, curves, dominating_pairs = [], [], []
    for e_eps0 in e_eps0s:
        # k-RR's matrix is symmetric: its rows are its columns.
        matrix = [krr_probabilities(value, Fraction(e_eps0), k) for value in range(k)]
        pairs_of_rounds.append([histogram_pair(matrix, others).values() for others in datasets])

        randomizer = KRandomizedResponse(k, math.log(e_eps0))
        bound_of_round = partial(upper, n=n, randomizer=randomizer)
        curves.append(rounds.Curve(bound_of_round, randomizer.eps0))
        dominating_pairs.append(np.array(list(weak(n, k, randomizer.eps0).values()), float))

    both = rounds.Rounds([(curve, 1) for curve in curves])
    for e_eps in (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(4), Fraction(7)):
        deltas = [delta_of_product(e_eps, *pairs) for pairs in itertools.product(*pairs_of_rounds)]
        bound = 10 ** both.log10_delta(math.log(e_eps))
        assert max(deltas) <= bound
        # A round's bound is delta of `weak`, the pair of Koskela's weak adversary. The bound of both rounds
        # is at most 1 % and 1e-9 above delta of both pairs' product (0.4 % were seen).
        assert bound <= 1.01 * delta_of_product(float(e_eps), *dominating_pairs) + 1e-9


@pytest.mark.parametrize("mu", [0.003, 0.2, 1.5])
@pytest.mark.parametrize("times", [1, 2, 52, 1000])
def test_gaussian_rounds_are_a_gaussian(mu, times):
    together = rounds.Rounds([(gaussian_curve(mu), times)])
    mu_of_all = mu * math.sqrt(times)
    for log10_delta in (-2, -6, -12, -40, -150):
        exact = gaussian_eps(log10_delta, mu_of_all)
        assert exact <= together.epsilon(log10_delta) <= 1.0015 * exact
        assert exact == 0 or together.log10_delta(exact) >= log10_delta


# Rows (P, Q) of pairs that are their own mirror images.
THREE_OUTCOMES = [(0.5, 0.2), (0.2, 0.5), (0.3, 0.3)]
INFINITE_LOSS = [(0.01, 0.0), (0.0, 0.01), (0.6, 0.39), (0.39, 0.6)]
LOSSES_FAR_APART = [(0.0201, 1e-4), (1e-4, 0.0201), (0.9798, 0.9798)]


def test_different_rounds_of_small_distributions():
    """The bound on delta of four different rounds is at least delta, and at most 2 % above (1e-9 was seen).

    A round is a pair of at most four outcomes, given as rows (P, Q): twice one of ordinary losses, once one
    with an infinite loss of probability 0.01, once one of losses far apart. Expected is delta of the
    product of all four. `exact_curve` has delta of one pair as a function of eps.
    """
    together = rounds.Rounds(
        [
            (exact_curve(THREE_OUTCOMES, math.log(2.5)), 2),
            (exact_curve(INFINITE_LOSS), 1),
            (exact_curve(LOSSES_FAR_APART), 1),
        ]
    )
    pairs = (THREE_OUTCOMES, THREE_OUTCOMES, INFINITE_LOSS, LOSSES_FAR_APART)
    eps = np.array([0.0, 0.3, 1.0, 2.5, 5.0, 7.0, 9.0])
    bound = 10 ** together.log10_delta(eps)
    exact = np.array([delta_of_product(e_eps, *pairs) for e_eps in np.exp(eps)])
    assert np.all(bound >= exact)
    assert np.all(bound <= 1.02 * exact)

    # Beyond all finite losses, from 7.6 on, delta is 0.01, the probability of the infinite loss. No eps has a
    # smaller delta; `epsilon` takes log10 of delta.
    assert exact[-1] == pytest.approx(0.01)
    assert math.isnan(together.epsilon(-2.01))
    assert together.epsilon(-1.9) < 7.0


def test_rounds_of_one_large_loss():
    """Next to the largest loss of five equal rounds, the bound on delta is within 0.1 % of the closed form.

    There every round has to have its own largest loss, ln(p / q). From the largest loss of all rounds on, the
    bound is 0. Even for delta = 1e-300, eps is not larger than that loss.
    """
    p, q, times = 0.6, 0.3, 5
    largest = math.log(p / q)
    together = rounds.Rounds([(exact_curve([(p, q), (q, p), (0.1, 0.1)], largest), times)])
    for share_of_largest in (0.9, 0.999, 1 - 1e-9):
        eps = times * largest * share_of_largest
        # p^times - e^eps q^times: only this outcome counts.
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
    gaussian = (gaussian_curve(0.3), 2)
    alone, both = rounds.Rounds([gaussian]), rounds.Rounds([gaussian, (nothing, 50)])
    assert both.log10_delta(1.0) == pytest.approx(alone.log10_delta(1.0), abs=3e-3)


# The `method` of `tightshuffle.delta` that bounds one round by this dominating pair.
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
    setting = {"n": n, "k": k, "eps0": eps0, "rounds": times}
    outcomes = dominating.compose(dominating.PAIRS[pair](n, k, eps0), times)
    for eps in (0.0, 0.3 * eps0, 1.1 * eps0, 1.9 * eps0):
        exact = float(dominating.hockey_stick(eps, outcomes))
        bound = tightshuffle.delta(eps, method=METHOD_OF_PAIR[pair], **setting)
        assert exact <= bound <= 1.002 * exact


@mp.workdps(50)
def log10_delta_of_largest_loss(eps, pair, n, k, eps0, rounds):
    """log10 delta of ``rounds`` equal rounds at an ``eps`` that only their largest loss exceeds.

    ``pair`` names the pair of one round, {outcome: (P, Q)}, in `dominating.PAIRS`. One round's
    largest loss is eps0. That of all rounds, rounds * eps0, needs eps0 in every round.
    """
    largest_of_all = rounds * mp.mpf(eps0)
    almost_eps0 = eps0 * (1 - mp.mpf("1e-40"))  # equal losses differ by 50-digit rounding
    probabilities = dominating.PAIRS[pair](n, k, mp.mpf(eps0)).values()
    losses = [(mp.log(p / q), p) for p, q in probabilities if q]
    second_of_round = max(loss for loss, _ in losses if loss < almost_eps0)
    assert largest_of_all - eps0 + second_of_round < eps  # no other loss exceeds eps
    p_of_largest = sum(p for loss, p in losses if loss > almost_eps0)
    return mp.log10(p_of_largest**rounds * -mp.expm1(eps - largest_of_all))


def test_rounds_next_to_the_largest_loss():
    """Next to the largest loss, log10 of the bound on delta is at least a closed form, and close to it.

    The closed form is `log10_delta_of_largest_loss`, in 50 digits. The largest loss is rounds eps0. Four
    cases are written out. In 40 random ones, eps is smaller by 1e-3 to 1e-14 of the largest loss. ``pair``
    names the pair that bounds one round. METHOD_OF_PAIR has the ``method`` of `tightshuffle.delta` for it.
    """

    def case(eps, pair, n, k, eps0, rounds):
        return {"eps": eps, "pair": pair, "n": n, "k": k, "eps0": eps0, "rounds": rounds}

    cases = [
        case(79.999992, "weak", n=3, k=3, eps0=20.0, rounds=4),
        case(41.999958, "clones", n=2, k=2, eps0=14.0, rounds=3),
        case(79.999992, "clones", n=2, k=4, eps0=20.0, rounds=4),
        case(3.99999999999996, "weak", n=1, k=7, eps0=4.0, rounds=1),
    ]
    rng = np.random.default_rng(25)
    for _ in range(40):
        pair = ("weak", "clones", "stronger-clones")[rng.integers(3)]
        n = int(rng.integers(1, 5))
        k = int(rng.integers(3, 8))
        times = int(rng.choice([1, 2, 3, 4]))
        eps0 = float(rng.choice([0.001, 0.1, 1, 4, 14, 20]))
        eps = times * eps0 * (1 - 10 ** -rng.uniform(3, 14))
        cases.append(case(eps, pair, n, k, eps0, times))

    for one_case in cases:
        exact = log10_delta_of_largest_loss(**one_case)
        setting = {name: value for name, value in one_case.items() if name != "pair"}
        bound = tightshuffle.delta(method=METHOD_OF_PAIR[one_case["pair"]], log10=True, **setting)
        # What the bound on the Fourier transform's noise may add, relatively: the more, the closer eps is to
        # the largest loss, as delta is smaller there. 1e-16 is against a division by 0.
        largest_of_all = one_case["rounds"] * one_case["eps0"]
        rounding = 1e-12 * max(largest_of_all, 1) / max(largest_of_all - one_case["eps"], 1e-16)
        assert 0 <= bound - exact <= 1e-8 + math.log10(1 + rounding), one_case


def test_a_matrix_whose_directions_differ():
    """delta of any two rounds of three users is at most the bound of `tightshuffle.delta`.

    delta is by enumeration of all histograms (`histogram_pair`). In each round the target user has any two
    values under P and Q, and the other users any dataset. ``matrix`` has P(report | value) in a column for
    each value. With it, P against Q and Q against P have different deltas.
    """
    matrix = np.array([[0.6, 0.2, 0.3], [0.3, 0.4, 0.3], [0.1, 0.4, 0.4]])
    pairs = []  # arrays with a row (P, Q) for each histogram
    for x0, x1 in itertools.permutations(range(3), 2):
        for others in itertools.combinations_with_replacement(range(3), 2):
            # Columns 0 and 1 are now the target user's values, and 2 and 3 those of the others.
            columns = matrix[:, [x0, x1, *others]]
            pairs.append(np.array(list(histogram_pair(columns, (2, 3)).values())))

    randomizer = Finite(matrix)
    for eps in (0.0, 0.4, 1.1):
        deltas = []
        for first, second in itertools.combinations_with_replacement(pairs, 2):
            p, q = (np.outer(first[:, side], second[:, side]) for side in (0, 1))
            deltas.append(np.maximum(p - np.exp(eps) * q, 0).sum())
        assert max(deltas) <= tightshuffle.delta(eps, n=3, randomizer=randomizer, rounds=2)
