"""A density by its name: Laplace, Gaussian, or one of your own, given by points in a CSV file."""

import math
import reprlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, check_numbers
from tightshuffle.randomizers.density import ULP, Bins, Density, Gaussian, Laplace
from tightshuffle.randomizers.matrix_file import read_rows

_NAMES = "density:laplace:SCALE, density:gaussian:SIGMA or density:file:FILE.csv"
_PARAMETERS = {"laplace": (Laplace, "scale"), "gaussian": (Gaussian, "sigma")}
_MOST_ROUNDING = 1e-6  # by which the integral may differ from 1
_MOST_POINTS = 1000
_FARTHEST = 1000.0
_STEPS_PER_UNIT = 2.0**40  # of distances, whose differences are exact floats then
_BINS = 256  # of all reports, at least


def parse_density(text: str) -> Density:
    """The density that follows "density:" in a randomizer's name, such as "laplace:2" or "file:own.csv".

    ValueError says what is wrong in one line.
    """
    kind, _, suffix = text.partition(":")
    if kind == "file":
        return read_density(suffix)
    if kind not in _PARAMETERS:
        raise ValueError(f"randomizer must be {_NAMES}; got {reprlib.repr('density:' + text)}")
    density, parameter = _PARAMETERS[kind]
    try:
        number = float(suffix)
    except ValueError:
        raise ValueError(f"{parameter} must be a number; got {reprlib.repr(suffix)}") from None
    return density(number)


def read_density(path: str) -> "PiecewiseLinear":
    """The density in a CSV file without a header, whose rows are a distance and the density there.

    See `PiecewiseLinear`, and `read_rows` for the errors.
    """
    rows = read_rows(path, "a number")
    if not rows or len(rows[0]) != 2:
        raise ValueError(f"{path}: expected two columns, a distance and the density there")
    try:
        return PiecewiseLinear(*zip(*rows, strict=True))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


@dataclass(frozen=True, init=False, eq=False)
class PiecewiseLinear(Density):
    """The input plus noise whose density is linear between points, the same on both sides, and 0 beyond.

    ``distances`` (points,) from the input ascend from 0, and count as multiples of 2^-40. ``densities``
    (points,) there do not rise, and are divided by their integral, which must be 1 to 1e-6. eps0 is infinite:
    the farthest reports are possible for some inputs only, and delta is at least their probability.

    ValueError that names the first row, from 1, with a number that is wrong, or the integral.
    """

    distances: Floats
    densities: Floats
    eps0: float = field(default=math.inf, init=False)

    def __init__(self, distances: npt.ArrayLike, densities: npt.ArrayLike) -> None:
        """Check the points, and divide the densities by their integral."""
        z = check_numbers("distances", distances)
        f = check_numbers("densities", densities)
        if z.ndim != 1 or z.shape != f.shape or not 2 <= len(z) <= _MOST_POINTS:
            raise ValueError(
                f"expected 2 to {_MOST_POINTS} rows, each a distance and the density there; got {z.size}"
            )
        z = np.rint(z * _STEPS_PER_UNIT) / _STEPS_PER_UNIT
        faults = {
            "the first distance must be 0": (np.arange(len(z)) == 0) & (z != 0),
            "distances must rise, by 2^-40 at least": np.diff(z, prepend=-1.0) <= 0,
            f"distances must be at most {_FARTHEST:g}": z > _FARTHEST,
            "densities must be >= 0": f < 0,
            "densities must not rise with the distance": np.diff(f, prepend=math.inf) > 0,
        }
        for fault, is_wrong in faults.items():
            if is_wrong.any():
                row = int(is_wrong.argmax())
                raise ValueError(f"row {row + 1}: {fault}; got {z[row]:g}, {f[row]:g}")
        integral = math.fsum(((f[1:] + f[:-1]) * np.diff(z)).tolist())
        if not abs(integral - 1) <= _MOST_ROUNDING:
            raise ValueError(
                f"the density must have the integral 1 over both sides; it has {integral:g}"
            )
        object.__setattr__(self, "distances", z)
        object.__setattr__(self, "densities", f / integral)

    @property
    def name(self) -> str:
        return "density:file"

    @cached_property
    def bins(self) -> Bins:
        """Bins between all points of both inputs, and so many more that there are at least 256.

        All ends are multiples of 2^-40, so that distances are exact. Within a bin both densities are linear,
        so that their ratio rises or falls.
        """
        farthest = self.distances[-1]
        points = [-self.distances, self.distances, 1 - self.distances]
        between = np.linspace(-farthest, 0.5, _BINS + 1)
        on_grid = np.rint(between * _STEPS_PER_UNIT) / _STEPS_PER_UNIT
        y = np.unique(np.concatenate([*points, on_grid]))
        y = y[(y >= -farthest) & (y <= 0.5)][::-1]
        near, far = np.abs(y), 1 - y
        of_0 = self._at_ends(near)
        of_1 = self._at_ends(far)

        with np.errstate(divide="ignore", invalid="ignore"):
            losses = np.log(of_0 / of_1)  # (2, bins), of both ends
        masses = (of_0.sum(axis=0) / 2 * -np.diff(y), of_1.sum(axis=0) / 2 * -np.diff(y))
        possible = masses[0] > 0
        # A report that is possible for neither input at one end is at the limit of a linear piece there.
        losses = np.where(np.isnan(losses), math.inf, losses)
        error = np.full(len(y) - 1, 32 * ULP)
        return Bins(
            low=np.maximum(losses.min(axis=0), 0.0)[possible],
            high=np.maximum(losses.max(axis=0), 0.0)[possible],
            of_0=masses[0][possible],
            of_1=masses[1][possible],
            error_of_0=error[possible],
            error_of_1=error[possible],
        )

    def _at_ends(self, distances: Floats) -> Floats:
        """The density at both ends of the intervals between neighbouring ``distances``, (2, intervals).

        It is that of the linear piece that the interval is in, as the density may jump to 0 at its end.
        """
        ends = np.array([distances[:-1], distances[1:]])
        piece = np.searchsorted(self.distances, ends.mean(axis=0)) - 1
        is_inside = piece < len(self.distances) - 1
        piece = np.minimum(piece, len(self.distances) - 2)
        left, right = self.distances[piece], self.distances[piece + 1]
        # A mean with weights >= 0, so that nothing cancels.
        weighted = (right - ends) * self.densities[piece] + (ends - left) * self.densities[
            piece + 1
        ]
        return np.where(is_inside, weighted / (right - left), 0.0)
