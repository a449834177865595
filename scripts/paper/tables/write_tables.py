"""The paper's tables, each as a tidy frame: printed, reproduced and exact values with their verdicts."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from scripts.paper.values.verdict_counts import read_verdicts
from scripts.shared.job import job, write_csv

TIDY = [
    "item", "quantity", "n", "k", "eps0", "eps", "count", "x0", "dataset", "mechanism",
    "printed", "reproduced", "exact", "verdict", "quantile", "low", "high", "source",
]  # fmt: skip


def paper_tables(
    verdicts: pd.DataFrame,
    parameters: pd.DataFrame,
    surface: Mapping[str, Any],
    synthetic: Mapping[str, Any],
) -> dict[str, pd.DataFrame]:
    """All six tables, by the name of their files (table_II and so on).

    ``verdicts`` is verdicts.csv, and ``parameters`` data/published/parameters.csv, every column text.
    ``surface`` and ``synthetic`` are the config's delta_surface and datasets.synthetic (empty if there is
    none).
    """
    rows_of_item = verdicts.groupby("item")
    tables = {}
    for number in ("II", "1", "IV", "V", "VI"):
        tables[f"table_{number}"] = rows_of_item.get_group(f"Table {number}")[TIDY]
    tables["table_III"] = parameters_table(tables["table_IV"], parameters, surface, synthetic)
    return tables


def parameters_table(
    table_iv: pd.DataFrame,
    printed: pd.DataFrame,
    surface: Mapping[str, Any],
    synthetic: Mapping[str, Any],
) -> pd.DataFrame:
    """Table III: of every parameter what is printed, and what Table IV, Figure 1 and the trials use."""
    trials = _values_of_trials(synthetic)
    rows = []
    for row in printed.to_dict("records"):
        name = row["parameter"]
        if name not in trials:
            raise ValueError(f"parameter must be one of {', '.join(trials)}; got {name!r}")
        rows.append(
            {
                "parameter": name,
                "printed": row["printed"],
                "Table IV": _series(float(text) for text in table_iv[name] if text),
                "Figure 1": _range(surface.get(name, "")),
                "synthetic trials": _series(trials[name]),
                "source": row["source"],
            }
        )
    return pd.DataFrame(rows)


def _values_of_trials(synthetic: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The values of every parameter in the trials of the synthetic dataset, as the config has them."""
    values: dict[str, list[Any]] = {"eps": [], "eps0": [], "n": [], "x0": [], "k": []}
    if "cells" in synthetic:
        values["k"].append(synthetic["cells"])
    for name in ("individual", "tv"):
        experiment = synthetic.get(name)
        if not experiment:
            continue
        values["n"] += experiment["n"]
        values["x0"] += experiment.get("cells", [])  # of individual errors alone
        for budget in experiment["budgets"]:
            values["eps"].append(budget["eps"])
            values["eps0"].append(budget["eps0"])
    return values


def _series(values: Iterable[float | str]) -> str:
    """Distinct values in ascending order ("all" last), with commas."""
    different = set(values)
    numbers = sorted(value for value in different if not isinstance(value, str))
    texts = [f"{number:g}" if isinstance(number, float) else str(number) for number in numbers]
    if "all" in different:
        texts.append("all")
    return ", ".join(texts)


def _range(value: Mapping[str, float] | float | str) -> str:
    """A range of the config in words, and a number as it is."""
    if isinstance(value, Mapping):
        return "{start} to {stop}, {steps} steps".format_map(value)
    return str(value)


if __name__ == "__main__":
    with job() as snakemake:
        tables = paper_tables(
            read_verdicts(snakemake.input.verdicts),
            read_verdicts(snakemake.input.parameters),
            snakemake.params.surface,
            snakemake.params.synthetic,
        )
        for name, table in tables.items():
            write_csv(table, snakemake.output[name])
