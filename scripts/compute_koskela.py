"""delta of several rounds against eps, as in Koskela et al., Figure 1: both panels, both estimates."""

import itertools
import math
import warnings

import numpy as np
import pandas as pd

from tightshuffle.arguments import OutsideRange
from tightshuffle.pipeline.job import job, write_csv
from tightshuffle.privacy.amplification import balle_bennett
from tightshuffle.privacy.composition import balle_analytic, composed, eps0_of_blanket

AT_A_TIME = 40  # values of eps
COLUMNS = ["curve", "compositions", "n", "k", "eps0", "eps", "lower", "upper"]


def axis(plan):
    return np.round(np.linspace(*(plan["eps"][name] for name in ("start", "stop", "steps"))), 10)


def curves(plan, setting, pairs):
    """Rows of log10 delta for every pair, number of rounds and eps, as far as the figure shows them."""
    parts = []
    for pair, compositions in itertools.product(pairs, plan["compositions"]):
        for eps in np.array_split(axis(plan), math.ceil(plan["eps"]["steps"] / AT_A_TIME)):
            lower, upper = (
                composed(eps, pair, compositions=compositions, estimate=estimate, **setting)
                for estimate in ("optimistic", "pessimistic")
            )
            part = {"curve": pair, "compositions": compositions, "eps": eps, "lower": lower, "upper": upper}
            parts.append(pd.DataFrame(part | setting)[COLUMNS])
            if upper[-1] < plan["lowest"]:  # what is deeper costs most and is not drawn
                break
    return parts


def one_round(plan, setting, name, bound):
    """Rows of a bound that has only one round, and no lower estimate; eps without an answer are left out."""
    eps = axis(plan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideRange)
        upper = bound(eps, **setting)
    rows = {"curve": name, "compositions": 1, "eps": eps, "lower": np.nan, "upper": upper} | setting
    return pd.DataFrame(rows)[COLUMNS].dropna(subset="upper")


if __name__ == "__main__":
    with job(snakemake):
        plan = snakemake.params.plan["fig1a"]
        setting = {"n": plan["n"], "k": plan["k"], "eps0": float(eps0_of_blanket(plan["gamma"], plan["k"]))}
        parts = curves(plan, setting, ("strong", "weak"))
        parts.append(one_round(plan, setting, "balle_analytic", balle_analytic))
        parts.append(one_round(plan, setting, "balle_bennett", balle_bennett))
        write_csv(pd.concat(parts), snakemake.output.fig1a)

        plan = snakemake.params.plan["fig1b"]
        setting = {"n": plan["n"], "k": 2, "eps0": plan["eps0"]}  # the clones do not depend on k
        write_csv(pd.concat(curves(plan, setting, ("clones", "stronger-clones"))), snakemake.output.fig1b)
