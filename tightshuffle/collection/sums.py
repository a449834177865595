"""Bounds on delta of a collection of which only sums are released: one count of ones per value.

The reports are those of a unary encoding, so a user's bits are independent. `bounds.sums` bounds each count
that depends on the target user, given how many bits of one kind hide the target's. A bit of another kind is
one of this kind with some probability, and revealed otherwise; who takes part is revealed. So how many bits
hide the target's is random, but independent of all values. They are fewer than the bound assumes with a small
probability, which is added to delta. docs/theory.md, "Sums only", has the proof.
"""

import math
from collections.abc import Sequence

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.bounds import sums
from tightshuffle.bounds.bits import Bit, ln_delta_of_datasets
from tightshuffle.bounds.rounds import Curve, Rounds
from tightshuffle.collection.cover import Cover
from tightshuffle.collection.data import Data, Group
from tightshuffle.randomizers.unary import UnaryEncoding

_LN10 = math.log(10)
_SHARE = 3.0  # -log10 of the part of delta that is given to rounds with too few bits: eps is 0.01 % larger
_FIRST = -9.0  # log10 of that probability to begin with
_STEPS = 10  # per factor of ten of its logarithm: bounds for one probability serve many eps
_RAREST = 1e-100  # probability of taking part: delta stays a float
_Odds = tuple[float, float]  # log odds that a bit is 1, for users who hold the value and who do not


class SummedRounds:
    """An upper bound on delta of all rounds of some stages together, for every dataset.

    ``stages``: collections of sums, each with how many rounds it has; ``group``: the target user's, by
    default the first. The target user takes part in every round, or, if ``unseen``, with the group's
    probability, and nobody can see when.
    """

    def __init__(self, stages: Sequence[tuple[Data, int]], group: str | None, unseen: bool) -> None:
        self._stages = [(stage, stage.group_named(group), times) for stage, times in stages]
        self._unseen = unseen and any(target.participation < 1 for _, target, _ in self._stages)
        self._covers = [_covers(stage, target) for stage, target, _ in self._stages]
        self._fixed = all(np.all(cover.shares == 1) for covers in self._covers for cover in covers.values())
        self._known: dict[float, list[Rounds]] = {}

    def log10_delta(self, eps: Floats) -> Floats:
        """log10 of the bound at ``eps`` >= 0, any shape; -inf where delta is 0."""
        points = eps.ravel()
        result, rare = np.full(points.shape, np.inf), np.full(points.shape, _FIRST)
        if self._fixed:
            rare[:] = -np.inf
        waiting = np.ones(points.shape, dtype=bool)
        while waiting.any():
            for probability in np.unique(rare[waiting]).tolist():
                here = np.flatnonzero(waiting & (rare == probability))
                logs = np.max([pair.log10_delta(points[here]) for pair in self._pairs(probability)], axis=0)
                some = logs > -np.inf
                total = np.logaddexp(logs * _LN10, probability * _LN10) / _LN10
                result[here] = np.minimum(result[here], np.where(some, total, logs))
                waiting[here] = too_often = some & (logs - _SHARE < probability)
                rare[here[too_often]] = _rounded_down(logs[too_often] - _SHARE)
        return np.minimum(result, 0.0).reshape(eps.shape)[()]

    def epsilon(self, log10_delta: float) -> float:
        """The smallest eps with this delta, rounded up; math.inf where none is known."""
        rare, rest = -math.inf, log10_delta
        if not self._fixed:
            rare = log10_delta - _SHARE
            rest = log10_delta + math.log1p(-(10**-_SHARE) * (1 + 1e-9)) / _LN10
        found = max(pair.epsilon(rest) for pair in self._pairs(rare))
        return math.inf if math.isnan(found) else found

    def _pairs(self, log10_rare: float) -> list[Rounds]:
        """Bounds, the largest of which holds but for an event of this probability, independent of values."""
        if log10_rare not in self._known:
            # In each round, either count may have too few bits.
            ln_each = log10_rare * _LN10 - math.log(2 * sum(times for _, _, times in self._stages))
            deletion, parts = self._stages[0][0].deletion, []
            for (stage, target, times), covers in zip(self._stages, self._covers, strict=True):
                numbers = {odds: cover.least(ln_each) for odds, cover in covers.items()}
                odds = max(numbers, key=lambda each: numbers[each] * _variance(each))
                pair = sums.curves(_unary(stage, target), numbers[odds], odds)
                if self._unseen:
                    pair = (_seldom(sums.together([(pair, 1)], deletion), target.participation),) * 2
                parts.append((pair, times))
            self._known[log10_rare] = sums.together(parts, deletion or self._unseen)
        return self._known[log10_rare]


