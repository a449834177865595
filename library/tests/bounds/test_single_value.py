"""The upper bound that hides the target user among nearly all other users; bounds are log10 of delta.

It is E[D(n - 1 - g)] with a geometric number g of users who are left out. D(m) bounds delta if m users hold
the value x, the worst reference: D(m) >= E[(G_1 + ... + G_m)_+] / m for a gain G, whose moment generating
function is M.
"""

import itertools

import mpmath
import numpy as np
import pytest

import tightshuffle
from tests.at_points import log10_at_points
from tests.bounds.enumeration import Shuffled
from tests.numerics.exact import mgf
from tests.randomizers.matrices import exact_columns, matrix_of_kinds, random_matrix
from tightshuffle.bounds import privacy_blanket
from tightshuffle.bounds import single_value as single_value_module
from tightshuffle.bounds.gaussian_limit import gaussian_mu
from tightshuffle.randomizers import Finite, parse

lower = log10_at_points(privacy_blanket.ln_lower)
upper = log10_at_points(privacy_blanket.ln_upper)
single_value = log10_at_points(single_value_module.ln_upper)

SHARES_OF_EPS0 = np.array([0.0, 0.2, 0.5, 0.8, 0.95])  # eps to look at


def sums_at(randomizer, eps, users, pair=(0, 1)):
    """The `GainSums` that bound D(m) at ``eps`` for this ``pair`` of values of the target user."""
    gains = [randomizer.gains(eps, reference, pair) for reference in randomizer.references()]
    ulps = 16 + 2 * (eps + randomizer.eps0)  # of a gain's formula, as `ln_bound` has them
    return single_value_module.GainSums(ulps, users, gains)


def ln_bound_of_pair(randomizer, eps, n, pair, depth):
    """ln of the bound on delta if the target user holds the values of ``pair`` under P and Q.

    Numbers of users left out that are reached with a probability of e^-``depth`` count as delta = 1.
    """
    ln_d = sums_at(randomizer, eps, n, pair).ln_delta
    return single_value_module.ln_mean(n, randomizer.gamma, depth, ln_d)


@pytest.mark.parametrize(
    ("n", "eps0", "ln_fall"), [(2, 1, 1), (30, 1, 5), (1000, 3, 30), (10**5, 4, 30)]
)
def test_ln_bound_is_the_mean_over_the_number_of_users_left_out(n, eps0, ln_fall, monkeypatch):
    """g of the n - 1 other users are left out, with the probability gamma (1 - gamma)^g.

    D(m) bounds delta among the m users who are left. `GainSums` has ln D and Chernoff's bound on ln D. Both
    are replaced by -m ln_fall / n, so that the expected mean can be summed over all g here.
    """
    randomizer = parse("hash:2", k=3, eps0=eps0)

    def ln_d(_, m):
        return -ln_fall / n * np.asarray(m)

    monkeypatch.setattr(single_value_module.GainSums, "ln_delta", ln_d)
    monkeypatch.setattr(single_value_module.GainSums, "ln_chernoff", ln_d)
    g = np.arange(n - 1)
    probabilities = randomizer.gamma * (1 - randomizer.gamma) ** g
    probability_of_nobody = (1 - randomizer.gamma) ** (n - 1)  # no user is left: delta is 1
    mean = probabilities @ np.exp(ln_d(None, n - 1 - g)) + probability_of_nobody
    # ln_known = inf: no other bound on delta is known, which would end the search of pairs.
    ln_bound = single_value_module.ln_bound(0.1, n, randomizer, ln_other=np.inf)
    assert mean <= np.exp(ln_bound) <= 1.05 * mean  # 1.03 times the mean was the most


