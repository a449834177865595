"""The numbers that texts state: computed in another way, and what is missing is said."""

import math
from dataclasses import replace

import pandas as pd
import pytest

from reproduction.experiments.parity_summary import largest_change_percent, nearly_equal
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
from tightshuffle.bounds.enumeration import enumerate_worst_case
from tightshuffle.randomizers.krr import lie_probability

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
    assert (told["all_exceed"], told["none_above_upper"]) == (True, False)
    assert told["confidence"] == pytest.approx(99.9)
    seen_below = found(findings.audit, audit=as_read([audit_row("-1", "0.01", "0.0", False, violated=False)]))
    assert (seen_below["all_exceed"], seen_below["example"]) == (False, None)


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


def parity_tables(means, ratios):
    return {"parity": as_read(means), "parity_ratio": as_read(ratios), "titles": {"paris": "Paris"}}


def test_parity_is_told_of_informative_settings():
    told = found(findings.parity, **parity_tables(*parity_rows(eps0s=("0.1", "1", "6"))))
    # two n and two deltas of each eps0; 0.1 tells nothing
    assert (told["settings"], told["uninformative"], told["of"], told["nearly"]) == (12, 4, 8, 4)
    assert (told["low"], told["high"]) == pytest.approx((1 + 1 / 30, 1.2))
    assert [(part["eps0"], part["of"], part["high"]) for part in told["by_eps0"]] == [
        (1, 4, pytest.approx(1 + 1 / 30)),
        (6, 4, pytest.approx(1.2)),
    ]
    assert told["paired"] == {
        "low": pytest.approx(0.8), "high": pytest.approx(1 - 1 / 30),
        "better": 12, "better_informative": 8, "surely_better": 8,  # at 0.1 the interval holds 1
    }  # fmt: skip
    assert (told["close"], told["close_uninformative"], told["far_percent"]) == (8, 4, pytest.approx(0))
    assert (told["covered_percent"], told["repetitions"], told["published"]) == (100, 200, None)
    assert told["uniform"] == [{"title": "Paris", "tv": 0.478}]
    first = told["rows"][0]
    assert (first["title"], first["eps0"], first["informative"], first["of"]) == ("Paris", 0.1, 0, 4)
    assert (first["measured"]["low"], first["limit"]) == (pytest.approx(1.005), 1.25)


def test_larger_ratios_than_in_the_papers_own_settings_are_placed():
    tables = parity_tables(*parity_rows(eps0s=("4", "6"), datasets=("paris", "synthetic")))
    synthetic = (tables["parity_ratio"]["dataset"] == "synthetic") & (tables["parity_ratio"]["eps0"] == 6)
    tables["parity_ratio"].loc[synthetic & (tables["parity_ratio"]["n"] == 1000), "ratio"] += 1
    told = found(findings.papers_settings, **tables)
    assert (told["of"], told["high"]) == (12, pytest.approx(1.2))
    assert told["above"] == {"dataset": ["synthetic"], "eps0": [6], "n": [1000]}


def test_ratios_are_near_1_as_much_as_their_inverses_and_a_change_is_rounded_up():
    assert nearly_equal(pd.Series([1.0501, 1.05, 1 / 1.05, 0.951])).tolist() == [False, True, True, False]
    point = {"dataset": "paris", "n": 9, "eps0": 1, "delta_rule": "1e-06", "comparison": "projected"}
    rows = pd.DataFrame(
        [point | {"bound": "upper", "ratio": 0.9979}, point | {"bound": "lower", "ratio": 1.0}]
    )
    assert largest_change_percent(rows) == 0.3
    assert largest_change_percent(rows[:1]) is None


def test_the_shuffled_histogram_as_it_is_wins_only_below_both_projected_estimates():
    setting = {"n": 1000, "delta_rule": "1e-06", "metric": "tv", "bound": "upper"}
    kinds = [("shuffle", "none"), ("shuffle", "projection"), ("gaussian", "projection")]
    means = pd.DataFrame(
        setting
        | {"dataset": dataset, "eps0": eps0, "mechanism": mechanism, "estimator": estimator, "mean": mean}
        for dataset, eps0, tv in (
            ("paris", 1.0, (0.4875, 0.9, 0.8)),
            ("paris", 2.0, (0.49, 0.6, 0.4)),  # the Gaussian's is the least
            ("synthetic", 2.0, (0.3, 0.1, 0.1)),
            ("paris", 4.0, (0.1, 0.2, 0.3)),  # another eps0
        )
        for (mechanism, estimator), mean in zip(kinds, tv, strict=True)
    )
    settings = means[means["estimator"] == "none"].assign(uniform=0.5)
    assert findings._without_inversion(means, settings) == {
        "least": 1, "of": 3, "in_cities_only": True, "apart_percent": 3,
    }  # fmt: skip


