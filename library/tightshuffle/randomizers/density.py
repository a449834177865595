"""Reports of real numbers: the user's input from 0 to 1 plus noise, whose density is symmetric and falls.

The input x in [0, 1] is reported as y with the density R_x(y) = f(y - x), where f(z) = f(-z) does not rise
with |z|. What all inputs share, the blanket, is the smaller one of R_0 and R_1, and of all pairs of inputs
(0, 1) has the largest bound (docs/theory.md, "Densities"). So a bound needs the *losses* ln(R_0 / R_1) of
reports only. By symmetry, the report 1 - y has minus the loss of y. `Density.bins` cuts the reports y <= 1/2,
whose losses are >= 0, into intervals; `Bins` makes distributions of gains from them, on the safe side.
"""

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import Floats, check_one, check_positive
from tightshuffle.randomizers.base import Randomizer, Reference

LARGEST_LOSS = 300.0  # of a bin's end: e^(2 * 300) is a float
LARGEST_EPS = 350.0
ULP = 2.0**-52
_BINS = 100  # of Laplace reports between the inputs
_WIDTH = 0.05  # of a bin of Gaussian reports, in deviations or, if this is less, in losses
_MOST_BINS = 400  # of so narrow bins
_GROWTH = 1.1  # of the bins beyond
_FARTHEST = 36.0  # deviations from the farther input: the density there is a float
_TAIL_OF_GAINS = 1e-9  # which `Density.gains` cuts: for guesses


class Gains(NamedTuple):
    """A distribution of one report's gain, moved to the safe side.

    ``values`` and ``probabilities`` (classes,): what is missing to 1 is the probability of the gain 0. Either
    may still be wrong by ``ulps`` units in the last place. ``identified``: the probability, on the same side,
    that the report of the input 0 reveals the input, which adds to delta.
    """

    values: Floats
    probabilities: Floats
    ulps: float
    identified: float


