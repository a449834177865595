"""The documentation site (`make docs`): the project's Markdown files as they are, and the docstrings.

The source folder is the project's, so that links between its documents work here as they do in the
repository. Pages load nothing from the net: formulas are MathML, and the search index is a script.
"""

import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parents[1]))  # the folder of `scripts`

from scripts.report.formulas import mathml

project = "tight-shuffle"
author = "the tight-shuffle authors"
project_copyright = f"2026 {author}"
# Sphinx takes a name `version` here for its own setting, even that of an imported function.
release = metadata.version("tightshuffle")
root_doc = "docs/index"
include_patterns = [
    *["*.md", "docs/**", "config/README.md", "data/**/README.md", "results/README.md"],
    *["library/*.md", "library/docs/**"],
]
exclude_patterns = [".*", "results/[!R]*", "tests", "workflow", "library/docs/api/modules.rst"]

extensions = ["myst_parser", "sphinx.ext.apidoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
apidoc_modules = [
    {
        "path": "../library/tightshuffle",
        "destination": "library/docs/api",
        "module_first": True,
    }
]
autodoc_default_options = {"members": True, "member-order": "bysource", "ignore-module-all": True}
autodoc_typehints = "none"
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]  # as GitHub writes a displayed formula
myst_heading_anchors = 4
napoleon_google_docstring = False
napoleon_use_param = False  # names that share a description stay together
napoleon_use_ivar = True  # autodoc lists the attributes of a class, too: once is enough
napoleon_custom_sections = ["Returns", "Raises"]  # which hold sentences
default_role = "py:obj"
# A name that two classes have: which one is meant, the sentence says.
suppress_warnings = ["ref.python"]

html_theme = "furo"
html_title = "tight-shuffle"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["static"]
html_css_files = ["site.css"]


def _inline(translator: Any, node: nodes.Element) -> None:
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def _displayed(translator: Any, node: nodes.Element) -> None:
    translator.body.append(f'<div class="formula">{mathml(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def _escape_bars(*arguments: Any) -> None:
    """|x| in a docstring is an absolute value, no substitution."""
    lines = arguments[-1]
    lines[:] = [re.sub(r"(``.*?``)|\|", lambda found: found[1] or r"\|", line) for line in lines]


def _set_formulas(app: Sphinx, doctree: nodes.document) -> None:
    """An indented line of a docstring is a formula in plain text."""
    if app.env.docname.startswith("library/docs/api/"):
        for quote in list(doctree.findall(nodes.block_quote)):
            quote.replace_self(nodes.literal_block("", quote.astext(), language="none"))


def _start_page(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        page = (
            '<!doctype html><title>{}</title><meta http-equiv="refresh" content="0; url={}.html">\n'
        )
        Path(app.outdir, "index.html").write_text(page.format(project, root_doc), encoding="utf-8")


def _leave_out_badges(app: Sphinx, page: str, source: list[str]) -> None:
    """The README's badges: GitHub draws them, and our pages load nothing from the net."""
    source[0] = re.sub(r"^\[!\[.*\n", "", source[0], flags=re.MULTILINE)


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("mathml", (_inline, None), (_displayed, None))
    app.connect("autodoc-process-docstring", _escape_bars, priority=400)
    app.connect("doctree-read", _set_formulas)
    app.connect("source-read", _leave_out_badges)
    app.connect("build-finished", _start_page)
