"""Other programs that compute the same deltas, and the ratios of their times and errors to ours.

Each ``against_...`` measures ours and a peer in one process, one after the other: rows of ratios.csv.
"""

import math

import mpmath as mp
import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy import signal, stats

from benchmarks.cases import DELTA, EPS0, SHARE, K, different_counts
from benchmarks.measure import timed
from benchmarks.printed import printed_delta, printed_terms
from tightshuffle.bounds.inverse import epsilon
from tightshuffle.literature import count
from tightshuffle.randomizers.krr import lie_probability, sample_histogram, truth_probability

COLUMNS = ["what", "n", "peer", "seconds", "peer_seconds", "ratio", "error", "peer_error"]
PUBLISHED = {"k": 10, "eps0": 2.0, "eps": 0.1}  # a row of the main paper's tables but for n
SPACING = 1e-4  # of the privacy loss distribution
ROUNDING = 1e-15  # a Fourier transform's probabilities below this are noise
DIGITS = 40
NEGLIGIBLE = 1e-34  # probabilities that the 40-digit value leaves out


def against_the_double_sum(n):
    """The paper's double sum for all s, in both readings; it is computed once."""
    setting = {"n": n, "k": PUBLISHED["k"], "eps0": PUBLISHED["eps0"], "count": int(SHARE * n)}
    double_sum, terms = timed(lambda: printed_terms(**setting), least=1, most=1)
    rows = []
    for what, form, peer, eps in (
        ("Theorem 1 as printed", "published", "double sum of Theorem 1", PUBLISHED["eps"]),
        (
            "count-exact",
            "exact",
            "double sum of Theorem 1, corrected",
            float(epsilon(count.delta, DELTA, **setting)),
        ),
    ):
        how = {"form": form, "direction": "forward"}
        last, true = timed(lambda eps=eps, how=how: printed_delta(eps, terms, **how), least=1)
        ours, log10_delta = timed(lambda eps=eps, form=form: count.delta(eps, **setting, form=form))
        error = error_of(of_log10(log10_delta), true)
        peer = f"{peer}, mpmath, 60 digits"
        rows.append(_row(what, n, peer, ours, double_sum + last, error))
    return rows


def against_doubles(n, k=K, eps0=EPS0):
    """numpy.convolve of the untilted distributions, and dp-accounting's privacy loss distribution."""
    setting = {"n": n, "k": k, "eps0": eps0, "count": int(SHARE * n)}
    eps = float(epsilon(count.delta, DELTA, **setting))
    true = precise_delta(eps, **setting)
    ours, log10_delta = timed(lambda: count.delta(eps, **setting))
    error = error_of(of_log10(log10_delta), true)
    outcomes = log_outcomes(**setting)
    peers = {
        "numpy.convolve": lambda: convolved_delta(eps, **setting),
        "dp-accounting": lambda: loss_distribution_delta(eps, log_outcomes(**setting)),
        f"dp-accounting, {len(outcomes[0]):,} outcomes given": lambda: loss_distribution_delta(eps, outcomes),
    }
    rows = []
    for peer, compute in peers.items():
        seconds, delta = timed(compute)
        rows.append(_row("count-exact", n, peer, ours, seconds, error, error_of(delta, true)))
    return rows


def against_users(n, k=K, eps0=EPS0, seed=1):
    """Every user's report; our sampler draws the shuffled histogram, with the same distribution, in O(k)."""
    rng, counts = np.random.default_rng(seed), different_counts(n, k)
    values = np.repeat(np.arange(k), counts)
    ours, _ = timed(lambda: sample_histogram(counts, eps0, rng))
    theirs, _ = timed(lambda: simulate_users(values, k, eps0, rng))
    return [_row("sample_histogram", n, "every user's report, vectorised", ours, theirs)]


def _row(what, n, peer, ours, theirs, error=np.nan, peer_error=np.nan):
    """One row of ratios.csv: times in seconds, relative errors of delta (nan: none to state)."""
    return dict(zip(COLUMNS, [what, n, peer, ours, theirs, theirs / ours, error, peer_error], strict=True))


