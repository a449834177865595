"""How a number becomes text: rounded to the nearest or to the safe side; plain, as C or as papers write it.

Every function takes a number as a float, a Decimal or its decimal text. Deltas reach below the smallest
float: `from_log10` makes a Decimal of their log10. ``round_up`` True rounds up, as an upper bound must be,
False down, None to the nearest.
"""

import math
import re
from collections.abc import Callable, Iterable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal

Number = float | Decimal | str
_ANY_DEPTH = Context(prec=40, Emin=MIN_EMIN, Emax=MAX_EMAX)
_CERTAIN = 12  # significant digits: beyond them is the noise of floats
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_IN_FULL = Decimal("0.001"), Decimal(10**9)  # numbers that `typeset` writes without a power of ten


def from_log10(log10: float) -> Decimal:
    """10**log10 with 12 digits, however small; 0 for -inf. ValueError for nan and inf."""
    if log10 == -math.inf:
        return Decimal(0)
    if not math.isfinite(log10):
        raise ValueError(f"log10 of a value must be finite or -inf; got {log10}")
    whole = math.floor(log10)
    return _ANY_DEPTH.scaleb(Decimal(f"{10 ** (log10 - whole):.{_CERTAIN - 1}e}"), whole)


def rounded(value: Number, digits: int, *, round_up: bool | None = None) -> Decimal:
    """A finite number with exactly ``digits`` significant digits, trailing zeros included."""
    exact = _exact(value)
    if round_up is None or not exact:
        return Decimal(f"{exact:.{digits - 1}e}")
    # Do not round up or down what only a float's error moved away from a number with so many digits.
    certain = Decimal(f"{exact:.{_CERTAIN - 1}e}")
    unit = _ANY_DEPTH.scaleb(Decimal(1), certain.adjusted() - digits + 1)
    return certain.quantize(unit, ROUND_CEILING if round_up else ROUND_FLOOR, _ANY_DEPTH)


def plain(value: Number, digits: int = 6, *, round_up: bool | None = None, noughts: bool = False) -> str:
    """A number of a float's size as C's %g writes it: 0.02235, 12, 1e-06; inf and nan.

    With ``noughts`` it keeps all its digits and never has an exponent: 0.10, 0.0000010, 12; 0 stays 0.
    """
    exact = _exact(value)
    if not exact or not exact.is_finite():
        return f"{float(exact):g}"
    number = rounded(exact, digits, round_up=round_up)
    return f"{number:f}" if noughts else f"{float(number):.{digits}g}"


def e_notation(value: Number, digits: int = 3, *, round_up: bool | None = None) -> str:
    """A number as C's %e writes it, at any depth: 2.48e-05, 1.234e-567; 0 and 1 stay 0 and 1."""
    number = rounded(value, digits, round_up=round_up)
    if number in (0, 1):
        return str(int(number))
    mantissa, exponent = f"{number:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent):+03d}"


def typeset(value: Number, digits: int = 2, *, round_up: bool | None = None) -> str:
    """A number as papers print it, at any depth: 1,000; 0.022; 10⁻³⁰; 2.5×10⁻⁷; inf and nan.

    Numbers from 0.001 to 10^9, and 0, have no power of ten; whole ones among them have all their digits.
    """
    exact = _exact(value)
    if not exact.is_finite():
        return str(value)
    if round_up is not None and exact:
        exact = rounded(exact, digits, round_up=round_up)
    smallest, largest = _IN_FULL
    if abs(exact) < largest and exact == exact.to_integral_value():
        return f"{int(exact):,}"
    if smallest <= abs(exact) < largest:
        number = rounded(float(exact), max(digits, exact.adjusted() + 1))
        return f"{number.normalize():,f}"
    mantissa, exponent = f"{exact:.{digits - 1}e}".split("e")
    return with_powers(f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{exponent}")


def with_powers(text: str) -> str:
    """``text`` with its numbers like 2.49E-15 and 1e-6 as `typeset` writes them: 2.49×10⁻¹⁵ and 10⁻⁶."""

    def power(found: re.Match[str]) -> str:
        ten = "10" + str(int(found[2])).translate(_SUPERSCRIPTS)
        return ten if found[1] == "1" else f"{found[1]}×{ten}"

    return re.sub(r"\b(\d+(?:\.\d+)?)[eE]([+-]?\d+)\b", power, text)


def percent(share: float, digits: int = 2, *, round_up: bool | None = None) -> str:
    """A share as `plain` writes its hundredfold: 5.3 % of 0.053."""
    return f"{plain(100 * share, digits, round_up=round_up)} %"


def span(values: Iterable[float], text: Callable[[float], str] = plain) -> str:
    """The range of numbers: '0.0040 to 0.014', or one number if both ends are written the same."""
    values = list(values)
    low, high = text(min(values)), text(max(values))
    return low if low == high else f"{low} to {high}"


def _exact(value: Number) -> Decimal:
    return Decimal(value if isinstance(value, (str, Decimal)) else float(value))
