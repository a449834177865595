"""Upper bounds on delta of one round of a collection, for every dataset.

A report of another user is, with some probability, drawn from a distribution u that does not depend on the
value, and dummies are; all other reports are revealed (`cover`; docs/theory.md, "Collections", has the
proof). For k-RR u is uniform for every eps0, and the probability is k q = k / (e^eps0 + k - 1).

``eps`` (points,) everywhere; ``group`` is that of the target user.
"""

import math

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.bounds import pairs_of_matrix
from tightshuffle.bounds.bits import ln_delta_among
from tightshuffle.bounds.single_value import ln_smaller
from tightshuffle.collection.cover import Cover, ln_delta
from tightshuffle.collection.gains import (
    bound_of_law,
    lie_probability_in,
    ln_below_eps0,
    ln_delta_among_references,
    rounded_uniform_gains,
    ulps_of_gains,
    uniform_gains,
    uniform_masses,
)
from tightshuffle.collection.setup import CollectionSetup, Group
from tightshuffle.mechanisms.krr import lie_probability
from tightshuffle.numerics.positive_part import outwards
from tightshuffle.numerics.side import Side
from tightshuffle.points import points_of_randomizers
from tightshuffle.randomizers import Randomizer
from tightshuffle.randomizers.base import SupportRandomizer

_BELOW_ONE = 1 - 2.0**-53  # the largest float below 1
# ln of delta over the probability that too few reports count, where their number is random.
_LN_OVER_RARE = 4.0
_LEAST_GAIN = 1e-140  # if all gains are smaller, so rare a report would count as none


def ln_upper(
    setup: CollectionSetup, eps: Floats, group: Group, unseen: bool, width: float
) -> Floats:
    """ln of an upper bound on delta of one round; (points,), -inf where delta is 0.

    It holds for every dataset, and a target user of the ``group``. ``unseen`` is True if nobody can know who
    takes part. ``width`` is about the relative error of sums.
    """

    def ln_of_points(points: Floats) -> Floats:
        """ln of the bound at these eps: for users who are seen, or if ``unseen`` the smaller of two.

        One of the two is the bound for users who are seen, times the probability that the target takes part.
        """
        ln_seen = _ln_upper(setup, points, group, width)
        if not unseen or group.participation == 1:
            return ln_seen
        ln_unseen = _ln_upper_if_unseen(setup, points, group, width)
        return np.minimum(ln_seen + math.log(group.participation), ln_unseen)

    return ln_below_eps0(ln_of_points, setup, eps, group)


def _ln_upper(setup: CollectionSetup, eps: Floats, group: Group, width: float) -> Floats:
    """Natural log of an upper bound on delta of one round, if all know who takes part; (points,).

    It holds for every dataset, and for a target user of the ``group``. It is the smallest of the bounds that
    we have. In most of them, reports of other users and dummies hide the target user's report if they are
    drawn from one distribution that does not depend on a value, the blanket; all other reports are revealed.
    `_cover_from_blanket` returns the law of how many are drawn from it. For k-RR with k = 2 there is also a
    bound from the number of reports of x0. If other users surely report by the same randomizer, there is also
    the bound of `single_value`, among them. ``width`` is about the relative error of sums.
    """
    if setup.dummies.parsed_law is not None:  # all send their values as they are
        return bound_of_law(setup.dummies.parsed_law).ln_delta(eps)
    cover = _cover_from_blanket(setup, group)
    if setup.randomizer != "grr":
        bound = ln_delta_among_references(setup, eps, group, Side.UPPER, cover, width)
        return _ln_smaller_among_alike(setup, eps, group, bound)

    gains, masses = rounded_uniform_gains(setup, eps, group, Side.UPPER)
    bound = ln_delta(gains, masses, cover, side=Side.UPPER, width=width)
    if setup.number_of_values == 2:
        return np.minimum(bound, _ln_upper_of_counts(setup, eps, group, bound))

    # The bound of `single_value` reveals dummies and the reports of all users who do not surely report by the
    # target user's randomizer. The bound so far uses them. So the former can be smaller only without them.
    randomizer = setup.randomizer_of(group)
    if setup.dummies or randomizer is None:
        return bound
    if _number_of_alike_users(setup, group, randomizer) < setup.honest_users - 1:
        return bound
    return _ln_smaller_among_alike(setup, eps, group, bound)


