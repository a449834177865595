"""The expressions that the main paper prints under the names of earlier work, and their delta.

The columns of Table II (long version) and Table 1 (FPS 2023) that carry the names of earlier work are not the
cited theorems. Each is an order-of-magnitude statement eps = O(...) read with the constant 1 (in Erlingsson's
case 12), outside the conditions of its theorem, and solved for delta. These functions reproduce the printed
digits; none of them is a privacy guarantee.
"""

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, check_choice, check_eps, check_eps0, check_n

VERSIONS = ("long", "short")  # arXiv 2205.08858v1, Table II; FPS 2023 (LNCS 14551), Table 1
_LN10 = np.log(10)


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
