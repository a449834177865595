"""Tests of the statements about errors: paired over repetitions, at the family-wise level of `verdict_rules`.

Every test takes a `Reading` and gives `Comparisons`; ``where`` chooses settings, as `Reading.pick` takes it.
"Error" is the total variation distance or the individual error, a fraction of n; the smaller the better.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from scripts.beyond.statements.evidence import (
    GAUSSIAN,
    INV,
    RAW_GAUSSIAN,
    SETTING,
    SHUFFLE,
    Budgets,
    NoEvidenceError,
    Reading,
    paired,
)
from scripts.beyond.statements.verdict_rules import (
    LEVEL,
    Comparisons,
    Estimate,
    corrected,
    log_ratio,
    mean,
    signs_below,
    signs_within,
    yes_or_no,
)
from scripts.shared.printed import printed_to_decimal

COMPARABLE = 2.0  # "comparable", "close", "slightly": errors within this factor
INDISTINGUISHABLE = 1.1  # "almost indistinguishable", "the same"


def better(reading: Reading, first: str, second: str, times: float = 1.0, **where: Any) -> Comparisons:
    """Is ``times`` the error of ``first`` below that of ``second`` at every setting?"""
    rows = reading.pick(first, second, **where)
    signs = signs_below([mean(times * a - b) for a, b in zip(rows[first], rows[second], strict=True)])
    ratios = rows[first].map(np.mean) / rows[second].map(np.mean)
    return Comparisons(signs, f"ratio of {first} to {second}", ratios)


def close(reading: Reading, factor: float = COMPARABLE, **where: Any) -> Comparisons:
    """Are the errors of shuffle+INV and the Gaussian within ``factor`` at every setting?"""
    ratios = _gaps(reading.pick(INV, GAUSSIAN, **where), "log ratio")
    return Comparisons(signs_within(ratios, factor), f"ratio of {INV} to {GAUSSIAN}", _exp(ratios))


def small(reading: Reading, limit: float, mechanisms: Collection[str], **where: Any) -> Comparisons:
    """Is the mean error of all ``mechanisms`` below ``limit`` at every setting?"""
    errors = [mean(sample) for sample in reading.pick(*mechanisms, **where)[[*mechanisms]].to_numpy().ravel()]
    return Comparisons(signs_below(errors, limit), "mean error", [error.value for error in errors])


def gap_shrinks(reading: Reading, axis: str, towards: str, gap: str, **where: Any) -> Comparisons:
    """Is the gap between shuffle+INV and the Gaussian smaller at one end of every curve than at the other?

    ``axis`` "n" or "eps0", ``towards`` the end, "large" or "small". The ``gap`` is the size of the
    "difference" of mean errors, the size of the "log ratio", or the "log ratio" itself if it is "signed".
    """
    ends = [
        _gaps(rows, gap.removeprefix("signed ")) for rows in _curves(reading, axis, INV, GAUSSIAN, **where)
    ]
    if not gap.startswith("signed"):
        ends = [[abs(each) for each in end] for end in ends]
    far, near = ends if towards == "large" else ends[::-1]
    unit = f"{gap} smaller at the {towards} end of {axis} by"
    differences = [here - there for here, there in zip(near, far, strict=True)]
    return Comparisons(signs_below(differences), unit, [-each.value for each in differences])


def falls_along(reading: Reading, axis: str, mechanisms: Sequence[str], **where: Any) -> Comparisons:
    """Does every mechanism's error fall from the smallest to the largest value of ``axis`` on every curve?"""
    ends = _curves(reading, axis, *mechanisms, **where)
    first, last = ([mean(sample) for sample in rows[[*mechanisms]].to_numpy().ravel()] for rows in ends)
    ratios = [after.value / before.value for before, after in zip(first, last, strict=True)]
    signs = signs_below([after - before for before, after in zip(first, last, strict=True)])
    return Comparisons(signs, f"ratio of the error at the largest {axis} to that at the smallest", ratios)


def closest_at_corner(reading: Reading, **where: Any) -> Comparisons:
    """Is the gap (log ratio) at the smallest n and the largest eps0 smaller than at every other setting?"""
    rows = reading.pick(INV, GAUSSIAN, **where)
    corner = rows.index.isin(reading.pick(INV, GAUSSIAN, ends="corner", **where).index)
    rows["gap"] = pd.Series([abs(each) for each in _gaps(rows, "log ratio")], rows.index, dtype=object)
    pairs = rows[corner].merge(rows[~corner], on=["dataset", "rule"], suffixes=("", "_other"))
    if pairs.empty:
        raise NoEvidenceError(f"the config's {reading.name} experiments have one setting only")
    differences = pairs["gap"] - pairs["gap_other"]
    return Comparisons(signs_below([*differences]), "ratio there", _exp(pairs["gap"]))


