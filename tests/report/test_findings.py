"""The numbers that texts state: computed in another way, and what is missing is said."""

import copy
import functools
import math

import pytest
import yaml

from scripts.report import state_findings as findings
from scripts.shared.configuration import PAPERS, merged, papers_eps0
from tests import ROOT
from tests.quotes import filled
from tests.report import world
from tests.report.world import (
    EVERYTHING,
    audit_row,
    claim_rows,
    found_in,
    parity_rows,
    real_verdicts,
    results,
    row,
)

VERDICTS = real_verdicts()
CONFIG = merged([PAPERS])


@pytest.mark.slow
def test_every_number_that_a_document_quotes_is_a_finding():
    """That the documents have these numbers is tested after a full run, in tests/workflow."""
    parity = parity_rows(datasets=("paris", "san_francisco", "synthetic"))
    parity.append(parity[0] | {"comparison": "published", "bound": ""})
    found = found_in(VERDICTS, skip=(), **EVERYTHING | {"parity_ratio": parity})
    quotes = yaml.safe_load((ROOT / "docs/quotes.yaml").read_text(encoding="utf-8"))
    quoted = [text for texts in quotes.values() for text in texts]
    assert 20 < sum(text.count("{") for text in quoted) <= 90
    for text in quoted:
        assert "{" not in filled(text, findings.to_json(found))


def test_audit_counts_contradictions_and_its_example_has_the_most_runs_and_is_rounded_down():
    table_iv = [row(n="100", k="10", eps0="2", eps="0.10", count="80", printed="1E-10")]
    rows = [
        audit_row(-90, 0.002, 0.001, True, eps=0.2, runs=90_000_000),  # is not printed
        audit_row(-90, 0.002, 0.001, True),
        audit_row(-10, 0.002, 0.00299, True, runs=80_000_000, upper_violated=True),
        audit_row(-3, 0.002, 0.0009, False),
        audit_row(-math.inf, 0.0, 0.0, False),
    ]
    told = findings.audit(results(table_iv, audit=rows))
    assert (told["of"], told["seen"], told["alone"], told["together"], told["upper"]) == (5, 4, 4, 3, 1)
    (setting,) = told["settings"]
    assert setting == findings.DEFAULT | {"count": 80, "of": 5, "seen": 4, "together": 3, "upper": 1}
    assert told["confidence"] == pytest.approx(99.9)
    assert (told["example"]["printed"], told["example"]["at_least"]) == ("1E-10", 0.0029)
    told = findings.audit(results(table_iv, audit=rows[:1]))
    assert (told["upper"], told["example"]) == ("none", None)


def test_parity_is_told_of_informative_settings():
    told = findings.parity(results(VERDICTS, parity_ratio=parity_rows((0.1, 1, 6), datasets=("paris",))))
    # two n and two deltas of each eps0; 0.1 tells nothing
    assert (told["settings"], told["uninformative"], told["of"], told["nearly"]) == (12, 4, 8, 4)
    assert (told["low"], told["high"]) == pytest.approx((1 + 1 / 30, 1.2))
    assert told["eps0"] == [0.1, 1, 6]
    assert told["paired"] == {"low": pytest.approx(0.8), "high": pytest.approx(1 - 1 / 30)}
    assert (told["far_percent"], told["repetitions"], told["published"]) == (pytest.approx(0), 200, None)
    assert [(part["eps0"], part["informative"], part["own"]) for part in told["rows"]] == [
        (0.1, 0, False), (1, 4, False), (6, 4, True),
    ]  # fmt: skip


def test_the_extremes_are_of_the_papers_settings_with_their_own_intervals():
    rows = parity_rows(datasets=("paris", "san_francisco", "synthetic"))
    for setting in rows:
        measured = (setting["bound"], setting["comparison"], setting["metric"])
        place = (setting["dataset"], setting["n"], setting["eps0"], setting["delta"])
        if measured == ("upper", "projected", "tv") and place == ("paris", 1000, 4, 1e-6):
            setting |= {"ratio": 0.5, "low": 0.4, "high": 0.6}
    told = findings.papers_extremes(results(VERDICTS, parity_ratio=rows))
    assert told["tv"]["least"] == {
        "title": "Paris", "ratio": 0.5, "low": 0.4, "high": 0.6, "n": 1000, "eps0": 4, "delta_rule": "1e-06",
    }  # fmt: skip
    assert told["tv"]["most"]["ratio"] == pytest.approx(1.2)  # without N(0, 2) at eps0 = 6
    assert told["popular"]["most"]["ratio"] == pytest.approx(51.2)


