"""Dummies of any law: against enumeration with exact fractions and with mpmath."""

import itertools
import math
from collections import defaultdict
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from tightshuffle.dummies.best_law import best_cut_law, best_noise, smallest_poisson_mean
from tightshuffle.dummies.bound import HiddenByDummies
from tightshuffle.dummies.laws import (
    binomial,
    error_of_parties,
    expected_tv,
    noise,
    parse_law,
    poisson,
    read_law,
    sum_of_parties,
)
from tightshuffle.gaussian import exact_scale
from tightshuffle.side import Side

SIDES = (Side.LOWER, Side.UPPER)

FILE = {
    0: Fraction(1, 16),
    1: Fraction(1, 4),
    2: Fraction(3, 8),
    3: Fraction(1, 4),
    5: Fraction(1, 16),
}


@pytest.fixture
def law_file(tmp_path):
    path = tmp_path / "law.csv"
    path.write_text("".join(f"{number},{float(mass)!r}\n" for number, mass in FILE.items()))
    return f"file:{path}"


def masses(text):
    """The probabilities of a law, by its definition and in mpmath; those of a Poisson law down to 1e-60."""
    if "*" in text:
        parties, text = text.split("*")
        one, total = masses(text), {0: mpmath.mpf(1)}
        for _ in range(int(parties)):
            longer = defaultdict(mpmath.mpf)
            for (z, p), (more, q) in itertools.product(total.items(), one.items()):
                longer[z + more] += p * q
            total = longer
        return total
    name, *given = text.split(":")
    if name == "file":
        return {z: mpmath.mpf(p.numerator) / p.denominator for z, p in FILE.items()}
    a, *rest = (mpmath.mpf(float(each)) for each in given)
    if name == "poisson":
        own = {z: mpmath.exp(-a) * a**z / mpmath.factorial(z) for z in range(200)}
        return {z: p for z, p in own.items() if p > 1e-60}
    if name == "binomial":
        b = rest[0]
        return {z: mpmath.binomial(a, z) * b**z * (1 - b) ** (a - z) for z in range(int(a) + 1)}
    shapes = {
        "geometric": lambda away, ratio: ratio**away,
        "gaussian": lambda away, deviation: mpmath.exp(-(away**2) / (2 * deviation**2)),
        "power": lambda away, power, d: mpmath.exp(-(away**power) / (power * d**power)),
    }
    if name == "noise":
        own = {z: shapes["power"](mpmath.mpf(abs(z)), a, rest[0]) for z in range(-40, 41)}
    else:
        own = {z: shapes[name](abs(z - a), *rest) for z in range(int(2 * a) + 1)}
    total = sum(own.values())
    return {z: p / total for z, p in own.items()}


def enumerated(text, eps, values, rounds, neighbours):
    """delta: the double sum over the two counts, and sums over further pairs of counts.

    Outcomes with losses that are equal to 1e-12 are put together, to have few of them.
    """
    own = masses(text)
    one = own.items()
    # A count that gains one, a count that loses one: its numbers, in both worlds.
    up = [(z + 1, p, own.get(z + 1, 0)) for z, p in one]
    down = [(z, p, own.get(z - 1, 0)) for z, p in one]
    parts = {"replace": [up, down], "add": [up], "remove": [down]}[neighbours] * (values * rounds)
    finite, infinite = {0.0: (mpmath.mpf(1), mpmath.mpf(0))}, mpmath.mpf(0)
    for part in parts:
        infinite += sum(p for p, _ in finite.values()) * sum(p for _, p, q in part if q == 0)
        longer = defaultdict(lambda: [mpmath.mpf(0), mpmath.mpf(0)])
        losses = [(p, mpmath.log(p / q)) for _, p, q in part if q > 0]
        for mass, loss in finite.values():
            for p, more in losses:
                slot = longer[round(float(loss + more), 12)]
                slot[0] += mass * p
                slot[1] = loss + more
        finite = {key: tuple(slot) for key, slot in longer.items()}
    return infinite + sum(
        p * -mpmath.expm1(eps - loss) for p, loss in finite.values() if loss > eps
    )