def depends_on_cell(reading: Reading, **where: Any) -> Comparisons:
    """Does the ratio of the two errors differ between cells? Cochran's Q on the logs of the ratios."""
    rows = reading.pick(INV, GAUSSIAN, metric="individual_error", **where)
    p_values, ratios = [], []
    for _, group in rows.groupby(["dataset", "n", "eps0", "rule"]):
        logs = _gaps(group, "log ratio")
        weights = np.array([1 / each.error**2 for each in logs])
        values = np.array([each.value for each in logs])
        spread = np.sum(weights * (values - np.average(values, weights=weights)) ** 2)
        p_values.append(special.chdtrc(len(logs) - 1, spread))
        ratios += _exp(logs)
    return Comparisons((corrected(p_values) <= LEVEL).astype(int), f"ratio of {INV} to {GAUSSIAN}", ratios)


def same_noise_for_all_n(reading: Reading, **where: Any) -> Comparisons:
    """Is the Gaussian's individual error, in users, the same at the smallest and the largest n?

    All cells of a run together. On the exact reading it is so by definition: at one (eps, delta) the
    calibration has no n in it.
    """
    name = RAW_GAUSSIAN if reading.is_exact else GAUSSIAN  # the noise itself, not projected
    first, last = _curves(reading, "n", name, metric="individual_error", **where)
    if reading.is_exact:
        return Comparisons(yes_or_no([True]))
    totals = [np.sum(np.stack([*(rows[name] * rows["n"])]), axis=0) for rows in (first, last)]
    before, after = (log_ratio(total, np.ones(len(total))) for total in totals)
    change = after - before
    return Comparisons(signs_within([change], INDISTINGUISHABLE), "ratio", _exp([change]))


def same_order(reading: Reading, model: Budgets, tested: Budgets) -> Comparisons:
    """Do the three mechanisms have the same order at every setting as, on the whole, in the model?

    ``model`` and ``tested``: one dataset each. With the same eps0s in both, each eps0 has its own order.
    """
    names = [GAUSSIAN, INV, SHUFFLE]
    like, rows = (reading.pick(*names, budgets=budgets) for budgets in (model, tested))
    alone = [*model.values()] != [*tested.values()]
    differences = []
    for (rule, eps0), group in rows.groupby(["rule", "eps0"]):
        alike = like[(like["rule"] == rule) & (alone | (like["eps0"] == eps0))]
        order = alike[names].map(np.mean).sum().sort_values().index
        for first, second in pairwise(order):
            differences += [mean(a - b) for a, b in zip(group[first], group[second], strict=True)]
    return Comparisons(signs_below(differences))


def printed(
    reading: Reading, test: Callable[..., Comparisons], over_cells: bool = False, **where: Any
) -> Comparisons:
    """``test`` on the errors that the paper prints for N(0, 2), one run at each n.

    ``over_cells``: on their mean over the cells.
    """
    rows = reading.values
    rows = rows[(rows["dataset"] == "synthetic") & (rows["quantity"] == where.get("metric", "tv"))]
    if rows.empty:
        raise NoEvidenceError("there are no printed errors")
    errors = rows["printed"].map(printed_to_decimal).astype(float)
    cells = 0 if over_cells else rows["x0"].fillna(0).astype(int)
    rows = rows.assign(value=errors, cell=cells, metric=rows["quantity"], delta=0.0, rule="")
    means = rows.groupby([*SETTING, "mechanism"], as_index=False)["value"].mean()
    twice = pd.concat([means.assign(repetition=each) for each in (0, 1)])
    return test(replace(reading, settings=paired(twice, ["mechanism"])), **where)


def _curves(reading: Reading, axis: str, *mechanisms: str, **where: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The settings at the smallest and at the largest ``axis``, of those that differ in it only."""
    others = [name for name in ("dataset", "eps0", "rule", "n", "metric", "cell") if name != axis]
    rows = reading.pick(*mechanisms, **where).sort_values([*others, axis])
    rows = rows[rows.groupby(others)[axis].transform("size") > 1]
    if rows.empty:
        raise NoEvidenceError(f"the config's {reading.name} experiments have one {axis} only")
    return rows.drop_duplicates(others), rows.drop_duplicates(others, keep="last")


def _gaps(rows: pd.DataFrame, gap: str) -> list[Estimate]:
    """shuffle+INV against the Gaussian at each setting: "log ratio" of mean errors, or their "difference"."""
    pairs = zip(rows[INV], rows[GAUSSIAN], strict=True)
    return [log_ratio(a, b) if gap == "log ratio" else mean(a - b) for a, b in pairs]


def _exp(logs: Sequence[Estimate] | pd.Series) -> list[float]:
    """The ratios of which these are the logs."""
    return [float(np.exp(each.value)) for each in logs]
