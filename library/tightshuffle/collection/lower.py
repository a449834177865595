"""Lower bounds on delta of one round of a collection, each of which is delta of some dataset.

All other users hold the same third value, or uniformly random values, or, for k = 2, the worst of some.

``eps`` (points,) everywhere; ``group`` is that of the target user, who holds x0 or x1.
"""

import math

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.bounds.bits import ln_delta_among, ln_delta_of_some
from tightshuffle.collection.cover import Cover, ln_delta
from tightshuffle.collection.gains import (
    bound_of_law,
    lie_probability_in,
    ln_below_eps0,
    ln_delta_among_references,
    rounded_uniform_gains,
    ulps_of_gains,
    uniform_gains,
)
from tightshuffle.collection.setup import CollectionSetup, Group
from tightshuffle.collection.third_value import ln_delta_of_third_value
from tightshuffle.numerics.side import Side


def ln_lower(setup: CollectionSetup, eps: Floats, group: Group) -> Floats:
    """ln of a lower bound on delta of one round, of some dataset; (points,), -inf where none is known."""
    return ln_below_eps0(lambda points: _ln_lower(setup, points, group), setup, eps, group)


def ln_lower_of_third_value(
    setup: CollectionSetup, eps: Floats, group: Group, width: float
) -> Floats:
    """ln of a lower bound on delta of one round of k-RR, k >= 3; (points,).

    It is delta where all other users hold one third value, which neither x0 nor x1 of the target user is.
    ``width`` is about the relative error.
    """
    return ln_below_eps0(
        lambda points: _ln_lower_of_third_value(setup, points, group, width), setup, eps, group
    )


def _ln_lower(setup: CollectionSetup, eps: Floats, group: Group) -> Floats:
    """Natural log of a lower bound on delta of one round; (points,), -inf where none is known.

    It is the largest of some lower bounds, each of which is delta for some values of the other users: random
    ones, one third value that all hold, or, for k = 2, the worst of some datasets.
    """
    # All send their values as they are, hidden by dummies of a law alone: its bound is that of every dataset.
    if setup.dummies.parsed_law is not None:
        return bound_of_law(setup.dummies.parsed_law, Side.LOWER).ln_delta(eps)
    no_bound = np.full(eps.shape, -np.inf)
    # These dummies are not drawn one by one, evenly from all values, as the bounds need.
    if setup.dummies.probability_per_user_and_value:
        return no_bound
    participants = [(float(n), other.participation) for n, other in setup.others(group)]
    # For other randomizers than k-RR, all other users hold one value.
    if setup.randomizer != "grr":
        if setup.dummies or len({other.eps0 for other in setup.groups}) > 1:
            return no_bound
        cover = Cover.from_numbers(participants)
        return ln_delta_among_references(setup, eps, group, Side.LOWER, cover)

    # The other users' values are drawn at random, so their reports are uniform, whatever eps0 is.
    cover = Cover.from_numbers(
        [*participants, (setup.dummies.number, 1.0)], setup.mean_poisson_dummies
    )
    gains, masses = rounded_uniform_gains(setup, eps, group, Side.LOWER)
    ln_of_random_values = ln_delta(gains, masses, cover, side=Side.LOWER)
    if setup.number_of_values == 2:
        return np.maximum(ln_of_random_values, _ln_lower_of_counts(setup, eps, group))
    return np.maximum(ln_of_random_values, _ln_lower_of_third_value(setup, eps, group))


def _ln_lower_of_counts(setup: CollectionSetup, eps: Floats, group: Group) -> Floats:
    """Natural log of a lower bound on delta of k-RR with k = 2, rounded down; (points,).

    It is the largest delta of some datasets. It needs a fixed number of dummies, and another user whose
    report is not the value itself. Else the result is -inf. If users take part by chance, it also needs a
    single group.
    """
    no_bound = np.full(eps.shape, -np.inf)
    budget = group.given_eps0
    dummies = setup.dummies.number
    points = eps.tolist()
    hiding = [(users, other) for users, other in setup.others(group) if other.eps0 != math.inf]
    if setup.mean_poisson_dummies or not hiding:
        return no_bound

    if any(other.participation < 1 for other in setup.groups):
        if len(setup.groups) > 1:
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
    groups = [(users, other.given_eps0) for users, other in hiding]
    budgets = {other.given_eps0 for _, other in hiding}
    if len(budgets) > 1:
        return np.array([ln_delta_of_some(e, budget, groups, dummies) for e in points])
    users = sum(number for number, _ in hiding)
    eps0 = budgets.pop()
    ln_of_worst, _ = ln_delta_among(eps, budget, users, eps0, dummies)
    return ln_of_worst


def _ln_lower_of_third_value(
    setup: CollectionSetup, eps: Floats, group: Group, width: float = 1e-4
) -> Floats:
    """Natural log of a lower bound on delta of k-RR, k >= 3, if all others hold a third value x2; (points,).

    Other users' reports of other values than x2 hide the target user's report, and so do dummies of other
    values. ``width`` is about the relative error.
    """
    k = setup.number_of_values
    share_of_dummies = 1 - 1 / k  # that are not x2
    binomials: list[tuple[float, float]] = []
    for n, other in setup.others(group):
        # A user who holds x2 reports each of the k - 1 other values with the same probability.
        binomials.append((n, other.participation * (k - 1) * lie_probability_in(setup, other)))
    binomials.append((setup.dummies.number, share_of_dummies))
    cover = Cover.from_numbers(binomials, setup.mean_poisson_dummies * share_of_dummies)
    gains, ulps = uniform_gains(setup, eps, group), ulps_of_gains(group)
    return ln_delta_of_third_value(
        eps, gains, lie_probability_in(setup, group), k, cover, ulps=ulps, width=width
    )
