"""What the statements about errors compare: paired over repetitions, at the level of `verdict_rules`.

Every function takes a `Reading` and the `Selection` of settings that count, and returns `Comparisons`.
"Error" is the total variation distance or the individual error, a fraction of n; the smaller the better. A
curve are the selected settings that differ in one ``axis`` only, "n" or "eps0".
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
    SETTING_COLUMNS,
    SHUFFLE,
    Budgets,
    Ends,
    NoEvidenceError,
    Reading,
    Selection,
    paired_settings,
)
from scripts.beyond.statements.verdict_rules import (
    LEVEL,
    Comparisons,
    Estimate,
    estimated_mean,
    holm_corrected,
    ln_ratio_of_means,
    signs_below,
    signs_where,
    signs_within,
)
from scripts.shared.printed import printed_to_decimal

COMPARABLE = 2.0  # "comparable", "close", "slightly": errors within this factor
INDISTINGUISHABLE = 1.1  # "almost indistinguishable", "the same"


class Gap(Enum):
    """By which measure the mean errors of shuffle+INV and the Gaussian are apart."""

    DIFFERENCE = "difference"  # the absolute value
    LOG_RATIO = "log ratio"  # the absolute value of ln(shuffle+INV's / the Gaussian's)
    SIGNED_LOG_RATIO = "signed log ratio"  # ln(shuffle+INV's / the Gaussian's)


def is_better(
    reading: Reading, first: str, second: str, selection: Selection = EVERYWHERE, times: float = 1.0
) -> Comparisons:
    """Whether ``times`` the mean error of mechanism ``first`` is below that of ``second``: a sign a setting.

    The numbers are the ratios of the mean errors, of ``first`` to ``second``.
    """
    rows = reading.pick(first, second, selection=selection)
    differences = []
    for first_sample, second_sample in zip(rows[first], rows[second], strict=True):
        differences.append(estimated_mean(times * first_sample - second_sample))
    ratios = rows[first].map(np.mean) / rows[second].map(np.mean)
    return Comparisons(signs_below(differences), f"ratio of {first} to {second}", ratios)


def is_close(reading: Reading, selection: Selection, factor: float = COMPARABLE) -> Comparisons:
    """Whether the mean errors of shuffle+INV and the Gaussian are within a ``factor``: a sign per setting.

    The numbers are the ratios of the mean errors, of shuffle+INV to the Gaussian.
    """
    ln_ratios = _ln_ratios_of_errors(reading.pick(INV, GAUSSIAN, selection=selection))
    signs = signs_within(ln_ratios, factor)
    return Comparisons(signs, f"ratio of {INV} to {GAUSSIAN}", _estimated_ratios(ln_ratios))


def is_small(
    reading: Reading, mechanisms: Sequence[str], limit: float, selection: Selection
) -> Comparisons:
    """Whether the mean error is below ``limit``: a sign for each setting and each of ``mechanisms``.

    The numbers are the mean errors.
    """
    samples = reading.pick(*mechanisms, selection=selection)[[*mechanisms]]
    errors = [estimated_mean(sample) for sample in samples.to_numpy().ravel()]
    return Comparisons(signs_below(errors, limit), "mean error", [error.value for error in errors])


def gap_is_smaller_at_end(
    reading: Reading, axis: str, end: str, gap: Gap, selection: Selection
) -> Comparisons:
    """Whether two mechanisms are closer at one end of a curve than at its other end: a sign per curve.

    The mechanisms are shuffle+INV and the Gaussian. Their ``gap`` at a setting is the difference of their
    mean errors or the ln of the ratio of these. ``end`` is where the gap is to be smaller: "small" for the
    smallest value of the axis, "large" for the largest.

    The numbers are the gap at the other end less the gap at this one.
    """
    at_smallest, at_largest = _settings_at_ends_of_curves(reading, axis, [INV, GAUSSIAN], selection)
    here, there = (at_smallest, at_largest) if end == "small" else (at_largest, at_smallest)
    gaps_here = _estimated_gaps(here, gap)
    gaps_there = _estimated_gaps(there, gap)
    differences = []
    for gap_here, gap_there in zip(gaps_here, gaps_there, strict=True):
        differences.append(gap_here - gap_there)
    smaller_by = [-difference.value for difference in differences]
    unit = f"{gap.value} smaller at the {end} end of {axis} by"
    return Comparisons(signs_below(differences), unit, smaller_by)


def falls_along(
    reading: Reading, axis: str, mechanisms: Sequence[str], selection: Selection
) -> Comparisons:
    """Whether the mean error falls from the smallest to the largest ``axis``: a sign per curve and mechanism.

    The numbers are the ratios of the mean error at the largest value of the axis to that at the smallest.
    """
    at_smallest, at_largest = _settings_at_ends_of_curves(reading, axis, mechanisms, selection)
    # A sample is the array of errors (repetitions,) of one setting and mechanism.
    first_samples = at_smallest[[*mechanisms]].to_numpy().ravel()
    last_samples = at_largest[[*mechanisms]].to_numpy().ravel()
    changes = []
    ratios = []
    for first_sample, last_sample in zip(first_samples, last_samples, strict=True):
        first = estimated_mean(first_sample)
        last = estimated_mean(last_sample)
        changes.append(last - first)
        ratios.append(last.value / first.value)
    unit = f"ratio of the error at the largest {axis} to that at the smallest"
    return Comparisons(signs_below(changes), unit, ratios)


def is_closest_at_smallest_n_and_largest_eps0(
    reading: Reading, selection: Selection
) -> Comparisons:
    """Whether two mechanisms are closest at the smallest n and largest eps0: a sign for each other setting.

    The mechanisms are shuffle+INV and the Gaussian. They are the closer, the closer the ratio of their mean
    errors is to 1. The corner of a dataset and rule for delta are the selected settings at the largest eps0
    and the smallest n there. It is compared with each other selected setting of this dataset and rule.

    The numbers are the ratios in the corner, of the larger mean error to the smaller one.
    """
    rows = reading.pick(INV, GAUSSIAN, selection=selection)
    only_corners = replace(selection, ends=Ends.SMALLEST_N_AT_LARGEST_EPS0)
    corner = reading.pick(INV, GAUSSIAN, selection=only_corners)
    is_corner = rows.index.isin(corner.index)
    rows["gap"] = pd.Series(_estimated_gaps(rows, Gap.LOG_RATIO), rows.index, dtype=object)
    pairs = rows[is_corner].merge(rows[~is_corner], on=["dataset", "rule"], suffixes=("", "_other"))
    if pairs.empty:
        raise NoEvidenceError(f"the config's {reading.name} experiments have one setting only")
    differences = pairs["gap"] - pairs["gap_other"]
    return Comparisons(signs_below([*differences]), "ratio there", _estimated_ratios(pairs["gap"]))


def differs_between_cells(reading: Reading, selection: Selection) -> Comparisons:
    """Whether the ratio of two individual errors differs between a setting's cells: a sign per setting.

    The ratio is that of the mean errors of one cell, shuffle+INV's to the Gaussian's. A setting is a dataset,
    n, eps0 and rule for delta. The sign is +1 if equal ratios in all its cells are rejected at `LEVEL`, after
    Holm's correction over the settings, else 0.

    Cochran's test: if the ratios are equal, Q = sum_i w_i (x_i - x)^2 has a chi-square distribution with one
    degree of freedom less than there are cells. x_i is the ln of the ratio in cell i, w_i = 1 / (the standard
    error of x_i)^2, and x the mean of the x_i with the weights w_i.

    The numbers are the ratios of all cells.
    """
    rows = reading.pick(INV, GAUSSIAN, selection=selection)
    p_values = []
    ratios = []
    for _, cells in rows.groupby(["dataset", "n", "eps0", "rule"]):
        ln_ratios = _ln_ratios_of_errors(cells)
        weights = np.array([1 / estimate.standard_error**2 for estimate in ln_ratios])
        values = np.array([estimate.value for estimate in ln_ratios])
        weighted_mean = np.average(values, weights=weights)
        q = np.sum(weights * (values - weighted_mean) ** 2)
        p_values.append(special.chdtrc(len(ln_ratios) - 1, q))  # P(chi-square > q)
        ratios += _estimated_ratios(ln_ratios)
    signs = (holm_corrected(p_values) <= LEVEL).astype(int)
    return Comparisons(signs, f"ratio of {INV} to {GAUSSIAN}", ratios)


def has_same_noise_for_all_n(reading: Reading, selection: Selection) -> Comparisons:
    """Whether the Gaussian's mean error, in users, is the same at the smallest and the largest n: one sign.

    "The same" is within a factor of `INDISTINGUISHABLE`, 1.1. A setting's error is that of all its cells
    together: the individual errors of a repetition are summed over the cells. The number is the ratio of the
    mean error at the largest n to that at the smallest.

    On the exact reading the sign is +1 by definition, without a number: n does not enter the noise for an
    (eps, delta). But the reading must have more than one n. Raises `NoEvidenceError` if it has not.
    """
    # The error of the noise itself: on the exact reading "gaussian" is projected to the simplex.
    gaussian = RAW_GAUSSIAN if reading.is_exact else GAUSSIAN
    at_smallest, at_largest = _settings_at_ends_of_curves(reading, "n", [gaussian], selection)
    if reading.is_exact:
        return Comparisons(signs_where([True]))

    ln_errors = []
    for cells in (at_smallest, at_largest):
        errors_in_users = np.stack([*(cells[gaussian] * cells["n"])])  # (cells, repetitions)
        summed = errors_in_users.sum(axis=0)  # (repetitions,)
        # The ratio to 1, as ln(mean error) is wanted.
        ln_errors.append(ln_ratio_of_means(summed, np.ones(len(summed))))
    ln_error_at_smallest, ln_error_at_largest = ln_errors
    ln_change = ln_error_at_largest - ln_error_at_smallest
    signs = signs_within([ln_change], INDISTINGUISHABLE)
    return Comparisons(signs, "ratio", _estimated_ratios([ln_change]))


def has_same_order(reading: Reading, model: Budgets, tested: Budgets) -> Comparisons:
    """Whether three mechanisms are in the same order as in a model: two signs for each tested setting.

    The mechanisms are the Gaussian, shuffle+INV and shuffle (the noisy histogram itself), in the order of
    their mean errors. ``model`` and ``tested`` are one dataset each -> its values of eps0. The model's order
    is that of the mean errors summed over its settings. If the model has the same values of eps0, each eps0
    has an order of its own. Otherwise all settings of the model together have one. The rules for delta are
    kept apart.

    A sign is of two mechanisms that are next to each other in the model's order. It is +1 if the first has
    the smaller mean error at the tested setting, too.
    """
    mechanisms = [GAUSSIAN, INV, SHUFFLE]
    model_rows = reading.pick(*mechanisms, selection=Selection(budgets=model))
    tested_rows = reading.pick(*mechanisms, selection=Selection(budgets=tested))
    has_same_eps0s = [*model.values()] == [*tested.values()]
    differences = []
    for (rule, eps0), tested_group in tested_rows.groupby(["rule", "eps0"]):
        model_group = model_rows[model_rows["rule"] == rule]
        if has_same_eps0s:
            model_group = model_group[model_group["eps0"] == eps0]
        summed_errors = model_group[mechanisms].map(np.mean).sum()
        order = summed_errors.sort_values().index  # names of mechanisms, the best first
        for better, worse in pairwise(order):
            samples = zip(tested_group[better], tested_group[worse], strict=True)
            for better_sample, worse_sample in samples:
                differences.append(estimated_mean(better_sample - worse_sample))
    return Comparisons(signs_below(differences))


def errors_as_printed(reading: Reading, metric: str, mean_over_cells: bool = False) -> Reading:
    """The published reading with the errors that the paper prints for its synthetic data, N(0, 2).

    These replace the errors of our own runs. The exact ``reading`` is returned as it is. ``metric`` is "tv"
    or "individual_error". The paper prints one run at each n, with the individual errors of several cells.
    Each of these is a setting. With ``mean_over_cells`` their mean is one setting instead.

    A setting has an array of the printed error twice for each mechanism: two equal repetitions, whose
    standard error is 0. Raises `NoEvidenceError` if there are no printed errors of the metric.
    """
    if reading.is_exact:
        return reading
    rows = reading.values
    rows = rows[(rows["dataset"] == "synthetic") & (rows["quantity"] == metric)]
    if rows.empty:
        raise NoEvidenceError("there are no printed errors")

    errors = rows["printed"].map(printed_to_decimal).astype(float)
    # 0 stands for no single cell, as that of "tv", whose x0 is nan.
    cells = 0 if mean_over_cells else rows["x0"].fillna(0).astype(int)
    # The paper prints errors at eps = eps0, where its delta is 0, which no rule chooses.
    rows = rows.assign(value=errors, cell=cells, metric=metric, delta=0.0, rule="")
    means = rows.groupby([*SETTING_COLUMNS, "mechanism"], as_index=False)["value"].mean()
    twice = pd.concat([means.assign(repetition=repetition) for repetition in (0, 1)])
    return replace(reading, settings=paired_settings(twice, ["mechanism"]))


def _settings_at_ends_of_curves(
    reading: Reading, axis: str, mechanisms: Sequence[str], selection: Selection
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(at smallest, at largest): the setting at the smallest and at the largest ``axis`` of every curve.

    A curve of a single setting is left out. Both tables have the rows and columns of `Reading.pick`, one row
    per curve, in the same order of the curves. Raises `NoEvidenceError` if no curve is left.
    """
    fixed = [name for name in ("dataset", "eps0", "rule", "n", "metric", "cell") if name != axis]
    rows = reading.pick(*mechanisms, selection=selection).sort_values([*fixed, axis])
    rows = rows[rows.groupby(fixed)[axis].transform("size") > 1]
    if rows.empty:
        raise NoEvidenceError(f"the config's {reading.name} experiments have one {axis} only")
    return rows.drop_duplicates(fixed), rows.drop_duplicates(fixed, keep="last")


