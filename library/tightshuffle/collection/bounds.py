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
from tightshuffle.bounds.single_value import ln_smaller
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

LARGEST_EPS = 300.0  # the largest that is looked for where reports are the values themselves
_BELOW_ONE = 1 - 2.0**-53  # the largest float below 1
# ln of delta over the probability that too few reports count, where their number is random.
_LN_OVER_RARE = 4.0
_LEAST_GAIN = 1e-140  # if all gains are smaller, so rare a report would count as none


def log10_upper(data: Data, eps: Floats, group: Group, unseen: bool, width: float) -> Floats:
    """log10 of an upper bound on delta of one round; (points,), -inf where delta is 0.

    It holds for every dataset, and a target user of the ``group``. ``unseen`` is True if nobody can know who
    takes part. ``width`` is about the relative error of sums.
    """

    def ln_upper(points: Floats) -> Floats:
        """Natural log of the bound at these eps: for users who are seen, or if ``unseen`` the smaller of two.

        One of the two is the bound for users who are seen, times the probability that the target takes part.
        """
        ln_seen = _ln_upper(data, points, group, width)
        if not unseen or group.participation == 1:
            return ln_seen
        ln_unseen = _ln_upper_if_unseen(data, points, group, width)
        return np.minimum(ln_seen + math.log(group.participation), ln_unseen)

    return _log10_of_bound(ln_upper, data, eps, group)


def log10_lower(data: Data, eps: Floats, group: Group) -> Floats:
    """log10 of a lower bound on delta of one round, of some dataset; (points,), -inf where none is known."""
    return _log10_of_bound(lambda points: _ln_lower(data, points, group), data, eps, group)


@functools.lru_cache(maxsize=16)
def bound_of_law(law: Law, side: Side = Side.UPPER, rounds: int = 1) -> HiddenByDummies:
    """The bound on delta, as a function of eps, of values sent as they are and hidden by dummies of ``law``.

    It is the bound of the ``side`` for so many ``rounds`` together. Other users only shift the counts,
    whoever takes part.
    """
    return HiddenByDummies(law, rounds=rounds, side=side)


def log10_lower_of_third_value(data: Data, eps: Floats, group: Group, width: float) -> Floats:
    """log10 of a lower bound on delta of one round of k-RR, k >= 3; (points,).

    It is delta where all other users hold one third value, which neither x0 nor x1 of the target user is.
    ``width`` is about the relative error.
    """
    return _log10_of_bound(
        lambda points: _ln_lower_of_third_value(data, points, group, width), data, eps, group
    )


def _log10_of_bound(
    ln_bound: Callable[[Floats], Floats], data: Data, eps: Floats, group: Group
) -> Floats:
    """log10 of the bound ``ln_bound`` on delta, at most 0; (points,).

    It is -inf where eps >= eps0, as delta is 0 there. ``ln_bound`` is a function from eps (points,), all
    below eps0 of the ``group``, to natural logs of the bound.
    """
    result = np.full(eps.shape, -np.inf)
    # A report x1 of the value itself rules x0 out where e^eps exceeds the number of reports: from there on
    # delta does not change, and a far larger e^eps overflows. Neither is true of a law of dummies.
    is_flat = group.eps0 == math.inf and data.dummies.parsed_law is None
    points = np.minimum(eps, LARGEST_EPS) if is_flat else eps
    below_eps0 = points < data.eps0(group.name)
    if below_eps0.any():
        result[below_eps0] = ln_bound(points[below_eps0])
    return np.minimum(result / math.log(10), 0.0)


# --- upper bounds ------------------------------------------------------------------------------------------


