"""Quoted numbers: at most 60, and a sentence that is no longer true is named with its document.

That the documents say what a run finds is tested after a full run, in tests/workflow/test_documents.py.
"""

import json
import re

import yaml

from scripts.report.quotes import filled, read_findings, untrue
from scripts.report.state_findings import TOPICS
from tests import ROOT

QUOTES = yaml.safe_load((ROOT / "docs/quotes.yaml").read_text(encoding="utf-8"))
FOUND = read_findings(
    json.dumps({"parity": {"low": 0.9961, "high": None}, "grids": {"not_computed": "KeyError: 'dataset'"}})
)


def test_a_sentence_that_is_no_longer_true_is_named():
    quotes = {
        "a.md": ["{parity.low:.2f} times", "of {parity.low:.1f}"],
        "b.md": ["{parity.most}", "{grids.p}"],
    }
    documents = {"a.md": "**about 1.00\ntimes**, of 2.0", "b.md": ""}
    assert list(untrue(quotes, documents, FOUND)) == [
        "a.md does not say: of 1.0 (correct it, or docs/quotes.yaml: of {parity.low:.1f})",
        "b.md: {parity.most}: no finding 'most'",
        "b.md: {grids.p}: no finding \"KeyError: 'dataset'\"",
    ]
    assert filled("at {parity.high:.2e}.", FOUND) == "at ."


def test_at_most_60_numbers_each_of_a_topic():
    numbers = [name for texts in QUOTES.values() for text in texts for name in re.findall(r"\{(\w+)\.", text)]
    assert 20 < len(numbers) <= 60
    assert set(numbers) <= {topic.__name__ for topic in TOPICS}
