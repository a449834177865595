"""Dummies of any law: against enumeration with exact fractions and with mpmath."""

import functools
import itertools
import math
from collections import defaultdict
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from tests.library.bounds.enumeration import hockey_stick
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

# The law of the fixture `law_file`: {number of dummies: its probability}.
FILE = {
    0: Fraction(1, 16),
    1: Fraction(1, 4),
    2: Fraction(3, 8),
    3: Fraction(1, 4),
    5: Fraction(1, 16),
}


@pytest.fixture
def law_file(tmp_path):
    """The name of a law that is read from a file with FILE."""
    path = tmp_path / "law.csv"
    path.write_text("".join(f"{number},{float(mass)!r}\n" for number, mass in FILE.items()))
    return f"file:{path}"


def convolved(first, second):
    """{z: probability} of the sum of two independent numbers."""
    result = defaultdict(mpmath.mpf)
    for (z, p), (more, q) in itertools.product(first.items(), second.items()):
        result[z + more] += p * q
    return result


def exact_law(name):
    """{number of dummies: its probability} of the law of this name, by its definition and in mpmath.

    A name is a kind and its numbers, as in "poisson:mean", "binomial:n:p", "geometric:centre:ratio",
    "gaussian:centre:deviation", "power:centre:power:deviation", and "noise:power:deviation" around 0. The
    last four are cut: at 0 and 2 centre, and noise at -40 and 40. "3*..." is the sum of the numbers of three
    parties with this law. "file" is FILE. A Poisson law ends at probabilities of 1e-60.
    """
    if "*" in name:
        parties, name = name.split("*")
        of_party = exact_law(name)
        return functools.reduce(convolved, [of_party] * int(parties))
    if name == "file":
        return {z: mpmath.mpf(p.numerator) / p.denominator for z, p in FILE.items()}

    kind, *texts = name.split(":")
    numbers = [mpmath.mpf(float(text)) for text in texts]
    if kind == "poisson":
        (mean,) = numbers
        law = {z: mpmath.exp(-mean) * mean**z / mpmath.factorial(z) for z in range(200)}
        return {z: p for z, p in law.items() if p > 1e-60}
    if kind == "binomial":
        n, p = numbers
        return {z: mpmath.binomial(n, z) * p**z * (1 - p) ** (n - z) for z in range(int(n) + 1)}

    # Probabilities are proportional to a function of the distance to a centre: exp(-distance^power / (power
    # deviation^power)) or ratio^distance.
    if kind == "noise":
        centre, shape, first, last = 0, numbers, -40, 40
    else:
        centre, *shape = numbers
        first, last = 0, int(2 * centre)

    def weight(distance):
        if kind == "geometric":
            (ratio,) = shape
            return ratio**distance
        power, deviation = (2, *shape) if kind == "gaussian" else shape
        return mpmath.exp(-(distance**power) / (power * deviation**power))

    weights = {z: weight(mpmath.mpf(abs(z - centre))) for z in range(first, last + 1)}
    total = sum(weights.values())
    return {z: weight_of_z / total for z, weight_of_z in weights.items()}


