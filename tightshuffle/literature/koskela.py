"""delta against the strong adversary of Koskela, Heikkilä and Honkela: who reported at random is known.

The target user's x0 or x1 is hidden among N_1 reports x0 and N_2 reports x1; each of the n - 1 other users
gives one of them with probability q. delta is E[(G_1 + ... + G_n)_+] / n with G = 1 / q, -e^eps / q or 0, and
does not reach 0. docs/proofs.md, "The clones' pairs, and the strong adversary", says how we read the paper.
Their weak adversary is `histogram.upper`.
"""

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import LARGEST_EXPONENT, Floats, check_eps, check_eps0, check_k, check_n
from tightshuffle.literature.clones import hidden_by_two_messages


def koskela_strong(eps: npt.ArrayLike, *, n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """log10 delta against the strong adversary of Koskela et al.: an upper bound on delta of shuffled k-RR.

    Rounded up, by 1e-6 of delta; eps0 at most 300.
    """
    eps, n, k, eps0 = np.broadcast_arrays(
        check_eps(eps), check_n(n), check_k(k), check_eps0(eps0, LARGEST_EXPONENT)
    )
    eps = np.minimum(eps, LARGEST_EXPONENT)  # from here on delta hardly falls, and e^eps stays a float
    gain: Floats = np.exp(eps0) + k - 1
    return hidden_by_two_messages(n, gain, -np.exp(eps) * gain, 1 / gain, np.add(eps, eps0))
