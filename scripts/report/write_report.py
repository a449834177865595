"""The report: its pages, and the words, numbers and tables that they show.

Printed and computed deltas go below the smallest float (1e-308), so they stay decimal texts.
"""

import json
import posixpath
import re
import shlex
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import pandas as pd
from markupsafe import Markup, escape

from scripts.beyond.statements.claim_counts import counted_claims
from scripts.beyond.statements.verdict_rules import CLAIM_VERDICTS
from scripts.paper.values.judgement import to_text
from scripts.paper.values.verdict_counts import GOOD, log10_gap, read_verdicts
from scripts.report.markdown_page import render_markdown
from scripts.report.sections import FPS, SECTIONS
from scripts.shared.job import job, write_bytes
from scripts.shared.printed import DELTA_KEY
from scripts.shared.wording import typeset, with_powers
from tightshuffle.number_text import from_log10, plain

SYMBOLS = {
    "delta": "<i>δ</i>", "eps": "<i>ε</i>", "eps0": "<i>ε</i><sub>0</sub>", "k": "<i>k</i>", "n": "<i>n</i>",
    "n_x0": "<i>n</i><sub><i>x</i>₀</sub>", "x0": "<i>x</i><sub>0</sub>",
}  # fmt: skip
TABLES = ("verdicts", "claim_verdicts", "parameters", "cited_bounds")  # inputs of the page
# The columns with the parameters of a printed value.
PARAMETERS = ["quantity", "dataset", "mechanism", "n", "k", "eps0", "eps", "count", "x0"]
# The parameters that tell the small tables of an item apart. Any other item is one table.
SMALL_TABLES_BY = {
    "Table II": ["mechanism", "n"],
    "Table 1": ["mechanism"],
    "Table IV": ["source", "n", "k", "eps0"],  # varying eps0, n or k
    "Table V": ["mechanism", "n"],
    "Table VI": ["dataset", "mechanism"],
}
PAGES = {  # file -> its name in the navigation
    "index.html": "Report",
    "statements.html": "Statements",
    "companions.html": "Companion papers",
    "errata.html": "Errata",
}
HEADLINES = {  # number of the paper's figure -> the id of the statement that stands beside it
    1: "figure-1-caption",
    2: "figure-2-slightly",
    4: "figures-4-5-comparable",
    5: "figures-4-5-comparable",
    6: "figure-6-corner-close",
    7: "figure-7-indistinguishable",
}
AGAIN = Markup(' <span class="again">again: <code>{}</code></span>')


class Links(NamedTuple):
    """How the pages name files and commands of this run."""

    results: str  # the folder of results
    configfiles: Sequence[str]  # of settings of your own

    def placed(self, path: str) -> str:
        """A path from the project's folder, where "results/" stands for the folder of this run."""
        return re.sub("^results/", f"{self.results}/", path)

    def address(self, path: str) -> str:
        """The link from a page to a file."""
        return posixpath.relpath(self.placed(path), f"{self.results}/report")

    def file(self, path: str) -> Markup:
        """A file's name that leads to it."""
        return Markup('<a href="{}"><code>{}</code></a>').format(
            self.address(path), self.placed(path)
        )

    def again(self, target: str) -> Markup:
        """The command that makes a target or a file again."""
        command = ["snakemake"]
        if self.configfiles:
            command += ["--configfile", *self.configfiles, "--"]
        return AGAIN.format(f"{shlex.join(command)} {self.placed(target)}")


