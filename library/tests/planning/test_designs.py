"""Which design to run: each has the guarantee, none could be better, and the errors are right."""

import functools
import itertools
import math
import re

import numpy as np
import pytest
from scipy import signal, stats

import tightshuffle
from tests.bounds.enumeration import Shuffled, krr_probabilities
from tests.bounds.test_sums import hockey_sticks, probabilities_of_sums
from tests.cli.calls import json_answer, refusal, text_answer
from tests.collection.test_collection_of_sums import probabilities_of_one
from tests.planning.once import compared_once
from tightshuffle.cli import design_command
from tightshuffle.cli.design_command import DEFAULTS
from tightshuffle.cli.layout import ERROR_OF_REPORTS, USELESS_EPS, USELESS_ERROR, what_is_left
from tightshuffle.collection import Collection, Dummies, Group
from tightshuffle.dummies import best_law
from tightshuffle.dummies.best_law import best_cut_law, smallest_poisson_mean
from tightshuffle.dummies.bound import HiddenByDummies
from tightshuffle.dummies.laws import parse_law, poisson
from tightshuffle.mechanisms.gaussian import log10_delta_of_scale
from tightshuffle.planning.designs import collection_with_dummies, compare_designs, fewest_dummies

# Arguments of `compare_designs`.
ONE_VALUE = {"n": 20_000, "k": 30, "eps": 1.0, "delta": 1e-6}
TEN_ROUNDS = ONE_VALUE | {
    "n": 200_000,
    "k": 5,
    "eps": 0.3,
    "delta": 1e-8,
    "rounds": 10,
    "colluding": 0.1,
    "participation": 0.75,
    "share": 0.25,
}
THREE_VALUES = ONE_VALUE | {
    "delta": 1e-5,
    "rounds": 2,
    "values_per_user": 3,
    "colluding": 500,
    "share": 0,
    "parties": 3,
    "honest": 2,
}
# A test gets all arguments: DEFAULTS are those of the command.
QUESTIONS = pytest.mark.parametrize(
    "asked",
    [DEFAULTS | ONE_VALUE, DEFAULTS | TEN_ROUNDS, DEFAULTS | THREE_VALUES],
    ids=["one value per user", "ten rounds", "three values per user"],
)
compare_once = compared_once(compare_designs)


@pytest.fixture(autouse=True)
def _the_command_compares_once(monkeypatch):
    monkeypatch.setattr(design_command, "compare_designs", compare_once)


def delta_of_uniform_dummies(dummies, k, eps):
    """delta if users send the values themselves and the shuffler adds uniform dummies, by its definition.

    Let N0 and N1 be how many of dummies + 1 uniform reports are of x0 and of x1. If the target user holds x0,
    the counts have k N0 / (dummies + 1) times the probability that they have among uniform reports, and so
    for x1. Hence delta = k E[(N0 - e^eps N1)_+] / (dummies + 1).
    """
    reports = dummies + 1
    most = int(stats.binom.isf(1e-16, reports, 1 / k))  # larger counts have no weight
    n0, n1 = np.arange(most + 1)[:, None], np.arange(most + 1)
    probability_of_n0 = stats.binom.pmf(n0, reports, 1 / k)
    probabilities = probability_of_n0 * stats.binom.pmf(n1, reports - n0, 1 / (k - 1))
    return float((np.maximum(n0 - np.exp(eps) * n1, 0) * probabilities).sum() * k / reports)


@pytest.mark.parametrize(
    ("n", "k", "eps", "delta", "eps0", "rounds"),
    [
        (2000, 16, 0.5, 1e-6, 3.5, 1),
        (10**6, 4, 0.2, 1e-9, 8.0, 10),
        pytest.param(2000, 16, 0.5, 1e-6, 2.5, 4, marks=pytest.mark.slow),
        (300, 2, 1.0, 1e-3, 4.0, 1),
        (10**8, 40, 0.1, 1e-9, 13.0, 1),
        (5, 1000, 2.0, 1e-6, 8.0, 1),
    ],
)
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
    assert delta_of_uniform_dummies(found, k, eps) <= delta
    assert delta_of_uniform_dummies(round(0.999 * found) - 1, k, eps) > delta


