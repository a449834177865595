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

    ``verdicts``: verdicts.csv, ``parameters``: data/published/parameters.csv, every column text; ``surface``
    and ``synthetic``: the config's delta_surface and datasets.synthetic (empty if there is none).
    """
    rows = {str(item): part for item, part in verdicts.groupby("item")}
    tables = {item: rows[item][TIDY] for item in ("Table II", "Table 1", "Table IV", "Table V", "Table VI")}
    tables["Table III"] = parameters_table(rows["Table IV"], parameters, surface, synthetic)
    return {item.replace("Table ", "table_"): table for item, table in tables.items()}


def parameters_table(
    table_iv: pd.DataFrame, printed: pd.DataFrame, surface: Mapping[str, Any], synthetic: Mapping[str, Any]
) -> pd.DataFrame:
    """Table III: what is printed; what Table IV, Figure 1 and the synthetic trials use."""
    parts = [synthetic.get(name) or {} for name in ("individual", "tv")]
    budgets = [budget for part in parts for budget in part.get("budgets", [])]
    trials = {
        "eps": _series(budget["eps"] for budget in budgets),
        "eps0": _series(budget["eps0"] for budget in budgets),
        "n": _series(n for part in parts for n in part.get("n", [])),
        "x0": _series(parts[0].get("cells", [])),
        "k": str(synthetic.get("cells", "")),
    }
    names = printed["parameter"]
    if unknown := [name for name in names if name not in trials]:
        raise ValueError(f"parameter must be one of {', '.join(trials)}; got {unknown[0]!r}")
    return pd.DataFrame(
        {
            "parameter": names,
            "printed": printed["printed"],
            "Table IV": [_series(float(text) for text in table_iv[name] if text) for name in names],
            "Figure 1": [_range(surface.get(name, "")) for name in names],
            "synthetic trials": names.map(trials),
            "source": printed["source"],
        }
    )


def _series(values: Iterable[float | str]) -> str:
    """Distinct values in ascending order ("all" last), with commas."""
    ordered = sorted(set(values), key=lambda value: (isinstance(value, str), value))
    return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in ordered)


def _range(value: Mapping[str, float] | float | str) -> str:
    """A range of the config in words; a number as it is."""
    return "{start} to {stop}, {steps} steps".format_map(value) if isinstance(value, Mapping) else str(value)


if __name__ == "__main__":
    with job() as snakemake:
        files, params = snakemake.input, snakemake.params
        verdicts, parameters = (read_verdicts(file) for file in (files.verdicts, files.parameters))
        for name, rows in paper_tables(verdicts, parameters, params.surface, params.synthetic).items():
            write_csv(rows, snakemake.output[name])
