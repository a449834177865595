"""Which design to run: each has the guarantee, none could be better, and the errors are right."""

import functools
import itertools
import math
import re
import time

import numpy as np
import pytest
from scipy import stats

import tightshuffle
from tests.library.bounds.enumeration import Shuffled, krr_probabilities
from tests.library.cli.calls import answer, call
from tightshuffle.cli.design_command import DEFAULTS
from tightshuffle.cli.layout import ERROR_OF_REPORTS, USELESS_EPS, USELESS_ERROR, what_is_left
from tightshuffle.collection import Collection, Group
from tightshuffle.dummies.best_law import best_cut_law, smallest_poisson_mean
from tightshuffle.dummies.bound import HiddenByDummies
from tightshuffle.dummies.laws import parse_law, poisson
from tightshuffle.planning.designs import collection_with_dummies, compare_designs, fewest_dummies

SETTINGS = [  # n, k, eps, delta, eps0, rounds
    (2000, 16, 0.5, 1e-6, 3.5, 1),
    (2000, 16, 0.5, 1e-6, 2.5, 4),
    (300, 2, 1.0, 1e-3, 4.0, 1),
    (10**8, 40, 0.1, 1e-9, 13.0, 1),
    (5, 1000, 2.0, 1e-6, 8.0, 1),
]
ASKED = [  # n, k, eps, delta; options as below
    ((20_000, 30, 1.0, 1e-6), (1, 1, 0, 1, 0.1, 2, 1)),
    ((20_000, 30, 0.3, 1e-8), (5, 1, 0.1, 0.75, 0.25, 3, 2)),
    ((20_000, 30, 1.0, 1e-5), (2, 3, 500, 1, 0, 2, 2)),
]
OPTIONS = ("rounds", "values_per_user", "colluding", "participation", "share", "parties", "honest")


@functools.cache
def compared(setting, options):
    return compare_designs(*setting, **dict(zip(OPTIONS, options, strict=True)))


def delta_of_dummies(dummies, k, eps):
    """delta if users send the values themselves and the shuffler adds uniform dummies, without our bounds.

    N0 and N1 of the dummies + 1 uniform reports are of x0 and of x1. Given the counts, a report of x0 was the
    user's with probability N0 / (dummies + 1), of k times its probability among uniform reports.
    """
    sent = dummies + 1
    most = int(stats.binom.isf(1e-16, sent, 1 / k))
    zeros, ones = np.arange(most + 1)[:, None], np.arange(most + 1)
    both = stats.binom.pmf(zeros, sent, 1 / k) * stats.binom.pmf(ones, sent - zeros, 1 / (k - 1))
    return float((np.maximum(zeros - np.exp(eps) * ones, 0) * both).sum() * k / sent)


@pytest.mark.parametrize(("n", "k", "eps", "delta", "eps0", "rounds"), SETTINGS)
def test_one_dummy_fewer_is_too_few(n, k, eps, delta, eps0, rounds):
    found = fewest_dummies(n, k, eps, delta, eps0=eps0, rounds=rounds)
    assert found > 0
    assert collection_with_dummies(n, k, eps0, found, rounds=rounds).delta(eps) <= delta
    assert collection_with_dummies(n, k, eps0, found - 1, rounds=rounds).delta(eps) > delta


@pytest.mark.parametrize(
    ("k", "eps", "delta"), [(100, 1.0, 1e-6), (10, 0.5, 1e-4), (400, 2.0, 1e-9)]
)
def test_dummies_alone_are_those_of_the_formula(k, eps, delta):
    """Our bound is within 0.01 % of delta, which is less than a dummy in a thousand changes."""
    found = fewest_dummies(1, k, eps, delta)
    assert delta_of_dummies(found, k, eps) <= delta
    assert delta_of_dummies(round(0.999 * found) - 1, k, eps) > delta


def test_no_dummies_where_reports_alone_are_enough():
    alone = tightshuffle.plan(n=2000, k=16, eps=0.5, delta=1e-6).eps0
    assert fewest_dummies(2000, 16, 0.5, 1e-6, eps0=0.4) == 0
    assert fewest_dummies(2000, 16, 0.5, 1e-6, eps0=0.999 * alone) == 0
    assert fewest_dummies(2000, 16, 0.5, 1e-6, eps0=1.001 * alone) > 0
    # Where the histogram is one count, the blanket's bound asks for dummies in vain.
    alone = tightshuffle.plan(n=740, k=2, eps=0.1, delta=6.2e-9).eps0
    assert fewest_dummies(740, 2, 0.1, 6.2e-9, eps0=alone) == 0


