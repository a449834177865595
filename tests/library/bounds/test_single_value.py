"""The upper bound that hides the target user among nearly all other users; bounds are log10 of delta.

It is E[D(n - 1 - g)] with a geometric number g of users who are left out. D(m) bounds delta if m users hold
the value x, the worst reference: D(m) >= E[(G_1 + ... + G_m)_+] / m for a gain G, whose moment generating
function is M.
"""

import itertools
import warnings

import numpy as np
import pytest

import tightshuffle
from tests.library.at_points import at_points
from tests.library.bounds.enumeration import Shuffled
from tests.library.randomizers.matrices import both, matrix_of, merged, supports_of
from tightshuffle.bounds import privacy_blanket
from tightshuffle.bounds import single_value as single_value_module
from tightshuffle.bounds.gaussian_limit import gaussian_mu
from tightshuffle.randomizers import Finite, parse

lower, upper = at_points(privacy_blanket.log10_lower), at_points(privacy_blanket.log10_upper)
single_value = at_points(single_value_module.log10_upper)

SHARES_OF_EPS0 = np.array([0.0, 0.2, 0.5, 0.8, 0.95])  # eps to look at
RANDOMIZERS_K_N = [
    *[("hash:2", 2, 4), ("hash:2", 3, 3), ("hash:2", 3, 4), ("hash:3", 3, 3), ("rappor", 3, 4)],
    *[("oue", 3, 4), ("subset:2", 4, 4), ("hadamard", 4, 3), ("grr", 3, 4)],
]


def sums_at(randomizer, eps, users, pair=(0, 1)):
    """The `Sums` that bound D(m) at ``eps`` for this ``pair`` of values of the target user."""
    gains = [randomizer.gains(eps, reference, pair) for reference in randomizer.references()]
    ulps = 16 + 2 * (eps + randomizer.eps0)  # of a gain's formula, as `ln_bound` has them
    return single_value_module.Sums(ulps, users, gains)


@pytest.mark.parametrize(
    ("n", "eps0", "ln_fall"), [(2, 1, 1), (30, 1, 5), (1000, 3, 30), (10**5, 4, 30)]
)
def test_the_mean_over_the_truthful_users(n, eps0, ln_fall, monkeypatch):
    """`ln_bound` is ln of the mean of D(n - 1 - g) over a geometric number g, or of up to 1.05 times that.

    g of the n - 1 other users are left out, with the probability gamma (1 - gamma)^g. D(m) bounds delta
    among m users. `Sums` has ln D and Chernoff's bound on ln D. Both are replaced by -m ln_fall / n, so that
    the expected mean can be summed over all g here. 1.03 times the mean was the most.
    """
    randomizer = parse("hash:2", k=3, eps0=eps0)

    def ln_d(_, m):
        return -ln_fall / n * np.asarray(m)

    for name in ("ln_delta", "ln_chernoff"):
        monkeypatch.setattr(single_value_module.Sums, name, ln_d)
    g = np.arange(n - 1)
    probabilities = randomizer.gamma * (1 - randomizer.gamma) ** g
    probability_of_nobody = (1 - randomizer.gamma) ** (n - 1)  # no user is left: delta is 1
    mean = probabilities @ np.exp(ln_d(None, n - 1 - g)) + probability_of_nobody
    # At eps = 0.1. ln_known = inf: no other bound on delta is known, which would end the search of pairs.
    bound = np.exp(single_value_module.ln_bound(0.1, n, randomizer, ln_known=np.inf))
    assert mean <= bound <= 1.05 * mean


