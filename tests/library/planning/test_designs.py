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
from tests.library.cli.calls import json_answer, refusal, text_answer
from tightshuffle.cli.design_command import DEFAULTS
from tightshuffle.cli.layout import ERROR_OF_REPORTS, USELESS_EPS, USELESS_ERROR, what_is_left
from tightshuffle.collection import Collection, Group
from tightshuffle.dummies.best_law import best_cut_law, smallest_poisson_mean
from tightshuffle.dummies.bound import HiddenByDummies
from tightshuffle.dummies.laws import parse_law, poisson
from tightshuffle.planning.designs import collection_with_dummies, compare_designs, fewest_dummies

QUESTIONS = {  # arguments of `compare_designs`; those that are left out have their defaults
    "one value per user": {"n": 20_000, "k": 30, "eps": 1.0, "delta": 1e-6},
    "five rounds in which not everybody reports": {
        "n": 20_000,
        "k": 30,
        "eps": 0.3,
        "delta": 1e-8,
        "rounds": 5,
        "colluding": 0.1,
        "participation": 0.75,
        "share": 0.25,
        "parties": 3,
        "honest": 2,
    },
    "three values per user": {
        "n": 20_000,
        "k": 30,
        "eps": 1.0,
        "delta": 1e-5,
        "rounds": 2,
        "values_per_user": 3,
        "colluding": 500,
        "share": 0,
        "honest": 2,
    },
}


@functools.cache
def comparison(question):
    """The `Comparison` of all designs for one of the QUESTIONS."""
    return compare_designs(**QUESTIONS[question])


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
        (2000, 16, 0.5, 1e-6, 2.5, 4),
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


def delta_and_delta_if_more_accurate(
    design, *, n, k, eps, rounds, values_per_user, colluding, participation, honest, **_
):
    """The list [delta at eps of a design, delta at eps of the same design made a little more accurate].

    delta is by the bound behind the design. More accurate is 0.1 % fewer Poisson dummies, 0.1 % less
    deviation of a law, one dummy fewer, or 0.1 % more eps0. The keywords are the arguments of
    `compare_designs` that the design is for. The design is no central mechanism.
    """
    if design.law:
        # "poisson:MEAN", "power:MEAN:POWER:DEVIATION", or "noise:POWER:DEVIATION" of each party. A smaller
        # last number is more accurate.
        *start_of_text, last_number = design.law.split(":")
        laws = []
        for factor in (1, 0.999):
            number = float(last_number) * factor
            if start_of_text == ["poisson"]:
                # The dummies of colluding users' devices hide nobody.
                devices = n - (math.ceil(n * colluding) if colluding < 1 else colluding)
                laws.append(poisson(number * devices / n))
            else:
                of_honest_parties = f"{honest}*" if design.law.startswith("noise") else ""
                laws.append(parse_law(of_honest_parties + ":".join([*start_of_text, repr(number)])))
        return [
            10 ** float(HiddenByDummies(law, values_per_user, rounds).log10_delta(eps))
            for law in laws
        ]
    if "dummies" in design.name:
        # Reports of k-RR, and dummies.
        collections = [
            collection_with_dummies(n, k, design.eps0, dummies, colluding, rounds, participation)
            for dummies in (design.dummies, design.dummies - 1)
        ]
    else:
        # Reports only: "k-RR", or "RAPPOR, sums only", of which only the sum of each bit is released.
        name, _, sums = design.name.partition(", sums")
        release = {"randomizer": name.lower(), "release": "sums"} if sums else {}
        # The first eps0 is a hair below the design's, as this bound and the plan's may differ in their last
        # digits. Each value that may change counts as a round.
        collections = [
            Collection(
                k,
                (Group("a", n, design.eps0 * factor, participation, colluding),),
                rounds=rounds * values_per_user,
                **release,
            )
            for factor in (1 - 1e-6, 1.001)
        ]
    return [collection.delta(eps) for collection in collections]


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_design_has_the_guarantee_and_none_could_be_better(question):
    asked = DEFAULTS | QUESTIONS[question]
    for design in comparison(question).designs:
        if not design.reference:
            delta, delta_if_more_accurate = delta_and_delta_if_more_accurate(design, **asked)
            assert delta <= asked["delta"] < delta_if_more_accurate, design.name
            # The budgets of all reports of one user add up.
            changed_values = asked["rounds"] * asked["values_per_user"]
            assert design.eps_if_it_fails == changed_values * design.eps0