def _ln_upper(data: Data, eps: Floats, group: Group, width: float) -> Floats:
    """Natural log of an upper bound on delta of one round, if all know who takes part; (points,).

    It holds for every dataset, and for a target user of the ``group``. It is the smallest of the bounds that
    we have. In most of them, reports of other users and dummies hide the target user's report if they are
    drawn from one distribution that does not depend on a value, the blanket; all other reports are revealed.
    `_cover_from_blanket` returns the law of how many are drawn from it. For k-RR with k = 2 there is also a
    bound from the number of reports of x0. If other users surely report by the same randomizer, there is also
    the bound of `single_value`, among them. ``width`` is about the relative error of sums.
    """
    if data.dummies.parsed_law is not None:  # all send their values as they are
        return bound_of_law(data.dummies.parsed_law).ln_delta(eps)
    cover = _cover_from_blanket(data, group)
    if data.randomizer != "grr":
        bound = _ln_delta_among_references(data, eps, group, Side.UPPER, cover, width)
        return _ln_smaller_among_alike(data, eps, group, bound)

    gains, masses = _rounded_uniform_gains(data, eps, group, Side.UPPER)
    bound = ln_delta(gains, masses, cover, side=Side.UPPER, width=width)
    if data.cells == 2:
        return np.minimum(bound, _ln_upper_of_counts(data, eps, group, bound))

    # The bound of `single_value` reveals dummies and the reports of all users who do not surely report by the
    # target user's randomizer. The bound so far uses them. So the former can be smaller only without them.
    randomizer = data.randomizer_of(group)
    if data.dummies or randomizer is None:
        return bound
    if _number_of_alike_users(data, group, randomizer) < data.devices - 1:
        return bound
    return _ln_smaller_among_alike(data, eps, group, bound)


def _ln_smaller_among_alike(data: Data, eps: Floats, group: Group, ln_known: Floats) -> Floats:
    """Natural log of the smaller of two upper bounds on delta, one of them that of `single_value`; (points,).

    The bound of `single_value` hides the target user among the users who surely report by the same
    randomizer, and reveals all else. ``ln_known`` (points,) is the natural log of the other bound.
    """
    randomizer = data.randomizer_of(group)
    assert randomizer is not None
    users = 1 + _number_of_alike_users(data, group, randomizer)
    points = points_of_randomizers(eps, users, [randomizer] * len(eps))
    return ln_smaller(points, ln_known)


def _number_of_alike_users(data: Data, group: Group, randomizer: Randomizer) -> int:
    """How many other users surely report by ``randomizer``, which is that of the target user's ``group``."""
    number = 0
    for users, other in data.others(group):
        if other.participation == 1 and data.randomizer_of(other) == randomizer:
            number += users
    return number


def _ln_upper_of_counts(data: Data, eps: Floats, group: Group, ln_known: Floats) -> Floats:
    """Natural log of an upper bound on delta for k = 2, from the number of reports of x0; (points,).

    Take one finite ``budget`` for all other users. A report with another budget is, with some probability, a
    report with this budget, and counts. Else it is revealed (docs/theory.md, "Collections"). At least
    ``least_users`` users and ``least_dummies`` dummies count, but for an unlikely event. If they do, delta is
    at most delta of one report among as many (`ln_delta_among`). The bound adds the probability of the event.
    Each finite budget of a group is tried, and the smallest bound is returned. ``ln_known`` (points,) is the
    natural log of another upper bound, beside which the event has to be rare.
    """
    dummies = Cover.from_numbers(_binomials_of_dummies(data, share=1.0), data.mean_poisson_dummies)
    result = np.full(eps.shape, np.inf)
    for budget in {other.budget for other in data.groups} - {math.inf}:
        # A lie is a report of the value that the user does not hold. Of reports with a larger budget, which
        # lie more rarely, the share that counts is the ratio of the probabilities of a lie.
        lie_with_budget = float(lie_probability(budget, 2))
        binomials = []
        for n, other in data.others(group):
            share = min(_lie_probability_in(data, other) / lie_with_budget, 1.0)
            binomials.append((n, other.participation * share))
        users = Cover.from_numbers(binomials)
        is_fixed = bool(np.all(np.append(users.shares, dummies.shares) == 1))
        # The event has to be rare beside the result, too, which is known after the first pass.
        passes = 1 if is_fixed else 2

        users, dummies = users.rounded(Side.LOWER), dummies.rounded(Side.LOWER)
        for index, e in enumerate(eps.tolist()):
            # ln of the probability that too few users count, and of the same for dummies.
            ln_rare = -math.inf if is_fixed else min(float(ln_known[index]), 0.0) - _LN_OVER_RARE
            for _ in range(passes):
                least_users = users.likely_minimum(ln_rare)
                least_dummies = dummies.likely_minimum(ln_rare)
                # Lower and upper bounds.
                _, ln_among = ln_delta_among(e, group.budget, least_users, budget, least_dummies)
                # Too few users or too few dummies: twice the probability.
                ln_bound = float(np.logaddexp(ln_among, ln_rare + math.log(2)))
                result[index] = min(result[index], ln_bound)
                ln_rare = min(ln_rare, ln_bound - _LN_OVER_RARE)
    return result


