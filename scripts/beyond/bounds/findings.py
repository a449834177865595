"""The numbers that texts state about delta and its bounds."""

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from scripts.paper.delta.printed_formulas import theorem_1_as_printed
from scripts.shared.findings import Results, chosen_rows
from tightshuffle.guarantee import lower, upper
from tightshuffle.literature import count
from tightshuffle.methods import delta
from tightshuffle.numerics.positive_part import log_positive_part

DEFAULT: dict[str, Any] = {"n": 100, "k": 10, "eps0": 2.0}  # the default setting of Table IV
HOLDERS = 80  # of the other users, who hold x0 in Tables IV and 1
TABLE_1: dict[str, Any] = {"n": 100, "k": 10, "eps0": 0.5}
EXAMPLE: dict[str, Any] = {"n": 1000, "k": 15, "eps0": 4.0}


@dataclass(frozen=True)
class Readings:
    """delta at one eps by every reading."""

    eps: float
    published: float  # of the count of x0, by Theorem 1 as printed
    exact: float  # of the same count
    worst: float  # of the count with the largest delta
    lower: float  # of all counts: the lower bound
    upper: float  # of all counts: the upper bound


@dataclass(frozen=True)
class DefaultSetting:
    """Table IV's default setting by every reading: the count of x0, and the whole histogram."""

    n: int
    k: int
    eps0: float
    count: int  # of the other users, who hold x0
    rows: list[Readings]
    reverse_eps: float
    reverse: (
        float  # delta of the empty count at reverse_eps, the reverse over the forward direction
    )


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
    high: float  # delta of all counts: the upper bound
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
    """delta in Table IV's default setting at three eps, and the ratio of the two directions at one of them.

    The ratio is that of the empty count, which no other user adds to: delta of x1 against x0 over delta of
    x0 against x1.
    """
    reverse_eps = 0.5
    empty: dict[str, Any] = {**DEFAULT, "count": 0}
    log10_reverse = count.delta(reverse_eps, **empty, direction="reverse")
    log10_forward = count.delta(reverse_eps, **empty, direction="forward")
    return DefaultSetting(
        **DEFAULT,
        count=HOLDERS,
        rows=[_deltas_by_reading(eps) for eps in (0.1, 0.5, 1.0)],
        reverse_eps=reverse_eps,
        reverse=_from_log10(log10_reverse - log10_forward),
    )


def _deltas_by_reading(eps: float) -> Readings:
    """delta at eps in Table IV's default setting: of the count of x0, of the worst count, of all counts.

    80 of the other users (`HOLDERS`) hold x0. The worst count is over every number of holders and both
    directions.
    """
    of_count: dict[str, Any] = {**DEFAULT, "count": HOLDERS, "direction": "forward"}
    every_count = np.arange(DEFAULT["n"])
    log10_worst = count.delta(eps, **DEFAULT, count=every_count, direction="both").max()
    return Readings(
        eps=eps,
        published=_from_log10(theorem_1_as_printed(eps, **of_count)),
        exact=_from_log10(count.delta(eps, **of_count)),
        worst=_from_log10(log10_worst),
        lower=_from_log10(lower(eps, log10=True, **DEFAULT)),
        upper=_from_log10(upper(eps, log10=True, **DEFAULT)),
    )


def literature_bounds(results: Results) -> LiteratureBounds:
    """The printed and the correctly computed deltas of Table 1 at eps = 0.1.

    Raises LookupError if nothing is printed there.
    """
    eps = 0.1
    rows = chosen_rows(results["verdicts"], item="Table 1", eps=str(eps))
    printed = rows.set_index("mechanism")["printed"]

    def log10_delta(method: str) -> Any:
        return delta(eps, method=method, log10=True, **TABLE_1)

    low = log10_delta("lower")
    high = log10_delta("privacy-blanket")
    balle = log10_delta("balle-bennett")
    one_count = count.delta(eps, **TABLE_1, count=HOLDERS, direction="forward")
    cited = (  # name, mechanism of the printed values, log10 of the bound
        # Outside of its conditions there is no bound.
        ("Erlingsson et al., 2019", "erlingsson", None),
        ("Balle et al., 2019 (Bennett)", "balle", balle),
        ("Feldman et al., 2021 (summed)", "feldman", log10_delta("clones")),
        ("Feldman et al., 2023 (summed)", "", log10_delta("stronger-clones")),
        ("Koskela et al., 2021 (weak adversary)", "koskela", high),
        ("Biswas et al., count of x0", "this paper", one_count),
    )

    bounds = []
    for name, mechanism, log10_bound in cited:
        bound = None if log10_bound is None else _from_log10(log10_bound)
        bounds.append(CitedBound(name=name, printed=printed.get(mechanism), bound=bound))
    return LiteratureBounds(
        **TABLE_1,
        eps=eps,
        rows=bounds,
        low=_from_log10(low),
        high=_from_log10(high),
        near_percent=_percent_above(low, high),
        times=10 ** (balle - high),
    )


def bounds_apart(_: Results) -> BoundsApart:
    """How far the upper bound on delta is above the lower one at `EXAMPLE`, and the bracket of either bound.

    The bracket is the default relative width to which a bound's sum is computed.
    """
    rows = []
    for eps in (1.0, 2.0):
        low = lower(eps, log10=True, **EXAMPLE)
        high = upper(eps, log10=True, **EXAMPLE)
        rows.append(Width(eps=eps, percent=_percent_above(low, high)))
    width = inspect.signature(log_positive_part).parameters["width"].default
    return BoundsApart(**EXAMPLE, rows=rows, bracket_percent=100 * width)


def _from_log10(log10_delta: Any) -> float:
    """delta, or a ratio of deltas, from its log10."""
    return 10 ** float(log10_delta)


def _percent_above(log10_low: Any, log10_high: Any) -> float:
    """By how many percent 10^log10_high exceeds 10^log10_low."""
    return 100 * (10 ** float(log10_high - log10_low) - 1)
