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
from tests.library.cli.calls import json_answer, refusal, run_command, text_answer
from tightshuffle import methods
from tightshuffle.cli.layout import what_is_left
from tightshuffle.cli.main import main
from tightshuffle.dummies.best_law import smallest_poisson_mean
from tightshuffle.dummies.laws import error_of_parties, parse_law
from tightshuffle.gaussian import exact_scale
from tightshuffle.randomizers.expected_errors import krr_errors

INSTALLED_COMMAND = Path(sys.executable).with_name("tightshuffle")
SETTING = {"n": 2000, "k": 8, "eps0": 0.45}
WORDS_OF_SETTING = ["--n", "2000", "--k", "8", "--eps0", "0.45"]
THREE_COUNTS = (
    "cell,count\n1,500\n2,300\n3,200\n"  # a file of how many of 1000 users hold each value
)


def log10_deltas(method, eps, **options):
    """What `tightshuffle.delta` says at each of several ``eps``, in the setting of WORDS_OF_SETTING."""
    return tightshuffle.delta(eps, method=method, log10=True, **SETTING, **options).tolist()


@pytest.mark.parametrize("name", methods.METHODS)
def test_delta_of_every_method(name):
    """The JSON answer of `delta` has the setting and, for each eps, Python's log10 delta and no note.

    WORDS_OF_SETTING gives n, k and eps0 on the command line, and SETTING is the same as a dict.
    ``log10_deltas`` is what the function `tightshuffle.delta` returns in that setting.
    """
    method = methods.METHODS[name]
    # Some methods also need to know how many of the other users hold the first value.
    count = {"count": 300} if method.needs_count else {}
    words = ["delta", name, *WORDS_OF_SETTING, *["--count", 300] * method.needs_count]
    given = json_answer(*words, "--eps", 0.28, 0.32)
    expected = {
        "method": name,
        **SETTING,
        **count,
        # A method that composes over rounds says for how many: one, if nothing else is asked for.
        **({"rounds": 1} if method.composes else {}),
        "eps": [0.28, 0.32],
        "log10_delta": log10_deltas(name, [0.28, 0.32], **count),
        "note": [None, None],
    }
    assert given == expected

    # For a single eps, the JSON has numbers instead of lists.
    of_one_eps = json_answer(*words, "--eps", 0.28)
    assert [of_one_eps[key] for key in ("eps", "log10_delta", "note")] == [
        0.28,
        given["log10_delta"][0],
        None,
    ]


DUMMIES = ["dummies", "--n", 10_000, "--k", 50, "--delta", "1e-6"]


def test_dummies_of_the_best_law_and_of_a_given_one():
    """`dummies` lists designs for eps 1. The law of the first, asked for by name, has an eps of at most 1.

    DUMMIES is the command for 10,000 users, 50 values and delta 1e-6. The first design is the best. The last
    is a Poisson number of dummies from every user's device, where the 1000 colluding users' do not count.
    """
    words = [*DUMMIES, "--values-per-user", 2]
    found = json_answer(*words, "--eps", 1, "--colluding", "10%")
    best, *_, poisson = found["designs"]
    assert found["mean_per_device"] == smallest_poisson_mean(
        1, 1e-6, devices=9_000, values_per_user=2
    )
    assert [best["added_by"], poisson["added_by"]] == ["shuffler", "devices"]

    # Of a law that is asked for by its name, the answer has eps (with a lower bound) and the error.
    of_law = json_answer(*words, "--law", best["law"])
    assert of_law["eps_at_least"] <= of_law["eps"] <= 1
    assert of_law["expected_tv"] == best["expected_tv"]


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        pytest.param("law", ["--law", "geometric:27"], id="a law without its deviation"),
        pytest.param("n", ["--law", "poisson:9", "--n", 0], id="nobody"),
        pytest.param("values_per_user", ["--eps", 1, "--values-per-user", 51], id="more than k"),
    ],
)
def test_a_bad_argument_of_dummies_is_named(argument, words):
    assert refusal(*DUMMIES, *words).startswith(f"{argument} must be ")


