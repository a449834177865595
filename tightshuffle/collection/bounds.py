"""Bounds on delta of one round of a collection, for a target user who holds x0 or x1.

Upper: a report of another user is, with some probability, drawn from a distribution u that does not depend on
the value, and dummies are; all other reports are revealed (`cover`; docs/theory.md, "Collections", has the
proof). For k-RR u is uniform for every eps0, and the probability is k q = k / (e^eps0 + k - 1).
Lower: delta of a dataset in which all other users hold the same third value, or uniformly random values.

``eps`` (points,) everywhere; ``group`` is that of the target user.
"""

import functools
import math
from collections.abc import Callable

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.bounds.bits import ln_delta_among, ln_delta_of_some
from tightshuffle.bounds.single_value import log10_smaller
from tightshuffle.collection.cover import Cover, ln_delta
from tightshuffle.collection.data import Data, Group
from tightshuffle.collection.third_value import ln_delta_of_third_value
from tightshuffle.dummies.bound import HiddenByDummies
from tightshuffle.dummies.laws import Law
from tightshuffle.krr import lie_probability
from tightshuffle.numerics.positive_part import outwards
from tightshuffle.points import points_of_randomizers
from tightshuffle.randomizers import Randomizer
from tightshuffle.randomizers.base import SupportRandomizer
from tightshuffle.side import Side

LARGEST_EPS = 300.0  # that is looked for where reports are the values themselves
_BELOW_ONE = 1 - 2.0**-53  # the largest float below 1
_RARE = 4.0  # ln of delta over the probability of too few reports, if their number is random
_LEAST_GAIN = 1e-140  # if all gains are smaller, so rare a report would count as none


def log10_upper(data: Data, eps: Floats, group: Group, unseen: bool, width: float) -> Floats:
    """log10 of an upper bound on delta of one round; (points,), -inf where delta is 0.

    ``unseen`` says that nobody can know who takes part. ``width`` is about the relative error of sums.
    """

    def ln_upper(points: Floats) -> Floats:
        """Natural log of the bound: seen, or the smaller of two if nobody can know who takes part.

        Then delta is at most that of users who are seen, times the probability of taking part.
        """
        ln_seen = _ln_upper(data, points, group, width)
        if not unseen or group.participation == 1:
            return ln_seen
        ln_unseen = _ln_unseen(data, points, group, width)
        return np.minimum(ln_seen + math.log(group.participation), ln_unseen)

    return _log10_of_bound(ln_upper, data, eps, group)


def log10_lower(data: Data, eps: Floats, group: Group) -> Floats:
    """log10 of a lower bound on delta of the worst dataset; (points,), -inf where none is known."""
    return _log10_of_bound(lambda points: _ln_lower(data, points, group), data, eps, group)


@functools.lru_cache(maxsize=16)
def hidden_by_law(law: Law, side: Side = Side.UPPER, rounds: int = 1) -> HiddenByDummies:
    """delta of values sent as they are: other users only shift the counts, whoever takes part."""
    return HiddenByDummies(law, rounds=rounds, side=side)


def log10_third_value(data: Data, eps: Floats, group: Group, width: float) -> Floats:
    """log10 of a lower bound on delta of one dataset, in which all other users hold a third value; (points,).

    For k-RR with k >= 3. ``width`` is about its relative error.
    """
    return _log10_of_bound(
        lambda points: _ln_third_value(data, points, group, width), data, eps, group
    )


def _log10_of_bound(
    ln_bound: Callable[[Floats], Floats], data: Data, eps: Floats, group: Group
) -> Floats:
    """log10 of ``ln_bound``, at most 0; (points,). It is -inf where eps >= eps0, as delta is 0 there.

    ``ln_bound`` is a function from eps (points,), all below eps0, to natural logs of a bound on delta.
    """
    result = np.full(eps.shape, -np.inf)
    # A report x1 of the value itself rules x0 out where e^eps exceeds the number of reports: from there on
    # delta does not change, and a far larger e^eps overflows.
    points = np.minimum(eps, LARGEST_EPS) if group.eps0 == math.inf else eps
    below_eps0 = points < data.eps0(group.name)
    if below_eps0.any():
        result[below_eps0] = ln_bound(points[below_eps0])
    return np.minimum(result / math.log(10), 0.0)


