"""The errata as a part of the page: every formula, heading, table and link."""

import re
from xml.etree import ElementTree

import pytest
from markupsafe import Markup, escape

from reproduction.report.document import document, mathml, slug
from tests import ROOT
from tests.reproduction.report.report_page import REAL_ERRATA, Page


@pytest.fixture(scope="module")
def errata():
    return document(REAL_ERRATA, anchor="errata", folder="docs", link=lambda path: f"../../{path}")


def test_every_formula_of_the_errata_is_mathml(errata):
    blocks = re.findall(r"^```math\n.*?^```", REAL_ERRATA, re.M | re.S)
    prose = re.sub(r"^```.*?^```|`[^`\n]+`", "", REAL_ERRATA, flags=re.M | re.S)
    assert errata.count("<math") == len(blocks) + prose.count("$") // 2
    assert errata.count('display="block"') == len(blocks)
    shown = re.sub(r"<code>.*?</code>", "", str(errata), flags=re.S)
    assert "$" not in shown
    assert "\\" not in shown


def test_headings_tables_and_links_of_the_errata_hold_together(errata):
    page = Page(str(errata))
    sections = re.findall(r"^## (.+)$", REAL_ERRATA, re.M)
    assert len(sections) > 10
    assert page.ids[: len(sections)] == [f"errata-{slug(name)}" for name in sections]
    assert not page.of("h1") + page.of("h2")
    inside = {link["href"][1:] for link in page.of("a") if link["href"].startswith("#")}
    assert len(inside) > 10
    assert inside <= set(page.ids)
    outside = {link["href"] for link in page.of("a") if not link["href"].startswith("#")}
    assert all((ROOT / href.removeprefix("../../")).exists() for href in outside)
    assert len(page.of("caption")) == len(page.of("table")) > 5
    assert all(cell["scope"] == "col" for cell in page.of("th"))


@pytest.mark.parametrize(
    ("latex", "words"),
    [
        (r"\mathcal M_{x_0}", "ℳx0"),
        (r"\mathbb E[J\mid S]", "𝔼[J∣S]"),
        (r"\sum_s e^{\epsilon_0}", "∑seϵ0"),
        (r"\text{a}\quad b", "ab"),
    ],
)
def test_formulas_are_elements_without_namespace_or_short_tags(latex, words):
    formula = mathml(latex)
    assert "".join(ElementTree.fromstring(formula).itertext()) == words
    assert "xmlns" not in formula
    assert "/>" not in formula


def test_text_is_escaped_and_links_start_at_the_project():
    text = "# Title\n\n<b>bold</b> & [here](../data/x.md#y) `<i>`\n\n| a |\n|---|\n| eps |\n"

    def words(given):
        return Markup(str(escape(given)).replace("eps", "<i>ε</i>"))

    page = document(text, anchor="a", folder="docs", link=lambda path: f"../../{path}", words=words)
    assert "<h" not in page
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; " in page
    assert '<a href="../../data/x.md#y">here</a> <code>&lt;i&gt;</code>' in page
    assert "<td><i>ε</i></td>" in page
