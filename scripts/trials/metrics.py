"""Distances between an estimated distribution and the true one."""

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats


def total_variation(estimate: npt.ArrayLike, truth: npt.ArrayLike) -> Floats:
    """Half the L1 distance over the last axis: the paper's community-level error, eq. (13), (14).

    Both arguments are fractions of n, shape (..., k); they broadcast. Returns shape (...). For two
    probability vectors it lies in [0, 1]; an unprojected estimate may exceed 1.
    """
    return np.abs(_fractions(estimate) - _fractions(truth)).sum(axis=-1) / 2


def individual_error(estimate: npt.ArrayLike, truth: npt.ArrayLike, cells: npt.ArrayLike) -> Floats:
    """``|estimate - truth|`` at the given cells: the paper's individual specific error, Appendix B i).

    The paper defines it in counts but prints it divided by n, as here.

    Parameters: fractions of n, shape (..., k); ``cells`` numbered from 1. Returns shape (..., len(cells)).
    Raises ValueError for a cell that does not exist.
    """
    index = np.asarray(cells, dtype=int) - 1
    k = np.shape(estimate)[-1]
    if np.any(index < 0) or np.any(index >= k):
        raise ValueError(f"cells must lie between 1 and {k}; got {np.ravel(cells).tolist()}")
    return np.abs(_fractions(estimate) - _fractions(truth))[..., index]


def uniform_histogram(k: int) -> Floats:
    """The uniform histogram, 1 / k in each of k cells, which ignores the data; shape (k,).

    A useful mechanism has a smaller error. If both mechanisms do worse, we leave the setting out of the
    comparison.
    """
    return np.full(k, 1 / k)


def _fractions(values: npt.ArrayLike) -> Floats:
    return np.asarray(values, dtype=float)