def _ln_upper_if_unseen(data: Data, eps: Floats, group: Group, width: float) -> Floats:
    """Natural log of an upper bound on delta of k-RR if nobody can know who takes part; (points,).

    A user who does not take part sends "no report", which counts as one more possible report. w is a
    distribution on the k values and "no report", the same for all users: the same probability for each value,
    and another one for "no report". Each other user's report is drawn from w with some probability, and else
    is revealed. The reports that are drawn from w hide the target user's (`cover.ln_delta`). A dummy is never
    "no report", so dummies are revealed. The result is inf where there is no such bound, as for other
    randomizers than k-RR. ``width`` is about the relative error of sums.
    """
    no_bound = np.full(eps.shape, np.inf)
    if data.randomizer != "grr":
        return no_bound

    # How many other users send "no report", and how many a report from the blanket, which is a uniform value;
    # both on average.
    users = np.array([float(n) for n, _ in data.others(group)])
    participations = np.array([other.participation for other in data.groups])
    blankets = np.array([_blanket_mass(data.randomizer_of(other)) for other in data.groups])
    silent = float(users @ (1 - participations))
    hiding = float(users @ (participations * blankets))
    if silent == 0 or hiding == 0:
        return no_bound

    # w is "no report" with the probability `silence`, and else, with the probability `uniform`, a uniform
    # value. The gain of a report y is (P_x0(y) - e^eps P_x1(y)) / w(y), where P_x(y) is the probability that
    # the target user, who takes part with some probability, sends y for the value x.
    silence = silent / (silent + hiding)
    uniform = hiding / (silent + hiding)
    gains = uniform_gains(data, eps, group) * group.participation / uniform
    gain_of_silence = -(1 - group.participation) * np.expm1(eps) / silence
    masses = np.append(_uniform_masses(data) * uniform, silence)
    if gains.max() < _LEAST_GAIN:  # out of the range of `ln_delta`
        return no_bound
    distribution = outwards(
        np.column_stack([gains, gain_of_silence]), masses, Side.UPPER, ulps_of_gains(group)
    )

    # The probability, for a user of each group, of drawing the report from w: the largest share s at which s
    # w is nowhere above the probability of that user's report, neither at "no report" nor at a value.
    shares = np.minimum((1 - participations) / silence, participations * blankets / uniform)
    binomials = list(zip(users.tolist(), np.minimum(shares, 1.0).tolist(), strict=True))
    cover = Cover.from_numbers(binomials)
    return ln_delta(*distribution, cover, side=Side.UPPER, width=width)


# --- lower bounds ------------------------------------------------------------------------------------------


def _ln_lower(data: Data, eps: Floats, group: Group) -> Floats:
    """Natural log of a lower bound on delta of one round; (points,), -inf where none is known.

    It is the largest of some lower bounds, each of which is delta for some values of the other users: random
    ones, one third value that all hold, or, for k = 2, the worst of some datasets.
    """
    # All send their values as they are, hidden by dummies of a law alone: its bound is that of every dataset.
    if data.dummies.parsed_law is not None:
        return bound_of_law(data.dummies.parsed_law, Side.LOWER).ln_delta(eps)
    no_bound = np.full(eps.shape, -np.inf)
    # These dummies are not drawn one by one, evenly from all values, as the bounds need.
    if data.dummies.probability_per_user_and_value:
        return no_bound
    participants = [(float(n), other.participation) for n, other in data.others(group)]
    # For other randomizers than k-RR, all other users hold one value.
    if data.randomizer != "grr":
        if data.dummies or len({other.eps0 for other in data.groups}) > 1:
            return no_bound
        cover = Cover.from_numbers(participants)
        return _ln_delta_among_references(data, eps, group, Side.LOWER, cover)

    # The other users' values are drawn at random, so their reports are uniform, whatever eps0 is.
    cover = Cover.from_numbers(
        [*participants, (data.dummies.number, 1.0)], data.mean_poisson_dummies
    )
    gains, masses = _rounded_uniform_gains(data, eps, group, Side.LOWER)
    ln_of_random_values = ln_delta(gains, masses, cover, side=Side.LOWER)
    if data.cells == 2:
        return np.maximum(ln_of_random_values, _ln_lower_of_counts(data, eps, group))
    return np.maximum(ln_of_random_values, _ln_lower_of_third_value(data, eps, group))


