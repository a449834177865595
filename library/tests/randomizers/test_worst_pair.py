"""`support:ALPHA:BETA` against mechanisms written down from their definitions, and `unary:P:Q`."""

import itertools
from dataclasses import dataclass

import mpmath
import numpy as np
import pytest
from scipy.linalg import hadamard

import tightshuffle
from tests.bounds.enumeration import Shuffled
from tests.cli.calls import json_answer, refusal
from tests.randomizers.matrices import normalised
from tests.randomizers.test_randomizer_bounds import delta_of_gains
from tightshuffle import Collection, Group
from tightshuffle.randomizers import WorstPair, parse

EPS0 = 1.3


@dataclass
class Mechanism:
    """A randomizer as a matrix P(report | input), with a distribution u of reports, and what the guide says.

    The likelihood is at least c u, with 1 / c = 1 + (e^EPS0 - 1) s, and ``alpha`` and ``beta`` are those of
    docs/randomizers.md, with s = alpha + beta. ``attained``: whether a pair of inputs has this alpha.
    """

    matrix: np.ndarray
    u: np.ndarray
    alpha: float
    beta: float
    attained: bool = True

    @property
    def c(self):
        return 1 / (1 + np.expm1(EPS0) * (self.alpha + self.beta))

    @property
    def t(self):
        """From 0 to 1: how far each likelihood is from c u towards c u e^EPS0; (reports, inputs)."""
        return (self.matrix / (self.c * self.u[:, None]) - 1) / np.expm1(EPS0)

    @property
    def pairs(self):
        return itertools.permutations(range(self.matrix.shape[1]), 2)

    @property
    def worst_pair(self):
        return WorstPair(2, EPS0, self.alpha, self.beta)

    def gains(self, eps, pair):
        """(R_x0 - e^eps R_x1) / (c u) and their masses c u; equal gains up to rounding are one."""
        x0, x1 = pair
        gains = (self.matrix[:, x0] - np.exp(eps) * self.matrix[:, x1]) / (self.c * self.u)
        values, places = np.unique(gains.round(9), return_inverse=True)
        return values, np.bincount(places, self.c * self.u)


def uniform(reports):
    return np.full(reports, 1 / reports)


def privunit():
    """20 directions on a circle; a report is within 2 steps of the input, q = 1/4, with probability p."""
    steps = np.subtract.outer(np.arange(20), np.arange(20)) % 20
    in_cap = np.isin(steps, [18, 19, 0, 1, 2])
    q = 5 / 20
    p = q * np.exp(EPS0) / (q * np.exp(EPS0) + 1 - q)  # so that eps0 is ln(p (1 - q) / ((1 - p) q))
    return Mechanism(np.where(in_cap, p / 5, (1 - p) / 15), uniform(20), q, 0.0)


HASHES = [
    (0, 1, 2, 0),
    (2, 1, 0, 1),
]  # of four values to cells; no function maps 0 and 1 to the same cell


def count_mean_sketch():
    """A hash function's index, and 3 bits: that of the value's cell is 1, each is flipped."""
    q = 1 / (np.exp(EPS0 / 2) + 1)
    rows, u = [], []
    for cells, bits in itertools.product(HASHES, itertools.product([0, 1], repeat=3)):
        flips = np.array(
            [sum(bit != (place == cell) for place, bit in enumerate(bits)) for cell in cells]
        )
        rows.append(q**flips * (1 - q) ** (3 - flips) / len(HASHES))
        u.append(q ** sum(bits) * (1 - q) ** (3 - sum(bits)) / len(HASHES))
    return Mechanism(np.array(rows), np.array(u), q * (1 - q), q**2)


def hadamard_count_mean_sketch():
    """A hash function's index, a column of a matrix of order 4, and its sign in the cell's row, or not."""
    true = np.exp(EPS0) / (np.exp(EPS0) + 1)
    rows = []
    for cells, column, sign in itertools.product(HASHES, range(4), [1, -1]):
        agrees = hadamard(4)[list(cells), column] == sign
        rows.append(np.where(agrees, true, 1 - true) / (len(HASHES) * 4))
    return Mechanism(np.array(rows), uniform(len(rows)), 1 / 4, 1 / 4)