def _estimated_gaps(rows: pd.DataFrame, gap: Gap) -> list[Estimate]:
    """How far the mean errors of shuffle+INV and the Gaussian are apart, by this measure, for each row.

    ``rows`` are settings, with arrays of errors (repetitions,) in the columns "shuffle+INV" and "gaussian".
    """
    if gap is Gap.DIFFERENCE:
        pairs = zip(rows[INV], rows[GAUSSIAN], strict=True)
        return [abs(estimated_mean(inverted - gaussian)) for inverted, gaussian in pairs]
    ln_ratios = _ln_ratios_of_errors(rows)
    if gap is Gap.SIGNED_LOG_RATIO:
        return ln_ratios
    return [abs(ln_ratio) for ln_ratio in ln_ratios]


def _ln_ratios_of_errors(rows: pd.DataFrame) -> list[Estimate]:
    """ln of the ratio of the mean errors, shuffle+INV's to the Gaussian's, for each setting in ``rows``."""
    pairs = zip(rows[INV], rows[GAUSSIAN], strict=True)
    return [ln_ratio_of_means(inverted, gaussian) for inverted, gaussian in pairs]


def _estimated_ratios(ln_ratios: Sequence[Estimate] | pd.Series) -> list[float]:
    """The ratios whose natural logs ``ln_ratios`` estimate, without their errors."""
    return [float(np.exp(ln_ratio.value)) for ln_ratio in ln_ratios]
