"""The findings of all stages together: what documents quote is among them, and what is missing is said."""

import functools

import pytest
import yaml

from scripts.report.state_findings import state_findings, to_json
from scripts.shared.configuration import PAPERS_FILE, merged, papers_eps0
from tests import ROOT
from tests.quotes import filled
from tests.report.world import EVERYTHING, parity_rows, real_verdicts, results, stated_findings

VERDICTS = real_verdicts()


@pytest.mark.slow
def test_every_number_that_a_document_quotes_is_a_finding():
    """docs/quotes.yaml has texts of each document, with placeholders for findings: {parity.low:.2f}.

    A finding is a number that is computed from the tables of results, here from the made-up ones
    (`EVERYTHING`), with a ratio of errors for each sort of row that a text states. `filled` puts the findings
    into the placeholders, and raises an error if a placeholder names no finding. That the documents have
    these texts with the real numbers is tested after a full run, in tests/workflow.
    """
    parity = parity_rows(datasets=("paris", "san_francisco", "synthetic"))
    parity.append(parity[0] | {"comparison": "published", "bound": ""})
    findings = to_json(stated_findings(VERDICTS, skip=(), **EVERYTHING | {"parity_ratio": parity}))
    quotes = yaml.safe_load((ROOT / "docs/quotes.yaml").read_text(encoding="utf-8"))
    quoted = [text for texts in quotes.values() for text in texts]
    # At most 90, as quotes.yaml promises (there are 85). Fewer than 20 would mean that they are not found.
    assert 20 < sum(text.count("{") for text in quoted) <= 90
    for text in quoted:
        assert "{" not in filled(text, findings)


@pytest.mark.parametrize(
    ("changed", "silent_topics"),
    [
        ("datasets.paris.uniform.columns", {"papers_settings"}),
        ("datasets.paris.tv.n", {"papers_settings"}),
        ("datasets.synthetic.cells", {"papers_settings", "unequal"}),
    ],
)
def test_nothing_is_said_of_the_papers_settings_where_one_of_them_is_changed(
    changed, silent_topics
):
    """``changed`` is the key of a changed setting, ``silent_topics`` are the topics that then say nothing.

    A topic is a group of findings; "not_computed" stands in one that says nothing. papers_settings needs the
    paper's settings of all datasets, and unequal those of N(0, 2) (synthetic) alone. The topic parity has a
    row for each dataset and eps0, with ``own``: whether it is the paper's own setting. The tables are the
    made-up ones, in which only N(0, 2) and Paris have ratios of errors.
    """
    config = merged([PAPERS_FILE])
    *parents, last = changed.split(".")
    section = functools.reduce(dict.__getitem__, parents, config)
    # n, a list, loses its last entry. The number of columns or cells becomes 10, which is not the paper's.
    section[last] = section[last][:-1] if last == "n" else 10
    tables = results(VERDICTS, **EVERYTHING) | {"papers": papers_eps0(config)}

    stated = state_findings(tables, ["papers_settings", "unequal", "parity"])
    silent = {topic for topic, numbers in stated.items() if "not_computed" in numbers}
    assert silent == silent_topics
    is_papers = {(row["title"], row["eps0"]): row["own"] for row in stated["parity"]["rows"]}
    # The paper has eps0 = 4 for both datasets, and one of the two is changed.
    assert is_papers["N(0, 2)", 4] != is_papers["Paris", 4]


@pytest.mark.parametrize("topic", ["claims", "audit", "parity", "papers_settings", "unequal"])
def test_a_topic_whose_table_a_configuration_lacks_says_so(topic):
    stated = state_findings(results(VERDICTS), [topic])
    assert list(stated[topic]) == ["not_computed"]
    assert stated[topic]["not_computed"].startswith("KeyError")


def test_a_topic_without_an_informative_setting_says_so():
    silent = results(VERDICTS, parity_ratio=parity_rows(eps0s=[0.1]))
    reason = "LookupError: no setting is informative"
    assert state_findings(silent, ["parity"]) == {"parity": {"not_computed": reason}}


def test_a_number_that_no_text_could_state_is_not_stated():
    unknown = results(VERDICTS, parity_ratio=[row | {"limit": None} for row in parity_rows()])
    stated = state_findings(unknown, ["parity"])
    assert "ValueError: Out of range float" in stated["parity"]["not_computed"]