@pytest.mark.parametrize(("parties", "honest"), [(2, 1), (3, 2)])
def test_dummies_of_parties_and_a_law_of_theirs(parties, honest):
    """All parties add dummies by the same law. A user is hidden by the sum of the honest parties' dummies.

    DUMMIES is the command `dummies` for 10,000 users, 50 values and delta 1e-6. ``error_of_parties`` is the
    expected absolute error of one value's estimated count, in users.
    """
    words = [*DUMMIES, "--parties", parties, "--honest", honest]
    found = json_answer(*words, "--eps", 1)
    assert (found["parties"], found["honest"]) == (parties, honest)
    best = found["designs"][0]
    law = parse_law(best["law"])
    assert best["added_by"] == f"each of {parties} parties"
    assert best["mean"] == parties * law.mean
    # Per user: one report, and the dummies of all 50 values over the 10,000 users.
    assert best["messages_per_user"] == pytest.approx(1 + 50 * parties * law.mean / 10_000)
    # The total variation distance is half the sum of the 50 values' errors, as shares of the users.
    assert best["expected_tv"] == pytest.approx(50 / 2 * error_of_parties(law, parties) / 10_000)

    # A single honest party needs the law that the shuffler would need, and two honest parties another one.
    of_shuffler = json_answer(*DUMMIES, "--eps", 1)["designs"][0]
    assert (best["law"] == of_shuffler["law"]) == (honest == 1)

    # Of a law asked for by name, eps is that of the sum over the honest parties, "1*LAW" or "2*LAW".
    of_law = json_answer(*words, "--law", law.name)
    of_sum = json_answer(*DUMMIES, "--law", f"{honest}*{law.name}")
    assert of_law["eps"] == of_sum["eps"] <= 1
    assert of_law["expected_tv"] == best["expected_tv"]


def test_more_honest_parties_than_parties_are_refused():
    message = refusal(*DUMMIES, "--eps", 1, "--parties", 2, "--honest", 3)
    assert message == "honest must be a whole number from 1 to 2; got 3"


def test_sums_and_the_fewest_users():
    """The command's n and eps are those of Python's `fewest_users` and `epsilon`, and that n reaches eps 0.5.

    The setting: RAPPOR of which only the sum of each bit is released, in two rounds, where a user is deleted.
    """
    words = "--k 9 --eps0 6 --randomizer rappor --release sums --deletion --rounds 2 --delta 1e-5"
    setting = {
        "k": 9,
        "eps0": 6.0,
        "randomizer": "rappor",
        "release": "sums",
        "deletion": True,
        "rounds": 2,
    }
    n = json_answer("users", *words.split(), "--eps", 0.5)["n"]
    assert n == tightshuffle.fewest_users(0.5, 1e-5, **setting)
    found = json_answer("epsilon", "upper", "--n", n, *words.split())
    assert found["eps"] == tightshuffle.epsilon(1e-5, n=n, **setting) <= 0.5


def test_a_delta_of_0_has_no_logarithm_in_json_and_a_note():
    found = json_answer("delta", "upper", *WORDS_OF_SETTING, "--eps", "0.2", "0.45", "9")
    # delta is 0 from eps = eps0 = 0.45 on.
    assert found["log10_delta"][1:] == [None, None]
    assert found["note"] == [None, "delta is 0", "delta is 0"]


def test_outside_of_a_theorem_the_note_says_why_and_the_exit_code_is_3():
    """The theorem of `erlingsson` needs n >= 1000. At eps 0.3 = eps0, delta is 0 without any theorem.

    In JSON log10 delta is null for both eps: unknown at 0.2, and minus infinity, which JSON lacks, at 0.3.
    The notes tell them apart. ``run_command`` returns the exit code, the output and the error text.
    """
    condition = "erlingsson holds only for n >= 1000 and delta < 1/100"
    words = ["delta", "erlingsson", "--n", 100, "--k", 8, "--eps0", 0.3, "--eps", 0.2, 0.3]
    code, out, err = run_command(*words, "--json")
    assert (code, err) == (3, f"tightshuffle: {condition}\n")
    found = json.loads(out)
    assert found["log10_delta"] == [None, None]
    assert found["note"] == [condition, "delta is 0"]
    _, text, _ = run_command(*words)
    assert f"nan ({condition})" in text


def test_where_a_bound_gives_no_eps_the_exit_code_is_3():
    words = ["epsilon", "blanket", "--n", 10, "--k", 8, "--eps0", 0.5, "--delta", "1e-9"]
    code, out, err = run_command(*words, "--json")
    assert (code, json.loads(out)["eps"], err.count("\n")) == (3, None, 1)
    assert "eps = 0.5 holds without shuffling" in err


