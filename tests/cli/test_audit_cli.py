"""The command `tightshuffle audit`: its answers are the package's, its mistakes one line."""

import pytest

from tests.cli.test_cli import answer, call
from tightshuffle.experiments.audit import OBSERVES, assess
from tightshuffle.experiments.game import play

WORDS = ["audit", "--n", "40", "--k", "5", "--eps0", "2", "--count", "30", "--runs", "2e4", "--seed", "7"]
SETTING = {"n": 40, "k": 5, "eps0": 2.0, "count": 30, "runs": 20_000, "seed": 7}


def test_json_holds_the_rows():
    rows = assess([play(**SETTING)], [0.1, 2.0], confidence=0.99)
    given = answer(*WORDS, "--eps", "0.1", "2", "--confidence", "0.99")
    expected = {"method": "audit", **SETTING, "remaining": "x2", "confidence": 0.99, "eps": [0.1, 2.0]}
    assert {name: given[name] for name in expected} == expected
    of_count, of_histogram = (rows[i::2] for i in range(2))
    for name in ("published_log10_delta", "exact_log10_delta", "upper_log10_delta"):
        assert given[name] == [of_count[0][name], None]  # at eps0 delta is 0
    assert tuple(given["audited"]) == OBSERVES
    for observes, own in zip(OBSERVES, (of_count, of_histogram), strict=True):
        for name in ("audited_delta", "direction", "event", "hits", "other_hits"):
            assert given["audited"][observes][name] == [row[name] for row in own]
    one = answer(*WORDS, "--eps", "0.1", "--confidence", "0.99")
    assert one["audited"]["histogram"]["audited_delta"] == given["audited"]["histogram"]["audited_delta"][0]


def test_the_table():
    code, out, err = call(*WORDS, "--eps", "0.1", "1.5", "--remaining", "x1", "--cores", "2")
    assert (code, err) == (0, "")
    heading, setting, _, columns, *rows = out.splitlines()
    assert "confidence 0.999" in heading
    assert setting == "n = 40, k = 5, eps0 = 2.0, count = 30, remaining = x1, runs = 20000, seed = 7"
    assert columns.split()[:5] == ["eps", "observer", "delta", "at", "least"]
    assert [row.split()[:2] for row in rows] == [[eps, name] for eps in ("0.1", "1.5") for name in OBSERVES]
    found = answer(*WORDS, "--eps", "0.1", "--remaining", "x1")["audited"]["histogram"]["audited_delta"]
    shown = float(rows[1].split()[2])
    assert 0 <= found - shown < 1e-3 * found  # rounded down
    assert rows[2].split()[2] == "0"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "--eps, --n, --k, --eps0, --count"),
        ("--eps 1 --n 9 --k 3 --eps0 2 --count 9", "count must be"),
        ("--eps 1 --n 1e6 --k 3 --eps0 2 --count 9", "n must be at most 2000 for an audit"),
        ("--eps 1 --n 9 --k 2 --eps0 2 --count 1 --remaining x2", "remaining must be x1 for k = 2"),
        ("--eps 1 --n 9 --k 3 --eps0 2 --count 1 --remaining x4", "--remaining invalid choice"),
        ("--eps 1 --n 9 --k 3 --eps0 2 --count 1 --runs 1", "--runs must be a whole number >= 2"),
        ("--eps 1 --n 9 --k 3 --eps0 2 --count 1 --confidence 1", "--confidence must lie between 0 and 1"),
        ("--eps 1 --n 9 --k 3 --eps0 2 --count 1 --cores 0", "--cores must be a whole number >= 1"),
    ],
)
def test_errors_are_one_line(words, said):
    code, out, err = call("audit", *words.split())
    assert (code, out) == (2, "")
    assert err.startswith("tightshuffle: ")
    assert err.count("\n") == 1
    assert said in err
