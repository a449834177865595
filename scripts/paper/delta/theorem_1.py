"""delta of one value's count in two forms: by the formula that Theorem 1 prints, and exact.

As printed, Theorem 1 has a second moment where the first belongs (`tightshuffle.literature.count`).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, check_choice
from tightshuffle.literature.count import ln_delta_by_moment, ln_delta_of_count

FORMS = ("exact", "published")  # delta of the count of x0: the true one, and as Theorem 1 prints it


def theorem_1_as_printed(
    eps: npt.ArrayLike,
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    eps0: npt.ArrayLike,
    count: npt.ArrayLike,
    direction: str = "forward",
) -> Floats:
    """log10 delta of the number of reports of x0, with the privacy loss v_s as Theorem 1 prints it.

    This is no guarantee. Theorem 1 has a second moment where the first one belongs, hence ``moment`` is 2.
    ``count`` is how many of the n users beside the target user hold x0, k the number of values, and eps0 the
    local budget. The ``direction`` is "forward" (the target user holds x0 against another value), "reverse"
    or "both". The arguments broadcast, and the result has their shape.
    """
    ln_delta = ln_delta_by_moment(
        eps, n=n, k=k, eps0=eps0, count=count, direction=direction, moment=2
    )
    return ln_delta / np.log(10)


def log10_delta_of_count(
    eps: npt.ArrayLike, *, form: str, direction: str = "forward", **setting: Any
) -> Floats:
    """log10 of the delta of releasing only the number of reports of one value x0.

    The ``form`` "exact" is the true delta, "published" the one of the formula that Theorem 1 prints. The
    ``direction`` is "forward" (the target user holds x0 against another value), "reverse" or "both".

    ``setting`` has n (users), k (values), eps0 (the local budget) and count (how many users beside the target
    user hold x0). All broadcast, and the result has their shape.
    """
    if check_choice("form", form, FORMS) == "exact":
        return ln_delta_of_count(eps, direction=direction, **setting) / np.log(10)
    return theorem_1_as_printed(eps, direction=direction, **setting)