@pytest.mark.parametrize("question", QUESTIONS)
def test_designs_are_sorted_and_only_krr_is_left_out_for_several_values(question):
    found = comparison(question)
    errors = [(design.popular_error, design.error) for design in found.designs]
    assert errors == sorted(errors)
    missing = {"k-RR", "k-RR with dummies"} - {design.name for design in found.designs}
    values_per_user = (DEFAULTS | QUESTIONS[question])["values_per_user"]
    assert missing == ({"k-RR", "k-RR with dummies"} if values_per_user > 1 else set())
    assert missing == set(found.left_out)


@pytest.mark.parametrize("question", QUESTIONS)
def test_messages_and_bits_per_user(question):
    """A user sends one message of k bits for sums, else one of log2 k bits, rounded up, per value and dummy.

    QUESTIONS are keyword arguments of `compare_designs`, DEFAULTS those that it takes if they are left out,
    and ``comparison`` is its answer.
    """
    asked = DEFAULTS | QUESTIONS[question]
    reports = asked["n"] * asked["participation"]
    for design in comparison(question).designs:
        # Aggregators who add noise to sums also receive a bit per value.
        if "sums" in design.name or design.name == "noise of aggregators":
            messages, bits_per_message = 1, asked["k"]
        else:
            messages = asked["values_per_user"] + design.dummies / reports
            bits_per_message = math.ceil(math.log2(asked["k"]))
        assert design.messages_per_user == pytest.approx(messages)
        assert design.bits_per_user == design.messages_per_user * bits_per_message


@pytest.mark.parametrize(
    "question",
    [
        {"n": 1_000_000, "k": 10, "eps": 3.0, "delta": 0.9},
        {"n": 50, "k": 1000, "eps": 2.0, "delta": 0.9},
        {"n": 17_004, "k": 364, "eps": 1.8753, "delta": 0.3673, "colluding": 10},
    ],
)
def test_the_table_has_all_other_designs_where_hardly_any_dummies_are_needed(question):
    """Below about 1.7 dummies per value the normal approximation exceeds 1.05 times the exact error."""
    found = compare_designs(**question)
    others = {"k-RR", "dummies of the best law", "RAPPOR, sums only"}
    assert others <= {design.name for design in found.designs}
    assert list(found.left_out) == ["k-RR with dummies"]
    assert "within 5% of that of dummies alone" in found.left_out["k-RR with dummies"]


def test_small_eps_and_many_rounds_are_answered_in_seconds():
    """The search for the mean took one step per dummy, and its bounds were as fine as the result."""
    start = time.process_time()
    for eps, rounds in ((1e-4, 1), (1.0, 20_000)):
        law = best_cut_law(eps, 1e-6, rounds=rounds)
        log10_delta = float(HiddenByDummies(law, rounds=rounds).log10_delta(eps))
        assert -6.001 < log10_delta <= -6
    assert time.process_time() - start < 30  # seconds


def truth_and_lie_probability(design_name, eps0, k):
    """The probabilities that a report supports its user's value, and another one, by their definitions."""
    growth = math.exp(eps0)
    if design_name.startswith("k-RR"):
        return growth / (growth + k - 1), 1 / (growth + k - 1)
    if design_name.startswith("RAPPOR"):
        return math.sqrt(growth) / (math.sqrt(growth) + 1), 1 / (math.sqrt(growth) + 1)
    return 0.5, 1 / (growth + 1)


