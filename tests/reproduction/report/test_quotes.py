"""Placeholders of the documents' quotes are filled in, and what they lack or wrongly claim is an error."""

import json
import re

import pytest
import yaml

from reproduction.report.findings import TOPICS
from reproduction.report.quotes import filled, quotes, read_findings
from tests import ROOT
from tests.reproduction.report.report_page import as_text, found_in, real_verdicts
from tests.reproduction.report.test_findings import TOTALS

FOUND = read_findings(
    json.dumps(
        {
            "parity": {
                "nearly": 18,
                "low": 0.9961,
                "rows": [{"eps0": 1.0, "of": 14}, {"eps0": 2.0, "of": 30}],
            },
            "audit": {"safe": True, "certain": False, "bound": None},
            "grids": {"not_computed": "KeyError: 'dataset'"},
        }
    )
)


def test_a_text_is_said_once_of_every_row_or_where_it_is_true():
    texts = {
        "a.md": ["{parity.nearly} of it, {parity.low:.2f}, {parity.rows[1].of}"],
        "b.md": [{"parity.rows": "| {eps0:g} | {of} |"}, {"audit.safe": "all of {parity.nearly}"}],
    }
    assert list(quotes(texts, FOUND)) == [
        ("a.md", "18 of it, 1.00, 30"),
        ("b.md", "| 1 | 14 |"),
        ("b.md", "| 2 | 30 |"),
        ("b.md", "all of 18"),
    ]
    assert filled("{:.1f} %", 2.26) == "2.3 %"
    assert filled("at {audit.bound:.2e}.", FOUND) == "at ."


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{parity.most}", "no finding 'most'"),
        ("{grids.paris:.2f}", "KeyError: 'dataset'"),
        ({"parity.columns": "{of}"}, "parity.columns: no finding 'columns'"),
        ({"grids.by_city": "{of}"}, "grids.by_city: KeyError: 'dataset'"),
        ({"audit.certain": "none exceeds"}, "a.md: not true any more: none exceeds"),
    ],
)
def test_what_is_lacking_or_not_true_is_said(entry, message):
    with pytest.raises(LookupError, match=re.escape(message)):
        list(quotes({"a.md": [entry]}, FOUND))


TEXTS = yaml.safe_load((ROOT / "docs/quotes.yaml").read_text(encoding="utf-8"))


def topics_of(entry):
    """The topics that an entry of quotes.yaml names."""
    names = re.findall(r"\{(\w+)\.", entry) if isinstance(entry, str) else [*entry]
    return {name.split(".")[0] for name in names}


def test_every_quote_names_a_topic():
    topics = {topic.__name__ for topic in TOPICS}
    assert all(topics_of(entry) and topics_of(entry) <= topics for part in TEXTS.values() for entry in part)


def verdicts_of_a_run():
    """The printed values, of which a run misses those that errata, 11, tells of."""
    values = as_text(real_verdicts()).assign(verdict="same digits")
    theorem = (values["item"] == "Table II") & (values["mechanism"] == "this paper") & (values["n"] == "1000")
    values.loc[theorem, "verdict"] = "differs"
    values.loc[theorem, "reproduced"] = ["2.23411e-115", *["1e-300"] * 3, "1.55567e-691"]
    values.loc[(values["item"] == "Table 1") & (values["mechanism"] == "koskela"), "verdict"] = (
        "not comparable"
    )
    error = (values["item"] == "Table V") & (values["printed"] == "3E-3") & (values["n"] == "100000")
    values.loc[error, ["verdict", "reproduced", "high"]] = ["inconsistent", "3.36884e-4", "1.31006e-3"]
    return values


def test_quotes_that_need_no_run_stand_in_their_documents():
    """The remaining quotes are compared after a full run, in tests/workflow/test_documents.py."""
    names = {
        "default_setting",
        "gaussian",
        "limits",
        "literature",
        "band",
        "worst_case",
        "dummies",
        "cells",
        "noise",
        "misses",
    }
    found = found_in({"verdicts": verdicts_of_a_run(), "totals": TOTALS}, *names)
    chosen = {
        document: [entry for entry in entries if topics_of(entry) <= names]
        for document, entries in TEXTS.items()
    }
    stated = list(quotes(chosen, found))
    assert len(stated) >= 45
    for document, text in stated:
        assert text in " ".join((ROOT / document).read_text(encoding="utf-8").split())
