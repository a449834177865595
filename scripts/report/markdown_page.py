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
    """(the document as HTML without its title, its sections).

    Formulas are MathML, and every heading has an anchor, as GitHub names it. ``address``: a link to another
    document, as the text has it -> the link from the page.
    """
    parser = MarkdownIt("commonmark", {"html": False, "xhtmlOut": True}).enable("table")
    parser.use(dollarmath_plugin, renderer=_formula, double_inline=False)
    parser.use(anchors_plugin, max_level=3, slug_func=slug, permalink=True, permalinkSymbol="#")
    parser.add_render_rule("fence", _fence)

    tokens = parser.parse(text)
    end_of_title = [token.type for token in tokens].index("heading_close") + 1
    tokens = tokens[end_of_title:]
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
    sections = []
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            sections.append((str(token.attrs["id"]), tokens[place + 1].content))
    return sections


def _formula(latex: str, options: dict[str, Any]) -> str:
    return mathml(latex, "block" if options["display_mode"] else "inline")


def _fence(_: Any, tokens: Sequence[Token], place: int, *__: Any) -> str:
    """A fence named ``math`` is a displayed formula, as on GitHub; any other one is code."""
    token = tokens[place]
    if token.info.strip() == "math":
        return f'<div class="formula">{mathml(token.content, "block")}</div>\n'
    return f"<pre><code>{escape(token.content)}</code></pre>\n"