@dataclass(frozen=True, eq=False)
class Bins:
    """Intervals of reports y <= 1/2, each with its losses ln(R_0(y) / R_1(y)) and its probabilities.

    ``low``, ``high`` (bins,) are the smallest and the largest loss in each bin, to 4 units in the last place;
    ``high`` may be inf. ``of_0``, ``of_1`` (bins,) are the probabilities of the bin for the inputs 0 and 1,
    with the relative errors ``error_of_0`` and ``error_of_1``. Bins are in the order of falling y. For the
    mirror image of a bin, the reports 1 - y, the inputs are exchanged.
    """

    low: Floats
    high: Floats
    of_0: Floats
    of_1: Floats
    error_of_0: Floats
    error_of_1: Floats

    def cut(self, tail: float) -> "Bins":
        """These bins with the last ones as one, the tail, whose largest loss counts as infinite.

        Bins with losses beyond `LARGEST_LOSS` are in it, and others of at most the probability ``tail`` for
        the input 0.
        """
        identifies = self.high > LARGEST_LOSS
        probability_from = np.cumsum(np.where(identifies, 0.0, self.of_0)[::-1])[::-1]
        in_tail = (probability_from <= tail) | identifies
        if not in_tail.any():
            return self
        first = int(in_tail.argmax())

        def joined(numbers: Floats) -> Floats:
            return np.append(numbers[:first], numbers[first:].sum())

        of_0, of_1 = joined(self.of_0), joined(self.of_1)
        with np.errstate(invalid="ignore"):
            error_of_0 = np.nan_to_num(joined(self.of_0 * self.error_of_0) / of_0)
            error_of_1 = np.nan_to_num(joined(self.of_1 * self.error_of_1) / of_1)
        return Bins(
            low=np.append(self.low[:first], self.low[first:].min()),
            high=np.append(self.high[:first], math.inf),
            of_0=of_0,
            of_1=of_1,
            # The sums add less than this.
            error_of_0=error_of_0 + len(self.low) * ULP,
            error_of_1=error_of_1 + len(self.low) * ULP,
        )

    @property
    def mass_of_tail(self) -> float:
        """The probability, for the input 0, of the bins with an infinite loss."""
        return float(self.of_0[np.isinf(self.high)].sum())

    def mass_beyond(self, loss: float) -> float:
        """The probability, for the input 0, of finite losses in the bins that begin at ``loss`` or beyond."""
        return float(self.of_0[(self.low >= loss) & (self.high <= LARGEST_LOSS)].sum())

    @cached_property
    def _ends(self) -> tuple[Floats, Floats, Floats, float]:
        """Losses (ends,), the least and the most probability that each gets from its bins, and the infinite.

        Each bin's probabilities for both inputs move to the losses at its ends so that both stay the same:
        with a for the input 0, b for the input 1, and the losses l < h, the loss h gets (a - b e^l) / (e^h -
        e^l) of b. These are the probabilities for the input 1. If h is infinite, l gets b, and the rest of a
        has the infinite loss: of this only an upper bound, a, is returned.
        """
        is_infinite = self.high > LARGEST_LOSS
        low = np.minimum(self.low, LARGEST_LOSS)
        high = np.where(is_infinite, low, self.high)
        a, b = self.of_0, self.of_1
        error_of_a, error_of_b = a * self.error_of_0, b * self.error_of_1

        # e^l and e^h with their errors; `rounding` is more than exp and its argument lose.
        e_low, e_high = np.exp(low), np.exp(high)
        rounding = 8 * ULP * (1 + high)
        span = e_high - e_low
        error_of_span = rounding * (e_high + e_low)
        error_of_share = error_of_a + (error_of_b + 2 * rounding * b) * e_high
        has_span = span > 2 * error_of_span
        safe_span = np.where(has_span, span, 1.0)

        def share(product: Floats, sign: int) -> Floats:
            """``product`` / span, with the error of this ``sign``; from 0 to b."""
            numerator = np.maximum(product + sign * error_of_share, 0.0)
            quotient = numerator / (safe_span - sign * np.where(has_span, error_of_span, 0.0))
            return np.minimum(quotient * (1 + sign * 4 * ULP), b + sign * error_of_b)

        # Where a bin's losses differ by hardly more than rounding, all of b is at the lower one.
        at_high = [np.where(has_span, share(a - b * e_low, sign), 0.0) for sign in (-1, 1)]
        at_low = [
            np.where(has_span, share(b * e_high - a, sign), b + sign * error_of_b)
            for sign in (-1, 1)
        ]
        losses, place = np.unique(np.concatenate([low, high]), return_inverse=True)
        least, most = np.zeros((2, len(losses)))
        np.add.at(least, place, np.concatenate([at_low[0], at_high[0]]))
        np.add.at(most, place, np.concatenate([at_low[1], at_high[1]]))
        revealed = float((a + error_of_a)[is_infinite].sum()) * (1 + len(a) * ULP)
        return losses, np.maximum(least, 0.0), most, revealed

    def upper(self, eps: float) -> Gains:
        """Gains of the pair (0, 1) under the blanket, with a larger E[S_+] of every sum S; eps below 350."""
        losses, least, most, revealed = self._ends
        # Of the losses, and of those that count as the lower end of their bin.
        rounding = 64 * ULP * (1 + losses)
        # At y <= 1/2 the blanket is R_1, so the gain is e^loss - e^eps; elsewhere it is R_0.
        of_reports = math.exp(eps) * np.expm1(losses + rounding - eps)
        of_mirror_images = -np.expm1(eps + losses - rounding)
        values = np.concatenate([of_reports, of_mirror_images])
        probabilities = np.where(values > 0, np.tile(most, 2), np.tile(least, 2))
        return Gains(values, probabilities, 0.0, revealed)

    def lower(self, eps: float, share: float) -> Gains:
        """Gains of the pair (0, 1), with a smaller E[S_+] of every sum S; eps below 350.

        Of the other users the ``share`` hold 0, on average, and the others 1.
        """
        of_0 = np.concatenate([self.of_0, self.of_1])
        of_1 = np.concatenate([self.of_1, self.of_0])
        error_of_0 = np.concatenate([self.error_of_0, self.error_of_1])
        error_of_1 = np.concatenate([self.error_of_1, self.error_of_0])
        e_eps = math.exp(eps)
        errors = of_0 * (error_of_0 + 4 * ULP) + e_eps * of_1 * (error_of_1 + 4 * ULP)
        excess = of_0 - e_eps * of_1 - errors
        w = share * of_0 + (1 - share) * of_1
        possible = w > 0
        identified = float((of_0 * (1 - error_of_0))[~possible].sum())
        ulps = float(np.maximum(error_of_0, error_of_1).max()) / ULP + 8
        return Gains(excess[possible] / w[possible], w[possible], ulps, identified)