def _ln_smaller_among_alike(
    setup: CollectionSetup, eps: Floats, group: Group, ln_known: Floats
) -> Floats:
    """Natural log of the smaller of two upper bounds on delta, one of them that of `single_value`; (points,).

    The bound of `single_value` hides the target user among the users who surely report by the same
    randomizer, and reveals all else. So does that of `pairs_of_matrix`, which takes its place for a matrix.
    ``ln_known`` (points,) is the natural log of the other bound.
    """
    randomizer = setup.randomizer_of(group)
    assert randomizer is not None
    users = 1 + _number_of_alike_users(setup, group, randomizer)
    points = points_of_randomizers(eps, users, [randomizer] * len(eps))
    if pairs_of_matrix.is_searched(randomizer):
        return np.minimum(ln_known, pairs_of_matrix.ln_upper(points))
    return ln_smaller(points, ln_known)


def _number_of_alike_users(setup: CollectionSetup, group: Group, randomizer: Randomizer) -> int:
    """How many other users surely report by ``randomizer``, which is that of the target user's ``group``."""
    number = 0
    for users, other in setup.others(group):
        if other.participation == 1 and setup.randomizer_of(other) == randomizer:
            number += users
    return number


def _ln_upper_of_counts(
    setup: CollectionSetup, eps: Floats, group: Group, ln_known: Floats
) -> Floats:
    """Natural log of an upper bound on delta for k = 2, from the number of reports of x0; (points,).

    Take one finite ``budget`` for all other users. A report with another budget is, with some probability, a
    report with this budget, and counts. Else it is revealed (docs/theory.md, "Collections"). At least
    ``least_users`` users and ``least_dummies`` dummies count, but for an unlikely event. If they do, delta is
    at most delta of one report among as many (`ln_delta_among`). The bound adds the probability of the event.
    Each finite budget of a group is tried, and the smallest bound is returned. ``ln_known`` (points,) is the
    natural log of another upper bound, beside which the event has to be rare.
    """
    dummies = Cover.from_numbers(binomials_of_dummies(setup, share=1.0), setup.mean_poisson_dummies)
    result = np.full(eps.shape, np.inf)
    for budget in {other.given_eps0 for other in setup.groups} - {math.inf}:
        # A lie is a report of the value that the user does not hold. Of reports with a larger budget, which
        # lie more rarely, the share that counts is the ratio of the probabilities of a lie.
        lie_with_budget = float(lie_probability(budget, 2))
        binomials = []
        for n, other in setup.others(group):
            share = min(lie_probability_in(setup, other) / lie_with_budget, 1.0)
            binomials.append((n, other.participation * share))
        users = Cover.from_numbers(binomials)
        is_fixed = bool(np.all(np.append(users.shares, dummies.shares) == 1))
        # The event has to be rare beside the result, too, which is known after the first pass.
        passes = 1 if is_fixed else 2

        users, dummies = users.rounded(Side.LOWER), dummies.rounded(Side.LOWER)
        # ln of the probability that too few users count, and of the same for dummies; at each eps.
        ln_rare = np.full(eps.shape, -np.inf)
        if not is_fixed:
            ln_rare = np.minimum(ln_known, 0.0) - _LN_OVER_RARE
        for _ in range(passes):
            least_numbers = np.array(
                [(users.likely_minimum(ln), dummies.likely_minimum(ln)) for ln in ln_rare.tolist()]
            )
            ln_among = np.empty(eps.shape)
            for least_users, least_dummies in np.unique(least_numbers, axis=0).tolist():
                rows = np.all(least_numbers == (least_users, least_dummies), axis=1)
                # Lower and upper bounds.
                _, ln_among[rows] = ln_delta_among(
                    eps[rows], group.given_eps0, least_users, budget, least_dummies
                )
            # Too few users or too few dummies: twice the probability.
            ln_bound = np.logaddexp(ln_among, ln_rare + math.log(2))
            result = np.minimum(result, ln_bound)
            ln_rare = np.minimum(ln_rare, ln_bound - _LN_OVER_RARE)
    return result


