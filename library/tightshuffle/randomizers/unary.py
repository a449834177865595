"""Unary encodings and local hashing: each report supports every value independently of all other values.

Under u every value is supported independently with probability q. So alpha = q (1 - q), beta = q^2.
"""

import decimal
import math
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, check_number
from tightshuffle.randomizers.base import SupportRandomizer


class IndependentSupport(SupportRandomizer):
    """The base class of the randomizers in this module, which differ in ``q``."""

    @property
    def q(self) -> float:
        """P_u(y supports a given value), which is q* too."""
        raise NotImplementedError

    @property
    def everywhere(self) -> float:
        return self.q**self.k

    def patterns(self, values: Sequence[int]) -> Floats:
        """See `SupportRandomizer.patterns`."""
        supported_values = np.indices((2,) * len(values)).sum(axis=0)
        other_values = len(values) - supported_values
        return self.q**supported_values * (1 - self.q) ** other_values


@dataclass(frozen=True)
class UnaryEncoding(IndependentSupport):
    """Send one bit per value: 1 with probability p for the user's value, with probability q for any other.

    A report supports the values whose bits are 1, and e^eps0 = p (1 - q) / ((1 - p) q). The string of ones
    supports every value: the blanket has e^eps0 times as much of it.
    """

    # u is that of independent bits of probability q, which depends on eps0.
    fixed_background = False

    @property
    def bits(self) -> float:
        return float(self.k)

    @property
    def log_odds(self) -> tuple[float, float]:
        """log(p / (1 - p)) and log(q / (1 - q)), which differ by eps0."""
        log_odds_of_q = math.log(self.q) - math.log1p(-self.q)
        return self.eps0 + log_odds_of_q, log_odds_of_q


@dataclass(frozen=True)
class SymmetricUnaryEncoding(UnaryEncoding):
    """Unary encoding with p = 1 - q = e^(eps0/2) / (e^(eps0/2) + 1).

    It is RAPPOR (Erlingsson, Pihur and Korolova 2014) without Bloom filter and memory: every bit is flipped
    with probability q. Wang et al. 2017 call it symmetric unary encoding.
    """

    key = "rappor"

    @property
    def q(self) -> float:
        return _logistic(-self.eps0 / 2)

    @property
    def log_odds(self) -> tuple[float, float]:
        return self.eps0 / 2, -self.eps0 / 2


@dataclass(frozen=True)
class OptimizedUnaryEncoding(UnaryEncoding):
    """Unary encoding with p = 1/2, q = 1 / (e^eps0 + 1), which has the least q* (1 - q*) / (p* - q*)^2.

    Wang et al. 2017 call it optimized unary encoding.
    """

    key = "oue"

    @property
    def p_star(self) -> float:
        return 0.5  # exact

    @property
    def q(self) -> float:
        return _logistic(-self.eps0)

    @property
    def log_odds(self) -> tuple[float, float]:
        return 0.0, -self.eps0


@dataclass(frozen=True)
class ChosenUnaryEncoding(UnaryEncoding):
    """Unary encoding with probabilities of your own: ``p``, and q, which is ``p_of_others``.

    eps0 = ln(p (1 - q) / ((1 - p) q)) follows from them, rounded up: a larger p never has a smaller delta. A
    permanent RAPPOR without Bloom filter is one, too. ValueError unless 0 < q < p < 1.
    """

    key = "unary"

    eps0: float = field(init=False)
    p: float
    p_of_others: float

    def __post_init__(self) -> None:
        q = check_number("q", self.p_of_others, "above 0 and below 1", lambda x: 0 < x < 1)
        p = check_number("p", self.p, f"above q = {q:g} and below 1", lambda x: q < x < 1)
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "p_of_others", q)
        object.__setattr__(self, "eps0", _log_odds_ratio_rounded_up(p, q))
        super().__post_init__()

    @property
    def name(self) -> str:
        return f"{self.key}:{self.p!r}:{self.q!r}"

    @property
    def q(self) -> float:
        return self.p_of_others


@dataclass(frozen=True)
class LocalHashing(IndependentSupport):
    """Report a random hash function to ``g`` values, and its value under g-randomized response.

    Wang et al. 2017 call it "OLH" with g near e^eps0 + 1, and "BLH" with g = 2. The family is the ideal one,
    in which all functions are equally likely, so supports are distributed as those of a unary encoding with
    q = 1 / g. ``everywhere`` is 0 for k > 2, so that the bound holds for every pairwise independent family.
    ``bits`` counts a family h(x) = a x + b over a field of max(k, g) elements. ValueError unless g is one of
    `parameters`.
    """

    key = "hash"
    parameter = "g"

    g: int

    @classmethod
    def tuned(cls, k: int, eps0: float) -> SupportRandomizer:
        """Local hashing with the g near e^eps0 + 1, of the smallest error for an empty value at this eps0."""
        best_g = round(math.exp(eps0) + 1)
        largest_g = cls.parameters(k)[-1]
        return cls(k, eps0, max(2, min(best_g, largest_g)))

    @classmethod
    def of(cls, k: int, eps0: float, parameter: int) -> SupportRandomizer:
        """Local hashing to g = ``parameter`` hash values."""
        return cls(k, eps0, parameter)

    @staticmethod
    def parameters(k: int) -> range:
        """Every g from 2 to 2^62."""
        return range(2, 2**62 + 1)

    @staticmethod
    def chances(k: npt.ArrayLike, g: npt.ArrayLike) -> tuple[Floats, Floats]:
        """alpha and beta, arrays in the shape of ``g``, which do not depend on ``k``.

        They are the probabilities under u to support one given value and not another, and to support both.
        """
        q = 1 / np.asarray(g, dtype=float)
        return q * (1 - q), q**2

    def __post_init__(self) -> None:
        super().__post_init__()
        is_whole = isinstance(self.g, int | np.integer)
        if not is_whole or int(self.g) not in self.parameters(self.k):
            raise ValueError(f"g must be a whole number from 2 to 2^62; got {reprlib.repr(self.g)}")

    @property
    def bits(self) -> float:
        return float(2 * np.log2(max(self.k, self.g)) + np.log2(self.g))

    @property
    def q(self) -> float:
        return 1 / int(self.g)

    @property
    def everywhere(self) -> float:
        return self.q**2 if self.k == 2 else 0.0


def _logistic(x: float) -> float:
    """1 / (1 + e^-x), as `scipy.special.expit`, which takes as long to import as numpy."""
    return 1 / (1 + math.exp(min(-x, 700.0)))


def _log_odds_ratio_rounded_up(p: float, q: float) -> float:
    """ln(p (1 - q) / ((1 - p) q)) of two probabilities with 0 < q < p < 1, rounded up."""
    with decimal.localcontext(prec=60):
        exact_p, exact_q = Decimal(p), Decimal(q)
        exact = (exact_p / exact_q).ln() + ((1 - exact_q) / (1 - exact_p)).ln()
        rounded = float(exact)
        return rounded if Decimal(rounded) >= exact else math.nextafter(rounded, math.inf)
