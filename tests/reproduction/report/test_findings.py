"""The numbers that texts state: computed in another way, and what is missing is said."""

import math
from dataclasses import replace

import pandas as pd
import pytest

from reproduction.report import findings
from reproduction.report.findings import Results
from tests.reproduction.report.report_page import (
    as_read,
    as_text,
    audit_rows,
    claim_rows,
    parity_rows,
    real_verdicts,
    row,
)

VERDICTS = as_text(real_verdicts())


def found(topic, verdicts=VERDICTS, **tables):
    return topic(Results(verdicts=verdicts, **tables))


def audit_row(published, alone, together, jointly, eps="0.1", **changed):
    bounds = {"published_log10_delta": published, "audited_delta": alone, "joint_delta": together}
    verdicts = {"violated": alone != "0.0", "violated_jointly": jointly}
    return audit_rows()[0] | bounds | verdicts | {"eps": eps} | changed


def test_audit_counts_what_contradicts_and_what_would_refute_upper():
    rows = [
        audit_row("-3", "0.002", "0.0009", False),
        audit_row("-10", "0.002", "0.001", True),
        audit_row("-20", "0.0011", "0.0009", True, upper_violated=True),
        audit_row("-inf", "0.0", "0.0", False),
    ]
    told = found(findings.audit, audit=as_read(rows))
    assert (told["of"], told["seen"], told["alone"], told["together"], told["upper"]) == (4, 3, 3, 2, 1)
    assert told["confidence"] == pytest.approx(99.9)
    alone = found(findings.audit, audit=as_read([audit_row("-1", "0.01", "0.0", False, violated=False)]))
    assert (alone["alone"], alone["upper"], alone["example"]) == (0, "none", None)


def test_the_example_is_printed_counted_and_has_the_most_runs():
    table_iv = as_text(
        row(n="100", k="10", eps0="2", eps=eps, count="80", printed=text)
        for eps, text in (("0.10", "1E-10"), ("0.5", "1E-20"))
    )
    rows = [
        audit_row("-90", "0.002", "0.001", True, eps="0.2", runs="90000000"),  # is not printed
        audit_row("-90", "0.002", "0.001", True, observes="histogram", runs="90000000"),
        audit_row("-40", "0.002", "0.001", True, eps="0.5"),
        audit_row("-10", "0.002", "0.001", True, runs="80000000"),
        audit_row("-10", "0.002", "0.00299", True, runs="80000000"),
    ]
    examples = [found(findings.audit, table_iv, audit=as_read(rows[:last]))["example"] for last in (5, 3, 2)]
    assert [example and (example["printed"], example["at_least"]) for example in examples] == [
        ("1E-10", 0.0029),  # rounded down
        ("1E-20", 0.001),
        None,
    ]


def parity_tables(_, ratios):
    return {"parity_ratio": as_read(ratios), "titles": {"paris": "Paris"}}


def test_parity_is_told_of_informative_settings():
    told = found(findings.parity, **parity_tables(*parity_rows(eps0s=("0.1", "1", "6"))))
    # two n and two deltas of each eps0; 0.1 tells nothing
    assert (told["settings"], told["uninformative"], told["of"], told["nearly"]) == (12, 4, 8, 4)
    assert (told["low"], told["high"]) == pytest.approx((1 + 1 / 30, 1.2))
    assert [(part["eps0"], part["of"], part["high"]) for part in told["by_eps0"]] == [
        (1, 4, pytest.approx(1 + 1 / 30)),
        (6, 4, pytest.approx(1.2)),
    ]
    assert told["paired"] == {"low": pytest.approx(0.8), "high": pytest.approx(1 - 1 / 30), "better": 12}
    assert (told["far_percent"], told["repetitions"], told["published"]) == (pytest.approx(0), 200, None)
    assert told["uniform"] == [{"title": "Paris", "tv": 0.478}]
    first = told["rows"][0]
    assert (first["title"], first["eps0"], first["informative"], first["of"]) == ("Paris", 0.1, 0, 4)
    assert (first["measured"]["low"], first["limit"]) == (pytest.approx(1.005), 1.25)


def test_larger_ratios_than_in_the_papers_own_settings_are_placed():
    tables = parity_tables(*parity_rows(eps0s=("4", "6"), datasets=("paris", "synthetic")))
    ratios = tables["parity_ratio"]
    beyond = (ratios["dataset"] == "synthetic") & (ratios["eps0"] == 6)
    ratios.loc[beyond & (ratios["n"] == 1000), "ratio"] += 1
    told = found(findings.papers_settings, **tables)
    assert (told["of"], told["high"]) == (12, pytest.approx(1.2))
    assert told["above"] == {"dataset": ["synthetic"], "eps0": [6], "users": 1000}
    assert found(findings.papers_settings, **parity_tables(*parity_rows()))["above"]["users"] is None


