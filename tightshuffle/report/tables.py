"""How a printed table becomes a tidy CSV and a Markdown file laid out like the printed one."""

import csv

import pandas as pd

from tightshuffle.pipeline.job import whole_file, write_csv
from tightshuffle.report.verdicts import like

TIDY = [
    "item", "quantity", "n", "k", "eps0", "eps", "count", "x0", "dataset", "mechanism",
    "printed", "reproduced", "exact", "verdict", "quantile", "low", "high", "source",
]  # fmt: skip
NAMES = {
    "erlingsson": "Erlingsson et al.",
    "balle": "Balle et al.",
    "feldman": "Feldman et al.",
    "koskela": "Koskela et al.",
    "this paper": "this paper",
    "gaussian": "Gaussian",
    "shuffle+INV": "shuffle+INV",
}
MARKS = {
    "exact": "=", "close": "≈", "differs": "≠", "consistent": "✓", "inconsistent": "✗", "not comparable": "?",
}  # fmt: skip


def read_rows(path):
    """A CSV file as a list of dicts of strings."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def pick(rows, item, **setting):
    """The rows of one item with the given values, in order."""
    wanted = {"item": item, **setting}
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def distinct(rows, name):
    """The values of one column, each once, in order."""
    return list(dict.fromkeys(row[name] for row in rows))


def cell(rows):
    """The text of one cell: printed · reproduced · exact, the verdict's mark; a dash where there is none."""
    if len(rows) != 1:
        raise ValueError(f"a cell of a table needs exactly one printed value; got {len(rows)}")
    row = rows[0]
    ours = [like(row["printed"], row[reading]) or "–" for reading in ("reproduced", "exact")]
    return f"**{row['printed']}** · {ours[0]} {MARKS[row['verdict']]} · {ours[1]}"


def grid(header, lines):
    """A Markdown table: ``header`` a list of texts, ``lines`` lists of texts of the same length."""
    ruled = [header, ["---"] * len(header), *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in ruled)


def write_tidy(rows, path):
    """One row per cell, the columns `TIDY`."""
    write_csv(pd.DataFrame(rows)[TIDY], path)


def write_markdown(path, title, paragraphs):
    """A title and paragraphs (texts or tables), blank lines between them."""
    with whole_file(path) as temporary:
        text = "\n\n".join([f"# {title}", *paragraphs]) + "\n"
        temporary.write_text(text, encoding="utf-8", newline="\n")