def test_tables_at_any_depth():
    """The table writes out a delta far below the smallest float, and 0 as 0. It keeps the order of the eps.

    A row of the table is eps, delta and log10 delta. The expected log10 delta is that of `upper` in Python.
    """
    words = "delta upper --n 1e6 --k 10 --eps0 1 --eps 0.5 1 0"
    text = text_answer(*words.split())
    _method, setting, _empty, _header, at_half, at_eps0, at_0 = text.splitlines()
    assert setting == "n = 1000000, k = 10, eps0 = 1, rounds = 1"
    log10_delta = tightshuffle.upper(0.5, n=10**6, k=10, eps0=1.0, log10=True)
    assert log10_delta < -1000  # the smallest float is about 10^-324
    # delta is rounded up to four digits, so by less than a factor of 1.001, and log10(1.001) is 4.3e-4.
    written = Decimal(at_half.split()[1])
    assert 0 <= float(written.log10()) - log10_delta < 5e-4
    assert at_eps0.split() == ["1", "0", "-inf"]
    # At eps 0 delta is an ordinary number (2.8e-4).
    assert 1e-5 < float(at_0.split()[1]) < 1


def test_methods():
    kinds = {name: method.kind for name, method in methods.METHODS.items()}
    assert {name: about["kind"] for name, about in json_answer("methods").items()} == kinds
    assert all(name in text_answer("methods") for name in kinds)


PLAN = ["plan", "--k", "15", "--delta", "1e-6"]


@pytest.mark.parametrize("eps", [1, 2])
def test_a_plan_has_the_largest_eps0_and_says_what_it_costs(eps):
    """The plan's eps0 reaches delta 1e-6 by `tightshuffle.upper`, and the text has the numbers of the JSON.

    PLAN is the command `plan` for k = 15 and delta 1e-6. A tenth of the 1000 users collude. ``what_is_left``
    puts the guarantee without a shuffler, (eps0, 0), into words.
    """
    words = [*PLAN, "--n", "1e3", "--colluding", "10%", "--eps", eps]
    plan, text = json_answer(*words), text_answer(*words)
    setting = {"n": 1000, "k": 15, "eps0": plan["eps0"], "colluding": 100}
    log10_delta = tightshuffle.upper(eps, log10=True, **setting)
    assert log10_delta == plan["log10_delta_of_eps0"] <= plan["log10_delta"] == -6
    assert plan["colluding"] == 0.1

    assert "n = 1000, k = 15, 100 of the users colluding" in text
    # eps0, which is above 1, is written with six digits and rounded down: by less than 1e-5.
    written_eps0 = float(re.search(r"largest eps0   (\S+) ", text)[1])
    assert 0 <= plan["eps0"] - written_eps0 < 1e-5
    assert f"  {plan['expected_tv']['gaussian']:.4g}\n" in text
    left = what_is_left(plan["eps0"])
    assert f"\nleft, with delta = 0, if the shuffler fails: {left}\n" in text


def test_plans_for_several_eps_are_those_for_each():
    words = [*PLAN, "--n", "1e3", "--eps"]
    plans = [json_answer(*words, eps) for eps in (1, 2)]
    assert json_answer(*words, 1, 2) == {"method": "upper", "plans": plans}
    assert text_answer(*words, 1, 2) == "\n\n".join(text_answer(*words, eps) for eps in (1, 2))


def test_a_plan_for_rounds_says_that_nothing_useful_is_left_for_all_of_them_together():
    text = text_answer(*PLAN, "--n", "1e5", "--eps", 1, "--rounds", 4)
    assert re.search(r"fails: nothing useful \(eps \d+\), for the 4 rounds together\n", text)


def test_a_plan_for_an_error_has_no_larger_one():
    plan = json_answer(*PLAN, "--eps", 1, "--error", 0.05)
    assert plan["expected_tv"]["shuffle+INV"] <= plan["error"] == 0.05


@pytest.mark.parametrize(
    ("options", "sensitivity", "text_of_sensitivity"),
    [
        pytest.param([], math.sqrt(2), "sqrt(2)", id="a value is replaced"),
        pytest.param(["--deletion"], 1.0, "1", id="a user has a value or none"),
    ],
)
def test_a_plan_names_the_sensitivity_of_its_sigma(options, sensitivity, text_of_sensitivity):
    line = "plan --n 1e5 --k 9 --eps 1 --delta 1e-6 --randomizer rappor --release sums"
    words = [*line.split(), *options]
    found = json_answer(*words)
    assert found["sensitivity"] == sensitivity
    assert found["sigma"] == exact_scale(1.0, 1e-6, sensitivity=sensitivity)
    assert f": sensitivity {text_of_sensitivity}.\n" in text_answer(*words)


