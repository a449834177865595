"""Bounds of the library, which take checked points, as functions of plain arguments."""

import functools
import inspect

import numpy as np

from tightshuffle.points import make_points


def at_points(bound):
    """``bound`` as a function of eps and the arguments of a setting, with the shape of the arguments.

    An argument that ``bound`` itself takes, such as its width, is handed to it.
    """
    names_of_bound = set(inspect.signature(bound).parameters)

    @functools.wraps(bound)
    def with_arguments(eps, **arguments):
        for_bound = {name: arguments.pop(name) for name in names_of_bound & set(arguments)}
        points = make_points(eps, **arguments)
        return points.shaped(bound(points, **for_bound))

    return with_arguments


def log10_at_points(ln_bound):
    """log10 of a bound whose natural logarithm is ``ln_bound``, as `at_points`."""
    with_arguments = at_points(ln_bound)

    @functools.wraps(with_arguments)
    def log10_bound(eps, **arguments):
        return with_arguments(eps, **arguments) / np.log(10)

    return log10_bound
