"""Each randomizer's law, oracle and sampler against its full matrix, and against mpmath at the extremes."""

import itertools

import mpmath
import numpy as np
import pytest

from tests.randomizers.matrices import (
    RANDOMIZERS_WITH_SMALL_MATRIX,
    exact_columns,
    matrix_of,
    random_matrix,
    supports_of,
)
from tightshuffle.randomizers import BY_KEY, Finite, KRandomizedResponse, expected_errors, parse


def merged_by_value(values, probabilities):
    """The different values but 0, ascending, and the probability of each. Values are equal up to rounding."""
    order = np.argsort(values)
    values, probabilities = np.asarray(values)[order], np.asarray(probabilities)[order]
    is_another = np.diff(values) > 1e-11 * np.maximum(1, np.abs(values[1:]))
    groups = np.cumsum(np.append(0, is_another))
    means = np.bincount(groups, values) / np.bincount(groups)
    is_not_0 = np.abs(means) > 1e-13
    return means[is_not_0], np.bincount(groups, probabilities)[is_not_0]


def assert_same_distribution(gains, expected):
    """``gains``, a pair of values and probabilities > 0, have this law but for values of 0.

    ``expected`` is by `merged_by_value`.
    """
    assert np.all(gains[1] > 0)
    found, expected = np.array(merged_by_value(*gains)), np.array(expected)
    assert found.shape == expected.shape
    assert np.all(abs(found - expected) <= 1e-11 * abs(expected))


SMALL_MATRICES = [*RANDOMIZERS_WITH_SMALL_MATRIX, ("matrix", 4)]  # names, with k


def matrix_and_randomizers(name, k, eps0):
    """The full matrix P(report | value) of a randomizer, and all objects that have to agree with it.

    These are the randomizer of this name, and `Finite`, that of a user's own matrix. "matrix" is a random
    matrix, which has no name; its eps0 is its own.
    """
    if name == "matrix":
        matrix = random_matrix(k)
        return matrix, [Finite(matrix)]
    matrix = matrix_of(name, k, eps0)
    return matrix, [parse(name, k=k, eps0=eps0), Finite(matrix)]


def blanket_of(randomizer, matrix):
    """The least probability of each report over all values."""
    if randomizer.name.startswith("hash") and randomizer.k > 2:
        # The smaller blanket that every pairwise independent family of hash functions has.
        return np.full(len(matrix), matrix.min())
    return matrix.min(axis=1)


@pytest.mark.parametrize(("name", "k"), SMALL_MATRICES)
@pytest.mark.parametrize("eps0", [0.3, 1.0, 4.0])
def test_k_eps0_and_gamma_are_those_of_the_full_matrix(name, k, eps0):
    """eps0 is ln of the largest ratio of two probabilities of a report, and gamma the mass of the blanket."""
    matrix, randomizers = matrix_and_randomizers(name, k, eps0)
    largest_ratio = (matrix.max(axis=1) / matrix.min(axis=1)).max()
    for randomizer in randomizers:
        assert randomizer.k == k
        assert randomizer.eps0 == pytest.approx(np.log(largest_ratio), rel=1e-12)
        assert randomizer.gamma == pytest.approx(blanket_of(randomizer, matrix).sum(), rel=1e-12)


def law_of_reference(reference, pair, matrix):
    """The law of a report: the column of a value, "x0", or a mixture of columns, {"x0": 0.3, "x1": 0.7}.

    "x0" and "x1" are the values of the ``pair``, and "x2", ... the other ones, ascending.
    """
    others = [value for value in range(matrix.shape[1]) if value not in pair]
    columns = {f"x{i}": matrix[:, value] for i, value in enumerate([*pair, *others])}
    weights = {reference: 1.0} if isinstance(reference, str) else reference
    return sum(weight * columns[x] for x, weight in weights.items())


