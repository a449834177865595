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
    """How far the mean errors of shuffle+INV and the Gaussian are apart; all but the last without a sign."""

    DIFFERENCE = "difference"
    LOG_RATIO = "log ratio"  # of shuffle+INV's to the Gaussian's
    SIGNED_LOG_RATIO = "signed log ratio"


def is_better(
    reading: Reading, first: str, second: str, selection: Selection = EVERYWHERE, times: float = 1.0
) -> Comparisons:
    """Is ``times`` the mean error of the mechanism ``first`` below that of ``second``, at every setting?

    The numbers are the ratios of the mean errors, of ``first`` to ``second``.
    """
    rows = reading.pick(first, second, selection=selection)
    pairs = zip(rows[first], rows[second], strict=True)
    differences = [
        estimated_mean(times * first_sample - second_sample)
        for first_sample, second_sample in pairs
    ]
    ratios = rows[first].map(np.mean) / rows[second].map(np.mean)
    return Comparisons(signs_below(differences), f"ratio of {first} to {second}", ratios)


def is_close(reading: Reading, selection: Selection, factor: float = COMPARABLE) -> Comparisons:
    """Are the mean errors of shuffle+INV and the Gaussian within ``factor`` of each other, at every setting?

    The numbers are their ratios.
    """
    ln_ratios = _ln_ratios(reading.pick(INV, GAUSSIAN, selection=selection))
    signs = signs_within(ln_ratios, factor)
    return Comparisons(signs, f"ratio of {INV} to {GAUSSIAN}", _exp_of_values(ln_ratios))


def is_small(
    reading: Reading, mechanisms: Sequence[str], limit: float, selection: Selection
) -> Comparisons:
    """Is the mean error of each of ``mechanisms`` below ``limit`` at every setting? These are the numbers."""
    samples = reading.pick(*mechanisms, selection=selection)[[*mechanisms]]
    errors = [estimated_mean(sample) for sample in samples.to_numpy().ravel()]
    return Comparisons(signs_below(errors, limit), "mean error", [error.value for error in errors])


def gap_is_smaller_at_end(
    reading: Reading, axis: str, end: str, gap: Gap, selection: Selection
) -> Comparisons:
    """Is the gap between shuffle+INV and the Gaussian smaller at one end of every curve than at the other?

    A curve runs along ``axis``, "n" or "eps0", with all else equal. ``end`` is where the gap is to be
    smaller: "small" for the smallest value of the axis, "large" for the largest. The numbers say by how much
    it is.
    """
    at_smallest, at_largest = _ends_of_curves(reading, axis, [INV, GAUSSIAN], selection)
    here, there = (at_smallest, at_largest) if end == "small" else (at_largest, at_smallest)
    differences = []
    for gap_here, gap_there in zip(_gaps(here, gap), _gaps(there, gap), strict=True):
        differences.append(gap_here - gap_there)
    smaller_by = [-difference.value for difference in differences]
    unit = f"{gap.value} smaller at the {end} end of {axis} by"
    return Comparisons(signs_below(differences), unit, smaller_by)


def falls_along(
    reading: Reading, axis: str, mechanisms: Sequence[str], selection: Selection
) -> Comparisons:
    """Does every mechanism's mean error fall from the smallest to the largest ``axis`` on every curve?

    A curve runs along ``axis``, "n" or "eps0", with all else equal. The numbers are the ratios of the last to
    the first error.
    """
    at_smallest, at_largest = _ends_of_curves(reading, axis, mechanisms, selection)
    columns = [*mechanisms]
    changes = []
    ratios = []
    for first_sample, last_sample in zip(
        at_smallest[columns].to_numpy().ravel(), at_largest[columns].to_numpy().ravel(), strict=True
    ):
        first = estimated_mean(first_sample)
        last = estimated_mean(last_sample)
        changes.append(last - first)
        ratios.append(last.value / first.value)
    unit = f"ratio of the error at the largest {axis} to that at the smallest"
    return Comparisons(signs_below(changes), unit, ratios)