def page_values(
    tables: Mapping[str, pd.DataFrame],
    found: Mapping[str, Any],
    figures: Sequence[dict[str, Any]],
    settings: Mapping[str, Any],
    errata: str,
) -> dict[str, Any]:
    """Everything that the templates of the report's pages read, by the names that they use.

    Parameters
    ----------
    tables: the tables of results/ by name, with every column as text: verdicts (on the paper's printed
        values), claim_verdicts (on its statements), cited_bounds (log10 delta by bounds of the literature)
        and parameters (the paper's Table III)
    found: the findings, which are the numbers that texts state: topic -> its numbers, or a dict with the key
        not_computed
    figures: what the page says of each figure: its name, section, number, title, caption and so on
    settings: the settings of the run, among them results (the folder of the results) and configfiles (your
        own files of settings)
    errata: the text of docs/errata.md
    """
    # links gives the address of a file, and the command that makes a result again.
    links = Links(settings["results"], settings["configfiles"])
    statements = _statement_rows(tables["claim_verdicts"])
    # Of several versions of one statement, only one counts.
    counting = [row for row in statements if row["counts"]]
    # Printed deltas of earlier work get the value of the bound that the paper names, as their exact value.
    values = with_cited_bounds(tables["verdicts"], tables["cited_bounds"])
    notes = [note for note in values["note"].unique() if note]
    items = [
        _printed_item(str(name), rows, notes) for name, rows in values.groupby("item", sort=False)
    ]

    def address_of_link(link: str) -> str:  # in the errata, which are in docs/
        return links.address(posixpath.normpath(f"docs/{link}"))

    text, sections = render_markdown(errata, address_of_link)
    return {
        "pages": PAGES,
        "sections": SECTIONS,
        "settings": settings,
        "found": _computed_findings(found),
        "items": items,
        "notes": notes,
        "good": GOOD,
        "parameters": tables["parameters"].to_dict("records"),
        "statements": statements,
        "by_verdict": _statements_by_verdict(statements),
        "figures": [figure | statements_about(figure, counting) for figure in figures],
        "errata": {"text": text, "sections": sections},
        "address": links.address,
        "file": links.file,
        "again": links.again,
        "percent": percent,
    }


def _computed_findings(found: Mapping[str, Any]) -> dict[str, Any]:
    """The findings by topic, with None for a topic that was not computed."""
    return {
        topic: None if "not_computed" in numbers else numbers for topic, numbers in found.items()
    }


