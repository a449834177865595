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

# Parts of a table that stand side by side: ``title`` and ``rows`` of texts.
Halves = list[dict[str, Any]]


def printed_tables(verdicts: pd.DataFrame, titles: Mapping[str, str]) -> dict[str, Halves]:
    """The paper's tables by name: what it prints, and our values on both readings.

    ``verdicts``: as `with_cited_bounds` gives them; ``titles``: dataset -> its title. A row starts with the
    columns of `COLUMNS` and the printed value. Behind it stand the published and the exact reading of a
    fixed value, or the median of our repetitions and the ends of their central interval of a random one.
    `MISSED` marks what is not reproduced. Zeros that all three agree on and repeated values are left out.
    """
    names = {**NAMES, **titles}
    tables = {}
    for item, columns in COLUMNS.items():
        rows = verdicts[(verdicts["item"] == item) & ~_zeros(verdicts)]
        rows = rows.drop_duplicates([*columns, "mechanism", "printed"])
        tables[item] = [
            {
                "title": title,
                "rows": [_texts(row, columns, names) for row in half.to_dict("records")],
            }
            for title, half in _halves(rows, columns, names)
        ]
    return tables


def _halves(
    rows: pd.DataFrame, columns: Sequence[str], names: Mapping[str, str]
) -> list[tuple[str, pd.DataFrame]]:
    """A table's parts with their titles: one for each mechanism if no column names it, else two halves."""
    if "mechanism" in columns or not rows["kind"].eq("random").all():
        middle = (len(rows) + 1) // 2
        return [("", rows.iloc[:middle]), ("", rows.iloc[middle:])]

    ordered = rows.sort_values(columns[0], kind="stable")
    by_mechanism = ordered.groupby("mechanism", sort=False)
    return [(names.get(str(name), str(name)), trials) for name, trials in by_mechanism]


def zeros(verdicts: pd.DataFrame) -> int:
    """How many printed values are zero on all three readings."""
    return int(_zeros(verdicts).sum())


def _zeros(verdicts: pd.DataFrame) -> "pd.Series[bool]":
    zero = verdicts["printed"].map(printed_to_decimal) == 0
    for name in ("reproduced", "exact"):
        zero &= verdicts[name] == "0"
    return zero


def _texts(row: Mapping[Any, str], columns: Sequence[str], names: Mapping[str, str]) -> list[str]:
    """A row of a printed table, each number written the way the paper prints it."""
    printed = row["printed"]
    mark = "" if row["verdict"] in GOOD else MISSED
    ours = ("reproduced", "low", "high") if row["kind"] == "random" else ("reproduced", "exact")
    digits = 3 if row["kind"] == "random" else 4
    setting = [names.get(row[name], row[name]) for name in columns]
    if columns[0] == "n":
        setting[0] = f"{int(setting[0]):,}"
    return [*setting, printed + mark, *(like(row[name], printed, digits) for name in ours)]


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
    """What was run, for the section on methods.

    ``datasets``: the paper's, as the configuration has them; ``histograms``: dataset -> its histogram.
    ``runs``: a row of texts for each experiment; ``drawn`` and ``cities``: how their values became cells;
    ``programs``: the versions of what computes.
    """
    runs = []
    for name, dataset in datasets.items():
        counts = histograms[name]["count"]
        size = [f"{len(counts):,}", f"{counts.sum():,}"]
        for experiment in EXPERIMENTS:
            if dataset.get(experiment):
                runs.append([dataset["title"], *size, *_run(dataset, experiment)])
    drawn = [dataset for dataset in datasets.values() if dataset["kind"] == "normal"]
    cities = [name for name, dataset in datasets.items() if dataset["kind"] == "gowalla"]
    return {
        "runs": runs,
        "drawn": [_drawn(dataset) for dataset in drawn],
        "cities": [
            {"title": datasets[name]["title"], **_grid(histograms[name])} for name in cities
        ],
        "programs": [PYTHON, *(f"{name} {version(name)}" for name in PROGRAMS)],
    }


def _drawn(dataset: Mapping[str, Any]) -> dict[str, str]:
    """How synthetic values became cells."""
    return {
        "title": dataset["title"],
        "reading": f"{dataset['spread_is']} {dataset['spread']:g}",
        "range": span(dataset["range"], "{:g}".format).replace("-", "−"),
        "cells": str(dataset["cells"]),
        "population": f"{dataset['population']:,}",
    }


def _grid(histogram: pd.DataFrame) -> dict[str, str]:
    """The size of a city's grid."""
    return {f"{name}s": str(histogram[name].max() + 1) for name in ("row", "column")}


def _run(dataset: Mapping[str, Any], experiment: str) -> list[str]:
    """Which figure or table an experiment makes; its eps0, its n, and how often each point is repeated."""
    settings = dataset[experiment]
    if experiment == "individual":
        shows = "Table V" if dataset["kind"] == "normal" else "Table VI"
    else:
        number = dataset.get("figures", {}).get(experiment, "").removeprefix("fig")
        shows = f"Figure {number}".strip()
    budgets = ", ".join(f"{budget['eps0']:g}" for budget in settings["budgets"])
    return [shows, budgets, _sizes(settings["n"]), f"{settings.get('repetitions', 1):,}"]


def _sizes(n: str | int | Iterable[str | int]) -> str:
    """The numbers of users: all of them, or the smallest to the largest and how many there are."""
    sizes = [n] if isinstance(n, (str, int)) else list(n)
    numbers = [size for size in sizes if isinstance(size, int)]
    if not numbers:
        return "all"
    return f"{span(numbers, '{:,}'.format)} ({len(sizes)})" if len(sizes) > 1 else f"{numbers[0]:,}"
