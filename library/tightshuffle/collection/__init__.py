"""Bounds for a real collection: groups with different eps0, partial participation, dummies, rounds.

>>> from tightshuffle import Collection, Dummies, Group
>>> app = Collection(
...     k=100,
...     groups=(Group("old app", 60_000, eps0=2.0), Group("new app", 40_000, eps0=4.0, participation=0.3)),
...     dummies=Dummies(poisson_per_value=5.0),
...     rounds=4,
... )
>>> app.epsilon(1e-6, group="old app")  # for every dataset, all rounds together

This is about users who each send a report, not about DP-SGD, which shuffles batches of training data.
"""

from tightshuffle.collection.collection import Collection
from tightshuffle.collection.file import make_collection, read_collection
from tightshuffle.collection.setup import Dummies, Group

__all__ = ["Collection", "Dummies", "Group", "make_collection", "read_collection"]
