"""Numbers, budgets and long lines as titles, axes and captions write them."""

import re
import textwrap
from collections.abc import Iterable
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pandas as pd

from tightshuffle.number_text import Number, plain, rounded, span
from tightshuffle.numerics.side import Side

SUPERSCRIPTS = str.maketrans("-.0123456789", "⁻·⁰¹²³⁴⁵⁶⁷⁸⁹")
# From the first to the second, `typeset` writes numbers without a power of ten.
_SMALLEST_IN_FULL, _LARGEST_IN_FULL = Decimal("0.001"), Decimal(10**9)

SYMBOLS = {"n": "n", "k": "k", "eps0": "ε₀", "eps": "ε", "count": "n_x₀"}


def short_number(value: float) -> str:
    """A count for an axis: 500, 10k, 2.5M."""
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= unit:
            return f"{value / unit:.4g}{name}"
    return f"{value:.4g}"


def significant(value: float) -> str:
    """A number in two digits, noughts too: 0.10, 0.047, 12."""
    return plain(value, 2, noughts=True)


def two_digits(values: Iterable[float]) -> str:
    """The smallest and the largest of ``values`` in two digits, such as '0.0040 to 0.014'.

    It is one number where both are written alike.
    """
    return span(values, significant)


def setting(table: pd.DataFrame, *names: str) -> str:
    """The values of the columns ``names`` in the first row of ``table``, such as 'n = 1,000, ε₀ = 2'."""
    row = table.iloc[0]
    texts = []
    for name in names:
        form = "g" if name.startswith("eps") else ",.0f"
        texts.append(f"{SYMBOLS[name]} = {row[name]:{form}}")
    return ", ".join(texts)


def listing(values: Iterable[float | str], *, at_most: int = 12) -> str:
    """Numbers or words for a caption: '1,000, 2,000 and 5,000'.

    More than ``at_most`` of them are their ends and their number: '1 to 30 (30 values)'.
    """
    texts = [value if isinstance(value, str) else f"{value:,}" for value in values]
    if len(texts) > at_most:
        return f"{texts[0]} to {texts[-1]} ({len(texts)} values)"
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def budget(eps0: float, eps: float, deltas: npt.ArrayLike) -> str:
    """A budget for titles, such as 'ε₀ = ε = 4, δ = 10⁻¹⁷ (our choice)'.

    ``deltas`` are one number or many, of which the smallest and the largest are written. "Our choice": from
    eps = eps0 on, the paper's delta is 0, for which the Gaussian mechanism needs another delta.
    """
    low, high = float(np.min(deltas)), float(np.max(deltas))
    delta = f"δ = {typeset(low)}" if low == high else f"δ from {typeset(low)} to {typeset(high)}"
    if eps >= eps0:
        delta += " (our choice)"
    return f"{pair(eps0, eps)}, {delta}"


def pair(eps0: float, eps: float) -> str:
    """'ε₀ = ε = 4', or 'ε₀ = 4, ε = 1' where they differ."""
    return f"ε₀ = ε = {eps:.4g}" if eps0 == eps else f"ε₀ = {eps0:g}, ε = {eps:.4g}"


def row_label(budget: str, inches: float) -> str:
    """A budget such as 'ε₀ = ε = 4, δ = 10⁻¹⁷' in as few lines as fit beside a panel that is ``inches`` high.

    These are one line, or two (one for ε₀ and ε, and one for δ), or one for each symbol.
    """
    for label in (budget, budget.replace(", δ", "\nδ")):
        if all(folded(line, inches) == line for line in label.splitlines()):
            return label
    return budget.replace(", ", "\n")


def literal(text: str) -> str:
    """A name from the config for a title: matplotlib takes text between dollar signs for a formula."""
    return text.replace("$", r"\$")


def folded(text: str, inches: float, *, size: float = 8) -> str:
    """``text`` in lines that fit into a width, for a title of ``size`` points in the figures' font."""
    mean_width = 0.52 * size / 72  # inches; a little more than DejaVu Sans needs for common text
    return textwrap.fill(text, max(12, int(inches / mean_width)))


def typeset(value: Number, digits: int = 2, *, side: Side | None = None) -> str:
    """A number as papers print it: 1,000; 0.022; 10⁻³⁰; 2.5×10⁻⁷; inf and nan.

    - A whole number below 10^9 has all its digits.
    - Another number from 0.001 to 10^9 has ``digits`` significant digits, or all digits of its whole part if
      these are more.
    - Any other number has ``digits`` significant digits and a power of ten.

    Noughts at the end of decimals are left out. ``value`` may be decimal text, for numbers below the smallest
    float. The number is rounded to the nearest one, or with a ``side`` up (upper) or down (lower).
    """
    exact = Decimal(value if isinstance(value, (str, Decimal)) else float(value))
    if not exact.is_finite():
        return str(value)
    if side is not None and exact:
        exact = rounded(exact, digits, side=side)

    if abs(exact) < _LARGEST_IN_FULL and exact == exact.to_integral_value():
        return f"{int(exact):,}"
    if _SMALLEST_IN_FULL <= abs(exact) < _LARGEST_IN_FULL:
        # exact.adjusted() + 1 is how many digits the whole part has.
        number = rounded(float(exact), max(digits, exact.adjusted() + 1))
        return f"{number.normalize():,f}"

    mantissa, exponent = f"{exact:.{digits - 1}e}".split("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return with_powers(f"{mantissa}e{exponent}")


def with_powers(text: str) -> str:
    """``text`` with its numbers like 2.49E-15 and 1e-6 as `typeset` writes them: 2.49×10⁻¹⁵ and 10⁻⁶."""

    def power(found: re.Match[str]) -> str:
        ten = "10" + str(int(found[2])).translate(SUPERSCRIPTS)
        return ten if found[1] == "1" else f"{found[1]}×{ten}"

    return re.sub(r"\b(\d+(?:\.\d+)?)[eE]([+-]?\d+)\b", power, text)
