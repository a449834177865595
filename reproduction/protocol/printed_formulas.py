"""The formulas that the main paper prints for earlier amplification bounds.

The columns of Table II (long version) and Table 1 (FPS 2023) that carry the names of earlier work are not the
cited theorems. Each is an order-of-magnitude statement eps = O(...) read with the constant 1 (in Erlingsson's
case 12), outside the conditions of its theorem, and solved for delta. These functions reproduce the printed
digits; none of them is a privacy guarantee.
"""

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, check_choice, check_eps, check_eps0, check_n

VERSIONS = ("long", "short")  # arXiv 2205.08858, Table II; FPS 2023 (LNCS 14551), Table 1
_LN10 = np.log(10)


def erlingsson_as_printed(eps: npt.ArrayLike, *, n: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """log10 delta of the column "Erlingsson et al.": delta = exp(-n (eps / (12 eps0))^2), both versions.

    ``eps`` and ``eps0`` (> 0) and ``n`` users are numbers or arrays, which broadcast; the result has their
    shape. Not the cited theorem (see the module). Raises ValueError that names the argument out of range.
    """
    eps, n, eps0 = check_eps(eps), check_n(n), check_eps0(eps0)
    return -n * (eps / (12 * eps0)) ** 2 / _LN10


def balle_as_printed(
    eps: npt.ArrayLike, *, n: npt.ArrayLike, eps0: npt.ArrayLike, version: str = "long"
) -> Floats:
    """log10 delta of the column "Balle et al.": delta = exp(-n (eps / (c e^eps0))^2).

    c = 1 in Table II (``version="long"``) and min(1, eps0) in Table 1 (``version="short"``). Arguments,
    shape and errors as for `erlingsson_as_printed`. Not the cited theorem (see the module).
    """
    eps, n, eps0 = check_eps(eps), check_n(n), check_eps0(eps0)
    cap = np.minimum(1, eps0) if check_choice("version", version, VERSIONS) == "short" else 1.0
    return -n * (eps / cap * np.exp(-eps0)) ** 2 / _LN10


def feldman_as_printed(
    eps: npt.ArrayLike, *, n: npt.ArrayLike, eps0: npt.ArrayLike, version: str = "long"
) -> Floats:
    """log10 delta of the column "Feldman et al.".

    delta = exp(-n eps^2 / (e^eps0 - 1)) in Table II (``version="long"``) and
    2^(-n eps^2 / ((1 - e^-eps0)^2 e^eps0)) in Table 1 (``version="short"``). Arguments, shape and errors
    as for `erlingsson_as_printed`. Not the cited theorem (see the module).
    """
    eps, n, eps0 = check_eps(eps), check_n(n), check_eps0(eps0)
    if check_choice("version", version, VERSIONS) == "short":
        return -n * eps**2 * np.exp(-eps0) / np.expm1(-eps0) ** 2 * np.log10(2)
    return -n * eps**2 / np.expm1(eps0) / _LN10


def feldman_as_stated(eps: npt.ArrayLike, *, n: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """log10 delta of LV's own statement eps = O((1 - e^-eps0) sqrt(e^eps0 log(1/delta) / n)), constant 1.

    delta = exp(-n eps^2 / ((1 - e^-eps0)^2 e^eps0)). Table II has 1 - e^-eps0 without the square, so its
    column is larger. Arguments, shape and errors as for `erlingsson_as_printed`. No privacy guarantee.
    """
    eps, n, eps0 = check_eps(eps), check_n(n), check_eps0(eps0)
    return -n * eps**2 * np.exp(-eps0) / np.expm1(-eps0) ** 2 / _LN10