def test_a_plan_for_own_data(tmp_path):
    """The guarantee is for any data of this n and k; the errors are those for the data in the file.

    THREE_COUNTS is a file by which 500, 300 and 200 of 1000 users hold the values 1, 2 and 3. An expected
    error is a total variation distance: half the sum of the values' errors. "shuffle+INV" is k-RR's error.
    """
    (tmp_path / "counts.csv").write_text(THREE_COUNTS)
    words = ["plan", "--eps", "1", "--delta", "1e-6"]
    found = json_answer(*words, "--data", tmp_path / "counts.csv")
    for_any_data = json_answer(*words, "--n", "1000", "--k", "3")
    for name, value in {"n": 1000, "k": 3, "eps0": for_any_data["eps0"]}.items():
        assert found[name] == value
    errors = krr_errors([0.5, 0.3, 0.2], n=1000, eps0=found["eps0"])
    assert found["expected_tv"]["shuffle+INV"] == pytest.approx(errors.sum() / 2, rel=1e-12)
    # The error of the guess that all shares are 1/3: only the largest share is above that.
    assert found["expected_tv"]["uniform"] == pytest.approx(0.5 - 1 / 3)


def test_compare_is_delta_by_all_valid_bounds():
    words = ["--n", "1000", "--k", "8", "--eps0", "1"]
    compared = json_answer("compare", *words, "--eps", "0.1", "0.2")["methods"]
    kinds = (methods.UPPER, methods.LOWER)
    names = [method.name for method in methods.METHODS.values() if method.kind in kinds]
    assert sorted(compared) == sorted(names)
    assert compared == json_answer("delta", ",".join(names), *words, "--eps", 0.1, 0.2)["methods"]


def test_compare_for_another_randomizer_has_its_bounds_and_ends_at_a_delta_of_1e_minus_12():
    words = ["--n", "1000", "--k", "8", "--eps0", "1", "--randomizer", "subset:2"]
    compared = json_answer("compare", *words)["methods"]
    assert list(compared) == ["lower", "upper", "privacy-blanket", "single-value"]
    assert -12.001 < compared["upper"]["log10_delta"][-1] <= -12


@pytest.mark.parametrize("randomizer", ["grr", "hash:2", "rappor", "oue", "hadamard", "subset:8"])
@pytest.mark.parametrize("setting", ["--n 1e4 --k 64 --eps0 3", "--n 1e5 --k 256 --eps0 4"])
def test_one_bracket_of_eps_for_every_randomizer(randomizer, setting):
    """1. The upper eps is < 0.2 % above the lower. 2. No upper bound is smaller. 3. It grows with rounds."""
    words = [*setting.split(), "--randomizer", randomizer, "--delta", "1e-6"]
    text = text_answer("epsilon", "upper,lower", *words)
    low, high = map(float, re.search(r"between (\S+) and (\S+)", text).groups())
    assert low < high < 1.002 * low  # the widest of the twelve cases has 0.085 %

    # 1e-6 is for the searches: each method finds its eps by its own.
    bounds = json_answer("epsilon", "privacy-blanket,single-value,upper", *words)["methods"]
    least = min(bound["eps"] for bound in bounds.values())
    assert bounds["upper"]["eps"] <= least * (1 + 1e-6)

    # `lower` is for one round only, so that for two rounds the text has only an upper end.
    text = text_answer("epsilon", "upper,lower", *words, "--rounds", "2")
    assert float(re.search(r"at most (\S+)", text)[1]) > high


def test_a_randomizer_and_colluding_users():
    """The JSON names the randomizer and the colluding users, and delta changes as in Python.

    Colluding users are given as a number or as a share. WORDS_OF_SETTING gives n = 2000, k = 8 and eps0, and
    ``log10_deltas`` is Python's answer in the same setting.
    """
    options = {"randomizer": "subset:3", "colluding": 200}
    words = ["delta", "upper", *WORDS_OF_SETTING, "--eps", "0.1", "0.2"]
    words += ["--randomizer", "subset:3", "--colluding"]
    given = json_answer(*words, 200)
    assert {key: given[key] for key in options} == options
    assert given["log10_delta"] == log10_deltas("upper", [0.1, 0.2], **options)
    for share_of_users in ("10%", "0.1"):  # 200 of the 2000
        assert json_answer(*words, share_of_users) == given


MATRIX_WORDS = ["delta", "upper", "--n", 500, "--eps", "0.2", "--randomizer"]


