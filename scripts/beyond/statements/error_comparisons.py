"""What the statements about errors compare: paired over repetitions, at the level of `verdict_rules`.

Every function takes a `Reading` and the `Selection` of settings that count, and returns `Comparisons`.
"Error" is the total variation distance or the individual error, a fraction of n; the smaller the better.
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy import special

from scripts.beyond.statements.evidence import (
    EVERYWHERE,
    GAUSSIAN,
    INV,
    RAW_GAUSSIAN,
    SETTING,
    SHUFFLE,
    Budgets,
    Ends,
    NoEvidenceError,
    Reading,
    Selection,
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


class Gap(Enum):
    """How far shuffle+INV is from the Gaussian: of their mean errors one of these."""

    DIFFERENCE = "difference"  # without its sign
    LOG_RATIO = "log ratio"  # without its sign
    SIGNED_LOG_RATIO = "signed log ratio"


def is_better(
    reading: Reading, first: str, second: str, selection: Selection = EVERYWHERE, times: float = 1.0
) -> Comparisons:
    """Is ``times`` the error of ``first`` below that of ``second`` at every setting?"""
    rows = reading.pick(first, second, selection=selection)
    pairs = zip(rows[first], rows[second], strict=True)
    differences = [
        mean(times * first_sample - second_sample) for first_sample, second_sample in pairs
    ]
    ratios = rows[first].map(np.mean) / rows[second].map(np.mean)
    return Comparisons(signs_below(differences), f"ratio of {first} to {second}", ratios)


def is_close(reading: Reading, selection: Selection, factor: float = COMPARABLE) -> Comparisons:
    """Are the errors of shuffle+INV and the Gaussian within ``factor`` at every setting?"""
    ln_ratios = _ln_ratios(reading.pick(INV, GAUSSIAN, selection=selection))
    signs = signs_within(ln_ratios, factor)
    return Comparisons(signs, f"ratio of {INV} to {GAUSSIAN}", _ratios(ln_ratios))


def is_small(
    reading: Reading, mechanisms: Sequence[str], limit: float, selection: Selection
) -> Comparisons:
    """Is the mean error of all ``mechanisms`` below ``limit`` at every setting?"""
    samples = reading.pick(*mechanisms, selection=selection)[[*mechanisms]]
    errors = [mean(sample) for sample in samples.to_numpy().ravel()]
    return Comparisons(signs_below(errors, limit), "mean error", [error.value for error in errors])


def gap_is_smaller_at_end(
    reading: Reading, axis: str, end: str, gap: Gap, selection: Selection
) -> Comparisons:
    """Is the gap between shuffle+INV and the Gaussian smaller at one end of every curve than at the other?

    ``axis``: "n" or "eps0", along which a curve runs; ``end``: "small" or "large", where it is smaller.
    """
    at_smallest, at_largest = _ends_of_curves(reading, axis, [INV, GAUSSIAN], selection)
    near, far = (at_smallest, at_largest) if end == "small" else (at_largest, at_smallest)
    differences = []
    for gap_near, gap_far in zip(_gaps(near, gap), _gaps(far, gap), strict=True):
        differences.append(gap_near - gap_far)
    unit = f"{gap.value} smaller at the {end} end of {axis} by"
    return Comparisons(
        signs_below(differences), unit, [-difference.value for difference in differences]
    )


def falls_along(
    reading: Reading, axis: str, mechanisms: Sequence[str], selection: Selection
) -> Comparisons:
    """Does every mechanism's error fall from the smallest to the largest value of ``axis`` on every curve?"""
    at_smallest, at_largest = _ends_of_curves(reading, axis, mechanisms, selection)
    first = [mean(sample) for sample in at_smallest[[*mechanisms]].to_numpy().ravel()]
    last = [mean(sample) for sample in at_largest[[*mechanisms]].to_numpy().ravel()]
    pairs = list(zip(first, last, strict=True))
    ratios = [after.value / before.value for before, after in pairs]
    signs = signs_below([after - before for before, after in pairs])
    return Comparisons(
        signs, f"ratio of the error at the largest {axis} to that at the smallest", ratios
    )


def is_closest_at_corner(reading: Reading, selection: Selection) -> Comparisons:
    """Is the gap (log ratio) at the smallest n and the largest eps0 smaller than at every other setting?"""
    rows = reading.pick(INV, GAUSSIAN, selection=selection)
    corner = reading.pick(INV, GAUSSIAN, selection=replace(selection, ends=Ends.CORNER))
    is_corner = rows.index.isin(corner.index)
    rows["gap"] = pd.Series(_gaps(rows, Gap.LOG_RATIO), rows.index, dtype=object)
    pairs = rows[is_corner].merge(rows[~is_corner], on=["dataset", "rule"], suffixes=("", "_other"))
    if pairs.empty:
        raise NoEvidenceError(f"the config's {reading.name} experiments have one setting only")
    differences = pairs["gap"] - pairs["gap_other"]
    return Comparisons(signs_below([*differences]), "ratio there", _ratios(pairs["gap"]))


def differs_between_cells(reading: Reading, selection: Selection) -> Comparisons:
    """Does the ratio of the two errors differ between cells? Cochran's Q on the logs of the ratios."""
    rows = reading.pick(INV, GAUSSIAN, selection=selection)
    p_values = []
    ratios = []
    for _, group in rows.groupby(["dataset", "n", "eps0", "rule"]):
        ln_ratios = _ln_ratios(group)
        weights = np.array([1 / estimate.error**2 for estimate in ln_ratios])
        values = np.array([estimate.value for estimate in ln_ratios])
        spread = np.sum(weights * (values - np.average(values, weights=weights)) ** 2)
        p_values.append(special.chdtrc(len(ln_ratios) - 1, spread))
        ratios += _ratios(ln_ratios)
    signs = (corrected(p_values) <= LEVEL).astype(int)
    return Comparisons(signs, f"ratio of {INV} to {GAUSSIAN}", ratios)


