"""The designs for a mean: each has the guarantee, none could be better, and the deviations are right."""

import functools
import math

import numpy as np
import pytest

import tightshuffle
from tests.cli.calls import json_answer, refusal, text_answer
from tests.dummies.test_shares import delta_by_definition
from tests.planning.once import compared_once
from tightshuffle.cli import means_command
from tightshuffle.dummies.shares import STEPS
from tightshuffle.mechanisms.gaussian import log10_delta_of_scale
from tightshuffle.planning import means
from tightshuffle.planning.means import (
    UNITS,
    compare_means,
    mean_report_variance,
    report_variance,
    worst_report_variance,
)

ONE_ROUND = {"eps": 1.0, "delta": 1e-6, "n": 100_000}
FOUR_ROUNDS = {"eps": 0.8, "delta": 1e-8, "n": 20_000, "rounds": 4, "parties": 3, "honest": 2}
PARTICIPATION = ONE_ROUND | {
    "n": 5000,
    "participation": 0.75,
    "colluding": 0.1,
    "parties": 3,
    "honest": 2,
}
QUESTIONS = pytest.mark.parametrize(
    "asked", [ONE_ROUND, FOUR_ROUNDS, PARTICIPATION], ids=["one round", "four", "participation"]
)
compare_once = compared_once(compare_means)


@pytest.fixture(autouse=True)
def _no_noise_on_reports(monkeypatch):
    """These designs take seconds: `test_means_of_densities` has their tests."""
    monkeypatch.setattr(means, "_KINDS", ())
    monkeypatch.setattr(means_command, "compare_means", compare_once)


def designs_of(**asked):
    """name -> design of `compare_means`."""
    return {design.name: design for design in compare_once(**asked).designs}


def report_probabilities(levels, eps0, value):
    """The probability that a user with this value in [0, 1] reports each level, by definition."""
    place = value * (levels - 1)
    rounded = np.zeros(levels)
    rounded[math.floor(place)] += 1 - (place - math.floor(place))
    rounded[math.ceil(place)] += place - math.floor(place)
    matrix = np.ones((levels, levels)) + (math.exp(eps0) - 1) * np.eye(levels)
    return matrix @ rounded / (math.exp(eps0) + levels - 1)


def estimate_of_each_level(levels, eps0):
    """What a report of each level adds to the mean that is estimated from one report."""
    g = levels / (math.exp(eps0) + levels - 1)
    return (np.linspace(0, 1, levels) - g / 2) / (1 - g)


LEVELS = pytest.mark.parametrize(
    ("levels", "eps0"), [(2, 0.5), (2, 8.0), (3, 1.0), (5, 3.769), (16, 7.768), (101, 4.0)]
)


@LEVELS
def test_mean_and_variance_of_an_estimate_by_enumeration_of_all_reports(levels, eps0):
    estimates = estimate_of_each_level(levels, eps0)
    for value in (0.0, 0.013, 1 / 3, 0.5, 0.77, 1.0):
        probabilities = report_probabilities(levels, eps0, value)
        assert probabilities @ estimates == pytest.approx(value, abs=1e-12)
        variance = probabilities @ (estimates - value) ** 2
        assert report_variance(levels, eps0, value) == pytest.approx(variance, rel=1e-9)


@LEVELS
def test_worst_and_mean_variance_are_those_of_many_inputs(levels, eps0):
    """The variance is a quadratic function between two levels, for which Simpson's rule is exact."""
    inputs = np.linspace(0, 1, 2 * 30 * (levels - 1) + 1)
    variances = report_variance(levels, eps0, inputs)
    worst = worst_report_variance(levels, eps0)
    assert variances.max() <= worst * (1 + 1e-12)
    assert variances.max() >= worst * (1 - 1e-2)
    weights = np.ones(inputs.size)
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    simpson = float(weights @ variances) / (3 * (inputs.size - 1))
    assert mean_report_variance(levels, eps0) == pytest.approx(simpson, rel=1e-9)


