"""delta against the strong adversary of Koskela, Heikkilä and Honkela: who reported at random is known.

A report of k-RR is uniform with probability gamma = k / (e^eps0 + k - 1). Their strong adversary A_s
(section 3.1) removes the reports that are not, and all uniform reports but x0 and x1. So the user's value,
x0 or x1, is hidden among N_1 reports x0 and N_2 reports x1 only, each of the n - 1 remaining users giving one
of them with probability q = gamma / k. We read (3.1) as the joint distribution of (N_1 + 1, N_2) against
(N_1, N_2 + 1): its two binomials alone are not what the adversary sees. The pair is its own mirror image.

It is the distribution of n messages, n - 1 of them independent and x0 or x1 with probability q each. So
delta is E[(G_1 + ... + G_n)_+] / n as in `histogram`, where G is 1 / q, -e^eps / q or 0. It does not reach 0:
if no other of these reports is x1, the loss is infinite.

Their weak adversary (sections 3.2 to 3.4) knows only which of the remaining users reported at random: that
bound is `histogram.upper`. In (3.2) we read that the n_i sum to B + 1, so that the blanket's term is
gamma (B + 1) / k; and in (4.1), the clones' pair, that the other component has 1 - Delta, as in Feldman et
al., whom it quotes: without it delta is far larger.
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
