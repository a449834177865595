"""What a Markdown document says that can be checked: its results, its examples, its links.

A number in running text (tables included) is a **result** if it has one of these forms:

    2.48e-15, 5E-3             scientific; but not a bare power of ten such as 1e-6
    0.0129, 20.75              two or more digits after the point
    3 %, 0.5 %                 a percentage
    172 of the 185             so many of so many
    20.8 orders, 2.3 times     a ratio
    10,260                     grouped digits; but not round thousands such as 100,000

unless it stands in code (`--eps 0.25`), in a link's target, or behind the name of a parameter
(n = 1,234, eps0 = 0.49, 0.95 eps0; at most two digits after the point). Other whole numbers and decimals with
one digit after the point are taken for parameters, numbers of sections and the like.
"""

import re
from typing import NamedTuple

_NUMBER = r"\d+(?:,\d{3})*(?:\.\d{1,2})?(?![\d.]*\d)"
_NAMES = r"(?:\b(?:n|k|m|eps0|eps|count|gamma|Python)|n_\{?x_?0\}?|\\v?a?r?epsilon(?:_\{?0\}?)?)"
_PARAMETER = re.compile(
    rf"{_NAMES}\$?\s*(?:=|>=|<=|<|>|≥|≤|\\ge|\\le|\bis)\s*{_NUMBER}(?:(?:,| and| or| to)\s+{_NUMBER})*"
    rf"|\b0\.\d+ eps0\b|\barXiv[: ]\d{{4}}\.\d{{5}}"
)
_RESULT = re.compile(
    r"(?<![\w.,])(?:"
    r"(?P<share>\d[\d,]* of (?:the )?\d[\d,]*(?<!,))"
    r"|(?P<scientific>\d+(?:\.\d+)?[eE][+-]?\d+)"
    r"|(?P<percent>\d+(?:\.\d+)?\s?%)"
    r"|(?P<ratio>\d+(?:\.\d+)?\s(?:orders|times))"
    r"|(?P<decimal>\d+\.\d{2,})"
    r"|(?P<grouped>\d{1,3}(?:,\d{3})+)"
    r")(?![\w])"
)
_FENCE = re.compile(r"^\s*(```|~~~)")


class Found(NamedTuple):
    """Something in a document, and the line that it stands in, from 1."""

    line: int
    text: str


class Example(NamedTuple):
    """A command of a fenced block, from ``$ ``, and the lines that follow it there ("" if there are none)."""

    line: int
    command: str
    output: str


def prose(text):
    """The lines of a document with all code and all targets of links blanked out."""
    lines, fenced, indented, blank = [], False, False, True
    for line in text.splitlines():
        fence = bool(_FENCE.match(line))
        indented = line.startswith("    ") and (indented or blank) if line.strip() else indented
        hidden = fence or fenced or indented
        fenced ^= fence
        blank = not line.strip()
        line = re.sub(r"`[^`]*`", " ` ", line)
        line = re.sub(r"\]\([^)]*\)|<https?:[^>]*>", "] ", line)
        lines.append("" if hidden else line)
    return lines


def results(text, exempt=()):
    """The results that a document states, in order, but for the sections headed by one of ``exempt``."""
    found, heading = [], ""
    for number, line in enumerate(prose(text), start=1):
        if title := re.match(r"#+ (.*)", line):
            heading = title[1].strip()
        if heading in exempt:
            continue
        for match in _RESULT.finditer(_PARAMETER.sub(" ", line)):
            token = match[0]
            power_of_ten = match["scientific"] and re.match(r"1[eE]", token)
            round_number = match["grouped"] and token.endswith(",000")
            if not power_of_ten and not round_number:
                token = token.replace("of the ", "of ")
                found.append(Found(number, re.sub(r"\s?%", " %", token)))
    return found


def examples(text):
    """The commands in a document's fenced ``console`` blocks, with the output shown."""
    found, inside, ends = [], False, None
    for number, line in enumerate(text.splitlines(), start=1):
        if _FENCE.match(line):
            inside = not inside and line.strip().endswith("console")
            ends = None
        elif inside and ends:
            last = found[-1]
            found[-1] = last._replace(command=f"{last.command}\n{line}")
            ends = None if line == ends else ends
        elif inside and line.startswith("$ "):
            found.append(Example(number, line[2:], ""))
            heredoc = re.search(r"<<'(\w+)'", line)
            ends = heredoc[1] if heredoc else None
        elif inside and found:
            last = found[-1]
            found[-1] = last._replace(output=f"{last.output}{line}\n")
    return [example._replace(output=example.output.rstrip("\n")) for example in found]


def commands(text):
    """Every line of code that starts with ``$ tightshuffle``, indented blocks included."""
    pattern = re.compile(r"^\s*\$ (tightshuffle .*)")
    lines = enumerate(text.splitlines(), start=1)
    return [Found(number, match[1]) for number, line in lines if (match := pattern.match(line))]


def links(text):
    """The targets of a document's links and pictures, but for those on the web."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        targets = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line))
        found += [Found(number, target) for target in targets if not re.match(r"\w+:", target)]
    return found


def anchors(text):
    """The names under which GitHub links to a document's headings."""
    titles = [line.lstrip("# ") for line in prose_with_code(text) if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", title.lower().replace("`", "")).replace(" ", "-") for title in titles}


def prose_with_code(text):
    """The lines of a document outside of fenced blocks."""
    fenced, lines = False, []
    for line in text.splitlines():
        fence = bool(_FENCE.match(line))
        lines.append("" if fence or fenced else line)
        fenced ^= fence
    return lines


def words(text):
    """All running text in one line, for a search."""
    return re.sub(r"\s+", " ", " ".join(prose(text))).replace("of the ", "of ")