# n, eps, and of each design the deviation to three digits.
@pytest.mark.parametrize(
    ("n", "eps", "one_bit", "levels", "gaussian"),
    [
        (10_000, 1.0, 5.03e-3, 1.23e-3, 4.22e-4),
        (100_000, 1.0, 1.58e-3, 1.80e-4, 4.22e-5),
        pytest.param(1_000_000, 1.0, 5.00e-4, 2.64e-5, 4.22e-6, marks=pytest.mark.slow),
        (100_000, 0.1, 1.63e-3, 7.25e-4, 3.63e-4),
    ],
)
def test_deviations_are_those_of_other_programs(n, eps, one_bit, levels, gaussian):
    """They were found by hand, with `tightshuffle.plan` for a few numbers of levels."""
    found = designs_of(n=n, eps=eps, delta=1e-6)
    assert found["one bit"].deviation == pytest.approx(one_bit, rel=4e-3)
    assert found["K levels"].deviation == pytest.approx(levels, rel=4e-3)
    assert found["central Gaussian"].deviation == pytest.approx(gaussian, rel=4e-3)


@pytest.mark.parametrize(
    ("n", "eps", "delta", "rounds", "most"),
    [
        pytest.param(100_000, 1.0, 1e-6, 1, 30, marks=pytest.mark.slow),
        (3000, 0.5, 1e-9, 1, 12),
        pytest.param(5000, 1.0, 1e-6, 3, 9, marks=pytest.mark.slow),
    ],
)
def test_no_other_number_of_levels_has_a_smaller_deviation(n, eps, delta, rounds, most):
    found = designs_of(n=n, eps=eps, delta=delta, rounds=rounds)["K levels"]
    assert 3 <= found.levels < most
    for levels in range(3, most):
        eps0 = tightshuffle.plan(n=n, k=levels, eps=eps, delta=delta, rounds=rounds).eps0
        deviation = math.sqrt(worst_report_variance(levels, eps0) / n)
        assert found.deviation <= deviation * (1 + 1e-6), levels


@QUESTIONS
def test_no_larger_eps0_has_the_guarantee(asked):
    setting = {name: asked.get(name, 1) for name in ("rounds", "participation")}
    setting |= {"n": asked["n"], "colluding": asked.get("colluding", 0)}
    for name in ("one bit", "K levels"):
        design = designs_of(**asked)[name]
        eps, k, eps0 = asked["eps"], design.levels, design.eps0
        delta = tightshuffle.delta(eps, k=k, eps0=eps0, **setting)
        delta_of_more = tightshuffle.delta(eps, k=k, eps0=1.0001 * eps0, **setting)
        assert delta <= asked["delta"] < delta_of_more
        assert design.eps_if_it_fails == asked.get("rounds", 1) * eps0


@QUESTIONS
def test_no_less_noise_has_the_guarantee(asked):
    eps, rounds = asked["eps"], asked.get("rounds", 1)
    found = designs_of(**asked)
    sigma = float(found["central Gaussian"].parameters.split()[2].rstrip(","))
    for factor in (1, 0.999):
        log10_delta = log10_delta_of_scale(eps, scale=factor * sigma, sensitivity=rounds**0.5)
        assert (log10_delta <= math.log10(asked["delta"])) == (factor == 1)
    by_aggregators = "shares of noise" if "honest" in asked else "noise of aggregators"
    for name in (by_aggregators, "central geometric"):
        law, sensitivity = found[name].parameters.split(", sensitivity ")
        deviation = float(law.split("noise:1.0:")[1].split()[0]) / int(sensitivity)
        for factor in (1, 0.999):
            # The units are a multiple of those of the enumeration, which is then not less private.
            assert int(sensitivity) % STEPS == 0
            delta = delta_by_definition(eps, 1 / (factor * deviation), STEPS, STEPS, rounds)
            assert (delta <= asked["delta"]) == (factor == 1)


@pytest.mark.parametrize(
    "setting",
    [
        {},
        pytest.param({"rounds": 2}, marks=pytest.mark.slow),
        pytest.param({"participation": 0.5, "colluding": 10}, marks=pytest.mark.slow),
    ],
)
def test_one_report_fewer_is_too_few(setting):
    guarantee = {"eps": 1.0, "delta": 1e-6, **setting}
    for design in designs_of(**guarantee, deviation=0.02).values():
        assert design.deviation <= 0.02 * (1 + 1e-9)
        reports = round(design.n * setting.get("participation", 1))
        if design.name in ("one bit", "K levels"):
            # By the plan for n users, whose eps0 is known to a millionth.
            of_n = designs_of(**guarantee, n=design.n)[design.name]
            assert of_n.deviation <= 0.02 * (1 + 1e-5)
            fewer = design.n - round(design.n / reports)
            assert designs_of(**guarantee, n=fewer)[design.name].deviation > 0.02
        else:  # the noise does not depend on the number of users
            assert design.deviation * reports / (reports - 1) > 0.02


