"""The command line: answers, JSON, errors in one line; never a traceback, never NaN, never above 1."""

import json
import math
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

import tightshuffle
from tests.library.cli.calls import answer, call
from tightshuffle import methods
from tightshuffle.cli.layout import what_is_left
from tightshuffle.cli.main import main
from tightshuffle.dummies.best_law import smallest_poisson_mean
from tightshuffle.dummies.laws import error_of_parties, parse_law
from tightshuffle.gaussian import exact_scale
from tightshuffle.randomizers.expected_errors import krr_errors

COMMAND = Path(sys.executable).with_name("tightshuffle")
SETTING = ["--n", "2000", "--k", "8", "--eps0", "0.45"]


def delta_of(name, eps, **options):
    """log10 delta in Python, in the same setting."""
    return tightshuffle.delta(
        eps, method=name, log10=True, n=2000, k=8, eps0=0.45, **options
    ).tolist()


@pytest.mark.parametrize("name", methods.METHODS)
def test_delta_of_every_method(name):
    method = methods.METHODS[name]
    extra = {"count": 300} if method.needs_count else {}
    words = ["delta", name, *SETTING, *["--count", 300] * method.needs_count, "--eps", 0.28]
    given, one = answer(*words, 0.32), answer(*words)
    expected = {"method": name, "n": 2000, "k": 8, "eps0": 0.45, **extra}
    if method.composes:
        expected["rounds"] = 1
    expected["eps"] = [0.28, 0.32]
    expected["log10_delta"] = delta_of(name, [0.28, 0.32], **extra)
    expected["note"] = [None, None]
    assert given == expected
    assert (one["eps"], one["log10_delta"], one["note"]) == (0.28, given["log10_delta"][0], None)


def test_dummies_of_the_best_law_and_of_a_given_one():
    words = ["dummies", "--n", 10_000, "--k", 50, "--delta", "1e-6", "--values-per-user", 2]
    found = answer(*words, "--eps", 1, "--colluding", "10%")
    best, *_, poisson = found["designs"]
    assert found["mean_per_device"] == smallest_poisson_mean(
        1, 1e-6, devices=9_000, values_per_user=2
    )
    assert [best["added_by"], poisson["added_by"]] == ["shuffler", "devices"]
    own = answer(*words, "--law", best["law"])
    assert own["eps_at_least"] <= own["eps"] <= 1
    assert own["expected_tv"] == best["expected_tv"]
    for wrong in (
        ["--law", "geometric:27"],
        ["--law", "poisson:9", "--n", 0],
        ["--eps", 1, "--values-per-user", 51],
    ):
        code, out, err = call(*words, *wrong)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"tightshuffle: {wrong[-2].strip('-').replace('-', '_')} must be ")


def test_dummies_of_parties_and_a_law_of_theirs():
    words = ["dummies", "--n", 10_000, "--k", 50, "--delta", "1e-6"]
    alone = answer(*words, "--eps", 1)["designs"][0]
    for parties, honest in ((2, 1), (3, 2)):
        options = ["--parties", parties, "--honest", honest]
        found = answer(*words, "--eps", 1, *options)
        assert (found["parties"], found["honest"]) == (parties, honest)
        best = found["designs"][0]
        law = parse_law(best["law"])
        assert best["added_by"] == f"each of {parties} parties"
        assert best["mean"] == parties * law.mean
        assert best["messages_per_user"] == pytest.approx(1 + 50 * parties * law.mean / 10_000)
        assert best["expected_tv"] == pytest.approx(25 * error_of_parties(law, parties) / 10_000)
        assert (best["law"] == alone["law"]) == (honest == 1)

        # The honest parties' law, asked for as the law of a sum.
        own = answer(*words, *options, "--law", law.name)
        honest_alone = answer(*words, "--law", f"{honest}*{law.name}")
        assert own["eps"] == honest_alone["eps"] <= 1
        assert own["expected_tv"] == best["expected_tv"]
    code, _, err = call(*words, "--eps", 1, "--parties", 2, "--honest", 3)
    assert (code, err) == (2, "tightshuffle: honest must be a whole number from 1 to 2; got 3\n")


