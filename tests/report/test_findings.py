"""The findings of all stages together: what documents quote is among them, and what is missing is said."""

import itertools
import math
import re
from pathlib import Path

import pytest
import yaml

from scripts.report.state_findings import state_findings, to_json
from scripts.shared.code import files_of
from scripts.shared.configuration import PAPERS_FILE, merged, papers_eps0
from tests import ROOT
from tests.quotes import filled
from tests.report.world import (
    EVERYTHING,
    parity_rows,
    real_verdicts,
    results,
)

VERDICTS = real_verdicts()


@pytest.fixture(scope="module")
def quoted_texts():
    """The texts of all documents, with placeholders for findings: {parity.low:.2f}."""
    quotes = yaml.safe_load((ROOT / "docs/quotes.yaml").read_text(encoding="utf-8"))
    return list(itertools.chain(*quotes.values()))


def test_documents_quote_at_most_110_numbers(quoted_texts):
    """So docs/quotes.yaml promises. Fewer than 20 would mean that they are not found."""
    quoted = re.findall(r"\{([^:}]+)", "".join(quoted_texts))
    assert 20 < len(set(quoted)) <= 110


def test_every_number_that_a_document_quotes_is_a_finding(quoted_texts):
    """`filled` raises an error for a placeholder without a finding. Findings are of made-up results.

    That the documents have these texts with the real numbers is tested after a full run, in tests/workflow.
    """
    ratios = parity_rows(datasets=("paris", "san_francisco", "synthetic"))
    tables = EVERYTHING | {"parity_ratio": ratios}
    findings = to_json(state_findings(results(VERDICTS, **tables)))
    for text in quoted_texts:
        assert "{" not in filled(text, findings)


def stated_with(own_settings, folder):
    """Findings on made-up results, of a run with this text as a file of settings of your own."""
    file = folder / "own.yaml"
    file.write_text(own_settings, encoding="utf-8")
    papers = papers_eps0(merged([PAPERS_FILE, file]))
    tables = results(VERDICTS, **EVERYTHING) | {"papers": papers}
    return state_findings(tables, ["papers_settings", "unequal", "parity"])


@pytest.mark.parametrize(
    ("own_settings", "silent_topics"),
    [
        ("datasets: {paris: {uniform: {columns: 10}}}", {"papers_settings"}),
        ("datasets: {paris: {tv: {n: [1000]}}}", {"papers_settings"}),
        ("datasets: {synthetic: {cells: 10}}", {"papers_settings", "unequal"}),
    ],
)
def test_a_topic_on_the_papers_settings_is_silent_where_one_is_changed(
    tmp_path, own_settings, silent_topics
):
    """papers_settings needs the paper's settings of all datasets, unequal those of N(0, 2), parity none."""
    stated = stated_with(own_settings, tmp_path)
    assert {topic for topic in stated if "not_computed" in stated[topic]} == silent_topics


@pytest.mark.parametrize(
    ("own_settings", "titles"),
    [
        ("datasets: {paris: {uniform: {columns: 10}}}", {"N(0, 2)"}),
        ("datasets: {synthetic: {cells: 10}}", {"Paris"}),
    ],
)
def test_ratios_of_a_dataset_are_not_the_papers_where_its_settings_are_changed(
    tmp_path, own_settings, titles
):
    """Of a row of ratios, the field own says whether the paper has its dataset and eps0."""
    rows = stated_with(own_settings, tmp_path)["parity"]["rows"]
    assert {row["title"] for row in rows if row["own"]} == titles


@pytest.mark.parametrize("topic", ["claims", "audit", "parity", "papers_settings", "unequal"])
def test_a_topic_whose_table_a_configuration_lacks_says_so(topic):
    stated = state_findings(results(VERDICTS), [topic])
    assert list(stated[topic]) == ["not_computed"]
    assert stated[topic]["not_computed"].startswith("KeyError")


def test_findings_need_nothing_of_the_library_but_what_writes_numbers():
    """They read tables: else an edit of any bound would rerun them, and each test here compute bounds."""
    files = map(Path, files_of("scripts/report/state_findings.py"))
    library = {file.name for file in files if "tightshuffle" in file.parts}
    assert library == {"__init__.py", "number_text.py", "side.py"}


def test_a_topic_without_an_informative_setting_says_so():
    silent = results(VERDICTS, parity_ratio=parity_rows(eps0s=[0.1]))
    reason = "LookupError: no setting is informative"
    assert state_findings(silent, ["parity"]) == {"parity": {"not_computed": reason}}


def test_a_number_that_no_text_could_state_is_not_stated():
    unknown = results(VERDICTS, parity_ratio=[row | {"limit": math.nan} for row in parity_rows()])
    stated = state_findings(unknown, ["parity"])
    assert "ValueError: Out of range float" in stated["parity"]["not_computed"]