def test_users_for_a_deviation_of_a_thousandth():
    found = designs_of(eps=1.0, delta=1e-6, deviation=0.001)
    assert found["K levels"].n == 12_826
    assert found["K levels"].levels == 9
    assert found["one bit"].n == 250_137


def drawn_deviation(levels, eps0, values, users, runs, rng):
    """The deviation of one user's estimate, from many runs in which every report is drawn.

    ``values`` is a function of the shape (runs, users): each run has so many users.
    """
    x = values((runs, users))
    rounded = np.floor(x * (levels - 1) + rng.random(x.shape))
    truth = rng.random(x.shape) < math.exp(eps0) / (math.exp(eps0) + levels - 1)
    # A lie is each other level with the same probability.
    lies = (rounded + rng.integers(1, levels, size=x.shape)) % levels
    reports = np.where(truth, rounded, lies) / (levels - 1)
    g = levels / (math.exp(eps0) + levels - 1)
    errors = (reports.mean(axis=1) - g / 2) / (1 - g) - x.mean(axis=1)
    return errors.std() * math.sqrt(users)


# Rare levels far from the value need more reports; the two numbers of one bit need few.
@pytest.mark.parametrize(("name", "users"), [("one bit", 5), ("K levels", 40)])
def test_drawn_reports_have_the_stated_deviations(name, users):
    """Within 1 %: four standard errors for one bit, and 2.4 for K levels."""
    design = designs_of(**ONE_ROUND)[name]
    rng = np.random.default_rng(20261129)
    draw = functools.partial(
        drawn_deviation, design.levels, design.eps0, users=users, runs=80_000, rng=rng
    )
    inputs = np.linspace(0, 1, 10_001)
    worst = inputs[report_variance(design.levels, design.eps0, inputs).argmax()]
    of_one = math.sqrt(ONE_ROUND["n"])  # the deviation of one report over that of the mean
    drawn = draw(lambda shape: np.full(shape, worst))
    assert drawn == pytest.approx(of_one * design.deviation, rel=0.01)
    assert draw(rng.random) == pytest.approx(of_one * design.uniform_deviation, rel=0.01)


def test_drawn_shares_of_noise_have_the_stated_deviation():
    """Within 1.5 %, of 200,000 sums: more than four standard errors, as the noise has heavy tails."""
    design = designs_of(**FOUR_ROUNDS)["shares of noise"]
    rng = np.random.default_rng(20261129)
    success = -math.expm1(-1 / float(design.parameters.split("noise:1.0:")[1].split()[0]))
    halves = rng.negative_binomial(1 / 2, success, size=(2, 3, 200_000)).astype(float)
    noise = (halves[0] - halves[1]).sum(axis=0) / UNITS
    assert design.deviation == pytest.approx(noise.std() / FOUR_ROUNDS["n"], rel=0.015)


def test_a_wider_range_has_the_same_designs_in_its_unit():
    of_unit = designs_of(**ONE_ROUND)
    found = designs_of(**ONE_ROUND, value_range=(-40.0, 60.0))
    for name, design in found.items():
        assert design.deviation == pytest.approx(100 * of_unit[name].deviation, rel=1e-12)
        assert design.uniform_deviation == pytest.approx(100 * of_unit[name].uniform_deviation)
        assert design.parameters == of_unit[name].parameters


def test_designs_that_no_number_of_users_makes_accurate_are_left_out(monkeypatch):
    """Other reports than noise on the sum need more than 10^12 users here."""
    monkeypatch.setattr(means, "_MOST_LEVELS", 100)
    found = compare_means(1.0, 1e-6, deviation=1e-9)
    assert set(found.left_out) == {"one bit", "K levels"}
    assert len(found.designs) == 3
    with pytest.raises(ValueError, match=r"^deviation must be larger"):
        compare_means(1.0, 1e-6, deviation=1e-15)


