"""What the accountants are compared with, and the 40-digit value by which errors are judged."""

import math

import mpmath as mp
import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy import signal, stats

from tightshuffle.arguments import check_choice
from tightshuffle.mechanisms.krr import lie_probability, truth_probability

SPACING = 1e-4  # of the privacy loss distribution
ROUNDING = 1e-15  # a Fourier transform's probabilities below this are noise
DIGITS = 40
NEGLIGIBLE = 1e-34  # probabilities that the 40-digit value leaves out


def printed_formulas():
    """The module of the tests that has the main paper's double sum word for word, in 60 digits."""
    from tests.privacy import printed

    return printed


def count_laws(*, n, k, eps0, count, convolve):
    """The laws P and Q of the noisy count of x0, arrays (n + 1,), without tilting or windows.

    ``convolve`` is "direct" (numpy.convolve) or "fft" (scipy.signal.fftconvolve).
    """
    check_choice("convolve", convolve, ("direct", "fft"))
    p, q = float(truth_probability(eps0, k)), float(lie_probability(eps0, k))
    holders = stats.binom.pmf(np.arange(count + 1), count, p)
    rest = stats.binom.pmf(np.arange(n - count), n - 1 - count, q)
    others = np.convolve(holders, rest) if convolve == "direct" else signal.fftconvolve(holders, rest)
    return tuple(np.append(others * (1 - x), 0) + np.append(0, others * x) for x in (p, q))


def convolved_delta(eps, **setting):
    """delta of the count of x0 from `count_laws` by numpy.convolve."""
    p, q = count_laws(**setting, convolve="direct")
    return float(np.maximum(p - math.exp(eps) * q, 0).sum())


def loss_distribution_delta(eps, **setting):
    """delta of the count of x0 by dp-accounting, its two laws included."""
    return loss_distribution_of(eps, log_outcomes(**setting))


def log_outcomes(**setting):
    """What dp-accounting is given: for P and Q a dict of outcome -> log probability, noise left out."""
    laws = count_laws(**setting, convolve="fft")
    kept = [np.flatnonzero(law > ROUNDING) for law in laws]
    return [
        dict(zip(s.tolist(), np.log(law[s]).tolist(), strict=True)) for s, law in zip(kept, laws, strict=True)
    ]


def loss_distribution_of(eps, outcomes):
    """delta by dp-accounting's privacy loss distribution, its pessimistic estimate."""
    p, q = outcomes
    loss = pld.from_two_probability_mass_functions(
        q, p, value_discretization_interval=SPACING, symmetric=False
    )
    return float(loss.get_delta_for_epsilon(eps))


def precise_delta(eps, *, n, k, eps0, count):
    """delta of the count of x0 in 40 digits: two binomial laws convolved, all but 1e-34 of each."""
    with mp.workdps(DIGITS):
        e, bound = mp.exp(mp.mpf(eps0)), mp.exp(mp.mpf(eps))
        p, q = e / (e + k - 1), 1 / (e + k - 1)
        others = np.convolve(_precise_binomial(count, p), _precise_binomial(n - 1 - count, q))
        mine = np.append(others * (1 - p), 0) + np.append(0, others * p)
        theirs = np.append(others * (1 - q), 0) + np.append(0, others * q)
        return sum((max(mp.mpf(0), a - bound * b) for a, b in zip(mine, theirs, strict=True)), mp.mpf(0))


def _precise_binomial(trials, chance):
    """The consecutive probabilities of Binomial(trials, chance) that are not `NEGLIGIBLE`, as mpf objects."""
    mode = min(trials, int((trials + 1) * chance))
    top = math.comb(trials, mode) * chance**mode * (1 - chance) ** (trials - mode)
    odds = chance / (1 - chance)
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
    answers = np.where(rng.random(values.size) < lies, rng.integers(k, size=values.size), values)
    return np.bincount(answers, minlength=k)
