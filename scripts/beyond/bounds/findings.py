"""The numbers that texts state about delta and its bounds."""

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from scripts.shared.findings import Results, chosen_rows
from scripts.shared.printed import OWN


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


def default_setting(results: Results) -> DefaultSetting:
    """delta at three eps in Table IV's default setting, and at one of them how much the direction matters.

    The setting has n = 100 users, k = 10 values and eps0 = 2. ``rows`` has five deltas for each eps: of the
    count of x0 if 80 of the 99 other users hold x0, of the worst count, and of all counts. ``reverse`` is a
    ratio at ``reverse_eps``, of the count of x0 if no other user holds x0: its delta of x1 against x0 over
    its delta of x0 against x1.

    ``results`` has three tables of log10 delta: "printed_deltas" (of the count of x0, where the paper prints
    it), "corollary_1" (with our bounds in this setting) and "stated_deltas" (the rest).
    """
    table = chosen_rows(results["stated_deltas"], setting="Table IV")
    setting = _setting_of(table)
    of_x0 = chosen_rows(results["printed_deltas"], item="Table IV", **setting)
    rows = []
    for worst in chosen_rows(table, delta="worst count").to_dict("records"):
        eps = worst["eps"]
        # Three parts of Table IV print this setting, and corollary_1 has the same bounds for four datasets.
        count_of_x0 = chosen_rows(of_x0, eps=eps).iloc[0]
        bounds = chosen_rows(results["corollary_1"], eps=eps).iloc[0]
        readings = Readings(
            eps=eps,
            published=_ten_to_the(count_of_x0["published"]),
            exact=_ten_to_the(count_of_x0["exact"]),
            worst=_ten_to_the(worst["log10_delta"]),
            lower=_ten_to_the(bounds["log10_lower"]),
            upper=_ten_to_the(bounds["log10_upper"]),
        )
        rows.append(readings)

    forward = chosen_rows(table, delta="no holder: x0 against x1").iloc[0]
    reverse = chosen_rows(table, delta="no holder: x1 against x0").iloc[0]
    return DefaultSetting(
        **setting,
        count=int(of_x0["count"].iloc[0]),
        rows=rows,
        reverse_eps=reverse["eps"],
        reverse=_ten_to_the(reverse["log10_delta"] - forward["log10_delta"]),
    )


def literature_bounds(results: Results) -> LiteratureBounds:
    """The bounds of the short version's Table 1 at eps = 0.1: the printed digits, and the true values.

    The setting is n = 100 and eps0 = 0.5, and k = 10, which Table 1 does not state. The fields are:

    - rows: for each bound, its name, the digits printed for it (or None), and the delta by the cited theorem
      (or None where it does not apply). The last row is the paper's own: the true delta of the count of x0
    - low, high: our lower bound on delta of all counts, and the privacy blanket's upper bound
    - near_percent: by how many percent high exceeds low
    - times: how many times high the best analytic bound is, that of Balle et al.

    ``results`` has the table "verdicts", with a row of texts for each value that the paper prints, and three
    tables of log10 delta: "cited_bounds" (what the columns of the literature name), "printed_deltas" (of the
    count of x0) and "stated_deltas" (the rest). Raises LookupError if the paper prints nothing at this
    eps.
    """
    eps = 0.1
    rows = chosen_rows(results["verdicts"], item="Table 1", eps=str(eps))
    printed = rows.set_index("mechanism")["printed"]
    cited = chosen_rows(results["cited_bounds"], item="Table 1", eps=eps)
    log10_cited = cited.set_index("mechanism")["cited"]
    own = chosen_rows(results["printed_deltas"], item="Table 1", eps=eps, mechanism=OWN).iloc[0]
    table = chosen_rows(results["stated_deltas"], setting="Table 1", eps=eps)
    log10_stated = table.set_index("delta")["log10_delta"]

    log10_low = log10_stated["lower"]
    log10_high = log10_cited["koskela"]
    named = (  # name, mechanism of the printed value ("": nothing is printed), log10 of the bound
        ("Erlingsson et al., 2019", "erlingsson", log10_cited["erlingsson"]),
        ("Balle et al., 2019 (Bennett)", "balle", log10_cited["balle"]),
        ("Feldman et al., 2021 (summed)", "feldman", log10_cited["feldman"]),
        ("Feldman et al., 2023 (summed)", "", log10_stated["stronger-clones"]),
        ("Koskela et al., 2021 (weak adversary)", "koskela", log10_high),
        ("Biswas et al., count of x0", OWN, own["exact"]),
    )

    bounds = []
    for name, mechanism, log10_bound in named:
        # Where the conditions of the theorem fail, there is no bound.
        bound = None if math.isnan(log10_bound) else _ten_to_the(log10_bound)
        bounds.append(CitedBound(name=name, printed=printed.get(mechanism), bound=bound))
    return LiteratureBounds(
        **_setting_of(table),
        eps=eps,
        rows=bounds,
        low=_ten_to_the(log10_low),
        high=_ten_to_the(log10_high),
        near_percent=_percent_above(log10_low, log10_high),
        times=_ten_to_the(log10_cited["balle"] - log10_high),
    )


def bounds_apart(results: Results) -> BoundsApart:
    """How far our upper bound on delta is above our lower one, at two eps for n = 1,000, k = 15, eps0 = 4.

    ``rows`` has the eps and the percent by which upper exceeds lower. ``bracket_percent`` is the default
    relative width, in percent, of the bracket to which the sum in either bound is computed.

    The table "stated_deltas" in ``results`` has log10 of both bounds.
    """
    table = chosen_rows(results["stated_deltas"], setting="example")
    rows = []
    for eps in table["eps"].unique().tolist():
        log10_bounds = chosen_rows(table, eps=eps).set_index("delta")["log10_delta"]
        percent = _percent_above(log10_bounds["lower"], log10_bounds["upper"])
        rows.append(Width(eps=eps, percent=percent))
    bracket_percent = 100 * table["bracket"].iloc[0]
    return BoundsApart(**_setting_of(table), rows=rows, bracket_percent=bracket_percent)


def _setting_of(rows: pd.DataFrame) -> dict[str, Any]:
    """n, k and eps0 of ``rows``, which all have the same."""
    first = rows.iloc[0]
    return {"n": first["n"], "k": first["k"], "eps0": first["eps0"]}


def _ten_to_the(log10_number: Any) -> float:
    """The number with this log10: a delta, or a ratio of deltas."""
    return 10 ** float(log10_number)


def _percent_above(log10_low: Any, log10_high: Any) -> float:
    """By how many percent 10^log10_high exceeds 10^log10_low."""
    return 100 * (10 ** float(log10_high - log10_low) - 1)