def test_sums_and_the_fewest_users():
    words = "--k 9 --eps0 6 --randomizer rappor --release sums --deletion --rounds 2"
    given = {
        "k": 9,
        "eps0": 6.0,
        "randomizer": "rappor",
        "release": "sums",
        "deletion": True,
        "rounds": 2,
    }
    users = answer("users", *words.split(), "--eps", 0.5, "--delta", "1e-5")
    assert users["n"] == tightshuffle.fewest_users(0.5, 1e-5, **given)
    found = answer("epsilon", "upper", "--n", users["n"], *words.split(), "--delta", "1e-5")
    assert found["eps"] == tightshuffle.epsilon(1e-5, n=users["n"], **given) <= 0.5


def test_zero_and_outside_are_told_apart():
    zero = answer("delta", "upper", *SETTING, "--eps", "0.2", "0.45", "9")
    assert zero["log10_delta"][1:] == [None, None]
    assert zero["note"] == [None, "delta is 0", "delta is 0"]

    words = ["delta", "erlingsson", "--n", 100, "--k", 8, "--eps0", 0.3, "--eps", 0.2, 0.3]
    code, out, err = call(*words, "--json")
    assert code == 3
    assert err == "tightshuffle: erlingsson holds only for n >= 1000 and delta < 1/100\n"
    assert json.loads(out)["log10_delta"] == [None, None]
    assert json.loads(out)["note"] == [err[len("tightshuffle: ") : -1], "delta is 0"]
    assert "nan (erlingsson holds only for n >= 1000 and delta < 1/100)" in call(*words)[1]

    words = ["epsilon", "blanket", "--n", 10, "--k", 8, "--eps0", 0.5, "--delta", "1e-9"]
    code, out, err = call(*words, "--json")
    assert (code, json.loads(out)["eps"], err.count("\n")) == (3, None, 1)
    assert "eps = 0.5 holds without shuffling" in err


def test_tables_at_any_depth():
    words = "delta upper --n 1e6 --k 10 --eps0 1 --eps 0.5 1 0"
    code, out, err = call(*words.split())
    assert (code, err) == (0, "")
    _, setting, _, _, *rows = out.splitlines()
    assert setting == "n = 1000000, k = 10, eps0 = 1, rounds = 1"
    log10 = tightshuffle.upper(0.5, n=10**6, k=10, eps0=1.0, log10=True)
    assert log10 < -1000
    delta = rows[0].split()[1]
    # Up, by less than a unit of the fourth digit.
    assert 0 <= float(Decimal(delta).log10()) - log10 < 5e-4
    assert rows[1].split() == ["1", "0", "-inf"]
    assert 1e-5 < float(rows[2].split()[1]) < 1


def test_methods():
    kinds = {name: method.kind for name, method in methods.METHODS.items()}
    assert {name: about["kind"] for name, about in answer("methods").items()} == kinds
    assert all(name in call("methods")[1] for name in kinds)


def test_plan():
    words = ["plan", "--n", "1e3", "--k", "15", "--delta", "1e-6", "--colluding", "10%"]
    plans = [answer(*words, "--eps", eps) for eps in (1, 2)]
    assert answer(*words, "--eps", 1, 2) == {"method": "upper", "plans": plans}
    texts = [call(*words, "--eps", eps)[1] for eps in (1, 2)]
    assert call(*words, "--eps", 1, 2)[1] == "\n\n".join(texts)
    for text, plan in zip(texts, plans, strict=True):
        options = {"n": 1000, "k": 15, "eps0": plan["eps0"], "colluding": 100}
        bound = tightshuffle.upper(plan["eps"], log10=True, **options)
        assert bound == plan["log10_delta_of_eps0"] <= plan["log10_delta"] == -6
        assert plan["colluding"] == 0.1
        assert "n = 1000, k = 15, 100 of the users colluding" in text
        assert 0 <= plan["eps0"] - float(re.search(r"largest eps0   (\S+) ", text)[1]) < 1e-5
        assert f"  {plan['expected_tv']['gaussian']:.4g}\n" in text
        assert (
            f"\nleft, with delta = 0, if the shuffler fails: {what_is_left(plan['eps0'])}\n" in text
        )
    often = call("plan", "--n", "1e5", "--k", 15, "--delta", "1e-6", "--eps", 1, "--rounds", 4)[1]
    assert re.search(r"fails: nothing useful \(eps \d+\), for the 4 rounds together\n", often)
    wanted = answer("plan", "--k", 15, "--delta", "1e-6", "--eps", 1, "--error", 0.05)
    assert wanted["expected_tv"]["shuffle+INV"] <= wanted["error"] == 0.05


