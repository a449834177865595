"""Bounds on delta of a collection of which only sums are released: one count of ones per value.

The reports are those of a unary encoding, so a user's bits are independent. `bounds.sums` bounds each count
that depends on the target user, given how many bits of one kind hide the target's. A bit of another kind is
one of this kind with some probability, and revealed otherwise; who takes part is revealed. So how many bits
hide the target's is random, but independent of all values. They are fewer than the bound assumes with a small
probability, which is added to delta. docs/theory.md, "Sums only", has the proof.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.bounds import sums
from tightshuffle.bounds.bit_counts import Bit
from tightshuffle.bounds.bits import ln_delta_of_datasets
from tightshuffle.bounds.rounds import Curve, Rounds
from tightshuffle.collection.cover import Cover
from tightshuffle.collection.data import Data, Group
from tightshuffle.randomizers.unary import UnaryEncoding

_LN10 = math.log(10)
_SHARE = 3.0  # -log10 of the part of delta that is given to rounds with too few bits: eps is 0.01 % larger
_FIRST = -9.0  # log10 of the probability of too few bits to begin with
_STEPS = 10  # probabilities per factor of ten of their log: bounds for one of them serve many eps
_RAREST = 1e-100  # the least probability of taking part that is computed with: delta stays a float
_Odds = tuple[float, float]  # log odds that a bit is 1, for users who hold the value and who do not


class _Stage(NamedTuple):
    """Rounds that share one collection: ``data``, the target user's ``group`` and the number of ``rounds``.

    ``covers`` says for each kind of bit how many bits of this kind hide the target user's (`_covers`).
    """

    data: Data
    group: Group
    rounds: int
    covers: dict[_Odds, Cover]


class SummedRounds:
    """An upper bound on delta of all rounds of some stages together, for every dataset, if sums are released.

    ``stages`` are collections of sums, each with how many rounds it has. ``group`` is the target user's, by
    default the first. The target user takes part in every round, or, if ``unseen``, with the group's
    probability, and nobody can see when.
    """

    def __init__(self, stages: Sequence[tuple[Data, int]], group: str | None, unseen: bool) -> None:
        """Note for each stage how many bits hide those of the target user."""
        self._stages = []
        for stage, rounds in stages:
            target_group = stage.group_named(group)
            self._stages.append(_Stage(stage, target_group, rounds, _covers(stage, target_group)))
        self._unseen = unseen and any(stage.group.participation < 1 for stage in self._stages)
        # Whether it is known how many bits there are: then never too few.
        self._is_fixed = all(
            np.all(cover.shares == 1) for stage in self._stages for cover in stage.covers.values()
        )
        self._known: dict[float, list[Rounds]] = {}  # of `_bounds_but_for`

    def log10_delta(self, eps: Floats) -> Floats:
        """log10 of the bound at ``eps`` >= 0, any shape, which the result has; -inf where delta is 0.

        Too few bits hide the target user with a probability that is added to the bound. Which probability is
        best depends on the bound, so it is lowered until it is small beside it.
        """
        points = eps.ravel()
        result = np.full(points.shape, np.inf)
        log10_rare = np.full(points.shape, -np.inf if self._is_fixed else _FIRST)
        waiting = np.ones(points.shape, dtype=bool)
        while waiting.any():
            for probability in np.unique(log10_rare[waiting]).tolist():
                chosen = np.flatnonzero(waiting & (log10_rare == probability))
                composed = self._bounds_but_for(probability)  # the largest of them holds
                bounds = [rounds.log10_delta(points[chosen]) for rounds in composed]
                log10_bounds = np.max(bounds, axis=0)
                is_positive = log10_bounds > -np.inf
                total = np.logaddexp(log10_bounds * _LN10, probability * _LN10) / _LN10
                total = np.where(is_positive, total, log10_bounds)
                result[chosen] = np.minimum(result[chosen], total)

                # The event is to be rare beside the bound.
                too_often = is_positive & (log10_bounds - _SHARE < probability)
                waiting[chosen] = too_often
                log10_rare[chosen[too_often]] = _round_down_to_grid(
                    log10_bounds[too_often] - _SHARE
                )
        return np.minimum(result, 0.0).reshape(eps.shape)[()]

    def epsilon(self, log10_delta: float) -> float:
        """The smallest eps with delta 10^``log10_delta``, rounded up; math.inf where none is known."""
        log10_rare, log10_rest = -math.inf, log10_delta
        if not self._is_fixed:
            log10_rare = log10_delta - _SHARE
            log10_rest = log10_delta + math.log1p(-(10**-_SHARE) * (1 + 1e-9)) / _LN10
        eps = max(pair.epsilon(log10_rest) for pair in self._bounds_but_for(log10_rare))
        return math.inf if math.isnan(eps) else eps

    def _bounds_but_for(self, log10_rare: float) -> list[Rounds]:
        """Bounds on delta of all rounds together, the largest of which holds but for an unlikely event.

        The event is that too few bits hide the target user in some round. It does not depend on any value,
        and ``log10_rare`` is log10 of its probability. Bounds are kept.
        """
        if log10_rare in self._known:
            return self._known[log10_rare]

        # In each round, either count may have too few bits.
        rounds = sum(stage.rounds for stage in self._stages)
        ln_rare_of_count = log10_rare * _LN10 - math.log(2 * rounds)
        deletion = self._stages[0].data.deletion
        pairs_and_rounds = []
        for stage in self._stages:
            pair = _curves_of_least_variance(stage, ln_rare_of_count)
            if self._unseen:
                curve = _curve_of_participation(
                    sums.together([(pair, 1)], deletion), stage.group.participation
                )
                pair = (curve, curve)
            pairs_and_rounds.append((pair, stage.rounds))
        self._known[log10_rare] = sums.together(pairs_and_rounds, deletion or self._unseen)
        return self._known[log10_rare]


def _curves_of_least_variance(stage: _Stage, ln_rare: float) -> tuple[Curve, Curve]:
    """The curves of `sums.curves` for one round, if the bits that hide the target user's are of one kind.

    It is the kind whose bits have the largest variance in sum. There are so many of them as are exceeded or
    reached but for a probability with the natural log ``ln_rare``.
    """
    numbers = {odds: cover.likely_minimum(ln_rare) for odds, cover in stage.covers.items()}
    odds = max(numbers, key=lambda kind: numbers[kind] * _least_variance(kind))
    return sums.curves(_unary(stage.data, stage.group), numbers[odds], odds)


def log10_lower(data: Data, eps: Floats, group: Group) -> Floats:
    """log10 of a lower bound on delta of one round at ``eps``; both (e,).

    It is delta of one count in the worst of some datasets: of the count in which the target user's bit is 1
    less often afterwards, or of the one where it is more often, whose zeros and ones are exchanged. Whoever
    sees only this count sees a bit of a user who may not take part, which is 1 less often. The log odds of a
    bit are ``if_held`` if its user holds the value, and else ``if_not``.
    """
    bits, flipped_bits = [], []
    for users, hiding_group in data.others(group):
        if_held, if_not = _unary(data, hiding_group).log_odds
        if_held = _odds_of_product(hiding_group.participation, if_held)
        if_not = _odds_of_product(hiding_group.participation, if_not)
        bits.append((users, (if_held, if_not)))
        flipped_bits.append((users, (-if_not, -if_held)))

    if_held, if_not = _unary(data, group).log_odds
    result = np.full(eps.shape, -np.inf)
    for target_bit, hiding_bits in (
        (Bit.of(if_held, if_not), bits),
        (Bit.of(-if_not, -if_held), flipped_bits),
    ):
        for index in np.flatnonzero(eps < target_bit.largest).tolist():
            # 1e-9: more than what rounded odds lose.
            ln_delta = ln_delta_of_datasets(float(eps[index]), target_bit, hiding_bits) - 1e-9
            result[index] = max(result[index], ln_delta / _LN10)
    return np.minimum(result, 0.0)


def _covers(data: Data, group: Group) -> dict[_Odds, Cover]:
    """For the bits of each group, as log odds: how many bits of this kind hide one of the target user."""
    hiding_groups = data.others(group)
    covers = {}
    for _, kind_group in hiding_groups:
        kind = _unary(data, kind_group).log_odds
        binomials = []
        for n, other in hiding_groups:
            share = _share(_unary(data, other).log_odds, kind)
            binomials.append((float(n), other.participation * share))
        covers[kind] = Cover.from_numbers(binomials)
    return covers


def _share(odds: _Odds, kind: _Odds) -> float:
    """The largest probability with which a bit of log odds ``odds`` can count as one of the ``kind``.

    Otherwise the bit, which may then depend on the value more, is revealed. The result is below 1 if zeros or
    ones are rarer than in a bit of the kind.
    """
    # Zeros are rarest for holders of the value, and ones for all others.
    zeros = (1 + math.exp(kind[0])) / (1 + math.exp(odds[0]))
    ones = (1 + math.exp(-kind[1])) / (1 + math.exp(-odds[1]))
    share = min(zeros, ones)
    return share * (1 - 1e-12) if share < 1 else 1.0


def _least_variance(odds: _Odds) -> float:
    """The smaller variance of a bit with these log odds, that of who holds the value or of who does not."""
    return min(math.exp(-abs(logit)) / (1 + math.exp(-abs(logit))) ** 2 for logit in odds)


def _curve_of_participation(pairs: Sequence[Rounds], probability: float) -> Curve:
    """The bound of one round in which the target user takes part with this probability.

    ``pairs`` are bounds for a user who does take part; the largest of them holds.
    """
    log10_probability = math.log10(max(probability, _RAREST))

    def log10_delta(eps: Floats) -> Floats:
        return np.max([pair.log10_delta(eps) for pair in pairs], axis=0) + log10_probability

    return Curve(log10_delta, max(pair.largest for pair in pairs))


def _unary(data: Data, group: Group) -> UnaryEncoding:
    randomizer = data.randomizer_of(group)
    assert isinstance(randomizer, UnaryEncoding)  # `Data` checked it
    return randomizer


def _odds_of_product(factor: float, odds: float) -> float:
    """The log odds of ``factor`` times the probability with these log odds."""
    return math.log(factor) - math.log1p(math.exp(-odds) - factor) if factor < 1 else odds


def _round_down_to_grid(log10: Floats) -> Floats:
    """For each of the logarithms ``log10`` < 0 the next smaller one on a grid, by at most a quarter of it."""
    return -(10 ** ((np.floor(np.log10(-log10) * _STEPS) + 1) / _STEPS))
