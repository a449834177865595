"""The command line: answers, JSON, errors in one line; never a traceback, never NaN, never above 1."""

import itertools
import json
import math
import re
import subprocess
import sys
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import tightshuffle
from tests.cli.calls import json_answer, refusal, run_command, text_answer
from tightshuffle import methods
from tightshuffle.cli import commands, values
from tightshuffle.cli.layout import what_is_left
from tightshuffle.cli.main import main
from tightshuffle.dummies.best_law import smallest_poisson_mean
from tightshuffle.dummies.laws import error_of_parties, parse_law
from tightshuffle.mechanisms.gaussian import exact_scale
from tightshuffle.randomizers import parse
from tightshuffle.randomizers.expected_errors import errors

INSTALLED_COMMAND = Path(sys.executable).with_name("tightshuffle")


def setting_for(name):
    """n, k and eps0, and for a method that asks for it how many of the other users hold the first value."""
    count = {"count": 300} if methods.METHODS[name].needs_count else {}
    return {"n": 2000, "k": 8, "eps0": 0.45, **count}


@pytest.mark.parametrize("name", methods.METHODS)
def test_json_of_delta_has_the_setting_and_the_log10_delta_of_python(name):
    setting = setting_for(name)
    found = json_answer(f"delta {name} --eps 0.28 0.32", **setting)
    log10_delta = tightshuffle.delta([0.28, 0.32], method=name, log10=True, **setting)
    # A method that composes over rounds says for how many: one, if nothing else is asked for.
    rounds = {"rounds": 1} if methods.METHODS[name].composes else {}
    assert found == {
        "method": name,
        **setting,
        **rounds,
        "eps": [0.28, 0.32],
        "log10_delta": log10_delta.tolist(),
        "note": [None, None],
    }


@pytest.mark.parametrize("name", methods.METHODS)
def test_json_of_delta_for_a_single_eps_has_numbers_instead_of_lists(name):
    setting = setting_for(name)
    found = json_answer(f"delta {name} --eps 0.28", **setting)
    log10_delta = tightshuffle.delta(0.28, method=name, log10=True, **setting)
    assert (found["eps"], found["log10_delta"], found["note"]) == (0.28, log10_delta, None)


def test_mean_of_dummies_per_device_is_that_for_the_devices_that_do_not_collude():
    line = "dummies --n 10000 --k 50 --eps 1 --delta 1e-6 --values-per-user 2 --colluding 10%"
    mean = smallest_poisson_mean(1, 1e-6, devices=9_000, values_per_user=2)
    assert json_answer(line)["mean_per_device"] == mean


def test_designs_of_dummies_begin_with_the_shufflers_and_end_with_the_devices():
    designs = json_answer("dummies --n 10000 --k 50 --eps 1 --delta 1e-6")["designs"]
    assert designs[0]["added_by"] == "shuffler"
    assert designs[-1]["added_by"] == "devices"


def test_the_best_law_of_dummies_reaches_the_eps_for_which_it_was_listed():
    line = "dummies --n 10000 --k 50 --delta 1e-6 --values-per-user 2"
    best = json_answer(line, eps=1)["designs"][0]
    of_law = json_answer(line, law=best["law"])
    assert of_law["eps_at_least"] <= of_law["eps"] <= 1
    assert of_law["expected_tv"] == best["expected_tv"]


def test_dummies_of_parties_cost_the_messages_and_the_error_of_all_parties():
    """Two of three parties are honest, and all three add dummies of each of 50 values, by the same law."""
    n, k, parties = 10_000, 50, 3
    found = json_answer("dummies", n=n, k=k, delta=1e-6, eps=1, parties=parties, honest=2)
    assert (found["parties"], found["honest"]) == (3, 2)
    best = found["designs"][0]
    law = parse_law(best["law"])
    assert best["added_by"] == "each of 3 parties"
    assert best["mean"] == parties * law.mean
    # Per user: one report, and a share of all dummies.
    assert best["messages_per_user"] == pytest.approx(1 + k * parties * law.mean / n)
    # Total variation: half the sum over the values of the mean absolute error of their counts.
    assert best["expected_tv"] == pytest.approx(k * error_of_parties(law, parties) / n / 2)