@pytest.mark.parametrize(("deletion", "sensitivity"), [(False, math.sqrt(2)), (True, 1.0)])
def test_a_plan_names_the_sensitivity_of_its_sigma(deletion, sensitivity):
    words = [
        "plan",
        "--n",
        "1e5",
        "--k",
        9,
        "--eps",
        1,
        "--delta",
        "1e-6",
        "--randomizer",
        "rappor",
    ]
    words += ["--release", "sums", *["--deletion"] * deletion]
    found = answer(*words)
    assert found["sensitivity"] == sensitivity
    assert found["sigma"] == exact_scale(1.0, 1e-6, sensitivity=sensitivity)
    assert f": sensitivity {'1' if deletion else 'sqrt(2)'}.\n" in call(*words)[1]


def test_a_plan_for_own_data(tmp_path):
    (tmp_path / "counts.csv").write_text("cell,count\n1,500\n2,300\n3,200\n")
    words = ["plan", "--eps", "1", "--delta", "1e-6"]
    own = answer(*words, "--data", tmp_path / "counts.csv")
    even = answer(*words, "--n", "1000", "--k", "3")
    assert {name: own[name] for name in ("n", "k", "eps0")} == {
        "n": 1000,
        "k": 3,
        "eps0": even["eps0"],
    }
    errors = krr_errors([0.5, 0.3, 0.2], n=1000, eps0=own["eps0"])
    assert own["expected_tv"]["shuffle+INV"] == pytest.approx(errors.sum() / 2, rel=1e-12)
    assert own["expected_tv"]["uniform"] == pytest.approx(0.5 - 1 / 3)


def test_compare_is_delta_by_all_valid_bounds():
    words = ["--n", "1000", "--k", "8", "--eps0", "1"]
    given = answer("compare", *words, "--eps", "0.1", "0.2")
    names = [m.name for m in methods.METHODS.values() if m.kind in (methods.UPPER, methods.LOWER)]
    assert sorted(given["methods"]) == sorted(names)
    again = answer("delta", ",".join(names), *words, "--eps", 0.1, 0.2)
    assert given["methods"] == again["methods"]
    own = answer("compare", *words, "--randomizer", "subset:2")["methods"]
    assert list(own) == ["lower", "upper", "privacy-blanket", "single-value"]
    assert -12.001 < own["upper"]["log10_delta"][-1] <= -12


@pytest.mark.parametrize("randomizer", ["grr", "hash:2", "rappor", "oue", "hadamard", "subset:8"])
@pytest.mark.parametrize("setting", ["--n 1e4 --k 64 --eps0 3", "--n 1e5 --k 256 --eps0 4"])
def test_one_bracket_of_eps_for_every_randomizer(randomizer, setting):
    words = [*setting.split(), "--randomizer", randomizer, "--delta", "1e-6"]
    _, out, _ = call("epsilon", "upper,lower", *words)
    low, high = map(float, re.search(r"between (\S+) and (\S+)", out).groups())
    assert low < high < 1.002 * low
    bounds = answer("epsilon", "privacy-blanket,single-value,upper", *words)["methods"]
    eps = {name: bound["eps"] for name, bound in bounds.items()}
    assert eps["upper"] <= min(eps.values()) * (1 + 1e-6)
    _, out, _ = call("epsilon", "upper,lower", *words, "--rounds", "2")  # lower is for one round
    assert float(re.search(r"at most (\S+)", out).group(1)) > high


def test_a_randomizer_and_colluding_users():
    name, options = "subset:3", {"randomizer": "subset:3", "colluding": 200}
    words = [*SETTING, "--randomizer", name, "--colluding", 200]
    given = answer("delta", "upper", *words, "--eps", "0.1", "0.2")
    assert {key: given[key] for key in options} == options
    assert given["log10_delta"] == delta_of("upper", [0.1, 0.2], **options)
    for share in ("10%", "0.1"):  # the 200 of 2000 users
        assert answer("delta", "upper", *words[:-1], share, "--eps", "0.1", "0.2") == given


