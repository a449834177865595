"""The conjectured worst datasets: against every dataset, fractions, closed forms and the other bounds."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from tightshuffle.bounds import histogram
from tightshuffle.bounds.enumeration import enumerate_worst_case
from tightshuffle.bounds.worst_known import one_third_value, tight
from tightshuffle.numerics.binomial import log_binomial_excess, log_binomial_pmf

PROMISED = 1e-9  # for small n, of delta; far more than is subtracted


def assert_just_below(log10_value, log10_truth, tolerance=PROMISED):
    assert -tolerance <= (log10_value - log10_truth) * math.log(10) <= 1e-11


@pytest.mark.parametrize(("n", "k", "eps0"), [(8, 3, 0.5), (6, 4, 1.0), (5, 5, 2.0)])
def test_no_dataset_is_worse(n, k, eps0):
    for share in (0.0, 0.4, 0.8, 0.95):
        eps = share * eps0
        table = enumerate_worst_case(eps, n=n, k=k, eps0=eps0)
        for a in (0, n // 2, n - 1):
            truth = table[(a, 0, n - 1 - a, *(0,) * (k - 3))]
            assert_just_below(one_third_value(eps, n=n, k=k, eps0=eps0, count=a), np.log10(truth))
        assert_just_below(tight(eps, n=n, k=k, eps0=eps0), np.log10(max(table.values())))


def test_one_third_value_is_worse_than_any_split_if_nobody_holds_x0():
    """docs/worst_case.md, 5, and for both directions if nobody holds x1 either."""
    for n, k, eps0 in ((6, 4, 1.0), (5, 5, 4.0)):
        for eps in np.array([0.0, 0.05, 0.2, 0.5, 0.9]) * eps0:
            table = enumerate_worst_case(eps, n=n, k=k, eps0=eps0)
            for dataset, value in table.items():
                if dataset[0] == 0 or eps == 0:
                    gathered = (*dataset[:2], sum(dataset[2:]), *(0,) * (k - 3))
                    assert value <= table[gathered] * (1 + 1e-12)


def histogram_distribution(k, ratio, held):
    """The histogram's exact law, users answering one after the other; ``ratio`` = e^eps0."""
    q = 1 / (ratio + k - 1)
    distribution = {(0,) * k: Fraction(1)}
    for own in held:
        after: dict[tuple[int, ...], Fraction] = {}
        for counts, probability in distribution.items():
            for value in range(k):
                key = (*counts[:value], counts[value] + 1, *counts[value + 1 :])
                after[key] = after.get(key, Fraction(0)) + probability * q * (ratio if value == own else 1)
        distribution = after
    return distribution


@pytest.mark.parametrize(("k", "held"), [(4, (2, 3, 3)), (5, (2, 3, 4))])
def test_the_map_from_one_third_value_to_a_split(k, held):
    """docs/worst_case.md, the direct proof: one map of histograms serves both laws."""
    ratio = Fraction(27, 10)
    worlds = {own: histogram_distribution(k, ratio, (own, *held)) for own in (0, 1)}
    only_third = {h: probability for h, probability in worlds[0].items() if h[0] + h[1] == 0}
    for own, wanted in worlds.items():
        mapped: dict[tuple[int, ...], Fraction] = {}
        for counts, probability in histogram_distribution(k, ratio, (own, *(2,) * len(held))).items():
            reports = [value for value in range(2, k) for _ in range(counts[value])]
            if len(reports) > len(held):
                images = [(h, weight / sum(only_third.values())) for h, weight in only_third.items()]
            else:
                slots = list(itertools.permutations(held, len(reports)))
                images = []
                for slot in slots:
                    image = [*counts[:2], *(0,) * (k - 2)]
                    for user, value in zip(slot, reports, strict=True):
                        image[{2: user, user: 2}.get(value, value)] += 1
                    images.append((tuple(image), Fraction(1, len(slots))))
            for image, weight in images:
                mapped[image] = mapped.get(image, Fraction(0)) + probability * weight
        assert mapped == wanted


def exact_delta(n, k, ratio, bound, a):
    """delta in fractions: ``ratio`` = e^eps0, ``bound`` = e^eps. N1 among other values by their number."""
    q = 1 / (ratio + k - 1)
    distribution = {(0, 0): Fraction(1)}  # reports x0 and x2 of the remaining users
    for user in range(n - 1):
        x0, x2 = (ratio * q, q) if user < a else (q, ratio * q)
        after: dict[tuple[int, int], Fraction] = {}
        for (i, j), probability in distribution.items():
            for value, weight in (((i + 1, j), x0), ((i, j + 1), x2), ((i, j), (k - 2) * q)):
                after[value] = after.get(value, Fraction(0)) + probability * weight
        distribution = after

    def world(probabilities):
        """Law of (N0, N2, N1) if the user answers x0, x2, x1 or elsewhere with these probabilities."""
        result: dict[tuple[int, int, int], Fraction] = {}
        for (i, j), probability in distribution.items():
            m = n - 1 - i - j
            for ones in range(m + 1):
                split = (
                    probability * math.comb(m, ones) * Fraction(k - 3) ** (m - ones) / Fraction(k - 2) ** m
                )
                steps = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)]
                for step, own in zip(steps, probabilities, strict=True):
                    key = (i + step[0], j + step[1], ones + step[2])
                    result[key] = result.get(key, Fraction(0)) + split * own
        return result

    first = world([ratio * q, q, q, (k - 3) * q])
    second = world([q, q, ratio * q, (k - 3) * q])
    return sum(max(Fraction(0), first[key] - bound * second.get(key, 0)) for key in first)