def _ln_lower_of_counts(data: Data, eps: Floats, group: Group) -> Floats:
    """Natural log of a lower bound on delta of k-RR with k = 2, rounded down; (points,).

    It is the largest delta of some datasets. It needs a fixed number of dummies, and another user whose
    report is not the value itself. Else the result is -inf. If users take part by chance, it also needs a
    single group.
    """
    no_bound = np.full(eps.shape, -np.inf)
    budget = group.budget
    dummies = data.dummies.number
    points = eps.tolist()
    hiding = [(users, other) for users, other in data.others(group) if other.eps0 != math.inf]
    if data.mean_poisson_dummies or not hiding:
        return no_bound

    if any(other.participation < 1 for other in data.groups):
        if len(data.groups) > 1:
            return no_bound
        # Let all others hold one value. Then it only matters how many of them take part. With probability 1/2
        # or more, this number is at most its mean, rounded up. Fewer reports have a larger delta. So delta is
        # at least half of that for this number.
        users, other = hiding[0]
        # 1 + 1e-12 covers the rounding of the product.
        reports = math.ceil(users * other.participation * (1 + 1e-12))
        shares_of_x0 = (0.0, 1.0)  # nobody or all hold it
        ln_bounds = [
            ln_delta_of_some(e, budget, [(reports, budget)], dummies, shares_of_x0) for e in points
        ]
        return np.array(ln_bounds) - math.log(2)

    # With several budgets: the largest delta of some datasets. With one: that of the worst dataset.
    groups = [(users, other.budget) for users, other in hiding]
    budgets = {other.budget for _, other in hiding}
    if len(budgets) > 1:
        return np.array([ln_delta_of_some(e, budget, groups, dummies) for e in points])
    users = sum(number for number, _ in hiding)
    eps0 = budgets.pop()
    brackets = [ln_delta_among(e, budget, users, eps0, dummies) for e in points]
    return np.array([lower for lower, _ in brackets])


def _ln_lower_of_third_value(data: Data, eps: Floats, group: Group, width: float = 1e-4) -> Floats:
    """Natural log of a lower bound on delta of k-RR, k >= 3, if all others hold a third value x2; (points,).

    Other users' reports of other values than x2 hide the target user's report, and so do dummies of other
    values. ``width`` is about the relative error.
    """
    k = data.cells
    share_of_dummies = 1 - 1 / k  # that are not x2
    binomials: list[tuple[float, float]] = []
    for n, other in data.others(group):
        # A user who holds x2 reports each of the k - 1 other values with the same probability.
        binomials.append((n, other.participation * (k - 1) * _lie_probability_in(data, other)))
    binomials.append((data.dummies.number, share_of_dummies))
    cover = Cover.from_numbers(binomials, data.mean_poisson_dummies * share_of_dummies)
    gains, ulps = uniform_gains(data, eps, group), ulps_of_gains(group)
    return ln_delta_of_third_value(
        eps, gains, _lie_probability_in(data, group), k, cover, ulps=ulps, width=width
    )


# --- both --------------------------------------------------------------------------------------------------


def _ln_delta_among_references(
    data: Data, eps: Floats, group: Group, side: Side, cover: Cover, width: float = 1e-4
) -> Floats:
    """Natural log of a bound on delta of one round, for the worst values x0 and x1 of the target; (points,).

    It is rounded to the ``side``. The number of reports that hide the target user's has the law ``cover``.
    They are drawn from a reference distribution. For `Side.UPPER` it is the blanket of the randomizer of the
    target user's ``group``, divided by its mass. For `Side.LOWER` it is the distribution of reports of one
    value that all other users hold; the value with the largest delta counts. ``width`` is about the relative
    error.
    """
    randomizer = data.randomizer_of(group)
    assert randomizer is not None
    references = ["blanket"] if side is Side.UPPER else randomizer.references()
    largest = np.full(eps.shape, -np.inf)
    for index, e in enumerate(eps.tolist()):
        for gains, masses in randomizer.distributions(e, references):
            # The blanket's mass is below 1. Dividing the blanket by the mass makes it a distribution, and
            # multiplies the gains by the mass.
            total = masses.sum(axis=1, keepdims=True) if side is Side.UPPER else 1.0
            # Units in the last place that may be lost, in a sum over all reports and in e^eps and e^eps0.
            ulps = 32 + 2 * (masses.shape[1] + e + randomizer.eps0)
            distribution = outwards(gains * total, masses / total, side, ulps)
            ln_deltas = ln_delta(*distribution, cover, side=side, width=width)
            largest[index] = max(largest[index], ln_deltas.max())
    return largest