def exact_delta(law_name, eps, values, rounds, neighbours):
    """delta at ``eps`` of P against Q, in mpmath: the sum over the losses of all counts that change.

    ``values`` is how many reports a user has in each of the ``rounds``. Each report raises one count by 1
    under P and another under Q ("replace"), only one under P ("add"), or only one under Q ("remove"). Counts
    are independent, so that losses ln(P / Q) add up. Losses that are equal to 1e-12 are put together.
    """
    law = exact_law(law_name)
    # (P, Q) of one count, for each number z of dummies under P. If P has the report, the count is z + 1, and
    # these are z + 1 dummies under Q. If Q has the report, the count is z: z - 1 dummies and the report.
    raised_by_p = [(p, law.get(z + 1, 0)) for z, p in law.items()]
    raised_by_q = [(p, law.get(z - 1, 0)) for z, p in law.items()]
    counts_of_report = {
        "replace": [raised_by_p, raised_by_q],
        "add": [raised_by_p],
        "remove": [raised_by_q],
    }

    # Of all counts so far: {rounded loss: (probability under P, loss)}, and the probability under P of an
    # infinite loss.
    finite, infinite = {0.0: (mpmath.mpf(1), mpmath.mpf(0))}, mpmath.mpf(0)
    for count in counts_of_report[neighbours] * (values * rounds):
        all_finite = sum(mass for mass, _ in finite.values())
        infinite += all_finite * sum(p for p, q in count if q == 0)
        losses = [(p, mpmath.log(p / q)) for p, q in count if q > 0]
        with_count = {}
        for (mass, loss), (p, more) in itertools.product(finite.values(), losses):
            rounded_loss = round(float(loss + more), 12)
            mass_so_far, _ = with_count.get(rounded_loss, (0, None))
            with_count[rounded_loss] = (mass_so_far + mass * p, loss + more)
        finite = with_count
    above = [mass * -mpmath.expm1(eps - loss) for mass, loss in finite.values() if loss > eps]
    return infinite + sum(above)


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
    ("law_name", "values", "rounds"),
    [(name, *times) for name in SMALL for times in ((1, 2), (3, 1), (1, 5))]
    + [(name, 1, 1) for name in LARGER + SMALL + SUMS]
    + [("file", values, rounds) for values, rounds in ((1, 1), (2, 1), (3, 1), (1, 5))],
)
def test_delta_is_that_of_the_double_sum(law_name, values, rounds, neighbours, law_file):
    """A lower and an upper bound on delta enclose `exact_delta`, and are close to it.

    ``values`` is how many reports a user has in each round. For one report in one round, `exact_delta` is a
    sum over both counts that it changes. `law_file` is the name of the law FILE, read from a file.
    """
    law = parse_law(law_file if law_name == "file" else law_name)
    all_eps = np.array([0.0, 0.3, 1.0, 2.5])
    lower, upper = (
        np.exp(HiddenByDummies(law, values, rounds, neighbours, side=side).ln_delta(all_eps))
        for side in SIDES
    )
    for eps, low, high in zip(all_eps.tolist(), lower, upper, strict=True):
        exact = float(exact_delta(law_name, eps, values, rounds, neighbours))
        # 1e-12 is of rounding; 1e-40 is more than what `exact_law` leaves out.
        assert low * (1 - 1e-12) <= exact <= high * (1 + 1e-12) + 1e-40
        # The upper bound was at most 0.02 % above, and the lower one 0.5 % below: they use a grid of losses.
        assert high <= exact * (1 + 5e-4) + 1e-15
        assert low >= exact * (1 - 1e-2)


# The target user's reports under P and under Q, and ``neighbours`` and ``values`` of these.
DATASETS = [
    *[((0,), (1,), "replace", 1), ((0, 1), (2, 3), "replace", 2), ((0, 1), (1, 2), "replace", 1)],
    *[((), (1, 2), "remove", 2), ((1, 2), (), "add", 2)],
]


