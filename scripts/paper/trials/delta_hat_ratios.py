"""What the trials with delta-hat show: ranges of the Gaussian's error over that of shuffle+INV."""

from statistics import NormalDist

import pandas as pd

from scripts.paper.delta.delta_hat_table import SETTING
from scripts.shared.findings import Range, rounded_outwards

CONFIDENCE = 0.95  # that all true ratios lie in the stated ranges


def ranges_of_ratios(trials: pd.DataFrame) -> dict[str, Range]:
    """Noise -> the range of the Gaussian's mean error over that of shuffle+INV, in two digits.

    With 95 % confidence all true ratios lie in their ranges at once, those of every row of ``trials``
    (`run_delta_hat_trials`): the ends are those of intervals for all ratios (Bonferroni), and are rounded
    outwards.
    """
    # Two sides for every ratio.
    factor = NormalDist().inv_cdf(1 - (1 - CONFIDENCE) / (2 * len(trials)))
    margin = factor * trials["standard_error"]
    ranges = {}
    for noise, rows in trials.assign(margin=margin).groupby("noise"):
        low, high = rows["ratio"] - rows["margin"], rows["ratio"] + rows["margin"]
        ranges[str(noise)] = rounded_outwards(low.min(), high.max())
    return ranges


def points_above_1(trials: pd.DataFrame) -> int:
    """At how many points the noise for the printed delta-hat is more than the data, at every sensitivity.

    There the mean error of the Gaussian is above 1, if it is not projected. A point is a setting and an eps.
    """
    rows = trials[(trials["noise"] == "published") & ~trials["projected"]]
    smallest = rows.groupby([*SETTING, "eps"])["gaussian"].min()
    return int((smallest > 1).sum())