def test_no_dummies_where_reports_alone_are_enough():
    eps0_of_plan = tightshuffle.plan(n=2000, k=16, eps=0.5, delta=1e-6).eps0
    assert fewest_dummies(2000, 16, 0.5, 1e-6, eps0=0.4) == 0  # eps0 < eps
    assert fewest_dummies(2000, 16, 0.5, 1e-6, eps0=0.999 * eps0_of_plan) == 0
    assert fewest_dummies(2000, 16, 0.5, 1e-6, eps0=1.001 * eps0_of_plan) > 0
    # Where the histogram is one count, the blanket's bound asks for dummies in vain.
    eps0_of_plan = tightshuffle.plan(n=740, k=2, eps=0.1, delta=6.2e-9).eps0
    assert fewest_dummies(740, 2, 0.1, 6.2e-9, eps0=eps0_of_plan) == 0


def delta_of_law(
    text, factor, *, n, eps, rounds, values_per_user, colluding, honest, **other_arguments
):
    """delta at eps of values that only dummies or noise hide, by the law of this ``text``.

    The last number of ``text``, a mean or a deviation, is multiplied by ``factor``. Noise is that of the
    ``honest`` parties. The keywords are arguments of `compare_designs`.
    """
    start, _, last_number = text.rpartition(":")
    number = factor * float(last_number)
    if start == "poisson":
        # The dummies of colluding users' devices hide nobody.
        devices = n - (math.ceil(n * colluding) if colluding < 1 else colluding)
        law = poisson(number * devices / n)
    else:
        parties = f"{honest}*" if start.startswith("noise") else ""
        law = parse_law(f"{parties}{start}:{number!r}")
    return 10 ** float(HiddenByDummies(law, values_per_user, rounds).log10_delta(eps))


@QUESTIONS
def test_no_smaller_mean_or_deviation_of_a_law_has_the_guarantee(asked):
    for design in compare_once(**asked).designs:
        if design.law:
            # The honest aggregators' shares of noise sum to one number with the law.
            honest = 1 if design.name == "shares of noise" else asked["honest"]
            delta = delta_of_law(design.law, 1, **asked | {"honest": honest})
            delta_of_less = delta_of_law(design.law, 0.999, **asked | {"honest": honest})
            assert delta <= asked["delta"] < delta_of_less, design.name


def delta_of_reports(
    name,
    eps0,
    dummies,
    *,
    n,
    k,
    eps,
    rounds,
    values_per_user,
    colluding,
    participation,
    **other_arguments,
):
    """delta at eps of reports with this ``eps0``, and of so many dummies.

    The design ``name`` is "k-RR", maybe with dummies, or for example "RAPPOR, sums only". Each value that may
    change counts as a round. The keywords are arguments of `compare_designs`.
    """
    randomizer, _, sums = name.partition(", sums")
    release = {"randomizer": randomizer.lower(), "release": "sums"} if sums else {}
    groups = (Group("a", n, eps0, participation, colluding),)
    rounds_of_values = rounds * values_per_user
    collection = Collection(k, groups, dummies=Dummies(dummies), rounds=rounds_of_values, **release)
    return collection.delta(eps)


@QUESTIONS
def test_no_larger_eps0_of_a_design_without_dummies_has_the_guarantee(asked):
    for design in compare_once(**asked).designs:
        if not (design.reference or design.law or design.dummies):
            # A hair below, as this bound and the plan's may differ in their last digits.
            delta = delta_of_reports(design.name, design.eps0 * (1 - 1e-6), 0, **asked)
            delta_of_more = delta_of_reports(design.name, design.eps0 * 1.001, 0, **asked)
            assert delta <= asked["delta"] < delta_of_more, design.name


@QUESTIONS
def test_no_fewer_dummies_beside_krr_have_the_guarantee(asked):
    for design in compare_once(**asked).designs:
        if design.name == "k-RR with dummies":
            delta = delta_of_reports("k-RR", design.eps0, design.dummies, **asked)
            delta_of_one_fewer = delta_of_reports("k-RR", design.eps0, design.dummies - 1, **asked)
            assert delta <= asked["delta"] < delta_of_one_fewer