class Density(Randomizer):
    """The input from 0 to 1 plus noise with a symmetric density that does not rise with the distance.

    ``k`` is 2: of all inputs, bounds look at 0 and 1, the worst pair, which they call x0 and x1. ``eps0`` is
    the largest loss, and may be infinite.
    """

    k: int = 2

    @property
    @abstractmethod
    def bins(self) -> Bins:
        """All reports y <= 1/2 in bins."""

    @property
    def bits(self) -> float:
        return math.inf

    @property
    def gamma(self) -> float:
        """The blanket's mass, rounded down."""
        return float(2 * (self.bins.of_1 * (1 - self.bins.error_of_1)).sum() * (1 - 1e-12))

    def pairs(self) -> Iterator[tuple[int, int]]:
        yield 0, 1

    def references(self) -> tuple[str, ...]:
        return ("x0", "x1")

    def gains(
        self, eps: float, reference: Reference = "blanket", pair: tuple[int, int] = (0, 1)
    ) -> tuple[Floats, Floats]:
        """See `Randomizer.gains`: nearly the distribution, as losses in bins and in the tail count as one.

        By symmetry, both pairs have the same.
        """
        if pair not in ((0, 1), (1, 0)):
            raise ValueError(f"pair must be two different values between 0 and 1; got {pair}")
        if eps > LARGEST_EPS:
            raise ValueError(f"eps must be at most {LARGEST_EPS:g}, or gains overflow; got {eps}")
        bins = self.bins.cut(_TAIL_OF_GAINS)
        if reference == "blanket":
            gains = bins.upper(eps)
        else:
            gains = bins.lower(eps, self._weights_of_reference(reference, (0, 1))[0])
        return gains.values, gains.probabilities

    def variance(self, shares: npt.ArrayLike, n: npt.ArrayLike) -> NoReturn:
        """ValueError: inputs are no values whose shares are estimated."""
        raise ValueError(f"{self.name} has no values whose shares could be estimated")


@dataclass(frozen=True)
class Laplace(Density):
    """The input plus Laplace noise, whose density is e^(-|z| / scale) / (2 scale); eps0 is 1 / scale.

    ValueError unless ``scale`` is from 0.02 to 1000.
    """

    scale: float
    least: ClassVar[float] = 0.02
    most: ClassVar[float] = 1000.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", _checked("scale", self.scale, self.least, self.most))

    @property
    def name(self) -> str:
        return f"density:laplace:{_text(self.scale)}"

    @cached_property
    def eps0(self) -> float:  # type: ignore[override]
        """1 / scale, rounded up."""
        quotient = 1 / self.scale
        is_enough = Fraction(quotient) * Fraction(self.scale) >= 1
        return quotient if is_enough else math.nextafter(quotient, math.inf)

    @cached_property
    def bins(self) -> Bins:
        """Bins of equal width from 1/2 to 0, and one for all y < 0, where the loss is eps0."""
        y = np.linspace(0.5, 0.0, _BINS + 1)
        losses = (1 - 2 * y) / self.scale
        between = -np.expm1(np.diff(y) / self.scale) / 2
        # Of the inputs 0 and 1, a bin's nearest end is its lower and its upper one.
        of_0 = np.exp(-y[1:] / self.scale) * between
        of_1 = np.exp(-(1 - y[:-1]) / self.scale) * between
        error = np.full(_BINS + 1, 8 * ULP * (1 + 1 / self.scale))
        return Bins(
            low=losses,
            high=np.append(losses[1:], losses[-1]),
            of_0=np.append(of_0, 0.5),
            of_1=np.append(of_1, math.exp(-1 / self.scale) / 2),
            error_of_0=error,
            error_of_1=error,
        )