def trapezoid_sums(sums, m):
    """The sum over all nodes u, for each m and each reference; (m, references).

    It is h / (2 pi) times the sum over u = j h, for every whole j, of
    |M(theta + iu)|^m e^(-(tau u)^2 / 2) / (theta^2 + u^2), in units of the largest M(theta)^m of all
    references. M is the moment generating function of a gain g under the reference.
    """
    z = sums.theta + 1j * sums.u
    mgf = 1 + (sums.p[..., None] * np.expm1(z * sums.g[..., None])).sum(axis=1)
    heights = np.abs(mgf) / np.exp(sums.ln_mgf.max())  # (references, nodes)
    weights = np.exp(-((sums.u * sums.tau) ** 2) / 2) / (sums.theta**2 + sums.u**2)
    terms = heights ** m[:, None, None] * weights
    # `sums` has the nodes u >= 0. Every one but u = 0 also counts as -u.
    return sums.h / (2 * np.pi) * (2 * terms.sum(axis=-1) - terms[..., 0])


@pytest.mark.parametrize("n", [20, 3000, 10**6])
@pytest.mark.parametrize(
    "randomizer",
    [parse("grr", k=100, eps0=2.0), parse("subset:5", k=100, eps0=2.0), Finite(random_matrix(k=3))],
    ids=["grr", "subset:5", "matrix"],
)
def test_no_reference_and_no_node_that_counts_is_left_out(randomizer, n):
    """`largest_sums` has the largest of all references' `trapezoid_sums`, though it leaves small terms out.

    A reference is the value that all other users hold. A node is left out if its term is below
    e^SMALL_TERM, e^-60, of 1 / theta^2.
    """
    m = np.unique([1, n // 2, n - 1])
    # How often the largest sum is not that of the reference with the largest M(theta).
    other_references = 0
    for eps in SHARES_OF_EPS0 * randomizer.eps0:
        sums = sums_at(randomizer, eps, n)
        all_sums = trapezoid_sums(sums, m)
        expected = all_sums.max(axis=1)
        small_term = np.exp(single_value_module.SMALL_TERM) / sums.theta**2
        left_out = sums.h / np.pi * len(sums.u) * small_term  # on both sides of u = 0
        found = sums.largest_sums(m.astype(float))
        rounding = 1e-10 + 1e-12 * n  # of m-th powers, m up to n - 1
        assert np.all(found + left_out >= expected * (1 - rounding))
        assert np.all(found <= expected * (1 + rounding))
        other_references += np.count_nonzero(all_sums.argmax(axis=1) != sums.ln_mgf.argmax())
    assert other_references > 0


@pytest.mark.parametrize("users", [5, 10**6])
@pytest.mark.parametrize("share_of_eps0", [0.0, 0.3])
def test_the_generating_function_of_many_gains_is_rounded_up(users, share_of_eps0):
    """ln M(theta), and ln |M(theta + iu) / M(theta)| at 6 nodes u: no less than in mpmath.

    Of 400 reports, what sums of floats lose is more than a unit in the last place.
    """
    randomizer = Finite(np.random.default_rng(8).dirichlet(np.full(400, 4.0), 2).T)
    sums = sums_at(randomizer, share_of_eps0 * randomizer.eps0, users)
    nodes = sums.u[:: max(1, len(sums.u) // 6)]
    for kind in range(2):
        gains_and_masses = sums.g[kind].tolist(), sums.p[kind].tolist()
        ln_moduli = sums._ln_modulus(nodes, kind)
        with mpmath.workdps(40):
            at_theta = mgf(*gains_and_masses, mpmath.mpf(sums.theta))
            assert mpmath.log(at_theta) <= sums.ln_mgf[kind]
            for u, ln_modulus in zip(nodes.tolist(), ln_moduli.tolist(), strict=True):
                at_node = mgf(*gains_and_masses, mpmath.mpc(sums.theta, u))
                assert mpmath.log(abs(at_node / at_theta)) <= ln_modulus


@pytest.mark.parametrize("eps0", [0.5, 2.0])
@pytest.mark.parametrize(
    ("name", "k", "n"),
    [
        *[("hash:2", 2, 4), ("hash:2", 3, 3), ("hash:2", 3, 4), ("hash:3", 3, 3)],
        *[("rappor", 3, 4), ("oue", 3, 4), ("subset:2", 4, 4), ("hadamard", 4, 3), ("grr", 3, 4)],
    ],
)
def test_delta_of_no_dataset_exceeds_the_single_value_bound(name, k, n, eps0):
    shuffled = Shuffled(matrix_of_kinds(name, k, eps0), n)
    eps = SHARES_OF_EPS0 * eps0
    bound = 10 ** single_value(eps, n=n, randomizer=parse(name, k=k, eps0=eps0))
    for others in shuffled.datasets():
        assert np.all(shuffled.delta(others, (0, 1), eps) <= bound)


def test_delta_of_no_dataset_exceeds_the_bound_of_its_pair_of_values():
    """The bound of each pair of values is at least delta, and `single_value` that of all pairs.

    A pair is the target user's values under P and Q. Without symmetry each has its own delta, which is 0 from
    its own eps on. With the columns reversed, the last pair, (2, 1), has the largest bound at every eps.
    """
    n, matrix = 4, random_matrix(k=3)[:, ::-1]
    randomizer, shuffled = Finite(matrix), Shuffled(matrix, n)
    all_eps = SHARES_OF_EPS0 * randomizer.eps0
    bounds = 10 ** single_value(all_eps, n=n, randomizer=randomizer)
    for pair in itertools.permutations(range(3), 2):
        deltas = [shuffled.delta(others, pair, all_eps) for others in shuffled.datasets()]
        for eps, worst, bound in zip(all_eps, np.max(deltas, axis=0), bounds, strict=True):
            assert worst <= bound
            if worst > 1e-15:  # otherwise the pair has no positive gain, and no bound
                bound_of_pair = np.exp(ln_bound_of_pair(randomizer, eps, n, pair, depth=50))
                assert worst <= bound_of_pair <= bound * (1 + 1e-9), (pair, eps)


@pytest.mark.parametrize("share_of_eps0", [0.0, 0.3, 0.9])
def test_gains_of_a_matrix_are_wrong_by_at_most_their_ulps(share_of_eps0):
    """Each is next to an exact one, in mpmath: (R_x0 - e^eps R_x1) / R_x of a report, of all x0, x1, x."""
    matrix = random_matrix(k=3)
    randomizer = Finite(matrix)
    eps = share_of_eps0 * randomizer.eps0
    pairs = list(single_value_module._gains_of_pairs(eps, 100, randomizer, randomizer.gamma))
    assert pairs
    with mpmath.workdps(60):
        e_eps = mpmath.exp(mpmath.mpf(eps))
        columns = exact_columns(matrix).T
        excesses = [of_x0 - e_eps * of_x1 for of_x0, of_x1 in itertools.permutations(columns, 2)]
        exact = np.concatenate([excess / of_x for excess in excesses for of_x in columns])
        for pair in pairs:
            for gains, probabilities in pair.gains:
                for gain in gains[probabilities > 0].tolist():
                    errors = abs(exact - gain)
                    allowed = pair.ulps * 2.0**-52 * abs(exact[errors.argmin()])
                    assert errors.min() <= allowed


@pytest.mark.parametrize("k", [6, 12])
@pytest.mark.parametrize("kind", ["random", "circle"])
def test_a_matrix_of_many_values_has_the_largest_bound_of_all_pairs(kind, k):
    """`single_value` is the largest bound of all k (k - 1) pairs of values, though it need not look at all.

    It is also what `tightshuffle.delta` takes, as the privacy blanket's bound, `upper`, is larger. All are
    log10 of delta.
    """
    n = 3000
    if kind == "random":
        matrix = np.random.default_rng(k).dirichlet(np.ones(k), k).T + 0.2
    else:  # pairs differ in their distance on a circle only
        distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
        matrix = np.exp(-np.minimum(distance, k - distance) / 2)
    randomizer = Finite(matrix / matrix.sum(axis=0))
    eps = 0.1 * randomizer.eps0
    bound = single_value(eps, n=n, randomizer=randomizer)
    ln_bounds = [
        # So deep that what counts as delta = 1 adds nothing.
        ln_bound_of_pair(randomizer, eps, n, pair, depth=300)
        for pair in itertools.permutations(range(k), 2)
    ]
    # `single_value` takes a smaller depth: a difference of 2.4e-7 was the most.
    assert bound == pytest.approx(max(ln_bounds) / np.log(10), abs=1e-6)
    assert bound == tightshuffle.delta(eps, n=n, randomizer=randomizer, log10=True)
    assert bound < upper(eps, n=n, randomizer=randomizer)


def add_user(counts, probabilities):
    """The probabilities ``counts`` of all numbers of reports of each kind, after one more user.

    This user reports kind i with the probability ``probabilities[i]``. Axis i is the number of reports of
    kind i, from 0 to the number of users. The last kind has no axis.
    """
    result = np.zeros([length + 1 for length in counts.shape], dtype=counts.dtype)
    result[tuple(slice(length) for length in counts.shape)] = counts * probabilities[-1]
    for axis, probability in enumerate(probabilities[:-1]):
        one_more = tuple(
            slice(place == axis, length + (place == axis))
            for place, length in enumerate(counts.shape)
        )
        result[one_more] += probability * counts
    return result


# Datasets of 24 other users: how many hold x0, and how many x1. The rest hold a third value.
HOLDERS_OF_X0_AND_X1 = [
    *[(24, 0), (0, 24), (12, 12)],
    *[(0, 0), (12, 0), (0, 12), (8, 8), (3, 1), (1, 20)],
]


@pytest.mark.parametrize("eps0", [0.3, 1.0, 2.5, 5.0])
@pytest.mark.parametrize(
    ("name", "k"), [("hash:2", 2), ("oue", 2), ("hadamard", 3), ("subset:2", 3), ("grr", 3)]
)
def test_delta_of_no_mixture_of_values_exceeds_the_single_value_bound(name, k, eps0):
    """delta of some datasets of 25 users is by enumeration in long doubles, in both directions.

    An outcome is how many reports there are of each kind: an array of probabilities with an axis for each
    kind but the last. `add_user` adds one more user to it.
    """
    n, randomizer = 25, parse(name, k=k, eps0=eps0)
    probabilities_of_kinds = matrix_of_kinds(name, k, eps0).T.astype(np.longdouble)  # (k, kinds)
    all_eps = np.array([0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95]) * eps0
    bounds = 10.0 ** single_value(all_eps, n=n, randomizer=randomizer)
    for at_x0, at_x1 in HOLDERS_OF_X0_AND_X1:
        at_third = n - 1 - at_x0 - at_x1
        if k == 2 and at_third > 0:
            continue
        counts = np.ones([1] * (probabilities_of_kinds.shape[1] - 1), dtype=np.longdouble)
        for value in np.repeat([0, 1, 2], [at_x0, at_x1, at_third]):
            counts = add_user(counts, probabilities_of_kinds[value])
        with_x0 = add_user(counts, probabilities_of_kinds[0])
        with_x1 = add_user(counts, probabilities_of_kinds[1])
        for eps, bound in zip(all_eps, bounds, strict=True):
            e_eps = np.exp(np.longdouble(eps))
            assert np.maximum(with_x0 - e_eps * with_x1, 0).sum() <= bound, (at_x0, at_x1, eps)
            assert np.maximum(with_x1 - e_eps * with_x0, 0).sum() <= bound, (at_x0, at_x1, eps)


@pytest.mark.parametrize(
    "name", ["grr", "hadamard", "subset:5", "oue", "hash:8", "rappor", "hash:2"]
)
@pytest.mark.parametrize(("n", "eps0"), [(10**4, 2.0), (10**6, 4.0), (10**9, 6.0), (10**12, 8.0)])
def test_the_single_value_bound_nearly_meets_the_lower_bound_for_many_users(name, n, eps0):
    """The bounds are log10 of delta, from 1e-3 to 1e-30: where that of a Gaussian mechanism is.

    Its mu is the standard deviation of a gain over the root of n.
    """
    randomizer = parse(name, k=100, eps0=eps0)
    gains, probabilities = randomizer.gains(0.0, "x2")
    mu = np.sqrt(probabilities @ gains**2 / n)
    eps = mu * np.array([2.0, 4.0, 6.0, 10.0])
    low = lower(eps, n=n, randomizer=randomizer)
    high = single_value(eps, n=n, randomizer=randomizer)
    assert np.all(low <= high)
    assert np.all(high < np.log10(1.05) + low * (1 - 2e-3))


def test_the_guarantee_of_krr_is_the_smaller_bound():
    """`tightshuffle.delta` of k-RR is the privacy blanket's bound, or `single_value` where that is smaller.

    To save time, `single_value` is not computed where it would hardly be smaller. Settings are random. eps is
    3 to 14 times the mu of the Gaussian mechanism that the round is close to. Bounds are log10 of delta.
    """
    rng, smaller = np.random.default_rng(3), 0
    for _ in range(60):
        k, n = int(rng.integers(3, 40)), int(10 ** rng.uniform(1, 5))
        setting = {"n": n, "k": k, "eps0": float(rng.uniform(0.1, 5))}
        eps = np.array([3.0, 5.0, 9.0, 14.0]) * float(gaussian_mu(**setting))
        eps = eps[eps < 0.98 * setting["eps0"]]
        guaranteed = tightshuffle.delta(eps, log10=True, **setting)
        of_blanket, of_single_value = upper(eps, **setting), single_value(eps, **setting)
        assert np.all(guaranteed <= of_blanket)
        assert np.all((guaranteed == of_blanket) | (guaranteed == of_single_value))
        # Where `single_value` is not computed, it would make eps smaller by at most 0.01 %, and so log10
        # delta by about 2e-4 of itself. 7e-5 were the most.
        assert np.all(guaranteed <= of_single_value + 2e-4 * (1 - of_single_value))
        smaller += np.count_nonzero(guaranteed < of_blanket)
    assert smaller > 20  # 57 were seen


@pytest.mark.parametrize("eps0", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("n", [1, 2, 3, 1000, 10**12])
def test_single_value_bound_on_delta_is_0_from_eps0_on_and_else_from_the_lower_bound_to_1(n, eps0):
    """`single_value` and `lower` return log10 delta, which is -inf where delta is 0."""
    setting = {"n": n, "randomizer": parse("hash:2", k=3, eps0=eps0)}
    assert np.all(single_value(np.array([1, 2]) * eps0, **setting) == -np.inf)

    eps = np.array([0, 1e-9, 0.3, 0.999]) * eps0
    bound = single_value(eps, **setting)
    assert np.all(bound <= 0)
    below_one = bound < 0  # a delta of 1 is above every lower bound
    lower_bound = lower(eps[below_one], **setting)
    assert np.all(bound[below_one] >= lower_bound * (1 + 1e-9))  # 1e-9 is for rounding


@pytest.mark.parametrize("eps0", [1e-100, 1e-17, 1e-8, 1.0, 50.0])
@pytest.mark.parametrize("n", [1, 3, 10**12])
def test_the_smallest_budgets_and_the_last_eps_cause_no_warning(n, eps0):
    eps = np.array([0.0, 0.5 * eps0, eps0 * (1 - 1e-9), np.nextafter(eps0, 0)])
    bounds = tightshuffle.delta(eps, n=n, k=3, eps0=eps0, log10=True)
    assert np.all(bounds >= lower(eps, n=n, k=3, eps0=eps0))


def test_pairwise_independence_is_enough_for_two_hash_values():
    """Any pairwise independent hash of three values to bits has the `patterns` of "hash:2".

    `patterns` has the probability that a report supports each of x0, x1 and x2 (index 1) or not (0);
    (2, 2, 2). A report supports the values that its hash takes to the reported bit: 0 or 1, equally likely.
    A hash is a triple of bits. A pairwise independent one is any mixture of the four even triples (an even
    number of ones), equally likely, and of the four odd ones. The mixture does not matter: a triple and the
    bit 1 support the same values as its complement and 0, and one of these two triples is even.
    """
    ideal = parse("hash:2", k=3, eps0=1.0).patterns((0, 1, 2))
    for chance_of_even in (0.0, 0.3, 1.0):
        supports = np.zeros((2, 2, 2))
        for bits in itertools.product((0, 1), repeat=3):
            chance = chance_of_even if sum(bits) % 2 == 0 else 1 - chance_of_even
            for reported in (0, 1):
                supported = tuple(int(bit == reported) for bit in bits)
                supports[supported] += chance / 4 / 2  # four triples, two reported bits
        np.testing.assert_allclose(supports, ideal, atol=1e-15)