def hadamard_response_of_two_blocks():
    """Of 8 reports in two blocks of 4, a value's are those with +1 in its row of its block's matrix."""
    rows = hadamard(4)[1:].T == 1
    nothing = np.zeros_like(rows)
    supports = np.block([[rows, nothing], [nothing, rows]])
    return Mechanism(normalised(supports, EPS0), uniform(8), 1 / 4, 0.0)


def matrix_of_sets(covers, s):
    """Likelihoods of sets: those of ``covers`` (reports, sets) are raised, the others share what is left.

    Where what a set covers is less than the share s of reports, the others' likelihood is above the least.
    """
    reports = len(covers)
    raised = np.exp(EPS0) / (1 + np.expm1(EPS0) * s) / reports
    covered = covers.sum(axis=0)
    return np.where(covers, raised, (1 - covered * raised) / (reports - covered))


def wheel():
    """Sets of 2 of 4 values, each the start of an arc of 4 of the circle's 30 places; some arcs overlap."""
    starts = [0, 2, 10, 20]
    arcs = np.array([(np.arange(30) - start) % 30 < 4 for start in starts]).T
    sets = list(itertools.combinations(range(4), 2))
    covers = np.array([arcs[:, list(values)].any(axis=1) for values in sets]).T
    s = 2 * 4 / 30
    # The sets {0, 2} and {1, 3} overlap, {0, 3} and {1, 2}, too; {0, 1} covers less than s.
    return Mechanism(matrix_of_sets(covers, s), uniform(30), s, 0.0, attained=False)


def collision(functions, attained):
    """Sets of 2 of 4 values: a hash function, and one of its 6 values, more likely if it is of the set."""
    sets = list(itertools.combinations(range(4), 2))
    blocks = []
    for function in functions:
        covers = np.array([[h in (function[a], function[b]) for a, b in sets] for h in range(6)])
        blocks.append(matrix_of_sets(covers, 2 / 6) / len(functions))
    matrix = np.concatenate(blocks)
    return Mechanism(matrix, uniform(len(matrix)), 2 / 6, 0.0, attained)


MECHANISMS = {
    "PrivUnit": privunit(),
    "count mean sketch": count_mean_sketch(),
    "Hadamard count mean sketch": hadamard_count_mean_sketch(),
    "Hadamard response": hadamard_response_of_two_blocks(),
    "Wheel": wheel(),
    "Collision of different hash values": collision([(0, 1, 2, 3), (5, 3, 1, 0)], attained=True),
    "Collision": collision([(0, 1, 2, 3), (5, 5, 1, 0)], attained=False),
}


def random_likelihoods(seed):
    """A random u of 5 reports, and 3 inputs whose t are random with the mean 0.3; not attained."""
    rng = np.random.default_rng(seed)
    u = rng.dirichlet(np.ones(5))
    t = rng.random((5, 3)) ** 2
    t *= 0.3 / np.maximum(
        0.3, u @ t
    )  # a mean of 0.3 at most; then the rest up to 0.3 is added evenly
    t += (1 - t) * (0.3 - u @ t) / (1 - u @ t)
    alpha = max(u @ (t[:, x0] * (1 - t[:, x1])) for x0, x1 in itertools.permutations(range(3), 2))
    c = 1 / (1 + np.expm1(EPS0) * 0.3)
    matrix = c * u[:, None] * (1 + np.expm1(EPS0) * t)
    return Mechanism(matrix, u, alpha, 0.3 - alpha, attained=False)


MECHANISMS |= {f"random likelihoods {seed}": random_likelihoods(seed) for seed in range(3)}
of_mechanisms = pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)


@of_mechanisms
def test_alpha_and_beta_of_the_guide_are_those_of_the_mechanism(mechanism):
    """The likelihood is from c u to c u e^eps0, and alpha is the largest of all pairs, or above it."""
    t, u = mechanism.t, mechanism.u
    np.testing.assert_allclose(mechanism.matrix.sum(axis=0), 1, rtol=1e-12)
    assert t.min() > -1e-12
    assert t.max() < 1 + 1e-12
    np.testing.assert_allclose(u @ t, mechanism.alpha + mechanism.beta, rtol=1e-12)
    largest = max(u @ (t[:, x0] * (1 - t[:, x1])) for x0, x1 in mechanism.pairs)
    assert largest <= mechanism.alpha * (1 + 1e-12)
    if mechanism.attained:
        assert largest == pytest.approx(mechanism.alpha, rel=1e-12)