@pytest.mark.parametrize(("name", "k"), SMALL_MATRICES)
@pytest.mark.parametrize(("eps0", "eps"), [(0.3, 0.0), (1.0, 0.6), (4.0, 3.9)])
def test_gains_are_those_of_the_full_matrix(name, k, eps0, eps):
    """The gain of a report is (R_x0 - e^eps R_x1) / w, where R_x is the column of the value x.

    w is the law of the report: the blanket, or a reference.
    """
    matrix, randomizers = matrix_and_randomizers(name, k, eps0)
    mixtures = [{"x0": 0.3, "x1": 0.7}, {"x0": 0.25, f"x{k - 1}": 0.75}, {"x1": 1.0}]
    values = [f"x{value}" for value in range(k)]
    for pair in itertools.permutations(range(k), 2):
        x0, x1 = pair
        numerator = matrix[:, x0] - np.exp(eps) * matrix[:, x1]
        for randomizer in randomizers:
            assert {*randomizer.references()} <= {*values}
            blanket = blanket_of(randomizer, matrix)
            gains = randomizer.gains(eps, "blanket", pair)
            assert_same_distribution(gains, merged_by_value(numerator / blanket, blanket))
        for reference in [*values, *mixtures]:
            w = law_of_reference(reference, pair, matrix)
            expected = merged_by_value(numerator / w, w)
            for randomizer in randomizers:
                # A value that a randomizer has no reference for is like another one.
                if reference in (*randomizer.references(), *mixtures):
                    gains = randomizer.gains(eps, reference, pair)
                    assert_same_distribution(gains, expected)


@pytest.mark.parametrize(("name", "k"), RANDOMIZERS_WITH_SMALL_MATRIX)
def test_references_are_all_that_there_are(name, k):
    """Whichever third value all other users hold, the gain G has a law that one of `references` gives.

    G is (R_0 - e^eps R_1) / w at a report with the law w. R_x is the column of the value x in the matrix, and
    w that of the third value. Laws are compared by one number, E[G_+^2].
    """
    eps, eps0 = 0.4, 1.0
    randomizer, matrix = parse(name, k=k, eps0=eps0), matrix_of(name, k, eps0)
    of_references = []
    for reference in randomizer.references():
        gains, probabilities = randomizer.gains(eps, reference)
        of_references.append(probabilities @ np.maximum(gains, 0) ** 2)
    for third in range(2, k):
        w = matrix[:, third]
        gains = (matrix[:, 0] - np.exp(eps) * matrix[:, 1]) / w
        of_third = w @ np.maximum(gains, 0) ** 2
        assert np.isclose(of_references, of_third, rtol=1e-11, atol=0).any()


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 20.0])
def test_gains_of_a_matrix_keep_all_digits(scale):
    """`gains` agree with 60 digits, also where e^eps is next to the ratio of two entries.

    That is where a gain changes its sign. `exact_columns` are the columns of the given floats, divided by
    their exact sums.
    """
    # Before the division, the ln of each entry is between 0 and ``scale``.
    matrix = np.exp(scale * np.random.default_rng(12).random((5, 3)))
    given = matrix / matrix.sum(axis=0)
    finite, exact_matrix = Finite(given), exact_columns(given)
    exact_blanket = exact_matrix.min(axis=1)
    for report, (x0, x1) in itertools.product(range(5), finite.pairs()):
        with mpmath.workdps(60):
            ln_ratio = mpmath.log(exact_matrix[report, x0] / exact_matrix[report, x1])
        sign_change = max(0.0, float(ln_ratio))
        just_above = [np.nextafter(sign_change, 99), sign_change * (1 + 1e-9)]
        for eps in [sign_change / 3, sign_change, *just_above]:
            with mpmath.workdps(60):
                numerators = exact_matrix[:, x0] - mpmath.exp(eps) * exact_matrix[:, x1]
                exact_gains = (numerators / exact_blanket).astype(float)
            gains, probabilities = finite.gains(eps, "blanket", (x0, x1))
            # 2e-14 is some 100 units in the last place.
            np.testing.assert_allclose(gains, exact_gains, rtol=2e-14, atol=0)
            np.testing.assert_allclose(probabilities, exact_blanket.astype(float), rtol=1e-15)


def test_distributions_are_the_gains_of_every_pair():
    """`distributions` yields, for each x0 and reference, what `gains` returns for the pairs (x0, x1).

    Its arrays of gains and of probabilities have a row for each value x1 other than x0.
    """
    finite = Finite(random_matrix(k=4))
    references = ["blanket", "x0", "x1", "x2", "x3", {"x0": 0.25, "x2": 0.75}]
    found = finite.distributions(0.3, references)
    cases = itertools.product(range(4), references)
    for (x0, reference), (gains, probabilities) in zip(cases, found, strict=True):
        for row, x1 in enumerate(value for value in range(4) if value != x0):
            expected = finite.gains(0.3, reference, (x0, x1))
            merged = merged_by_value(gains[row], probabilities[row])
            assert_same_distribution(expected, merged)


