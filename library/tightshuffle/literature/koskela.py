"""delta against the strong adversary of Koskela, Heikkilä and Honkela: who reported at random is known.

The target user's x0 or x1 is hidden among N_1 reports x0 and N_2 reports x1; each of the n - 1 other users
gives one of them with probability q. delta is E[(G_1 + ... + G_n)_+] / n with G = 1 / q, -e^eps / q or 0, and
does not reach 0. Their weak adversary is `privacy_blanket.ln_upper`.

We read (3.1) as the joint distribution of (N_1 + 1, N_2) against (N_1, N_2 + 1): its two binomials alone are
not what the adversary sees. In (3.2) we read that the n_i sum to B + 1, so that the blanket's term is gamma
(B + 1) / k; and in (4.1), the clones' pair, that the other component has 1 - Delta, as in Feldman et al.,
whom it quotes: without it delta is far larger.
"""

import numpy as np

from tightshuffle.arguments import LARGEST_EXPONENT, Floats
from tightshuffle.literature.clones import ln_delta_of_two_valued_gain
from tightshuffle.points import Points


def ln_koskela_strong(points: Points) -> Floats:
    """ln delta against the strong adversary of Koskela et al., an upper bound on delta of shuffled k-RR.

    It is that of one round, (points,), rounded up by 1e-6 of delta. delta is E[(G_1 + ... + G_n)_+] / n for
    the n users who do not collude, where G is 1 / q with probability q, -e^eps / q with probability q, else
    0. q is the probability that k-RR reports one given other value.
    """
    # Beyond this eps delta hardly falls, and so e^eps stays a float.
    eps = np.minimum(points.eps, LARGEST_EXPONENT)
    gain = np.exp(points.eps0) + np.asarray(points.k, dtype=float) - 1  # 1 / q of k-RR
    loss = -np.exp(eps) * gain
    exponent = np.add(eps, points.eps0)
    return ln_delta_of_two_valued_gain(points.honest_users, gain, loss, 1 / gain, exponent)
