"""The numbers that texts state about delta and its bounds."""

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from scripts.paper.delta.theorem_1 import theorem_1_as_printed
from scripts.shared.findings import Results, chosen_rows
from tightshuffle.guarantee import lower, upper
from tightshuffle.literature import count
from tightshuffle.methods import delta
from tightshuffle.numerics.positive_part import log_positive_part

DEFAULT: dict[str, Any] = {"n": 100, "k": 10, "eps0": 2.0}  # the default setting of Table IV
HOLDERS = 80  # of the other users, who hold x0 in Tables IV and 1
TABLE_1: dict[str, Any] = {"n": 100, "k": 10, "eps0": 0.5}  # it does not state k
EXAMPLE: dict[str, Any] = {"n": 1000, "k": 15, "eps0": 4.0}


@dataclass(frozen=True)
class Readings:
    """Five values of delta at one eps: three of one value's count, and two of all counts."""

    eps: float
    published: float  # of the count of x0, by Theorem 1 as printed
    exact: float  # of the same count, the true one
    worst: float  # of the count with the largest delta, whoever holds the value
    lower: float  # of all counts, our lower bound for the worst dataset
    upper: float  # of all counts, our upper bound for every dataset


@dataclass(frozen=True)
class DefaultSetting:
    """Table IV's default setting by every reading: the count of x0, and the whole histogram."""

    n: int
    k: int
    eps0: float
    count: int  # of the other users, who hold x0
    rows: list[Readings]
    reverse_eps: float
    # delta of x1 against x0 over delta of x0 against x1, of the count of x0 that no other user holds, at
    # reverse_eps
    reverse: float


@dataclass(frozen=True)
class CitedBound:
    """A bound of Table 1."""

    name: str
    printed: str | None  # its digits; None where the paper prints nothing
    bound: float | None  # its delta, correctly computed; None outside of the theorem's conditions


@dataclass(frozen=True)
class LiteratureBounds:
    """Table 1 at one eps: what is printed, and what the bounds are worth there."""

    n: int
    k: int
    eps0: float
    eps: float
    rows: list[CitedBound]
    low: float  # delta of all counts: the lower bound
    high: float  # delta of all counts: the upper bound by the privacy blanket
    near_percent: float  # by which the upper bound exceeds the lower one
    times: float  # how many times the best analytic bound is larger than the upper bound


@dataclass(frozen=True)
class Width:
    """How far the bounds are apart at one eps."""

    eps: float
    percent: float  # by which the upper bound exceeds the lower one


@dataclass(frozen=True)
class BoundsApart:
    """How far the upper bound is from the lower one, and the numerical bracket of either."""

    n: int
    k: int
    eps0: float
    rows: list[Width]
    bracket_percent: float


def default_setting(_: Results) -> DefaultSetting:
    """delta at three eps in Table IV's default setting, and at one of them how much the direction matters.

    The setting has n = 100 users, k = 10 values and eps0 = 2 (`DEFAULT`). ``rows`` has five deltas for each
    eps: of the count of x0 if 80 (`HOLDERS`) of the 99 other users hold x0, of the worst count, and of all
    counts. ``reverse`` is a ratio at ``reverse_eps``, of the count of x0 if no other user holds x0: its delta
    of x1 against x0 over its delta of x0 against x1.

    The argument is not used, as every finding is a function of the results.
    """
    reverse_eps = 0.5
    no_other_holder: dict[str, Any] = {**DEFAULT, "count": 0}
    # `count.delta` returns log10 delta. "forward" is x0 against x1, and "reverse" is x1 against x0.
    log10_reverse = count.delta(reverse_eps, **no_other_holder, direction="reverse")
    log10_forward = count.delta(reverse_eps, **no_other_holder, direction="forward")
    return DefaultSetting(
        **DEFAULT,
        count=HOLDERS,
        rows=[_five_deltas(eps) for eps in (0.1, 0.5, 1.0)],
        reverse_eps=reverse_eps,
        reverse=_ten_to_the(log10_reverse - log10_forward),
    )


