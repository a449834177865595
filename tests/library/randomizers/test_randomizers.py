"""Each randomizer's law, oracle and sampler against its full matrix, and against mpmath at the extremes."""

import itertools

import mpmath
import numpy as np
import pytest

from tests.library.randomizers.matrices import SMALL, both, exact_columns, matrix_of, supports_of
from tightshuffle.randomizers import BY_KEY, Finite, KRandomizedResponse, expected_errors, parse


def classes(values, weights):
    """The different values but 0, ascending, and the sum of each one's weights."""
    order = np.argsort(values)
    values, weights = np.asarray(values)[order], np.asarray(weights)[order]
    groups = (
        np.cumsum(np.append(True, np.diff(values) > 1e-11 * np.maximum(1, np.abs(values[1:])))) - 1
    )
    means = np.bincount(groups, values) / np.bincount(groups)
    kept = np.abs(means) > 1e-13
    return means[kept], np.bincount(groups, weights)[kept]


def assert_same_distribution(gains, values, weights):
    """Whether ``gains`` has the law of ``values`` that occur with ``weights``; zeros do not matter."""
    assert np.all(gains[1] > 0)
    for own, wanted in zip(classes(*gains), classes(values, weights), strict=True):
        np.testing.assert_allclose(own, wanted, rtol=1e-11)


@pytest.mark.parametrize(("name", "k"), [*SMALL, ("matrix", 4)])
@pytest.mark.parametrize(("eps0", "eps"), [(0.3, 0.0), (1.0, 0.6), (4.0, 3.9)])
def test_gains_are_those_of_the_full_matrix(name, k, eps0, eps):
    """The randomizer as it is, and as a user-supplied matrix."""
    randomizer, matrix = both(name, k, eps0)
    mixtures = [{"x0": 0.3, "x1": 0.7}, *([{"x0": 0.25, "x2": 0.75}, {"x1": 1.0}] if k > 2 else [])]
    for own in (randomizer, Finite(matrix)):
        assert own.k == k
        assert own.eps0 == pytest.approx(
            np.log(matrix.max(axis=1) / matrix.min(axis=1)).max(), rel=1e-12
        )
        # Local hashing's blanket is the smaller one that every pairwise independent family has.
        least = matrix.min() if name.startswith("hash") and k > 2 and own is randomizer else 0
        blanket = np.full(len(matrix), least) if least else matrix.min(axis=1)
        assert own.gamma == pytest.approx(blanket.sum(), rel=1e-12)
        for pair in itertools.permutations(range(k), 2):
            order = [*pair, *[value for value in range(k) if value not in pair]]
            asked = (
                [*own.references(), *mixtures] if pair in [(0, 1), (1, 0), (2, 0), (1, 2)] else []
            )
            for reference in ["blanket", *asked]:
                weights = {reference: 1.0} if isinstance(reference, str) else reference
                w = blanket
                if reference != "blanket":
                    w = sum(
                        weight * matrix[:, order[int(place[1:])]]
                        for place, weight in weights.items()
                    )
                gains = (matrix[:, pair[0]] - np.exp(eps) * matrix[:, pair[1]]) / w
                assert_same_distribution(own.gains(eps, reference, pair), gains, w)


@pytest.mark.parametrize(("name", "k"), SMALL)
def test_references_are_all_that_there_are(name, k):
    # Whichever third value the other users hold, its law is that of one of the references.
    randomizer, matrix = both(name, k, 1.0)
    distributions = []
    for reference in randomizer.references():
        values, probabilities = randomizer.gains(0.4, reference)
        distributions.append(np.sum(probabilities * np.maximum(values, 0) ** 2))
    for other in range(2, k):
        gains = (matrix[:, 0] - np.exp(0.4) * matrix[:, 1]) / matrix[:, other]
        assert np.isclose(
            distributions, matrix[:, other] @ np.maximum(gains, 0) ** 2, rtol=1e-11
        ).any()


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 20.0])
def test_a_matrix_keeps_all_digits(scale):
    # Also where e^eps is next to the ratio of two entries, which is where G changes its sign.
    rng = np.random.default_rng(12)
    matrix = np.exp(scale * rng.random((5, 3)))
    given = matrix / matrix.sum(axis=0)
    finite, own = Finite(given), exact_columns(given)
    for row, pair in itertools.product(range(5), finite.pairs()):
        with mpmath.workdps(60):
            eps = max(0.0, float(mpmath.log(own[row, pair[0]] / own[row, pair[1]])))
        for near in (eps, np.nextafter(eps, 99), eps * (1 + 1e-9), eps / 3):
            with mpmath.workdps(60):
                gains = [(one[pair[0]] - mpmath.exp(near) * one[pair[1]]) / min(one) for one in own]
                exact = np.array([float(gain) for gain in gains])
            values, probabilities = finite.gains(near, "blanket", pair)
            np.testing.assert_allclose(values, exact, rtol=2e-14, atol=0)
            np.testing.assert_allclose(probabilities, own.min(axis=1).astype(float), rtol=1e-15)


