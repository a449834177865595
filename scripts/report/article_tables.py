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
from scripts.report.write_report import like
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
EXPERIMENTS = ("tv", "estimates", "individual")
PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
PROGRAMS = ("numpy", "scipy", "pandas", "diffprivlib", "snakemake")

# Parts of a table that stand side by side: each has a title and rows of texts.
Halves = list[dict[str, Any]]


def printed_tables(verdicts: pd.DataFrame, titles: Mapping[str, str]) -> dict[str, Halves]:
    """The paper's tables of values for the article: name of the table -> its parts, with rows of texts.

    A row has the parameters of a printed value (the table's `COLUMNS`), then the value as it is printed, with
    the mark `MISSED` if we do not reproduce it, and then our values. Of a fixed value these are the published
    and the exact one. Of a random value they are the median of our repetitions, and the ends of the interval
    in which the printed value should be. Left out are zeros on which all agree, and values that the table
    repeats.

    ``verdicts`` has a row of texts per printed value. In the rows of earlier work, ``exact`` is the bound
    that the column names. ``titles``: dataset -> its title.
    """
    names = {**NAMES, **titles}  # of mechanisms and datasets, as the table shows them
    tables: dict[str, Halves] = {}
    for item, columns in COLUMNS.items():
        rows = verdicts[(verdicts["item"] == item) & ~_zero_everywhere(verdicts)]
        rows = rows.drop_duplicates([*columns, "mechanism", "printed"])
        tables[item] = []
        for title, part in _parts(rows, columns, names):
            texts = [_row_of_texts(row, columns, names) for row in part.to_dict("records")]
            tables[item].append({"title": title, "rows": texts})
    return tables


def _parts(
    rows: pd.DataFrame, columns: Sequence[str], names: Mapping[str, str]
) -> list[tuple[str, pd.DataFrame]]:
    """A table's parts, which stand side by side, each as (title, rows).

    Random values of several mechanisms, which no column names, have one part per mechanism. Any other table
    is cut in the middle into two parts without titles.
    """
    if "mechanism" in columns or not rows["kind"].eq("random").all():
        middle = (len(rows) + 1) // 2
        return [("", rows.iloc[:middle]), ("", rows.iloc[middle:])]

    ordered = rows.sort_values(columns[0], kind="stable")
    by_mechanism = ordered.groupby("mechanism", sort=False)
    return [(names.get(str(name), str(name)), trials) for name, trials in by_mechanism]


def zeros(verdicts: pd.DataFrame) -> int:
    """How many printed values are zero on all three readings."""
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
    """A row of a printed table: its parameters, the printed value, and our values in the same notation.

    The printed value has the mark `MISSED` if its verdict contradicts the paper. ``row`` is a verdict on a
    printed value. Its parameters are in ``columns``, and ``names`` has what the table shows for a value.
    """
    printed = row["printed"]
    mark = "" if row["verdict"] in GOOD else MISSED
    ours, digits = ["reproduced", "exact"], 4
    if row["kind"] == "random":
        ours, digits = ["reproduced", "low", "high"], 3

    parameters = [names.get(row[name], row[name]) for name in columns]
    if columns[0] == "n":
        parameters[0] = f"{int(parameters[0]):,}"
    return [*parameters, printed + mark, *(like(row[name], printed, digits) for name in ours)]


def failing_statements(claims: pd.DataFrame) -> list[dict[str, str]]:
    """The paper's statements that fail, of those that count: what, where, and why on each reading."""
    counted = counted_claims(claims)
    failing = counted[counted["verdict"] == FAILS]
    shown = failing[["claim", "where", "statistic_published", "statistic_exact"]]
    named = shown.set_axis(["claim", "where", "published", "exact"], axis=1)
    return [{str(name): text for name, text in row.items()} for row in named.to_dict("records")]


def methods(
    datasets: Mapping[str, Mapping[str, Any]], histograms: Mapping[str, pd.DataFrame]
) -> dict[str, Any]:
    """What was run, as texts for the article's section on methods.

    - runs, a row for each experiment: the dataset, its cells and users, the figure or table that the
      experiment makes, its eps0, its n, and its repetitions;
    - drawn, for each synthetic dataset the distribution of its values and its cells;
    - cities, for each city its title and the rows and columns of its grid;
    - programs, the versions of what computes.

    ``datasets`` are the paper's, as the configuration has them: name -> its section. ``histograms``: dataset
    -> its histogram, with a row per cell.
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
    """How the values of a synthetic dataset are distributed and cut into cells. ``dataset`` is its config."""
    return {
        "title": dataset["title"],
        "reading": f"{dataset['spread_is']} {dataset['spread']:g}",
        "range": span(dataset["range"], "{:g}".format).replace("-", "−"),
        "cells": str(dataset["cells"]),
        "population": f"{dataset['population']:,}",
    }


def _experiment_as_texts(dataset: Mapping[str, Any], experiment: str) -> list[str]:
    """The figure or table that an experiment makes, its eps0s, its n, and the repetitions of a point.

    ``dataset`` is the dataset's section of the configuration, which has a section for each ``experiment``
    ("tv", "estimates" or "individual").
    """
    settings = dataset[experiment]
    if experiment == "individual":
        shows = "Table V" if dataset["kind"] == "normal" else "Table VI"
    else:
        number = dataset.get("figures", {}).get(experiment, "").removeprefix("fig")
        shows = f"Figure {number}".strip()
    budgets = ", ".join(f"{budget['eps0']:g}" for budget in settings["budgets"])
    return [shows, budgets, _sizes(settings["n"]), f"{settings.get('repetitions', 1):,}"]


def _sizes(n: str | int | Iterable[str | int]) -> str:
    """The numbers of users in words: '1,000', 'all', or '500 to 10,000 (5)' for five of them.

    Of several, the numbers are the ends, and "all" among them only counts.
    """
    sizes = [n] if isinstance(n, (str, int)) else list(n)
    numbers = [size for size in sizes if isinstance(size, int)]
    if not numbers:
        return "all"
    return f"{span(numbers, '{:,}'.format)} ({len(sizes)})" if len(sizes) > 1 else f"{numbers[0]:,}"
