"""The main paper's Theorem 1 as printed. It counts a factor twice: its delta is far too small."""

import numpy.typing as npt

from tightshuffle.arguments import Floats
from tightshuffle.literature import count as count_of_x0


def published_delta(
    eps: npt.ArrayLike,
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    eps0: npt.ArrayLike,
    count: npt.ArrayLike,
    direction: str = "forward",
) -> Floats:
    """log10 delta of Theorem 1 as printed, which is no guarantee for anything (docs/errata.md, 1).

    Parameters, shape and errors are those of `tightshuffle.literature.count.delta`, with form="published".
    """
    return count_of_x0.delta(eps, n=n, k=k, eps0=eps0, count=count, form="published", direction=direction)