def deltas(design, setting, options):
    """delta of a design by the bound behind it, and with parameters that would be a little more accurate."""
    n, k, eps, _ = setting
    rounds, values, colluding, participation, _, _, honest = options
    if design.law:
        name, *numbers = design.law.split(":")
        if name == "poisson":
            devices = n - (math.ceil(n * colluding) if colluding < 1 else colluding)
            laws = [poisson(float(numbers[0]) * devices / n * factor) for factor in (1, 0.999)]
        else:
            deviation = float(numbers.pop())
            texts = [":".join([name, *numbers, repr(deviation * factor)]) for factor in (1, 0.999)]
            laws = [parse_law(f"{honest}*{text}" if name == "noise" else text) for text in texts]
        return [10 ** float(HiddenByDummies(law, values, rounds).log10_delta(eps)) for law in laws]
    if "dummies" in design.name:
        collections = [
            collection_with_dummies(n, k, design.eps0, number, colluding, rounds, participation)
            for number in (design.dummies, design.dummies - 1)
        ]
    else:
        sums = "sums" in design.name
        given = {"randomizer": design.name.split(",")[0].lower(), "release": "sums"} if sums else {}
        groups = [
            Group("a", n, design.eps0 * factor, participation, colluding)
            for factor in (1 - 1e-6, 1.001)
        ]
        collections = [Collection(k, (group,), rounds=rounds * values, **given) for group in groups]
    return [collection.delta(eps) for collection in collections]


@pytest.mark.parametrize(("setting", "options"), ASKED)
def test_every_design_has_the_guarantee_and_none_could_be_better(setting, options):
    n, k, _, delta = setting
    rounds, values, _, participation, *_ = options
    found = compared(setting, options)
    order = [(one.popular_error, one.error) for one in found.designs]
    assert order == sorted(order)
    names = {one.name for one in found.designs}
    assert (
        {"k-RR", "k-RR with dummies"} - names
        == set(found.left_out)
        == ({"k-RR", "k-RR with dummies"} if values > 1 else set())
    )
    for one in found.designs:
        summed = "sums" in one.name or one.name == "noise of aggregators"
        sent = 1 if summed else values
        assert one.messages_per_user == pytest.approx(sent + one.dummies / (n * participation))
        assert one.bits_per_user == one.messages_per_user * (
            k if summed else math.ceil(math.log2(k))
        )
        if one.reference:
            continue
        with_these, with_better = deltas(one, setting, options)
        assert with_these <= delta < with_better, one.name
        assert one.eps_if_it_fails == rounds * values * one.eps0


FEW_DUMMIES = [
    ((1_000_000, 10, 3.0, 0.9), {}),
    ((50, 1000, 2.0, 0.9), {}),
    ((17_004, 364, 1.8753, 0.3673), {"colluding": 10}),
]


@pytest.mark.parametrize(("setting", "options"), FEW_DUMMIES)
def test_the_table_has_all_other_designs_where_hardly_any_dummies_are_needed(setting, options):
    """Below about 1.7 dummies per value the normal approximation exceeds 1.05 times the exact error."""
    found = compare_designs(*setting, **options)
    assert {one.name for one in found.designs} >= {
        "k-RR",
        "dummies of the best law",
        "RAPPOR, sums only",
    }
    assert list(found.left_out) == ["k-RR with dummies"]
    assert "within 5% of that of dummies alone" in found.left_out["k-RR with dummies"]


def test_small_eps_and_many_rounds_are_answered_in_seconds():
    """The search for the mean took one step per dummy, and its bounds were as fine as the result."""
    start = time.process_time()
    for eps, rounds in ((1e-4, 1), (1.0, 20_000)):
        law = best_cut_law(eps, 1e-6, rounds=rounds)
        assert -6.001 < float(HiddenByDummies(law, rounds=rounds).log10_delta(eps)) <= -6
    assert time.process_time() - start < 30