def _cover_from_blanket(data: Data, group: Group) -> Cover:
    """The law of how many reports hide the target user's, a user of this ``group``.

    Those hide it that are drawn from the blanket of the group's randomizer. The blanket is what the
    distributions of reports of all values have in common. Another user's report is drawn from it with some
    probability, and so is a dummy.
    """
    randomizer = data.randomizer_of(group)
    binomials = []
    for n, other in data.others(group):
        share = _share_from_blanket(data.randomizer_of(other), randomizer)
        binomials.append((float(n), other.participation * share))

    # The probability that a dummy is drawn from the blanket.
    share_of_dummies = 1.0
    if isinstance(randomizer, SupportRandomizer):
        share_of_dummies = randomizer.dummy_share
    binomials += _binomials_of_dummies(data, share_of_dummies)
    return Cover.from_numbers(binomials, data.mean_poisson_dummies * share_of_dummies)


def _share_from_blanket(other: Randomizer | None, randomizer: Randomizer | None) -> float:
    """The probability that a report of ``other`` is drawn from the blanket of ``randomizer``.

    The blanket is divided by its mass here. None as a randomizer stands for reports of the value itself.
    """
    if other is None or randomizer is None:  # of k-RR, whose blanket is uniform, as dummies are
        share = _blanket_mass(other)
    else:
        share = other.share_from_blanket(randomizer)
    return min(share, _BELOW_ONE)  # a tiny eps0 can round to 1, which `Cover.rounded` keeps


def _blanket_mass(randomizer: Randomizer | None) -> float:
    """The mass of the randomizer's blanket; 0 for None, reports of the value itself."""
    return 0.0 if randomizer is None else randomizer.gamma


def _binomials_of_dummies(data: Data, share: float) -> list[tuple[float, float]]:
    """The binomial numbers of dummies that count, each as (trials, probability of a trial).

    The dummies are drawn from u, the distribution that reports of all values have in common. ``share`` is the
    probability with which one of them counts. Those whose number is Poisson are not among them.
    """
    # A device adds one report of each value with some probability. If it adds exactly one report in all, this
    # is a uniform report. Other numbers of them are revealed.
    probability = data.dummies.probability_per_user_and_value
    single = data.cells * probability * (1 - probability) ** (data.cells - 1)
    return [(data.dummies.number, share), (data.devices, share * single)]


def _lie_probability_in(data: Data, group: Group) -> float:
    """q of k-RR: the probability that a user of the ``group`` reports one given other value."""
    return 0.0 if group.eps0 == math.inf else float(lie_probability(group.budget, data.cells))


def _rounded_uniform_gains(
    data: Data, eps: Floats, group: Group, side: Side
) -> tuple[Floats, Floats]:
    """The values of `uniform_gains` and their probabilities, rounded to this ``side``; both (points, 3)."""
    gains = uniform_gains(data, eps, group)
    return outwards(gains, _uniform_masses(data), side, ulps_of_gains(group))


def uniform_gains(data: Data, eps: Floats, group: Group) -> Floats:
    """The gains (R_x0 - e^eps R_x1) / u of k-RR at the reports x0, x1 and another value; (points, 3).

    R_x(y) is the probability that a user of the ``group`` reports y for the value x. u is uniform, 1 / k at
    every value.
    """
    if group.eps0 == math.inf:  # the report is the value itself
        return data.cells * np.array([np.ones_like(eps), -np.exp(eps), np.zeros_like(eps)]).T
    # In units of k q, where q is the probability of one given other value. R_x(x) is e^eps0 q. expm1 avoids
    # differences of exponentials, which cancel.
    growth = np.expm1(eps)
    gain_at_x0 = (1 + growth) * np.expm1(group.budget - eps)
    gain_at_x1 = -np.expm1(eps + group.budget)
    return (
        data.cells
        * _lie_probability_in(data, group)
        * np.array([gain_at_x0, gain_at_x1, -growth]).T
    )


def _uniform_masses(data: Data) -> Floats:
    """The probabilities of x0, of x1 and of all other values together, for a uniform value; (3,)."""
    return np.array([1, 1, data.cells - 2]) / data.cells


def ulps_of_gains(group: Group) -> float:
    """Units in the last place by which `uniform_gains` may be wrong, at any eps below eps0 and `LARGEST_EPS`.

    One number for every eps gives all points of `_rounded_uniform_gains` the same masses, which saves most of
    their sums.
    """
    # e^x may lose about |x| units. x is up to eps, or up to eps0, which is at most 50 if finite.
    return 64.0 + 2 * (min(group.budget, LARGEST_EPS) + min(group.budget, 50.0))
