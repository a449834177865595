"""The true eps of the two mechanisms that the paper's Figure 2 compares at eps = eps0 = 4, at two deltas."""

import math

import pandas as pd
from scipy import optimize

from scripts.shared.job import job, write_csv
from scripts.shared.published_gaussian import published_scale
from tightshuffle.doors import epsilon
from tightshuffle.mechanisms.gaussian import HISTOGRAM_SENSITIVITY, log10_delta_of_scale

EPS0 = 4.0  # the local budget of the figure, and the eps that it states for both mechanisms
DELTA = 1e-6  # at which both are compared
FLOOR = 1e-17  # the delta for which our rerun computes the Gaussian noise
COLUMNS = ["mechanism", "n", "k", "eps0", "delta", "eps"]


def unequal_privacy(ratios: pd.DataFrame) -> pd.DataFrame:
    """eps of the histogram for the Gaussian and for shuffled reports, at two deltas: a row for each.

    The paper says that both have eps = 4. Its own delta is 0 at eps = eps0, for which no Gaussian noise is
    enough, so our rerun of the figure takes 1e-17 instead (`FLOOR`). The columns are

    - mechanism: "gaussian", with the noise of our rerun, or "shuffle", k-RR with eps0 = 4;
    - n, k and eps0, of shuffled reports only, with the smallest and the largest n of the figure;
    - delta: 1e-6 or 1e-17;
    - eps: for the Gaussian exact, and for shuffled reports by our upper bound.

    ``ratios`` are those at equal privacy, with the eps of shuffled reports at delta = 1e-6. If they have none
    for the figure's dataset and eps0, the table has only the Gaussian's rows.
    """
    is_figure = (ratios["dataset"] == "synthetic") & (ratios["eps0"] == EPS0)
    is_bound = (ratios["bound"] == "upper") & (ratios["delta"] == DELTA)
    by_users = ratios[is_figure & is_bound].sort_values("n")
    # The first and the last row have the smallest and the largest n.
    ends = pd.concat([by_users.head(1), by_users.tail(1)])[["n", "k", "eps0", "eps"]]

    eps_at_floor = []
    for end in ends.to_dict("records"):
        eps = epsilon(FLOOR, n=int(end["n"]), k=int(end["k"]), eps0=EPS0)
        eps_at_floor.append(eps)
    shuffled = pd.concat(
        [ends.assign(delta=DELTA), ends.assign(delta=FLOOR, eps=eps_at_floor)], ignore_index=True
    )
    deltas = [DELTA, FLOOR]
    gaussian = pd.DataFrame({"delta": deltas, "eps": [eps_of_gaussian(delta) for delta in deltas]})
    table = pd.concat([gaussian.assign(mechanism="gaussian"), shuffled.assign(mechanism="shuffle")])
    # Whole numbers, although the Gaussian has none.
    return table.astype({"n": "Int64", "k": "Int64"})[COLUMNS]


def eps_of_gaussian(delta: float) -> float:
    """The true eps, at ``delta``, of a histogram with the Gaussian noise of our rerun of the paper's figures.

    The rerun computes the noise for (eps, delta) = (4, 1e-17) and the sensitivity 1. But if one user's value
    changes, two counts of the histogram change by 1, so its sensitivity is sqrt(2).
    """
    scale = published_scale(EPS0, FLOOR, sensitivity=1.0)

    def excess(eps: float) -> float:
        # log10 of how many times ``delta`` the true delta at eps is.
        log10_delta = log10_delta_of_scale(eps, scale=scale, sensitivity=HISTOGRAM_SENSITIVITY)
        return float(log10_delta) - math.log10(delta)

    return float(optimize.brentq(excess, 0.0, 20.0, xtol=1e-10))


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(unequal_privacy(pd.read_csv(snakemake.input[0])), snakemake.output[0])
