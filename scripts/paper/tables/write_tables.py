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
    """The paper's six tables, by the names of their files: table_II, table_1, table_III, and so on.

    All but table_III have a row per printed value, with the columns `TIDY`. ``verdicts`` is verdicts.csv, and
    ``parameters`` data/published/parameters.csv, with every column as text. ``surface`` and ``synthetic`` are
    the config's sections delta_surface and datasets.synthetic, which is empty if there is none.
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
    """Table III, the paper's parameters: a row of texts for each of eps, eps0, n, x0 and k.

    The columns are

    - parameter: its name;
    - printed: its values as the paper's Table III prints them;
    - Table IV, Figure 1 and synthetic trials: the values that these use;
    - source: where the paper prints the values.

    Parameters
    ----------
    table_iv: the rows of Table IV, with a column of texts for every parameter
    printed: data/published/parameters.csv, with the columns parameter, printed and source
    surface: the config's section delta_surface, which Figure 1 uses: parameter -> a number or a range
    synthetic: the config's section datasets.synthetic, which the trials use; empty if there is none

    Raises
    ------
    ValueError: a printed parameter is none of the five
    """
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
                # Table IV has no x0: its texts of this column are blank.
                "Table IV": _list_in_words(float(text) for text in table_iv[name] if text),
                "Figure 1": _range_in_words(surface.get(name, "")),
                "synthetic trials": _list_in_words(trials[name]),
                "source": row["source"],
            }
        )
    return pd.DataFrame(rows)


def _values_of_trials(synthetic: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The values of every parameter in the trials of the synthetic dataset: parameter -> its values.

    The parameters are eps, eps0, n (users, or "all"), x0 (a cell whose individual error is computed) and k
    (cells). A value may occur several times.

    ``synthetic`` is the dataset's section of the config, or empty. Its cells is the number k. Its sections
    individual and tv, of which either may be missing, are experiments. Each of them has n (a list) and
    budgets (dicts of eps and eps0). individual also has cells, the list of the x0.
    """
    values: dict[str, list[Any]] = {"eps": [], "eps0": [], "n": [], "x0": [], "k": []}
    if "cells" in synthetic:
        values["k"].append(synthetic["cells"])
    for name in ("individual", "tv"):
        experiment = synthetic.get(name)
        if not experiment:
            continue
        values["n"] += experiment["n"]
        values["x0"] += experiment.get("cells", [])
        for budget in experiment["budgets"]:
            values["eps"].append(budget["eps"])
            values["eps0"].append(budget["eps0"])
    return values


def _list_in_words(values: Iterable[float | str]) -> str:
    """The different values, rising, with commas between them: '1, 2.5, all'. "all" is the last."""
    different = set(values)
    numbers = sorted(value for value in different if not isinstance(value, str))
    texts = [f"{number:g}" if isinstance(number, float) else str(number) for number in numbers]
    if "all" in different:
        texts.append("all")
    return ", ".join(texts)


def _range_in_words(value: Mapping[str, float] | float | str) -> str:
    """'0.1 to 3, 20 steps' for a range of the config (start, stop and steps); else the value as text."""
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