def chances(name, eps0, k):
    """The probabilities that a report supports its user's value, and another one."""
    growth = math.exp(eps0)
    if name.startswith("k-RR"):
        return growth / (growth + k - 1), 1 / (growth + k - 1)
    if name.startswith("RAPPOR"):
        return math.sqrt(growth) / (math.sqrt(growth) + 1), 1 / (math.sqrt(growth) + 1)
    return 0.5, 1 / (growth + 1)


def noise_of(design, n, k, share):
    """Standard deviation of a value's estimated count: the numbers of reports and dummies, over the slope."""
    p, q = chances(design.name, design.eps0, k)
    dummies = design.dummies * (1 - 1 / k) / k
    return math.sqrt(n * (share * p * (1 - p) + (1 - share) * q * (1 - q)) + dummies) / (p - q)


def mass_of(text):
    """The probabilities of a law by its definition, around the middle of the array unless it is Poisson's."""
    name, *numbers = text.split(":")
    *_, power, deviation = (float(number) for number in ("0", *numbers))
    if name == "poisson":
        return stats.poisson.pmf(np.arange(10 * int(deviation)), deviation)
    reach = 40 * deviation if name == "noise" else float(numbers[0])
    z = np.arange(-round(reach), round(reach) + 1)
    mass = np.exp(-((abs(z) / deviation) ** power) / power)
    return mass / mass.sum()


@pytest.mark.parametrize(("setting", "options"), ASKED)
def test_errors_are_those_of_the_closed_forms(setting, options):
    n, k, eps, delta = setting
    rounds, values, _, participation, popular, parties, _ = options
    reports = n * participation
    for one in compared(setting, options).designs:
        for share, error in (
            (values / k, 2 / k * reports * one.error),
            (0, one.rare_error),
            (popular, one.popular_error),
        ):
            if one.law:
                mass = mass_of(one.law)
                for _ in range(parties - 1 if one.law.startswith("noise") else 0):
                    mass = np.convolve(mass, mass_of(one.law))
                expected = mass @ abs(np.arange(mass.size) - mass @ np.arange(mass.size))
            elif one.name == "central geometric":
                expected = 1 / math.sinh(eps / (2 * rounds * values))
            elif one.name == "central Gaussian":
                sensitivity = math.sqrt(2 * rounds * values)
                scale = tightshuffle.gaussian.exact_scale(eps, delta, sensitivity=sensitivity)
                expected = math.sqrt(2 / math.pi) * scale
            else:
                expected = math.sqrt(2 / math.pi) * noise_of(one, reports, k, share)
            assert error == pytest.approx(expected, rel=1e-6), one.name


def test_the_error_of_a_popular_value_is_that_of_a_simulation():
    """Of reports and, in the design with dummies, of dummies: within five standard errors of the mean."""
    setting, options = ASKED[0]
    n, k, *_ = setting
    share, runs = 0.1, 20_000
    rng = np.random.default_rng(20261128)
    checked = 0
    for one in compared(setting, options).designs:
        if one.eps0 == math.inf:
            continue
        p, q = chances(one.name, one.eps0, k)
        reports = rng.binomial(int(n * share), p, runs) + rng.binomial(n - int(n * share), q, runs)
        dummies = rng.binomial(int(one.dummies), 1 / k, runs) - one.dummies / k
        errors = abs((reports + dummies - n * q) / (p - q) - n * share)
        assert abs(errors.mean() - one.popular_error) < 5 * errors.std() / math.sqrt(runs), one.name
        checked += 1
    assert checked == 4


def test_who_takes_part_hides_others_by_every_number_of_reports():
    """Six users of whom each reports with some probability: delta of every dataset, over who reports."""
    n, k, eps, delta, participation = 6, 3, 0.5, 0.02, 0.6
    planned = tightshuffle.plan(n=n, k=k, eps=eps, delta=delta, participation=participation).eps0
    everybody = tightshuffle.plan(n=n, k=k, eps=eps, delta=delta).eps0

    def worst(eps0):
        matrix = np.array([krr_probabilities(value, math.exp(eps0), k) for value in range(k)])
        shuffled = [Shuffled(matrix, users) for users in range(1, n + 1)]
        deltas = []
        for others in shuffled[-1].datasets():
            total = 0.0
            for present in itertools.product((False, True), repeat=n - 1):
                there = tuple(itertools.compress(others, present))
                mass = participation ** len(there) * (1 - participation) ** (n - 1 - len(there))
                total += mass * float(shuffled[len(there)].delta(there, (0, 1), np.asarray(eps)))
            deltas.append(total)
        return max(deltas)

    assert eps < planned < everybody
    assert 0.5 * delta < worst(planned) <= delta < worst(everybody)