def test_a_single_honest_party_needs_the_law_that_the_shuffler_needs():
    line = "dummies --n 10000 --k 50 --eps 1 --delta 1e-6"
    of_shuffler = json_answer(line)["designs"][0]
    of_parties = json_answer(f"{line} --parties 2 --honest 1")["designs"][0]
    assert of_parties["law"] == of_shuffler["law"]


@pytest.mark.parametrize(("parties", "honest"), [(2, 1), (3, 2)])
def test_eps_of_a_law_of_parties_is_that_of_the_sum_over_the_honest_ones(parties, honest):
    line = "dummies --n 10000 --k 50 --delta 1e-6"
    of_parties = f"{line} --parties {parties} --honest {honest}"
    best = json_answer(of_parties, eps=1)["designs"][0]
    of_law = json_answer(of_parties, law=best["law"])
    of_sum = json_answer(line, law=f"{honest}*{best['law']}")
    assert of_law["eps"] == of_sum["eps"] <= 1
    assert of_law["expected_tv"] == best["expected_tv"]


def test_users_and_epsilon_for_sums_are_those_of_python():
    """`users` finds the smallest n for eps 0.5, and with that n `epsilon` finds an eps of at most 0.5."""
    setting = {"k": 9, "eps0": 6.0, "randomizer": "rappor", "release": "sums", "rounds": 2}
    n = json_answer("users --neighbours deletion", **setting, delta=1e-5, eps=0.5)["n"]
    assert n == tightshuffle.fewest_users(0.5, 1e-5, neighbours="deletion", **setting)
    eps = json_answer("epsilon upper --neighbours deletion", n=n, **setting, delta=1e-5)["eps"]
    assert eps == tightshuffle.epsilon(1e-5, n=n, neighbours="deletion", **setting) <= 0.5


def test_a_delta_of_0_has_no_logarithm_in_json_and_a_note():
    # delta is 0 from eps = eps0 on.
    found = json_answer("delta upper --n 2000 --k 8 --eps0 0.45 --eps 0.2 0.45 9")
    assert found["log10_delta"][1:] == [None, None]
    assert found["note"] == [None, "delta is 0", "delta is 0"]


def test_outside_of_a_theorem_the_text_says_why_and_the_exit_code_is_3():
    condition = "erlingsson holds only for n >= 1000 and delta < 1/100"
    code, text, err = run_command("delta erlingsson --n 100 --k 8 --eps0 0.3 --eps 0.2")
    assert (code, err) == (3, f"tightshuffle: {condition}\n")
    assert f"nan ({condition})" in text


def test_outside_of_a_theorem_json_tells_an_unknown_delta_from_a_delta_of_0():
    """The theorem needs 1000 users. At eps = eps0, delta is 0 without any theorem."""
    line = "delta erlingsson --n 100 --k 8 --eps0 0.3 --eps 0.2 0.3 --json"
    code, out, _ = run_command(line)
    found = json.loads(out)
    assert code == 3
    assert found["log10_delta"] == [None, None]  # JSON has neither nan nor minus infinity
    condition = "erlingsson holds only for n >= 1000 and delta < 1/100"
    assert found["note"] == [condition, "delta is 0"]


def test_where_a_bound_gives_no_eps_the_exit_code_is_3():
    line = "epsilon blanket --n 10 --k 8 --eps0 0.5 --delta 1e-9 --json"
    code, out, err = run_command(line)
    assert (code, json.loads(out)["eps"], err.count("\n")) == (3, None, 1)
    assert "eps = 0.5 holds without shuffling" in err


