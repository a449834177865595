"""Numbers, budgets and long lines as titles, axes and captions write them."""

import textwrap
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pandas as pd

from tightshuffle.number_text import plain, span, typeset

USED, USED_NAME = -12.0, "10⁻¹²"  # log10 delta from which on guarantees are asked for

DELTA_AXIS = "δ, on a log(−log δ) scale"  # orders of magnitude below 1 on a logarithmic axis


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
    """'0.0040 to 0.014', or one number where the ends are written alike."""
    return span(values, significant)


def setting(table: pd.DataFrame, *names: str) -> str:
    """'n = 1,000, k = 408, ε₀ = 2' from the first row of a table."""
    row = table.iloc[0]
    texts = [f"{row[name]:g}" if name.startswith("eps") else f"{row[name]:,.0f}" for name in names]
    return ", ".join(f"{SYMBOLS[name]} = {text}" for name, text in zip(names, texts, strict=True))


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
        return f"{budgets}, δ = {typeset(low)}"
    return f"{budgets}, δ from {typeset(low)} to {typeset(high)}"


def row_label(budget: str, inches: float) -> str:
    """A budget beside a row of panels, ``inches`` high: δ, and then ε too, on its own line where needed."""
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
