"""How well our numbers agree with the printed ones."""

from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

import numpy as np
import numpy.typing as npt

from scripts.shared.printed import Row, parse_tolerance, printed_to_decimal

_COMPARED_DIGITS = 12  # significant digits of ours. Further digits are floating-point noise


@dataclass(frozen=True)
class Verdict:
    """The verdict on one printed value, and our numbers as decimal text, "" where there is none."""

    verdict: str
    reproduced: str = ""  # our value by the paper's method; of a random value, our median
    exact: str = ""  # the true value
    quantile: str = ""  # of a random value: the share of our draws below it
    low: str = ""  # and the part of our draws in which it should be
    high: str = ""
    reason: str = ""  # to be added to the value's note


def to_text(value: Decimal | float | None, digits: int = 6) -> str:
    """A Decimal or float as a decimal string of ``digits`` significant digits; 0 as "0"; "" for None."""
    if value is None:
        return ""
    value = Decimal(value)
    return "0" if value == 0 else f"{value:.{digits - 1}e}"


def digits_verdict(printed: str, value: Decimal, close: Decimal = Decimal("0.05")) -> str:
    """The verdict on a printed number beside ours: "same digits", "close" or "differs".

    - same digits: ours, rounded or cut off at the last printed digit, is what is printed. Zeros must agree
      exactly.
    - close: ours is not farther from the printed number than the share ``close`` of it.
    - differs: anything else.

    ``printed`` is the text in the paper, ``value`` our number, at least 0.
    """
    target = printed_to_decimal(printed)
    if target == 0 or value == 0:
        return "same digits" if target == value else "differs"
    value = Decimal(f"{value:.{_COMPARED_DIGITS - 1}e}")  # without floating-point noise

    # Both numbers in units of the last printed digit: 0.0123 becomes 123.
    decimals = -int(target.as_tuple().exponent)
    scaled = value.scaleb(decimals)
    for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_DOWN):
        if scaled.to_integral_value(rounding) == target.scaleb(decimals):
            return "same digits"
    return "close" if abs(value - target) <= close * target else "differs"


def judge_number(row: Row, value: Decimal | None, exact: Decimal | None = None) -> Verdict:
    """The verdict on a printed value that is not random, by the digits of ours.

    Parameters
    ----------
    row: the printed value as texts. Its tolerance has the share by which a close number may differ, and its
        kind is "data" for a whole number of users, which is written with all its digits
    value: our value by the paper's method, or None if there is no formula
    exact: the true value, or None if there is no exact one
    """
    if value is None:
        return Verdict("not comparable", exact=to_text(exact))
    _, close = parse_tolerance(row["tolerance"])
    verdict = digits_verdict(row["printed"], value, close)
    if row["kind"] == "data":
        return Verdict(verdict, str(value), "" if exact is None else str(exact))
    return Verdict(verdict, to_text(value), to_text(exact))


def judge_draw(row: Row, sample: npt.ArrayLike) -> Verdict:
    """The verdict on one printed draw of a random error, by our own draws of it. Its fields are texts:

    - verdict: "consistent" if the printed number lies in the central part of our draws, its ends included,
      and else "inconsistent". The row's tolerance has the share of this part, as in "central 99 %";
    - low and high: the ends of the central part;
    - reproduced: the median of our draws;
    - exact: this median again, if the mechanism is shuffle+INV, and else "";
    - quantile: the share of our draws below the printed number, plus half of the share equal to it.

    ``row`` is the printed value as texts. ``sample`` are our draws, shape (repetitions,). Raises ValueError
    if there is none, or if one is not finite.
    """
    sample = np.asarray(sample, dtype=float)
    if sample.ndim != 1 or sample.size == 0 or not np.all(np.isfinite(sample)):
        raise ValueError("a printed draw needs one or more finite draws of ours to compare with")
    _, share = parse_tolerance(row["tolerance"])
    central = float(share)
    printed = float(printed_to_decimal(row["printed"]))
    low, median, high = np.quantile(sample, [(1 - central) / 2, 0.5, (1 + central) / 2])
    quantile = np.mean(sample < printed) + np.mean(sample == printed) / 2
    return Verdict(
        "consistent" if low <= printed <= high else "inconsistent",
        reproduced=to_text(median),
        # The errors of shuffle+INV do not depend on how delta is computed. Those of the Gaussian do, so they
        # are not exact.
        exact=to_text(median) if row["mechanism"] == "shuffle+INV" else "",
        quantile=f"{quantile:.4g}",
        low=to_text(low),
        high=to_text(high),
    )
