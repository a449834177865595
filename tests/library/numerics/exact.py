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


def sums_with_probabilities(values, probabilities, n):
    """Yield (S, its probability) for every way in which n gains can have the values; exact for fractions."""
    values, probabilities = [*values, 0], [*probabilities, 1 - sum(probabilities)]
    for dividers in itertools.combinations(range(n + len(values) - 1), len(values) - 1):
        ends = (-1, *dividers, n + len(values) - 1)
        often = [later - earlier - 1 for earlier, later in itertools.pairwise(ends)]
        ways = math.factorial(n) // math.prod(map(math.factorial, often))
        chance = ways * math.prod(p**number for p, number in zip(probabilities, often, strict=True))
        yield sum(number * value for number, value in zip(often, values, strict=True)), chance


def _log_mean_of_positive(outcomes):
    """Natural log of E[S_+] from all ``outcomes`` (S, its probability), which are fractions."""
    mean = sum(chance * s for s, chance in outcomes if s > 0)
    with mp.workdps(40):
        return mp.log(mp.mpf(mean.numerator) / mean.denominator) if mean else -math.inf


def exact_log(values, probabilities, n):
    """Natural log of E[S_+] for a sum S of n gains, by rational numbers."""
    exact_law = [*map(Fraction, values)], [*map(Fraction, probabilities)]
    return _log_mean_of_positive(sums_with_probabilities(*exact_law, n))


def exact_log_of_parts(values, probabilities, parts):
    """Natural log of E[S_+], by rational numbers, for a sum S of a random number of gains.

    The number of gains is a sum of independent binomials, one Binomial(n, share) for each (n, share) in
    ``parts``. So each part is like n gains, each of which is replaced by 0 with the probability 1 - share. A
    gain has ``values`` with these ``probabilities``, and the value 0 with what they miss to 1. The result is
    an mpmath number.
    """
    distribution = {Fraction(0): Fraction(1)}  # of the sum so far
    for n, share in parts:
        chances = [Fraction(share) * Fraction(p) for p in probabilities]
        # Each gain of this part as pairs (value, chance).
        gain = [*zip(map(Fraction, values), chances, strict=True), (0, 1 - sum(chances))]
        for _ in range(n):
            longer = defaultdict(Fraction)
            for (s, mass), (value, chance) in itertools.product(distribution.items(), gain):
                longer[s + value] += mass * chance
            distribution = longer
    return _log_mean_of_positive(distribution.items())


def smoothed_mean(values, probabilities, n, tau, shift=0):
    """E[(S + U + shift)_+] in mpmath, for a Gaussian U with mean 0 and standard deviation ``tau``."""
    outcomes = sums_with_probabilities([*map(mp.mpf, values)], [*map(mp.mpf, probabilities)], n)

    def positive_part(mean):
        """E[(U + mean)_+]."""
        return mean * mp.ncdf(mean / tau) + tau * mp.npdf(mean / tau)

    return mp.fsum(chance * positive_part(s + shift) for s, chance in outcomes)


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
