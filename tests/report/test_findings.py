"""The numbers that texts state: computed in another way, and what is missing is said."""

import math

import pytest

from scripts.report import state_findings as findings
from scripts.report.state_findings import Results
from tests.report.report_page import (
    as_read,
    as_text,
    audit_rows,
    claim_rows,
    parity_rows,
    real_verdicts,
    row,
)

VERDICTS = as_text(real_verdicts())
SIZES = {("paris", "uniform"): 11190, ("paris", "stepped"): 10260, ("san_francisco", "uniform"): 123026}
TOTALS = [{"dataset": city, "grid": grid, "checkins": size} for (city, grid), size in SIZES.items()]


def found(topic, verdicts=VERDICTS, **tables):
    return topic(Results(verdicts=verdicts, **{name: as_read(rows) for name, rows in tables.items()}))


def audit_row(published, alone, together, jointly, **changed):
    bounds = {"published_log10_delta": published, "audited_delta": alone, "joint_delta": together}
    return audit_rows()[0] | bounds | {"violated": alone != "0.0", "violated_jointly": jointly} | changed


def test_audit_counts_what_contradicts_and_what_would_refute_upper():
    rows = [
        audit_row("-3", "0.002", "0.0009", False),
        audit_row("-10", "0.002", "0.001", True),
        audit_row("-20", "0.0011", "0.0009", True, upper_violated=True),
        audit_row("-inf", "0.0", "0.0", False),
    ]
    told = found(findings.audit, audit=rows)
    assert (told["of"], told["seen"], told["alone"], told["together"], told["upper"]) == (4, 3, 3, 2, 1)
    assert told["confidence"] == pytest.approx(99.9)
    assert found(findings.audit, audit=rows[:1])["upper"] == "none"


def test_the_example_is_printed_has_the_most_runs_and_is_rounded_down():
    table_iv = as_text([row(n="100", k="10", eps0="2", eps="0.10", count="80", printed="1E-10")])
    rows = [
        audit_row("-90", "0.002", "0.001", True, eps="0.2", runs="90000000"),  # is not printed
        audit_row("-90", "0.002", "0.001", True),
        audit_row("-10", "0.002", "0.00299", True, runs="80000000"),
    ]
    example = found(findings.audit, table_iv, audit=rows)["example"]
    assert (example["printed"], example["at_least"]) == ("1E-10", 0.0029)
    assert found(findings.audit, table_iv, audit=rows[:1])["example"] is None


def test_parity_is_told_of_informative_settings():
    told = found(findings.parity, parity_ratio=parity_rows(eps0s=("0.1", "1", "6")))
    # two n and two deltas of each eps0; 0.1 tells nothing
    assert (told["settings"], told["uninformative"], told["of"], told["nearly"]) == (12, 4, 8, 4)
    assert (told["low"], told["high"]) == pytest.approx((1 + 1 / 30, 1.2))
    assert told["eps0"] == [0.1, 1, 6]
    assert told["paired"] == {"low": pytest.approx(0.8), "high": pytest.approx(1 - 1 / 30)}
    assert (told["far_percent"], told["repetitions"], told["published"]) == (pytest.approx(0), 200, None)
    assert [(part["eps0"], part["informative"], part["own"]) for part in told["rows"]] == [
        (0.1, 0, False), (1, 4, False), (6, 4, True),
    ]  # fmt: skip


def test_verdicts_and_statements_are_counted():
    told = found(findings.printed)
    assert (told["of"], told["random"], told["fixed"]["of"]) == (185, 60, 90)
    assert sum(item["of"] for item in told["by_item"]) == 185
    assert told["missed"] == sum(item["missed"] for item in told["by_item"])
    assert (told["close"], told["central"]) == ([5], [99])
    claims = findings.claims(Results(VERDICTS, as_text(claim_rows())))
    assert (claims["of"], claims["hold"], claims["fail"], claims["undecided"]) == (8, 3, 1, 2)
    assert (claims["only_exactly"], claims["only_published"]) == (1, 1)


def test_the_gap_of_table_iv_is_the_largest_even_below_floats():
    pairs = [("1e-2", "3.1622776601683795e-2"), ("2e-2", "1e-2"), ("0", "1e-9"), ("1e-400", "2e-350")]
    rows = [row(reproduced=reproduced, exact=exact) for reproduced, exact in pairs]
    rows.append(row(item="Table II", reproduced="1e-90", exact="1"))
    told = found(findings.theorem, as_text(rows))
    assert told == {"orders": pytest.approx(50.30103, abs=1e-5), "below": 2, "of": 3}


def test_scales_deltas_and_counts_have_the_values_of_the_errata():
    assert found(findings.cells, totals=TOTALS) == {"box": 11190, "stepped": 10260, "lost": 930}
    told = found(findings.noise, totals=TOTALS)
    assert (round(told["low"], 2), round(told["high"], 2), told["both_fit"]) == (1.56, 2.34, True)
    for at in found(findings.default_setting)["rows"]:
        assert at["published"] < at["exact"] <= at["worst"] <= at["lower"] <= at["upper"]
    corollary = found(findings.corollary)
    assert corollary["high"] > 5 * corollary["upper"]
    assert corollary["low"] < 1e-10 * corollary["count"]


def test_what_a_configuration_lacks_is_said():
    told = findings.findings(Results(VERDICTS), (findings.claims, findings.audit, findings.parity))
    assert all(list(part) == ["not_computed"] and part["not_computed"] for part in told.values())
    silent = Results(VERDICTS, parity_ratio=as_read(parity_rows(eps0s=("0.1",))))
    assert findings.findings(silent, [findings.parity]) == {
        "parity": {"not_computed": "LookupError: no setting is informative"}
    }
    unknown = Results(VERDICTS, parity_ratio=as_read(parity_rows()).assign(limit=math.nan))
    told = findings.findings(unknown, [findings.parity])  # a number that no text could state
    assert "ValueError: Out of range float" in told["parity"]["not_computed"]