def test_participation_of_one_is_that_of_everybody():
    setting = {"k": 20, "eps": 0.5, "delta": 1e-6}
    for given in ({}, {"randomizer": "oue", "release": "sums"}):
        everybody = tightshuffle.plan(n=10_000, **setting, **given)
        assert tightshuffle.plan(n=10_000, **setting, **given, participation=1.0) == everybody
        nearly = tightshuffle.plan(n=10_000, **setting, **given, participation=1 - 1e-9)
        assert nearly.eps0 == pytest.approx(everybody.eps0, rel=1e-3)
        # Twice as many could report; for sums, which need 10,000 reports but for a probability of 5e-10,
        # six standard deviations (70 reports) more have to be expected.
        users = tightshuffle.fewest_users(
            0.5, 1e-6, k=20, eps0=everybody.eps0, **given, participation=0.5
        )
        assert 20_000 * 0.999 <= users <= 20_000 * (1.05 if given else 1.001)
        planned = tightshuffle.plan(n=users, **setting, **given, participation=0.5)
        assert planned.eps0 == pytest.approx(everybody.eps0, rel=1e-3)
        reports = round(users / 2)
        alike = tightshuffle.plan(n=reports, **setting, **given)
        for name in ("gaussian", "local"):
            assert planned.tv[name] == alike.tv[name]


def test_sums_of_several_values_per_user_by_every_count():
    """RAPPOR's sums for a user who moves two values: four independent counts, for every dataset."""
    n, k, values, eps, eps0 = 3, 5, 2, 0.8, 2.0
    p = math.exp(eps0 / 2) / (math.exp(eps0 / 2) + 1)
    bound = tightshuffle.delta(
        eps, n=n, k=k, eps0=eps0, randomizer="rappor", release="sums", rounds=values
    )

    def count(own, held):
        parts = [
            stats.binom.pmf(range(n), held, p),
            stats.binom.pmf(range(n), n - 1 - held, 1 - p),
            own,
        ]
        both = np.convolve(parts[0], parts[1])[:n]
        return np.convolve(both, parts[2])

    one, zero = [1 - p, p], [p, 1 - p]
    worst = 0.0
    for held in np.ndindex((n,) * 4):
        first, second = np.ones(1), np.ones(1)
        for i, each in enumerate(held):
            ends = (one, zero) if i < 2 else (zero, one)
            first = np.multiply.outer(first, count(ends[0], each)).ravel()
            second = np.multiply.outer(second, count(ends[1], each)).ravel()
        worst = max(worst, float(np.maximum(first - math.exp(eps) * second, 0).sum()))
    assert 0.5 * bound < worst <= bound


def test_the_command_prints_the_table():
    (n, k, eps, delta), options = ASKED[2]
    words = ["design", "--n", n, "--k", k, "--eps", eps, "--delta", delta]
    for name, value in zip(OPTIONS, options, strict=True):
        words += [f"--{name.replace('_', '-')}", value]
    found, own = answer(*words), compared(*ASKED[2])
    changed = {
        name: value for name, value in zip(OPTIONS, options, strict=True) if value != DEFAULTS[name]
    }
    assert changed == {name: found[name] for name in OPTIONS if name in found}
    assert [found[name] for name in ("n", "k", "log10_delta")] == [n, k, -5]
    assert [row["name"] for row in found["designs"]] == [one.name for one in own.designs]
    assert [row["error"] for row in found["designs"]] == [one.error for one in own.designs]
    assert found["designs"][0]["eps_if_it_fails"] is None
    text = call(*words)[1]
    assert "Left out: k-RR (only for one report per user and round)." in text
    for one in own.designs:
        assert re.search(
            rf"^{one.name} .* {one.trust} +{re.escape(one.parameters)}$", text, re.MULTILINE
        )
    for wrong in (["--eps", "1e-6"], ["--values-per-user", 31]):
        code, out, err = call(*words, *wrong)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"tightshuffle: {wrong[0].strip('-').replace('-', '_')} must be ")