@QUESTIONS
def test_budgets_of_all_reports_of_a_user_add_up(asked):
    reports = asked["rounds"] * asked["values_per_user"]
    for design in compare_once(**asked).designs:
        assert design.eps_if_it_fails == reports * design.eps0


@QUESTIONS
def test_designs_are_sorted_by_the_errors_of_a_popular_value_and_of_all(asked):
    errors = [(design.popular_error, design.error) for design in compare_once(**asked).designs]
    assert errors == sorted(errors)


@QUESTIONS
def test_only_krr_is_left_out_for_several_values(asked):
    found = compare_once(**asked)
    krr = {"k-RR", "k-RR with dummies"}
    assert krr - {design.name for design in found.designs} == set(found.left_out)
    assert set(found.left_out) == (krr if asked["values_per_user"] > 1 else set())


@QUESTIONS
def test_messages_and_bits_per_user(asked):
    """A message has k bits for sums, else log2 k bits, rounded up, for each value and dummy."""
    reports = asked["n"] * asked["participation"]
    for design in compare_once(**asked).designs:
        # Aggregators who add noise to sums also receive a bit per value.
        if "sums" in design.name or "aggregators: " in design.trust:
            messages, bits_per_message = 1, asked["k"]
        else:
            messages = asked["values_per_user"] + design.dummies / reports
            bits_per_message = math.ceil(math.log2(asked["k"]))
        assert design.messages_per_user == pytest.approx(messages)
        assert design.bits_per_user == design.messages_per_user * bits_per_message


@pytest.mark.parametrize(
    "question",
    [
        pytest.param({"n": 1_000_000, "k": 10, "eps": 3.0, "delta": 0.9}, marks=pytest.mark.slow),
        {"n": 5, "k": 1000, "eps": 2.0, "delta": 0.9},
    ],
)
def test_the_table_has_all_other_designs_where_hardly_any_dummies_are_needed(question):
    """k-RR alone then has a smaller error than Poisson dummies."""
    found = compare_designs(**question)
    others = {"k-RR", "dummies of the best law", "RAPPOR, sums only"}
    assert others <= {design.name for design in found.designs}
    assert found.left_out == {"k-RR with dummies": "k-RR alone is about as accurate"}


def test_the_table_has_all_other_designs_where_no_eps0_is_accurate_enough(monkeypatch):
    """k-RR with dummies has half the error of dummies alone at no eps0."""
    monkeypatch.setattr("tightshuffle.planning.designs.ALLOWED_ERROR_RATIO", 0.5)
    found = compare_designs(n=30, k=4, eps=1.0, delta=0.1)
    assert len(found.designs) == 8
    assert list(found.left_out) == ["k-RR with dummies"]
    assert "of that of dummies alone" in found.left_out["k-RR with dummies"]


@pytest.mark.parametrize(
    ("eps", "rounds"), [(2e-3, 1), (1.0, 20_000), pytest.param(1e-4, 1, marks=pytest.mark.slow)]
)
def test_the_best_law_of_many_dummies_is_found_by_few_bounds(monkeypatch, eps, rounds):
    """The first laws have means of 6,909 and 6,133 dummies, and need 57 and 40 bounds on delta.

    Once the search for the mean took one step per dummy.
    """
    bounds = []

    def recorded_bound(*arguments, **options):
        bounds.append(HiddenByDummies(*arguments, **options))
        return bounds[-1]

    monkeypatch.setattr(best_law, "HiddenByDummies", recorded_bound)
    law = best_cut_law(eps, 1e-6, rounds=rounds)
    assert len(bounds) < 100
    log10_delta = HiddenByDummies(law, rounds=rounds).log10_delta(eps)
    assert -6.001 < float(log10_delta) <= -6


def truth_and_lie_probability(design_name, eps0, k):
    """The probabilities that a report supports its user's value, and another one."""
    if design_name.startswith("k-RR"):
        return krr_probabilities(0, math.exp(eps0), k)[:2]
    randomizer, _ = design_name.split(", ")  # as in "OUE, sums only"
    return probabilities_of_one(randomizer.lower(), eps0)