@pytest.mark.parametrize(("under_p", "under_q", "neighbours", "values"), DATASETS)
def test_it_is_the_delta_of_the_whole_histogram_of_every_dataset(
    under_p, under_q, neighbours, values, law_file
):
    """`HiddenByDummies` has delta of the histogram of four values, to 1e-6, against exact fractions.

    ``under_p`` and ``under_q`` are the values that the target user reports, ``values`` the most of these
    that may differ, and ``neighbours`` how P and Q differ. A histogram counts dummies, whose number for each
    value has the law FILE, the target user's reports, and those of other users, which are known and change
    nothing. `law_file` is the name of FILE's law. `hockey_stick` is delta of two {histogram: probability}.
    """
    eps = 0.4
    hidden = HiddenByDummies(parse_law(law_file), values, 1, neighbours)
    delta = math.exp(hidden.ln_delta(np.array([eps]))[0])

    def distribution(reports, others):
        """{histogram: probability}, where ``others`` has the number of other users' reports of each value."""
        result = defaultdict(Fraction)
        for dummies in itertools.product(FILE, repeat=4):
            histogram = tuple(
                others[value] + dummies[value] + (value in reports) for value in range(4)
            )
            result[histogram] += math.prod(FILE[number] for number in dummies)
        return result

    for others in ((0, 0, 0, 0), (3, 0, 1, 7)):
        p, q = (distribution(reports, others) for reports in (under_p, under_q))
        exact = float(hockey_stick(p, q, Fraction(math.exp(eps))))
        assert delta == pytest.approx(exact, rel=1e-6)
        assert delta >= exact * (1 - 1e-12)


def test_many_rounds_and_large_means_stay_between_near_bounds():
    for law, rounds, eps in ((parse_law("gaussian:253:43.2"), 52, 1.0), (poisson(1e5), 100, 0.19)):
        low, high = (HiddenByDummies(law, 1, rounds, side=side).log10_delta(eps) for side in SIDES)
        assert -7 < high - 0.03 < low < high < -5


# A law, and one that differs from it only in numbers of probability 1e-20 and less, for the enumeration.
NARROW = [
    ("gaussian:1000000:3", "gaussian:30:3", 2.106176),
    ("gaussian:100000:3", "gaussian:30:3", 2.106176),
    ("power:1000:4:5", "power:20:4:5", 3.792886),
    ("power:40:10:1.35", "power:40:10:1.35", 576.90),
    ("gaussian:5:0.02", "gaussian:5:0.02", 2500.0),
]


@pytest.mark.parametrize(("law_name", "narrow", "truth"), NARROW)
def test_a_law_that_is_narrow_beside_its_range_has_a_tight_bracket(law_name, narrow, truth):
    """Numbers that never occur once had losses so large that all others fell on one point of the grid."""
    law = parse_law(law_name)
    low, high = (HiddenByDummies(law, side=side).epsilon(1e-6) for side in SIDES)
    assert low <= high <= low * 1.0001
    assert high == pytest.approx(truth, rel=1e-5)
    one_round = {"values": 1, "rounds": 1, "neighbours": "replace"}
    assert exact_delta(narrow, high, **one_round) <= 1e-6 <= exact_delta(narrow, low, **one_round)


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


@pytest.mark.parametrize(
    ("eps", "delta", "mean", "ratio"), [(1, 1e-6, 27, 0.470), (2, 1e-6, 14, 0.432)]
)
def test_the_best_law_of_one_round_is_geometric(eps, delta, mean, ratio):
    """`best_cut_law` finds a geometric law of dummies; one dummy fewer on average misses the guarantee.

    The guarantee is (``eps``, ``delta``). The law's name is power:mean:power:deviation: with power 1 it is
    geometric. ``ratio`` is its standard deviation over that of the Gaussian mechanism with the same
    guarantee, of sensitivity sqrt 2, as two counts change. Means and ratios are those that the search found.
    """
    law = best_cut_law(eps, delta)
    sigma = exact_scale(eps, delta, sensitivity=math.sqrt(2))
    _, _, power = law.name.split(":")[:3]
    assert (law.mean, power) == (pytest.approx(mean), "1.0")
    assert law.deviation / sigma == pytest.approx(ratio, rel=0.01)
    assert exact_delta(law.name, eps, values=1, rounds=1, neighbours="replace") <= delta
    # The ratios of neighbouring probabilities of the best laws, about e^-0.5 and e^-1, are in this range.
    for ratio_of_neighbours in np.linspace(0.3, 0.95, 14):
        fewer = parse_law(f"geometric:{mean - 1}:{ratio_of_neighbours}")
        assert HiddenByDummies(fewer, side=Side.LOWER).log10_delta(eps) > math.log10(delta)


