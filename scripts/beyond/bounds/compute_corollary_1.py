"""Corollary 1 of the main paper, read literally: Theorem 1 with the largest printed loss over the values.

Eq. (7) of the short version has v_s = max over x0 and x1 of v_s(x0, x1), where Theorem 1 has v_s(x0, x1). The
printed v_s(x0, x1) depends on x0 through n_x0 only, so the maximum is over the counts of the values. The
corollary does not say whose n_x0 is meant outside of v_s; here it is the one that gives the largest delta.

No table of the paper uses this reading. It is neither tight nor a guarantee: for some datasets it exceeds
what holds for all of them, for others it is below the delta of their own count.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from scripts.shared.job import job, write_csv
from tightshuffle.arguments import Floats, check_count, check_eps, check_eps0, check_k, check_n
from tightshuffle.guarantee import lower, upper
from tightshuffle.krr import lie_probability, truth_probability
from tightshuffle.literature import count

TABLE_IV: dict[str, Any] = {"n": 100, "k": 10, "eps0": 2.0}  # the default setting
EPS = (0.1, 0.5, 1.0)
DATASETS = {  # what the 99 other users hold, and the n_x0 of the maximum, the largest first
    "80 and 19, values that occur": [80, 19],
    "80 and 19, all values": [80, 19, 0],
    "80, 3 and eight times 2": [80, 3, 2],
    "nine times 10 and 9": [10, 9],
}
_LARGEST_N = 1000  # the sums are direct, with probabilities that must not underflow


def corollary_1(eps: float, *, n: int, k: int, eps0: float, counts: Sequence[int]) -> float:
    """log10 of the delta of Corollary 1; -inf where it is 0.

    ``counts``: of each value among which the maximum is taken, how many of the remaining n - 1 users hold it
    (n_x0); at least one, and repeated counts change nothing. ``n`` at most 1,000. Raises ValueError that
    names the argument that is out of range.
    """
    n, k = int(check_n(n)), int(check_k(k))
    eps, eps0 = float(check_eps(eps)), float(check_eps0(eps0))
    distinct_counts = sorted({int(check_count(holders, n)) for holders in counts})
    if not distinct_counts or n > _LARGEST_N:
        raise ValueError(
            f"n must be at most {_LARGEST_N:,} and counts must not be empty; got n = {n}, {distinct_counts}"
        )

    masses, ratios = [], []
    for holders in distinct_counts:
        mass, ratio = _mass_and_ratio(n, k, eps0, holders)
        masses.append(mass)
        ratios.append(ratio)

    largest_ratio = np.max(ratios, axis=0)  # e^{v_s}
    exceeds_eps = largest_ratio > np.exp(eps)
    weights = 1 - np.exp(eps) / largest_ratio[exceeds_eps]
    deltas = [float(np.sum(mass[exceeds_eps] * weights)) for mass in masses]
    with np.errstate(divide="ignore"):
        return float(np.log10(max(deltas)))


def corollary_table() -> pd.DataFrame:
    """Corollary 1 at Table IV's default setting, for the datasets `DATASETS`; a row per dataset and eps.

    Columns: remaining_users, eps, log10_corollary_1, log10_count (the exact delta of the same dataset's
    count of x0, forward) and log10_lower and log10_upper, the bounds of the worst dataset's histogram.
    """
    rows = [
        {
            "remaining_users": name,
            "eps": eps,
            "log10_corollary_1": corollary_1(eps, **TABLE_IV, counts=counts),
            "log10_count": float(count.delta(eps, **TABLE_IV, count=counts[0])),
            "log10_lower": lower(eps, log10=True, **TABLE_IV),
            "log10_upper": upper(eps, log10=True, **TABLE_IV),
        }
        for name, counts in DATASETS.items()
        for eps in EPS
    ]
    return pd.DataFrame(rows)


def _mass_and_ratio(n: int, k: int, eps0: float, holders: int) -> tuple[Floats, Floats]:
    """P(s) of eq. (6) and e^{v_s} as printed in Theorem 1, for s = 0 to n, where ``holders`` = n_x0."""
    p = truth_probability(eps0, k)
    q = lie_probability(eps0, k)
    others = n - holders  # under Q the target user is one of them
    lies = np.arange(others + 1)
    lying_share = lies / others
    truths_pmf = stats.binom.pmf(np.arange(holders + 1), holders, p)
    lies_pmf = stats.binom.pmf(lies, others, q)

    mass = np.convolve(truths_pmf, lies_pmf)
    first = np.convolve(truths_pmf, lies_pmf * lying_share)
    second = np.convolve(truths_pmf, lies_pmf * lying_share**2)
    kappa_2 = (1 - p) / (1 - q)
    span = np.exp(eps0) - kappa_2
    return kappa_2 * mass + span * first, kappa_2 + span * second / mass


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(corollary_table(), snakemake.output[0])