def has_same_noise_for_all_n(reading: Reading, selection: Selection) -> Comparisons:
    """Is the Gaussian's individual error, in users, the same at the smallest and the largest n?

    All cells of a run together. On the exact reading it is so by definition: at one (eps, delta) the
    calibration has no n in it.
    """
    gaussian = RAW_GAUSSIAN if reading.is_exact else GAUSSIAN  # the noise itself, not projected
    at_smallest, at_largest = _ends_of_curves(reading, "n", [gaussian], selection)
    if reading.is_exact:
        return Comparisons(yes_or_no([True]))

    ln_errors = []
    for rows in (at_smallest, at_largest):
        errors_of_cells = np.stack([*(rows[gaussian] * rows["n"])])
        error = errors_of_cells.sum(axis=0)
        ln_errors.append(log_ratio(error, np.ones(len(error))))
    ln_change = ln_errors[1] - ln_errors[0]
    return Comparisons(signs_within([ln_change], INDISTINGUISHABLE), "ratio", _ratios([ln_change]))


def has_same_order(reading: Reading, model: Budgets, tested: Budgets) -> Comparisons:
    """Do the three mechanisms have the same order at every setting as, on the whole, in the model?

    ``model`` and ``tested``: one dataset each. With the same eps0s in both, each eps0 has its own order.
    """
    mechanisms = [GAUSSIAN, INV, SHUFFLE]
    model_rows = reading.pick(*mechanisms, selection=Selection(budgets=model))
    tested_rows = reading.pick(*mechanisms, selection=Selection(budgets=tested))
    same_eps0 = [*model.values()] == [*tested.values()]
    differences = []
    for (rule, eps0), group in tested_rows.groupby(["rule", "eps0"]):
        models = model_rows[model_rows["rule"] == rule]
        if same_eps0:
            models = models[models["eps0"] == eps0]
        order = models[mechanisms].map(np.mean).sum().sort_values().index
        for better, worse in pairwise(order):
            pairs = zip(group[better], group[worse], strict=True)
            differences += [
                mean(better_sample - worse_sample) for better_sample, worse_sample in pairs
            ]
    return Comparisons(signs_below(differences))


def errors_as_printed(reading: Reading, metric: str, over_cells: bool = False) -> Reading:
    """The published reading with the errors that the paper prints for N(0, 2); the exact one as it is.

    Its settings then have one array of errors for each mechanism and n. ``metric``: "tv" or
    "individual_error". The paper prints one run at each n. ``over_cells``: the mean of a run's errors over
    the cells, which then count as one, instead of a setting for each cell.
    """
    if reading.is_exact:
        return reading
    rows = reading.values
    rows = rows[(rows["dataset"] == "synthetic") & (rows["quantity"] == metric)]
    if rows.empty:
        raise NoEvidenceError("there are no printed errors")

    errors = rows["printed"].map(printed_to_decimal).astype(float)
    cells = 0 if over_cells else rows["x0"].fillna(0).astype(int)
    # At eps = eps0 the paper's delta is 0, which no rule chooses.
    rows = rows.assign(value=errors, cell=cells, metric=metric, delta=0.0, rule="")
    means = rows.groupby([*SETTING, "mechanism"], as_index=False)["value"].mean()
    # The mean twice: two equal repetitions have no spread.
    twice = pd.concat([means.assign(repetition=repetition) for repetition in (0, 1)])
    return replace(reading, settings=paired(twice, ["mechanism"]))


def _ends_of_curves(
    reading: Reading, axis: str, mechanisms: Sequence[str], selection: Selection
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The settings at the smallest and at the largest ``axis``, of those that differ in it only."""
    others = [name for name in ("dataset", "eps0", "rule", "n", "metric", "cell") if name != axis]
    rows = reading.pick(*mechanisms, selection=selection).sort_values([*others, axis])
    rows = rows[rows.groupby(others)[axis].transform("size") > 1]
    if rows.empty:
        raise NoEvidenceError(f"the config's {reading.name} experiments have one {axis} only")
    return rows.drop_duplicates(others), rows.drop_duplicates(others, keep="last")


def _gaps(rows: pd.DataFrame, gap: Gap) -> list[Estimate]:
    """The gap at each setting."""
    if gap is Gap.DIFFERENCE:
        pairs = zip(rows[INV], rows[GAUSSIAN], strict=True)
        return [abs(mean(inverted - gaussian)) for inverted, gaussian in pairs]
    ln_ratios = _ln_ratios(rows)
    if gap is Gap.SIGNED_LOG_RATIO:
        return ln_ratios
    return [abs(ln_ratio) for ln_ratio in ln_ratios]


def _ln_ratios(rows: pd.DataFrame) -> list[Estimate]:
    """ln of the mean error of shuffle+INV over the Gaussian's, at each setting."""
    pairs = zip(rows[INV], rows[GAUSSIAN], strict=True)
    return [log_ratio(inverted, gaussian) for inverted, gaussian in pairs]


def _ratios(ln_ratios: Sequence[Estimate] | pd.Series) -> list[float]:
    """The ratios of which these are the logs."""
    return [float(np.exp(ln_ratio.value)) for ln_ratio in ln_ratios]