def error_of_count(design, n, k, share):
    """The mean absolute error of the estimated number of users of a value that this share of n users hold.

    It is that of how many reports and dummies support the value, over p - q, summed over all such numbers.
    If the share is no whole number of users, it is the mean over the whole numbers beside it.
    """
    p, q = truth_and_lie_probability(design.name, design.eps0, k)
    holders = n * share
    error = 0.0
    # Both are one number, of weight 1, if holders is whole.
    weights = {math.ceil(holders): holders % 1, math.floor(holders): 1 - holders % 1}
    for whole, weight in weights.items():
        laws = [(whole, p), (n - whole, q), (int(design.dummies), 1 / k)]
        law_of_sum = functools.reduce(signal.fftconvolve, map(binomial_probabilities, laws))
        mean = sum(number * probability for number, probability in laws)
        error += weight * float(law_of_sum @ abs(np.arange(law_of_sum.size) - mean))
    return error / (p - q)


def binomial_probabilities(law):
    """The probabilities of 0, 1, ... for the binomial ``law``: number of trials and probability."""
    trials, probability = law
    return stats.binom.pmf(np.arange(round(trials) + 1), round(trials), probability)


def law_by_definition(text):
    """The probabilities (m,) of m consecutive numbers by a law's definition. The others hardly occur.

    ``text`` is "poisson:MEAN", "power:MEAN:POWER:DEVIATION" from 0 to twice the mean, or
    "noise:POWER:DEVIATION" around 0. The last two weigh a number at distance d from the middle by
    exp(-(d / DEVIATION)^POWER / POWER).
    """
    name, *numbers = text.split(":")
    if name == "poisson":
        mean = float(numbers[0])
        # Beyond that there is no weight that a float would show.
        return stats.poisson.pmf(np.arange(10 * int(mean) + 40), mean)
    power, deviation = map(float, numbers[-2:])
    # Noise has no end; 40 deviations away its weight is e^-40 or less, as its power is 1 or more.
    most = 40 * deviation if name == "noise" else float(numbers[0])
    distances = abs(np.arange(-round(most), round(most) + 1))
    weights = np.exp(-((distances / deviation) ** power) / power)
    return weights / weights.sum()


def mean_absolute_error(
    design,
    held_by,
    *,
    n,
    k,
    eps,
    delta,
    rounds,
    values_per_user,
    participation,
    parties,
    honest,
    **other_arguments,
):
    """Expected absolute error, in users, of the estimate of how many hold a value: the share ``held_by``.

    A design with a law has the error of the number of dummies of the value, or of the sum of all aggregators'
    noise. The sum of all shares of noise is the difference of two negative binomial numbers. Two-sided
    geometric noise has the error 1 / sinh(eps / 2), with the eps of one changed value. Normal noise has
    sqrt(2 / pi) standard deviations. The keywords are arguments of `compare_designs`.
    """
    if design.name == "shares of noise":
        ratio = math.exp(-1 / float(design.law.removeprefix("noise:1.0:")))
        numbers = np.arange(math.ceil(40 / (1 - ratio)))
        half = stats.nbinom.pmf(numbers, parties / honest, 1 - ratio)
        return np.convolve(half, half[::-1]) @ abs(np.arange(1 - numbers.size, numbers.size))
    if design.law:
        # The error is the distance of the sum of all laws from its mean.
        law = law_by_definition(design.law)
        parties_with_noise = parties if design.law.startswith("noise") else 1
        law_of_sum = functools.reduce(np.convolve, [law] * parties_with_noise)
        numbers = np.arange(law_of_sum.size)
        return law_of_sum @ abs(numbers - law_of_sum @ numbers)
    if design.name == "central geometric":
        # eps is shared out over all values that a user may change.
        return 1 / math.sinh(eps / (2 * rounds * values_per_user))
    if design.name == "central Gaussian":
        # Each changed value changes two counts by 1.
        sensitivity = math.sqrt(2 * rounds * values_per_user)
        deviation = tightshuffle.mechanisms.gaussian.exact_scale(
            eps, delta, sensitivity=sensitivity
        )
        return math.sqrt(2 / math.pi) * deviation
    return error_of_count(design, n * participation, k, held_by)