@pytest.mark.parametrize("n", [20, 3000, 10**6])
@pytest.mark.parametrize("name", ["grr", "subset:5", "matrix"])
def test_no_kind_of_value_and_no_node_that_counts_is_left_out(name, n):
    """`largest_sums` is the largest of all references' sums over nodes u, though it leaves small terms out.

    A reference is the value of all m other users, and M the moment generating function of a gain under it.
    Terms below e^SMALL_TERM, e^-60, of the largest are left out. A sum is h / (2 pi) times the sum over
    u = j h, for every whole j, of |M(theta + iu)|^m e^(-(tau u)^2 / 2) / (theta^2 + u^2), in units of the
    largest M(theta)^m of all references. `sums_at` has theta, h, tau and the nodes u >= 0, and of each
    reference ln M(theta), the gains g and their probabilities p.
    """
    if name == "matrix":
        randomizer, _ = both("matrix", k=3, eps0=None)  # a random matrix of three values
    else:
        randomizer = parse(name, k=100, eps0=2.0)
    m = np.unique([1, n // 2, n - 1])
    # How often the largest sum is not that of the reference with the largest M(theta).
    other_references = 0
    for eps in SHARES_OF_EPS0 * randomizer.eps0:
        sums = sums_at(randomizer, eps, n)
        z = sums.theta + 1j * sums.u
        mgf = 1 + (sums.p[..., None] * np.expm1(z * sums.g[..., None])).sum(axis=1)
        ratio = np.abs(mgf / np.exp(sums.ln_mgf)[:, None])  # |M(z)| / M(theta); (references, nodes)

        # Of each reference, M(theta)^m over the largest one; (m, references).
        ln_heights = m[:, None] * (sums.ln_mgf - sums.ln_mgf.max())
        terms = ratio ** m[:, None, None] * np.exp(
            ln_heights[..., None] - (sums.u * sums.tau) ** 2 / 2
        )
        terms /= sums.theta**2 + sums.u**2
        # Every node but u = 0 also counts as -u; (m, references).
        all_sums = sums.h / (2 * np.pi) * (2 * terms.sum(axis=-1) - terms[..., 0])

        # A node that is left out is below e^SMALL_TERM of 1 / theta^2, on both sides of 0.
        left_out = (
            sums.h / np.pi * len(sums.u) * np.exp(single_value_module.SMALL_TERM) / sums.theta**2
        )
        largest = sums.largest_sums(m.astype(float))
        rounding = 1e-10 + 1e-12 * n  # of m-th powers, m up to n - 1
        assert np.all(largest + left_out >= all_sums.max(axis=1) * (1 - rounding))
        assert np.all(largest <= all_sums.max(axis=1) * (1 + rounding))
        other_references += np.count_nonzero(all_sums.argmax(axis=1) != sums.ln_mgf.argmax())
    assert other_references > 0


@pytest.mark.parametrize("eps0", [0.5, 2.0])
@pytest.mark.parametrize(("name", "k", "n"), RANDOMIZERS_K_N)
def test_no_dataset_violates_the_bound(name, k, n, eps0):
    shuffled = Shuffled(merged(supports_of(name, k), matrix_of(name, k, eps0))[0], n)
    epses = SHARES_OF_EPS0 * eps0
    bounds = 10 ** single_value(epses, n=n, randomizer=parse(name, k=k, eps0=eps0))
    for eps, bound in zip(epses, bounds, strict=True):
        assert max(shuffled.delta(left, (0, 1), eps) for left in shuffled.datasets()) <= bound


def test_no_dataset_violates_the_bound_of_a_matrix():
    """delta of a matrix is at most the bound of each pair of values, and that at most `single_value`.

    A pair is the target user's values under P and Q. Without symmetry each has its own delta, which is 0 from
    its own eps on. delta of a pair's worst dataset is enumerated. `single_value` is log10 of the bound of all
    pairs. With the columns reversed, the last pair, (2, 1), has the largest bound at every eps.
    """
    n = 4
    matrix = both("matrix", k=3, eps0=None)[1][:, ::-1]  # random, of three values
    randomizer, shuffled = Finite(matrix), Shuffled(matrix, n)
    all_eps = SHARES_OF_EPS0 * randomizer.eps0
    bounds = 10 ** single_value(all_eps, n=n, randomizer=randomizer)
    for eps, bound in zip(all_eps, bounds, strict=True):
        worst_of_pairs = []
        for pair in itertools.permutations(range(3), 2):
            worst = max(shuffled.delta(others, pair, eps) for others in shuffled.datasets())
            worst_of_pairs.append(worst)
            if worst > 1e-15:  # the pair has a positive gain
                sums = sums_at(randomizer, eps, n, pair)
                depth = 50  # g of a probability below e^-50 count as delta = 1
                of_pair = np.exp(
                    single_value_module.ln_mean(n, randomizer.gamma, depth, sums.ln_delta)
                )
                assert worst <= of_pair <= bound * (1 + 1e-9), (pair, eps)
        assert max(worst_of_pairs) <= bound
    assert min(worst_of_pairs) < 1e-15  # at the last eps


@pytest.mark.parametrize("k", [6, 12])
def test_a_matrix_of_many_values_has_the_largest_bound_of_all_pairs(k):
    """`single_value` is the largest bound of all k (k - 1) pairs of values, though it need not look at all.

    It is also what `tightshuffle.upper` takes, as the privacy blanket's bound, `upper`, is larger. All are
    log10 of delta. One matrix is random. In the other one, pairs differ in their distance on a circle only.
    """
    n, generator = 3000, np.random.default_rng(k)
    distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    circle = np.exp(-np.minimum(distance, k - distance) / 2)
    for matrix in (generator.dirichlet(np.ones(k), k).T + 0.2, circle):
        randomizer = Finite(matrix / matrix.sum(axis=0))
        eps = 0.1 * randomizer.eps0
        ln_bounds = []
        for pair in itertools.permutations(range(k), 2):
            sums = sums_at(randomizer, eps, n, pair)
            depth = 300  # so deep that what counts as delta = 1 adds nothing
            ln_bounds.append(single_value_module.ln_mean(n, randomizer.gamma, depth, sums.ln_delta))
        bound = single_value(eps, n=n, randomizer=randomizer)
        # `single_value` takes a smaller depth: a difference of 2.4e-7 was the most.
        assert bound == pytest.approx(max(ln_bounds) / np.log(10), abs=1e-6)
        assert tightshuffle.upper(eps, n=n, randomizer=randomizer, log10=True) == bound
        assert bound < upper(eps, n=n, randomizer=randomizer)


def add_user(counts, probabilities):
    """The probabilities ``counts`` of all numbers of reports of each kind, after one more user.

    This user reports kind i with the probability ``probabilities[i]``. Axis i is the number of reports of
    kind i. The last kind has no axis.
    """
    result = counts * probabilities[-1]
    for axis, probability in enumerate(probabilities[:-1]):
        shifted = np.moveaxis(counts, axis, 0)[:-1]
        np.moveaxis(result, axis, 0)[1:] += probability * shifted
    return result


HOLDERS_OF_X0_AND_X1 = [
    (0, 0),
    (24, 0),
    (0, 24),
    (12, 12),
    (12, 0),
    (0, 12),
    (8, 8),
    (3, 1),
    (1, 20),
]


@pytest.mark.parametrize("eps0", [0.3, 1.0, 2.5, 5.0])
@pytest.mark.parametrize(
    ("name", "k"), [("hash:2", 2), ("oue", 2), ("hadamard", 3), ("subset:2", 3), ("grr", 3)]
)
def test_no_mixture_of_values_violates_the_bound(name, k, eps0):
    """`single_value` is at least delta of some datasets of 25 users, in both directions.

    delta is by enumeration in long doubles. HOLDERS_OF_X0_AND_X1 has, for each dataset, how many of the 24
    other users hold x0 and x1. The rest hold a third value, if there is one. An outcome is how many reports
    there are of each kind: an array of probabilities with an axis for each kind but the last. `add_user` adds
    one more user to it.
    """
    n, randomizer = 25, parse(name, k=k, eps0=eps0)
    # Reports that support the same values are one kind. Their probabilities for each value; (k, kinds).
    kinds = merged(supports_of(name, k), matrix_of(name, k, eps0))[0].T.astype(np.longdouble)
    all_eps = np.array([0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95]) * eps0
    bounds = 10.0 ** single_value(all_eps, n=n, randomizer=randomizer)
    for at_x0, at_x1 in HOLDERS_OF_X0_AND_X1:
        at_third = n - 1 - at_x0 - at_x1
        if k == 2 and at_third > 0:
            continue
        counts = np.zeros((n + 1,) * (kinds.shape[1] - 1), dtype=np.longdouble)
        counts[(0,) * counts.ndim] = 1
        for value in np.repeat([0, 1, 2], [at_x0, at_x1, at_third]):
            counts = add_user(counts, kinds[value])
        with_x0, with_x1 = add_user(counts, kinds[0]), add_user(counts, kinds[1])
        for eps, bound in zip(all_eps, bounds, strict=True):
            for p, q in ((with_x0, with_x1), (with_x1, with_x0)):
                delta = float(np.maximum(p - np.exp(np.longdouble(eps)) * q, 0).sum())
                assert delta <= bound, (at_x0, at_x1, eps)


@pytest.mark.parametrize(
    "name", ["grr", "hadamard", "subset:5", "oue", "hash:8", "rappor", "hash:2"]
)
@pytest.mark.parametrize(("n", "eps0"), [(10**4, 2.0), (10**6, 4.0), (10**9, 6.0), (10**12, 8.0)])
def test_it_nearly_meets_the_lower_bound_for_many_users(name, n, eps0):
    randomizer = parse(name, k=100, eps0=eps0)
    # where delta is 1e-3 to 1e-30: where that of the Gaussian approximation is
    values, probabilities = randomizer.gains(0.0, "x2")
    mu = np.sqrt(probabilities @ values**2 / n)
    epses = mu * np.array([2.0, 4.0, 6.0, 10.0])
    low, high = (bound(epses, n=n, randomizer=randomizer) for bound in (lower, single_value))
    assert np.all(low <= high)
    assert np.all(high < np.log10(1.05) + low * (1 - 2e-3))


def test_the_guarantee_of_krr_is_the_smaller_bound():
    """`tightshuffle.upper` of k-RR is the privacy blanket's bound, or `single_value` where that is smaller.

    To save time, `single_value` is not computed where it would hardly be smaller. Settings are random. eps is
    3 to 14 times the mu of the Gaussian mechanism that the round is close to. Bounds are log10 of delta.
    """
    generator, smaller = np.random.default_rng(3), 0
    for _ in range(60):
        k, n = int(generator.integers(3, 40)), int(10 ** generator.uniform(1, 5))
        eps0 = float(generator.uniform(0.1, 5))
        setting = {"n": n, "k": k, "eps0": eps0}
        mu = float(gaussian_mu(n=n, randomizer=parse("grr", k=k, eps0=eps0)))
        eps = mu * np.array([3.0, 5.0, 9.0, 14.0])
        eps = eps[eps < 0.98 * eps0]
        guaranteed = tightshuffle.upper(eps, log10=True, **setting)
        of_blanket, of_single_value = upper(eps, **setting), single_value(eps, **setting)
        assert np.all(guaranteed <= of_blanket)
        assert np.all((guaranteed == of_blanket) | (guaranteed == of_single_value))
        # Where `single_value` is not computed, it would make eps smaller by at most 0.01 %, and so log10
        # delta by about 2e-4 of itself. 7e-5 were the most.
        assert np.all(guaranteed <= of_single_value + 2e-4 * (1 - of_single_value))
        smaller += np.count_nonzero(guaranteed < of_blanket)
    assert smaller > 20  # 57 were seen


def test_it_is_below_the_blanket_and_holds_at_the_edges():
    """`single_value` is below `upper`, the privacy blanket's bound, and holds in extreme settings.

    Bounds are log10 of delta. 1. At eps = 0.0236, `single_value` was -8.62 and `upper` -6.00. 2. For few and
    many users and eps0 from 0.001 to 50, `single_value` says that delta is 0 from eps0 on, and at most 1
    below. 3. Where it is below 1, it is at least `lower`, but for rounding.
    """
    setting = {"n": 10**6, "randomizer": parse("hash:2", k=100, eps0=4.0)}
    assert single_value(0.0236, **setting) < -8
    assert upper(0.0236, **setting) > -6.1
    for eps0, n in itertools.product((1e-3, 1.0, 50.0), (1, 2, 3, 1000, 10**12)):
        setting = {"n": n, "randomizer": parse("hash:2", k=3, eps0=eps0)}
        eps = np.array([0, 1e-9, 0.3, 0.999, 1, 2]) * eps0
        bounds = single_value(eps, **setting)
        assert np.all(bounds[-2:] == -np.inf)  # from eps0 on
        assert np.all(bounds <= 0)
        below_one = bounds < 0  # a delta of 1 is above every lower bound
        # 1e-9 of the bound. Where the bound is -inf, `clip` makes this finite.
        rounding = 1e-9 * np.abs(bounds[below_one].clip(-1e300))
        assert np.all(bounds[below_one] >= lower(eps[below_one], **setting) - rounding)


@pytest.mark.parametrize("eps0", [1e-100, 1e-17, 1e-8, 1.0, 50.0])
@pytest.mark.parametrize("n", [1, 3, 10**12])
def test_the_smallest_budgets_and_the_last_eps_cause_no_warning(n, eps0):
    epses = np.array([0.0, 0.5 * eps0, eps0 * (1 - 1e-9), np.nextafter(eps0, 0)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bounds = tightshuffle.upper(epses, n=n, k=3, eps0=eps0, log10=True)
    assert np.all(bounds >= lower(epses, n=n, k=3, eps0=eps0))


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