def rows_of_table(text):
    """The cells of each row of the table that `delta` prints: eps, delta and log10 delta."""
    _method, _setting, _empty, _header, *rows = text.splitlines()
    return [row.split() for row in rows]


def test_a_table_writes_out_a_delta_far_below_the_smallest_float():
    text = text_answer("delta upper --n 1e6 --k 10 --eps0 1 --eps 0.5")
    [[_eps, delta, _log10_delta]] = rows_of_table(text)
    log10_delta = tightshuffle.delta(0.5, n=10**6, k=10, eps0=1.0, log10=True)
    assert log10_delta < -1000  # the smallest float is about 10^-324
    # delta is rounded up to four digits, so by less than a factor of 1.001, and log10(1.001) is 4.3e-4.
    assert 0 <= float(Decimal(delta).log10()) - log10_delta < 5e-4


def test_a_table_keeps_the_order_of_eps_and_writes_a_delta_of_0_as_0():
    text = text_answer("delta upper --n 1e6 --k 10 --eps0 1 --eps 0.5 1 0")
    assert text.splitlines()[1] == "n = 1000000, k = 10, eps0 = 1, rounds = 1"
    at_half, at_eps0, at_0 = rows_of_table(text)
    assert [at_half[0], at_eps0[0], at_0[0]] == ["0.5", "1", "0"]
    assert at_eps0 == ["1", "0", "-inf"]
    assert 1e-5 < float(at_0[1]) < 1  # an ordinary number, 2.8e-4


def test_methods():
    kinds = {name: method.kind for name, method in methods.METHODS.items()}
    assert {name: about["kind"] for name, about in json_answer("methods").items()} == kinds
    assert all(name in text_answer("methods") for name in kinds)


@pytest.mark.parametrize("eps", [1, 2])
def test_eps0_of_a_plan_reaches_the_delta_of_the_plan(eps):
    plan = json_answer(f"plan --n 1000 --k 15 --eps {eps} --delta 1e-6 --colluding 10%")
    assert plan["colluding"] == 0.1
    log10_delta = tightshuffle.delta(
        eps, n=1000, k=15, eps0=plan["eps0"], colluding=100, log10=True
    )
    assert log10_delta == plan["log10_delta_of_eps0"] <= plan["log10_delta"] == -6


@pytest.mark.parametrize("eps", [1, 2])
def test_text_of_a_plan_has_the_numbers_of_its_json(eps):
    """`what_is_left` puts the guarantee without a shuffler, (eps0, 0), into words."""
    line = f"plan --n 1e3 --k 15 --eps {eps} --delta 1e-6 --colluding 10%"
    plan, text = json_answer(line), text_answer(line)
    assert "n = 1000, k = 15, 100 of the users colluding" in text
    [written_eps0] = re.findall(r"largest eps0   (\S+) ", text)
    # eps0, which is above 1, is written with six digits and rounded down: by less than 1e-5.
    assert 0 <= plan["eps0"] - float(written_eps0) < 1e-5
    assert f"  {plan['expected_tv']['gaussian']:.4g}\n" in text
    left = what_is_left(plan["eps0"])
    assert f"\nleft, with delta = 0, if the shuffler fails: {left}\n" in text


def test_plans_for_several_eps_are_those_for_each():
    line = "plan --n 1000 --k 15 --delta 1e-6 --eps"
    plans = [json_answer(line, eps) for eps in (1, 2)]
    assert json_answer(line, 1, 2) == {"method": "upper", "plans": plans}
    texts = [text_answer(line, eps) for eps in (1, 2)]
    assert text_answer(line, 1, 2) == "\n\n".join(texts)


def test_a_plan_for_rounds_says_that_nothing_useful_is_left_for_all_of_them_together():
    text = text_answer("plan --n 1e5 --k 15 --eps 1 --delta 1e-6 --rounds 4")
    assert re.search(r"fails: nothing useful \(eps \d+\), for the 4 rounds together\n", text)


