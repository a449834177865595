"""Bounds of the library, which take checked points, as functions of plain arguments."""

import functools

from tightshuffle.points import make_points


def at_points(bound):
    """``bound`` as a function of eps and the arguments of a setting, with the shape of the arguments."""

    @functools.wraps(bound)
    def with_arguments(eps, **arguments):
        points = make_points(eps, **arguments)
        return points.shaped(bound(points))

    return with_arguments