def test_the_honest_parties_dummies_are_those_that_count(law_file):
    """Of three parties one tells its numbers: delta is that of two parties' dummies, with exact fractions.

    Each party adds a number of dummies with the law FILE to each of two values. An outcome is what the one
    party tells and both counts. The target user reports value 0 under P and value 1 under Q. `law_file` is
    the name of FILE's law, and "2*" before it makes it that of the sum of two parties.
    """
    eps = 0.4
    p, q = defaultdict(Fraction), defaultdict(Fraction)
    # (Dummies of value 0, dummies of value 1) of one party: the one that tells, and two honest ones.
    pairs_of_numbers = list(itertools.product(FILE, repeat=2))
    for told, first, second in itertools.product(pairs_of_numbers, repeat=3):
        chance = math.prod(FILE[number] for number in told + first + second)
        count_0, count_1 = (sum(numbers) for numbers in zip(told, first, second, strict=True))
        p[told, count_0 + 1, count_1] += chance
        q[told, count_0, count_1 + 1] += chance
    exact = float(hockey_stick(p, q, Fraction(math.exp(eps))))

    def delta(law):
        return math.exp(HiddenByDummies(law).ln_delta(np.array([eps]))[0])

    of_two = delta(sum_of_parties(parse_law(law_file), 2))
    assert exact * (1 - 1e-12) <= of_two == pytest.approx(exact, rel=1e-6)
    assert of_two == delta(parse_law(f"2*{law_file}"))


@pytest.mark.parametrize(
    "law_name", ["poisson:3.3", "power:7:1.25:2", "noise:1.0:2.0", "binomial:9:0.2", "file"]
)
@pytest.mark.parametrize("parties", [1, 2, 5])
def test_the_error_of_parties_is_that_of_the_convolution(law_name, parties, law_file):
    """`error_of_parties` is E|Z - E[Z]| of the number Z of all parties' dummies of a value, in users.

    Expected is this mean by numpy's convolution of the law with itself: ``law.log_mass`` are the natural logs
    of the probabilities of law.first, law.first + 1, ... `expected_tv` is half the sum over the k values of
    this error, as a share of the n users. `law_file` is the name of a law in a file.
    """
    law = parse_law(law_file if law_name == "file" else law_name)
    probabilities = functools.reduce(np.convolve, [np.exp(law.log_mass)] * parties)
    numbers = parties * law.first + np.arange(probabilities.size)
    mean = probabilities @ numbers
    expected = pytest.approx(probabilities @ abs(numbers - mean), rel=1e-9)
    assert error_of_parties(law, parties) == expected
    assert sum_of_parties(law, parties).absolute_error == expected
    n, k = 1000, 20
    assert expected_tv(law, n=n, k=k, parties=parties) * 2 * n / k == expected


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("power", "deviation"), [(1.0, 3.0), (1.5, 40.0), (2.0, 7.0), (10.0, 0.001)]
)
def test_noise_that_is_not_listed_is_not_likelier_than_stated(power, deviation):
    """``law.log_outside`` is ln of an upper bound on the probability of all numbers beyond -reach and reach.

    Expected is the sum of these probabilities, in mpmath. The bound is at most about three times as large:
    1.2 times were seen. A tiny deviation gives no warning. A probability is proportional to `weight`.
    """
    reach = math.ceil(2 * deviation)
    law = noise(power, deviation, reach)

    def weight(z):
        return mpmath.exp(-((mpmath.mpf(z) / deviation) ** power) / power)

    last_probability = math.exp(law.log_mass[-1])  # of z = -law.first, the largest number listed
    # Up to 3000, 75 times the largest deviation, 40.
    beyond = sum(weight(z) for z in range(1 - law.first, 3000))
    exact = 2 * beyond / weight(-law.first) * last_probability
    stated = math.exp(law.log_outside)
    assert exact <= stated * (1 + 1e-9)
    assert exact >= 0.3 * stated
    assert np.exp(law.log_mass).sum() == pytest.approx(1, rel=1e-12)