def test_a_plan_for_an_error_has_no_larger_one():
    plan = json_answer("plan --k 15 --eps 1 --delta 1e-6 --error 0.05")
    assert plan["expected_tv"]["shuffle+INV"] <= plan["error"] == 0.05


@pytest.mark.parametrize(
    ("flag", "sensitivity", "text_of_sensitivity"),
    [
        pytest.param("", math.sqrt(2), "sqrt(2)", id="a value is replaced"),
        pytest.param("--neighbours deletion", 1.0, "1", id="a user has a value or none"),
    ],
)
def test_a_plan_names_the_sensitivity_of_its_sigma(flag, sensitivity, text_of_sensitivity):
    of_sums = "--randomizer rappor --release sums"
    line = f"plan --n 100 --k 3 --eps 1 --delta 1e-6 {of_sums} {flag}"
    plan = json_answer(line)
    assert plan["sensitivity"] == sensitivity
    expected = exact_scale(1.0, 1e-6, sensitivity=sensitivity)
    assert plan["sigma"] == pytest.approx(expected, rel=1e-12)
    assert f": sensitivity {text_of_sensitivity}.\n" in text_answer(line)


@pytest.fixture
def file_of_500_300_200(tmp_path):
    """The path of a file by which 500, 300 and 200 of 1000 users hold the values 1, 2 and 3."""
    path = tmp_path / "counts.csv"
    path.write_text("cell,count\n1,500\n2,300\n3,200\n")
    return path


def test_guarantee_of_a_plan_for_own_data_is_that_for_any_data(file_of_500_300_200):
    found = json_answer("plan --eps 1 --delta 1e-6", data=file_of_500_300_200)
    for_any_data = json_answer("plan --eps 1 --delta 1e-6 --n 1000 --k 3")
    assert (found["n"], found["k"]) == (1000, 3)
    assert found["eps0"] == for_any_data["eps0"]


def test_errors_of_a_plan_for_own_data_are_those_for_its_shares(file_of_500_300_200):
    """An error is an expected total variation distance: half the sum of the values' absolute errors."""
    found = json_answer("plan --eps 1 --delta 1e-6", data=file_of_500_300_200)
    of_values = errors(parse("grr", k=3, eps0=found["eps0"]), [0.5, 0.3, 0.2], n=1000)
    assert found["expected_tv"]["shuffle+INV"] == pytest.approx(of_values.sum() / 2, rel=1e-12)
    # The distance from the guess that all shares are 1/3: only the largest share is above that.
    assert found["expected_tv"]["uniform"] == pytest.approx(0.5 - 1 / 3)


def test_compare_is_delta_by_all_valid_bounds():
    options = "--n 1000 --k 8 --eps0 1 --eps 0.1 0.2"
    compared = json_answer(f"compare {options}")["methods"]
    kinds = (methods.UPPER, methods.LOWER)
    names = [name for name, method in methods.METHODS.items() if method.kind in kinds]
    assert sorted(compared) == sorted(names)
    assert compared == json_answer(f"delta {','.join(names)} {options}")["methods"]


@pytest.mark.parametrize(
    ("option", "names"),
    [
        ("--randomizer subset:2", ["lower", "upper", "privacy-blanket", "single-value"]),
        ("--participation 50%", ["lower", "upper"]),
    ],
)
def test_compare_has_the_bounds_that_know_an_option_and_ends_at_a_delta_of_1e_minus_12(
    option, names, monkeypatch
):
    monkeypatch.setattr(commands, "_POINTS_OF_JSON", 5)  # to save time
    compared = json_answer(f"compare --n 1000 --k 8 --eps0 1 {option}")["methods"]
    assert list(compared) == names
    assert -12.001 < compared["upper"]["log10_delta"][-1] <= -12


SETTINGS = ["--n 1e4 --k 64 --eps0 3", "--n 1e5 --k 256 --eps0 4"]
RANDOMIZERS = ["grr", "hash:2", "rappor", "oue", "hadamard", "subset:8"]