SMALL = ["binomial:4:0.4", "geometric:3:0.45", "gaussian:3:1.1", "geometric:2.5:0.7"]
SUMS = [
    "2*geometric:2:0.45",
    "3*binomial:2:0.4",
    "2*power:2.5:1.5:1.1",
    "2*noise:1.5:0.9",
    "noise:1.0:0.39",
]
LARGER = ["poisson:2.5", "binomial:12:0.3", "power:4:1.5:1.3", "power:6:1.25:2.5", "gaussian:8:2"]


@pytest.mark.parametrize("neighbours", ["replace", "add", "remove"])
@pytest.mark.parametrize(
    ("text", "values", "rounds"),
    [(text, *times) for text in SMALL for times in ((1, 2), (3, 1), (1, 5))]
    + [(text, 1, 1) for text in LARGER + SMALL + SUMS]
    + [("file", values, rounds) for values, rounds in ((1, 1), (2, 1), (3, 1), (1, 5))],
)
def test_delta_is_that_of_the_double_sum(text, values, rounds, neighbours, law_file):
    law = parse_law(law_file if text == "file" else text)
    points = np.array([0.0, 0.3, 1.0, 2.5])
    upper, lower = (
        np.exp(HiddenByDummies(law, values, rounds, neighbours, side=side).ln_delta(points))
        for side in (Side.UPPER, Side.LOWER)
    )
    for eps, low, high in zip(points.tolist(), lower, upper, strict=True):
        exact = float(enumerated(text, eps, values, rounds, neighbours))
        assert low * (1 - 1e-12) <= exact <= high * (1 + 1e-12) + 1e-40
        assert high <= exact * (1 + 5e-4) + 1e-15
        assert low >= exact * (1 - 1e-2)


DATASETS = [
    *[((0,), (1,), "replace", 1), ((0, 1), (2, 3), "replace", 2), ((0, 1), (1, 2), "replace", 1)],
    *[((), (1, 2), "remove", 2), ((1, 2), (), "add", 2)],
]


@pytest.mark.parametrize(("before", "after", "neighbours", "values"), DATASETS)
def test_it_is_the_delta_of_the_whole_histogram_of_every_dataset(
    before, after, neighbours, values, law_file
):
    """Of four values, with exact fractions: the dummies of each, the user's reports and those of others."""
    eps = 0.4
    growth = Fraction(math.exp(eps))
    found = math.exp(
        HiddenByDummies(parse_law(law_file), values, 1, neighbours).ln_delta(np.array([eps]))[0]
    )
    for others in ((0, 0, 0, 0), (3, 0, 1, 7)):
        worlds = []
        for reports in (before, after):
            world = defaultdict(Fraction)
            for dummies in itertools.product(FILE, repeat=4):
                counts = tuple(
                    o + z + (x in reports)
                    for x, o, z in zip(range(4), others, dummies, strict=True)
                )
                world[counts] += math.prod(FILE[z] for z in dummies)
            worlds.append(world)
        exact = sum(
            max(p - growth * worlds[1].get(counts, 0), 0) for counts, p in worlds[0].items()
        )
        assert found == pytest.approx(float(exact), rel=1e-6)
        assert found >= float(exact) * (1 - 1e-12)


def test_many_rounds_and_large_means_stay_between_near_bounds():
    for law, rounds, eps in ((parse_law("gaussian:253:43.2"), 52, 1.0), (poisson(1e5), 100, 0.19)):
        low, high = (
            HiddenByDummies(law, 1, rounds, side=side).log10_delta(eps)
            for side in (Side.LOWER, Side.UPPER)
        )
        assert -7 < high - 0.03 < low < high < -5