def test_verdicts_and_statements_are_counted():
    told = found(findings.printed)
    assert (told["of"], told["random"], told["fixed"]["of"]) == (185, 60, 90)
    assert sum(item["of"] for item in told["by_item"]) == 185
    assert told["reproduced"] + told["missed"] == 185
    assert (told["close"], told["central"]) == ([5], [99])
    claims = found(findings.claims, claim_verdicts=as_text(claim_rows()))
    assert (claims["of"], claims["hold"], claims["fail"], claims["undecided"]) == (8, 3, 1, 2)
    assert (claims["only_exactly"], claims["only_published"]) == (1, 1)


@pytest.mark.parametrize(
    ("below", "orders"), [((), 0.5), (("1e-400", "2e-350"), 50.30103)], ids=["largest", "below floats"]
)
def test_the_gap_of_table_iv_is_the_largest(below, orders):
    pairs = [("1e-2", "3.1622776601683795e-2"), ("2e-2", "1e-2"), ("0", "1e-9"), *[below][: bool(below)]]
    rows = [row(reproduced=reproduced, exact=exact) for reproduced, exact in pairs]
    rows.append(row(item="Table II", reproduced="1e-90", exact="1"))
    told = found(findings.theorem, as_text(rows))
    assert told == {"orders": pytest.approx(orders, abs=1e-5), "below": len(pairs) - 2, "of": len(pairs) - 1}


def test_a_city_contradicts_both_grids_or_one_may_be_right():
    rows = [
        {"dataset": city, "grid": grid, "mechanism": "both", "p": p}
        | {"verdict": "contradicted" if p < 0.01 else "not contradicted"}
        for city, grid, p in (
            ("paris", "uniform", 0.0027), ("paris", "stepped", 4e-4),
            ("rome", "uniform", 0.0027), ("rome", "stepped", 0.5),
        )
    ]  # fmt: skip
    told = found(findings.grids, grids=as_read(rows), titles={"paris": "Paris"})
    assert [(city["title"], city["p"]["both"]) for city in told["contradicted"]] == [
        ("Paris", {"uniform": 0.0027, "stepped": 4e-4})
    ]


TOTALS = pd.DataFrame(
    [("paris", "uniform", 11190), ("paris", "stepped", 10260), ("san_francisco", "uniform", 123026)],
    columns=["dataset", "grid", "checkins"],
)


def test_check_ins_of_paris():
    assert found(findings.cells, totals=TOTALS) == {"box": 11190, "stepped": 10260, "lost": 930}


def test_the_scales_that_fit_what_is_printed():
    told = found(findings.noise, totals=TOTALS)
    assert (round(told["low"], 2), round(told["high"], 2), told["both_fit"]) == (1.56, 2.34, True)


def test_the_default_setting_is_ordered_and_its_deltas_are_their_logarithms():
    told = found(findings.default_setting)
    for at in told["rows"]:
        assert at["published"] < at["exact"] <= at["worst"] <= at["lower"] <= at["upper"]
        assert math.log10(at["worst"]) == pytest.approx(at["log10_worst"])
    assert round(told["reverse"], 1) == 3.3


def test_the_literature_at_the_first_line_of_table_1():
    told = found(findings.literature)
    assert [(part["printed"], part["bound"] is None) for part in told["rows"]] == [
        ("0.97", True), ("0.229", False), ("0.066", False), (None, False), ("9.01E-4", False),
        ("2.38E-28", False),
    ]  # fmt: skip
    assert told["rows"][4]["bound"] == told["high"]
    assert told["near_percent"] == pytest.approx(100 * (told["high"] / told["low"] - 1))
    assert told["times"] == pytest.approx(told["rows"][1]["bound"] / told["high"])


def test_what_a_configuration_lacks_is_said():
    results = Results(verdicts=VERDICTS)
    lacking = (findings.claims, findings.audit, findings.joint_tests, findings.cells, findings.parity)
    told = findings.findings(results, lacking)
    assert all(list(part) == ["not_computed"] and part["not_computed"] for part in told.values())
    silent = replace(results, parity_ratio=as_read(parity_rows(eps0s=("0.1",))[1]))
    assert findings.findings(silent, [findings.parity]) == {
        "parity": {"not_computed": "LookupError: no setting is informative"}
    }
    unknown = as_read(parity_rows()[1]).assign(limit=math.nan)  # a number that no text could state
    told = findings.findings(replace(results, parity_ratio=unknown), [findings.parity])
    assert "ValueError: Out of range float" in told["parity"]["not_computed"]