def test_a_matrix_of_your_own(tmp_path):
    """k-RR with e^eps0 = 3, in a file as a spreadsheet writes it: a byte order mark, CRLF, spaces."""
    path = tmp_path / "matrix.csv"
    path.write_text("\ufeff0.6,0.2,0.2\r\n0.2,0.6,0.2\r\n 0.2, 0.2, 0.6\r\n", encoding="utf-8")
    given = json_answer(*MATRIX_WORDS, f"file:{path}")
    eps0 = math.log(3)
    assert (given["k"], given["eps0"]) == (3, pytest.approx(eps0, rel=1e-15))
    of_krr = tightshuffle.delta(0.2, n=500, k=3, eps0=eps0, method="privacy-blanket", log10=True)
    # Each is at most 1e-4 above the logarithm of the same number.
    assert given["log10_delta"] == pytest.approx(of_krr, abs=1e-3)


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
    refused = refusal(*MATRIX_WORDS, f"file:{path}")
    assert refused.startswith(f"{path}: ")
    assert message in refused


def test_several_methods():
    """Of several methods, one that lacks an argument has a note, and nan in the text. The others answer.

    Here `count-exact` lacks ``--count``, how many users hold a value. ``log10_deltas`` is Python's answer in
    the setting of WORDS_OF_SETTING, and ``refusal`` the error line of a call that is refused.
    """
    words = [*WORDS_OF_SETTING, "--eps", "0.1", "0.2"]
    given = json_answer("delta", "upper,clones,count-exact,erlingsson", *words)["methods"]
    for name in ("upper", "clones"):
        assert given[name]["log10_delta"] == log10_deltas(name, [0.1, 0.2])
    assert all("count must be given" in note for note in given["count-exact"]["note"])

    text = text_answer("delta", "upper,count-exact", *words)
    # Each line of the table is eps, delta by `upper` and delta by `count-exact`.
    assert re.findall(r"^ *0\.[12] +\S+ +(\S+)", text, re.MULTILINE) == ["nan", "nan"]
    assert "nan: count must be given" in text
    # `count-exact` alone is refused.
    assert "count" in refusal("delta", "count-exact", *words)


def test_ranges():
    """FIRST:LAST:NUMBER are evenly spaced eps, and deltas whose logarithms are evenly spaced."""
    words = ["delta", "upper", *WORDS_OF_SETTING, "--eps"]
    assert json_answer(*words, "0:0.4:5", "0.05")["eps"] == [0, 0.1, 0.2, 0.3, 0.4, 0.05]
    given = json_answer("epsilon", "upper", *WORDS_OF_SETTING, "--delta", "1e-9:1e-3:3")
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
    assert message in refusal(*line.split())


@pytest.mark.parametrize("command", ["", "delta", "epsilon", "plan", "compare"])
def test_help_and_its_examples(command, capsys, tmp_path, monkeypatch):
    """Every example that a help text prints can be run as it stands, beside a file of counts.

    The examples are the lines that begin with the command's name. ``text_answer`` runs one within this
    process and fails if there is an error. THREE_COUNTS is the text of the file.
    """
    monkeypatch.chdir(tmp_path)
    Path("counts.csv").write_text(THREE_COUNTS)
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "--help"])
    out, err = capsys.readouterr()
    assert (ended.value.code, err) == (0, "")
    examples = [line.split()[1:] for line in out.splitlines() if line.startswith("  tightshuffle ")]
    assert examples
    for words in examples:
        assert text_answer(*words)


def finished_process(*words):
    """The process of a program that has ended, with its exit code and all that it printed."""
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


def test_the_installed_command():
    """The script that pip installs gives 1. an answer, 2. a refusal, 3. the version, as `python -m` does.

    INSTALLED_COMMAND is the script's path. ``finished_process`` runs a command line and returns its exit code
    and both outputs, as texts.
    """
    words = "delta upper --n 1e4 --k 8 --eps0 1 --eps 0.1 --json"
    done = finished_process(INSTALLED_COMMAND, *words.split())
    assert (done.returncode, done.stderr) == (0, "")
    log10_delta = tightshuffle.upper(0.1, n=10**4, k=8, eps0=1.0, log10=True)
    assert json.loads(done.stdout)["log10_delta"] == log10_delta

    refused = finished_process(INSTALLED_COMMAND, "delta", "upper", "--n", "ten")
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)

    for command in ([INSTALLED_COMMAND], [sys.executable, "-m", "tightshuffle"]):
        version = finished_process(*command, "--version").stdout
        assert version == f"tightshuffle {tightshuffle.__version__}\n"


def test_a_closed_pipe_is_no_traceback():
    exit_code_in_pipe = '"$0" methods | true; echo ${PIPESTATUS[0]}'
    done = finished_process("bash", "-c", exit_code_in_pipe, INSTALLED_COMMAND)
    assert done.stderr == ""
    assert done.stdout.strip() in ("0", "1")  # 0 where the pipe took all of it before it closed
