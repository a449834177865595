"""Distances between an estimated distribution and the true one: fractions of n, shape (..., k)."""

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats


def total_variation(estimate: npt.ArrayLike, truth: npt.ArrayLike) -> Floats:
    """Half the L1 distance over the last axis, shape (...): the paper's error of a histogram, eq. (13), (14).

    For two probability vectors it lies in [0, 1]; an unprojected estimate may exceed 1.
    """
    return np.abs(np.asarray(estimate) - np.asarray(truth)).sum(axis=-1) / 2


def individual_error(estimate: npt.ArrayLike, truth: npt.ArrayLike, cells: npt.ArrayLike) -> Floats:
    """``|estimate - truth|`` at ``cells``, numbered from 1: the paper's individual error, Appendix B i).

    The paper defines it in counts but prints it divided by n, as here. Returns shape (..., len(cells)).
    Raises ValueError for a cell that does not exist.
    """
    index = np.asarray(cells, dtype=int) - 1
    k = np.shape(estimate)[-1]
    if np.any(index < 0) or np.any(index >= k):
        raise ValueError(f"cells must lie between 1 and {k}; got {np.ravel(cells).tolist()}")
    return np.abs(np.asarray(estimate) - np.asarray(truth))[..., index]


def uniform_histogram(k: int) -> Floats:
    """1 / k in each of k cells, which ignores the data; a useful mechanism has a smaller error."""
    return np.full(k, 1 / k)