@pytest.mark.parametrize("k", [3, 4, 9])
def test_in_fractions(k):
    n, ratio = 12, Fraction(29, 10)
    for bound in (Fraction(1), Fraction(3, 2), Fraction(28, 10), Fraction(2899, 1000)):
        for a in (0, 4, 11):
            truth = math.log10(exact_delta(n, k, ratio, bound, a))
            value = one_third_value(math.log(bound), n=n, k=k, eps0=math.log(ratio), count=a)
            # e^eps0 and e^eps are rounded to floats, whose difference is 1e-3 at the least.
            assert abs(value - truth) * math.log(10) < 1e-9


def all_hold_x0(eps, n, k, eps0):
    """log10 delta: e^eps kappa / n E[(Bin(n - N1, p / (1 - q)) - e^eps0 N1 - n (1 - e^-eps) / kappa)_+]."""
    q, kappa = 1 / (math.expm1(eps0) + k), -math.expm1(-eps0)
    probability = math.exp(eps0) * q / (1 - q)
    terms = []
    for ones in range(n + 1):
        x = np.arange(n - ones + 1)
        excess = x - math.exp(eps0) * ones + n * math.expm1(-eps) / kappa
        with np.errstate(divide="ignore"):
            logs = log_binomial_pmf(x, n - ones, probability) + np.log(np.maximum(excess, 0))
        terms.append(np.logaddexp.reduce(logs) + log_binomial_pmf(ones, n, q))
    return (np.logaddexp.reduce(terms) + eps + math.log(kappa / n)) / math.log(10)


def nobody_holds_x0(eps, n, k, eps0):
    """log10 delta: (P - e^eps Q) / F is affine in N0 given T = N0 + N1 and N2, where F is that of n in x2."""
    slope, unit = special.expit(eps), math.tanh(eps / 2) / math.expm1(eps0)
    twos, total = np.arange(n + 1)[:, None], np.arange(n + 1)[None]
    q = 1 / (math.expm1(eps0) + k)
    logs = log_binomial_pmf(twos, n, 1 - (k - 1) * q) + log_binomial_pmf(total, n - twos, 2 / (k - 1))
    logs = logs + log_binomial_excess(total, slope * total + unit * (n + math.expm1(-eps0) * twos))
    scale = math.log(math.expm1(eps0)) + math.log1p(math.exp(eps)) - math.log(n)
    return (np.logaddexp.reduce(logs, axis=None) + scale) / math.log(10)


@pytest.mark.parametrize(("n", "k", "eps0"), [(100, 3, 0.49), (300, 100, 4.0)])
def test_both_ends_in_closed_form(n, k, eps0):
    for share in (0.1, 0.5, 0.9):
        eps = share * eps0
        ends = one_third_value(eps, n=n, k=k, eps0=eps0, count=[0, n - 1])
        assert_just_below(ends[0], nobody_holds_x0(eps, n, k, eps0), 1e-8)
        assert_just_below(ends[1], all_hold_x0(eps, n, k, eps0), 1e-8)


def test_between_the_bounds():
    for n, k, eps0, share in (
        (100, 10, 2.0, 0.5),
        (60, 3, 1.0, 0.7),
        (100, 3, 0.49, 0.816),
        (2000, 5, 1.0, 0.2),
        (642, 150, 0.75, 0.9921875),  # B's own probabilities span more orders of magnitude than a float
        (370, 206, 0.076, 0.88),  # a thousand orders of magnitude down, with many local maxima in a
    ):
        setting = {"n": n, "k": k, "eps0": eps0}
        low, value, high = (f(share * eps0, **setting) for f in (histogram.lower, tight, histogram.upper))
        assert low - 1e-7 <= value <= high  # its search may miss what lower finds, by so little


@pytest.mark.slow
def test_a_hundred_thousand_users():
    n, k, eps0 = 10**5, 408, 4.0
    value = one_third_value(1.2, n=n, k=k, eps0=eps0, count=0)
    low = histogram.lower(1.2, n=n, k=k, eps0=eps0)  # the same dataset, to 1e-4
    assert low < -3000
    assert value == pytest.approx(low, abs=1e-4)
