"""How a number becomes text: rounded to the nearest or to the safe side, as C writes it.

Every function takes a number as a float, a Decimal or its decimal text. Deltas reach below the smallest
float: `from_log10` makes a Decimal of their log10. `Side.UPPER` rounds up, as an upper bound must be,
`Side.LOWER` down, None to the nearest.
"""

import math
from collections.abc import Callable, Iterable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from tightshuffle.numerics.side import Side

Number = float | Decimal | str
_ANY_DEPTH = Context(prec=40, Emin=MIN_EMIN, Emax=MAX_EMAX)
_CERTAIN = 12  # significant digits: beyond them is the noise of floats


def from_log10(log10: float) -> Decimal:
    """10**log10 with 12 digits, however small. It is 0 for -inf. ValueError for nan and inf."""
    if log10 == -math.inf:
        return Decimal(0)
    if not math.isfinite(log10):
        raise ValueError(f"log10 of a value must be finite or -inf; got {log10}")
    exponent = math.floor(log10)
    mantissa = Decimal(f"{10 ** (log10 - exponent):.{_CERTAIN - 1}e}")  # one digit before the point
    return _ANY_DEPTH.scaleb(mantissa, exponent)


def rounded(value: Number, digits: int, *, side: Side | None = None) -> Decimal:
    """A finite number with exactly ``digits`` significant digits, trailing zeros included."""
    exact = _exact(value)
    if side is None or not exact:
        return Decimal(f"{exact:.{digits - 1}e}")

    # Do not round up or down what only a float's error moved away from a number with so many digits.
    certain = Decimal(f"{exact:.{_CERTAIN - 1}e}")
    unit = _ANY_DEPTH.scaleb(Decimal(1), certain.adjusted() - digits + 1)
    return certain.quantize(unit, ROUND_CEILING if side is Side.UPPER else ROUND_FLOOR, _ANY_DEPTH)


def plain(
    value: Number, digits: int = 6, *, side: Side | None = None, noughts: bool = False
) -> str:
    """A number of a float's size as C's %g writes it: 0.02235, 12, 1e-06, inf, nan.

    With ``noughts`` it keeps all its digits and never has an exponent: 0.10, 0.0000010, 12. 0 stays 0.
    """
    exact = _exact(value)
    if not exact or not exact.is_finite():
        return f"{float(exact):g}"
    number = rounded(exact, digits, side=side)
    return f"{number:f}" if noughts else f"{float(number):.{digits}g}"


def e_notation(value: Number, digits: int = 3, *, side: Side | None = None) -> str:
    """A number as C's %e writes it, at any depth: 2.48e-05, 1.234e-567. 0 and 1 stay 0 and 1."""
    number = rounded(value, digits, side=side)
    if number in (0, 1):
        return str(int(number))
    mantissa, exponent = f"{number:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent):+03d}"


def span(values: Iterable[float], text: Callable[[float], str] = plain) -> str:
    """The range of numbers: '0.0040 to 0.014', or one number if both ends are written the same."""
    values = list(values)
    low, high = text(min(values)), text(max(values))
    return low if low == high else f"{low} to {high}"


def _exact(value: Number) -> Decimal:
    return Decimal(value if isinstance(value, (str, Decimal)) else float(value))