def test_laws_are_the_gains_of_every_pair():
    finite = Finite(np.random.default_rng(7).dirichlet(np.full(5, 2.0), 4).T)
    references = ["blanket", "x0", "x1", "x2", "x3", {"x0": 0.25, "x2": 0.75}]
    found = [
        law for some in finite.distributions(0.3, references) for law in zip(*some, strict=True)
    ]
    asked = [
        (reference, x0, x1)
        for x0 in range(4)
        for reference in references
        for x1 in range(4)
        if x1 != x0
    ]
    for (values, probabilities), (reference, *pair) in zip(found, asked, strict=True):
        assert_same_distribution(finite.gains(0.3, reference, tuple(pair)), values, probabilities)


@pytest.mark.parametrize("decimals", [1, 3, 17])
def test_the_budget_of_a_matrix_is_rounded_up(decimals):
    rng = np.random.default_rng(8)
    for _ in range(100):
        given = np.round(rng.dirichlet(np.full(4, 30.0), 3).T, decimals)
        given[-1] += 1 - given.sum(axis=0)
        if given.min() < 0.01:
            continue
        own, eps0 = exact_columns(given), Finite(given).eps0
        with mpmath.workdps(60):
            exact = max(mpmath.log(max(row) / min(row)) for row in own)
            assert np.nextafter(eps0, 0) < exact <= eps0


@pytest.mark.parametrize("eps0", [1e-6, 0.01, 1.0, 50.0])
@pytest.mark.parametrize("part", [0.0, 1e-9, 0.5, 1 - 1e-12])
@pytest.mark.parametrize("k", [2, 3, 1000, 10**12])
def test_no_cancellation(eps0, part, k):
    eps = part * eps0
    for name in [
        "grr",
        "rappor",
        "oue",
        "hadamard",
        "hash:2",
        "hash:1000000000",
        f"subset:{k - 1}",
    ]:
        randomizer = parse(name, k=k, eps0=eps0)
        with mpmath.workdps(60):
            p1, beta, everywhere = exact_supports(name, k, mpmath.mpf(eps0))
            alpha = p1 - beta
            e0, e = mpmath.exp(eps0), mpmath.exp(eps)
            c = 1 / (1 + (e0 - 1) * p1)
            wanted = [
                (1 - e, c * (1 - 2 * alpha - beta) + c * e0 * everywhere),
                (1 - e0 * e, c * alpha),
                (e0 - e, c * alpha),
                (e0 * (1 - e), c * (beta - everywhere)),
            ]
            oracle = {
                "p_star": c * e0 * p1,
                "q_star": c * (alpha + e0 * beta),
                "support_difference": c * (e0 - 1) * alpha,
                "gamma": c * (1 + (e0 - 1) * everywhere),
            }
        wanted = [[float(value), float(chance)] for value, chance in wanted if chance > 1e-50]
        found = np.transpose(randomizer.gains(eps))
        np.testing.assert_allclose(found, wanted, rtol=2e-14, atol=0, err_msg=name)
        for key, value in oracle.items():
            assert getattr(randomizer, key) == pytest.approx(float(value), rel=2e-14, abs=0), (
                name,
                key,
            )