# A law, and one that differs from it only in numbers of probability 1e-20 and less, for the enumeration.
NARROW = [
    ("gaussian:1000000:3", "gaussian:30:3", 2.106176),
    ("gaussian:100000:3", "gaussian:30:3", 2.106176),
    ("power:1000:4:5", "power:20:4:5", 3.792886),
    ("power:40:10:1.35", "power:40:10:1.35", 576.90),
    ("gaussian:5:0.02", "gaussian:5:0.02", 2500.0),
]


@pytest.mark.parametrize(("text", "narrow", "truth"), NARROW)
def test_a_law_that_is_narrow_beside_its_range_has_a_tight_bracket(text, narrow, truth):
    """Numbers that never occur once had losses so large that all others fell on one point of the grid."""
    low, high = (
        HiddenByDummies(parse_law(text), side=side).epsilon(1e-6)
        for side in (Side.LOWER, Side.UPPER)
    )
    assert low <= high <= low * 1.0001
    assert high == pytest.approx(truth, rel=1e-5)
    assert (
        enumerated(narrow, high, 1, 1, "replace")
        <= 1e-6
        <= enumerated(narrow, low, 1, 1, "replace")
    )


def test_a_fixed_number_hides_nothing():
    bound = HiddenByDummies(parse_law("fixed:1000"))
    assert bound.log10_delta(50.0) == 0
    assert bound.epsilon(0.999) == math.inf


def test_eps_is_where_delta_is_reached():
    bound = HiddenByDummies(poisson(50.0), 3, 4, "add")
    eps = bound.epsilon(1e-7)
    assert bound.log10_delta(eps) <= -7 < bound.log10_delta(eps * (1 - 1e-6))
    # Just below the largest finite loss, where only two outcomes are left.
    law = parse_law("geometric:27:0.608")
    low, high = (HiddenByDummies(law, side=side).epsilon(1e-6) for side in SIDES)
    assert low <= high == pytest.approx(low, rel=1e-8)
    # The ends of a cut law alone have more than this delta.
    assert HiddenByDummies(law).epsilon(7.1e-7) == math.inf


# The ratio of standard deviations, over that of the central Gaussian.
@pytest.mark.parametrize(
    ("eps", "delta", "mean", "ratio"), [(1, 1e-6, 27, 0.470), (2, 1e-6, 14, 0.432)]
)
def test_the_best_law_of_one_round_is_geometric(eps, delta, mean, ratio):
    law = best_cut_law(eps, delta)
    sigma = exact_scale(eps, delta, sensitivity=math.sqrt(2))
    assert (law.mean, law.name.split(":")[2]) == (pytest.approx(mean), "1.0")
    assert law.deviation / sigma == pytest.approx(ratio, rel=0.01)
    assert enumerated(law.name, eps, 1, 1, "replace") <= delta
    for step in np.linspace(0.3, 0.95, 14):  # one dummy fewer is too few for any geometric law
        fewer = parse_law(f"geometric:{mean - 1}:{step}")
        assert HiddenByDummies(fewer, side=Side.LOWER).log10_delta(eps) > math.log10(delta)


def test_the_honest_parties_dummies_are_those_that_count(law_file):
    """Three parties, of whom one tells its number of every value, and all of two values, with fractions."""
    eps = 0.4
    growth = Fraction(math.exp(eps))
    worlds = [defaultdict(Fraction), defaultdict(Fraction)]
    for told in itertools.product(FILE, repeat=2):
        for first in itertools.product(FILE, repeat=2):
            for second in itertools.product(FILE, repeat=2):
                mass = math.prod(FILE[z] for z in told + first + second)
                totals = [sum(z) for z in zip(told, first, second, strict=True)]
                worlds[0][told, totals[0] + 1, totals[1]] += mass
                worlds[1][told, totals[0], totals[1] + 1] += mass
    exact = sum(max(p - growth * worlds[1].get(seen, 0), 0) for seen, p in worlds[0].items())
    law = parse_law(law_file)
    found = math.exp(HiddenByDummies(sum_of_parties(law, 2)).ln_delta(np.array([eps]))[0])
    assert float(exact) * (1 - 1e-12) <= found == pytest.approx(float(exact), rel=1e-6)
    assert found == math.exp(
        HiddenByDummies(parse_law(f"2*{law_file}")).ln_delta(np.array([eps]))[0]
    )