# --- upper bounds ------------------------------------------------------------------------------------------


def _ln_upper(data: Data, eps: Floats, group: Group, width: float) -> Floats:
    """Natural log of the smallest of our upper bounds on delta, if it is known who takes part; (points,).

    All hide the target user's report among the reports that are drawn from one distribution (`_cover`).
    k-RR with two values also has the bound of a count, and users who surely report alike that of
    `single_value`. ``width`` is about the relative error.
    """
    if data.dummies.parsed_law is not None:
        return hidden_by_law(data.dummies.parsed_law).ln_delta(eps)
    cover = _cover(data, group)
    if data.randomizer != "grr":
        bound = _ln_of_references(data, eps, group, Side.UPPER, cover, width)
        return _ln_among_alike(data, eps, group, bound)

    gains, masses = _rounded_uniform(data, eps, group, Side.UPPER)
    bound = ln_delta(gains, masses, cover, side=Side.UPPER, width=width)
    if data.cells == 2:
        return np.minimum(bound, _ln_of_counts(data, eps, group, bound))

    # `_ln_among_alike` reveals dummies and the reports of other groups, which the bound so far can use:
    # only without them can it be smaller.
    randomizer = data.randomizer_of(group)
    if data.dummies or randomizer is None:
        return bound
    if sum(_alike(data, group, randomizer)) < data.devices - 1:
        return bound
    return _ln_among_alike(data, eps, group, bound)


def _ln_among_alike(data: Data, eps: Floats, group: Group, known: Floats) -> Floats:
    """Natural log of the smaller one of two bounds: ``known`` and that of `single_value`; (points,).

    The second one hides the target user among the users who surely report by the same randomizer, and
    reveals all else. ``known`` (points,) is the natural log of another upper bound.
    """
    randomizer = data.randomizer_of(group)
    assert randomizer is not None
    users = 1 + sum(_alike(data, group, randomizer))
    points = points_of_randomizers(eps, users, [randomizer] * len(eps))
    return log10_smaller(points, known / math.log(10)) * math.log(10)


def _alike(data: Data, group: Group, randomizer: Randomizer) -> list[int]:
    """How many other users of each group surely report by ``randomizer``, which is that of ``group``."""
    numbers = []
    for users, other in data.others(group):
        if other.participation == 1 and data.randomizer_of(other) == randomizer:
            numbers.append(users)
    return numbers


def _ln_of_counts(data: Data, eps: Floats, group: Group, known: Floats) -> Floats:
    """Natural log of an upper bound on delta for k = 2, by how many reports are x0; (points,).

    Take one budget for all users. A report with another budget counts, with a probability, as one with this
    budget, and else is revealed (docs/theory.md, "Collections"). delta among the least number of such reports
    that is likely bounds delta, but for the probability of fewer, which is added. Each finite budget of a
    group is tried, and the smallest bound is returned. ``known`` (points,) is the natural log of another
    upper bound, which says how rare too few reports have to be.
    """
    dummies = Cover.from_numbers(_dummies_from(data, 1.0), data.poisson)
    result = np.full(eps.shape, np.inf)
    for budget in {other.budget for other in data.groups} - {math.inf}:
        # A lie is a report of the value that the user does not hold. Reports with a larger budget, which lie
        # more rarely, count as ones with this budget in proportion.
        largest_lie = float(lie_probability(budget, 2))
        binomials = []
        for n, other in data.others(group):
            share = min(_lie(data, other) / largest_lie, 1.0)
            binomials.append((n, other.participation * share))
        users = Cover.from_numbers(binomials)
        is_fixed = bool(np.all(np.append(users.shares, dummies.shares) == 1))
        # Too few reports are to be rare beside this bound, too, which is known after the first pass.
        passes = 1 if is_fixed else 2

        users, dummies = users.rounded(Side.LOWER), dummies.rounded(Side.LOWER)
        for index, e in enumerate(eps.tolist()):
            ln_rare = -math.inf if is_fixed else min(float(known[index]), 0.0) - _RARE
            for _ in range(passes):
                least_users = users.likely_minimum(ln_rare)
                least_dummies = dummies.likely_minimum(ln_rare)
                # The first result is a lower bound.
                _, ln_among = ln_delta_among(e, group.budget, least_users, budget, least_dummies)
                # Too few users or too few dummies: twice the probability.
                ln_bound = float(np.logaddexp(ln_among, ln_rare + math.log(2)))
                result[index] = min(result[index], ln_bound)
                ln_rare = min(ln_rare, ln_bound - _RARE)
    return result