def _five_deltas(eps: float) -> Readings:
    """Five deltas at eps in Table IV's default setting: n = 100, k = 10, eps0 = 2.

    - published and exact: of the count of x0, for x0 against x1, if 80 (`HOLDERS`) of the 99 other users hold
      x0: by Theorem 1 as printed, and the true one
    - worst: the largest true delta of a count, over every number of other users who hold its value and over
      both directions
    - lower and upper: our bounds on delta of the whole histogram in the worst dataset
    """
    of_count: dict[str, Any] = {**DEFAULT, "count": HOLDERS, "direction": "forward"}
    every_number = np.arange(DEFAULT["n"])  # 0 to n - 1 other users
    log10_worst = count.delta(eps, **DEFAULT, count=every_number, direction="both").max()
    return Readings(
        eps=eps,
        # These functions return log10 delta.
        published=_ten_to_the(theorem_1_as_printed(eps, **of_count)),
        exact=_ten_to_the(count.delta(eps, **of_count)),
        worst=_ten_to_the(log10_worst),
        lower=_ten_to_the(lower(eps, log10=True, **DEFAULT)),
        upper=_ten_to_the(upper(eps, log10=True, **DEFAULT)),
    )


def literature_bounds(results: Results) -> LiteratureBounds:
    """The bounds of the short version's Table 1 at eps = 0.1: the printed digits, and the true values.

    The setting is n = 100 and eps0 = 0.5, and k = 10, which Table 1 does not state. The table "verdicts" in
    ``results`` has a row for each value that the paper prints, with all columns as texts. The fields are:

    - rows: for each bound, its name, the digits printed for it (or None), and the delta by the cited theorem
      (or None where it does not apply). The last row is the paper's own: the true delta of the count of x0
    - low, high: our lower bound on delta of all counts, and the privacy blanket's upper bound
    - near_percent: by how many percent high exceeds low
    - times: how many times high the best analytic bound is, that of Balle et al.

    Raises LookupError if the paper prints nothing at this eps.
    """
    eps = 0.1
    rows = chosen_rows(results["verdicts"], item="Table 1", eps=str(eps))
    printed = rows.set_index("mechanism")["printed"]

    def log10_delta(method: str) -> Any:
        return delta(eps, method=method, log10=True, **TABLE_1)

    log10_low = log10_delta("lower")
    log10_high = log10_delta("privacy-blanket")
    log10_balle = log10_delta("balle-bennett")
    log10_one_count = count.delta(eps, **TABLE_1, count=HOLDERS, direction="forward")
    cited = (  # name, mechanism of the printed value ("": nothing is printed), log10 of the bound
        # No bound: the conditions of the theorem fail.
        ("Erlingsson et al., 2019", "erlingsson", None),
        ("Balle et al., 2019 (Bennett)", "balle", log10_balle),
        ("Feldman et al., 2021 (summed)", "feldman", log10_delta("clones")),
        ("Feldman et al., 2023 (summed)", "", log10_delta("stronger-clones")),
        ("Koskela et al., 2021 (weak adversary)", "koskela", log10_high),
        ("Biswas et al., count of x0", "this paper", log10_one_count),
    )

    bounds = []
    for name, mechanism, log10_bound in cited:
        bound = None if log10_bound is None else _ten_to_the(log10_bound)
        bounds.append(CitedBound(name=name, printed=printed.get(mechanism), bound=bound))
    return LiteratureBounds(
        **TABLE_1,
        eps=eps,
        rows=bounds,
        low=_ten_to_the(log10_low),
        high=_ten_to_the(log10_high),
        near_percent=_percent_above(log10_low, log10_high),
        times=10 ** (log10_balle - log10_high),
    )


def bounds_apart(_: Results) -> BoundsApart:
    """How far our upper bound on delta is above our lower one, at two eps for n = 1,000, k = 15, eps0 = 4.

    ``rows`` has the eps and the percent by which upper exceeds lower. ``bracket_percent`` is the default
    relative width, in percent, of the bracket to which the sum in either bound is computed.

    The argument is not used, as every finding is a function of the results.
    """
    rows = []
    for eps in (1.0, 2.0):
        log10_low = lower(eps, log10=True, **EXAMPLE)
        log10_high = upper(eps, log10=True, **EXAMPLE)
        rows.append(Width(eps=eps, percent=_percent_above(log10_low, log10_high)))
    width = inspect.signature(log_positive_part).parameters["width"].default
    return BoundsApart(**EXAMPLE, rows=rows, bracket_percent=100 * width)


def _ten_to_the(log10_number: Any) -> float:
    """The number with this log10: a delta, or a ratio of deltas."""
    return 10 ** float(log10_number)


def _percent_above(log10_low: Any, log10_high: Any) -> float:
    """By how many percent 10^log10_high exceeds 10^log10_low."""
    return 100 * (10 ** float(log10_high - log10_low) - 1)
