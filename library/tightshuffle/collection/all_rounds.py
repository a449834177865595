"""Bounds on delta of all rounds of a collection together, for a target user of one group."""

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.bounds.rounds import LowerRounds, Rounds
from tightshuffle.collection.gains import LARGEST_EPS, bound_of_law
from tightshuffle.collection.one_round import OneRound
from tightshuffle.collection.setup import CollectionSetup, Group
from tightshuffle.collection.sums import SummedRounds
from tightshuffle.dummies.bound import HiddenByDummies
from tightshuffle.numerics.side import Side

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution


class AllRounds:
    """Bounds on delta of all rounds of ``setup`` together, those of its ``then`` included.

    The target user is one of the ``group``, and takes part in every round. Or, given the bounds ``seen`` for
    such a user, the target takes part with the group's probability, and nobody can know it. What is made for
    one eps is kept for others. Nothing is checked.
    """

    def __init__(
        self, setup: CollectionSetup, group: Group, seen: "AllRounds | None" = None
    ) -> None:
        self._setup = setup
        self._group = group
        self._seen = seen
        self._stages = [
            OneRound(stage, stage.group_named(group.name), unseen=seen is not None)
            for stage in setup.stages
        ]

    def ln_upper(self, eps: Floats) -> Floats:
        """ln of an upper bound on delta of every dataset; (points,), as ``eps``, -inf where delta is 0."""
        if self._setup.release == "sums":
            return np.min([bound.ln_delta(eps) for bound in self._sums], axis=0)
        if self._setup.is_one_round:
            return self._stages[0].ln_upper(eps)
        return self._upper_rounds.ln_delta(eps)

    def ln_lower(self, eps: Floats) -> Floats:
        """ln of a lower bound on delta of some dataset; (points,), -inf where none is known.

        All rounds together leak at least as much as a single one. So it is the largest bound of a single
        round of any stage (a stage is this collection or one of ``then``) and of all of them.
        """
        largest = np.max([stage.ln_lower(eps) for stage in self._stages], axis=0)
        if self._lower_rounds is None:
            return largest
        return np.maximum(largest, self._lower_rounds.ln_delta(eps))

    def epsilon_of_upper(self, target_ln_delta: float) -> float:
        """The smallest eps at which the upper bound is e^``target_ln_delta``; inf where none is found."""
        if self._setup.release == "sums":
            return min(bound.epsilon(target_ln_delta) for bound in self._sums)
        if self._setup.is_one_round:
            return self._stages[0].epsilon(target_ln_delta, Side.UPPER)
        eps = self._upper_rounds.epsilon_of(target_ln_delta)
        return math.inf if math.isnan(eps) else eps

    def epsilon_of_lower(self, target_ln_delta: float) -> float:
        """The largest eps at which the lower bound is at least e^``target_ln_delta``, as for `ln_lower`."""
        eps = max(stage.epsilon(target_ln_delta, Side.LOWER) for stage in self._stages)
        if self._lower_rounds is None:
            return eps
        eps_of_rounds = self._lower_rounds.epsilon_of(target_ln_delta)
        return math.inf if math.isnan(eps_of_rounds) else max(eps, eps_of_rounds)

    def dominating_pld(self, spacing: float) -> "PrivacyLossDistribution":
        """A privacy loss distribution of dp-accounting that dominates all rounds, for every dataset."""
        from tightshuffle.bounds.pld import LN_NEGLIGIBLE, pessimistic_pld

        pld_of_stages = []
        for stage in self._stages:
            # The losses end at an eps from which on delta is negligible, or does not change.
            curve = stage.upper_curve()
            negligible_from = stage.epsilon(LN_NEGLIGIBLE, Side.UPPER)
            last = min(negligible_from, curve.eps0, LARGEST_EPS)
            pld_of_round = pessimistic_pld(curve.ln_delta, last, spacing)
            pld_of_stages.append(pld_of_round.self_compose(stage.setup.rounds))

        composed = pld_of_stages[0]
        for pld in pld_of_stages[1:]:
            composed = composed.compose(pld)
        return composed

    @property
    def _may_miss_rounds(self) -> bool:
        """Whether nobody sees in which rounds the target user takes part."""
        return any(stage.unseen for stage in self._stages)

    @functools.cached_property
    def _sums(self) -> list[SummedRounds]:
        """Upper bounds where only sums are released; each holds, so the smallest counts.

        If the target user is unseen, the bound for one who takes part in every round holds, too.
        """
        stages = [(stage, stage.rounds) for stage in self._setup.stages]
        own = SummedRounds(stages, self._group.name, unseen=self._seen is not None)
        return [own] if self._seen is None else [own, *self._seen._sums]

    @functools.cached_property
    def _upper_rounds(self) -> Rounds | HiddenByDummies:
        """The upper bound of several rounds: that of a law of dummies, or else of all rounds composed."""
        of_law = self._bound_of_law(Side.UPPER)
        if of_law is not None:
            return of_law
        return Rounds([(stage.upper_curve(), stage.setup.rounds) for stage in self._stages])

    @functools.cached_property
    def _lower_rounds(self) -> LowerRounds | HiddenByDummies | None:
        """A lower bound of several rounds together; None where none is known.

        It holds for one dataset. For k-RR with k >= 3 all other users hold a third value in every round.
        With a law of dummies it is the bound of that law. It is None for a single round, which has a lower
        bound of its own.
        """
        setup = self._setup
        if setup.is_one_round:
            return None
        if setup.dummies.law is not None:
            return self._bound_of_law(Side.LOWER)
        if setup.randomizer != "grr" or setup.number_of_values == 2 or self._may_miss_rounds:
            return None
        if any(stage.dummies.probability_per_user_and_value for stage in setup.stages):
            return None

        seen = self._seen or self
        curves = [
            (stage.third_value_curve(), seen_stage.upper_curve(), stage.setup.rounds)
            for stage, seen_stage in zip(self._stages, seen._stages, strict=True)
        ]
        return LowerRounds(curves)

    def _bound_of_law(self, side: Side) -> HiddenByDummies | None:
        """The ``side``'s bound of all rounds if dummies have a law, that of how many dummies each value gets.

        All users send their values as they are. The result is None without a law. It is also None if ``then``
        adds collections, or if the target user takes part by chance and nobody can know it.
        """
        law = self._setup.dummies.parsed_law
        if law is None or self._setup.then or self._may_miss_rounds:
            return None
        return bound_of_law(law, side, self._setup.rounds)