def test_a_matrix_of_your_own(tmp_path):
    path = tmp_path / "matrix.csv"
    path.write_text("\ufeff0.6,0.2,0.2\r\n0.2,0.6,0.2\r\n 0.2, 0.2, 0.6\r\n", encoding="utf-8")
    given = answer("delta", "upper", "--n", 500, "--eps", "0.2", "--randomizer", f"file:{path}")
    assert (given["k"], given["eps0"]) == (3, pytest.approx(math.log(3), rel=1e-15))
    krr = tightshuffle.delta(
        0.2, n=500, k=3, eps0=math.log(3), method="privacy-blanket", log10=True
    )
    assert given["log10_delta"] == pytest.approx(krr, abs=1e-3)  # each 1e-4 above the truth


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
    code, out, err = call(
        "delta", "upper", "--n", 500, "--eps", "0.2", "--randomizer", f"file:{path}"
    )
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"tightshuffle: {path}: ")
    assert message in err


def test_several_methods():
    words = [*SETTING, "--eps", "0.1", "0.2"]
    given = answer("delta", "upper,clones,count-exact,erlingsson", *words)
    for name in ("upper", "clones"):
        assert given["methods"][name]["log10_delta"] == delta_of(name, [0.1, 0.2])
    assert all("count must be given" in note for note in given["methods"]["count-exact"]["note"])
    code, out, err = call("delta", "upper,count-exact", *words)
    assert (code, err) == (0, "")
    assert [line.split()[2] for line in out.splitlines()[4:6]] == ["nan", "nan"]
    assert "nan: count must be given" in out
    assert call("delta", "count-exact", *words)[0] == 2  # nobody takes it


def test_ranges():
    words = ["delta", "upper", *SETTING, "--eps"]
    assert answer(*words, "0:0.4:5", "0.05")["eps"] == [0, 0.1, 0.2, 0.3, 0.4, 0.05]
    given = answer("epsilon", "upper", *SETTING, "--delta", "1e-9:1e-3:3")
    assert given["delta"] == [1e-9, 1e-6, 1e-3]


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
            "--delta must be a range of numbers > 0",
        ),
        ("plan --n 9 --k 3 --eps 1 --delta 2", "--delta must lie between 0 and 1"),
        ("plan --n 9 --k 3 --eps 1 --delta nan", "--delta must lie between 0 and 1"),
        ("plan --k 3 --eps 1 --delta 1e-6", "one of the arguments --n --data --error is required"),
        (
            "plan --data x.csv --error 0.1 --eps 1 --delta 1e-6",
            "--error not allowed with argument --data",
        ),
        ("plan --data x.csv --k 3 --eps 1 --delta 1e-6", "give --k, or --data"),
        ("collection /no.yaml --delta 1e-6", "/no.yaml: No such file"),
        ("collection /no.yaml --delta 2", "--delta must lie between 0 and 1"),
    ],
)
def test_errors_are_one_line(line, message):
    code, out, err = call(*line.split())
    assert (code, out, err.count("\n"), err[-1]) == (2, "", 1, "\n")
    assert err.startswith("tightshuffle: ")
    assert message in err


@pytest.mark.parametrize("command", ["", "delta", "epsilon", "plan", "compare"])
def test_help_and_its_examples(command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("counts.csv").write_text("cell,count\n1,500\n2,300\n3,200\n")
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "--help"])
    out, err = capsys.readouterr()
    assert (ended.value.code, err) == (0, "")
    examples = [line.split()[1:] for line in out.splitlines() if line.startswith("  tightshuffle ")]
    assert examples
    for words in examples:
        code, out, err = call(*words)
        assert (code, err, bool(out)) == (0, "", True)


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


def test_the_installed_command():
    done = run(
        COMMAND,
        *["delta", "upper", "--n", "1e4", "--k", "8", "--eps0", "1", "--eps", "0.1", "--json"],
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["log10_delta"] == tightshuffle.upper(
        0.1, n=10**4, k=8, eps0=1.0, log10=True
    )
    done = run(COMMAND, "delta", "upper", "--n", "ten")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    for command in ([COMMAND], [sys.executable, "-m", "tightshuffle"]):
        assert run(*command, "--version").stdout == f"tightshuffle {tightshuffle.__version__}\n"


def test_a_closed_pipe_is_no_traceback():
    done = run("bash", "-c", '"$0" methods | true; echo ${PIPESTATUS[0]}', COMMAND)
    assert done.stderr == ""
    assert done.stdout.strip() in ("0", "1")  # 0 where the pipe took all of it before it closed