def test_what_is_told_of_the_papers_budgets():
    points = [
        (*place, n)
        for place in (("san_francisco", 1), ("synthetic", 1), ("san_francisco", 6))
        for n in (9, 99)
    ]
    points += [("synthetic", 6, 1000), ("synthetic", 6, 5000), ("synthetic", 6, 9000)]
    ratios = pd.DataFrame(
        {"dataset": dataset, "eps0": eps0, "n": n, "delta_rule": "1e-06", "bound": bound, "comparison": kind}
        | {
            "ratio": 2.5 - abs(n - 5000) / 1e4,
            "predicted": 1.01 if eps0 == 1 else 1.2 + n / 1e4,
            "limit": 1.3,
        }
        | {"metric": "tv", "eps": 3.0, "informative": dataset == "synthetic", "uniform": 0.5}
        for dataset, eps0, n in points
        for bound in ("upper", "lower")
        for kind in ("unprojected", "projected")
    )
    kinds = (("shuffle", "none", 0.1), ("shuffle", "projection", 0.2), ("gaussian", "projection", 0.3))
    means = pd.concat(
        ratios[(ratios["bound"] == "upper") & (ratios["comparison"] == "projected")].assign(
            mechanism=mechanism, estimator=estimator, mean=mean
        )
        for mechanism, estimator, mean in kinds
    )
    told = found(findings.parity_of_the_papers, parity_ratio=ratios, parity=means)
    assert (told["uninformative_at_1"], told["near_at_1"], told["never_near_at_6"]) == (True, True, True)
    assert (told["worst"]["n"], told["worst"]["predicted"]) == (5000, pytest.approx(1.7))
    assert told["worst"]["reports"] == pytest.approx(5000 * lie_probability(6, 15))
    assert (told["last"]["n"], told["last"]["limit"], told["change_percent"]) == (9000, 1.3, 0)
    assert told["without_inversion"]["least"] == told["without_inversion"]["of"] == 4
    one_near = ratios.assign(predicted=ratios["predicted"].where(ratios["n"] != 99, 1.06))
    told = found(findings.parity_of_the_papers, parity_ratio=one_near, parity=means)
    assert (told["near_at_1"], told["never_near_at_6"]) == (False, True)
    one_near = ratios.assign(predicted=ratios["predicted"].where(ratios["n"] != 1000, 1.04))
    told = found(findings.parity_of_the_papers, parity_ratio=one_near, parity=means)
    assert (told["near_at_1"], told["never_near_at_6"]) == (True, False)


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


def joint_row(mechanism, test, verdict, corrected, **numbers):
    powers = {"power_half": 0.1, "power_sqrt2": 0.2, "power_double": 0.3}
    named = {
        "item": "both",
        "mechanism": mechanism,
        "test": test,
        "verdict": verdict,
        "corrected_p": corrected,
    }
    return named | powers | {"values": 28, "below_median": 21, "p": 0.012} | numbers


def test_joint_tests_are_told_of_all_and_of_the_gaussian():
    rows = [
        joint_row("gaussian", "chi-square", "not rejected", 0.4),
        joint_row("gaussian", "Kolmogorov-Smirnov", "not rejected", 0.3, power_double=0.25, p=0.026),
        joint_row("shuffle+INV", "chi-square", "rejected", 0.004, power_half=0.15),
        joint_row("gaussian", "number below the median", "", ""),
    ]
    told = found(findings.joint_tests, joint_tests=as_read(rows))
    assert (told["of"], told["rejected"], told["least"], told["none_rejected"]) == (3, 1, 0.004, False)
    assert told["power"] == pytest.approx([15, 20, 30])
    own = told["gaussian"]
    assert (own["of"], own["least"], own["none_rejected"]) == (2, 0.3, True)
    assert told["below"] == {"below": 21, "of": 28, "p": 0.012}
    assert told["together"] == 0.026


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


def test_check_ins_and_single_runs():
    assert found(findings.cells, totals=TOTALS) == {"box": 11190, "stepped": 10260, "lost": 930}
    run = {"eps0": [2.0, 2.0], "original": [0.5, 0.5], "shuffle+INV": [0.4, 0.6], "gaussian": [0.49, 0.53]}
    told = found(findings.single_runs, estimates=pd.DataFrame(run))["rows"]
    assert told == [{"eps0": 2.0, "ratio": pytest.approx(5)}]


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


def test_the_bracket_is_told_in_percent():
    assert found(findings.band)["bracket_percent"] == pytest.approx(0.01)


def test_the_example_by_hand_is_that_of_the_errata():
    told = found(findings.by_hand)
    assert (told["ratio"], told["printed"], told["mass"]) == ("4/3", "1", "7/8")


def test_two_counts_are_a_view_of_the_third_cell():
    """With three cells they are the whole histogram, with more they tell less."""
    for k in (3, 4):
        setting = {"n": 5, "k": k, "eps0": 1.2}
        for eps in (0.0, 0.3, 0.9):
            whole = float(enumerate_worst_case(eps, **setting)[(0, 0, 4) + (0,) * (k - 3)])
            seen = findings.two_counts(eps, **setting)
            assert seen == pytest.approx(whole, rel=1e-12) if k == 3 else seen < whole


def test_what_a_configuration_lacks_is_said():
    results = Results(verdicts=VERDICTS)
    lacking = ("claims", "audit", "joint_tests", "grids", "cells", "noise", "parity", "single_runs", "misses")
    told = findings.findings(results, lacking)
    assert set(told) == set(lacking)
    assert all(list(part) == ["not_computed"] and part["not_computed"] for part in told.values())
    means, ratios = parity_rows(eps0s=("0.1",))
    silent = replace(results, parity_ratio=as_read(ratios), parity=as_read(means))
    assert findings.findings(silent, ["parity"]) == {
        "parity": {"not_computed": "LookupError: no setting is informative"}
    }
    unknown = as_read(parity_rows()[1]).assign(limit=math.nan)  # a number that no text could state
    told = findings.findings(replace(results, parity_ratio=unknown), ["parity"])
    assert "ValueError: Out of range float" in told["parity"]["not_computed"]
