"""The base class of all local randomizers, and the base class of those whose likelihood takes two values.

A randomizer R turns a value x, one of k, into a report y with probability R_x(y). delta of n shuffled reports
follows from the *gain* of one report under a reference measure w (`bounds.privacy_blanket`):

    G(y) = (R_x0(y) - e^eps R_x1(y)) / w(y),    y ~ w.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, Integers, check_eps, check_eps0, check_k, check_n

Reference = str | Mapping[str, float]
_LARGEST_EPS0 = 350.0  # e^(eps + eps0) is a float


class Randomizer(ABC):
    """A local randomizer of ``k`` values, ``eps0``-private. Values are numbered from 0."""

    k: int
    eps0: float

    @property
    @abstractmethod
    def name(self) -> str:
        """The name that `parse` takes."""

    @property
    @abstractmethod
    def gamma(self) -> float:
        """The blanket's mass."""

    def share_from_blanket(self, other: "Randomizer") -> float:
        """The probability with which a report of this randomizer can be drawn from the blanket of ``other``.

        The blanket of ``other`` is the part of its distribution of reports that all values share, divided by
        its mass. For every value, this randomizer's distribution of reports is the result times that blanket
        plus something >= 0. Any smaller number has this property, too. So 0 is a valid answer.
        """
        return self.gamma if self is other else 0.0

    @property
    @abstractmethod
    def bits(self) -> float:
        """Bits of one report: log2 of the number of different reports."""

    @abstractmethod
    def pairs(self) -> Iterator[tuple[int, int]]:
        """The pairs (x0, x1) over which a bound is maximised."""

    @abstractmethod
    def references(self) -> tuple[str, ...]:
        """The values whose references differ, as `gains` names them: "x0", "x1", "x2", ..."""

    @abstractmethod
    def gains(
        self, eps: float, reference: Reference = "blanket", pair: tuple[int, int] = (0, 1)
    ) -> tuple[Floats, Floats]:
        """The distribution of one report's gain G under a measure w: values of G, and their probabilities.

        G(y) = (R_x0(y) - e^eps R_x1(y)) / w(y) of a report y drawn from w, where R_x(y) is the probability to
        report y for the value x. Both arrays have the shape (classes,): reports of a class have the same G.
        Probabilities are > 0. G is 0 with the probability that is missing to 1.

        ``pair`` is (x0, x1). ``reference`` says what w is. "blanket" is the part of the distribution of
        reports that all values share. A value's name is the distribution of reports for the value that all
        other users hold. {name: weight} is a mixture of such. "x0" and "x1" name the values of the pair, and
        "x2", "x3", ... the other values in their order.

        All digits are exact, however small eps, eps0 or eps0 - eps. ValueError for a bad argument, also for
        eps or eps0 above 350, with which gains would overflow.
        """

    def trusted_gains(
        self, eps: float, reference: Reference, pair: tuple[int, int]
    ) -> tuple[Floats, Floats]:
        """`gains` for bounds, whose arguments are checked already."""
        return self.gains(eps, reference, pair)

    def distributions(
        self, eps: float, references: Sequence[Reference]
    ) -> Iterator[tuple[Floats, Floats]]:
        """`trusted_gains` for every pair and reference, some at a time: values, probabilities, (m, classes).

        A row is one pair under one reference; all pairs of `pairs` come up.
        """
        for pair in self.pairs():
            for reference in references:
                values, probabilities = self.trusted_gains(eps, reference, pair)
                yield values[None], probabilities[None]

    @abstractmethod
    def variance(self, shares: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
        """Variance of each value's unbiased estimate, if ``shares`` (..., k) of the n users hold the values.

        An estimate is of the share, from the reports of all users. The values are fixed, and the reports are
        random. ``n`` broadcasts against the leading axes, (...). Returns the shape (..., k).
        """

    def reconcile(self, k: object, eps0: object) -> tuple[int, float]:
        """k and eps0 of this randomizer. ValueError if the caller gives others; None stands for not given."""
        for name, argument in (("k", k), ("eps0", eps0)):
            value = getattr(self, name)
            if argument is not None and np.any(np.asarray(argument) != value):
                raise ValueError(
                    f"give {name} = {argument} or a randomizer object, not both:"
                    f" the object has {name} = {value}"
                )
        return self.k, self.eps0

    def _value_called(self, name: str, pair: tuple[int, int]) -> int:
        """The number, from 0 to k - 1, of the value that a reference calls "x0", "x1", "x2", ...

        "x0" and "x1" are the first and the second value of the ``pair``. "x2", "x3", ... are the other values
        in their order. ValueError for another ``name``.
        """
        is_value = name[:1] == "x" and name[1:].isdecimal()
        number = int(name[1:]) if is_value else self.k  # k, which is refused
        if number >= self.k:
            names = "blanket, x0, x1"
            if self.k > 2:
                names += f", ..., x{self.k - 1}"
            raise ValueError(
                f"reference must be one of {names}, or a mixture of values; got {name!r}"
            )
        if number < 2:
            return pair[number]

        # The value with this place among the others: every value of the pair at or before it moves it on.
        value = number - 2
        for value_of_pair in sorted(pair):
            if value >= value_of_pair:
                value += 1
        return value

    def _weights_of_reference(
        self, reference: Reference, pair: tuple[int, int]
    ) -> dict[int, float]:
        """{value: weight} of a ``reference``: the values that other users may hold, and how likely each is.

        ``reference`` is the name of a value, which gets the weight 1, or a mixture {name: weight}; `gains`
        says what names there are. The two values of the ``pair`` come first, also with the weight 0.
        ValueError unless weights are >= 0 and sum to 1.
        """
        mixture = {reference: 1.0} if isinstance(reference, str) else dict(reference)
        weights = {pair[0]: 0.0, pair[1]: 0.0}
        for name, weight in mixture.items():
            weights[self._value_called(name, pair)] = float(weight)

        not_negative = all(weight >= 0 for weight in weights.values())
        if not (not_negative and abs(sum(weights.values()) - 1) <= 1e-12):
            raise ValueError(f"reference must have weights >= 0 that sum to 1; got {reference!r}")
        return weights

    def _checked_eps(self, eps: float, pair: tuple[int, int]) -> float:
        """``eps`` as a float. ValueError for a bad eps or pair, or if eps or eps0 is too large for gains."""
        eps = float(check_eps(eps))
        for name, budget in (("eps", eps), ("eps0", self.eps0)):
            if budget > _LARGEST_EPS0:
                raise ValueError(
                    f"{name} must be at most {_LARGEST_EPS0:g}, or gains overflow; got {budget}"
                )
        if len(set(pair)) != 2 or not all(0 <= value < self.k for value in pair):
            raise ValueError(
                f"pair must be two different values between 0 and {self.k - 1}; got {pair}"
            )
        return eps


@dataclass(frozen=True)
class SupportRandomizer(Randomizer):
    """A randomizer whose reports *support* a set of values, with a likelihood of two values.

    With a distribution u of reports, the same for all x, and c = 1 / (1 + (e^eps0 - 1) P_u(supports x)),

        R_x(y) = c u(y) e^eps0  if y supports x,  else c u(y).

    By symmetry all pairs of values have the same gains under the blanket, and the same delta. Only the delta
    of Hadamard response differs between pairs, as the product of two rows is some value's row or none. Its
    first pair has third values of both kinds, so bounds for this pair hold for every pair.

    The blanket is c u, and c u e^eps0 for reports that support every value. These randomizers are the "pure"
    frequency oracles of Wang, Blocki, Li and Jha 2017. With alpha and beta as below and omega the probability
    under u that a report supports every value, the gain under the blanket is

        e^eps0 - e^eps         with probability c alpha,
        1 - e^(eps + eps0)     with probability c alpha,
        e^eps0 (1 - e^eps)     with probability c (beta - omega),
        1 - e^eps              with probability c (1 - 2 alpha - beta + e^eps0 omega),
        0                      otherwise.
    """

    key: ClassVar[str]  # its name without the parameter
    parameter: ClassVar[str] = ""  # the field that is part of its name
    fixed_background: ClassVar[bool] = True  # whether u is the same at every eps0

    k: int
    eps0: float

    @classmethod
    def tuned(cls, k: int, eps0: float) -> "SupportRandomizer":
        """The randomizer with the parameter that has the smallest error at this eps0."""
        return cls(k, eps0)

    @property
    def name(self) -> str:
        return f"{self.key}:{getattr(self, self.parameter)}" if self.parameter else self.key

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", int(check_k(self.k)))
        object.__setattr__(self, "eps0", float(check_eps0(self.eps0)))

    @abstractmethod
    def patterns(self, values: Sequence[int]) -> Floats:
        """The probability under u of each pattern of support of ``values``, shape (2,) * len(values).

        The index has an entry for each of the values: 1 if the report supports the value, and 0 if not. So
        ``patterns((a, b))[1, 0]`` is the probability that a report supports a and not b.
        """

    @property
    def everywhere(self) -> float:
        """P_u(y supports every value), or less, as a smaller blanket gives a bound as well."""
        return 0.0

    @property
    def alpha(self) -> float:
        """P_u(y supports one given value and not another given one)."""
        return float(self.patterns((0, 1))[1, 0])

    @property
    def beta(self) -> float:
        """P_u(y supports two given values)."""
        return float(self.patterns((0, 1))[1, 1])

    @property
    def gamma(self) -> float:
        """The blanket's mass."""
        return (
            self._density_if_not
            + (self._density_if_supported - self._density_if_not) * self.everywhere
        )

    def share_from_blanket(self, other: Randomizer) -> float:
        """See `Randomizer.share_from_blanket`. It is 0, which is always valid, if the two have different u.

        Else it is the least ratio, over all reports y, of the likelihood of y here to the normalised blanket
        of ``other`` at y.
        """
        if self == other:
            return self.gamma
        # u depends on the class, on k and the class's parameter, and for some classes also on eps0.
        if not self.fixed_background or not isinstance(other, type(self)):
            return 0.0
        if self._determinants_of_u != other._determinants_of_u:
            return 0.0

        # If no report counts as one that supports every value, the normalised blanket is u.
        if self.everywhere == 0 or other.everywhere == 0:
            return self._density_if_not
        ratio_if_not = self._density_if_not / other._density_if_not
        ratio_if_supported = self._density_if_supported / other._density_if_supported
        return other.gamma * min(ratio_if_not, ratio_if_supported)

    @property
    def dummy_share(self) -> float:
        """A probability with which a report drawn from u is drawn from the normalised blanket."""
        return self.gamma / self._density_if_supported if self.everywhere else 1.0

    @property
    def _determinants_of_u(self) -> tuple[float, ...]:
        """k, and the parameter of a class that has one: what u depends on within a class, but for eps0."""
        return (self.k, getattr(self, self.parameter)) if self.parameter else (self.k,)

    @property
    def p_star(self) -> float:
        """p*, the probability that a report supports the user's value."""
        return self._density_if_supported * float(self.patterns((0,))[1])

    @property
    def q_star(self) -> float:
        """q*, the probability that a report supports one given value that the user does not hold."""
        return self._density_if_not * self.alpha + self._density_if_supported * self.beta

    @property
    def p_complement(self) -> float:
        """1 - p*, without cancellation: the probability that a report does not support the user's value."""
        return self._density_if_not * float(self.patterns((0,))[0])

    @property
    def q_complement(self) -> float:
        """1 - q*, without cancellation."""
        neither = self._density_if_not * float(self.patterns((0, 1))[0, 0])
        return neither + self._density_if_supported * self.alpha

    @cached_property
    def _density_if_supported(self) -> float:
        """c e^eps0: the density with respect to u of reports that support the user's value."""
        not_supported, supported = self.patterns((0,))
        return float(1 / (supported + not_supported * np.exp(-self.eps0)))

    @cached_property
    def _density_if_not(self) -> float:
        """c: the density with respect to u of all other reports."""
        return float(self._density_if_supported * np.exp(-self.eps0))

    @property
    def support_difference(self) -> float:
        """p* - q*."""
        return self._density_if_supported * self.alpha * float(-np.expm1(-self.eps0))

    def pairs(self) -> Iterator[tuple[int, int]]:
        yield 0, 1

    def references(self) -> tuple[str, ...]:
        return ("x0", "x1", "x2")[: self.k]

    def gains(
        self, eps: float, reference: Reference = "blanket", pair: tuple[int, int] = (0, 1)
    ) -> tuple[Floats, Floats]:
        """See `Randomizer.gains`.

        A class is all reports that support the same of the values which reference and pair name.
        """
        return self.trusted_gains(self._checked_eps(eps, pair), reference, pair)

    def trusted_gains(
        self, eps: float, reference: Reference, pair: tuple[int, int]
    ) -> tuple[Floats, Floats]:
        eps0 = self.eps0
        # R_x0 - e^eps R_x1 in units of c u, at the index [supports x0, supports x1]. Differences are written
        # with expm1, so that no digits cancel.
        numerators = np.array(
            [
                [-np.expm1(eps), -np.expm1(eps + eps0)],
                [np.exp(eps) * np.expm1(eps0 - eps), -np.exp(eps0) * np.expm1(eps)],
            ]
        )
        if reference == "blanket":
            # The blanket is c u, so the numerators are the gains. Its masses allow for reports that support
            # every value, of which it has more.
            values = numerators.ravel()
            probabilities = self._blanket_masses(pair).ravel()
        else:
            # {value: weight}, those of the pair first. A column of `supports` is one class: 1 for each of
            # these values that its reports support, else 0; shape (values, classes).
            weights = self._weights_of_reference(reference, pair)
            supports = np.indices((2,) * len(weights)).reshape(len(weights), -1)
            # w in units of c u: e^eps0 for the weight of the values that are supported, 1 for the others.
            density = 1 + np.expm1(eps0) * (np.array(list(weights.values())) @ supports)
            values = numerators[supports[0], supports[1]] / density
            probabilities = self._density_if_not * density * self.patterns(tuple(weights)).ravel()
        possible = probabilities > 0
        return values[possible], probabilities[possible]

    def _blanket_masses(self, pair: tuple[int, int]) -> Floats:
        """The blanket's masses, (2, 2), at the index [supports x0, supports x1] of the ``pair`` (x0, x1).

        The blanket is c u, and e^eps0 times as much for reports that support every value. Relative to it
        these have the gain of reports that support none of the pair, and so they count there. c is
        ``self._density_if_not``, c e^eps0 is ``self._density_if_supported``, and ``self.everywhere`` is the
        probability under u of reports that support every value.
        """
        masses = self._density_if_not * self.patterns(pair)
        if self.k == 2 and self.everywhere:
            # Both values are every value: the difference below, of equal numbers, might not be exactly 0.
            masses[1, 1] = 0.0
        else:
            masses[1, 1] -= self._density_if_not * self.everywhere
        masses[0, 0] += self._density_if_supported * self.everywhere
        return masses

    def variance(self, shares: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
        """Variance of each value's unbiased estimate, (..., k), if ``shares`` (..., k) of n users hold them.

        It is (f p* (1 - p*) + (1 - f) q* (1 - q*)) / (n (p* - q*)^2) for a share f (Wang et al. 2017, eq.
        (4)). p* is the probability that a report supports the user's value, and q* that it supports one given
        other value.
        """
        shares = np.asarray(shares, dtype=float)
        p_variance = self.p_star * self.p_complement
        q_variance = self.q_star * self.q_complement
        summed = shares * p_variance + (1 - shares) * q_variance
        return summed / (_with_value_axis(n) * self.support_difference**2)


def _with_value_axis(n: npt.ArrayLike) -> Integers:
    """``n`` as a checked array with one more axis at the end, for the values. A number stays a number."""
    n = check_n(n)
    return n[..., None] if n.ndim else n