NOBODY = "of these designs protects anybody if the shuffler or the aggregators fail."


def test_the_command_says_where_nothing_useful_is_left(monkeypatch):
    once = functools.cache(compare_designs)  # the text and the JSON tell of the same designs
    monkeypatch.setattr("tightshuffle.cli.design_command.compare_designs", once)
    settings = [
        (20_000, 1, 1, "None"),
        (20_000, 1, 3, "For 3 rounds, none"),
        (2000, 0.5, 1, "None"),
    ]
    for n, eps, rounds, start in settings:
        words = ["design", "--n", n, "--k", 30, "--eps", eps, "--delta", 1e-6, "--rounds", rounds]
        text = call(*words)[1]
        left = [design["eps_if_it_fails"] for design in answer(*words)["designs"]]
        useful = [eps for eps in left if eps is not None and eps < USELESS_EPS]
        assert bool(useful) == (n == 2000)
        assert (f"\n{start} {NOBODY}\n" in text) == (not useful)
        assert (
            "\nn is how many users report in each round, and the guarantee is for each of them.\n"
            in text
        )
        for eps in left:
            shown = what_is_left(math.inf if eps is None else eps)
            assert re.search(rf"  {re.escape(shown)} *\n", text), shown


@pytest.mark.parametrize(
    ("eps", "shown"),
    [
        (math.inf, "nothing"),
        (360.83, "nothing useful (eps 361)"),
        (6, "nothing useful (eps 6)"),
        (5.99, "eps 5.99"),
    ],
)
def test_from_six_on_nothing_useful_is_left(eps, shown):
    assert what_is_left(eps) == shown


def test_the_command_says_whom_the_guarantee_is_for():
    words = ["--n", 10_000, "--k", 30, "--eps", 1, "--delta", 1e-6, "--participation", "80%"]
    for command in ("design", "plan"):
        text = call(command, *words)[1]
        assert (
            "n is how many users could report. In each round a user does with probability 0.8."
            in text
        )
        assert (
            "The guarantee is for a user who reports in every round, and does not hide who reports."
            in text
        )
        assert ERROR_OF_REPORTS in text
    assert answer("plan", *words)["participation"] == 0.8
    text = call("users", "--eps0", 4, *words[2:])[1]
    assert "The guarantee is for a user who reports in every round" in text
    text = call("design", *words[:-2], "--share", "20%")[1]
    assert "that a share of 0.2 of the users hold (2,000)" in text


def test_the_command_says_that_an_error_above_one_is_useless():
    words = ["design", "--k", 100, "--eps", 1, "--delta", 1e-6]
    assert USELESS_ERROR in call(*words, "--n", 100)[1]
    assert USELESS_ERROR not in call(*words, "--n", 10_000)[1]


def poisson_over_gaussian(eps, delta, rounds):
    """Error of the fewest Poisson dummies over that of the central Gaussian with the same guarantee."""
    mean = smallest_poisson_mean(eps, delta, rounds=rounds)
    scale = tightshuffle.gaussian.exact_scale(eps, delta, sensitivity=math.sqrt(2 * rounds))
    return poisson(mean).absolute_error / (math.sqrt(2 / math.pi) * scale)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [1e-2, 1e-3, 1e-6, 1e-12])
def test_up_to_an_eps_of_one_poisson_dummies_are_nearly_as_good_as_the_gaussian(delta):
    """The ranges of docs/designs.md."""
    found = [
        poisson_over_gaussian(eps, delta, rounds)
        for eps in (0.1, 0.3, 0.6, 1.0)
        for rounds in (1, 4)
    ]
    assert 1 < max(found) <= 1.11
    if delta == 1e-6:
        beyond = [poisson_over_gaussian(eps, delta, 1) for eps in (2.0, 5.0)]
        assert beyond == [pytest.approx(1.345, abs=0.005), pytest.approx(2.7, abs=0.05)]