def error_of(delta, true):
    """Relative error; ``delta`` a float or an mpf."""
    return float(abs(mp.mpf(delta) / true - 1))


def of_log10(log10_delta):
    """delta as an mpf, which holds what a float cannot."""
    return mp.mpf(10) ** mp.mpf(float(log10_delta))


def count_distributions(*, n, k, eps0, count, convolve):
    """The distributions P and Q of the noisy count of x0, arrays (n + 1,), without tilting or windows.

    ``convolve`` is numpy.convolve or scipy.signal.fftconvolve.
    """
    p, q = float(truth_probability(eps0, k)), float(lie_probability(eps0, k))
    holders = stats.binom.pmf(np.arange(count + 1), count, p)
    liars = stats.binom.pmf(np.arange(n - count), n - 1 - count, q)
    remaining = convolve(holders, liars)
    return tuple(np.append(remaining * (1 - x), 0) + np.append(0, remaining * x) for x in (p, q))


def convolved_delta(eps, **setting):
    """delta of the count of x0 from `count_distributions` by numpy.convolve."""
    p, q = count_distributions(**setting, convolve=np.convolve)
    return float(np.maximum(p - math.exp(eps) * q, 0).sum())


def log_outcomes(**setting):
    """What dp-accounting needs: for P and Q a dict of outcome -> log probability, noise left out."""
    distributions = count_distributions(**setting, convolve=signal.fftconvolve)
    kept = [np.flatnonzero(distribution > ROUNDING) for distribution in distributions]
    return [
        dict(zip(s.tolist(), np.log(distribution[s]).tolist(), strict=True))
        for s, distribution in zip(kept, distributions, strict=True)
    ]


def loss_distribution_delta(eps, outcomes):
    """delta by dp-accounting's privacy loss distribution of `log_outcomes`, its pessimistic estimate."""
    p, q = outcomes
    loss = pld.from_two_probability_mass_functions(
        q, p, value_discretization_interval=SPACING, symmetric=False
    )
    return float(loss.get_delta_for_epsilon(eps))


def precise_delta(eps, *, n, k, eps0, count):
    """delta of the count of x0 in 40 digits: two binomial distributions convolved, all but 1e-34 of each."""
    with mp.workdps(DIGITS):
        e, bound = mp.exp(mp.mpf(eps0)), mp.exp(mp.mpf(eps))
        p, q = e / (e + k - 1), 1 / (e + k - 1)
        remaining = np.convolve(_precise_binomial(count, p), _precise_binomial(n - 1 - count, q))
        first, second = (np.append(remaining * (1 - x), 0) + np.append(0, remaining * x) for x in (p, q))
        return sum((max(mp.mpf(0), a - bound * b) for a, b in zip(first, second, strict=True)), mp.mpf(0))


def _precise_binomial(trials, probability):
    """The consecutive probabilities of Binomial(trials, probability) that are not `NEGLIGIBLE`, as mpf."""
    mode = min(trials, int((trials + 1) * probability))
    top = math.comb(trials, mode) * probability**mode * (1 - probability) ** (trials - mode)
    odds = probability / (1 - probability)
    up, down = [top], []
    for i in range(mode + 1, trials + 1):
        if up[-1] < NEGLIGIBLE:
            break
        up.append(up[-1] * odds * (trials - i + 1) / i)
    for i in range(mode, 0, -1):
        if (down[-1] if down else top) < NEGLIGIBLE:
            break
        down.append((down[-1] if down else top) * i / (odds * (trials - i + 1)))
    return np.array(down[::-1] + up, dtype=object)


def simulate_users(values, k, eps0, rng):
    """The shuffled histogram of users one by one, all at once: ``values`` (n,) cells from 0; returns (k,)."""
    lies = k * float(lie_probability(eps0, k))
    reports = np.where(rng.random(values.size) < lies, rng.integers(k, size=values.size), values)
    return np.bincount(reports, minlength=k)