@pytest.fixture(params=itertools.product(SETTINGS, RANDOMIZERS), ids=" ".join)
def options(request):
    """The options for delta = 1e-6 of each of six randomizers in each of two settings."""
    setting, randomizer = request.param
    return f"{setting} --randomizer {randomizer} --delta 1e-6"


def test_text_of_epsilon_has_a_narrow_bracket_for_every_randomizer(options):
    text = text_answer(f"epsilon upper,lower {options}")
    low, high = map(float, re.search(r"between (\S+) and (\S+)", text).groups())
    assert low < high < 1.002 * low  # the widest of the twelve has 0.085 %


def test_without_an_upper_bound_there_is_no_guarantee():
    """Gaussian noise has an infinite eps0, and of two users neither hides the other at this delta."""
    setting = "--n 2 --randomizer density:gaussian:1 --delta 1e-20"
    code, out, err = run_command(f"epsilon lower,upper {setting}")
    assert (code, err) == (3, "")
    assert re.search(r"1e-20 +at least 0\n", out)
    assert "nan" not in out.partition("lower  ")[0]
    assert run_command(f"epsilon lower {setting}")[0] == 0  # who asks for nothing else gets it
    # Nor is delta of one dataset: this theorem holds only for 1000 users or more.
    setting = "--n 100 --k 8 --eps0 0.3 --eps 0.2 --count 50"
    assert run_command(f"delta count-exact,erlingsson {setting}")[0] == 3
    assert run_command(f"delta count-exact {setting}")[0] == 0


def test_upper_is_the_smallest_upper_bound_of_eps_for_every_randomizer(options):
    bounds = json_answer(f"epsilon privacy-blanket,single-value,upper {options}")["methods"]
    least = min(bound["eps"] for bound in bounds.values())
    # Each method finds its eps by a search of its own, which is what 1e-6 is for.
    assert bounds["upper"]["eps"] <= least * (1 + 1e-6)


@pytest.mark.parametrize("randomizer", RANDOMIZERS)
def test_eps_of_two_rounds_is_above_that_of_one_for_every_randomizer(randomizer):
    options = f"{SETTINGS[0]} --randomizer {randomizer} --delta 1e-6"
    of_one_round = json_answer(f"epsilon upper {options}")["eps"]
    # `lower` is for one round only, so that for two rounds the text has only an upper end.
    text = text_answer(f"epsilon upper,lower {options} --rounds 2")
    of_two_rounds = float(re.search(r"at most (\S+)", text)[1])
    assert of_two_rounds > of_one_round


@pytest.mark.parametrize(
    "options", [{"randomizer": "subset:3", "colluding": 200}, {"participation": 0.5}]
)
def test_json_has_the_options_that_were_given_and_the_delta_of_python(options):
    setting = {"n": 2000, "k": 8, "eps0": 0.45, **options}
    found = json_answer("delta upper --eps 0.1 0.2", **setting)
    assert {name: found[name] for name in options} == options
    log10_delta = tightshuffle.delta([0.1, 0.2], log10=True, **setting)
    assert found["log10_delta"] == log10_delta.tolist()


@pytest.mark.parametrize("methods", ["upper", "upper,lower"])
def test_bounds_for_users_who_may_not_take_part_say_whom_they_are_for(methods):
    line = f"epsilon {methods} --n 2000 --k 8 --eps0 2 --delta 1e-6 --participation"
    sentence = (
        "The guarantee is for a user who reports in every round, and does not hide who reports."
    )
    assert sentence in text_answer(line, "50%")
    assert sentence not in text_answer(line, "1")


@pytest.mark.parametrize("share", ["10%", "0.1"])
def test_colluding_users_can_be_given_as_a_share_of_all_users(share):
    line = "delta upper --n 2000 --k 8 --eps0 0.45 --eps 0.1 --colluding"
    assert json_answer(line, share) == json_answer(line, 200)


