"""Bounds for users who take part by chance: the setting of some points as a `Collection` of one group.

The bounds are for a target user who takes part in every round, and do not hide who does.
"""

import math

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.collection.all_rounds import AllRounds
from tightshuffle.collection.setup import CollectionSetup, Group
from tightshuffle.numerics.side import Side
from tightshuffle.points import Points


def ln_delta(points: Points, side: Side) -> Floats:
    """ln of the ``side``'s bound on delta of all rounds together; (points,)."""
    result = np.empty(points.eps.size)
    for numbers in points.by_setting():
        bounds = _bounds_of(points.at(numbers[:1]))
        ln_bound = bounds.ln_upper if side is Side.UPPER else bounds.ln_lower
        result[numbers] = ln_bound(points.eps[numbers])
    return result


def epsilon(target_ln_delta: float, point: Points, side: Side) -> float:
    """The eps at which the ``side``'s bound is e^``target_ln_delta``; nan if none is known.

    ``point`` has length 1.
    """
    bounds = _bounds_of(point)
    if side is Side.UPPER:
        eps = bounds.epsilon_of_upper(target_ln_delta)
    else:
        eps = bounds.epsilon_of_lower(target_ln_delta)
    return eps if eps < math.inf else math.nan


def _bounds_of(point: Points) -> AllRounds:
    """The bounds of one group of users in the setting of ``point``, which has length 1."""
    assert isinstance(point.randomizer, str)  # `make_points` asks for it
    users = Group(
        "users",
        point.n.item(),
        point.eps0.item(),
        participation=point.participation,
        colluding=(point.n - point.honest_users).item(),
    )
    setup = CollectionSetup(
        point.k.item(),
        (users,),
        randomizer=point.randomizer,
        rounds=point.rounds.item(),
        release=point.release,
        neighbours=point.neighbours,
    )
    return AllRounds(setup, users)
