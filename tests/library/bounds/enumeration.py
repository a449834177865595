"""Exact delta for tiny n and k, by enumeration of every dataset of the remaining users and every outcome."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, check_eps, check_eps0, check_k, check_n
from tightshuffle.randomizers.krr import lie_probability, truth_probability

_LARGEST = 200_000  # outcomes times datasets


def enumerate_worst_case(eps: npt.ArrayLike, *, n: int, k: int, eps0: float) -> dict[tuple[int, ...], Floats]:
    """delta of the whole histogram for every dataset of the remaining users, by full enumeration.

    By symmetry one pair of values suffices: the user holds value 0 (P) or 1 (Q), and the remaining users
    run through all histograms of n - 1 users.

    Parameters: ``eps`` a number or an array of shape (e,); ``n``, ``k``, ``eps0`` numbers.

    Returns
    -------
    dict from the remaining users' counts (a tuple of k numbers) to delta in the direction P against Q, an
    array of the shape of ``eps``. The reverse direction is the entry with the first two counts exchanged.

    Raises
    ------
    ValueError naming a bad argument, or if there are too many cases.
    """
    eps, n, k = check_eps(eps), int(check_n(n)), int(check_k(k))
    p, q = truth_probability(eps0, k), lie_probability(check_eps0(eps0), k)
    if math.comb(n + k - 1, n) ** 2 > _LARGEST:
        raise ValueError(f"n and k must be tiny for an enumeration; got n = {n}, k = {k}")
    outcomes = {outcome: i for i, outcome in enumerate(_histograms(n, k))}
    reports = [np.where(np.arange(k) == value, p, q) for value in range(k)]
    bound = np.exp(eps)[..., None]
    result = {}
    for remaining in _histograms(n - 1, k):
        distribution = {(0,) * k: 1.0}
        for user in np.repeat(np.arange(k), remaining):
            distribution = _add(distribution, reports[user])
        first, second = (_as_array(_add(distribution, reports[value]), outcomes) for value in (0, 1))
        result[remaining] = np.maximum(first - bound * second, 0).sum(axis=-1)
    return result


def _histograms(users: int, values: int) -> Iterator[tuple[int, ...]]:
    """All ways to put ``users`` into ``values``, as tuples of counts."""
    for bars in itertools.combinations(range(users + values - 1), values - 1):
        edges = (-1, *bars, users + values - 1)
        yield tuple(b - a - 1 for a, b in itertools.pairwise(edges))


def _add(distribution: dict[tuple[int, ...], float], report: Floats) -> dict[tuple[int, ...], float]:
    added: dict[tuple[int, ...], float] = {}
    for histogram, probability in distribution.items():
        for value, weight in enumerate(report):
            after = (*histogram[:value], histogram[value] + 1, *histogram[value + 1 :])
            added[after] = added.get(after, 0.0) + probability * weight
    return added


def _as_array(distribution: dict[tuple[int, ...], float], outcomes: dict[tuple[int, ...], int]) -> Floats:
    array = np.zeros(len(outcomes))
    for histogram, probability in distribution.items():
        array[outcomes[histogram]] = probability
    return array