# Questions where fewer than ten reports of a value that nobody holds are expected from some design.
FEW_REPORTS = [
    {"n": 40, "k": 143, "eps": 4.4398582576822685, "delta": 1.8892705012536612e-07},
    pytest.param(
        {"n": 10_000, "k": 100_000, "eps": 1.0, "delta": 1e-6, "share": 0.001},
        marks=pytest.mark.slow,
    ),
    pytest.param(
        {"n": 10_000, "k": 16, "eps": 5.0, "delta": 1e-6, "share": 0}, marks=pytest.mark.slow
    ),
    {"n": 30, "k": 16, "eps": 5.0, "delta": 1e-5, "share": 0},
    {"n": 30, "k": 4, "eps": 1.0, "delta": 0.1},
    pytest.param(
        {"n": 10_000, "k": 16, "eps": 6.0, "delta": 1e-5, "share": 0}, marks=pytest.mark.slow
    ),
    pytest.param(
        {"n": 100_000, "k": 256, "eps": 10.0, "delta": 1e-9, "share": 0}, marks=pytest.mark.slow
    ),
    pytest.param(
        {"n": 17_004, "k": 364, "eps": 1.8753, "delta": 0.3673, "colluding": 10},
        marks=pytest.mark.slow,
    ),
]


@pytest.mark.parametrize(
    "question",
    [
        FEW_REPORTS[0],
        THREE_VALUES,
        *(
            pytest.param(
                {"n": n, "k": k, "eps": eps, "delta": delta, "rounds": rounds},
                marks=pytest.mark.slow,
            )
            for n, k, eps, delta, rounds in (
                (5, 4, 1.966238322453123, 6.253918729613092e-09, 52),
                (959, 16, 1.6847, 0.0685, 12),
                (100_000, 256, 1.0, 1e-6, 365),
                (2_000_000, 408, 1.0, 1e-8, 52),
            )
        ),
    ],
    ids=str,
)
def test_the_printed_sigma_has_the_guarantee(question):
    """To the nearest of its four digits it would be too small, by up to 0.8 % of delta."""
    asked = DEFAULTS | question
    found = compare_once(**asked).designs
    (gaussian,) = [design for design in found if design.name == "central Gaussian"]
    sigma = float(gaussian.parameters.removeprefix("sigma = "))
    # A changed value changes two counts by 1.
    sensitivity = math.sqrt(2 * asked["rounds"] * asked["values_per_user"])
    log10_delta_at = functools.partial(log10_delta_of_scale, asked["eps"], sensitivity=sensitivity)
    assert log10_delta_at(scale=sigma) <= math.log10(asked["delta"])
    assert log10_delta_at(scale=sigma * 0.999) > math.log10(asked["delta"])


@pytest.mark.parametrize("question", [ONE_VALUE, TEN_ROUNDS, THREE_VALUES, *FEW_REPORTS], ids=str)
def test_errors_are_those_of_the_sums_over_all_counts(question):
    """`mean_absolute_error` is the sum, in users, for a value that some share of the users hold."""
    asked = DEFAULTS | question
    reports = asked["n"] * asked["participation"]
    for design in compare_once(**asked).designs:
        error = functools.partial(mean_absolute_error, design, **asked)
        popular_error = error(held_by=asked["share"])
        assert design.popular_error == pytest.approx(popular_error, rel=1e-6), design.name
        assert design.rare_error == pytest.approx(error(held_by=0), rel=1e-6), design.name
        # Half the sum over k equally popular values, as a share of the reports.
        of_all = asked["k"] / 2 * error(held_by=asked["values_per_user"] / asked["k"]) / reports
        assert design.error == pytest.approx(of_all, rel=1e-6), design.name


@pytest.mark.parametrize(
    ("question", "error"),
    [
        pytest.param(
            {"n": 10_000, "k": 16, "eps": 5.0, "delta": 1e-6}, 0.0813, marks=pytest.mark.slow
        ),
        ({"n": 30, "k": 16, "eps": 5.0, "delta": 1e-5}, 0.0678),
        pytest.param(
            {"n": 10_000, "k": 16, "eps": 6.0, "delta": 1e-5}, 0.0201, marks=pytest.mark.slow
        ),
        pytest.param(
            {"n": 100_000, "k": 256, "eps": 10.0, "delta": 1e-9}, 0.0004, marks=pytest.mark.slow
        ),
    ],
)
def test_for_a_value_that_nobody_holds_few_bits_of_oue_are_the_best(question, error):
    """A normal error would have OUE third: its bit of an empty value is hardly ever 1."""
    best = compare_once(**DEFAULTS | question | {"share": 0}).designs[0]
    assert best.name == "OUE, sums only"
    assert best.popular_error == pytest.approx(error, rel=0.01)