def test_everybody_can_be_a_share_of_100_percent():
    line = "plan --n 1000 --k 4 --eps 1 --delta 1e-3 --participation"
    assert json_answer(line, "100%") == json_answer(line, 1)
    assert (values.share("100%"), values.share("5%"), values.share("0")) == (1, 0.05, 0)


def test_a_law_without_a_name_is_refused():
    assert "law must be poisson" in refusal("dummies --n 9 --k 5 --delta 1e-6 --law", "")


def test_a_matrix_of_your_own(tmp_path):
    """k-RR with e^eps0 = 3, in a file as a spreadsheet writes it: a byte order mark, CRLF, spaces."""
    path = tmp_path / "matrix.csv"
    path.write_text("\ufeff0.6,0.2,0.2\r\n0.2,0.6,0.2\r\n 0.2, 0.2, 0.6\r\n", encoding="utf-8")
    found = json_answer("delta upper --n 500 --eps 0.2 --randomizer", f"file:{path}")
    eps0 = math.log(3)
    assert (found["k"], found["eps0"]) == (3, pytest.approx(eps0, rel=1e-15))
    of_krr = tightshuffle.delta(0.2, n=500, k=3, eps0=eps0, method="privacy-blanket", log10=True)
    # Each is at most 1e-4 above the logarithm of the same number.
    assert found["log10_delta"] == pytest.approx(of_krr, abs=1e-3)


@pytest.mark.parametrize(("k", "has_remark"), [(256, False), (257, True)])
def test_the_answer_says_that_a_large_matrix_has_the_blanket_alone(tmp_path, k, has_remark):
    """Also at an eps above eps0, which is 0.85: there delta is 0, and needs no computation."""
    shares = [0.3 + 0.4 * value / k for value in range(k)]
    path = tmp_path / "matrix.csv"
    rows = [shares, [1 - share for share in shares]]
    path.write_text("\n".join(",".join(map(repr, row)) for row in rows))
    line = f"--n 50 --eps 1 --randomizer file:{path}"
    remark = "by privacy-blanket alone"
    assert (remark in " ".join(text_answer(f"delta upper {line}").split())) is has_remark
    assert (
        remark in " ".join(text_answer(f"delta upper,privacy-blanket {line}").split())
    ) is has_remark
    assert ("remark" in json_answer(f"delta upper {line}")) is has_remark
    # The remark is about `upper` alone.
    assert "remark" not in json_answer(f"delta privacy-blanket {line}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0.5,0.2\n0.5,x\n", "row 2: expected a probability; got 'x'"),
        ("0.5,0.2\n0.5\n", "row 2: 1 values; expected 2, as in row 1"),
        ("0.5,0.2\n0.4,0.8\n0.1,0\n", "eps0 is infinite); see row 3"),
        ("", "two axes"),
    ],
)
def test_a_bad_matrix_is_named_by_file_and_row(tmp_path, text, message):
    path = tmp_path / "matrix.csv"
    path.write_text(text)
    refused = refusal("delta upper --n 500 --eps 0.2 --randomizer", f"file:{path}")
    assert refused.startswith(f"{path}: ")
    assert message in refused


def test_a_method_that_lacks_an_argument_has_a_note_beside_methods_that_answer():
    setting = {"n": 2000, "k": 8, "eps0": 0.45}
    found = json_answer("delta upper,clones,count-exact", **setting, eps=0.1)["methods"]
    for name in ("upper", "clones"):
        log10_delta = tightshuffle.delta(0.1, method=name, log10=True, **setting)
        assert found[name]["log10_delta"] == log10_delta
    assert "count must be given" in found["count-exact"]["note"]