def log10_lower(data: Data, eps: Floats, group: Group) -> Floats:
    """log10 of a lower bound on delta of one round, ``eps`` (e,): of one count, in some datasets.

    Whoever sees only this count sees a bit of a user who may not take part, which is 1 less often.
    """
    held, other = _unary(data, group).log_odds
    bits = []
    for users, each in data.others(group):
        one, zero = (_odds_of_product(each.participation, odds) for odds in _unary(data, each).log_odds)
        bits.append((users, (one, zero)))
    result = np.full(eps.shape, -np.inf)
    for own, others in (
        (Bit.of(held, other), bits),
        (Bit.of(-other, -held), [(users, (-zero, -one)) for users, (one, zero) in bits]),
    ):
        for place in np.flatnonzero(eps < own.largest).tolist():
            found = ln_delta_of_datasets(float(eps[place]), own, others) - 1e-9
            result[place] = max(result[place], found / _LN10)
    return np.minimum(result, 0.0)


def _covers(data: Data, group: Group) -> dict[_Odds, Cover]:
    """For the bits of each group, as log odds: how many bits of this kind hide one of the target user."""
    others = [(float(n), each.participation, _unary(data, each).log_odds) for n, each in data.others(group)]
    return {
        kind: Cover.from_numbers([(n, a * _share(odds, kind)) for n, a, odds in others])
        for *_, kind in others
    }


def _share(odds: _Odds, kind: _Odds) -> float:
    """The probability with which a bit of these log odds is a bit of that kind, whatever the user holds.

    It is below 1 if zeros or ones are rarer than they are in any bit of the kind.
    """
    zeros = (1 + math.exp(kind[0])) / (1 + math.exp(odds[0]))
    ones = (1 + math.exp(-kind[1])) / (1 + math.exp(-odds[1]))
    share = min(zeros, ones)
    return share * (1 - 1e-12) if share < 1 else 1.0


def _variance(odds: _Odds) -> float:
    """The least variance of a bit."""
    return min(math.exp(-abs(each)) / (1 + math.exp(-abs(each))) ** 2 for each in odds)


def _seldom(pairs: Sequence[Rounds], probability: float) -> Curve:
    """The bound of one round in which the target user takes part with this probability."""
    log10 = math.log10(max(probability, _RAREST))
    return Curve(
        lambda eps: np.max([pair.log10_delta(eps) for pair in pairs], axis=0) + log10,
        max(pair.largest for pair in pairs),
    )


def _unary(data: Data, group: Group) -> UnaryEncoding:
    own = data.randomizer_of(group)
    assert isinstance(own, UnaryEncoding)  # `Data` checked it
    return own


def _odds_of_product(factor: float, odds: float) -> float:
    """The log odds of ``factor`` times the probability with these log odds."""
    return math.log(factor) - math.log1p(math.exp(-odds) - factor) if factor < 1 else odds


def _rounded_down(log10: Floats) -> Floats:
    """A number below each, by at most a quarter of it, on a grid."""
    return -(10 ** ((np.floor(np.log10(-log10) * _STEPS) + 1) / _STEPS))
