"""The command `tightshuffle audit`: its answers are the package's."""

from tests.library.cli.test_cli import answer, call
from tightshuffle.audit.assessment import OBSERVES, assess
from tightshuffle.audit.game import play

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
