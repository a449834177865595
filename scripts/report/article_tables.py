"""The article's tables as texts: the paper's own tables beside ours, what was run, and what fails.

Printed and computed deltas go below the smallest float (1e-308), so they stay decimal texts.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import pandas as pd

from scripts.beyond.statements.claim_counts import counted_claims
from scripts.beyond.statements.verdict_rules import FAILS
from scripts.paper.values.verdict_counts import GOOD
from scripts.report.write_report import in_paper_notation
from scripts.shared.histograms import grid_shape
from scripts.shared.printed import printed_to_decimal
from tightshuffle.number_text import span

MISSED = "†"  # behind a printed value that is not reproduced
COLUMNS = {  # the columns of each printed table that tell its values apart
    "Table II": ["n", "eps0", "eps", "mechanism"],
    "Table 1": ["eps", "mechanism"],
    "Table IV": ["n", "k", "eps0", "eps"],
    "Table V": ["n", "x0"],
    "Table VI": ["dataset", "x0"],
    "text": ["n", "mechanism"],
    "data": ["dataset"],
}
NAMES = {  # of bounds, as a column has room for them
    "erlingsson": "Erlingsson", "balle": "Balle", "feldman": "Feldman", "koskela": "Koskela",
    "this paper": "Theorem 1", "gaussian": "Gaussian",
}  # fmt: skip
# Sections of a dataset: trials of the total variation error, one run for heatmaps, trials of single cells.
EXPERIMENTS = ("tv", "estimates", "individual")
PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
PROGRAMS = ("numpy", "scipy", "pandas", "diffprivlib", "snakemake")

# The parts of a table that stand side by side, each a dict with a title and rows of texts.
Parts = list[dict[str, Any]]


def printed_tables(verdicts: pd.DataFrame, titles: Mapping[str, str]) -> dict[str, Parts]:
    """The paper's tables of values for the article: name of the table -> its parts, with rows of texts.

    A part is a dict with a title and rows. A row is a list of texts: the parameters of a printed value (those
    in the table's `COLUMNS`), the value as it is printed, with the mark `MISSED` if we do not reproduce it,
    and our values. Of a value without randomness, our values are the one by the paper's formula (reproduced)
    and the correct one (exact). Of a random value they are the median of our repetitions (reproduced), and
    the ends of the interval in which the printed value should be (low and high). A printed zero is left out
    if both of our values are zero, too, and so is a value that its table repeats.

    ``verdicts`` has a row per printed value, with texts in all columns: the parameters, item (the table),
    kind, printed, verdict, reproduced, exact, low and high. In rows that print a bound of earlier work, exact
    is this bound. ``titles`` has the title of each dataset.
    """
    names = {**NAMES, **titles}  # of mechanisms and datasets, as the table shows them
    tables: dict[str, Parts] = {}
    for item, columns in COLUMNS.items():
        rows = verdicts[(verdicts["item"] == item) & ~_zero_everywhere(verdicts)]
        rows = rows.drop_duplicates([*columns, "mechanism", "printed"])
        tables[item] = []
        for title, part in _titled_parts(rows, columns, names):
            texts = [_row_of_texts(row, columns, names) for row in part.to_dict("records")]
            tables[item].append({"title": title, "rows": texts})
    return tables


def _titled_parts(
    rows: pd.DataFrame, columns: Sequence[str], names: Mapping[str, str]
) -> list[tuple[str, pd.DataFrame]]:
    """The parts of a table of printed values, which stand side by side, each as (title, rows).

    If all values are random and no column has their mechanism, there is one part per mechanism, with its name
    from ``names`` as title. Any other table is cut in the middle into two parts without titles.
    """
    if "mechanism" in columns or not rows["kind"].eq("random").all():
        middle = (len(rows) + 1) // 2
        return [("", rows.iloc[:middle]), ("", rows.iloc[middle:])]

    ordered = rows.sort_values(columns[0], kind="stable")
    by_mechanism = ordered.groupby("mechanism", sort=False)
    return [(names.get(str(name), str(name)), trials) for name, trials in by_mechanism]


def number_of_zeros(verdicts: pd.DataFrame) -> int:
    """How many printed values are zero, and zero by the paper's formula, and exactly zero."""
    return int(_zero_everywhere(verdicts).sum())


def _zero_everywhere(verdicts: pd.DataFrame) -> "pd.Series[bool]":
    """For each printed value whether it is zero as printed, by the paper's formula, and exactly."""
    zero = verdicts["printed"].map(printed_to_decimal) == 0
    for name in ("reproduced", "exact"):
        zero &= verdicts[name] == "0"
    return zero


def _row_of_texts(
    row: Mapping[Any, str], columns: Sequence[str], names: Mapping[str, str]
) -> list[str]:
    """One row of a table of printed values, as texts: parameters, the printed value, and our values.

    Our values are written in the notation of the printed one. Of a random value they are the median of our
    repetitions (reproduced) and the ends of the interval in which the printed value should be (low and high).
    Of any other value they are the one by the paper's formula (reproduced) and the correct one (exact). The
    mark `MISSED` stands behind the printed value if its verdict contradicts the paper.

    ``row`` has the texts of one printed value by column. ``columns`` are the columns of its parameters. A
    text that is a key of ``names``, such as a dataset, is replaced by what the table shows for it.
    """
    printed = row["printed"]
    # GOOD are the verdicts that do not contradict the paper.
    mark = "" if row["verdict"] in GOOD else MISSED
    # Our columns, and how many significant digits are worth showing: fewer for medians of random values.
    ours, digits = ["reproduced", "exact"], 4
    if row["kind"] == "random":
        ours, digits = ["reproduced", "low", "high"], 3

    parameters = [names.get(row[name], row[name]) for name in columns]
    if columns[0] == "n":
        parameters[0] = f"{int(parameters[0]):,}"
    our_values = [in_paper_notation(row[name], printed, digits) for name in ours]
    return [*parameters, printed + mark, *our_values]


def failing_statements(claims: pd.DataFrame) -> list[dict[str, str]]:
    """The paper's statements that fail, of those that count: what, where, and why on each reading."""
    counted = counted_claims(claims)
    failing = counted[counted["verdict"] == FAILS]
    shown = failing[["claim", "where", "statistic_published", "statistic_exact"]]
    named = shown.set_axis(["claim", "where", "published", "exact"], axis=1)
    return [{str(name): text for name, text in row.items()} for row in named.to_dict("records")]


def methods_as_texts(
    datasets: Mapping[str, Mapping[str, Any]], histograms: Mapping[str, pd.DataFrame]
) -> dict[str, Any]:
    """What was run, as texts for the article's section on methods: a dict with four lists.

    - runs has a row for each experiment on a dataset: the dataset's title, number of cells and number of
      users, the figure or table of the paper, the experiment's eps0, its n, and its repetitions.
    - drawn has a dict for each synthetic dataset: the distribution of its values, and its cells.
    - cities has a dict for each city: its title, and the rows and columns of its grid.
    - programs has the names and versions of Python and of the libraries that compute.

    ``datasets`` are the paper's datasets: name -> section of the configuration. Its kind is "normal" for a
    synthetic dataset and "gowalla" for a city. ``histograms`` has the histogram of each dataset, with a row
    per cell and the column count, the users in the cell.
    """
    runs = []
    drawn = []
    cities = []
    for name, dataset in datasets.items():
        histogram = histograms[name]
        size = [f"{len(histogram):,}", f"{histogram['count'].sum():,}"]
        for experiment in EXPERIMENTS:
            if dataset.get(experiment):
                runs.append([dataset["title"], *size, *_experiment_as_texts(dataset, experiment)])

        if dataset["kind"] == "normal":
            drawn.append(_distribution_as_texts(dataset))
        if dataset["kind"] == "gowalla":
            rows, columns = grid_shape(histogram)
            cities.append({"title": dataset["title"], "rows": str(rows), "columns": str(columns)})

    programs = [PYTHON, *(f"{name} {version(name)}" for name in PROGRAMS)]
    return {"runs": runs, "drawn": drawn, "cities": cities, "programs": programs}


def _distribution_as_texts(dataset: Mapping[str, Any]) -> dict[str, str]:
    """How the values of a synthetic dataset are distributed and cut into cells, as texts.

    ``dataset`` is its section of the configuration. The key reading has the spread, and whether this number
    is read as a standard deviation or as a variance.
    """
    return {
        "title": dataset["title"],
        "reading": f"{dataset['spread_is']} {dataset['spread']:g}",
        "range": span(dataset["range"], "{:g}".format).replace("-", "−"),
        "cells": str(dataset["cells"]),
        "population": f"{dataset['population']:,}",
    }


def _experiment_as_texts(dataset: Mapping[str, Any], experiment: str) -> list[str]:
    """Four texts on an experiment: its figure or table in the paper, its eps0s, its n, and its repetitions.

    ``experiment`` is "tv" (trials of the total variation error), "estimates" (one run, shown as heatmaps) or
    "individual" (trials of the errors of single cells, in Table V of the paper for the synthetic dataset and
    in Table VI for the cities). ``dataset`` is the dataset's section of the configuration. Its key figures
    has the figures of the first two, such as "fig6". Repetitions are those at each eps0 and n.
    """
    settings = dataset[experiment]
    if experiment == "individual":
        shows = "Table V" if dataset["kind"] == "normal" else "Table VI"
    else:
        # For a dataset without such a figure in the paper, the text is only "Figure".
        number = (dataset.get("figures", {}).get(experiment) or "").removeprefix("fig")
        shows = f"Figure {number}".strip()
    budgets = ", ".join(f"{budget['eps0']:g}" for budget in settings["budgets"])
    return [shows, budgets, _sizes_in_words(settings["n"]), f"{settings.get('repetitions', 1):,}"]


def _sizes_in_words(n: str | int | Iterable[str | int]) -> str:
    """The numbers of users in words: '1,000', 'all', or '500 to 10,000 (5)' for five of them.

    ``n`` is one or several of them, a number or "all". Of several, the smallest and the largest number are
    written, and how many there are, "all" included.
    """
    sizes = [n] if isinstance(n, (str, int)) else list(n)
    numbers = [size for size in sizes if isinstance(size, int)]
    if not numbers:
        return "all"
    return f"{span(numbers, '{:,}'.format)} ({len(sizes)})" if len(sizes) > 1 else f"{numbers[0]:,}"