def is_closest_at_corner(reading: Reading, selection: Selection) -> Comparisons:
    """Is the ratio of the two mean errors closer to 1 in a dataset's corner than at each other setting?

    The errors are those of shuffle+INV and the Gaussian. The corner is the smallest n at the largest eps0.
    The numbers are the ratios there, of the larger error to the smaller one.
    """
    rows = reading.pick(INV, GAUSSIAN, selection=selection)
    corner = reading.pick(
        INV, GAUSSIAN, selection=replace(selection, ends=Ends.SMALLEST_N_AT_LARGEST_EPS0)
    )
    is_corner = rows.index.isin(corner.index)
    rows["gap"] = pd.Series(_gaps(rows, Gap.LOG_RATIO), rows.index, dtype=object)
    pairs = rows[is_corner].merge(rows[~is_corner], on=["dataset", "rule"], suffixes=("", "_other"))
    if pairs.empty:
        raise NoEvidenceError(f"the config's {reading.name} experiments have one setting only")
    differences = pairs["gap"] - pairs["gap_other"]
    return Comparisons(signs_below([*differences]), "ratio there", _exp_of_values(pairs["gap"]))


def differs_between_cells(reading: Reading, selection: Selection) -> Comparisons:
    """Does the ratio of the two individual errors, shuffle+INV to Gaussian, differ between a setting's cells?

    Cochran's test: under equal ratios, Q = sum_i w_i (x_i - x)^2 has a chi-square distribution with one
    degree of freedom less than there are cells. x_i is the ln of the ratio in cell i, w_i = 1 / (its standard
    error)^2, and x the mean with these weights. A sign is +1 where equal ratios are rejected, else 0. The
    numbers are all ratios.
    """
    rows = reading.pick(INV, GAUSSIAN, selection=selection)
    p_values = []
    ratios = []
    for _, cells in rows.groupby(["dataset", "n", "eps0", "rule"]):
        ln_ratios = _ln_ratios(cells)
        weights = np.array([1 / estimate.standard_error**2 for estimate in ln_ratios])
        values = np.array([estimate.value for estimate in ln_ratios])
        spread = np.sum(weights * (values - np.average(values, weights=weights)) ** 2)
        p_values.append(special.chdtrc(len(ln_ratios) - 1, spread))
        ratios += _exp_of_values(ln_ratios)
    signs = (holm_corrected(p_values) <= LEVEL).astype(int)
    return Comparisons(signs, f"ratio of {INV} to {GAUSSIAN}", ratios)


def has_same_noise_for_all_n(reading: Reading, selection: Selection) -> Comparisons:
    """Is the Gaussian's individual error, in users, the same at the smallest and the largest n?

    "The same" is within a factor of `INDISTINGUISHABLE`. All cells of a run count together: the error is
    their sum. The number is the ratio of the error at the largest n to that at the smallest. On the exact
    reading the answer is yes by definition, where there are two n: at one (eps, delta) the calibration has no
    n in it.
    """
    gaussian = RAW_GAUSSIAN if reading.is_exact else GAUSSIAN  # the noise itself, not projected
    at_smallest, at_largest = _ends_of_curves(reading, "n", [gaussian], selection)
    if reading.is_exact:
        return Comparisons(signs_where([True]))

    ln_errors = []
    for rows in (at_smallest, at_largest):
        errors_in_users = np.stack([*(rows[gaussian] * rows["n"])])  # (cells, repetitions)
        error_of_run = errors_in_users.sum(axis=0)
        ln_errors.append(ln_ratio_of_means(error_of_run, np.ones(len(error_of_run))))
    ln_change = ln_errors[1] - ln_errors[0]
    signs = signs_within([ln_change], INDISTINGUISHABLE)
    return Comparisons(signs, "ratio", _exp_of_values([ln_change]))


