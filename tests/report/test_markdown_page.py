"""A Markdown document as a page: formulas, anchors, links, and nothing that runs."""

from xml.etree import ElementTree

import pytest

from scripts.report.markdown_page import render_markdown, slug

TEXT = """# Title

See [section](#1-what-is--0) and [another](parity.md#here), or [the net](https://example.org).
A formula $x_0<1$, **strong** <script>alert(1)</script>.

## 1. What is >= 0?

```math
\\frac{a}{b}
```

```console
$ echo "a < b"
a < b
```

| a | b |
|---|---|
| 1 | $k$ |
"""


@pytest.fixture(scope="module")
def page():
    """`TEXT` as an HTML element, with links to documents from the folder of a report."""
    html, _ = render_markdown(TEXT, lambda link: f"../../docs/{link}")
    return ElementTree.fromstring(f"<div>{html!s}</div>")


def test_the_title_is_left_out_and_sections_are_named():
    html, sections = render_markdown(TEXT, str)
    assert "Title" not in html
    assert sections == [("1-what-is--0", "1. What is >= 0?")]


def test_links_to_documents_work_from_the_page_and_others_stay(page):
    links = [link.get("href") for link in page.findall("p/a")]
    assert links == ["#1-what-is--0", "../../docs/parity.md#here", "https://example.org"]
    assert page.find("h2").get("id") == "1-what-is--0"


def test_formulas_are_mathml_in_a_line_a_table_and_displayed(page):
    assert [math.get("display") for math in page.iter("math")] == ["inline", "block", "inline"]
    assert page.find(".//div[@class='formula']//mfrac") is not None


def test_code_and_html_are_shown_as_they_are(page):
    assert page.find("pre/code").text == '$ echo "a < b"\na < b\n'
    assert "<script>alert(1)</script>" in "".join(page.find("p[1]").itertext())
    assert not list(page.iter("script"))


def test_an_anchor_is_the_one_that_github_gives():
    assert slug("6. For eps >= eps0 delta is 0") == "6-for-eps--eps0-delta-is-0"
    heading = "The histogram's L2 sensitivity is sqrt(2)"
    assert slug(heading) == "the-histograms-l2-sensitivity-is-sqrt2"