def _ln_unseen(data: Data, eps: Floats, group: Group, width: float) -> Floats:
    """Natural log of an upper bound on delta if nobody can know who takes part; (points,).

    "No report" counts as one more report, which all users have in common. w is a distribution on the k values
    and "no report", and each other user's report is drawn from w with some probability. Those reports hide
    the target user's (`cover.ln_delta`). A dummy is never "no report", so dummies do not count. The result is
    inf where there is no such bound, as for other randomizers than k-RR. ``width`` is about the relative
    error.
    """
    no_bound = np.full(eps.shape, np.inf)
    if data.randomizer != "grr":
        return no_bound

    # How many other users are silent, and how many draw their report from the blanket, on average.
    users = np.array([float(n) for n, _ in data.others(group)])
    participations = np.array([other.participation for other in data.groups])
    blankets = np.array([_gamma(data.randomizer_of(other)) for other in data.groups])
    silent = float(users @ (1 - participations))
    hiding = float(users @ (participations * blankets))
    if silent == 0 or hiding == 0:
        return no_bound

    # w is "no report" with the probability `silence`, and else a uniform value. Gains are the difference of
    # the target user's distributions, R_x0 - e^eps R_x1, over w.
    silence = silent / (silent + hiding)
    uniform = hiding / (silent + hiding)
    gains = uniform_gains(data, eps, group) * group.participation / uniform
    gain_of_silence = -(1 - group.participation) * np.expm1(eps) / silence
    masses = np.append(_uniform_masses(data) * uniform, silence)
    if gains.max() < _LEAST_GAIN:
        return no_bound
    distribution = outwards(
        np.column_stack([gains, gain_of_silence]), masses, Side.UPPER, ulps_of_gains(group)
    )

    # The probability that a user of each group draws the report from w: the largest with which no report is
    # rarer than in w.
    shares = np.minimum((1 - participations) / silence, participations * blankets / uniform)
    binomials = list(zip(users.tolist(), np.minimum(shares, 1.0).tolist(), strict=True))
    cover = Cover.from_numbers(binomials)
    return ln_delta(*distribution, cover, side=Side.UPPER, width=width)


# --- lower bounds ------------------------------------------------------------------------------------------


def _ln_lower(data: Data, eps: Floats, group: Group) -> Floats:
    """Natural log of the largest of our lower bounds on delta; (points,), -inf where none is known.

    Each is delta for some values of the other users: random ones, one third value that all hold, or, for two
    values, the worst of some datasets.
    """
    # Dummies of a law hide values alone: their own bound holds for every dataset.
    if data.dummies.parsed_law is not None:
        return hidden_by_law(data.dummies.parsed_law, Side.LOWER).ln_delta(eps)
    no_bound = np.full(eps.shape, -np.inf)
    # They are not drawn one by one, evenly from all values.
    if data.dummies.probability_per_user_and_value:
        return no_bound
    participants = [(float(n), other.participation) for n, other in data.others(group)]
    # Other randomizers: one value that all others hold.
    if data.randomizer != "grr":
        if data.dummies or len({other.eps0 for other in data.groups}) > 1:
            return no_bound
        cover = Cover.from_numbers(participants)
        return _ln_of_references(data, eps, group, Side.LOWER, cover)

    # The other users' values are drawn at random: their reports are uniform, whatever eps0 is.
    cover = Cover.from_numbers([*participants, (data.dummies.number, 1.0)], data.poisson)
    gains, masses = _rounded_uniform(data, eps, group, Side.LOWER)
    ln_of_random_values = ln_delta(gains, masses, cover, side=Side.LOWER)
    if data.cells == 2:
        return np.maximum(ln_of_random_values, _ln_of_some_counts(data, eps, group))
    return np.maximum(ln_of_random_values, _ln_third_value(data, eps, group))


