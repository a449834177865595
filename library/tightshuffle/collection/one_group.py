"""Bounds for users who take part by chance: the setting of some points as a `Collection` of one group.

The bounds are for a target user who takes part in every round, and do not hide who does.
"""

import math

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.collection.collection import Collection
from tightshuffle.collection.data import Group
from tightshuffle.points import Points
from tightshuffle.side import Side


def log10_delta(points: Points, side: Side) -> Floats:
    """log10 of the ``side``'s bound on delta of all rounds together; (points,)."""
    result = np.empty(points.eps.size)
    for numbers in points.by_setting():
        collection = _collection_of(points.at(numbers[:1]))
        result[numbers] = collection.log10_delta(points.eps[numbers], bound=side.value)
    return result


def epsilon(target_log10_delta: float, point: Points, side: Side) -> float:
    """The eps at which the ``side``'s bound is 10^``target_log10_delta``; nan if none is known.

    ``point`` has length 1.
    """
    collection = _collection_of(point)
    eps = collection.epsilon(log10_delta=target_log10_delta, bound=side.value)
    return eps if eps < math.inf else math.nan


def _collection_of(point: Points) -> Collection:
    """The collection of one group whose setting is that of ``point``, which has length 1."""
    assert isinstance(point.randomizer, str)  # `make_points` asks for it
    users = Group(
        "users",
        point.n.item(),
        point.eps0.item(),
        participation=point.participation,
        colluding=(point.n - point.honest_users).item(),
    )
    return Collection(
        point.k.item(),
        (users,),
        randomizer=point.randomizer,
        rounds=point.rounds.item(),
        release=point.release,
        neighbours=point.neighbours,
    )