@dataclass(frozen=True)
class Gaussian(Density):
    """The input plus Gaussian noise with the standard deviation ``sigma``; eps0 is infinite.

    ValueError unless ``sigma`` is from 0.3 to 1000.
    """

    sigma: float
    eps0: float = field(default=math.inf, init=False)
    least: ClassVar[float] = 0.3
    most: ClassVar[float] = 1000.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", _checked("sigma", self.sigma, self.least, self.most))

    @property
    def name(self) -> str:
        return f"density:gaussian:{_text(self.sigma)}"

    @cached_property
    def bins(self) -> Bins:
        """Bins that are narrow where reports have most of the squared gains, and grow beyond.

        These reports are about -1, and reach 8 deviations to each side.
        """
        sigma = self.sigma
        # Distances of y from 1/2, in deviations.
        last = _FARTHEST - 0.5 / sigma
        last_narrow = min(1.5 / sigma + 8, last)
        width = max(_WIDTH * min(math.sqrt(sigma), 1.0), last_narrow / _MOST_BINS)
        narrow = np.linspace(0.0, last_narrow, math.ceil(last_narrow / width) + 1)
        count = math.ceil(
            math.log1p((last - last_narrow) * (_GROWTH - 1) / width) / math.log(_GROWTH)
        )
        beyond = last_narrow + width * np.cumsum(_GROWTH ** np.arange(1, count + 1))
        distances = np.concatenate(
            [narrow, beyond[beyond < last], [last] if last > last_narrow else []]
        )

        # 0 is an end, so that all of a bin is on one side of the most likely report of each input.
        y = np.unique(np.append(0.5 - sigma * distances, 0.0))[::-1]
        losses = (1 - 2 * y) / (2 * sigma**2)
        of_0, error_of_0 = _normal_masses(-np.abs(y) / sigma)
        of_1, error_of_1 = _normal_masses((y - 1) / sigma)
        return Bins(
            low=losses,
            high=np.append(losses[1:], math.inf),
            of_0=of_0,
            of_1=of_1,
            error_of_0=error_of_0,
            error_of_1=error_of_1,
        )


def _normal_masses(z: Floats) -> tuple[Floats, Floats]:
    """The probabilities between neighbours of ``z`` (ends,) <= 0 and beyond the last, and relative errors.

    The numbers are normal. ``z`` may be wrong by 2 units in the last place, which changes the distribution
    function by at most about 4 z^2 + 4 of its own. Beside this, `scipy.special.ndtr` may be wrong by as much:
    tests/randomizers/test_densities.py compares it with mpmath.
    """
    below = np.append(scipy.special.ndtr(z), 0.0)
    errors = below * (16 + 8 * np.append(z, 0.0) ** 2) * ULP
    masses = np.abs(np.diff(below))
    return masses, (errors[1:] + errors[:-1]) / masses + ULP


def _text(number: float) -> str:
    """The shortest text that is this number, such as 1 or 0.1."""
    return repr(number).removesuffix(".0")


def _checked(name: str, value: object, least: float, most: float) -> float:
    """``value`` as a float. ValueError unless it is one number from ``least`` to ``most``."""
    number = float(check_one(name, check_positive(name, value)))  # type: ignore[arg-type]
    if not least <= number <= most:
        raise ValueError(f"{name} must be from {least:g} to {most:g}; got {number:g}")
    return number
