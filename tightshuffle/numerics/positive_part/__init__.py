"""A certified bracket of log E[(G_1 + ... + G_n)_+], for independent G with finitely many values, at any n.

Every hockey-stick divergence of the shuffle model here is such an expectation (see `bounds.histogram`).
The number of summands may also be random, a sum of independent binomial and Poisson numbers (`bounds.cover`).
What follows is for a fixed n; otherwise M(z)^n becomes the product of (1 - s + s M(z))^n over the binomial
numbers, with n trials of probability s each, and of e^(n (M(z) - 1)) over the Poisson numbers, of mean n.
Let S = G_1 + ... + G_n, and M(z) = E[e^(z G)]. With a small Gaussian U of standard deviation tau, independent
of S, and for every theta > 0,

    A(tau) = E[(S + U)_+] = 1 / (2 pi) * integral of M(z)^n e^(z^2 tau^2 / 2) / z^2 over u,   z = theta + i u.

At the saddle point of M(z)^n / z^2 the integrand is a narrow bell, and the trapezoid rule with nodes u = j h,
h = 2 pi / L, needs few of them, whatever n is. Five errors are bounded, each goes to the safe
side (`contour`; rounding also in `tilt`).

1. *Smoothing.* x_+ is convex, so E[S_+] <= A(tau) (Jensen). The excess kappa_tau(s) = E[(s + U)_+] - s_+
   falls with ``|s|``, and kappa_2tau(s) = 2 kappa_tau(s / 2), hence kappa_2tau >= 2 kappa_tau and

       2 A(tau) - A(2 tau) <= E[S_+] <= A(tau),

   which closes like tau^2: its relative width is about 1.5 (theta tau)^2.
2. *Aliasing.* By Poisson's summation formula the trapezoid rule gives A(tau) plus, for every whole m other
   than 0, e^(-theta m L) E[(S + U + m L)_+]. These are positive, so A(tau) is at most the sum over the nodes.
   With x_+ <= e^(t x) / (e t) for every t > 0 (here theta - s for m > 0, theta + s for m < 0) they add up
   to at most M(t)^n e^(t^2 tau^2 / 2) / (e t (e^(s L) - 1)) on each side.
3. *Truncation.* The nodes beyond V = J h add at most M(theta)^n e^(theta^2 tau^2 / 2) times the integral of
   e^(-u^2 tau^2 / 2) / (pi u^2) from V on, which is at most e^(-V^2 tau^2 / 2) / (pi V^3 tau^2).
4. *Skipped nodes.* With the tilted probabilities w_i = p_i e^(theta g_i) / M(theta),
   ``|M(z) / M(theta)|^2`` = 1 - 4 * sum over i < j of w_i w_j sin^2(u (g_i - g_j) / 2). By one pair i, j
   alone, the nodes with 2 n w_i w_j sin^2(u (g_i - g_j) / 2) > T add at most
   e^-T (1 / (2 theta) + h / theta^2) in all.
   Windows around the zeros of this sine remain; the pair that leaves the fewest nodes is taken.
5. *Rounding.* A node's logarithm is known to n times a few units in the last place of the terms that
   M(z) / M(theta) - 1 sums up; so is log M(theta). Values and probabilities count as exact: whoever rounds
   them moves them to the safe side (`outwards`).

Where only few combinations of values matter (few users, or eps next to eps0), `box` sums them one by one.
Under the tilted distribution, the counts of all but one of the values nearly always lie in a box. By the same
x_+ <= e^(theta x) / (e theta), other combinations add at most 1 / (e theta) times their tilted probability.
"""

from tightshuffle.numerics.positive_part.bracket import log_positive_part, tilted_copies
from tightshuffle.numerics.positive_part.outwards import outwards

__all__ = ["log_positive_part", "outwards", "tilted_copies"]