def test_the_papers_own_settings_are_those_that_it_ran_and_its_comparison_is_unequal():
    given = results(VERDICTS, **EVERYTHING)
    told = findings.papers_settings(given)  # two n and two deltas, of N(0, 2) at 4, of Paris at 4 and 6
    assert (told["of"], told["low"], told["high"]) == (12, pytest.approx(1 + 4 / 30), pytest.approx(1.2))
    assert told["paired"] == {"low": pytest.approx(0.8), "high": pytest.approx(1 - 4 / 30), "better": 12}
    assert told["above"] == {"dataset": ["synthetic"], "eps0": [6], "users": 100_000}
    told = findings.unequal(given)
    assert told["gaussian"] == pytest.approx(3.04907, abs=1e-5)  # of the scale 2.1517
    assert told["shuffled"] == [{"n": 1000, "eps": 0.25}, {"n": 100_000, "eps": 0.25}]


def test_nothing_is_said_of_the_papers_settings_where_one_of_them_is_changed():
    for change, silent in (
        ("datasets.paris.uniform.columns", {"papers_settings"}),
        ("datasets.paris.tv.n", {"papers_settings"}),
        ("datasets.synthetic.cells", {"papers_settings", "unequal"}),
    ):
        config = copy.deepcopy(CONFIG)
        *parents, last = change.split(".")
        section = functools.reduce(dict.__getitem__, parents, config)
        section[last] = section[last][:-1] if last == "n" else 10
        given = results(VERDICTS, **EVERYTHING) | {"papers": papers_eps0(config)}
        told = findings.findings(given, [findings.papers_settings, findings.unequal, findings.parity])
        assert {topic for topic, numbers in told.items() if "not_computed" in numbers} == silent
        rows = {(row["title"], row["eps0"]): row["own"] for row in told["parity"]["rows"]}
        assert rows["N(0, 2)", 4] != rows["Paris", 4]  # the changed dataset has no star


def test_verdicts_and_statements_are_counted():
    told = findings.printed(results(VERDICTS))
    # 60 draws, 27 zeros, 14 repeats, 6 of them zeros
    assert (told["of"], told["random"], told["fixed"]["of"]) == (185, 60, 90)
    for name in ("of", "missed", "by_digits"):
        assert sum(item[name] for item in told["by_item"]) == told[name]
    assert (told["close"], told["central"]) == ([5], [99])
    verdicts = ("same digits", "close", "close", "consistent", "consistent", "consistent", "inconsistent")
    told = findings.printed(results([row(verdict=verdict, printed="1") for verdict in verdicts]))
    assert (told["by_digits"], told["missed"], told["of"]) == (3, 1, 7)  # a draw does not match by digits


def test_statements_are_counted_each_family_once_with_its_best_row():
    told = findings.claims(results(VERDICTS, claim_verdicts=claim_rows()))
    assert (told["of"], told["hold"], told["fail"], told["undecided"]) == (8, 3, 1, 2)
    assert (told["only_exactly"], told["only_published"]) == (1, 1)
    rows = [
        ("fails", "fails", "fails", "twins"),
        ("holds", "holds", "holds", ""),
        ("holds", "fails", "holds only as published", "twins"),
        ("fails", "fails", "fails", ""),
        ("untestable", "fails", "fails", "open"),
        ("untestable", "untestable", "untestable", "open"),  # more favourable than "fails"
    ]
    columns = ("verdict_published", "verdict_exact", "verdict", "family")
    told = findings.claims(
        results(VERDICTS, claim_verdicts=[dict(zip(columns, of, strict=True)) for of in rows])
    )
    counted = ("hold", "only_published", "undecided", "fail", "only_exactly")
    assert [told[name] for name in counted] == [1, 1, 1, 1, 0]
    assert told["cross"]["holds"] == {"holds": 1, "fails": 1, "untestable": 0}
    assert told["cross"]["untestable"] == {"holds": 0, "fails": 0, "untestable": 1}


