"""How well our numbers agree with the printed ones."""

from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

import numpy as np
import numpy.typing as npt

from scripts.shared.printed import Row, parse_tolerance, printed_to_decimal

_SIGNIFICANT = 12  # digits of ours that are compared; further digits are floating-point noise


@dataclass(frozen=True)
class Verdict:
    """The verdict on one printed value. Numbers are decimal strings, "" if there is none."""

    verdict: str
    reproduced: str = ""
    exact: str = ""
    quantile: str = ""
    low: str = ""
    high: str = ""
    reason: str = ""  # to be added to the value's note


def to_text(value: Decimal | float | None, digits: int = 6) -> str:
    """A Decimal or float as a decimal string of ``digits`` significant digits; 0 as "0"; "" for None."""
    if value is None:
        return ""
    value = Decimal(value)
    return "0" if value == 0 else f"{value:.{digits - 1}e}"


def digits_verdict(printed: str, value: Decimal, close: Decimal = Decimal("0.05")) -> str:
    """``same digits``, ``close`` or ``differs`` for a printed number and ours, a Decimal >= 0.

    same digits: ours, rounded or cut off at the last printed digit, is what is printed; a printed 0 must be
    exactly 0. close: within ``close`` of the printed number, relative, border included.
    """
    target = printed_to_decimal(printed)
    if target == 0 or value == 0:
        return "same digits" if target == value else "differs"
    value = Decimal(f"{value:.{_SIGNIFICANT - 1}e}")
    last = -int(target.as_tuple().exponent)
    scaled = value.scaleb(last)
    for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_DOWN):
        if scaled.to_integral_value(rounding) == target.scaleb(last):
            return "same digits"
    return "close" if abs(value - target) <= close * target else "differs"


def judge_number(row: Row, value: Decimal | None, exact: Decimal | None = None) -> Verdict:
    """Verdict on a deterministic value or a count: ours (None without a formula) and the exact one."""
    if value is None:
        return Verdict("not comparable", exact=to_text(exact))
    if row["kind"] == "data":
        texts = str(value), "" if exact is None else str(exact)
    else:
        texts = to_text(value), to_text(exact)
    close = parse_tolerance(row["tolerance"])[1]
    return Verdict(digits_verdict(row["printed"], value, close), *texts)


def judge_draw(row: Row, sample: npt.ArrayLike) -> Verdict:
    """Verdict on one printed draw of a random quantity, given our draws, shape (repetitions,).

    consistent: the printed number is in the central part of ours that the row's tolerance asks for (borders
    included). The quantile is the mid-rank of the printed number among ours: the share below it and half of
    the share equal to it. ``reproduced`` is our median. ValueError: no draw, or one that is not finite.
    """
    sample = np.asarray(sample, dtype=float)
    if sample.ndim != 1 or sample.size == 0 or not np.all(np.isfinite(sample)):
        raise ValueError("a printed draw needs one or more finite draws of ours to compare with")
    central = float(parse_tolerance(row["tolerance"])[1])
    value = float(printed_to_decimal(row["printed"]))
    low, median, high = np.quantile(sample, [(1 - central) / 2, 0.5, (1 + central) / 2])
    quantile = np.mean(sample < value) + np.mean(sample == value) / 2
    return Verdict(
        "consistent" if low <= value <= high else "inconsistent",
        reproduced=to_text(median),
        # The calibration of the Gaussian depends on delta; the shuffle model's error is the same exactly.
        exact=to_text(median) if row["mechanism"] == "shuffle+INV" else "",
        quantile=f"{quantile:.4g}",
        low=to_text(low),
        high=to_text(high),
    )
