"""Every randomizer's full matrix, written down from its definition: reports x values, for small k."""

import itertools

import mpmath
import numpy as np
from scipy.linalg import hadamard

from tightshuffle.randomizers import Finite, parse


def normalised(supports, eps0):
    """Columns proportional to e^eps0 where ``supports`` is true, to 1 elsewhere."""
    raised = np.where(supports, np.exp(eps0), 1.0)
    return raised / raised.sum(axis=0)


def supports_of(name, k):
    """Which reports (rows) support which values (columns), reports in any order."""
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
    functions = itertools.product(range(int(number)), repeat=k)
    return np.array([[h[x] == v for x in range(k)] for h in functions for v in range(int(number))])


def matrix_of(name, k, eps0):
    """R[y, x] = P(report y | value x)."""
    supports = supports_of(name, k)
    if name not in ("rappor", "oue"):
        return normalised(supports, eps0)
    half = np.exp(eps0 / 2)
    p, q = (
        (half / (half + 1), 1 / (half + 1)) if name == "rappor" else (0.5, 1 / (np.exp(eps0) + 1))
    )
    probability = np.where(np.eye(k, dtype=bool), p, q)  # of a 1: [value, bit]
    return np.prod(np.where(supports[:, None, :], probability, 1 - probability), axis=2)


def merged(reports, *arrays):
    """Rows of ``arrays`` added up where rows of ``reports`` are equal."""
    _, groups = np.unique(reports, axis=0, return_inverse=True)
    sums = [np.zeros((groups.max() + 1, *np.shape(array)[1:])) for array in arrays]
    for total, array in zip(sums, arrays, strict=True):
        np.add.at(total, groups.ravel(), array)
    return sums


SMALL = [
    *[("grr", k) for k in (2, 3, 4)],
    *[
        ("subset:1", 2),
        ("subset:2", 3),
        ("subset:1", 4),
        ("subset:2", 4),
        ("subset:3", 4),
        ("subset:3", 6),
    ],
    *[(name, k) for name in ("rappor", "oue") for k in (2, 3, 4)],
    *[("hadamard", k) for k in (2, 3, 4, 5, 7, 8)],
    *[("hash:2", 2), ("hash:2", 3), ("hash:3", 3), ("hash:5", 3), ("hash:2", 4)],
]


def exact_columns(given):
    """What `Finite` promises of a matrix of floats: its columns, divided by their exact sums."""
    with mpmath.workdps(400):
        exact = np.vectorize(mpmath.mpf, otypes=[object])(given)
        return exact / exact.sum(axis=0)


def both(name, k, eps0):
    """A randomizer and its matrix. "matrix" is a random user-supplied matrix, for which eps0 is ignored."""
    if name == "matrix":
        matrix = np.random.default_rng(5).dirichlet(np.full(4, 4.0), k).T
        return Finite(matrix), matrix
    return parse(name, k=k, eps0=eps0), matrix_of(name, k, eps0)
