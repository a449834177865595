"""E[S_+] and its parts to any number of digits, for the tests of `positive_part`."""

import itertools
import math
from fractions import Fraction

import mpmath as mp


def outcomes(values, probabilities, n):
    """(S, probability) of every way in which n gains fall into their classes; what is missing to 1 is 0."""
    values, probabilities = [*values, 0], [*probabilities, 1 - sum(probabilities)]
    for dividers in itertools.combinations(range(n + len(values) - 1), len(values) - 1):
        ends = (-1, *dividers, n + len(values) - 1)
        often = [later - earlier - 1 for earlier, later in itertools.pairwise(ends)]
        ways = math.factorial(n) // math.prod(map(math.factorial, often))
        chance = ways * math.prod(p**number for p, number in zip(probabilities, often, strict=True))
        yield sum(number * value for number, value in zip(often, values, strict=True)), chance


def exact_log(values, probabilities, n):
    """log E[(G_1 + ... + G_n)_+] in rational numbers."""
    terms = outcomes([*map(Fraction, values)], [*map(Fraction, probabilities)], n)
    total = sum(chance * s for s, chance in terms if s > 0)
    with mp.workdps(40):
        return mp.log(mp.mpf(total.numerator) / total.denominator) if total else -math.inf


def exact_log_of_parts(values, probabilities, parts):
    """As `exact_log`, for a number of gains that is a sum of binomial numbers (n, share)."""
    number = {0: Fraction(1)}
    for n, share in parts:
        for _ in range(n):
            more = {}
            for count, mass in number.items():
                more[count] = more.get(count, 0) + mass * (1 - Fraction(share))
                more[count + 1] = more.get(count + 1, 0) + mass * Fraction(share)
            number = more
    with mp.workdps(40):
        total = mp.mpf(0)
        for count, mass in number.items():
            if count and mass:
                one = exact_log(values, probabilities, count)
                total += mp.mpf(mass.numerator) / mass.denominator * mp.exp(one)
        return mp.log(total) if total else -math.inf


def smoothed(values, probabilities, n, tau, shift=0):
    """E[(S + U + shift)_+] for a normal U of deviation tau."""
    terms = outcomes([*map(mp.mpf, values)], [*map(mp.mpf, probabilities)], n)
    return mp.fsum(
        chance * ((s + shift) * mp.ncdf((s + shift) / tau) + tau * mp.npdf((s + shift) / tau))
        for s, chance in terms
    )


def mgf(values, probabilities, z):
    """M(z) in mpmath."""
    missing = 1 - mp.fsum(map(mp.mpf, probabilities))
    terms = (mp.mpf(p) * mp.exp(z * mp.mpf(g)) for g, p in zip(values, probabilities, strict=True))
    return missing + mp.fsum(terms)


def log_power(values, probabilities, parts, z):
    """log of M(z)^n for copies in parts (n, share), share 0 for a Poisson number."""
    at = mgf(values, probabilities, z)
    return mp.fsum(
        n * (at - 1) if share == 0 else n * mp.log(1 - share + share * at) for n, share in parts
    )