def test_the_error_of_a_popular_value_is_that_of_a_simulation():
    """`popular_error`, in users, is the mean absolute error of 20,000 runs, within five standard errors.

    Each run draws the reports and dummies of a design with local noise, for 2,000 holders of the value among
    20,000 users. p and q are the probabilities that a report supports its user's value, and another one.
    """
    rng = np.random.default_rng(20261128)
    asked = {"n": 20_000, "k": 30, "eps": 1.0, "delta": 1e-6, "share": 0.1}
    simulated = []
    for design in compare_once(**asked).designs:
        if design.eps0 == math.inf:
            continue  # the users send no reports with local noise
        p, q = truth_and_lie_probability(design.name, design.eps0, k=30)
        reports = rng.binomial(2000, p, size=20_000) + rng.binomial(18_000, q, size=20_000)
        dummies = rng.binomial(int(design.dummies), 1 / 30, size=20_000) - design.dummies / 30
        # Unbiased, as a holder's report adds p - q more than another one.
        estimates = (reports + dummies - 20_000 * q) / (p - q)
        errors = abs(estimates - 2000)
        difference = errors.mean() - design.popular_error
        assert abs(difference) < 5 * stats.sem(errors, ddof=0), design.name
        simulated.append(design.name)
    assert sorted(simulated) == ["OUE, sums only", "RAPPOR, sums only", "k-RR", "k-RR with dummies"]


def largest_delta_if_users_stay_away(eps, *, n, k, eps0, participation):
    """delta of k-RR at eps for the worst dataset, where everybody sees which of the n - 1 other users report.

    Each reports with the probability ``participation``. So delta of a dataset is the mean over who does.
    """
    matrix = np.array([krr_probabilities(value, math.exp(eps0), k) for value in range(k)])
    shuffled = [Shuffled(matrix, number) for number in range(1, n + 1)]  # so many reports
    deltas = []
    for dataset in shuffled[-1].datasets():
        mean_delta = 0.0
        for who_reports in itertools.product((False, True), repeat=n - 1):
            reported = tuple(itertools.compress(dataset, who_reports))
            others = len(reported)
            probability = participation**others * (1 - participation) ** (n - 1 - others)
            delta = shuffled[others].delta(reported, (0, 1), np.asarray(eps))
            mean_delta += probability * float(delta)
        deltas.append(mean_delta)
    return max(deltas)


def test_planned_eps0_has_the_guarantee_where_users_stay_away():
    """It is smaller than the eps0 that is enough if everybody reports, which would be too large."""
    setting = {"n": 6, "k": 3, "participation": 0.6}
    planned = tightshuffle.plan(eps=0.5, delta=0.02, **setting).eps0
    if_everybody_reports = tightshuffle.plan(n=6, k=3, eps=0.5, delta=0.02).eps0
    assert 0.5 < planned < if_everybody_reports

    delta = largest_delta_if_users_stay_away(0.5, eps0=planned, **setting)
    too_large = largest_delta_if_users_stay_away(0.5, eps0=if_everybody_reports, **setting)
    assert 0.01 < delta <= 0.02 < too_large


plan_once = functools.cache(tightshuffle.plan)
OUE_SUMS = {"randomizer": "oue", "release": "sums"}


@pytest.mark.parametrize(("release", "n"), [({}, 10_000), (OUE_SUMS, 2000)], ids=str)
def test_participation_of_one_is_that_of_everybody(release, n):
    setting = {"n": n, "k": 20, "eps": 0.5, "delta": 1e-6, **release}
    everybody = plan_once(**setting)
    nearly = tightshuffle.plan(**setting, participation=1 - 1e-9)
    assert nearly.eps0 == pytest.approx(everybody.eps0, rel=1e-3)


