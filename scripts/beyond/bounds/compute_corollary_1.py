"""Corollary 1 of the main paper, read literally: Theorem 1 with the largest printed loss over the values.

Eq. (7) of the short version has v_s = max over x0 and x1 of v_s(x0, x1), where Theorem 1 has v_s(x0, x1). The
printed v_s(x0, x1) depends on x0 through n_x0 only, so the maximum is over the counts of the values. The
corollary does not say whose n_x0 is meant outside of v_s; here it is the one that gives the largest delta.

No table of the paper uses this reading. It is neither tight nor a guarantee: for some datasets it exceeds
what holds for all of them, for others it is below the delta of their own count.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

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
# How many of the 99 other users hold each value -> the different counts in the maximum, that of x0 first.
DATASETS = {
    "80 and 19, values that occur": [80, 19],
    "80 and 19, all values": [80, 19, 0],
    "80, 3 and eight times 2": [80, 3, 2],
    "nine times 10 and 9": [10, 9],
}
_LARGEST_N = 1000  # the sums are direct, with probabilities that must not underflow


def corollary_1(eps: float, *, n: int, k: int, eps0: float, counts: Sequence[int]) -> float:
    """log10 of the delta of Corollary 1 of the main paper, or -inf where it is 0.

    delta = max over n_x0 of the sum over s of P(s, n_x0) [1 - e^eps / R(s)]_+, where R(s) is the maximum of
    R(s, n_x0) over n_x0. P(s, n_x0) is the probability of s reports of x0 if n_x0 of the n - 1 remaining
    users hold x0. R(s, n_x0) is e^{v_s}, the likelihood ratio as Theorem 1 prints it. Both maxima are over
    ``counts``: the number of remaining users who hold a value, for every value that the maximum considers.

    There is at least one count, and repeated counts change nothing. ``n`` is at most 1,000. Raises ValueError
    that names the argument that is out of range.
    """
    n = int(check_n(n))
    k = int(check_k(k))
    eps = float(check_eps(eps))
    eps0 = float(check_eps0(eps0))
    distinct = sorted({int(check_count(number, n)) for number in counts})
    if not distinct or n > _LARGEST_N:
        raise ValueError(
            f"n must be at most {_LARGEST_N:,} and counts must not be empty; got n = {n}, {distinct}"
        )

    distributions = [_distribution_of_count(n, k, eps0, n_x0) for n_x0 in distinct]
    largest_ratio = np.max([distribution.ratio for distribution in distributions], axis=0)
    exceeds = largest_ratio > np.exp(eps)
    share = 1 - np.exp(eps) / largest_ratio[exceeds]
    delta = max(float(np.sum(distribution.mass[exceeds] * share)) for distribution in distributions)
    with np.errstate(divide="ignore"):
        return float(np.log10(delta))


def corollary_table() -> pd.DataFrame:
    """Corollary 1 at Table IV's default setting, with a row for each of the `DATASETS` and each eps.

    The columns are remaining_users (the dataset), eps, and four deltas as log10:

    - log10_corollary_1: of `corollary_1`
    - log10_count: the exact one of the same dataset's count of x0, for x0 against x1
    - log10_lower and log10_upper: the bounds of the worst dataset's histogram, the same for all datasets
    """
    rows = []
    for name, counts in DATASETS.items():
        for eps in EPS:
            row = {
                "remaining_users": name,
                "eps": eps,
                "log10_corollary_1": corollary_1(eps, **TABLE_IV, counts=counts),
                # `count.delta` returns log10 of delta. The first count is that of x0.
                "log10_count": float(count.delta(eps, **TABLE_IV, count=counts[0])),
                "log10_lower": lower(eps, log10=True, **TABLE_IV),
                "log10_upper": upper(eps, log10=True, **TABLE_IV),
            }
            rows.append(row)
    return pd.DataFrame(rows)


class _Distribution(NamedTuple):
    """The count of x0 for s = 0 to n, both (n + 1,)."""

    mass: Floats  # P(s) of eq. (6)
    ratio: Floats  # e^{v_s} as printed in Theorem 1


def _distribution_of_count(n: int, k: int, eps0: float, n_x0: int) -> _Distribution:
    """P(s) of eq. (6), and e^{v_s} as printed in Theorem 1, for s = 0 to n reports of x0, both (n + 1,).

    ``n_x0`` of the n - 1 remaining users hold x0. The target user holds x0 under P and another value under Q.
    With p and q the probabilities of the true and of a particular false report of k-RR,

        P(s)    = kappa_2 Q(s)  + span E1(s),           kappa_2 = (1 - p) / (1 - q),
        e^{v_s} = kappa_2       + span E2(s) / Q(s),    span = e^eps0 - kappa_2.

    Q(s) is the probability of s reports of x0 under Q. There ``others`` = n - n_x0 users do not hold x0, the
    target user among them, and j of these report x0, which is a lie. E1(s) is the expectation of j / others
    where the count is s, times Q(s), and E2(s) that of (j / others)^2. The exact ratio is P(s) / Q(s), and so
    has E1 where the printed one has E2.
    """
    p = truth_probability(eps0, k)
    q = lie_probability(eps0, k)
    others = n - n_x0
    lies = np.arange(others + 1)
    mass_of_truths = stats.binom.pmf(np.arange(n_x0 + 1), n_x0, p)
    mass_of_lies = stats.binom.pmf(lies, others, q)

    # The count is a sum of true reports and lies, so each distribution is a convolution.
    mass = np.convolve(mass_of_truths, mass_of_lies)
    first_moment = np.convolve(mass_of_truths, mass_of_lies * (lies / others))
    second_moment = np.convolve(mass_of_truths, mass_of_lies * (lies / others) ** 2)

    kappa_2 = (1 - p) / (1 - q)
    span = np.exp(eps0) - kappa_2
    return _Distribution(
        kappa_2 * mass + span * first_moment, kappa_2 + span * second_moment / mass
    )


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(corollary_table(), snakemake.output[0])