def deviation_of_count(design, n, k, share):
    """Standard deviation of the estimated number of users of a value that this share of n users hold.

    It is that of how many reports and dummies support the value, over p - q.
    """
    p, q = truth_and_lie_probability(design.name, design.eps0, k)
    variance_of_reports = n * (share * p * (1 - p) + (1 - share) * q * (1 - q))
    variance_of_dummies = design.dummies * (1 - 1 / k) / k
    return math.sqrt(variance_of_reports + variance_of_dummies) / (p - q)


def law_by_definition(text):
    """The probabilities (m,) of m consecutive numbers by a law's definition. The others hardly occur.

    ``text`` is "poisson:MEAN", "power:MEAN:POWER:DEVIATION" from 0 to twice the mean, or
    "noise:POWER:DEVIATION" around 0. The last two weigh a number at distance d from the middle by
    exp(-(d / DEVIATION)^POWER / POWER).
    """
    name, *numbers = text.split(":")
    if name == "poisson":
        mean = float(numbers[0])
        # Beyond ten times a mean of 40 or more there is no weight that a float would show.
        return stats.poisson.pmf(np.arange(10 * int(mean)), mean)
    power, deviation = map(float, numbers[-2:])
    # Noise has no end; 40 deviations away its weight is e^-40 or less, as its power is 1 or more.
    most = 40 * deviation if name == "noise" else float(numbers[0])
    distances = abs(np.arange(-round(most), round(most) + 1))
    weights = np.exp(-((distances / deviation) ** power) / power)
    return weights / weights.sum()


def mean_absolute_error(
    design, share, *, n, k, eps, delta, rounds, values_per_user, participation, parties
):
    """Expected absolute error, in users, of the estimate of how many hold a value: ``share`` of the users.

    If a design has a law, the error is that of the number of dummies of the value, or of the sum of all
    aggregators' noise. Two-sided geometric noise has the error 1 / sinh(eps / 2), with the eps of one changed
    value. Normal noise has sqrt(2 / pi) standard deviations. The keywords are the arguments of
    `compare_designs` that the design is for.
    """
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
        deviation = tightshuffle.gaussian.exact_scale(eps, delta, sensitivity=sensitivity)
    else:
        deviation = deviation_of_count(design, n * participation, k, share)
    return math.sqrt(2 / math.pi) * deviation


@pytest.mark.parametrize("question", QUESTIONS)
def test_errors_are_those_of_the_closed_forms(question):
    """Each design has the closed forms' error of all values, of one that nobody holds, and of a popular one.

    ``mean_absolute_error`` is the closed form, in users, for a value that a given share of the users hold.
    QUESTIONS are keyword arguments of `compare_designs`, DEFAULTS those that it takes if they are left out,
    and ``comparison`` is its answer.
    """
    asked = DEFAULTS | QUESTIONS[question]
    k, popular_share = asked["k"], asked.pop("share")
    del asked["colluding"], asked["honest"]  # which change parameters, but no error
    for design in comparison(question).designs:
        # `error` is half the sum over k equally popular values, as a share of the reports.
        error_of_uniform_count = 2 / k * asked["n"] * asked["participation"] * design.error
        for share, error in (
            (asked["values_per_user"] / k, error_of_uniform_count),
            (0, design.rare_error),
            (popular_share, design.popular_error),
        ):
            expected = mean_absolute_error(design, share, **asked)
            assert error == pytest.approx(expected, rel=1e-6), design.name


