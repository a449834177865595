"""Bounds on delta of a collection of which only sums are released: one count of ones per value.

The reports are those of a unary encoding, so a user's bits are independent. `bounds.sums` bounds each count
that depends on the target user, given how many bits of one kind hide the target's. A bit of another kind is
one of this kind with some probability, and revealed otherwise; who takes part is revealed. So how many bits
hide the target's is random, but independent of all values. They are fewer than the bound assumes with a small
probability, which is added to delta; or, if one count changes in all, delta is a mean over their number.
docs/theory.md, "Sums only", has the proof.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy

from tightshuffle.arguments import Floats
from tightshuffle.bounds import sums
from tightshuffle.bounds.bit_counts import Bit
from tightshuffle.bounds.bits import ln_delta_of_datasets
from tightshuffle.bounds.inverse import epsilon_from_gaussian
from tightshuffle.bounds.rounds import Curve, Rounds
from tightshuffle.collection.cover import Cover
from tightshuffle.collection.setup import CollectionSetup, Group
from tightshuffle.mechanisms.gaussian import scale_over_sensitivity
from tightshuffle.numerics.powers import LN10
from tightshuffle.points import Neighbours
from tightshuffle.randomizers.unary import UnaryEncoding

# ln of delta over the probability of too few bits, which is added to delta: eps is 0.01 % larger.
_LN_OVER_RARE = 3 * LN10
_FIRST_LN_RARE = -9 * LN10  # ln of the probability of too few bits to begin with
# Probabilities of too few bits per factor of ten of their log: bounds for one of them serve many eps.
_STEPS_PER_DECADE = 10
_NUMBERS_OF_MEAN = 8  # of bits, in the mean over them: the fewer, the larger is the bound
# The least probability of taking part that is computed with: delta stays a float.
_LEAST_PARTICIPATION = 1e-100
# ln(p / (1 - p)) and ln(q / (1 - q)), where a bit is 1 with probability p for who holds the value, else q.
_LogOdds = tuple[float, float]


class _Stage(NamedTuple):
    """Rounds that share one collection: its ``setup``, the target user's ``group`` and how many ``rounds``.

    ``covers`` has, for each kind of bit, the law of how many bits hide one of the target user's if all of
    them count as bits of this kind (`_covers_by_kind`).
    """

    setup: CollectionSetup
    group: Group
    rounds: int
    covers: dict[_LogOdds, Cover]


class SummedRounds:
    """An upper bound on delta of all rounds of some stages together, for every dataset, if sums are released.

    ``stages`` are collections of sums, each with how many rounds it has. ``group`` is the target user's, by
    default the first. The target user takes part in every round, or, if ``unseen``, with the group's
    probability, and nobody can see when.
    """

    def __init__(
        self, stages: Sequence[tuple[CollectionSetup, int]], group: str | None, unseen: bool
    ) -> None:
        """Note for each stage the law of how many bits hide those of the target user."""
        self._stages = []
        for stage, rounds in stages:
            target_group = stage.group_named(group)
            self._stages.append(
                _Stage(stage, target_group, rounds, _covers_by_kind(stage, target_group))
            )
        self._neighbours = Neighbours(self._stages[0].setup.neighbours)
        self._unseen = unseen and any(stage.group.participation < 1 for stage in self._stages)
        # Whether it is known how many bits hide the target user's: then they are never too few.
        self._is_fixed = all(
            np.all(cover.shares == 1) for stage in self._stages for cover in stage.covers.values()
        )
        # By ln of the probability of too few bits; `_rounds_but_for_rare_event` has what is kept.
        self._kept_rounds: dict[float, list[Rounds]] = {}
        self._is_one_round = sum(stage.rounds for stage in self._stages) == 1
        # ln of the target user's probability to take part, which multiplies delta of one round if unseen. In
        # several rounds it multiplies the bound on each.
        self._ln_share = 0.0
        if self._unseen and self._is_one_round:
            self._ln_share = _ln_participation(self._stages[0].group.participation)
        # Whether there is one round, in which one count changes: then delta is also at most a mean.
        self._has_mean = (
            self._is_one_round and self._neighbours is Neighbours.DELETION and not self._is_fixed
        )

    def ln_delta(self, eps: Floats) -> Floats:
        """ln of the upper bound on delta at ``eps`` >= 0, in the shape of ``eps``; -inf where delta is 0.

        Rarely, too few bits hide the target user. The probability of this event is added to a bound for
        enough bits. A smaller probability leaves fewer bits that are sure, and a larger bound. So the
        probability of each eps begins at 10^-9. It is lowered until it is at most 1/1000 of the bound.
        Where one count changes in all, `_ln_mean` is smaller.
        """
        points = eps.ravel()
        result = np.full(points.shape, np.inf)
        # ln of the probability of the event, which is 0 if the number of bits is known.
        ln_rare = np.full(points.shape, -np.inf if self._is_fixed else _FIRST_LN_RARE)
        waiting = np.ones(points.shape, dtype=bool)
        while waiting.any():
            for ln_of_event in np.unique(ln_rare[waiting]).tolist():
                chosen = np.flatnonzero(waiting & (ln_rare == ln_of_event))
                composed = self._rounds_but_for_rare_event(ln_of_event)  # the largest of them holds
                bounds = [rounds.ln_delta(points[chosen]) for rounds in composed]
                ln_bounds = np.max(bounds, axis=0) + self._ln_share
                is_positive = ln_bounds > -np.inf
                total = np.where(is_positive, np.logaddexp(ln_bounds, ln_of_event), ln_bounds)
                result[chosen] = np.minimum(result[chosen], total)

                # The event has to be rare beside the bound: lower its probability, to a number on the grid.
                too_often = is_positive & (ln_bounds - _LN_OVER_RARE < ln_of_event)
                waiting[chosen] = too_often
                ln_rare[chosen[too_often]] = _round_down_to_grid(
                    ln_bounds[too_often] - _LN_OVER_RARE
                )
        if self._has_mean:
            for index in np.flatnonzero(result > -np.inf).tolist():
                # The mean may be ten times smaller.
                ln_rare_of_mean = min(result[index], 0.0) - _LN_OVER_RARE - LN10
                mean = self._ln_mean(points[index].item(), ln_rare_of_mean)
                result[index] = min(result[index], mean)
        return np.minimum(result, 0.0).reshape(eps.shape)[()]

    def epsilon(self, ln_delta: float) -> float:
        """The smallest eps with delta e^``ln_delta``, rounded up; math.inf where none is known."""
        # delta is shared between the event that too few bits hide the target user, and all else.
        ln_rare, ln_rest = -math.inf, ln_delta
        if not self._is_fixed:
            ln_rare = ln_delta - _LN_OVER_RARE
            ln_rest = ln_delta + math.log1p(-math.exp(-_LN_OVER_RARE) * (1 + 1e-9))
        ln_of_seen = min(ln_rest - self._ln_share, 0.0)
        composed = self._rounds_but_for_rare_event(ln_rare)
        eps = max(rounds.epsilon_of(ln_of_seen) for rounds in composed)
        if math.isnan(eps):
            return math.inf
        return min(eps, self._epsilon_of_mean(ln_delta, eps)) if self._has_mean else eps

    def _epsilon_of_mean(self, ln_delta: float, largest: float) -> float:
        """The smallest eps up to ``largest`` where `_ln_mean` is at most ``ln_delta``, rounded up."""

        def ln_mean(eps: float) -> float:
            return self._ln_mean(eps, ln_delta - _LN_OVER_RARE)

        # The first eps to try is a little below ``largest``.
        mu = 0.98 / scale_over_sensitivity(largest, ln_delta)
        return epsilon_from_gaussian(ln_mean, ln_delta, largest, mu=mu)

    def _ln_mean(self, eps: float, ln_rare: float) -> float:
        """ln of a bound on delta of a deletion in one round: the mean over how many bits hide the target.

        The observer sees their number J. delta falls with it, so for ascending numbers j_0, j_1, ... the mean
        is at most the delta of the last one plus, for each j_i, P(J < j_i) times by how much delta of j_i
        bits is below that of the number before. Before j_0 delta counts as 1. P(J < j_0) is about
        e^``ln_rare``.
        """
        [stage] = self._stages
        # ln of Chernoff's bounds, evenly spaced in standard deviations of J.
        reach = math.sqrt(-2 * ln_rare)
        ln_chances = -((reach * np.linspace(1, 0, _NUMBERS_OF_MEAN, endpoint=False)) ** 2) / 2
        odds = max(stage.covers, key=lambda kind: stage.covers[kind].mean * _smaller_variance(kind))
        cover = stage.covers[odds]
        numbers = [cover.likely_minimum(ln_chance) for ln_chance in ln_chances.tolist()]
        ln_chances = np.minimum(ln_chances, _ln_chances_of_fewer(cover, numbers))

        # ln delta of each number of bits, of a count that falls and of one that rises; (2, numbers).
        encoding, point = _unary_encoding(stage.setup, stage.group), np.array([eps])
        pairs = [sums.curves_of_two_counts(encoding, number, odds) for number in numbers]
        ln_deltas_of_pairs = [[curve.ln_delta(point)[0] for curve in pair] for pair in pairs]
        ln_deltas = np.minimum.accumulate(np.transpose(ln_deltas_of_pairs), axis=1)

        ln_before = np.pad(ln_deltas[:, :-1], ((0, 0), (1, 0)))
        with np.errstate(divide="ignore", invalid="ignore"):
            ln_falls = ln_before + np.log(-np.expm1(ln_deltas - ln_before))
        ln_terms = np.where(ln_deltas < ln_before, ln_chances + ln_falls, -np.inf)
        ln_means = np.logaddexp(np.logaddexp.reduce(ln_terms, axis=1), ln_deltas[:, -1])
        # 1e-12 is more than what rounding may take away.
        return float(ln_means.max()) + self._ln_share + 1e-12

    def _rounds_but_for_rare_event(self, ln_rare: float) -> list[Rounds]:
        """Bounds on delta of all rounds together; the largest of them holds but for a rare event.

        The event is that in some round too few bits hide the target user's. It does not depend on any value,
        and ``ln_rare`` is ln of its probability. A bound is a function of eps. For a deletion there can
        be two (all counts that change fall, or all rise), else there is one. They are kept. The bounds of one
        round are for a user who takes part: ``_ln_share`` is left to be added.
        """
        if ln_rare in self._kept_rounds:
            return self._kept_rounds[ln_rare]

        # Up to two counts of each round depend on the target user. Each of them may have too few bits.
        rounds = sum(stage.rounds for stage in self._stages)
        ln_rare_of_count = ln_rare - math.log(2 * rounds)
        pairs_and_rounds = []
        for stage in self._stages:
            # The bound for each of the two counts, as functions of eps.
            pair = _curves_of_best_kind(stage, ln_rare_of_count)
            pairs_and_rounds.append((pair, stage.rounds))
        if self._is_one_round or not self._unseen:
            composed = sums.compose_stages(pairs_and_rounds, self._neighbours)
        else:
            # One bound for a whole round, in which the target user may not take part.
            curves_and_rounds = []
            for stage, (pair, rounds) in zip(self._stages, pairs_and_rounds, strict=True):
                of_round = sums.compose_stages([(pair, 1)], self._neighbours)
                curve = _curve_with_participation(of_round, stage.group.participation)
                curves_and_rounds.append((curve, rounds))
            composed = [Rounds(curves_and_rounds)]
        self._kept_rounds[ln_rare] = composed
        return composed


def _ln_chances_of_fewer(cover: Cover, numbers: Sequence[int]) -> Floats:
    """ln P(J < number) for each of the ``numbers``, rounded up, (numbers,); 0 unless J is binomial."""
    is_random = cover.shares < 1
    if np.count_nonzero(is_random) != 1 or np.any(cover.is_poisson):
        return np.zeros(len(numbers))
    n, share = cover.n[is_random], cover.shares[is_random]
    most = np.array(numbers, dtype=float) - cover.certain_reports - 1
    with np.errstate(divide="ignore"):
        chances = scipy.special.betainc(n - most, np.maximum(most, 0.0) + 1, 1 - share)
        # 1e-6 is far more than what this loses.
        return np.where(most < 0, -np.inf, np.minimum(np.log(chances) + 1e-6, 0.0))


def _curves_of_best_kind(stage: _Stage, ln_rare: float) -> tuple[Curve, Curve]:
    """Upper bounds on delta of the two counts of one round that depend on the target user.

    They are those of `sums.curves_of_two_counts`, and hold but for a probability with the natural log
    ``ln_rare`` that fewer bits than assumed hide the target user's. All bits that hide it count as bits of
    one kind. Each kind that ``stage.covers`` has is possible. The one whose bits have the largest variance in
    sum is taken.
    """
    numbers = {odds: cover.likely_minimum(ln_rare) for odds, cover in stage.covers.items()}
    # How many bits there are at least, but for the rare event, times the variance of one of them.
    odds = max(numbers, key=lambda kind: numbers[kind] * _smaller_variance(kind))
    return sums.curves_of_two_counts(_unary_encoding(stage.setup, stage.group), numbers[odds], odds)


def ln_lower(setup: CollectionSetup, eps: Floats, group: Group) -> Floats:
    """ln of a lower bound on delta of one round at ``eps``, if only sums are released; both (points,).

    The target user, who takes part, moves from the value x0 to x1. This changes one bit in the sum of x0,
    from p to q: it is 1 with probability p before, and q < p afterwards. In the sum of x1 it changes one from
    q to p. Exchanging zeros and ones makes this a change from 1 - q to 1 - p. The bound is delta of only one
    of these sums, in the worst of some datasets; the larger one counts.

    Other users' bits hide the target's. A bit is 1 with probability p for who holds the value, else with q.
    Here ``if_held`` and ``if_not`` are the log odds ln(p / (1 - p)) and ln(q / (1 - q)). If a user takes part
    with probability a only, the observer of one sum sees a bit that is 1 with a p or a q.
    """
    # Each item: how many users have the bit, and its log odds. flipped_bits has zeros and ones exchanged.
    bits, flipped_bits = [], []
    for users, hiding_group in setup.others(group):
        if_held, if_not = _unary_encoding(setup, hiding_group).log_odds
        if_held = _log_odds_of_product(hiding_group.participation, if_held)
        if_not = _log_odds_of_product(hiding_group.participation, if_not)
        bits.append((users, (if_held, if_not)))
        flipped_bits.append((users, (-if_not, -if_held)))

    if_held, if_not = _unary_encoding(setup, group).log_odds
    result = np.full(eps.shape, -np.inf)
    for target_bit, hiding_bits in (
        (Bit.with_log_odds(if_held, if_not), bits),
        (Bit.with_log_odds(-if_not, -if_held), flipped_bits),
    ):
        for index in np.flatnonzero(eps < target_bit.largest).tolist():
            # 1e-9 is more than rounded log odds lose in ln delta.
            ln_delta = ln_delta_of_datasets(float(eps[index]), target_bit, hiding_bits) - 1e-9
            result[index] = max(result[index], ln_delta)
    return np.minimum(result, 0.0)


def _covers_by_kind(setup: CollectionSetup, group: Group) -> dict[_LogOdds, Cover]:
    """For each kind of bit, the law of how many bits of other users hide a bit of the target user.

    The kinds, the keys, are the log odds of the bits of each group. Other bits count as bits of one kind with
    a probability (`_share_of_kind`), and else are revealed. ``group`` is the target user's.
    """
    hiding_groups = setup.others(group)
    covers = {}
    for _, kind_group in hiding_groups:
        kind = _unary_encoding(setup, kind_group).log_odds
        binomials = []
        for n, other in hiding_groups:
            share = _share_of_kind(_unary_encoding(setup, other).log_odds, kind)
            binomials.append((float(n), other.participation * share))
        covers[kind] = Cover.from_numbers(binomials)
    return covers


def _share_of_kind(odds: _LogOdds, kind: _LogOdds) -> float:
    """The largest probability with which a bit of log odds ``odds`` can count as one of the ``kind``.

    Otherwise the bit, which may then depend on the value more, is revealed. The result is below 1 if zeros or
    ones are rarer than in a bit of the kind. ``odds`` and ``kind`` have the log odds that the bit is 1, for
    who holds the value and for who does not.
    """
    # Zeros are rarest for holders of the value, and ones for all others.
    zeros = (1 + math.exp(kind[0])) / (1 + math.exp(odds[0]))
    ones = (1 + math.exp(-kind[1])) / (1 + math.exp(-odds[1]))
    share = min(zeros, ones)
    return share * (1 - 1e-12) if share < 1 else 1.0


def _smaller_variance(odds: _LogOdds) -> float:
    """The variance of a bit with these log odds: of who holds the value or who does not, the smaller one."""
    return min(math.exp(-abs(logit)) / (1 + math.exp(-abs(logit))) ** 2 for logit in odds)


def _curve_with_participation(bounds: Sequence[Rounds], probability: float) -> Curve:
    """The bound on delta of one round in which the target user takes part with this ``probability``.

    It is the probability times the bound for a user who takes part: the largest of ``bounds``.
    """

    def ln_delta(eps: Floats) -> Floats:
        ln_of_seen = np.max([bound.ln_delta(eps) for bound in bounds], axis=0)
        return ln_of_seen + _ln_participation(probability)

    return Curve(ln_delta, max(bound.largest for bound in bounds))


def _ln_participation(probability: float) -> float:
    """ln of the probability to take part, or of the least one that is computed with."""
    return math.log(max(probability, _LEAST_PARTICIPATION))


def _unary_encoding(setup: CollectionSetup, group: Group) -> UnaryEncoding:
    """The randomizer of the ``group``, which sends one bit per value."""
    randomizer = setup.randomizer_of(group)
    assert isinstance(randomizer, UnaryEncoding)  # `CollectionSetup` checked it
    return randomizer


def _log_odds_of_product(factor: float, odds: float) -> float:
    """The log odds ln(P / (1 - P)) of P = ``factor`` p, where ``odds`` are those of p."""
    return math.log(factor) - math.log1p(math.exp(-odds) - factor) if factor < 1 else odds


def _round_down_to_grid(ln_probability: Floats) -> Floats:
    """The next smaller logarithms, natural ones, on a grid of probabilities; the given ones are below 0.

    The grid is -10^(j / 10) for whole j, times ln 10. So a logarithm falls by at most about a quarter.
    """
    decades = np.log10(-ln_probability / LN10)
    return -LN10 * 10 ** ((np.floor(decades * _STEPS_PER_DECADE) + 1) / _STEPS_PER_DECADE)