def test_a_method_that_lacks_an_argument_has_nan_in_the_table_of_several():
    text = text_answer("delta upper,count-exact --n 2000 --k 8 --eps0 0.45 --eps 0.1 0.2")
    # Each line of the table is eps, delta by `upper` and delta by `count-exact`.
    assert re.findall(r"^ *0\.[12] +\S+ +(\S+)", text, re.MULTILINE) == ["nan", "nan"]
    assert "nan: count must be given" in text


def test_a_single_method_that_lacks_an_argument_is_refused():
    assert "count" in refusal("delta count-exact --n 2000 --k 8 --eps0 0.45 --eps 0.1")


def test_ranges_of_eps_are_evenly_spaced():
    """FIRST:LAST:NUMBER, beside a single eps."""
    found = json_answer("delta upper --n 2000 --k 8 --eps0 0.45 --eps 0:0.4:5 0.05")
    assert found["eps"] == [0, 0.1, 0.2, 0.3, 0.4, 0.05]


def test_ranges_of_delta_have_evenly_spaced_logarithms():
    found = json_answer("epsilon upper --n 2000 --k 8 --eps0 0.45 --delta 1e-9:1e-3:3")
    assert found["delta"] == [1e-9, 1e-6, 1e-3]


@pytest.mark.parametrize(
    ("delta", "log10_delta"), [("1e-400", -400.0), ("1e-400:1e-300:3", [-400.0, -350.0, -300.0])]
)
def test_a_delta_below_the_smallest_float_is_what_the_user_types(delta, log10_delta):
    setting = {"n": 10**5, "k": 10, "eps0": 3.0}
    found = json_answer("epsilon upper", **setting, delta=delta)
    assert found["log10_delta"] == log10_delta
    of_python = tightshuffle.epsilon(log10_delta=log10_delta, **setting)
    assert np.array_equal(found["eps"], of_python)
    text = text_answer("epsilon upper", **setting, delta=delta)
    assert len(re.findall(r"^1\S*e-(?:400|350|300)  \d", text, re.MULTILINE)) == np.size(
        log10_delta
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "COMMAND"),
        ("delta", "METHOD, --n, --eps"),
        ("detla upper", "invalid choice: 'detla' (choose from 'delta', 'epsilon'"),
        ("delta uper --eps 1 --n 9 --k 3 --eps0 2", "METHOD must be one of"),
        ("delta upper --eps 0:1 --n 9 --k 3 --eps0 2", "--eps must be a number, or a range"),
        ("delta upper --eps 1 --n 9 --k 3 --eps0 2 --colluding 100%", "must be a share above 0 %"),
        ("delta upper --eps 1 --n 9 --k 3 --eps0 2 --esp 1", "unrecognized arguments: --esp"),
        ("delta upper --eps 1 --n 9 --randomizer file:/no.csv", "/no.csv: No such file"),
        (
            "delta upper --eps 1 --n 1e999999999 --k 3 --eps0 2",
            "n must be a whole number >= 1; got inf",
        ),
        ("delta upper --eps 1 --n ten --k 3 --eps0 2", "--n must be a number; got 'ten'"),
        ("delta upper --eps -1e-5 --n 9 --k 3 --eps0 2", "--eps expected at least one argument"),
        (
            "epsilon upper --delta 0:1e-3:4 --n 9 --k 3 --eps0 2",
            "--delta must lie between 0 and 1, both excluded, such as 1e-6; got '0'",
        ),
        (
            "epsilon upper --delta 1e-400:1e-390 --n 9 --k 3 --eps0 2",
            "of 2 to 10000 numbers; got '1e-400:1e-390'",
        ),
        ("dummies --n 9 --k 5 --delta 1e-6 --law file:/dev/zero", "/dev/zero: expected a CSV file"),
        ("dummies --n 9 --k 5 --eps 1 --delta 1e-400", "delta must be at least 1e-280"),
        ("plan --n 9 --k 3 --eps 1 --delta 1e-6 --participation 110%", "participation must be "),
        ("plan --n 9 --k 3 --eps 1 --delta 2", "--delta must lie between 0 and 1"),
        ("plan --n 9 --k 3 --eps 1 --delta nan", "--delta must lie between 0 and 1"),
        ("plan --k 3 --eps 1 --delta 1e-6", "one of the arguments --n --data --error is required"),
        (
            "plan --data x.csv --error 0.1 --eps 1 --delta 1e-6",
            "--error not allowed with argument --data",
        ),
        ("plan --data x.csv --k 3 --eps 1 --delta 1e-6", "give --k, or --data"),
        ("dummies --n 9 --k 5 --delta 1e-6 --law geometric:27", "law must be "),
        ("dummies --n 0 --k 5 --delta 1e-6 --law poisson:9", "n must be "),
        (
            "dummies --n 9 --k 5 --eps 1 --delta 1e-6 --values-per-user 6",
            "values_per_user must be ",
        ),
        (
            "dummies --n 9 --k 5 --eps 1 --delta 1e-6 --parties 2 --honest 3",
            "honest must be a whole number from 1 to 2; got 3",
        ),
        ("collection /no.yaml --delta 1e-6", "/no.yaml: No such file"),
    ],
)
def test_errors_are_one_line(line, message):
    assert message in refusal(line)