def test_the_error_of_a_popular_value_is_that_of_a_simulation():
    """`popular_error`, in users, is the mean absolute error of 20,000 runs, within five standard errors.

    Each run draws the reports and dummies of a design with local noise. ``comparison`` has all designs for
    20,000 users with one of 30 values each. p and q are the probabilities that a report supports its user's
    value, and another one.
    """
    # The popular value has, by default, a share of 0.1.
    n, k, holders, runs = 20_000, 30, 2000, 20_000
    rng = np.random.default_rng(20261128)
    simulated = []
    for design in comparison("one value per user").designs:
        if design.eps0 == math.inf:
            continue  # the users send no reports with local noise
        p, q = truth_and_lie_probability(design.name, design.eps0, k)
        reports = rng.binomial(holders, p, runs) + rng.binomial(n - holders, q, runs)
        dummies = rng.binomial(int(design.dummies), 1 / k, runs) - design.dummies / k
        # The estimate of the holders: unbiased, as a holder's report adds p - q more than another one.
        errors = abs((reports + dummies - n * q) / (p - q) - holders)
        standard_error = errors.std() / math.sqrt(runs)
        assert abs(errors.mean() - design.popular_error) < 5 * standard_error, design.name
        simulated.append(design.name)
    assert sorted(simulated) == ["OUE, sums only", "RAPPOR, sums only", "k-RR", "k-RR with dummies"]


def test_who_takes_part_hides_others_by_every_number_of_reports():
    """With the planned eps0, the largest delta is at most what was asked for, and above half of it.

    Each of six users reports with probability 0.6. delta of every dataset is a mean over who of the other
    five reports. The larger eps0 that is enough if everybody reports would be too large.
    """
    n, k, eps, delta, participation = 6, 3, 0.5, 0.02, 0.6
    planned = tightshuffle.plan(n=n, k=k, eps=eps, delta=delta, participation=participation).eps0
    if_everybody_reports = tightshuffle.plan(n=n, k=k, eps=eps, delta=delta).eps0

    def largest_delta(eps0):
        """Over all datasets of the other users, at eps, of k-RR with this eps0."""
        matrix = np.array([krr_probabilities(value, math.exp(eps0), k) for value in range(k)])
        # At [i] the reports of i other users and of the target user, whose value is 0 or 1.
        shuffled = [Shuffled(matrix, others + 1) for others in range(n)]
        deltas = []
        for dataset in shuffled[-1].datasets():
            mean_delta = 0.0
            for reports in itertools.product((False, True), repeat=n - 1):
                reported = tuple(itertools.compress(dataset, reports))
                others = len(reported)
                mass = participation**others * (1 - participation) ** (n - 1 - others)
                mean_delta += mass * float(
                    shuffled[others].delta(reported, (0, 1), np.asarray(eps))
                )
            deltas.append(mean_delta)
        return max(deltas)

    assert eps < planned < if_everybody_reports
    assert 0.5 * delta < largest_delta(planned) <= delta < largest_delta(if_everybody_reports)


@pytest.mark.parametrize("release", [{}, {"randomizer": "oue", "release": "sums"}], ids=str)
def test_participation_of_one_is_that_of_everybody(release):
    setting = {"k": 20, "eps": 0.5, "delta": 1e-6, **release}
    everybody = tightshuffle.plan(n=10_000, **setting)
    assert tightshuffle.plan(n=10_000, **setting, participation=1.0) == everybody
    nearly = tightshuffle.plan(n=10_000, **setting, participation=1 - 1e-9)
    assert nearly.eps0 == pytest.approx(everybody.eps0, rel=1e-3)


