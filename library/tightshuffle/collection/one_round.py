"""Bounds on delta of one round of a collection, for a target user of one group."""

import functools
import math

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.bounds.inverse import epsilon_from_gaussian
from tightshuffle.bounds.rounds import Curve
from tightshuffle.collection import lower, sums, upper
from tightshuffle.collection.gains import LARGEST_EPS, bound_of_law
from tightshuffle.collection.setup import CollectionSetup, Group
from tightshuffle.numerics.side import Side

_WIDTH = 1e-4  # of delta, relative, that the computation adds to an upper bound
_WIDTH_OF_ROUNDS = 1e-3  # the same of each of several rounds: it makes eps about 0.01 % larger


class OneRound:
    """Bounds on delta of one of the rounds of ``setup``, without those that its ``then`` has added.

    The target user is one of the ``group``. The user takes part, or, if ``unseen``, does so with the group's
    probability, and nobody can know it. Nothing is checked.
    """

    def __init__(self, setup: CollectionSetup, group: Group, unseen: bool) -> None:
        self.setup = setup
        self.group = group
        self.unseen = unseen and group.participation < 1
        self.eps0 = setup.eps0_of(group)

    def ln_upper(self, eps: Floats, width: float = _WIDTH) -> Floats:
        """ln of an upper bound on delta of every dataset; (points,), as ``eps``, -inf where delta is 0.

        ``width`` is about the relative error that the computation adds. It is not used for sums only.
        """
        if self.setup.release == "sums":
            return np.min([bound.ln_delta(eps) for bound in self._sums], axis=0)
        return upper.ln_upper(self.setup, eps, self.group, self.unseen, width)

    def ln_lower(self, eps: Floats) -> Floats:
        """ln of a lower bound on delta of some dataset; (points,), -inf where none is known."""
        if self.unseen:
            return np.full(eps.shape, -np.inf)
        if self.setup.release == "sums":
            return sums.ln_lower(self.setup, eps, self.group)
        return lower.ln_lower(self.setup, eps, self.group)

    def epsilon(self, target_ln_delta: float, side: Side) -> float:
        """The eps at which the ``side``'s bound on delta is e^``target_ln_delta``.

        It is at most eps0, and math.inf where no eps up to `LARGEST_EPS` reaches the target. The search
        starts from a Gaussian mechanism with about the same delta at eps = 0.
        """
        if self.setup.dummies.parsed_law is not None:
            return self._epsilon_of_law(target_ln_delta, side)
        ln_bound = self.ln_upper if side is Side.UPPER else self.ln_lower

        def ln_delta_at(eps: float) -> float:
            return float(ln_bound(np.array([eps]))[0])

        # delta of a mu-Gaussian mechanism at eps = 0 is 2 Phi(mu / 2) - 1, which is about mu / sqrt(2 pi). mu
        # is its sensitivity over its standard deviation, at most 10 here.
        seen = OneRound(self.setup, self.group, unseen=False)
        delta_at_zero = math.exp(float(seen.ln_upper(np.zeros(1))[0]))
        mu = min(10.0, math.sqrt(2 * math.pi) * delta_at_zero)
        largest = min(self.eps0, LARGEST_EPS)
        eps = epsilon_from_gaussian(ln_delta_at, target_ln_delta, largest, mu=mu, side=side)
        return math.inf if eps >= LARGEST_EPS * (1 - 1e-6) else eps

    def upper_curve(self) -> Curve:
        """The upper bound on delta as a function of eps, to compose rounds."""
        return Curve(functools.partial(self.ln_upper, width=_WIDTH_OF_ROUNDS), self.eps0)

    def third_value_curve(self) -> Curve:
        """A lower bound on delta where all others hold a third value, as a function of eps."""
        bound = functools.partial(
            lower.ln_lower_of_third_value, self.setup, group=self.group, width=_WIDTH_OF_ROUNDS
        )
        return Curve(bound, self.eps0)

    @functools.cached_property
    def _sums(self) -> list[sums.SummedRounds]:
        """Upper bounds where only sums are released; each holds, so the smallest counts.

        One is for a user who takes part. If the user is unseen, it holds, too, and another one is for a user
        who takes part by chance.
        """
        cases = [False, True] if self.unseen else [False]
        return [sums.SummedRounds([(self.setup, 1)], self.group.name, unseen) for unseen in cases]

    def _epsilon_of_law(self, target_ln_delta: float, side: Side) -> float:
        """`epsilon` where dummies have a law; it looks at every eps."""
        if side is Side.LOWER and self.unseen:
            return 0.0  # no lower bound is known
        # An unseen user's delta is at most that of a seen one times the probability to take part.
        participation = self.group.participation if self.unseen else 1.0
        ln_of_seen = target_ln_delta - math.log(participation)
        if ln_of_seen >= 0:
            return 0.0
        law = self.setup.dummies.parsed_law
        assert law is not None
        eps = bound_of_law(law, side).epsilon_of(ln_of_seen)
        return math.inf if math.isnan(eps) else eps
