"""Numbers, budgets and long lines as titles, axes and captions write them."""

import textwrap
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tightshuffle import randomizers

RANDOMIZERS = {**{key: kind.label for key, kind in randomizers.BY_KEY.items()}, "gaussian": "Gaussian"}
DELTA_AXIS = "δ, drawn as log(−log δ)"  # orders of magnitude below 1 on a logarithmic axis


def short_number(value: float) -> str:
    """A count for an axis: 500, 10k, 2.5M."""
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= unit:
            return f"{value / unit:.4g}{name}"
    return f"{value:.4g}"


def scientific(value: float, digits: int = 2) -> str:
    """A positive number with a typeset exponent: 10⁻³⁰, 2.5×10⁻⁷; 0 stays 0, and 0.01 to 9,999 stay plain."""
    if value == 0 or 1e-2 <= abs(value) < 1e4:
        return f"{value:,.{digits}g}" if abs(value) < 100 else f"{value:,.0f}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    power = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return power if float(mantissa) == 1 else f"{float(mantissa):g}×{power}"


def significant(value: float, digits: int = 2) -> str:
    """A number with all its digits, noughts too: 0.10, 0.047, 12; below 10⁻⁴ as `scientific` writes it."""
    return scientific(value, digits) if 0 < abs(value) < 1e-4 else f"{value:#.{digits}g}".rstrip(".")


def span(values: Iterable[float]) -> str:
    """'0.0040 to 0.014', or one number where the ends are written alike."""
    low, high = (significant(end(list(values))) for end in (min, max))
    return low if low == high else f"{low} to {high}"


def listing(values: Iterable[float | str], *, at_most: int = 12) -> str:
    """Numbers or words for a caption: '1,000, 2,000 and 5,000'; a long list is its ends and its length."""
    texts = [value if isinstance(value, str) else f"{value:,}" for value in values]
    if len(texts) > at_most:
        return f"{texts[0]} to {texts[-1]} ({len(texts)} values)"
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def budget(eps0: float, eps: float, delta: npt.ArrayLike) -> str:
    """'ε₀ = ε = 4, δ = 10⁻³⁰' for titles and captions; ``delta``: one number or many."""
    budgets = f"ε₀ = ε = {eps:.4g}" if eps0 == eps else f"ε₀ = {eps0:g}, ε = {eps:.4g}"
    low, high = float(np.min(delta)), float(np.max(delta))
    if low == high:
        return f"{budgets}, δ = {scientific(low)}"
    return f"{budgets}, δ from {scientific(low)} to {scientific(high)}"


def row_label(budget: str, inches: float) -> str:
    """A budget beside a row of panels, ``inches`` high: δ, and then ε too, on its own line where needed."""
    for label in (budget, budget.replace(", δ", "\nδ")):
        if all(folded(line, inches) == line for line in label.splitlines()):
            return label
    return budget.replace(", ", "\n")


def plain(text: str) -> str:
    """A name from the config for a title: matplotlib takes text between dollar signs for a formula."""
    return text.replace("$", r"\$")


def folded(text: str, inches: float, *, size: float = 8) -> str:
    """``text`` in lines that fit into a width, for a title of ``size`` points in the figures' font."""
    mean_width = 0.52 * size / 72  # inches; a little more than DejaVu Sans needs for common text
    return textwrap.fill(text, max(12, int(inches / mean_width)))
