"""A Sphinx extension: this project's docstrings as pages with formulas, lists of parameters and tables.

Docstrings are written to be read in a terminal: a formula is an indented line of plain text, such as
``e^(eps - eps0)``, and the sections Parameters, Returns and Raises hold plain sentences.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.ext import autosummary
from sphinx.util.docutils import SphinxDirective

GREEK = {
    "alpha",
    "beta",
    "gamma",
    "delta",
    "theta",
    "kappa",
    "lambda",
    "mu",
    "pi",
    "sigma",
    "tau",
    "phi",
    "Phi",
}
SYMBOLS = {
    **{name: rf"\{name} " for name in (*GREEK, "exp", "log", "max", "min", "sum", "int", "cos", "sinh")},
    "eps": r"\epsilon ",
    "eps0": r"\epsilon_0 ",
    "inf": r"\infty ",
    "<=": r"\le ",
    ">=": r"\ge ",
    "||": r"\parallel ",
    "+-": r"\pm ",
    "~": r"\sim ",
    "*": r"\cdot ",
    "...": r"\dots ",
    "\u2026": r"\dots ",
}
TOKEN = re.compile(
    r"(?P<script>[\^_])(?P<sign>-?)(?P<open>[({]?)"  # what is raised or lowered
    r"|(?P<root>sqrt\()"
    r"|(?P<name>[A-Za-z]+-[A-Z]+|[A-Za-z]+\d*)"
    r"|(?P<gap> {2,})"
    r"|(?P<other><=|>=|\|\||\+-|\.\.\.|.)",
    re.DOTALL,
)
RAISED = re.compile(r"[A-Za-z0-9]+|\+")  # without brackets
POWER = re.compile(r"(?<=[\w)])\^(\((?:[^()]|\([^()]*\))*\)|-?\w+(?:[.,]\d+)*)")
HEADING = re.compile(r"(Parameters|Returns|Raises)\n-+\n")
MARKUP = re.compile(r"(``.*?``)|\||(?<=\bfile):")  # that docstrings do not mean
MATCHING = {"(": ")", "{": "}"}


def latex(text: str) -> str:
    r"""A formula of a docstring as LaTeX: ``e^(eps - eps0)`` becomes ``e^{\epsilon - \epsilon_0}``."""
    result, place = "", 0
    while found := TOKEN.match(text, place):
        place = found.end()
        if found["script"]:
            if found["open"]:
                inner, place = _inside(text, place, found["open"])
            elif raised := RAISED.match(text, place):
                inner, place = raised[0], raised.end()
            else:
                inner = ""
            result += f"{found['script']}{{{found['sign']}{latex(inner)}}}"
        elif found["root"]:
            inner, place = _inside(text, place, "(")
            result += rf"\sqrt{{{latex(inner)}}}"
        elif found["gap"]:
            result += r"\quad "
        else:
            result += _symbol(found[0])
    # Words that follow each other are one text, with the spaces around it.
    return re.sub(r"( ?)(\\text\{[^{}]*\}(?: \\text\{[^{}]*\})*)( ?)", _join, result)


def _symbol(token: str) -> str:
    if token in SYMBOLS:
        return SYMBOLS[token]
    if numbered := re.fullmatch(r"([A-Za-z])(\d+)", token):
        return f"{numbered[1]}_{{{numbered[2]}}}"
    return rf"\text{{{token}}}" if re.match(r"[A-Za-z]{2}|[A-Za-z]-", token) else token


def _join(found: re.Match[str]) -> str:
    words = " ".join(re.findall(r"\{([^{}]*)\}", found[2]))
    return rf"\text{{{found[1]}{words}{found[3]}}}"


def _inside(text: str, start: int, opening: str) -> tuple[str, int]:
    """The text up to the bracket that closes ``opening``, and the place behind that bracket."""
    depth = 1
    for place in range(start, len(text)):
        depth += {opening: 1, MATCHING[opening]: -1}.get(text[place], 0)
        if depth == 0:
            return text[start:place], place + 1
    raise ValueError(f"a bracket is not closed: {text}")


def set_formulas(app: Sphinx, doctree: nodes.document) -> None:
    """Indented lines of a docstring become formulas, one for each line; elsewhere powers are raised."""
    if "/api/" not in app.env.docname:
        return
    for quote in list(doctree.findall(nodes.block_quote)):
        lines = [line.strip() for line in quote.astext().splitlines() if line.strip()]
        quote.replace_self([nodes.math_block("", latex(line)) for line in lines])
    for text in list(doctree.findall(nodes.Text)):
        if POWER.search(text) and isinstance(text.parent, nodes.paragraph):
            text.parent.replace(text, _with_powers(text))


def _with_powers(text: str) -> list[nodes.Node]:
    result: list[nodes.Node] = []
    for place, piece in enumerate(POWER.split(text)):
        if place % 2:
            exponent = re.sub(r"^\((.*)\)$", r"\1", piece)
            result.append(nodes.superscript("", "", *_with_powers(exponent)))
        else:
            result.append(nodes.Text(piece))
    return result


def set_sections(*arguments: Any) -> None:
    """Parameters, Returns and Raises become fields; |x| is no substitution and "file:..." no address."""
    *_, lines = arguments
    before, *parts = HEADING.split("\n".join(lines))
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        body = "\n".join(_items(text)) if title == "Parameters" else text.strip()
        before += f":{title}:\n" + "".join(f"    {line}\n" for line in body.splitlines())
    lines[:] = [MARKUP.sub(lambda found: found[1] or rf"\{found[0]}", line) for line in before.splitlines()]


def _items(text: str) -> Iterator[str]:
    """Lines ``n, k : what they are`` as the lines of a list."""
    for line in text.strip().splitlines():
        names, separator, meaning = line.partition(" : ")
        if separator and not line.startswith(" "):
            yield f"* {', '.join(f'``{name}``' for name in names.split(', '))}: {meaning}"
        else:
            yield f"  {line.strip()}"


class Modules(SphinxDirective):
    """``.. modules:: package module ...``: a table of what they contain, then every module.

    The content names modules of the package that come first. The table lists functions and classes, or with
    ``:by-module:`` modules.
    """

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"by-module": directives.flag}

    def run(self) -> list[nodes.Node]:
        names = [name for argument in self.arguments[0].split() for name in _modules(argument)]
        first = [f"{self.arguments[0]}.{line}" for line in self.content]
        names = [*first, *(name for name in names if name not in first)]
        rows = names if "by-module" in self.options else [row for name in names for row in _members(name)]
        common = names[0].rpartition(".")[0]
        table = "".join(f"   {row.removeprefix(f'{common}.')}\n" for row in rows)
        text = f".. currentmodule:: {common}\n\n.. autosummary::\n   :nosignatures:\n\n{table}\n"
        text += "".join(f"{name}\n{'-' * len(name)}\n\n.. automodule:: {name}\n\n" for name in names)
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _modules(name: str) -> list[str]:
    module = importlib.import_module(name)
    if not hasattr(module, "__path__"):
        return [name]
    return [found.name for found in pkgutil.walk_packages(module.__path__, f"{name}.") if not found.ispkg]


def _members(name: str) -> list[str]:
    """The public functions and classes of a module, in the order of its source."""
    members = vars(importlib.import_module(name)).items()
    return [
        f"{name}.{key}"
        for key, value in members
        if not key.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ == name
    ]


def setup(app: Sphinx) -> dict[str, bool]:
    autosummary.WELL_KNOWN_ABBREVIATIONS += ("eq.", "eqs.")  # a table's sentence does not end there
    app.add_directive("modules", Modules)
    app.connect("autodoc-process-docstring", set_sections)
    app.connect("doctree-read", set_formulas)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