@pytest.mark.parametrize(
    "text", ["poisson:3.3", "power:7:1.25:2", "noise:1.0:2.0", "binomial:9:0.2", "file"]
)
@pytest.mark.parametrize("parties", [1, 2, 5])
def test_the_error_of_parties_is_that_of_the_convolution(text, parties, law_file):
    law = parse_law(law_file if text == "file" else text)
    probabilities, total = np.exp(law.log_mass), np.ones(1)
    for _ in range(parties):
        total = np.convolve(total, probabilities)
    numbers = parties * law.first + np.arange(total.size)
    expected = total @ abs(numbers - total @ numbers)
    assert error_of_parties(law, parties) == pytest.approx(expected, rel=1e-9)
    assert sum_of_parties(law, parties).absolute_error == pytest.approx(expected, rel=1e-9)
    assert expected_tv(law, n=1000, k=20, parties=parties) == pytest.approx(
        20 * expected / 2000, rel=1e-9
    )


@pytest.mark.parametrize(
    ("power", "deviation"), [(1.0, 3.0), (1.5, 40.0), (2.0, 7.0), (10.0, 0.001)]
)
def test_noise_that_is_not_listed_is_not_likelier_than_stated(power, deviation):
    """A short reach against the sum of what lies beyond it, in mpmath. No warning for a tiny deviation."""
    short = noise(power, deviation, math.ceil(2 * deviation))
    exponents = [(mpmath.mpf(z) / deviation) ** power / power for z in range(1 - short.first, 3000)]
    masses = [mpmath.exp(-exponent) for exponent in exponents]
    middle = mpmath.exp(-((mpmath.mpf(-short.first) / deviation) ** power) / power)
    exact = 2 * sum(masses) / middle * math.exp(short.log_mass[-1])
    assert exact <= math.exp(short.log_outside) * (1 + 1e-9)
    assert exact >= 0.3 * math.exp(short.log_outside)
    assert np.exp(short.log_mass).sum() == pytest.approx(1, rel=1e-12)


# By a program of its own, which rounds losses up to a grid of 0.0001: the power, the deviation, the errors.
NOISE = [
    ((1, 1e-6, 1), (1.0, 2.0, 1.919, 2.936)),
    ((0.1, 1e-6, 1), (1.0, 20.0, 19.99, 29.99)),
    ((1, 1e-6, 4), (1.25, 8.77, 8.035, 11.81)),
    ((1, 1e-8, 52), (1.75, 49.5, 40.9, 58.4)),
]


@pytest.mark.parametrize(("guarantee", "expected"), NOISE)
def test_the_best_noise_of_aggregators(guarantee, expected):
    eps, delta, rounds = guarantee
    law = best_noise(eps, delta, rounds=rounds)
    power, deviation = (float(number) for number in law.name.split(":")[1:])
    found = (power, deviation, error_of_parties(law, 1), error_of_parties(law, 2))
    assert found == pytest.approx(expected, rel=2e-3)
    # The law as it is named is not cut.
    assert HiddenByDummies(parse_law(law.name), rounds=rounds).log10_delta(eps) <= math.log10(delta)
    smaller = HiddenByDummies(noise(power, 0.999 * deviation), rounds=rounds, side=Side.LOWER)
    assert smaller.log10_delta(eps) > math.log10(delta)
    for other in (1.0, 1.25, 1.5, 1.75, 2.0):  # no other power has a smaller error
        scale = deviation
        while error_of_parties(noise(other, scale), 2) > 0.998 * expected[3]:
            scale *= 0.999
        while error_of_parties(noise(other, scale), 2) < 0.998 * expected[3]:
            scale *= 1.0005
        lower = HiddenByDummies(noise(other, scale), rounds=rounds, side=Side.LOWER)
        assert other == power or lower.log10_delta(eps) > math.log10(delta)


