"""The gains of a report that several bounds of one round of a collection need, and what follows at once.

A gain is (R_x0(y) - e^eps R_x1(y)) / u(y): R_x(y) is the probability that the target user reports y for the
value x, and u a distribution from which other reports are drawn, whatever their users' values are.

``eps`` (points,) everywhere; ``group`` is that of the target user.
"""

import functools
import math
from collections.abc import Callable

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.collection.cover import Cover, ln_delta
from tightshuffle.collection.setup import CollectionSetup, Group
from tightshuffle.dummies.bound import HiddenByDummies
from tightshuffle.dummies.laws import Law
from tightshuffle.mechanisms.krr import lie_probability
from tightshuffle.numerics.positive_part import outwards
from tightshuffle.numerics.side import Side

LARGEST_EPS = 300.0  # the largest that is looked for where reports are the values themselves


def ln_below_eps0(
    ln_bound: Callable[[Floats], Floats], setup: CollectionSetup, eps: Floats, group: Group
) -> Floats:
    """ln of a bound on delta, at most 0; (points,). It is -inf where eps >= eps0, as delta is 0 there.

    ``ln_bound`` is the bound as a function from eps (points,), all below eps0 of the ``group``.
    """
    result = np.full(eps.shape, -np.inf)
    # A report x1 of the value itself rules x0 out where e^eps exceeds the number of reports: from there on
    # delta does not change, and a far larger e^eps overflows. Neither is true of a law of dummies.
    is_flat = group.eps0 == math.inf and setup.dummies.parsed_law is None
    points = np.minimum(eps, LARGEST_EPS) if is_flat else eps
    below_eps0 = points < setup.eps0_of(group)
    if below_eps0.any():
        result[below_eps0] = ln_bound(points[below_eps0])
    return np.minimum(result, 0.0)


@functools.lru_cache(maxsize=16)
def bound_of_law(law: Law, side: Side = Side.UPPER, rounds: int = 1) -> HiddenByDummies:
    """The bound on delta, as a function of eps, of values sent as they are and hidden by dummies of ``law``.

    It is the bound of the ``side`` for so many ``rounds`` together. Other users only shift the counts,
    whoever takes part.
    """
    return HiddenByDummies(law, rounds=rounds, side=side)


def ln_delta_among_references(
    setup: CollectionSetup, eps: Floats, group: Group, side: Side, cover: Cover, width: float = 1e-4
) -> Floats:
    """Natural log of a bound on delta of one round, for the worst values x0 and x1 of the target; (points,).

    It is rounded to the ``side``. The number of reports that hide the target user's has the law ``cover``.
    They are drawn from a reference distribution. For `Side.UPPER` it is the blanket of the randomizer of the
    target user's ``group``, divided by its mass. For `Side.LOWER` it is the distribution of reports of one
    value that all other users hold; the value with the largest delta counts. ``width`` is about the relative
    error.
    """
    randomizer = setup.randomizer_of(group)
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


def lie_probability_in(setup: CollectionSetup, group: Group) -> float:
    """q of k-RR: the probability that a user of the ``group`` reports one given other value."""
    return (
        0.0
        if group.eps0 == math.inf
        else float(lie_probability(group.given_eps0, setup.number_of_values))
    )


def rounded_uniform_gains(
    setup: CollectionSetup, eps: Floats, group: Group, side: Side
) -> tuple[Floats, Floats]:
    """The values of `uniform_gains` and their probabilities, rounded to this ``side``; both (points, 3)."""
    gains = uniform_gains(setup, eps, group)
    return outwards(gains, uniform_masses(setup), side, ulps_of_gains(group))


def uniform_gains(setup: CollectionSetup, eps: Floats, group: Group) -> Floats:
    """The gains (R_x0 - e^eps R_x1) / u of k-RR at the reports x0, x1 and another value; (points, 3).

    R_x(y) is the probability that a user of the ``group`` reports y for the value x. u is uniform, 1 / k at
    every value.
    """
    if group.eps0 == math.inf:  # the report is the value itself
        return (
            setup.number_of_values
            * np.array([np.ones_like(eps), -np.exp(eps), np.zeros_like(eps)]).T
        )
    # In units of k q, where q is the probability of one given other value. R_x(x) is e^eps0 q. expm1 avoids
    # differences of exponentials, which cancel.
    growth = np.expm1(eps)
    gain_at_x0 = (1 + growth) * np.expm1(group.given_eps0 - eps)
    gain_at_x1 = -np.expm1(eps + group.given_eps0)
    return (
        setup.number_of_values
        * lie_probability_in(setup, group)
        * np.array([gain_at_x0, gain_at_x1, -growth]).T
    )


def uniform_masses(setup: CollectionSetup) -> Floats:
    """The probabilities of x0, of x1 and of all other values together, for a uniform value; (3,)."""
    return np.array([1, 1, setup.number_of_values - 2]) / setup.number_of_values


def ulps_of_gains(group: Group) -> float:
    """Units in the last place by which `uniform_gains` may be wrong, at any eps below eps0 and `LARGEST_EPS`.

    One number for every eps gives all points of `rounded_uniform_gains` the same masses, which saves most of
    their sums.
    """
    # e^x may lose about |x| units. x is up to eps, or up to eps0, which is at most 50 if finite.
    return 64.0 + 2 * (min(group.given_eps0, LARGEST_EPS) + min(group.given_eps0, 50.0))