@pytest.mark.parametrize("release", [{}, {"randomizer": "oue", "release": "sums"}], ids=str)
def test_if_half_of_the_users_report_twice_as_many_are_needed(release):
    """The setting that 10,000 reports are enough for needs 20,000 users who report with probability 1/2.

    ``release`` is {} for k-RR's reports, or else OUE of which only the sum of each bit is released. The
    tolerance of 0.1 % leaves room: users are searched for to 1e-4, and eps0 to 1e-5.
    """
    setting = {"k": 20, "eps": 0.5, "delta": 1e-6, **release}
    eps0 = tightshuffle.plan(n=10_000, **setting).eps0
    users = tightshuffle.fewest_users(**setting, eps0=eps0, participation=0.5)
    # For sums, fewer than 10,000 reports may come with a probability of 5e-10 only. So six standard
    # deviations of 70 reports more have to be expected: 4 or 5 % more users.
    assert 20_000 * 0.999 <= users <= 20_000 * (1.05 if release else 1.001)
    planned = tightshuffle.plan(n=users, **setting, participation=0.5)
    assert planned.eps0 == pytest.approx(eps0, rel=1e-3)
    # The errors of the Gaussian mechanism and of local noise are those for the users who report.
    of_reports = tightshuffle.plan(n=round(users / 2), **setting)
    for name in ("gaussian", "local"):
        assert planned.tv[name] == of_reports.tv[name]


def test_sums_of_several_values_per_user_by_every_count():
    """Of RAPPOR's sums, where a user replaces two values by two others, delta is below the bound.

    The bound counts each value as a round. The largest delta of all datasets of two other users is above half
    of the bound. Four of the five sums depend on the user. Each is an independent count of ones, so that
    their joint law is an outer product.
    """
    n, k, values, eps, eps0 = 3, 5, 2, 0.8, 2.0
    bound = tightshuffle.delta(
        eps, n=n, k=k, eps0=eps0, randomizer="rappor", release="sums", rounds=values
    )
    p = math.exp(eps0 / 2) / (math.exp(eps0 / 2) + 1)  # of a true bit

    def law_of_sum(own_bit, holders):
        """Probabilities of 0, ..., n ones, if so many of the other users have the value."""
        law = [p, 1 - p] if own_bit == 0 else [1 - p, p]
        for probability_of_one in [p] * holders + [1 - p] * (n - 1 - holders):
            law = np.convolve(law, [1 - probability_of_one, probability_of_one])
        return law

    largest_delta = 0.0
    # How many of the two others hold each of the four values: any of 0, 1 and 2.
    for holders in np.ndindex((n,) * 4):
        # The user holds the first two values, then the last two.
        before, after = (
            functools.reduce(np.multiply.outer, map(law_of_sum, own_bits, holders))
            for own_bits in ((1, 1, 0, 0), (0, 0, 1, 1))
        )
        delta = np.maximum(before - math.exp(eps) * after, 0).sum()
        largest_delta = max(largest_delta, float(delta))
    assert 0.5 * bound < largest_delta <= bound


def test_the_command_prints_the_table():
    """`design` gives the designs of `compare_designs` as 1. JSON and 2. text. 3. It refuses bad arguments.

    QUESTIONS are keyword arguments of `compare_designs`, DEFAULTS those that it takes if they are left out,
    and ``comparison`` is its answer.
    """
    question = "three values per user"
    words = ["design"]
    for name, value in QUESTIONS[question].items():
        words += [f"--{name.replace('_', '-')}", value]
    found, designs = json_answer(*words), comparison(question).designs
    # The answer names all that was asked for, delta as its logarithm, and no default.
    log10_delta = {"log10_delta": math.log10(QUESTIONS[question]["delta"])}
    for name, value in (QUESTIONS[question] | log10_delta).items():
        assert name == "delta" or found[name] == value
    assert not (DEFAULTS.keys() - QUESTIONS[question].keys()) & found.keys()
    assert [row["name"] for row in found["designs"]] == [design.name for design in designs]
    assert [row["error"] for row in found["designs"]] == [design.error for design in designs]
    # The first design has no local noise, so that eps is infinite, for which JSON has null.
    assert found["designs"][0]["eps_if_it_fails"] is None

    text = text_answer(*words)
    assert "Left out: k-RR (only for one report per user and round)." in text
    # A line has the name, numbers, who must be trusted, and the parameters.
    for design in designs:
        line = rf"^{design.name} .* {design.trust} +{re.escape(design.parameters)}$"
        assert re.search(line, text, re.MULTILINE)

    # An eps for which too many dummies would be needed, and more values per user than the 30 that there are.
    assert refusal(*words, "--eps", "1e-6").startswith("eps must be ")
    assert refusal(*words, "--values-per-user", 31).startswith("values_per_user must be ")


