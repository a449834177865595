"""Bounds on delta of one round of a collection, for a target user who holds x0 or x1.

Upper: a report of another user is, with some probability, drawn from a distribution u that does not depend on
the value, and dummies are; all other reports are revealed (`cover`; docs/theory.md, "Collections", has the
proof). For k-RR u is uniform for every eps0, and the probability is k q = k / (e^eps0 + k - 1).
Lower: delta of a dataset in which all other users hold the same third value, or uniformly random values.

``eps`` (points,) everywhere; ``group`` is that of the target user.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.bounds.bits import ln_delta_among, ln_delta_of_some
from tightshuffle.bounds.single_value import log10_smaller
from tightshuffle.collection.cover import Cover, ln_delta
from tightshuffle.collection.data import Data, Group
from tightshuffle.collection.third_value import ln_delta_of_third_value
from tightshuffle.krr import lie_probability
from tightshuffle.numerics.positive_part import outwards
from tightshuffle.points import points_of_randomizers
from tightshuffle.randomizers import Randomizer
from tightshuffle.randomizers.base import SupportRandomizer

LARGEST_EPS = 300.0  # that is looked for where reports are the values themselves
_BELOW_ONE = 1 - 2.0**-53
_RARE = 4.0  # log of delta over the probability of too few reports, if their number is random
_LEAST_GAIN = 1e-140


def log10_upper(data: Data, eps: Floats, group: Group, unseen: bool, width: float) -> Floats:
    """log10 of an upper bound on delta; ``unseen``: where nobody can know who takes part."""

    def ln_upper(points: Floats) -> Floats:
        logs = _ln_upper(data, points, group, width)
        if not unseen or group.participation == 1:
            return logs
        return np.minimum(logs + math.log(group.participation), _ln_unseen(data, points, group, width))

    return _below_eps0(ln_upper, data, eps, group)


def log10_lower(data: Data, eps: Floats, group: Group) -> Floats:
    """log10 of a lower bound on delta of the worst dataset."""
    return _below_eps0(lambda points: _ln_lower(data, points, group), data, eps, group)


def log10_third_value(data: Data, eps: Floats, group: Group, width: float) -> Floats:
    """log10 of a lower bound on delta of one dataset: all other users hold a third value."""
    return _below_eps0(lambda points: _ln_third_value(data, points, group, width), data, eps, group)


def _below_eps0(ln_bound: Callable[[Floats], Floats], data: Data, eps: Floats, group: Group) -> Floats:
    """log10 of a bound on delta where it is not 0, and -inf elsewhere."""
    result = np.full(eps.shape, -np.inf)
    # A report x1 of the value itself rules x0 out where e^eps exceeds the number of reports: from there on
    # delta does not change, and a far larger e^eps overflows.
    points = np.minimum(eps, LARGEST_EPS) if group.eps0 == math.inf else eps
    asked = points < data.eps0(group.name)
    if asked.any():
        result[asked] = ln_bound(points[asked])
    return np.minimum(result / math.log(10), 0.0)


# --- upper bounds ------------------------------------------------------------------------------------------


def _ln_upper(data: Data, eps: Floats, group: Group, width: float) -> Floats:
    """ln of the smallest of our upper bounds on delta, if it is known who takes part."""
    cover = _cover(data, group)
    if data.randomizer != "grr":
        bound = _ln_of_references(data, eps, group, ["blanket"], cover, width)
        return _ln_among_alike(data, eps, group, bound)

    gains, masses = _uniform(data, eps, group, round_up=True)
    bound = ln_delta(gains, masses, cover, round_up=True, width=width)
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
    """The smaller one of ``known`` and `single_value` among users who surely report, by the same randomizer.

    All else is revealed.
    """
    own = data.randomizer_of(group)
    assert own is not None
    users = 1 + sum(_alike(data, group, own))
    points = points_of_randomizers(eps, users, [own] * len(eps))
    return log10_smaller(points, known / math.log(10)) * math.log(10)


def _alike(data: Data, group: Group, own: Randomizer) -> list[int]:
    """The numbers of other users who surely report, by ``own``, the randomizer of ``group``."""
    return [
        users
        for users, other in data.others(group)
        if other.participation == 1 and data.randomizer_of(other) == own
    ]


def _ln_of_counts(data: Data, eps: Floats, group: Group, known: Floats) -> Floats:
    """An upper bound for k = 2, by the count of x0 (docs/theory.md, "Collections").

    ``known`` (points,): natural log of another upper bound, for how rare too few reports have to be.
    """
    dummies = Cover.of(_dummies_from(data, 1.0), data.poisson)
    result = np.full(eps.shape, np.inf)
    for budget in {other.budget for other in data.groups} - {math.inf}:
        most = float(lie_probability(budget, 2))  # q(e)
        users = Cover.of(
            [(n, other.participation * min(_lie(data, other) / most, 1.0)) for n, other in data.others(group)]
        )
        fixed = bool(np.all(np.append(users.shares, dummies.shares) == 1))
        users, dummies = users.rounded(fewer=True), dummies.rounded(fewer=True)
        for place, e in enumerate(eps.tolist()):
            rare = -math.inf if fixed else min(float(known[place]), 0.0) - _RARE
            for _ in range(1 if fixed else 2):  # too few reports are to be rare beside this bound, too
                hidden = users.least(rare), dummies.least(rare)
                high = ln_delta_among(e, group.budget, hidden[0], budget, hidden[1])[1]
                high = float(np.logaddexp(high, rare + math.log(2)))
                result[place] = min(result[place], high)
                rare = min(rare, high - _RARE)
    return result


def _ln_unseen(data: Data, eps: Floats, group: Group, width: float) -> Floats:
    """An upper bound where "no report" counts as one more report, which all users have in common.

    It needs a distribution w on the k values and "no report". Each other user's report is drawn from w with
    some probability. A dummy is never "no report", so dummies do not count.
    """
    none = np.full(eps.shape, np.inf)
    if data.randomizer != "grr":
        return none
    users = np.array([float(n) for n, _ in data.others(group)])
    taking = np.array([other.participation for other in data.groups])
    blankets = np.array([_gamma(data.randomizer_of(other)) for other in data.groups])
    silent = float(users @ (1 - taking))
    hiding = float(users @ (taking * blankets))
    if silent == 0 or hiding == 0:
        return none
    v, rest = silent / (silent + hiding), hiding / (silent + hiding)
    shares = np.minimum((1 - taking) / v, taking * blankets / rest)
    gains = _uniform_gains(data, eps, group) * group.participation / rest
    void = -(1 - group.participation) * np.expm1(eps) / v
    masses = np.append(_uniform_masses(data) * rest, v)
    if gains.max() < _LEAST_GAIN:  # so rare a report would count as none
        return none
    distribution = outwards(np.column_stack([gains, void]), masses, True, _ulps(group))
    parts = list(zip(users.tolist(), np.minimum(shares, 1.0).tolist(), strict=True))
    return ln_delta(*distribution, Cover.of(parts), round_up=True, width=width)


# --- lower bounds ------------------------------------------------------------------------------------------


def _ln_lower(data: Data, eps: Floats, group: Group) -> Floats:
    none = np.full(eps.shape, -np.inf)
    taking = [(float(n), other.participation) for n, other in data.others(group)]
    if data.dummies.probability_per_user_and_value:  # they are not drawn one by one from u
        return none
    if data.randomizer != "grr":
        if data.dummies or len({other.eps0 for other in data.groups}) > 1:
            return none
        own = data.randomizer_of(group)
        assert own is not None
        return _ln_of_references(data, eps, group, own.references(), Cover.of(taking))
    # The other users' values are drawn at random: their reports are uniform, whatever eps0 is.
    cover = Cover.of([*taking, (data.dummies.number, 1.0)], data.poisson)
    result = ln_delta(*_uniform(data, eps, group, round_up=False), cover, round_up=False)
    of_dataset = _ln_third_value if data.cells > 2 else _ln_of_some_counts
    return np.maximum(result, of_dataset(data, eps, group))


def _ln_of_some_counts(data: Data, eps: Floats, group: Group) -> Floats:
    """ln of delta of the worst of some datasets, for k = 2 and a fixed number of dummies; else -inf."""
    nothing = np.full(eps.shape, -np.inf)
    budget = group.budget
    dummies = data.dummies.number
    points = eps.tolist()
    hiding = [(users, other) for users, other in data.others(group) if other.eps0 != math.inf]
    if data.poisson or not hiding:
        return nothing

    if any(other.participation < 1 for other in data.groups):
        if len(data.groups) > 1:
            return nothing
        # If all others hold one value, their number says all about who takes part. With probability 1/2 or
        # more it is at most its mean, rounded up; delta is larger for fewer.
        users, other = hiding[0]
        reports = math.ceil(users * other.participation * (1 + 1e-12))
        nobody_or_all_hold_x0 = (0.0, 1.0)
        logs = [
            ln_delta_of_some(e, budget, [(reports, budget)], dummies, nobody_or_all_hold_x0) for e in points
        ]
        return np.array(logs) - math.log(2)

    groups = [(users, other.budget) for users, other in hiding]
    budgets = {other.budget for _, other in hiding}
    if len(budgets) > 1:
        return np.array([ln_delta_of_some(e, budget, groups, dummies) for e in points])
    users = sum(number for number, _ in hiding)
    eps0 = budgets.pop()
    brackets = [ln_delta_among(e, budget, users, eps0, dummies) for e in points]
    return np.array([lower for lower, _ in brackets])


def _ln_third_value(data: Data, eps: Floats, group: Group, width: float = 1e-4) -> Floats:
    """`ln_delta_of_third_value`: all other users hold a third value."""
    k = data.cells
    kept = 1 - 1 / k
    parts = [(n, other.participation * (k - 1) * _lie(data, other)) for n, other in data.others(group)]
    cover = Cover.of([*parts, (data.dummies.number, kept)], data.poisson * kept)
    gains, ulps = _uniform_gains(data, eps, group), _ulps(group)
    return ln_delta_of_third_value(eps, gains, _lie(data, group), k, cover, ulps=ulps, width=width)


# --- both --------------------------------------------------------------------------------------------------


def _ln_of_references(
    data: Data, eps: Floats, group: Group, references: Sequence[str], cover: Cover, width: float = 1e-4
) -> Floats:
    """The largest `ln_delta` over all pairs and ``references``, from which the cover's reports are drawn.

    For ["blanket"] an upper bound, rounded up; for values that the others hold a lower one, rounded down.
    """
    randomizer = data.randomizer_of(group)
    assert randomizer is not None
    round_up = list(references) == ["blanket"]
    largest = np.full(eps.shape, -np.inf)
    for index, e in enumerate(eps.tolist()):
        for gains, masses in randomizer.distributions(e, references):
            # A blanket's mass is below 1: normalise it, and take the gains relative to that.
            total = masses.sum(axis=1, keepdims=True) if round_up else 1.0
            ulps = 32 + 2 * (masses.shape[1] + e + randomizer.eps0)
            gains, masses = outwards(gains * total, masses / total, round_up, ulps)
            logs = ln_delta(gains, masses, cover, round_up=round_up, width=width)
            largest[index] = max(largest[index], logs.max())
    return largest


def _cover(data: Data, group: Group) -> Cover:
    """The reports from the blanket of a report of this group, which hide that report."""
    own = data.randomizer_of(group)
    parts = [
        (float(n), other.participation * _shared(data.randomizer_of(other), own))
        for n, other in data.others(group)
    ]
    kept = own.dummy_share if isinstance(own, SupportRandomizer) else 1.0
    return Cover.of(parts + _dummies_from(data, kept), data.poisson * kept)


def _shared(other: Randomizer | None, own: Randomizer | None) -> float:
    """The probability with which a report of ``other`` is drawn from the normalised blanket of ``own``."""
    # For a report of the value itself: of k-RR, whose blanket is uniform, as dummies are.
    share = _gamma(other) if other is None or own is None else other.shares_blanket(own)
    return min(share, _BELOW_ONE)  # a tiny eps0 can round to 1, which `Cover.rounded` keeps


def _gamma(own: Randomizer | None) -> float:
    return 0.0 if own is None else own.gamma


def _dummies_from(data: Data, kept: float) -> list[tuple[float, float]]:
    """Binomial numbers of dummies from u, of which the share ``kept`` counts: there are at least so many."""
    # A device's reports are independent uniform ones only if there is one of them.
    chance = data.dummies.probability_per_user_and_value
    single = data.cells * chance * (1 - chance) ** (data.cells - 1)
    return [(data.dummies.number, kept), (data.devices, kept * single)]


def _lie(data: Data, group: Group) -> float:
    """q of k-RR."""
    return 0.0 if group.eps0 == math.inf else float(lie_probability(group.budget, data.cells))


def _uniform(data: Data, eps: Floats, group: Group, round_up: bool) -> tuple[Floats, Floats]:
    """The distribution of `_uniform_gains`, rounded; both (points, 3)."""
    return outwards(_uniform_gains(data, eps, group), _uniform_masses(data), round_up, _ulps(group))


def _uniform_gains(data: Data, eps: Floats, group: Group) -> Floats:
    """(R_x0 - e^eps R_x1) / u of k-RR at x0, x1 and another value, u uniform; (points, 3)."""
    if group.eps0 == math.inf:
        return data.cells * np.array([np.ones_like(eps), -np.exp(eps), np.zeros_like(eps)]).T
    budget, growth = group.budget, np.expm1(eps)
    own = (1 + growth) * np.expm1(budget - eps)
    return data.cells * _lie(data, group) * np.array([own, -np.expm1(eps + budget), -growth]).T


def _uniform_masses(data: Data) -> Floats:
    return np.array([1, 1, data.cells - 2]) / data.cells


def _ulps(group: Group) -> float:
    """Units in the last place by which gains may be wrong, at any eps below the budget and `LARGEST_EPS`.

    One number for every eps gives all points of `_uniform` the same masses, which saves most of their sums.
    """
    return 64.0 + 2 * (min(group.budget, LARGEST_EPS) + min(group.budget, 50.0))