def has_same_order(reading: Reading, model: Budgets, tested: Budgets) -> Comparisons:
    """Have the Gaussian, shuffle+INV and shuffle the same order of errors at every setting as in the model?

    ``model`` and ``tested`` are a dataset each, with its eps0s. The model's order is that of the mechanisms'
    mean errors, summed over its settings. If both have the same eps0s, each eps0 has an order of its own,
    else all together have one. A sign is of two mechanisms next to each other in the model's order, at one
    tested setting: +1 if the first has the smaller mean error there, too.
    """
    mechanisms = [GAUSSIAN, INV, SHUFFLE]
    model_rows = reading.pick(*mechanisms, selection=Selection(budgets=model))
    tested_rows = reading.pick(*mechanisms, selection=Selection(budgets=tested))
    has_same_eps0s = [*model.values()] == [*tested.values()]
    differences = []
    for (rule, eps0), group in tested_rows.groupby(["rule", "eps0"]):
        models = model_rows[model_rows["rule"] == rule]
        if has_same_eps0s:
            models = models[models["eps0"] == eps0]
        order = models[mechanisms].map(np.mean).sum().sort_values().index
        for better, worse in pairwise(order):
            for better_sample, worse_sample in zip(group[better], group[worse], strict=True):
                differences.append(estimated_mean(better_sample - worse_sample))
    return Comparisons(signs_below(differences))


def errors_as_printed(reading: Reading, metric: str, over_cells: bool = False) -> Reading:
    """The published reading with the errors that the paper prints for N(0, 2); the exact one as it is.

    ``metric`` is "tv" or "individual_error". The paper prints the errors of one run at each n. If
    ``over_cells``, a run has one individual error, the mean of those of its cells, else one for each cell.
    Every setting has an array of two equal errors for each mechanism, so that its standard error is 0.
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
    means = rows.groupby([*SETTING_COLUMNS, "mechanism"], as_index=False)["value"].mean()
    twice = pd.concat([means.assign(repetition=repetition) for repetition in (0, 1)])
    return replace(reading, settings=paired_settings(twice, ["mechanism"]))


def _ends_of_curves(
    reading: Reading, axis: str, mechanisms: Sequence[str], selection: Selection
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The settings at the smallest and at the largest ``axis`` ("n" or "eps0") of every curve, in one order.

    A curve are selected settings that differ in ``axis`` only. One with a single setting is left out.
    """
    others = [name for name in ("dataset", "eps0", "rule", "n", "metric", "cell") if name != axis]
    rows = reading.pick(*mechanisms, selection=selection).sort_values([*others, axis])
    rows = rows[rows.groupby(others)[axis].transform("size") > 1]
    if rows.empty:
        raise NoEvidenceError(f"the config's {reading.name} experiments have one {axis} only")
    return rows.drop_duplicates(others), rows.drop_duplicates(others, keep="last")


def _gaps(rows: pd.DataFrame, gap: Gap) -> list[Estimate]:
    """How far the mean errors of shuffle+INV and the Gaussian are apart at each setting, by this measure."""
    if gap is Gap.DIFFERENCE:
        pairs = zip(rows[INV], rows[GAUSSIAN], strict=True)
        return [abs(estimated_mean(inverted - gaussian)) for inverted, gaussian in pairs]
    ln_ratios = _ln_ratios(rows)
    if gap is Gap.SIGNED_LOG_RATIO:
        return ln_ratios
    return [abs(ln_ratio) for ln_ratio in ln_ratios]


def _ln_ratios(rows: pd.DataFrame) -> list[Estimate]:
    """ln of the mean error of shuffle+INV over the Gaussian's, at each setting."""
    pairs = zip(rows[INV], rows[GAUSSIAN], strict=True)
    return [ln_ratio_of_means(inverted, gaussian) for inverted, gaussian in pairs]


def _exp_of_values(ln_ratios: Sequence[Estimate] | pd.Series) -> list[float]:
    """The ratios of which these are estimates of the natural log."""
    return [float(np.exp(ln_ratio.value)) for ln_ratio in ln_ratios]