def _ln_of_some_counts(data: Data, eps: Floats, group: Group) -> Floats:
    """Natural log of the largest delta of some datasets for k = 2, rounded down; (points,).

    It needs a fixed number of dummies, and another user who does not report the value itself. Else the result
    is -inf.
    """
    no_bound = np.full(eps.shape, -np.inf)
    budget = group.budget
    dummies = data.dummies.number
    points = eps.tolist()
    hiding = [(users, other) for users, other in data.others(group) if other.eps0 != math.inf]
    if data.poisson or not hiding:
        return no_bound

    if any(other.participation < 1 for other in data.groups):
        if len(data.groups) > 1:
            return no_bound
        # If all others hold one value, their number says all about who takes part. With probability 1/2 or
        # more it is at most its mean, rounded up; delta is larger for fewer.
        users, other = hiding[0]
        reports = math.ceil(users * other.participation * (1 + 1e-12))
        nobody_or_all_hold_x0 = (0.0, 1.0)
        ln_bounds = [
            ln_delta_of_some(e, budget, [(reports, budget)], dummies, nobody_or_all_hold_x0)
            for e in points
        ]
        return np.array(ln_bounds) - math.log(2)

    groups = [(users, other.budget) for users, other in hiding]
    budgets = {other.budget for _, other in hiding}
    if len(budgets) > 1:
        return np.array([ln_delta_of_some(e, budget, groups, dummies) for e in points])
    users = sum(number for number, _ in hiding)
    eps0 = budgets.pop()
    brackets = [ln_delta_among(e, budget, users, eps0, dummies) for e in points]
    return np.array([lower for lower, _ in brackets])


def _ln_third_value(data: Data, eps: Floats, group: Group, width: float = 1e-4) -> Floats:
    """Natural log of a lower bound on delta of k-RR, k >= 3, if all other users hold x2; (points,).

    x2 is a third value. Other users' reports of other values than x2, and dummies of other values, hide the
    target user's report. ``width`` is about the relative error.
    """
    k = data.cells
    share_of_dummies = 1 - 1 / k
    binomials: list[tuple[float, float]] = []
    for n, other in data.others(group):
        binomials.append((n, other.participation * (k - 1) * _lie(data, other)))
    binomials.append((data.dummies.number, share_of_dummies))
    cover = Cover.from_numbers(binomials, data.poisson * share_of_dummies)
    gains, ulps = uniform_gains(data, eps, group), ulps_of_gains(group)
    return ln_delta_of_third_value(eps, gains, _lie(data, group), k, cover, ulps=ulps, width=width)


# --- both --------------------------------------------------------------------------------------------------


def _ln_of_references(
    data: Data, eps: Floats, group: Group, side: Side, cover: Cover, width: float = 1e-4
) -> Floats:
    """Natural log of delta of the worst pair x0, x1 among the reports of ``cover``; (points,).

    It is rounded up or down by the ``side``. These reports are drawn from a reference distribution: for the
    upper bound the blanket of the group's randomizer, for the lower one the reports of a value that all
    others hold, of which the worst counts. ``width`` is about the relative error.
    """
    randomizer = data.randomizer_of(group)
    assert randomizer is not None
    references = ["blanket"] if side is Side.UPPER else randomizer.references()
    largest = np.full(eps.shape, -np.inf)
    for index, e in enumerate(eps.tolist()):
        for gains, masses in randomizer.distributions(e, references):
            # A blanket's mass is below 1: normalise it, and take the gains relative to that. ``e`` is eps.
            total = masses.sum(axis=1, keepdims=True) if side is Side.UPPER else 1.0
            # A sum over all reports, and exponentials of eps and eps0.
            ulps = 32 + 2 * (masses.shape[1] + e + randomizer.eps0)
            distribution = outwards(gains * total, masses / total, side, ulps)
            ln_deltas = ln_delta(*distribution, cover, side=side, width=width)
            largest[index] = max(largest[index], ln_deltas.max())
    return largest