NOISE = [
    ((1, 1e-6, 1), (1.0, 2.0, 1.919, 2.936)),
    ((0.1, 1e-6, 1), (1.0, 20.0, 19.99, 29.99)),
    ((1, 1e-6, 4), (1.25, 8.77, 8.035, 11.81)),
    ((1, 1e-8, 52), (1.75, 49.5, 40.9, 58.4)),
]


@pytest.mark.parametrize(("guarantee", "expected"), NOISE)
def test_the_best_noise_of_aggregators(guarantee, expected):
    """`best_noise` finds the law with the least error of two parties' noise; no other power has less error.

    ``guarantee`` is eps, delta and rounds, and holds for one party's noise alone. ``expected`` is what the
    search found: power, deviation, and the mean absolute errors, in users, of one and of two parties' noise.
    """
    eps, delta, rounds = guarantee
    *_, error_of_two = expected
    law = best_noise(eps, delta, rounds=rounds)
    power, deviation = (float(number) for number in law.name.split(":")[1:])
    errors = [error_of_parties(law, parties) for parties in (1, 2)]
    assert (power, deviation, *errors) == pytest.approx(expected, rel=2e-3)

    def log10_delta(law, side):
        return HiddenByDummies(law, rounds=rounds, side=side).log10_delta(eps)

    # The law of this name keeps the guarantee, and one with a deviation that is 0.1 % smaller does not.
    assert log10_delta(parse_law(law.name), Side.UPPER) <= math.log10(delta)
    assert log10_delta(noise(power, 0.999 * deviation), Side.LOWER) > math.log10(delta)
    # No other power has a smaller error: with an error 0.2 % smaller, its delta is too large.
    for other_power in (1.0, 1.25, 1.5, 1.75, 2.0):
        spread = deviation
        # The deviation falls until the error is below that, and rises in finer steps to just above.
        while error_of_parties(noise(other_power, spread), 2) > 0.998 * error_of_two:
            spread *= 0.999
        while error_of_parties(noise(other_power, spread), 2) < 0.998 * error_of_two:
            spread *= 1.0005
        is_best = other_power == power
        assert is_best or log10_delta(noise(other_power, spread), Side.LOWER) > math.log10(delta)


@pytest.mark.parametrize("find", [best_cut_law, best_noise])
def test_two_honest_parties_of_three_need_less_each(find):
    law = find(1, 1e-6, parties=3, honest=2)
    bounds = [HiddenByDummies(sum_of_parties(law, 2), side=side).log10_delta(1.0) for side in SIDES]
    assert -6.01 < bounds[0] <= bounds[1] <= -6
    assert HiddenByDummies(law, side=Side.LOWER).log10_delta(1.0) > -5
    alone = find(1, 1e-6, parties=3, honest=1)
    assert error_of_parties(law, 3) < 0.9 * error_of_parties(alone, 3)


def test_more_error_costs_fewer_dummies():
    """If ``absolute_error`` may be 5 % larger than about the least, `best_cut_law` needs fewer dummies.

    ``absolute_error`` is the mean absolute error of a count, in users. ``mean`` is the mean number of dummies
    of a value. Both laws have the guarantee eps = 1, delta = 1e-6 in 52 rounds. Their names give laws with
    the same error. An error below that of every law is refused.
    """
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
    """`best_cut_law` computes delta, which costs a convolution, at most 50 times: 40 were seen.

    `HiddenByDummies.ln_delta` is replaced by one that notes each call. The law found has the guarantee.
    """
    computed = []
    ln_delta = HiddenByDummies.ln_delta
    monkeypatch.setattr(
        HiddenByDummies, "ln_delta", lambda bound, eps: computed.append(eps) or ln_delta(bound, eps)
    )
    # No other test asks for this guarantee, so that nothing of it is cached yet.
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
