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
from tightshuffle.doors import delta
from tightshuffle.literature.count import ln_delta_of_count
from tightshuffle.mechanisms.krr import lie_probability, truth_probability

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
    """log10 of the delta by Corollary 1 of the main paper, read literally, or -inf where this delta is 0.

        delta = max over n_x0 of  sum over s = 0..n of  P(s, n_x0) [1 - e^eps / R(s)]_+,
        R(s)  = max over n_x0 of  R(s, n_x0)

    P(s, n_x0) is the probability of s reports of x0 among the n reports of k-RR, if the target user and n_x0
    of the n - 1 remaining users hold x0. R(s, n_x0) is e^{v_s}, the likelihood ratio of s as Theorem 1 prints
    it. Both maxima are over the numbers ``counts``. Each is how many of the remaining users hold one of the
    values that the corollary compares.

    ``counts`` has at least one number, and repeated numbers change nothing. ``n`` is at most 1,000. Raises
    ValueError that names the argument that is out of range.
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

    of_each_n_x0 = [_probability_and_printed_ratio(n, k, eps0, n_x0) for n_x0 in distinct]
    largest_ratio = np.max([count_of_x0.ratio for count_of_x0 in of_each_n_x0], axis=0)  # R(s)
    positive = largest_ratio > np.exp(eps)  # the s for which [...]_+ is not 0
    part = 1 - np.exp(eps) / largest_ratio[positive]
    delta = max(float(np.sum(count_of_x0.p[positive] * part)) for count_of_x0 in of_each_n_x0)
    with np.errstate(divide="ignore"):  # log10 of 0 is -inf
        return float(np.log10(delta))


def corollary_table() -> pd.DataFrame:
    """Corollary 1 beside other deltas at Table IV's default setting: a row for each dataset and eps.

    The setting has n = 100 users, k = 10 values and eps0 = 2. The columns are remaining_users (the dataset:
    in words, how many of the 99 users beside the target user hold each value), eps, and log10 of four deltas:

    - log10_corollary_1: the delta by the paper's Corollary 1
    - log10_count: the exact delta of the count of x0 in this dataset, for x0 against x1
    - log10_lower and log10_upper: our bounds on the delta of the whole histogram in the worst dataset. They
      are the same in all rows of one eps
    """
    rows = []
    for name, counts in DATASETS.items():
        for eps in EPS:
            row = {
                "remaining_users": name,
                "eps": eps,
                "log10_corollary_1": corollary_1(eps, **TABLE_IV, counts=counts),
                # The first of ``counts`` is that of x0.
                "log10_count": float(
                    ln_delta_of_count(eps, **TABLE_IV, count=counts[0]) / np.log(10)
                ),
                "log10_lower": delta(eps, method="lower", log10=True, **TABLE_IV),
                "log10_upper": delta(eps, log10=True, **TABLE_IV),
            }
            rows.append(row)
    return pd.DataFrame(rows)


class _CountOfX0(NamedTuple):
    """For s = 0 to n reports of x0: the probability of s, and the likelihood ratio of s; both (n + 1,)."""

    p: Floats  # P(s) of the main paper's eq. (6): the target user holds x0
    ratio: Floats  # e^{v_s} as its Theorem 1 prints it


def _probability_and_printed_ratio(n: int, k: int, eps0: float, n_x0: int) -> _CountOfX0:
    """P(s) of the main paper's eq. (6), and e^{v_s} as its Theorem 1 prints it; both (n + 1,), s = 0 to n.

    s is the number of reports of x0. ``n_x0`` of the n - 1 remaining users hold x0. The target user holds x0
    under P and another value under Q. With p and q the probabilities of the true and of a particular false
    report of k-RR,

        P(s)    = kappa_2 Q(s)  + span E1(s),           kappa_2 = (1 - p) / (1 - q),
        e^{v_s} = kappa_2       + span E2(s) / Q(s),    span = e^eps0 - kappa_2.

    Q(s) is the probability of s under Q. There others = n - n_x0 users do not hold x0, and one of these is
    the target user. The number of them who report x0, which is false, is called lies. E1(s) is Q(s) times the
    expectation of lies / others where the count is s. E2(s) is Q(s) times the expectation of
    (lies / others)^2. The exact ratio is P(s) / Q(s), and so has E1 where the printed ratio has E2.
    """
    p = truth_probability(eps0, k)
    q = lie_probability(eps0, k)
    others = n - n_x0
    lies = np.arange(others + 1)
    pmf_of_truths = stats.binom.pmf(np.arange(n_x0 + 1), n_x0, p)
    pmf_of_lies = stats.binom.pmf(lies, others, q)

    # s is the number of true reports plus lies, so each sum over the lies is a convolution.
    q_s = np.convolve(pmf_of_truths, pmf_of_lies)
    e1_s = np.convolve(pmf_of_truths, pmf_of_lies * (lies / others))
    e2_s = np.convolve(pmf_of_truths, pmf_of_lies * (lies / others) ** 2)

    kappa_2 = (1 - p) / (1 - q)
    span = np.exp(eps0) - kappa_2
    return _CountOfX0(kappa_2 * q_s + span * e1_s, kappa_2 + span * e2_s / q_s)


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(corollary_table(), snakemake.output[0])