@pytest.mark.parametrize("decimals", [1, 3, 17])
def test_the_budget_of_a_matrix_is_rounded_up(decimals):
    """eps0 of a matrix is the smallest float that is not below the exact eps0.

    The exact one is of ``exact_columns``: the given columns, divided by their exact sums. The matrices are
    random, of four reports and three values, and rounded to the decimals that a user would write.
    """
    rng = np.random.default_rng(8)
    for _ in range(100):
        given = np.round(rng.dirichlet(np.full(4, 30.0), 3).T, decimals)
        given[-1] += 1 - given.sum(axis=0)  # so that columns have the sum 1
        if given.min() < 0.01:
            continue  # so that no entry is 0, for which eps0 is infinite
        eps0 = Finite(given).eps0
        with mpmath.workdps(60):
            exact_eps0 = max(mpmath.log(max(row) / min(row)) for row in exact_columns(given))
            assert np.nextafter(eps0, 0) < exact_eps0 <= eps0


NAMES_FOR_ANY_K = ["grr", "rappor", "oue", "hadamard", "hash:2", "hash:1000000000", "subset:k-1"]
at_extremes = pytest.mark.parametrize(
    ("name", "k", "eps0"),
    [
        (name.replace("k-1", f"{k - 1}"), k, eps0)
        for name in NAMES_FOR_ANY_K
        for k in (2, 3, 1000, 10**12)
        for eps0 in (1e-6, 0.01, 1.0, 50.0)
    ],
)


@mpmath.workdps(60)
def exact_law(name, k, eps0):
    """c, alpha, beta and omega of a randomizer, as mpmath numbers.

    A report has a law u; among the users who hold x, it has the law c e^eps0 u where it supports x, and c u
    elsewhere. Under u, alpha is the probability that a report supports one given value and not another one,
    beta that it supports both, and omega that it supports all.
    """
    kind, _, number = name.partition(":")
    k, eps0 = mpmath.mpf(k), mpmath.mpf(eps0)
    if kind in ("grr", "subset"):  # sets of m values
        m = mpmath.mpf(number or 1)
        one, beta, omega = m / k, m * (m - 1) / (k * (k - 1)), mpmath.mpf(0)
    elif kind == "hadamard":
        order = mpmath.mpf(2) ** mpmath.ceil(mpmath.log(k + 1, 2))
        one, beta, omega = mpmath.mpf(1) / 2, mpmath.mpf(1) / 4, 1 / order
    else:
        # Values are supported independently, each with probability ``one``. With hash:g only any two are.
        one_over_one = {"rappor": mpmath.exp(eps0 / 2) + 1, "oue": mpmath.exp(eps0) + 1}
        one = 1 / one_over_one.get(kind, mpmath.mpf(number or 2))
        beta, omega = one**2, one**k
        if kind == "hash" and k > 2:
            # A family of hash functions may have no report that supports all k values: 0 is safe.
            omega = mpmath.mpf(0)
    return 1 / (1 + mpmath.expm1(eps0) * one), one - beta, beta, omega


@at_extremes
def test_gains_over_the_blanket_do_not_cancel(name, k, eps0):
    """Gains and their probabilities agree with formulas in 60 digits, of the numbers of `exact_law`."""
    c, alpha, beta, omega = exact_law(name, k, eps0)
    for eps in np.array([0.0, 1e-9, 0.5, 1 - 1e-12]) * eps0:
        with mpmath.workdps(60):
            e_eps0, e_eps = mpmath.exp(eps0), mpmath.exp(eps)
            # (gain, its probability), in the order of `gains`
            exact = [
                (1 - e_eps, c * (1 - 2 * alpha - beta) + c * e_eps0 * omega),
                (1 - e_eps0 * e_eps, c * alpha),
                (e_eps0 - e_eps, c * alpha),
                (e_eps0 * (1 - e_eps), c * (beta - omega)),
            ]
        # `gains` leaves out those with probability 0, which in 60 digits may be up to 1e-50.
        possible = [(float(gain), float(mass)) for gain, mass in exact if mass > 1e-50]
        found = np.transpose(parse(name, k=k, eps0=eps0).gains(eps))
        # 2e-14 is some 100 units in the last place.
        np.testing.assert_allclose(found, possible, rtol=2e-14, atol=0, err_msg=f"{eps=}")


@at_extremes
def test_probabilities_of_support_and_gamma_do_not_cancel(name, k, eps0):
    """Four attributes agree with formulas in 60 digits, of the numbers of `exact_law`."""
    c, alpha, beta, omega = exact_law(name, k, eps0)
    with mpmath.workdps(60):
        e_eps0 = mpmath.exp(eps0)
        exact = {
            "p_star": c * e_eps0 * (alpha + beta),
            "q_star": c * (alpha + e_eps0 * beta),
            "support_difference": c * (e_eps0 - 1) * alpha,
            "gamma": c * (1 + (e_eps0 - 1) * omega),
        }
    randomizer = parse(name, k=k, eps0=eps0)
    for attribute, number in exact.items():
        # 2e-14 is some 100 units in the last place.
        expected = pytest.approx(float(number), rel=2e-14, abs=0)
        assert getattr(randomizer, attribute) == expected, attribute


