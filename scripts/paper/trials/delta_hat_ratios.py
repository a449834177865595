"""What the trials with delta-hat show: the Gaussian's error over that of shuffle+INV."""

import pandas as pd

from scripts.paper.delta.delta_hat_table import SETTING

FORMS = ("published", "exact")  # of delta-hat


def gaussian_ratios(trials: pd.DataFrame) -> pd.DataFrame:
    """The Gaussian's mean TV error divided by that of shuffle+INV: a row for every setting, form and eps.

    TV is total variation. A setting is a dataset, n, k and eps0. The Gaussian's noise is chosen for eps and
    delta-hat, the paper's delta, in the form "published" (by the printed formula) or "exact" (the true one).
    The columns are dataset, n, k, eps0, form, eps and ratio.

    ``trials`` has a row for every repetition of a mechanism, with the TV error in the column value.
    """
    inverted = trials[trials["mechanism"] == "shuffle+INV"].groupby(SETTING)["value"].mean()
    gaussian = trials[trials["mechanism"] == "gaussian"]
    means = gaussian.groupby([*SETTING, "form", "eps"])["value"].mean().reset_index()
    means = means.join(inverted.rename("inverted"), on=SETTING)
    means["ratio"] = means["value"] / means["inverted"]
    return means.drop(columns=["value", "inverted"])