@pytest.mark.parametrize("find", [best_cut_law, best_noise])
def test_two_honest_parties_of_three_need_less_each(find):
    law = find(1, 1e-6, parties=3, honest=2)
    bounds = [HiddenByDummies(sum_of_parties(law, 2), side=side).log10_delta(1.0) for side in SIDES]
    assert -6.01 < bounds[0] <= bounds[1] <= -6
    assert HiddenByDummies(law, side=Side.LOWER).log10_delta(1.0) > -5
    alone = find(1, 1e-6, parties=3, honest=1)
    assert error_of_parties(law, 3) < 0.9 * error_of_parties(alone, 3)


def test_more_error_costs_fewer_dummies():
    least = best_cut_law(1, 1e-6, rounds=52)
    cheap = best_cut_law(1, 1e-6, rounds=52, absolute_error=1.05 * least.absolute_error)
    assert cheap.mean < least.mean
    assert least.absolute_error < cheap.absolute_error <= 1.05 * least.absolute_error
    for law in (least, cheap):
        assert HiddenByDummies(law, rounds=52).log10_delta(1.0) <= -6
        assert parse_law(law.name).absolute_error == law.absolute_error
    with pytest.raises(ValueError, match="absolute_error must be above"):
        best_cut_law(1, 1e-6, rounds=52, absolute_error=0.9 * least.absolute_error)


def test_the_best_law_of_many_rounds_takes_few_convolutions(monkeypatch):
    computed = []
    ln_delta = HiddenByDummies.ln_delta
    monkeypatch.setattr(
        HiddenByDummies, "ln_delta", lambda bound, eps: computed.append(eps) or ln_delta(bound, eps)
    )
    # No other test asks for this guarantee: nothing is known yet.
    law = best_cut_law(1, 1e-6, rounds=1001)
    assert len(computed) <= 50
    monkeypatch.undo()
    assert HiddenByDummies(law, rounds=1001).log10_delta(1.0) <= -6


@pytest.mark.parametrize(("values", "mean"), [(1, 42.65), (20, 714.7)])
def test_the_fewest_poisson_dummies_of_devices(values, mean):
    found = smallest_poisson_mean(1, 1e-6, devices=100_000, colluding=0.1, values_per_user=values)
    assert 90_000 * found == pytest.approx(mean, rel=0.001)
    assert HiddenByDummies(poisson(90_000 * found), values).log10_delta(1.0) <= -6
    assert (
        HiddenByDummies(poisson(0.999 * 90_000 * found), values, side=Side.LOWER).log10_delta(1.0)
        > -6
    )


def test_the_mean_of_a_symmetric_law_is_exact():
    """As a sum it is 26.999999999999996 or 27.0, depending on the processor."""
    for text in ("power:27:1.0:2.0001", "gaussian:12.5:3", "geometric:217:0.95"):
        assert parse_law(text).mean == float(text.split(":")[1])


def test_the_error_is_that_of_the_numbers():
    law = poisson(7.3)  # E|Z - m| = 2 e^-m m^(floor m + 1) / (floor m)!
    assert law.absolute_error == pytest.approx(
        2 * math.exp(-7.3) * 7.3**8 / math.factorial(7), rel=1e-12
    )
    assert expected_tv(law, n=1000, k=20) == pytest.approx(20 * law.absolute_error / 2000)
    assert binomial(1000, 0.2).deviation == pytest.approx(math.sqrt(160), rel=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "0,0.5\n1,x\n",
            r"row 2: expected a whole number from 0 to 10000000 and a probability.*got '1,x'",
        ),
        ("0,0.5\n0,0.5\n", "row 2: the number 0 is given twice"),
        ("0,0.5\n1,0.4\n", "probabilities must sum to 1; they sum to 0.9"),
    ],
)
def test_a_wrong_file_of_a_law_is_refused(text, message, tmp_path):
    path = tmp_path / "law.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_law(str(path))