@of_mechanisms
@pytest.mark.parametrize("eps", [0.0, 0.4, 1.2])
def test_the_bound_of_the_worst_pair_is_that_of_the_worst_of_all_pairs(mechanism, eps):
    """With w = c u, for three users, summed over all outcomes; equal where a pair has this alpha."""
    n = 3
    bound = delta_of_gains(mechanism.worst_pair.gains(eps), n)
    largest = max(delta_of_gains(mechanism.gains(eps, pair), n) for pair in mechanism.pairs)
    assert largest <= bound * (1 + 1e-8)
    if mechanism.attained:
        assert largest == pytest.approx(bound, rel=1e-8)
    # The door rounds up.
    door = tightshuffle.delta(eps, n=n, randomizer=mechanism.worst_pair)
    assert bound * (1 - 1e-12) <= door <= bound * 1.001


@pytest.mark.parametrize("eps", [0.0, 0.4, 1.2])
def test_delta_of_the_worst_dataset_is_within_the_bounds(eps):
    """Every dataset of two other users and every pair of values of Hadamard response with two blocks."""
    mechanism = MECHANISMS["Hadamard response"]
    shuffled = Shuffled(mechanism.matrix, 3)
    cases = itertools.product(shuffled.datasets(), mechanism.pairs)
    worst = max(shuffled.delta(others, pair, np.array(eps)) for others, pair in cases)
    setting = {"n": 3, "randomizer": mechanism.worst_pair}
    low = tightshuffle.delta(eps, method="lower", **setting)
    high = tightshuffle.delta(eps, **setting)
    assert 0 < low <= worst * (1 + 1e-12)
    assert worst <= high * (1 + 1e-12)


CAP = {"n": 100_000, "eps0": 4.0, "randomizer": "support:0.1:0"}  # PrivUnit with a cap of a tenth
TEN = {"n": 100_000, "eps0": 4.0, "k": 10}  # k-RR


def test_a_cap_of_a_tenth_is_as_private_as_ten_values():
    assert tightshuffle.epsilon(1e-6, **CAP) == pytest.approx(0.109909, abs=5e-7)
    of_krr = tightshuffle.epsilon(1e-6, method="privacy-blanket", **TEN)
    assert tightshuffle.epsilon(1e-6, **CAP) == pytest.approx(of_krr, rel=1e-9)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"colluding": 0.05}, id="colluding"),
        pytest.param({"participation": 0.5}, id="participation"),
        pytest.param({"rounds": 3}, id="rounds"),
    ],
)
def test_every_option_of_epsilon_has_the_bound_of_k_rr(changes):
    """Here the blanket's bound is the smallest of k-RR's, so that the options do the same to both."""
    of_cap = tightshuffle.epsilon(1e-6, **CAP, **changes)
    assert of_cap == pytest.approx(tightshuffle.epsilon(1e-6, **TEN, **changes), rel=1e-4)


def test_the_other_doors_take_a_worst_pair():
    low, high = tightshuffle.bracket(1e-6, **CAP)
    assert 0 < low < high == tightshuffle.epsilon(1e-6, **CAP)
    users = tightshuffle.fewest_users(high, 1e-6, eps0=4.0, randomizer="support:0.1:0")
    assert users == pytest.approx(100_000, rel=2e-4)
    assert tightshuffle.tradeoff(0.1, **CAP) == pytest.approx(
        tightshuffle.tradeoff(0.1, **TEN), rel=1e-6
    )
    collection = Collection(None, (Group("all", 100_000, 4.0),), randomizer="support:0.1:0")
    assert collection.epsilon(1e-6) == pytest.approx(high, rel=1e-4)
    assert np.isnan(collection.expected_error())
    answer = json_answer("epsilon upper --n 1e5 --eps0 4 --delta 1e-6 --randomizer support:0.1:0")
    assert answer["eps"] == high
    assert "k" not in answer


