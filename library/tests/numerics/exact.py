"""E[S_+] and its parts to any number of digits, for the tests of `positive_part`; S_+ is max(S, 0).

S is the sum of n independent gains G. A gain has ``values`` with these ``probabilities``, and the value 0
with what the probabilities miss to 1.
"""

import itertools
import math
from collections import defaultdict
from fractions import Fraction

import mpmath as mp


def convolved(first, second):
    """{sum: probability} of the sum of two independent numbers, each {number: probability}."""
    result = defaultdict(int)
    for (number, p), (other, q) in itertools.product(first.items(), second.items()):
        result[number + other] += p * q
    return result


def exact_log_pmf(successes, trials, probability):
    """Natural log of the probability of exactly ``successes`` of the ``trials``, in mpmath with 60 digits.

    ``probability`` is that of one success.
    """
    with mp.workdps(60):
        failures = trials - successes
        log_ways = mp.loggamma(trials + 1) - mp.loggamma(successes + 1) - mp.loggamma(failures + 1)
        p = mp.mpf(probability)
        return log_ways + successes * mp.log(p) + failures * mp.log1p(-p)


def log_binomial_excess(n, p, up, down):
    """Natural log of E[(up N - down (n - N))_+] for N ~ Bin(n, p), to 25 digits, as an mpmath number.

    N of n gains are ``up``, each with the probability p, and the others -``down``: the mean is that of the
    positive part of their sum. It is summed over N, from the least N with a positive sum on.
    """
    with mp.workdps(60):
        p, up, down = map(mp.mpf, (p, up, down))
        first = int(mp.floor(down * n / (up + down))) + 1
        probability = mp.exp(exact_log_pmf(first, n, p))
        total = mp.mpf(0)
        for successes in range(first, n + 1):
            term = probability * ((up + down) * successes - down * n)
            total += term
            # From N successes to N + 1.
            probability *= (n - successes) * p / ((successes + 1) * (1 - p))
            # Beyond the mean the terms fall ever faster.
            if term < total * mp.mpf(10) ** -25 and successes > n * p:
                break
        return mp.log(total)


def as_integers(numbers):
    """Whole numbers in proportion to these numbers, floats or fractions, and the factor between them."""
    fractions = [Fraction(number) for number in numbers]
    factor = math.lcm(*(fraction.denominator for fraction in fractions))
    return [int(fraction * factor) for fraction in fractions], factor


def distribution_of_sum(values, probabilities, parts):
    """{S: its probability} for the sum S of gains, as fractions.

    ``parts`` is the number of gains, or a list of (n, share), where this number is the sum of Binomial(n,
    share). So each part is n gains that are replaced by 0 with the probability 1 - share.

    The sums are those of whole numbers, which are far quicker than fractions: of the values and of the
    probabilities over what they have in common.
    """
    whole_values, value_factor = as_integers(values)
    distribution, factor = {0: 1}, 1
    for n, share in [(parts, 1)] if isinstance(parts, int) else parts:
        chances, chance_factor = as_integers(Fraction(share) * Fraction(p) for p in probabilities)
        gain = defaultdict(int)
        zero = chance_factor - sum(chances)
        for value, chance in zip([*whole_values, 0], [*chances, zero], strict=True):
            if chance:
                gain[value] += chance
        for _ in range(n):
            distribution = convolved(distribution, gain)
        factor *= chance_factor**n
    return {
        Fraction(s, value_factor): Fraction(chance, factor) for s, chance in distribution.items()
    }


def exact_log(values, probabilities, parts):
    """Natural log of E[S_+] for the sum S of gains, by fractions. Arguments as for `distribution_of_sum`."""
    distribution = distribution_of_sum(values, probabilities, parts)
    mean = sum(chance * s for s, chance in distribution.items() if s > 0)
    with mp.workdps(40):
        return mp.log(mp.mpf(mean)) if mean else -math.inf


def smoothed_mean(values, probabilities, n, tau):
    """E[(S + U)_+] in mpmath, for a Gaussian U with mean 0 and standard deviation ``tau``."""
    return smoothed_mean_of(distribution_of_sum(values, probabilities, n), tau, shift=0)


def smoothed_mean_of(distribution, tau, shift):
    """E[(S + U + shift)_+] for an S of this ``distribution``, {S: its probability}."""

    def positive_part(mean):
        """E[(U + mean)_+]."""
        return mean * mp.ncdf(mean / tau) + tau * mp.npdf(mean / tau)

    return mp.fsum(mp.mpf(p) * positive_part(mp.mpf(s) + shift) for s, p in distribution.items())


def mgf(values, probabilities, z):
    """M(z) = E[e^(z G)] in mpmath."""
    missing = 1 - mp.fsum(map(mp.mpf, probabilities))
    terms = (mp.mpf(p) * mp.exp(z * mp.mpf(g)) for g, p in zip(values, probabilities, strict=True))
    return missing + mp.fsum(terms)


def log_mgf_of_sum(values, probabilities, parts, z):
    """Natural log of E[e^(z S)] in mpmath, which is n ln M(z) for n gains.

    ``parts`` is n, or a list of (n, share), where the number of gains is the sum of Binomial(n, share), or
    Poisson of mean n where the share is 0.
    """
    m = mgf(values, probabilities, z)
    if isinstance(parts, int):
        return parts * mp.log(m)
    return mp.fsum(n * mp.log(1 + share * (m - 1)) if share else n * (m - 1) for n, share in parts)