def _statement_rows(claims: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """The paper's statements with our verdicts, each as a dict of its columns.

    The new key counts says whether a statement counts: of several versions of one statement, only one does.
    """
    counted = claims.index if claims.empty else counted_claims(claims).index
    return claims.assign(counts=claims.index.isin(counted)).to_dict("records")


def percent(shares: Iterable[float]) -> str:
    """The shares, numbers in percent, in words: '5 %', or '5 % or 10 %'."""
    return " or ".join(f"{share:g} %" for share in shares)


def with_cited_bounds(verdicts: pd.DataFrame, cited_bounds: pd.DataFrame) -> pd.DataFrame:
    """The verdicts on printed values, with bounds of the literature filled in.

    The paper prints deltas in columns that carry the names of earlier bounds. In the rows of ``verdicts`` for
    them, ``exact`` becomes what the named bound really gives, from ``cited_bounds`` (the column cited, log10
    delta). All columns of both tables are text.
    """
    log10 = cited_bounds.set_index(DELTA_KEY)["cited"]
    exact = {key: to_text(from_log10(float(text))) for key, text in log10.items() if text}
    # A key is what tells printed deltas apart.
    keys = zip(*(verdicts[name] for name in DELTA_KEY), strict=True)
    filled = [exact.get(key, value) for key, value in zip(keys, verdicts["exact"], strict=True)]
    return verdicts.assign(exact=filled)


def page_figure(row: Mapping[str, Any], name: str, caption: str) -> dict[str, Any]:
    """What the page says of a figure, by the names that the template uses.

    These are the name of its files, its section of the page, its number in the paper on arXiv (0 for a figure
    of our own), label (the number in words), title, alt (the title and the caption's first sentence, for
    readers who do not see the figure), caption (a list of paragraphs) and target, which is what to ask
    Snakemake for to make the figure again.

    ``row`` has the figure's section, title and number, and ``name`` is that of its files. ``caption`` is a
    text with empty lines between its paragraphs. Raises ValueError, with the file's name, if it is empty.
    """
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", caption.strip())]
    if not any(paragraphs):
        raise ValueError(f"{name}.txt: the caption is empty; draw the figure again")
    number, section = row["number"], row["section"]
    first_sentence = re.split(r"(?<=[.]) ", paragraphs[0])[0]
    # The paper's own figures have short targets, such as fig6. For other figures the target is the file.
    target = f"results/figures/{name}.png"
    if number and section == "figures":
        target = f"fig{number}"
    return {
        "name": name,
        "section": section,
        "number": number,
        "label": _number_in_words(number),
        "title": row["title"],
        "alt": f"{row['title']}. {first_sentence}",
        "caption": paragraphs,
        "target": target,
    }


def _number_in_words(number: int) -> str:
    """'Figure 6 / 3': a figure's number on arXiv, and at FPS where it has one; '' for 0, one of our own."""
    if not number:
        return ""
    if number in FPS:
        return f"Figure {number} / {FPS[number]}"
    return f"Figure {number}"


def statements_about(
    figure: Mapping[str, Any], statements: Sequence[Mapping[Any, Any]]
) -> dict[str, Any]:
    """What the paper states about one of its figures: a dict with three keys.

    - statements: those of ``statements`` that are about the figure
    - verdicts: our verdict, such as "holds" -> how many of these statements have it
    - headline: that of these statements which stands beside the figure (`HEADLINES` chooses it), or None

    A statement is a dict with the keys id, about (such as "Figures 6, 7") and verdict. ``figure`` has the
    figure's section of the page and its number in the paper. A figure of our own is in another section than
    "figures", and has no statements.
    """
    about = []
    if figure["section"] == "figures":
        about = [row for row in statements if _is_about(row["about"], figure["number"])]
    counts = Counter(row["verdict"] for row in about)
    headlines = [row for row in about if row["id"] == HEADLINES.get(figure["number"])]
    return {
        "statements": about,
        "headline": headlines[0] if headlines else None,
        "verdicts": {verdict: counts[verdict] for verdict in CLAIM_VERDICTS if counts[verdict]},
    }


def _is_about(about: str, number: int) -> bool:
    """Whether a statement is about the paper's figure with this ``number`` on arXiv.

    ``about`` is a text such as "Figures 6, 7" with numbers on arXiv, or "Figure 3 (short)" with one at FPS.
    """
    figures = re.search(r"Figures? ([\d, ]+)(\(short\))?", about)
    if figures is None:
        return False
    named = re.findall(r"\d+", figures[1])
    if figures[2]:
        return str(FPS.get(number)) in named
    return str(number) in named


def _statements_by_verdict(
    statements: Sequence[Mapping[Any, Any]],
) -> dict[str, list[Mapping[Any, Any]]]:
    """The statements by verdict, in the order of `CLAIM_VERDICTS`, without verdicts that none has.

    Among those of a verdict, statements that do not count come last.
    """
    by_verdict = {}
    for verdict in CLAIM_VERDICTS:
        rows = [row for row in statements if row["verdict"] == verdict]
        if rows:
            by_verdict[verdict] = sorted(rows, key=lambda row: not row["counts"])
    return by_verdict


def _printed_item(name: str, rows: pd.DataFrame, notes: Sequence[str]) -> dict[str, Any]:
    """What the page shows of the printed values of one item, by the names that the template uses.

    An item is a table of the paper such as "Table II", or "text" or "data" for values outside of tables. The
    names are: name (of the item), anchor (of its place on the page), target (the file with its values),
    shared (the parameters that all values have in common), rows (all values), random (whether some values are
    random), sources (where the paper prints them), and tables (the small tables into which rows are cut).

    ``rows`` has one printed value per row, with our verdict, all columns text. Two columns are added. orders
    is how many orders of magnitude the exact value is above the one by the paper's formula (reproduced). mark
    is the number of the value's note among all ``notes``, counted from 1.
    """
    gaps = [log10_gap(*pair) for pair in zip(rows["reproduced"], rows["exact"], strict=True)]
    numbers = {"": ""} | {note: str(number) for number, note in enumerate(notes, start=1)}
    gaps_in_words = [_gap_in_words(gap) for gap in gaps]
    rows = rows.assign(orders=gaps_in_words, mark=rows["note"].map(numbers))
    shared = _shared_parameters(rows)

    # The paper's tables have a file each.
    file = "values/verdicts.csv"
    if name in SMALL_TABLES_BY:
        file = f"tables/{name.replace('Table ', 'table_')}.csv"
    # A source may say in brackets what a single small table varies, which is left out here.
    sources = [re.sub(r" *\(varying [^()]*\)", "", source) for source in rows["source"].unique()]
    tables = rows.groupby(SMALL_TABLES_BY.get(name, ["item"]), sort=False)
    return {
        "name": name,
        "anchor": "values-" + re.sub(r"\W+", "-", name).lower(),
        "target": f"results/{file}",
        "shared": shared,
        "rows": rows.to_dict("records"),
        "random": "random" in set(rows["kind"]),
        "sources": list(dict.fromkeys(sources)),
        "tables": [_small_table(table, shared) for _, table in tables],
    }


def _small_table(rows: pd.DataFrame, shared: Collection[str]) -> dict[str, Any]:
    """A small table for the page: heading, columns and rows.

    The heading has the parameters that all its rows share, without those that the whole item shares, which
    are named in ``shared``. The columns are the parameters that differ between its rows.
    """
    parameters = _shared_parameters(rows)
    heading = {name: value for name, value in parameters.items() if name not in shared}
    columns = [name for name in PARAMETERS if rows[name].nunique() > 1]
    return {"heading": heading, "columns": columns, "rows": rows.to_dict("records")}


def _gap_in_words(gap: float | None) -> str:
    """The orders of magnitude from a published to the exact value: '+1.5', '−0.3', or a dash for None."""
    return "–" if gap is None else f"{gap:+.1f}".replace("-", "−")


def _shared_parameters(rows: pd.DataFrame) -> dict[str, str]:
    """The parameters that have the same value in all ``rows``, and this value; a blank one is none."""
    shared = {}
    for name in PARAMETERS:
        first, *others = rows[name].unique()
        if first and not others:
            shared[name] = first
    return shared


def templates_of(parts: Mapping[str, str]) -> jinja2.Environment:
    """The Jinja templates among ``parts``, the texts of all templates and style sheets by file name.

    Style sheets go into the pages as they are, every other text is escaped. A template that several pages
    share is compiled once.
    """
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(parts), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    # The names of functions in templates: {{ text | symbols }} is with_symbols(text).
    environment.filters.update(
        like=in_paper_notation, symbols=with_symbols, brief=typeset_if_number, typeset=with_powers
    )
    style = "".join(text for part, text in parts.items() if part.endswith(".css"))
    environment.globals["style"] = Markup(style)
    return environment


def render(file: str, templates: jinja2.Environment, values: Mapping[str, Any]) -> str:
    """The text of a page, such as index.html for the ``file`` of this name, by its template of ``values``.

    ``values`` are what the template reads, by name.
    """
    return templates.get_template(f"{file}.j2").render(here=file, **values)


def with_symbols(text: object) -> Markup:
    """``text`` escaped, the names of the paper's symbols as symbols, its numbers with powers of ten."""
    names = "|".join(sorted(SYMBOLS, key=len, reverse=True))
    words = with_powers(str(escape(text)))
    return Markup(re.sub(rf"\b({names})\b", lambda match: SYMBOLS[match[0]], words))


def typeset_if_number(value: float | str, digits: int = 4) -> str:
    """A number or its decimal text as `typeset` writes it: 1,000; 0.02235; 10⁻⁶. Other texts as they are."""
    try:
        return typeset(Decimal(str(value)), digits)
    except InvalidOperation:
        return str(value)


def in_paper_notation(value: str, printed: str, digits: int = 4) -> str:
    """Our ``value`` as a text in the notation of the number that the paper prints, ``printed``.

    ``value`` is decimal text, and a blank stays blank.

    - A whole number has all its digits, with commas between thousands if ``printed`` has a comma.
    - Any other number has ``digits`` significant digits. It has a power of ten, as in 1.234E-5, if
      ``printed`` has one, or if it is below 0.001.
    """
    if not value:
        return ""
    number = Decimal(value)
    if number == 0:
        return "0"
    # Only a text such as 1234 is meant as a whole number, not 1234.0 or 1.234e3.
    if number == number.to_integral_value() and "." not in value and "e" not in value.lower():
        return f"{int(number):,}" if "," in printed else str(int(number))
    if "e" in printed.lower() or abs(number) < Decimal("0.001"):
        return f"{number:.{digits - 1}E}"
    # Decimals without a power of ten, with noughts at the end.
    return plain(number, digits, noughts=True)


if __name__ == "__main__":
    with job() as snakemake:
        files, settings = snakemake.input, dict(vars(snakemake.params))
        settings["results"] = str(Path(snakemake.output[0]).parents[1])
        figures = [
            page_figure(row, Path(caption).stem, Path(caption).read_text("utf-8"))
            for row, caption in zip(settings["figures"], files.captions, strict=True)
        ]
        tables = {name: read_verdicts(files[name]) for name in TABLES}
        findings = json.loads(Path(files.findings).read_text("utf-8"))
        templates = templates_of(
            {Path(file).name: Path(file).read_text("utf-8") for file in files.parts}
        )
        errata = Path(files.errata).read_text("utf-8")
        values = page_values(tables, findings, figures, settings, errata)
        for path in snakemake.output:
            write_bytes(render(Path(path).name, templates, values).encode(), path)