def test_groups_with_another_eps0_do_not_hide_a_worst_pair():
    """Their reports may have another u."""
    alone = Collection(None, (Group("a", 1000, 2.0),), randomizer="support:0.1:0")
    other = Group("b", 10**6, 1.0)
    both = Collection(None, (*alone.groups, other), randomizer="support:0.1:0")
    assert both.delta(0.5, group="a") == pytest.approx(alone.delta(0.5), rel=1e-6, abs=0)


@pytest.mark.parametrize(
    ("message", "name", "changes"),
    [
        ("alpha must be above 0 and at most 1/2; got 0.6", "support:0.6:0", {}),
        ("alpha must be above 0 and at most 1/2; got 0.0", "support:0:0.5", {}),
        ("alpha must be above 0 and at most 1/2; got nan", "support:nan:0.5", {}),
        ("alpha must be a number; got 'x'", "support:x:0", {}),
        ("beta must be from 0 to 1 - 2 alpha = 0.8; got 0.9", "support:0.1:0.9", {}),
        ("beta must be from 0 to 1 - 2 alpha = 0.8; got -0.1", "support:0.1:-0.1", {}),
        ("randomizer must be one of grr, ", "support:0.1", {}),
        ("randomizer must be one of grr, ", "support", {}),
        ("eps0 must be given for randomizer 'support:0.1:0'", "support:0.1:0", {"eps0": None}),
        (
            "randomizer must not be support for single-value",
            "support:0.1:0",
            {"method": "single-value"},
        ),
        ("randomizer must be rappor, oue or unary:P:Q", "support:0.1:0", {"release": "sums"}),
        ("p must be above q = 0.5 and below 1; got 0.1", "unary:0.1:0.5", {}),
        ("p must be above q = 0.5 and below 1; got 0.5", "unary:0.5:0.5", {}),
        ("p must be above q = 0.5 and below 1; got 1.0", "unary:1:0.5", {}),
        ("q must be above 0 and below 1; got 0.0", "unary:0.5:0", {}),
        ("q must be a number; got ''", "unary:0.5:", {}),
        ("randomizer must be one of grr, ", "unary:0.5:0.1:0", {}),
        ("k must be given for randomizer 'unary:0.5:0.1'", "unary:0.5:0.1", {"eps0": None}),
        (
            "leave out eps0 = 3.0: it follows from unary:0.5:0.1, which has 2.1972245773362196",
            "unary:0.5:0.1",
            {"eps0": 3.0, "k": 4},
        ),
    ],
)
def test_a_bad_name_is_refused_with_what_is_expected(message, name, changes):
    own_eps0 = name.startswith("unary:")
    setting = {"n": 100, "eps0": None if own_eps0 else 1.0, "randomizer": name, **changes}
    if own_eps0 and "eps0" not in changes:
        setting["k"] = 4
    with pytest.raises(ValueError, match="^" + message.replace("(", r"\(")):
        tightshuffle.delta(0.1, **setting)


@pytest.mark.parametrize("name", ["unary:0.5:0.1", "support:0.1:0"])
def test_a_plan_is_refused(name):
    line = refusal("plan --n 1e5 --k 4 --eps 1 --delta 1e-6", randomizer=name)
    assert line.startswith(f"randomizer must be another for a plan: {name} has ")


def test_a_worst_pair_has_no_estimate():
    with pytest.raises(ValueError, match="randomizer must be one with an estimate"):
        WorstPair(2, 1.0, 0.1, 0.2).variance(0.5, 100)


def matrix_of_bits(k, p, q):
    """P(bits | value), one bit per value: 1 with probability p for the value's, with q for another one."""
    rows = []
    for bits in itertools.product([0, 1], repeat=k):
        chances = np.where(np.eye(k, dtype=bool), p, q)
        rows.append(np.where(bits, chances, 1 - chances).prod(axis=1))
    return np.array(rows)


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.1), (0.9, 0.7), (0.3, 0.29), (0.999, 0.2)])
def test_a_unary_encoding_of_ones_own_is_its_matrix(p, q):
    """Every dataset of three other users, every pair of three values; also for q above 1/2."""
    randomizer = parse(f"unary:{p}:{q}", k=3)
    shuffled = Shuffled(matrix_of_bits(3, p, q), 4)
    eps = np.array([0.0, 0.3, 0.8]) * randomizer.eps0
    deltas = [shuffled.delta(others, (0, 1), eps) for others in shuffled.datasets()]
    worst = np.max(deltas, axis=0)
    assert np.all(tightshuffle.delta(eps, n=4, randomizer=randomizer) >= worst * (1 - 1e-12))
    for reference, value in [("x0", 0), ("x1", 1), ("x2", 2)]:
        of_dataset = shuffled.delta([value] * 3, (0, 1), eps)
        for number, e in enumerate(eps):
            of_gains = delta_of_gains(randomizer.gains(e, reference), 4)
            assert of_gains == pytest.approx(of_dataset[number], rel=1e-9, abs=1e-15)
    assert randomizer.p_star == pytest.approx(p, rel=1e-14)
    assert randomizer.q_star == pytest.approx(q, rel=1e-14)


