"""The formulas that the main paper prints: Theorem 1, and those for earlier amplification bounds.

Theorem 1 is the delta of one value's count, with a second moment where the first belongs
(`tightshuffle.literature.count`).

The columns of Table II (long version) and Table 1 (FPS 2023) that carry the names of earlier work are not the
cited theorems. Each is an order-of-magnitude statement eps = O(...) read with the constant 1 (in Erlingsson's
case 12), outside the conditions of its theorem, and solved for delta. These functions reproduce the printed
digits; none of them is a privacy guarantee.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, check_choice, check_eps, check_eps0, check_n
from tightshuffle.literature.count import delta, log10_delta_by_moment

FORMS = ("exact", "published")  # delta of the count of x0: the true one, and as Theorem 1 prints it
VERSIONS = ("long", "short")  # arXiv 2205.08858, Table II; FPS 2023 (LNCS 14551), Table 1
_LN10 = np.log(10)


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
    return log10_delta_by_moment(
        eps, n=n, k=k, eps0=eps0, count=count, direction=direction, moment=2
    )


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
        return delta(eps, direction=direction, **setting)
    return theorem_1_as_printed(eps, direction=direction, **setting)


def erlingsson_as_printed(eps: npt.ArrayLike, *, n: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """log10 delta that the paper prints for Erlingsson et al.: delta = exp(-n (eps / (12 eps0))^2).

    n is the number of users, and eps0 > 0 the local budget. The arguments broadcast, and the result has their
    shape. This reproduces printed digits. It is not the cited theorem, and no guarantee. Raises ValueError
    that names an argument out of range.
    """
    eps = check_eps(eps)
    n = check_n(n)
    eps0 = check_eps0(eps0)
    return -n * (eps / (12 * eps0)) ** 2 / _LN10


def balle_as_printed(
    eps: npt.ArrayLike, *, n: npt.ArrayLike, eps0: npt.ArrayLike, version: str = "long"
) -> Floats:
    """log10 delta that the paper prints for Balle et al.: delta = exp(-n (eps / (c e^eps0))^2).

    c is 1 in Table II of the "long" version, and min(1, eps0) in Table 1 of the "short" one. n is the number
    of users, and eps0 > 0 the local budget. The arguments broadcast, and the result has their shape. This
    reproduces printed digits. It is not the cited theorem, and no guarantee. Raises ValueError that names an
    argument out of range.
    """
    eps = check_eps(eps)
    n = check_n(n)
    eps0 = check_eps0(eps0)
    c = np.minimum(1, eps0) if check_choice("version", version, VERSIONS) == "short" else 1.0
    return -n * (eps / c * np.exp(-eps0)) ** 2 / _LN10


def feldman_as_printed(
    eps: npt.ArrayLike, *, n: npt.ArrayLike, eps0: npt.ArrayLike, version: str = "long"
) -> Floats:
    """log10 delta that the paper prints for Feldman et al.

    delta = exp(-n eps^2 / (e^eps0 - 1)) in Table II of the "long" version, and
    delta = 2^(-n eps^2 / ((1 - e^-eps0)^2 e^eps0)) in Table 1 of the "short" one.

    n is the number of users, and eps0 > 0 the local budget. The arguments broadcast, and the result has their
    shape. This reproduces printed digits. It is not the cited theorem, and no guarantee. Raises ValueError
    that names an argument out of range.
    """
    eps = check_eps(eps)
    n = check_n(n)
    eps0 = check_eps0(eps0)
    if check_choice("version", version, VERSIONS) == "short":
        return -n * eps**2 * np.exp(-eps0) / np.expm1(-eps0) ** 2 * np.log10(2)
    return -n * eps**2 / np.expm1(eps0) / _LN10
