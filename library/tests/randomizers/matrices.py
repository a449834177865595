"""Every randomizer's full matrix, written down from its definition: reports x values, for small k."""

import itertools

import mpmath
import numpy as np
from scipy.linalg import hadamard


def normalised(supports, eps0):
    """Columns proportional to e^eps0 where ``supports`` is true, to 1 elsewhere."""
    raised = np.where(supports, np.exp(eps0), 1.0)
    return raised / raised.sum(axis=0)


def supports_of(name, k):
    """Whether a report supports a value: booleans of shape (reports, k). Every possible report has a row.

    The reports are values for "grr", sets of m values for "subset:m", k bits for "rappor" and "oue", columns
    of a Hadamard matrix for "hadamard", and a hash function with a hash value for "hash:g".
    """
    kind, _, number = name.partition(":")
    if kind == "grr":
        return np.eye(k, dtype=bool)
    if kind == "subset":
        subsets = itertools.combinations(range(k), int(number))
        return np.array([[value in subset for value in range(k)] for subset in subsets])
    if kind in ("rappor", "oue"):
        return np.array(list(itertools.product([False, True], repeat=k)))
    if kind == "hadamard":
        order = 2 ** int(np.ceil(np.log2(k + 1)))
        return hadamard(order)[1 : k + 1].T == 1
    # "hash": every function from the k values to g hash values, as the tuple of its results.
    hash_values = range(int(number))
    functions = itertools.product(hash_values, repeat=k)
    return np.array([np.equal(h, v) for h, v in itertools.product(functions, hash_values)])


def matrix_of(name, k, eps0):
    """P(report y | value x) at [y, x], shape (reports, k). The reports are in the order of `supports_of`."""
    supports = supports_of(name, k)
    if name not in ("rappor", "oue"):
        return normalised(supports, eps0)
    # Each bit is drawn independently: 1 with probability p for the bit of the true value, q for another bit.
    if name == "rappor":
        half = np.exp(eps0 / 2)
        p, q = half / (half + 1), 1 / (half + 1)
    else:
        p, q = 0.5, 1 / (np.exp(eps0) + 1)
    probability_of_one = np.where(np.eye(k, dtype=bool), p, q)  # [value, bit]
    bits = supports[:, None, :]
    probability_of_bit = np.where(bits, probability_of_one, 1 - probability_of_one)
    return np.prod(probability_of_bit, axis=2)


def matrix_of_kinds(name, k, eps0):
    """P(kind of report | value x), shape (kinds, k). Reports that support the same values are one kind."""
    _, kinds = np.unique(supports_of(name, k), axis=0, return_inverse=True)
    matrix = np.zeros((kinds.max() + 1, k))
    np.add.at(matrix, kinds.ravel(), matrix_of(name, k, eps0))
    return matrix


RANDOMIZERS_WITH_SMALL_MATRIX = [  # their names, with k
    *[("grr", k) for k in (2, 3, 4)],
    *[("subset:1", 2), ("subset:2", 3), ("subset:1", 4), ("subset:2", 4), ("subset:3", 4)],
    ("subset:3", 6),
    *[(name, k) for name in ("rappor", "oue") for k in (2, 3, 4)],
    *[("hadamard", k) for k in (2, 3, 4, 5, 7, 8)],
    *[("hash:2", 2), ("hash:2", 3), ("hash:3", 3), ("hash:5", 3), ("hash:2", 4)],
]


def exact_columns(given):
    """What `Finite` promises of a matrix of floats: its columns, divided by their exact sums."""
    with mpmath.workdps(400):
        exact = np.vectorize(mpmath.mpf, otypes=[object])(given)
        return exact / exact.sum(axis=0)


# P(report | value), for which P against Q and Q against P have different deltas.
MATRIX_WHOSE_DIRECTIONS_DIFFER = np.array([[0.6, 0.2, 0.3], [0.3, 0.4, 0.3], [0.1, 0.4, 0.4]])


def random_matrix(k):
    """A random matrix P(report | value) of four reports and ``k`` values, as a user would supply it."""
    return np.random.default_rng(5).dirichlet(np.full(4, 4.0), k).T


def geometric_matrix(k, eps0):
    """The truncated geometric mechanism: P(report y | value x) falls as e^(-eps0 |y - x| / (k - 1))."""
    reports = np.arange(k)
    matrix = np.exp(-eps0 * np.abs(reports[:, None] - reports) / (k - 1))
    return matrix / matrix.sum(axis=0)