def test_oue_and_rappor_are_unary_encodings():
    cases = [
        ("oue", 0.5, 0.1, [{}, {"participation": 0.5}]),
        ("rappor", 0.75, 0.25, [{"rounds": 2}, {"release": "sums"}]),
    ]
    for name, p, q, options in cases:
        eps0 = np.log(p * (1 - q) / ((1 - p) * q))
        own = {"n": 10_000, "k": 7, "randomizer": f"unary:{p}:{q}"}
        named = {"n": 10_000, "k": 7, "eps0": eps0, "randomizer": name}
        for changes in options:
            eps = tightshuffle.epsilon(1e-6, **own, **changes)
            assert eps == pytest.approx(tightshuffle.epsilon(1e-6, **named, **changes), rel=1e-9)


def test_sums_of_flipped_bits_are_as_private():
    """Flipped, bits of probabilities p and q have 1 - p and 1 - q: exchanged, the other direction."""
    flipped = {"n": 5_000, "k": 3, "release": "sums", "randomizer": "unary:0.9:0.6"}
    bits = {**flipped, "randomizer": "unary:0.4:0.1"}
    found = tightshuffle.epsilon(1e-6, **flipped)
    assert found == pytest.approx(tightshuffle.epsilon(1e-6, **bits), rel=1e-4)


def test_eps0_of_a_unary_encoding_is_rounded_up():
    """It is the least float that is not below ln(p (1 - q) / ((1 - p) q)) of the given floats."""
    rng = np.random.default_rng(52)
    pairs = [*np.sort(rng.random((200, 2)), axis=1).tolist(), [1e-300, 0.5], [0.3, 0.3 + 2**-54]]
    for q, p in pairs:
        eps0 = parse(f"unary:{p!r}:{q!r}", k=2).eps0
        with mpmath.workdps(80):
            exact = mpmath.log(mpmath.mpf(p) / q) + mpmath.log(
                (1 - mpmath.mpf(q)) / (1 - mpmath.mpf(p))
            )
            assert np.nextafter(eps0, 0) < exact <= eps0


def test_a_collection_takes_a_unary_encoding_without_eps0():
    groups = (Group("a", 900), Group("b", 100, participation=0.5))
    collection = Collection(5, groups, randomizer="unary:0.5:0.1")
    assert collection.eps0("b") == parse("unary:0.5:0.1", k=5).eps0
    with_eps0 = tuple(Group(g.name, g.users, np.log(9), g.participation) for g in groups)
    oue = Collection(5, with_eps0, randomizer="oue")
    assert collection.delta(0.5) == pytest.approx(oue.delta(0.5), rel=1e-9, abs=0)
    sums = [
        Collection(5, c.groups, randomizer=c.randomizer, release="sums") for c in (collection, oue)
    ]
    assert sums[0].delta(0.5) == pytest.approx(sums[1].delta(0.5), rel=1e-9, abs=0)
    with pytest.raises(ValueError, match=r"^group 'a': leave out eps0 = 2\.0"):
        Collection(5, (Group("a", 9, 2.0),), randomizer="unary:0.5:0.1")


@pytest.mark.parametrize("name", ["unary:0.5:0.1", "unary:1e-05:1e-06", "support:0.1:0.25"])
def test_a_name_gives_the_object_back(name):
    randomizer = parse(name, k=4, eps0=1.0 if name.startswith("support") else None)
    assert parse(randomizer.name, k=4, eps0=randomizer.eps0) == randomizer
    assert randomizer.name == name