@pytest.mark.parametrize("command", ["", "delta", "epsilon", "plan", "compare"])
def test_every_example_in_a_help_text_runs(command, capsys, file_of_500_300_200, monkeypatch):
    """The examples are the lines that begin with the command's name. Some read a file counts.csv."""
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "--help"])
    out, err = capsys.readouterr()
    assert (ended.value.code, err) == (0, "")
    examples = [line for line in out.splitlines() if line.startswith("  tightshuffle ")]
    assert examples

    monkeypatch.chdir(file_of_500_300_200.parent)
    monkeypatch.setattr(commands, "_POINTS_OF_PICTURE", 17)  # to save time
    for example in examples:
        assert text_answer(example.removeprefix("  tightshuffle "))


def finished_process(*words):
    """The process of a program that has ended, with its exit code and all that it printed."""
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


def test_the_installed_command_answers():
    line = "delta upper --n 1e4 --k 8 --eps0 1 --eps 0.1 --json"
    done = finished_process(INSTALLED_COMMAND, *line.split())
    assert (done.returncode, done.stderr) == (0, "")
    log10_delta = tightshuffle.delta(0.1, n=10**4, k=8, eps0=1.0, log10=True)
    assert json.loads(done.stdout)["log10_delta"] == log10_delta


def test_the_installed_command_refuses_in_one_line():
    refused = finished_process(INSTALLED_COMMAND, "delta", "upper", "--n", "ten")
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("command", [[INSTALLED_COMMAND], [sys.executable, "-m", "tightshuffle"]])
def test_the_command_says_its_version(command):
    printed = finished_process(*command, "--version").stdout
    assert printed == f"tightshuffle {version('tightshuffle')}\n"


@pytest.mark.parametrize("to", ["> /dev/full", ">&-"])
@pytest.mark.parametrize("words", ["methods", "--help", "--version"])
def test_an_answer_that_nobody_gets_is_an_error(words, to):
    done = finished_process("bash", "-c", f'"$0" {words} {to}', INSTALLED_COMMAND)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("tightshuffle: standard output")


@pytest.mark.parametrize("to", ["2> /dev/full", "2>&-"])
def test_an_error_that_nobody_gets_is_not_on_standard_output(to):
    line = f'"$0" delta upper --n ten {to}'
    done = finished_process("bash", "-c", line, INSTALLED_COMMAND)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


def test_a_closed_pipe_is_no_traceback():
    exit_code_in_pipe = '"$0" methods | true; echo ${PIPESTATUS[0]}'
    done = finished_process("bash", "-c", exit_code_in_pipe, INSTALLED_COMMAND)
    assert done.stderr == ""
    assert done.stdout.strip() in ("0", "1")  # 0 where the pipe took all of it before it closed
