"""What the page's headline says, computed from the results: the theorem, the audit, parity.

Everything here takes and returns plain values. Rows are dicts of strings, as a CSV file has them.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from reproduction.verification.printed import Row
from reproduction.verification.verdicts import VERDICT_COLUMNS, gaps

NEARLY = 0.05  # errors that differ by at most this share count as nearly the same
SETTING = ("dataset", "n", "k", "eps0", "delta")
COMPARISONS = ("unprojected", "projected", "maximum likelihood", "the paper's pairing")  # of parity_ratio.csv


@dataclass(frozen=True)
class Theorem:
    """How far the published delta of Table IV is from the exact one."""

    largest: float
    below: int  # rows in which the published delta is the smaller one,
    of: int  # of those in which both readings are positive


def theorem(verdicts: Iterable[Row]) -> Theorem | None:
    """The finding on Table IV; None where no row has both readings."""
    rows = [row for row in verdicts if row["item"] == "Table IV"]
    distances = gaps(pd.DataFrame(rows, columns=[*VERDICT_COLUMNS]))
    if distances.empty:
        return None
    return Theorem(largest=distances.max(), below=int((distances > 0).sum()), of=len(distances))


@dataclass(frozen=True)
class Audit:
    """How often the audit's lower bounds on delta exceed the published delta, and how often ``upper``."""

    of: int  # rows
    seen: int  # rows in which the attack sees anything: the row's own bound is above 0
    alone: int  # rows in which the row's own bound exceeds the published delta
    published: int  # rows in which the bound that holds for all rows together exceeds the published delta
    upper: int  # rows in which the row's own, larger bound exceeds upper
    example: tuple[Row, str] | None  # a row in which x0's count alone contradicts a delta; what is printed


def audit(rows: Sequence[Row], verdicts: Iterable[Row] = ()) -> Audit:
    """The finding on ``rows`` of results/audit.csv.

    The example is a setting of Table IV (``verdicts``), of those with the most runs the one whose joint bound
    is the most orders of magnitude above the published delta.
    """
    printed = {_setting(row): row["printed"] for row in verdicts if row["item"] == "Table IV"}
    above = [(excess(row, "joint_delta", "published_log10_delta"), row) for row in rows]
    examples = [
        (float(row["runs"]), orders, place)
        for place, (orders, row) in enumerate(above)
        if orders > 0 and row["observes"] == "count" and _setting(row) in printed
    ]
    example = above[max(examples)[2]][1] if examples else None
    return Audit(
        of=len(rows),
        seen=sum(float(row["audited_delta"]) > 0 for row in rows),
        alone=sum(excess(row, "audited_delta", "published_log10_delta") > 0 for row in rows),
        published=sum(orders > 0 for orders, _ in above),
        upper=sum(excess(row, "audited_delta", "upper_log10_delta") > 0 for row in rows),
        example=(example, printed[_setting(example)]) if example else None,
    )


def _setting(row: Row) -> tuple[float, ...]:
    return tuple(float(row[name]) if row[name] else math.nan for name in ("n", "k", "eps0", "eps", "count"))


def excess(row: Row, audited: str, reading: str) -> float:
    """log10 of the column ``audited`` minus the reading's log10 delta; -inf where the audit shows nothing."""
    delta = float(row[audited])
    return math.log10(delta) - float(row[reading]) if delta > 0 else -math.inf


@dataclass(frozen=True)
class Comparison:
    """Both mechanisms at one setting and equal (eps, delta), errors measured by one metric.

    ``means``: (mechanism, estimator) -> mean error. ``ratios``: comparison -> row of parity_ratio.csv: ratio,
    low, high (bootstrap interval), predicted.
    """

    setting: dict[str, float | str]
    eps: float
    means: dict[tuple[str, str], float]
    ratios: dict[str, Row]


def comparisons(
    means: Iterable[Row], ratios: Iterable[Row], *, metric: str = "tv", bound: str = "upper"
) -> list[Comparison]:
    """The `Comparison` of every setting, in order.

    ``means`` and ``ratios`` are the rows of parity.csv and parity_ratio.csv. Raises ValueError
    where two rows say the same, or a setting has means only or ratios only.
    """
    by_setting: dict[tuple[float | str, ...], Comparison] = {}

    def at(row: Row) -> Comparison:
        key: tuple[float | str, ...] = (row["dataset"], *(float(row[name]) for name in SETTING[1:]))
        new = Comparison(dict(zip(SETTING, key, strict=True)), float(row["eps"]), {}, {})
        return by_setting.setdefault(key, new)

    for row in means:
        if (row["metric"], row["bound"]) == (metric, bound):
            kind = row["mechanism"], row["estimator"]
            _put(at(row).means, kind, float(row["mean"]), "parity.csv")
    for row in ratios:
        if (row["metric"], row["bound"]) == (metric, bound):
            _put(at(row).ratios, row["comparison"], row, "parity_ratio.csv")
    for comparison in by_setting.values():
        if not comparison.means or not comparison.ratios:
            raise ValueError(
                f"only one of parity.csv, parity_ratio.csv has {comparison.setting}; make them again"
            )
    return list(by_setting.values())


def _put(values: dict[Any, Any], key: Any, value: Any, name: str) -> None:
    if key in values:
        raise ValueError(f"{name}: two rows of {key} for one setting; make the file again")
    values[key] = value


@dataclass(frozen=True)
class Parity:
    """The ratio of errors, shuffle+INV over Gaussian, over the informative settings.

    A setting is informative if at least one mechanism, projected, errs less than the uniform histogram, which
    knows no data (`parity_summary.summarise_parity`).
    """

    least: tuple[float, Comparison]
    most: tuple[float, Comparison]
    nearly: int  # settings in which the errors differ by at most `NEARLY`,
    better: int  # and in which shuffle+INV has the smaller one,
    of: int  # of all informative ones
    settings: int  # informative or not
    better_anywhere: int  # settings, informative or not, in which shuffle+INV has the smaller error
    repetitions: int  # the fewest
    by_eps0: dict[float, tuple[float, float]]  # eps0 -> (least, most) ratio


def parity(compared: Iterable[Comparison], kind: str = "unprojected") -> Parity | None:
    """The finding on one of `COMPARISONS`; None where no informative setting has it."""
    everywhere = [(float(one.ratios[kind]["ratio"]), one) for one in compared if kind in one.ratios]
    ratios = [(ratio, one) for ratio, one in everywhere if one.ratios[kind]["informative"] == "True"]
    if not ratios:
        return None
    by_eps0: dict[float, tuple[float, float]] = {}
    for ratio, one in sorted(ratios, key=lambda pair: pair[1].setting["eps0"]):
        eps0 = float(one.setting["eps0"])
        low, high = by_eps0.get(eps0, (ratio, ratio))
        by_eps0[eps0] = (min(low, ratio), max(high, ratio))
    return Parity(
        least=min(ratios, key=lambda pair: pair[0]),
        most=max(ratios, key=lambda pair: pair[0]),
        nearly=sum(1 / (1 + NEARLY) <= ratio <= 1 + NEARLY for ratio, _ in ratios),
        better=sum(ratio < 1 for ratio, _ in ratios),
        of=len(ratios),
        settings=len(everywhere),
        better_anywhere=sum(ratio < 1 for ratio, _ in everywhere),
        repetitions=min(int(float(one.ratios[kind]["repetitions"])) for _, one in ratios),
        by_eps0=by_eps0,
    )