@pytest.mark.parametrize(
    ("release", "n", "most_users"),
    [
        # Users are searched for to 1e-4, and eps0 to 1e-5.
        ({}, 10_000, 20_020),
        # Fewer than 2000 reports may come with a probability of 5e-10 only. So six standard deviations of 33
        # reports more have to be expected: 10 or 11 % more users.
        (OUE_SUMS, 2000, 4450),
    ],
    ids=str,
)
def test_if_half_of_the_users_report_twice_as_many_are_needed(release, n, most_users):
    """The setting that n reports are enough for needs 2 n users who report with probability 1/2.

    The errors of the Gaussian mechanism and of local noise are those for the users who report.
    """
    setting = {"k": 20, "eps": 0.5, "delta": 1e-6, **release}
    eps0 = plan_once(n=n, **setting).eps0
    users = tightshuffle.fewest_users(**setting, eps0=eps0, participation=0.5)
    assert 0.999 * 2 * n <= users <= most_users
    planned = tightshuffle.plan(n=users, **setting, participation=0.5)
    assert planned.eps0 == pytest.approx(eps0, rel=1e-3)
    # The errors do not depend on the bound, of which the one for reports is the fastest.
    of_reports = tightshuffle.plan(n=round(users / 2), **setting | {"release": "reports"})
    for name in ("gaussian", "local"):
        assert planned.tv[name] == of_reports.tv[name]


def test_sums_of_several_values_per_user_by_every_count():
    """Where a user replaces two values of five by two others, delta is below the bound for two rounds.

    The largest delta of all datasets of two other users is above half of this bound. Four of the five sums
    depend on the user. A bit is 1 with probability p for a user of the value, and else with q.
    """
    eps, eps0 = 0.8, 2.0
    setting = {"n": 3, "k": 5, "eps0": eps0, "rounds": 2}
    bound = tightshuffle.delta(eps, randomizer="rappor", release="sums", **setting)
    p, q = probabilities_of_one("rappor", eps0)
    deltas = []
    for holders in itertools.product((0, 1, 2), repeat=4):  # of each of the four values
        # Of the two other users: the probability that each of the four bits is 1.
        bits_of_first = [p if number > 0 else q for number in holders]
        bits_of_second = [p if number > 1 else q for number in holders]
        before = probabilities_of_sums([[p, p, q, q], bits_of_first, bits_of_second], most=3)
        after = probabilities_of_sums([[q, q, p, p], bits_of_first, bits_of_second], most=3)
        deltas.append(hockey_sticks(np.array([eps]), before, after)[0])
    assert 0.5 * bound < max(deltas) <= bound


def options_of(question):
    """The words of a command line that give the arguments in the dict ``question``."""
    words = []
    for name, value in question.items():
        words += [f"--{name.replace('_', '-')}", value]
    return words


def test_the_command_gives_the_designs_as_json():
    designs = compare_once(**DEFAULTS | THREE_VALUES).designs
    found = json_answer("design", *options_of(THREE_VALUES))["designs"]
    assert [row["name"] for row in found] == [design.name for design in designs]
    assert [row["error"] for row in found] == [design.error for design in designs]
    # The first design has no local noise, so that eps is infinite, for which JSON has null.
    assert found[0]["eps_if_it_fails"] is None


def test_the_json_names_all_that_was_asked_for_and_no_default():
    found = json_answer("design", *options_of(THREE_VALUES))
    asked = THREE_VALUES | {"log10_delta": math.log10(THREE_VALUES["delta"])}
    del asked["delta"]
    assert {name: found[name] for name in asked} == asked
    assert found.keys() - asked.keys() == {"designs", "left_out"}


def test_the_command_prints_who_is_trusted_and_what_is_left_if_they_fail():
    text = text_answer("design", *options_of(THREE_VALUES))
    assert "Left out: k-RR (only for one report per user and round)." in text
    for design in compare_once(**DEFAULTS | THREE_VALUES).designs:
        left = re.escape(what_is_left(design.eps_if_it_fails))
        assert re.search(rf"^{design.name} .*  {left} *$", text, re.MULTILINE)
        parameters = re.escape(design.parameters)
        assert re.search(rf"^{design.name} .* {design.trust} +{parameters}$", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        pytest.param("--eps", "1e-6", "eps must be ", id="too many dummies would be needed"),
        pytest.param("--values-per-user", 31, "values_per_user must be ", id="of only 30 values"),
    ],
)
def test_the_command_refuses_a_bad_argument(option, value, message):
    assert refusal("design", *options_of(THREE_VALUES), option, value).startswith(message)


