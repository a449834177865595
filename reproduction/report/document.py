"""A Markdown document of docs/ as HTML, its formulas as MathML, which browsers show without a script."""

import posixpath
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape
from mdit_py_plugins.dollarmath import dollarmath_plugin

LONGEST_ON_A_PHONE = 60  # characters of LaTeX, more than what is seen
_STYLES = {"double-struck": "DOUBLE-STRUCK", "script": "SCRIPT"}  # MathML's names of alphabets: Unicode's


def document(
    text: str,
    *,
    anchor: str,
    folder: str,
    link: Callable[[str], str],
    words: Callable[[str], Markup] = escape,
) -> Markup:
    """The HTML of a document without its title, one level of headings lower, as a part of a page.

    ``anchor`` goes before every id, so that two documents do not clash; ``folder`` is the document's
    folder in the project, and ``link`` gives the address of a file from its path in the project; ``words``
    makes the HTML of the text outside of code and formulas. A formula is what lies between dollars or in a
    block ``math``; blocks ``console`` are folded.
    """
    parser = MarkdownIt("js-default").use(
        dollarmath_plugin, double_inline=False, allow_space=False, renderer=lambda content, _: mathml(content)
    )
    parser.add_render_rule("text", lambda _, tokens, place, *__: str(words(tokens[place].content)))
    parser.add_render_rule("math_inline", lambda _, tokens, place, *__: _inline(tokens[place].content))
    tokens, heading = [], ""
    for token, following in _with_next(parser.parse(text)):
        if token.type == "heading_open":
            heading = following.content
            token.tag = f"h{int(token.tag[1]) + 1}"
            token.attrSet("id", f"{anchor}-{slug(heading)}")
        elif token.type == "heading_close":
            token.tag = f"h{int(token.tag[1]) + 1}"
        elif token.type == "th_open":
            token.attrSet("scope", "col")
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("href", _address(str(child.attrGet("href")), anchor, folder, link))
        if token.type == "table_open":
            caption = f'<caption class="hidden">{escape(heading)}</caption>'
            tokens.append(_html(f'<div class="scroll"><table>{caption}'))
        elif token.type == "table_close":
            tokens.append(_html("</table></div>"))
        elif token.type == "fence":
            tokens.append(_html(_block(token)))
        else:
            tokens.append(token)
    return Markup(parser.renderer.render(_without_title(tokens), parser.options, {}))


def mathml(latex: str, display: str = "inline") -> str:
    """A LaTeX formula as a MathML element for HTML; ``display``: inline or block.

    Letters of another alphabet become Unicode's: browsers do not know MathML's attribute for them.
    """
    formula = convert(latex, display=display).replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "", 1)
    formula = re.sub(r"<(\w+)([^<>]*?) ?/>", r"<\1\2></\1>", formula)
    names = "|".join(_STYLES)
    return re.sub(
        rf'<mi mathvariant="({names})">([A-Z])</mi>',
        lambda found: f"<mi>{_letter(_STYLES[found[1]], found[2])}</mi>",
        formula,
    )


def slug(heading: str) -> str:
    """The name by which other places link to a heading, as the places that show Markdown make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def _letter(style: str, letter: str) -> str:
    for block in ("MATHEMATICAL ", ""):  # some were in Unicode before the block of mathematical alphabets
        try:
            return unicodedata.lookup(f"{block}{style} CAPITAL {letter}")
        except KeyError:
            continue
    return letter


def _address(href: str, anchor: str, folder: str, link: Callable[[str], str]) -> str:
    if href.startswith("#"):
        return f"#{anchor}-{href[1:]}"
    return href if "://" in href else link(posixpath.normpath(posixpath.join(folder, href)))


def _block(fence: Token) -> str:
    if fence.info == "math":
        return f'<div class="scroll formula">{mathml(fence.content, "block")}</div>\n'
    code = f'<div class="scroll"><pre><code>{escape(fence.content)}</code></pre></div>'
    if fence.info != "console":
        return code
    first = fence.content.splitlines()[0].removeprefix("$ ")
    return f"<details><summary><code>{escape(first)}</code></summary>{code}</details>\n"


def _inline(latex: str) -> str:
    """A formula inside a line; browsers do not break it, so a long one scrolls."""
    long = len(latex) > LONGEST_ON_A_PHONE
    return f'<span class="scroll">{mathml(latex)}</span>' if long else mathml(latex)


def _html(content: str) -> Token:
    return Token("html_block", "", 0, content=content)


def _with_next(tokens: Sequence[Token]) -> Iterable[tuple[Token, Token]]:
    return zip(tokens, [*tokens[1:], tokens[-1]], strict=True)


def _without_title(tokens: Sequence[Token]) -> Sequence[Token]:
    """All after the first heading, where the document begins with one."""
    if tokens and tokens[0].type == "heading_open":
        return tokens[3:]
    return tokens
