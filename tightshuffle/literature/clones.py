"""Exact delta of the clones' pairs: Feldman, McMillan, Talwar 2021 and 2023.

Each other user hides a clone of the target user with probability c. With C ~ Bin(n - 1, c) clones,
A ~ Bin(C, 1/2) and D ~ Bern(e^eps0 / (e^eps0 + 1)), the shuffled reports reveal at most as much as

    (A + D, C - A + 1 - D)  against  (A + 1 - D, C - A + D).

- clones (2021): c = e^-eps0, for every eps0-LDP randomizer, even if it is chosen adaptively.
- stronger clones (2023): c = 2 / (e^eps0 + 1). The paper's errata limit its theorem to a class of
  randomizers.

k-RR belongs to this class for every k. *Proof.* With R_0 and R_1 the distributions of reports of x0 and x1,
R_x >= (R_0 + R_1) / (e^eps0 + 1): at x0 and x1 the right side is q <= R_x, elsewhere 2 q / (e^eps0 + 1) <= q.
So another user reports with probability c from (R_0 + R_1) / 2 = (S_0 + S_1) / 2, where R_0 and R_1 mix the
distributions S_0 ~ e^eps0 R_0 - R_1 and S_1 ~ e^eps0 R_1 - R_0 as e^eps0 : 1 and 1 : e^eps0. How many drew
from S_0 and from S_1 is the pair; all else is post-processing. With the smaller c = 2 q, reports other than
x0 and x1 are no clones, and the counts do not determine C: the pair of these two counts is no upper bound.

The pair is its own mirror image. It is the distribution of n messages, n - 1 of them independent, 0 and 1
with probability c / 2 each, so delta is `histogram`'s E[(G_1 + ... + G_n)_+] / n, and G is 2 / (c (e^eps0 +
1)) times e^eps0 - e^eps, 1 - e^(eps + eps0) or 0.
"""

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import LARGEST_EXPONENT, Floats, Integers, check_eps, check_eps0, check_k, check_n
from tightshuffle.numerics.positive_part import log_positive_part, outwards

_WIDTH = 1e-6  # relative, of the computed bracket


def clones(eps: npt.ArrayLike, *, n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """log10 delta of the clones' pair (Feldman et al. 2021, Theorem 3.1's proof): an upper bound on delta.

    Rounded up, by 1e-6 of delta; eps0 at most 300; k does not matter.
    """
    eps0 = check_eps0(eps0, LARGEST_EXPONENT)
    return _bound(eps, n, k, eps0, -eps0)


def stronger_clones(eps: npt.ArrayLike, *, n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """log10 delta of the stronger clones' pair (Feldman et al. 2023, Theorem 3.1 with p = 1 / (e^eps0 + 1)).

    An upper bound on delta for k-RR with every k; else as `clones`.
    """
    eps0 = check_eps0(eps0, LARGEST_EXPONENT)
    return _bound(eps, n, k, eps0, np.log(2) + scipy.special.log_expit(-eps0))


def _bound(
    eps: npt.ArrayLike, n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike, log_probability: Floats
) -> Floats:
    check_k(k)
    eps, n, eps0, log_probability, _ = np.broadcast_arrays(
        check_eps(eps), check_n(n), eps0, log_probability, k
    )
    gap = np.maximum(eps0 - eps, 0.0)
    log_unit = np.log(2) - log_probability + scipy.special.log_expit(-eps0)
    # Exponents are added before the exponential: each value is a float where its parts are not.
    gain = np.exp(log_unit + eps0) * -np.expm1(-gap)
    loss = np.exp(log_unit + eps + eps0) * np.expm1(-eps - eps0)
    return hidden_by_two_messages(n, gain, loss, np.exp(log_probability) / 2, eps + eps0)


def hidden_by_two_messages(
    n: Integers, gain: Floats, loss: Floats, probability: Floats, exponent: Floats
) -> Floats:
    """log10 of E[(G_1 + ... + G_n)_+] / n, rounded up by 1e-6 of it, and at most 0.

    G is ``gain`` or ``loss`` < 0, each with ``probability``, or else 0. The ``exponent``, >= 0, says how far
    rounding may have moved them. All arguments have the shape of the result. Nothing is checked.
    """
    distribution = outwards(
        np.stack([gain, loss], axis=-1),
        np.stack([probability, probability], axis=-1),
        True,
        16 + 4 * exponent[..., None],
    )
    _, high = log_positive_part(*distribution, n, width=_WIDTH)
    return np.minimum((high - np.log(n)) / np.log(10), 0.0)[()]