@pytest.mark.parametrize(
    ("question", "warning"),
    [
        (ONE_VALUE, "None of these designs protects anybody"),
        (TEN_ROUNDS, "For 10 rounds, none of these designs protects anybody"),
    ],
    ids=["one round", "ten rounds"],
)
def test_the_command_warns_if_every_design_leaves_a_useless_eps(question, warning):
    left = [design.eps_if_it_fails for design in compare_once(**question).designs]
    assert min(left) >= USELESS_EPS
    text = text_answer("design", *options_of(question))
    assert f"\n{warning} if the shuffler or the aggregators fail.\n" in text


def test_the_command_does_not_warn_if_a_design_leaves_a_useful_eps():
    question = FEW_REPORTS[0]
    left = [design.eps_if_it_fails for design in compare_once(**question).designs]
    assert min(left) < USELESS_EPS
    assert "of these designs protects anybody" not in text_answer("design", *options_of(question))


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


def test_the_command_says_that_the_guarantee_is_for_each_user_who_reports():
    sentence = "n is how many users report in each round, and the guarantee is for each of them."
    assert f"\n{sentence}\n" in text_answer("design", *options_of(ONE_VALUE))


@pytest.mark.parametrize(
    ("command", "question"),
    [("design", TEN_ROUNDS), ("plan", ONE_VALUE | {"participation": 0.75})],
    ids=["design", "plan"],
)
def test_the_command_says_that_users_may_stay_away(command, question):
    text = text_answer(command, *options_of(question))
    for sentence in (
        "n is how many users could report. In each round a user does with probability 0.75.",
        "The guarantee is for a user who reports in every round, and does not hide who reports.",
        ERROR_OF_REPORTS,
    ):
        assert sentence in text


def test_plan_gives_the_participation_as_json():
    question = ONE_VALUE | {"participation": "80%"}
    assert json_answer("plan", *options_of(question))["participation"] == 0.8


def test_users_says_that_users_may_stay_away():
    question = {"eps0": 4, "k": 30, "eps": 1, "delta": 1e-6, "participation": "80%"}
    text = text_answer("users", *options_of(question))
    assert "The guarantee is for a user who reports in every round" in text


def test_the_table_says_how_many_users_hold_the_popular_value():
    text = text_answer("design", *options_of(TEN_ROUNDS))
    assert "that a share of 0.25 of the users hold (37,500)" in text  # of the 150,000 who report


def test_the_command_says_that_an_error_above_one_is_useless():
    assert USELESS_ERROR in text_answer("design", *options_of(FEW_REPORTS[0]))
    assert USELESS_ERROR not in text_answer("design", *options_of(ONE_VALUE))


def poisson_error_over_gaussian_error(eps, delta, rounds):
    """Error of the fewest Poisson dummies over that of the central Gaussian with the same guarantee."""
    mean = smallest_poisson_mean(eps, delta, rounds=rounds)
    sensitivity = math.sqrt(2 * rounds)  # a changed value changes two counts by 1
    scale = tightshuffle.mechanisms.gaussian.exact_scale(eps, delta, sensitivity=sensitivity)
    return poisson(mean).absolute_error / (math.sqrt(2 / math.pi) * scale)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [1e-2, 1e-3, 1e-6, 1e-12])
def test_up_to_an_eps_of_one_poisson_dummies_are_nearly_as_good_as_the_gaussian(delta):
    """At most 11 % worse, as docs/designs.md says."""
    ratios = [
        poisson_error_over_gaussian_error(eps, delta, rounds)
        for eps in (0.1, 0.3, 0.6, 1.0)
        for rounds in (1, 4)
    ]
    assert 1 < max(ratios) <= 1.11


@pytest.mark.slow
@pytest.mark.parametrize(("eps", "ratio", "last_digit"), [(2.0, 1.345, 0.005), (5.0, 2.7, 0.05)])
def test_at_a_larger_eps_poisson_dummies_are_worse(eps, ratio, last_digit):
    """The ratios of docs/designs.md."""
    found = poisson_error_over_gaussian_error(eps, 1e-6, rounds=1)
    assert found == pytest.approx(ratio, abs=last_digit)
