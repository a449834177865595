"""Placeholders of the documents' quotes are filled in, and what they lack or wrongly claim is an error."""

import json
import re

import pytest
import yaml

from reproduction.report.findings import TOPICS
from reproduction.report.quotes import filled, quotes, read_findings
from tests import ROOT

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


def test_every_quote_names_a_document_and_a_topic():
    topics = {topic.__name__ for topic in TOPICS}
    for document, entries in yaml.safe_load((ROOT / "docs/quotes.yaml").read_text()).items():
        assert (ROOT / document).exists()
        for entry in entries:
            names = re.findall(r"\{(\w+)\.", entry) if isinstance(entry, str) else [*entry]
            assert {name.split(".")[0] for name in names} <= topics, entry
            assert names, entry