def exact_supports(name, k, eps0):
    """P_u that one value, that two values, that all are supported, as mpmath numbers."""
    kind, _, number = name.partition(":")
    k = mpmath.mpf(k)
    if kind in ("grr", "subset"):
        m = mpmath.mpf(number or 1)
        return m / k, m * (m - 1) / (k * (k - 1)), mpmath.mpf(0)
    if kind == "hadamard":
        order = mpmath.mpf(2) ** mpmath.ceil(mpmath.log(k + 1, 2))
        return mpmath.mpf(1) / 2, mpmath.mpf(1) / 4, 1 / order
    odds = {
        "rappor": mpmath.exp(eps0 / 2) + 1,
        "oue": mpmath.exp(eps0) + 1,
        "hash": mpmath.mpf(number or 2),
    }
    q = 1 / odds[kind]
    return q, q**2, q**k if kind != "hash" or k == 2 else mpmath.mpf(0)


@pytest.mark.parametrize(("name", "k"), SMALL)
def test_an_oracle_has_its_variance(name, k):
    eps0, n = 1.1, 1000
    randomizer, matrix = both(name, k, eps0)
    probabilities = supports_of(name, k).T @ matrix  # [supported value, true value]
    np.testing.assert_allclose(np.diag(probabilities), randomizer.p_star, rtol=1e-12)
    np.testing.assert_allclose(probabilities[~np.eye(k, dtype=bool)], randomizer.q_star, rtol=1e-12)
    shares = np.random.default_rng(8).dirichlet(np.ones(k))
    gap = randomizer.p_star - randomizer.q_star
    variance = (probabilities * (1 - probabilities)) @ shares / (n * gap**2)
    np.testing.assert_allclose(randomizer.variance(shares, n), variance, rtol=1e-12)
    several = randomizer.variance(np.stack([shares, shares[::-1]]), [n, 2 * n])
    np.testing.assert_allclose(several, [variance, variance[::-1] / 2], rtol=1e-12)


def test_the_closed_forms_of_krr_are_those_of_its_class():
    randomizer, counts = KRandomizedResponse(5, 2.0), np.array([10, 0, 3, 4, 8])
    deviation = expected_errors.krr_deviation(counts / 25, n=25, k=5, eps0=2.0)
    np.testing.assert_allclose(np.sqrt(randomizer.variance(counts / 25, 25)), deviation, rtol=1e-13)


@pytest.mark.parametrize(
    ("name", "k"), [case for case in SMALL if case[1] > 2 and case[0] != "subset:3"]
)
def test_a_matrix_estimates_at_least_as_well(name, k):
    # Its estimate has the least summed variance of all linear unbiased ones at equal shares.
    randomizer, matrix = both(name, k, 1.1)
    finite, n, equal = Finite(matrix), 50, np.full(k, 1 / k)
    shares = np.random.default_rng(8).dirichlet(np.ones(k), 2)
    assert finite.variance(equal, n).sum() <= randomizer.variance(equal, n).sum() * (1 + 1e-12)
    # and its variance is that of the multinomials
    roots = np.sqrt(finite.matrix.mean(axis=1, keepdims=True))  # weighted least squares
    weights = np.linalg.pinv(finite.matrix / roots) / roots.T
    np.testing.assert_allclose(weights @ finite.matrix, np.eye(k), atol=1e-12)
    for share, variance in zip(shares, finite.variance(shares, n), strict=True):
        covariance = np.tensordot(
            share, [np.diag(law) - np.outer(law, law) for law in finite.matrix.T], 1
        )
        np.testing.assert_allclose(
            np.diag(weights @ covariance @ weights.T) / n, variance, rtol=1e-10
        )


def test_bits():
    bits = {
        "grr": np.log2(6),
        "subset:3": np.log2(20),
        "rappor": 6,
        "hadamard": 3,
        "hash:8": 2 * 3 + 3,
    }
    for name, number in bits.items():
        assert parse(name, k=6, eps0=1.0).bits == pytest.approx(number, rel=1e-12)
    assert parse("grr", k=10**12, eps0=1.0).bits == pytest.approx(np.log2(1e12), rel=1e-12)
    assert Finite(matrix_of("oue", 3, 1.0)).bits == 3


def test_a_name_gives_the_object_back():
    for kind in BY_KEY.values():
        assert parse(kind.tuned(20, 1.0).name, k=20, eps0=1.0) == kind.tuned(20, 1.0)