def _cover(data: Data, group: Group) -> Cover:
    """The law of how many reports hide a report of this ``group``: those that are drawn from its blanket.

    The blanket is what reports of all values have in common. Another user's report is drawn from it with some
    probability, and so is a dummy.
    """
    randomizer = data.randomizer_of(group)
    binomials = []
    for n, other in data.others(group):
        share = _share_from_blanket(data.randomizer_of(other), randomizer)
        binomials.append((float(n), other.participation * share))

    share_of_dummies = 1.0
    if isinstance(randomizer, SupportRandomizer):
        share_of_dummies = randomizer.dummy_share
    binomials += _dummies_from(data, share_of_dummies)
    return Cover.from_numbers(binomials, data.poisson * share_of_dummies)


def _share_from_blanket(other: Randomizer | None, randomizer: Randomizer | None) -> float:
    """The probability that a report of ``other`` is drawn from the normalised blanket of ``randomizer``.

    None stands for reports of the value itself.
    """
    if other is None or randomizer is None:  # of k-RR, whose blanket is uniform, as dummies are
        share = _gamma(other)
    else:
        share = other.share_from_blanket(randomizer)
    return min(share, _BELOW_ONE)  # a tiny eps0 can round to 1, which `Cover.rounded` keeps


def _gamma(randomizer: Randomizer | None) -> float:
    """The mass of the blanket, 0 for reports of the value itself."""
    return 0.0 if randomizer is None else randomizer.gamma


def _dummies_from(data: Data, share: float) -> list[tuple[float, float]]:
    """Binomial numbers (trials, probability) of the dummies that count, each with this ``share``.

    They are drawn from u. Those with a Poisson number are not among them.
    """
    # A device adds each value on its own, with some probability. A single one of them is a uniform report.
    probability = data.dummies.probability_per_user_and_value
    single = data.cells * probability * (1 - probability) ** (data.cells - 1)
    return [(data.dummies.number, share), (data.devices, share * single)]


def _lie(data: Data, group: Group) -> float:
    """q of k-RR, the probability that a user of this group reports one given other value."""
    return 0.0 if group.eps0 == math.inf else float(lie_probability(group.budget, data.cells))


def _rounded_uniform(data: Data, eps: Floats, group: Group, side: Side) -> tuple[Floats, Floats]:
    """Values and probabilities of `uniform_gains`, rounded to this ``side``; both (points, 3)."""
    gains = uniform_gains(data, eps, group)
    return outwards(gains, _uniform_masses(data), side, ulps_of_gains(group))


def uniform_gains(data: Data, eps: Floats, group: Group) -> Floats:
    """(R_x0 - e^eps R_x1) / u of k-RR at x0, x1 and another value, u uniform; (points, 3)."""
    if group.eps0 == math.inf:
        return data.cells * np.array([np.ones_like(eps), -np.exp(eps), np.zeros_like(eps)]).T
    # Without differences of exponentials, which cancel; each of these is to be multiplied by k q.
    growth = np.expm1(eps)
    gain_at_x0 = (1 + growth) * np.expm1(group.budget - eps)
    gain_at_x1 = -np.expm1(eps + group.budget)
    return data.cells * _lie(data, group) * np.array([gain_at_x0, gain_at_x1, -growth]).T


def _uniform_masses(data: Data) -> Floats:
    """The probabilities under u of x0, x1 and all other values; (3,)."""
    return np.array([1, 1, data.cells - 2]) / data.cells


def ulps_of_gains(group: Group) -> float:
    """Units in the last place by which gains may be wrong, at any eps below the budget and `LARGEST_EPS`.

    One number for every eps gives all points of `_rounded_uniform` the same masses, which saves most of their
    sums.
    """
    return 64.0 + 2 * (min(group.budget, LARGEST_EPS) + min(group.budget, 50.0))