def test_the_command_gives_the_designs_as_json():
    found = json_answer("design --mean --n 1e5 --eps 1 --delta 1e-6")
    designs = list(designs_of(**ONE_ROUND).values())
    assert [row["name"] for row in found["designs"]] == [design.name for design in designs]
    assert [row["deviation"] for row in found["designs"]] == [d.deviation for d in designs]
    assert found.keys() == {"n", "range", "eps", "log10_delta", "designs", "left_out"}


def test_the_command_prints_the_fewest_users_in_the_users_unit():
    text = text_answer("design --mean --deviation 0.1 --range=-40:60 --eps 1 --delta 1e-6")
    assert text.startswith(
        "(eps = 1, delta = 1.000e-06) for every dataset, deviation = 0.1, values"
    )
    assert "\nK levels              12826         0.1          0.0799 " in text
    assert "\ndesign                fewest users  worst input" in text
    assert "design                worst input" in text_answer(
        "design --mean --n 1e5 --eps 1 --delta 1e-6"
    )


def test_the_command_prints_who_is_trusted_and_with_what():
    line = "design --mean --n 5000 --eps 1 --delta 1e-6 --colluding 10% --participation 75%"
    text = text_answer(f"{line} --parties 3 --honest 2")
    assert ", n = 5000, colluding = 500, participation = 0.75, parties = 3, honest = 2" in text
    assert "aggregators: 2 of 3, to add noise and show only sums  1/2 of noise:1.0:" in text
    assert "a user does with probability 0.75" in text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--mean --n 9 --k 3", "--k cannot be given with --mean"),
        ("--mean --n 9 --share 1%", "--share cannot be given with --mean"),
        ("--mean --n 9 --values-per-user 2", "--values-per-user cannot be given with --mean"),
        *(
            (
                f"--mean --n 9 --range={ends}",
                f"--range must be two finite numbers A:B with A below B, {got}",
            )
            for ends in ("3:1", "1:1", "0:inf", "nan:1", "-1e308:1e308")
            for got in (f"such as 0:120; got '{ends}'",)
        ),
        ("--mean --n 9 --range 1", "--range must be two numbers A:B, such as 0:120; got '1'"),
        ("--mean --deviation 0", "deviation must be finite and > 0"),
        ("--mean --deviation 1e-300", "deviation must be from 1e-100 to 1e+100 times the range"),
        ("--mean --deviation 1e300", "deviation must be from 1e-100 to 1e+100 times the range"),
        ("--mean --deviation 1 --range 0:1e-200", "deviation must be from 1e-100 to 1e+100 times"),
        ("--mean --n 0", "n must be a whole number from 1"),
        ("--mean --n 9 --deviation 1", "--deviation not allowed with argument --n"),
        ("--mean --n 9 --honest 3", "honest must be a whole number from 1 to 2"),
        ("--mean --n 9 --colluding 9", "colluding must be"),
        ("--mean", "one of the arguments --n --deviation is required"),
        ("--n 9", "k must be given, unless --mean is"),
        ("--deviation 1 --k 3", "--deviation is only for --mean"),
        ("--n 9 --k 3 --range 0:2", "--range is only for --mean"),
    ],
)
def test_the_command_refuses_in_one_line(line, message):
    assert refusal(f"design {line} --eps 1 --delta 1e-6").startswith(message)


def test_a_range_must_be_two_numbers():
    with pytest.raises(ValueError, match=r"^value_range must be two numbers; got 3"):
        compare_means(**ONE_ROUND, value_range=3)
    for low, high in ((3, 1), (0, math.inf)):
        with pytest.raises(ValueError, match=rf"^value_range must be two finite .* above {low};"):
            compare_means(**ONE_ROUND, value_range=(low, high))
    with pytest.raises(ValueError, match=r"^n or deviation must be given, but not both"):
        compare_means(1.0, 1e-6)


@pytest.mark.parametrize("eps", [1e-7, 1e-100])
def test_an_eps_too_small_for_noise_is_refused_by_its_name(eps):
    with pytest.raises(ValueError, match=r"^eps must be larger, about 1e-6 for each round; got"):
        compare_means(eps, 1e-6, n=10)