def _ln_upper_if_unseen(setup: CollectionSetup, eps: Floats, group: Group, width: float) -> Floats:
    """Natural log of an upper bound on delta of k-RR if nobody can know who takes part; (points,).

    A user who does not take part sends "no report", which counts as one more possible report. w is a
    distribution on the k values and "no report", the same for all users: the same probability for each value,
    and another one for "no report". Each other user's report is drawn from w with some probability, and else
    is revealed. The reports that are drawn from w hide the target user's (`cover.ln_delta`). A dummy is never
    "no report", so dummies are revealed. The result is inf where there is no such bound, as for other
    randomizers than k-RR. ``width`` is about the relative error of sums.
    """
    no_bound = np.full(eps.shape, np.inf)
    if setup.randomizer != "grr":
        return no_bound

    # How many other users send "no report", and how many a report from the blanket, which is a uniform value;
    # both on average.
    users = np.array([float(n) for n, _ in setup.others(group)])
    participations = np.array([other.participation for other in setup.groups])
    blankets = np.array([blanket_mass(setup.randomizer_of(other)) for other in setup.groups])
    silent = float(users @ (1 - participations))
    hiding = float(users @ (participations * blankets))
    if silent == 0 or hiding == 0:
        return no_bound

    # w is "no report" with the probability `silence`, and else, with the probability `uniform`, a uniform
    # value. The gain of a report y is (P_x0(y) - e^eps P_x1(y)) / w(y), where P_x(y) is the probability that
    # the target user, who takes part with some probability, sends y for the value x.
    silence = silent / (silent + hiding)
    uniform = hiding / (silent + hiding)
    gains = uniform_gains(setup, eps, group) * group.participation / uniform
    gain_of_silence = -(1 - group.participation) * np.expm1(eps) / silence
    masses = np.append(uniform_masses(setup) * uniform, silence)
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


def _cover_from_blanket(setup: CollectionSetup, group: Group) -> Cover:
    """The law of how many reports hide the target user's, a user of this ``group``.

    Those hide it that are drawn from the blanket of the group's randomizer. The blanket is what the
    distributions of reports of all values have in common. Another user's report is drawn from it with some
    probability, and so is a dummy.
    """
    randomizer = setup.randomizer_of(group)
    binomials = []
    for n, other in setup.others(group):
        share = _share_from_blanket(setup.randomizer_of(other), randomizer)
        binomials.append((float(n), other.participation * share))

    # The probability that a dummy is drawn from the blanket.
    share_of_dummies = 1.0
    if isinstance(randomizer, SupportRandomizer):
        share_of_dummies = randomizer.dummy_share
    binomials += binomials_of_dummies(setup, share_of_dummies)
    return Cover.from_numbers(binomials, setup.mean_poisson_dummies * share_of_dummies)


def _share_from_blanket(other: Randomizer | None, randomizer: Randomizer | None) -> float:
    """The probability that a report of ``other`` is drawn from the blanket of ``randomizer``.

    The blanket is divided by its mass here. None as a randomizer stands for reports of the value itself.
    """
    if other is None or randomizer is None:  # of k-RR, whose blanket is uniform, as dummies are
        share = blanket_mass(other)
    else:
        share = other.share_from_blanket(randomizer)
    return min(share, _BELOW_ONE)  # a tiny eps0 can round to 1, which `Cover.rounded` keeps


def blanket_mass(randomizer: Randomizer | None) -> float:
    """The mass of the randomizer's blanket; 0 for None, reports of the value itself."""
    return 0.0 if randomizer is None else randomizer.gamma


def binomials_of_dummies(setup: CollectionSetup, share: float) -> list[tuple[float, float]]:
    """The binomial numbers of dummies that count, each as (trials, probability of a trial).

    The dummies are drawn from u, the distribution that reports of all values have in common. ``share`` is the
    probability with which one of them counts. Those whose number is Poisson are not among them.
    """
    # A device adds one report of each value with some probability. If it adds exactly one report in all, this
    # is a uniform report. Other numbers of them are revealed.
    probability = setup.dummies.probability_per_user_and_value
    single = (
        setup.number_of_values * probability * (1 - probability) ** (setup.number_of_values - 1)
    )
    return [(setup.dummies.number, share), (setup.honest_users, share * single)]