@pytest.mark.parametrize(
    ("n", "eps", "rounds", "start_of_warning"),
    [
        pytest.param(20_000, 1, 1, "None", id="useless budgets"),
        pytest.param(20_000, 1, 3, "For 3 rounds, none", id="useless for all rounds together"),
        pytest.param(2000, 0.5, 1, None, id="a useful budget"),
    ],
)
def test_the_command_says_where_nothing_useful_is_left(
    n, eps, rounds, start_of_warning, monkeypatch
):
    """A line for every design says what is left if a party fails. There is a warning if nothing useful is.

    Useful is an eps below USELESS_EPS. ``what_is_left`` puts an eps into words. ``start_of_warning`` replaces
    the warning's "one"; None stands for no warning.
    """
    # The text and the JSON tell of the same designs, which are computed once.
    once = functools.cache(compare_designs)
    monkeypatch.setattr("tightshuffle.cli.design_command.compare_designs", once)
    words = ["design", "--n", n, "--k", 30, "--eps", eps, "--delta", 1e-6, "--rounds", rounds]
    text = text_answer(*words)
    # In JSON null is for infinity.
    left = [design["eps_if_it_fails"] or math.inf for design in json_answer(*words)["designs"]]
    assert (min(left) < USELESS_EPS) == (start_of_warning is None)
    warning = "one of these designs protects anybody if the shuffler or the aggregators fail."
    assert (warning in text) == (start_of_warning is not None)
    if start_of_warning:
        assert f"\n{start_of_warning} {warning[4:]}\n" in text
    whom = "n is how many users report in each round, and the guarantee is for each of them."
    assert f"\n{whom}\n" in text
    for eps_left in left:
        assert re.search(rf"  {re.escape(what_is_left(eps_left))} *\n", text)


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
    """If users report with probability 0.8, `design` and `plan` say so. ERROR_OF_REPORTS is on the errors."""
    words = ["--n", 10_000, "--k", 30, "--eps", 1, "--delta", 1e-6, "--participation", "80%"]
    for command in ("design", "plan"):
        text = text_answer(command, *words)
        for sentence in (
            "n is how many users could report. In each round a user does with probability 0.8.",
            "The guarantee is for a user who reports in every round, and does not hide who reports.",
            ERROR_OF_REPORTS,
        ):
            assert sentence in text
    assert json_answer("plan", *words)["participation"] == 0.8
    text = text_answer("users", "--eps0", 4, *words[2:])  # which asks for n
    assert "The guarantee is for a user who reports in every round" in text


def test_the_table_says_how_many_users_hold_the_popular_value():
    words = ["--n", 10_000, "--k", 30, "--eps", 1, "--delta", 1e-6, "--share", "20%"]
    assert "that a share of 0.2 of the users hold (2,000)" in text_answer("design", *words)


def test_the_command_says_that_an_error_above_one_is_useless():
    words = ["design", "--k", 100, "--eps", 1, "--delta", 1e-6]
    assert USELESS_ERROR in text_answer(*words, "--n", 100)
    assert USELESS_ERROR not in text_answer(*words, "--n", 10_000)


def poisson_error_over_gaussian_error(eps, delta, rounds):
    """Error of the fewest Poisson dummies over that of the central Gaussian with the same guarantee."""
    mean = smallest_poisson_mean(eps, delta, rounds=rounds)
    sensitivity = math.sqrt(2 * rounds)  # a changed value changes two counts by 1
    scale = tightshuffle.gaussian.exact_scale(eps, delta, sensitivity=sensitivity)
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
