"""A Markdown document as a page of the report, with formulas, anchors and links that work from there."""

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from scripts.report.formulas import mathml

Heading = tuple[str, str]  # anchor, text


def render_markdown(text: str, address: Callable[[str], str]) -> tuple[Markup, list[Heading]]:
    """A Markdown document without its title as HTML, and its sections, each as (anchor, heading).

    ``text`` is the document, which begins with its title. Formulas become MathML. Headings have the anchors
    that GitHub gives to them. The sections are those of the second level (##). A link to another file of the
    project is written in ``text`` as seen from the document. The function ``address`` turns such a link into
    one from the page that is made.
    """
    parser = MarkdownIt("commonmark", {"html": False, "xhtmlOut": True}).enable("table")
    parser.use(dollarmath_plugin, renderer=_formula_as_html, double_inline=False)
    parser.use(anchors_plugin, max_level=3, slug_func=slug, permalink=True, permalinkSymbol="#")
    parser.add_render_rule("fence", _fence_as_html)

    tokens = parser.parse(text)
    end_of_title = [token.type for token in tokens].index("heading_close") + 1
    tokens = tokens[end_of_title:]

    # Links to a place in the document (#) and to the net (http:, https:) stay as they are.
    for token in tokens:
        for child in token.children or ():
            href = child.attrs.get("href")
            if child.type == "link_open" and not re.match(r"#|https?:", str(href)):
                child.attrs["href"] = address(str(href))
    html = parser.renderer.render(tokens, parser.options, {})
    return Markup(html), _sections(tokens)


def slug(heading: str) -> str:
    """The anchor that GitHub gives to a heading."""
    words = re.sub(r"[^\w\s-]", "", heading.lower())
    return words.strip().replace(" ", "-")


def _sections(tokens: Sequence[Token]) -> list[Heading]:
    """(anchor, heading) of every section of the second level in the parsed document ``tokens``.

    The parser puts the text of a heading in the token behind that which opens the heading.
    """
    sections = []
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            sections.append((str(token.attrs["id"]), tokens[place + 1].content))
    return sections


def _formula_as_html(latex: str, options: dict[str, Any]) -> str:
    """A formula between dollar signs as MathML; ``options`` of the parser say whether it stands alone."""
    return mathml(latex, "block" if options["display_mode"] else "inline")


def _fence_as_html(_: Any, tokens: Sequence[Token], place: int, *__: Any) -> str:
    """A fenced block as HTML: a displayed formula if it is named ``math``, as on GitHub, and else code."""
    token = tokens[place]
    if token.info.strip() == "math":
        return f'<div class="formula">{mathml(token.content, "block")}</div>\n'
    return f"<pre><code>{escape(token.content)}</code></pre>\n"