@pytest.mark.parametrize(("name", "k"), RANDOMIZERS_WITH_SMALL_MATRIX)
def test_p_star_and_q_star_are_the_probabilities_of_support(name, k):
    """A report supports the true value with probability `p_star`, and any other one with `q_star`."""
    randomizer = parse(name, k=k, eps0=1.1)
    # [supported value, true value]
    probabilities = supports_of(name, k).T @ matrix_of(name, k, eps0=1.1)
    expected = np.where(np.eye(k), randomizer.p_star, randomizer.q_star)
    np.testing.assert_allclose(probabilities, expected, rtol=1e-12)


@pytest.mark.parametrize(("name", "k"), RANDOMIZERS_WITH_SMALL_MATRIX)
def test_variance_is_a_sum_of_binomial_variances(name, k):
    """`variance` is that of the estimated share of every value, for two datasets at once.

    The number of users who support a value is binomial among those who hold it, and among those who do not.
    """
    n, randomizer = 1000, parse(name, k=k, eps0=1.1)
    shares = np.random.default_rng(8).dirichlet(np.ones(k))
    p, q = randomizer.p_star, randomizer.q_star
    variance = (shares * p * (1 - p) + (1 - shares) * q * (1 - q)) / (n * (p - q) ** 2)
    found = randomizer.variance(np.stack([shares, shares[::-1]]), [n, 2 * n])
    np.testing.assert_allclose(found, [variance, variance[::-1] / 2], rtol=1e-12)


def test_the_closed_forms_of_krr_are_those_of_its_class():
    n, shares = 25, np.array([10, 0, 3, 4, 8]) / 25
    deviation = expected_errors.krr_deviation(shares, n=n, k=5, eps0=2.0)
    of_class = np.sqrt(KRandomizedResponse(5, 2.0).variance(shares, n))
    np.testing.assert_allclose(of_class, deviation, rtol=1e-13)


@pytest.mark.parametrize(("name", "k"), RANDOMIZERS_WITH_SMALL_MATRIX)
def test_the_variance_of_a_matrix_is_that_of_weighted_least_squares(name, k):
    """`variance` of a user's own matrix is that of the estimates by weighted least squares, for n users.

    The estimated shares are weights (values, reports) times the frequencies of the reports. The weights are
    those for equal shares.
    """
    n, finite = 50, Finite(matrix_of(name, k, 1.1))
    weighted = finite.matrix / finite.matrix.mean(axis=1, keepdims=True)
    # By the normal equations; a report counts by the inverse of its probability at equal shares.
    weights = np.linalg.solve(finite.matrix.T @ weighted, weighted.T)
    means = weights @ finite.matrix  # of the weight of a report; [estimated value, true value]
    np.testing.assert_allclose(means, np.eye(k), atol=1e-12)  # unbiased
    variances = weights**2 @ finite.matrix - means**2
    datasets = np.random.default_rng(8).dirichlet(np.ones(k), 2)
    expected = datasets @ variances.T / n
    np.testing.assert_allclose(finite.variance(datasets, n), expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("name", "k", "bits"),
    [
        pytest.param("grr", 6, np.log2(6), id="a value"),
        pytest.param("grr", 10**12, np.log2(1e12), id="one of many values"),
        pytest.param("subset:3", 6, np.log2(20), id="one of 20 sets of 3 of 6 values"),
        pytest.param("rappor", 6, 6, id="a bit per value"),
        pytest.param("hadamard", 6, 3, id="one of 8 columns"),
        pytest.param(
            "hash:8", 6, 2 * 3 + 3, id="a function by two numbers of 3 bits, a hash value"
        ),
    ],
)
def test_bits_of_a_report(name, k, bits):
    assert parse(name, k=k, eps0=1.0).bits == pytest.approx(bits, rel=1e-12)


def test_bits_of_a_matrix_are_those_of_its_8_reports():
    assert Finite(matrix_of("oue", 3, 1.0)).bits == 3


def test_a_name_gives_the_object_back():
    for kind in BY_KEY.values():
        randomizer = kind.tuned(20, 1.0)
        assert parse(randomizer.name, k=20, eps0=1.0) == randomizer