def test_the_gap_of_table_iv_is_the_largest_even_below_floats():
    pairs = [("1e-2", "3.1622776601683795e-2"), ("2e-2", "1e-2"), ("0", "1e-9"), ("1e-400", "2e-350")]
    rows = [row(reproduced=reproduced, exact=exact) for reproduced, exact in pairs]
    rows += [row(reproduced="1e-90", exact=""), row(item="Table II", reproduced="1e-90", exact="1")]
    own = {"item": "Table 1", "mechanism": "this paper"}
    rows += [row(**own, reproduced="1e-9", exact="1e-7"), row(**own, reproduced="1e-9", exact="1e-8")]
    rows.append(row(**own, reproduced="1e-90", exact="1", verdict="differs"))  # not the formula's value
    told = findings.theorem(results(rows))
    expected = {"orders": pytest.approx(50.30103, abs=1e-5), "below": 2, "of": 3}
    assert told == expected | {"elsewhere": {"Table 1": pytest.approx(2)}}


def test_scales_deltas_and_counts_have_the_values_of_the_errata():
    given = results(VERDICTS, totals=EVERYTHING["totals"])
    assert findings.cells(given) == {"box": 11190, "stepped": 10260}
    told = findings.noise(given)
    assert (round(told["low"], 2), round(told["high"], 2), told["both_fit"]) == (1.56, 2.34, True)
    for at in findings.default_setting(given)["rows"]:
        assert at["published"] < at["exact"] <= at["worst"] <= at["lower"] <= at["upper"]


def test_a_grid_is_contradicted_by_our_noise_and_may_fit_another_by_one_numbering():
    told = findings.grids(results(VERDICTS, **EVERYTHING))
    (paris,) = told["contradicted"]
    assert paris == told["by_city"]["paris"]
    assert (paris["p"], paris["corrected"]) == (
        {"uniform": 0.0058, "stepped": 3e-4},
        {"uniform": 0.0175, "stepped": 0.0011},
    )
    assert paris["other"] == {
        "uniform": {"p": 0.035, "numbering": "row by row from the south-west"},
        "stepped": {"p": 0.014, "numbering": "another"},
    }
    assert (paris["every_numbering"], paris["other_fits"]) == (True, True)
    assert told["other_noise"]["scale"] == pytest.approx(1.5753, abs=5e-5)
    fits = world.grid_row("stepped", 0.5, 0.5, "another")
    told = findings.grids(results(VERDICTS, grids=[*EVERYTHING["grids"][:5], fits]))["by_city"]["paris"]
    assert (told["contradicts_both"], told["every_numbering"], told["other_fits"]) == (True, False, False)


def test_what_a_configuration_lacks_is_said():
    topics = (findings.claims, findings.audit, findings.parity, findings.papers_settings, findings.unequal)
    told = findings.findings(results(VERDICTS), topics)
    assert all(list(part) == ["not_computed"] and part["not_computed"] for part in told.values())
    silent = results(VERDICTS, parity_ratio=parity_rows((0.1,)))
    reason = "LookupError: no setting is informative"
    assert findings.findings(silent, [findings.parity]) == {"parity": {"not_computed": reason}}
    unknown = results(VERDICTS, parity_ratio=[of | {"limit": None} for of in parity_rows()])
    told = findings.findings(unknown, [findings.parity])  # a number that no text could state
    assert "ValueError: Out of range float" in told["parity"]["not_computed"]


def test_what_the_form_of_delta_hat_does_to_the_errors():
    """Each ratio is a mean of the Gaussian over 0.04, the mean of shuffle+INV."""
    given = results(VERDICTS, **EVERYTHING)
    hat = findings.delta_hat(given)
    assert (hat["of"], hat["beyond_floats"]) == (2, 1)
    assert hat["orders"] == {"low": 106.0, "high": 338.0}
    assert hat["ratios"]["published"] == pytest.approx({"low": 10.0, "high": 20.0})
    assert hat["ratios"]["exact"] == pytest.approx({"low": 1.25, "high": 1.5})
    assert findings.constants(given) == {"floors": [1e-8, 1e-30], "low": 3.5, "high": 40.0}
