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
    """delta in Table IV's default setting at three eps, and the ratio of directions at one of them."""
    reverse_eps = 0.5
    empty: dict[str, Any] = {**DEFAULT, "count": 0}
    reverse = count.delta(reverse_eps, **empty, direction="reverse")
    forward = count.delta(reverse_eps, **empty, direction="forward")
    return DefaultSetting(
        **DEFAULT,
        count=HOLDERS,
        rows=[_readings(eps) for eps in (0.1, 0.5, 1.0)],
        reverse_eps=reverse_eps,
        reverse=_probability(reverse - forward),
    )


def _readings(eps: float) -> Readings:
    counted: dict[str, Any] = {**DEFAULT, "count": HOLDERS, "direction": "forward"}
    every_count = np.arange(DEFAULT["n"])
    worst = count.delta(eps, **DEFAULT, count=every_count, direction="both").max()
    return Readings(
        eps=eps,
        published=_probability(theorem_1_as_printed(eps, **counted)),
        exact=_probability(count.delta(eps, **counted)),
        worst=_probability(worst),
        lower=_probability(lower(eps, log10=True, **DEFAULT)),
        upper=_probability(upper(eps, log10=True, **DEFAULT)),
    )


def literature_bounds(results: Results) -> LiteratureBounds:
    """Table 1 at eps = 0.1. Raises LookupError if nothing is printed there."""
    eps = 0.1
    rows = chosen_rows(results["verdicts"], item="Table 1", eps=str(eps))
    printed = rows.set_index("mechanism")["printed"]

    def log10_delta(method: str) -> Any:
        return delta(eps, method=method, log10=True, **TABLE_1)

    low, high, balle = (log10_delta(name) for name in ("lower", "privacy-blanket", "balle-bennett"))
    clones, stronger_clones = (log10_delta(name) for name in ("clones", "stronger-clones"))
    one_count = count.delta(eps, **TABLE_1, count=HOLDERS, direction="forward")
    cited = (  # name, mechanism of the printed values, log10 of the bound
        # Outside of its conditions there is no bound.
        ("Erlingsson et al., 2019", "erlingsson", None),
        ("Balle et al., 2019 (Bennett)", "balle", balle),
        ("Feldman et al., 2021 (summed)", "feldman", clones),
        ("Feldman et al., 2023 (summed)", "", stronger_clones),
        ("Koskela et al., 2021 (weak adversary)", "koskela", high),
        ("Biswas et al., count of x0", "this paper", one_count),
    )

    bounds = []
    for name, mechanism, log10 in cited:
        bound = None if log10 is None else _probability(log10)
        bounds.append(CitedBound(name=name, printed=printed.get(mechanism), bound=bound))
    return LiteratureBounds(
        **TABLE_1,
        eps=eps,
        rows=bounds,
        low=_probability(low),
        high=_probability(high),
        near_percent=_percent_above(low, high),
        times=10 ** (balle - high),
    )


def bounds_apart(_: Results) -> BoundsApart:
    """The distance of both bounds at `EXAMPLE`, and the default width of the bracket."""
    rows = []
    for eps in (1.0, 2.0):
        low, high = lower(eps, log10=True, **EXAMPLE), upper(eps, log10=True, **EXAMPLE)
        rows.append(Width(eps=eps, percent=_percent_above(low, high)))
    width = inspect.signature(log_positive_part).parameters["width"].default
    return BoundsApart(**EXAMPLE, rows=rows, bracket_percent=100 * width)


def _probability(log10_delta: Any) -> float:
    return 10 ** float(log10_delta)


def _percent_above(low: Any, high: Any) -> float:
    """By how many percent 10^high exceeds 10^low."""
    return 100 * (10 ** float(high - low) - 1)
