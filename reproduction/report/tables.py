"""The paper's tables, each as a Markdown page like the printed one and as a tidy frame of its cells."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from reproduction.report.markdown import markdown_page, markdown_table
from reproduction.report.verdict_layout import like
from reproduction.verification.verdicts import TIMES
from tightshuffle.number_text import plain

Table = tuple[pd.DataFrame, str]  # the tidy rows and the Markdown page

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
    "same digits": "=", "close": "≈", "differs": "≠",
    "consistent": "✓", "inconsistent": "✗", "not comparable": "?",
}  # fmt: skip
TITLES = {
    "Table II": "Table II (long version): delta in the literature and in the paper",
    "Table 1": "Table 1 (FPS 2023): delta in the literature and in the paper",
    "Table III": "Table III / 2: parameters of the synthetic experiments",
    "Table IV": "Table IV / 3: delta of the count of x0",
    "Table V": "Table V / 4: individual-specific error, synthetic data",
    "Table VI": "Table VI / 5: individual-specific error, Gowalla check-ins",
}
DELTA_LEGEND = (
    "Each cell: **printed** · published reading · exact, for this paper's deltas the tight delta of the same"
    " count. The mark compares the first two: = same digits, "
    "≈ close, ≠ differs, ? not comparable (rule: {tolerance}); – means that there is no such value."
)
LITERATURE = (
    "What is printed under the names of earlier work are order-of-magnitude expressions solved for delta; "
    "they are not the cited theorems and guarantee nothing. There, exact is the cited bound as its paper "
    "states it, for k = {k}: the privacy blanket of k-RR by Bennett's inequality (Balle et al.), the clones "
    "summed numerically (Feldman et al.), the weak adversary in one round (Koskela et al.). Erlingsson et "
    "al. ask for n >= 1,000, eps0 < 1/2 and delta < 1/100; outside of a theorem's range there is no value."
)
ERROR_LEGEND = (
    "Errors of one cell's estimate as fractions of n, at {budgets}. Each cell: **printed** (one run) · "
    "median of our runs · exact. The mark says whether the printed value lies in the range of our runs that "
    "its rule names ({tolerance}): ✓ it does, ✗ it does not, ? not comparable; – means that there is no "
    "such value. The range and the quantile are in the CSV file."
)
GAUSSIAN = (
    "There is no exact value for the Gaussian: at eps = eps0 the shuffle model's delta is exactly 0, and no "
    "Gaussian has that. The published reading takes a floor in its place."
)
JOINT = (
    "All values of a mechanism together, as quantiles among our runs, against what random runs of ours give:"
    " one value at a time is a weak test, and this one is not strong: power is how often it would reject if"
    " the paper's errors were half, sqrt 2 times or twice ours. The rule is in data/published/README.md; the"
    " lines have no verdict."
)
GRIDS = (
    "The same for each city and both mechanisms on both grids: `stepped` is the one that holds the 10,260"
    " check-ins of Paris. The larger p-value fits better; at most 0.01 contradicts a grid."
)
TESTED = [
    "item",
    "mechanism",
    "line",
    "test",
    "values",
    "below_median",
    "p",
    "corrected_p",
    "verdict",
    *TIMES,
]
FITTED = ["dataset", "grid", "mechanism", "values", "below_median", "p", "verdict"]


def paper_tables(
    verdicts: pd.DataFrame,
    parameters: pd.DataFrame,
    surface: Mapping[str, Any],
    synthetic: Mapping[str, Any],
    joint: pd.DataFrame,
    grids: pd.DataFrame,
) -> dict[str, Table]:
    """All six tables, by the name of their files (table_II and so on).

    ``verdicts``, ``joint`` and ``grids``: verdicts.csv, joint_tests.csv and grids.csv, ``parameters``:
    data/published/parameters.csv, every column text; ``surface`` and ``synthetic``: the config's
    delta_surface and datasets.synthetic (empty if there is none).
    """
    rows = dict([*verdicts.groupby("item")])
    pages = {
        "Table II": literature_page(rows["Table II"]),
        "Table 1": literature_page(rows["Table 1"]),
        "Table IV": sweeps_page(rows["Table IV"]),
        "Table V": errors_page(rows["Table V"], "n", joint),
        "Table VI": errors_page(rows["Table VI"], "dataset", joint, grids),
    }
    tables = {item: (rows[item][TIDY], page) for item, page in pages.items()}
    tables["Table III"] = parameters_table(rows["Table IV"], parameters, surface, synthetic)
    return {item.replace("Table ", "table_"): table for item, table in tables.items()}


def literature_page(rows: pd.DataFrame) -> str:
    """Table II or 1: one table per n, one line per eps, one column per mechanism."""
    k = ", ".join(rows.loc[rows["mechanism"] == "this paper", "k"].unique())
    paragraphs = [_legend(DELTA_LEGEND, rows), LITERATURE.format(k=k)]
    for n, part in rows.groupby("n", sort=False):
        paragraphs += [f"## n = {int(str(n)):,}", _grid(part, "eps", "mechanism", NAMES)]
    return markdown_page(TITLES[rows["item"].iloc[0]], paragraphs)


def sweeps_page(rows: pd.DataFrame) -> str:
    """Table IV: one table per parameter that varies, one line per value, one column per eps."""
    varying = rows["source"].str.extract(r"varying (eps0|n|k)", expand=False)
    if varying.isna().any():
        source = rows["source"][varying.isna()].iloc[0]
        raise ValueError(f"source must say what varies (eps0, n or k); got {source!r}")
    paragraphs = [_legend(DELTA_LEGEND, rows)]
    for key, block in rows.groupby(varying, sort=False):
        name = str(key)
        settings = {other: block[other].unique() for other in ("eps0", "n", "k", "count")}
        fixed = ", ".join(f"{other} = {values[0]}" for other, values in settings.items() if len(values) == 1)
        named = block.assign(**{name: f"{name} = " + block[name], "eps": "eps = " + block["eps"]})
        paragraphs += [f"## Varying {name} ({fixed})", _grid(named, name, "eps", corner="")]
    return markdown_page(TITLES["Table IV"], paragraphs)


def errors_page(
    rows: pd.DataFrame, split: str, joint: pd.DataFrame, grids: pd.DataFrame | None = None
) -> str:
    """Table V or VI: one table per value of ``split``, one line per x0, one column per mechanism.

    Then the joint tests of this table and of both, and how well either grid fits, where there are such rows.
    """
    item = rows["item"].iloc[0]
    budgets = ("eps = " + rows["eps"] + ", eps0 = " + rows["eps0"]).unique()
    paragraphs = [_legend(ERROR_LEGEND, rows, budgets="; ".join(budgets)), GAUSSIAN]
    for value, part in rows.groupby(split, sort=False):
        heading = f"n = {int(str(value)):,}" if split == "n" else str(value).replace("_", " ").title()
        paragraphs += [f"## {heading}", _grid(part, "x0", "mechanism", NAMES)]
    tests = joint[joint["item"].isin([item, "both"])]
    for legend, found, names in ((JOINT, tests, TESTED), (GRIDS, grids, FITTED)):
        if found is not None and not found.empty:
            lines = found[names].map(_short).to_numpy().tolist()
            paragraphs += [legend, markdown_table([name.replace("_", " ") for name in names], lines)]
    return markdown_page(TITLES[item], paragraphs)


def parameters_table(
    table_iv: pd.DataFrame, printed: pd.DataFrame, surface: Mapping[str, Any], synthetic: Mapping[str, Any]
) -> Table:
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
    tidy = pd.DataFrame(
        {
            "parameter": names,
            "printed": printed["printed"],
            "Table IV": [_series(float(text) for text in table_iv[name] if text) for name in names],
            "Figure 1": [_range(surface.get(name, "")) for name in names],
            "synthetic trials": names.map(trials),
            "source": printed["source"],
        }
    )
    shown = tidy.drop(columns="source").replace("", "–")
    page = markdown_table([*shown], shown.to_numpy().tolist())
    return tidy, markdown_page(TITLES["Table III"], [page])


def _legend(text: str, rows: pd.DataFrame, **more: str) -> str:
    return text.format(tolerance=", ".join(rows["tolerance"].unique()), **more)


def _grid(
    rows: pd.DataFrame,
    down: str,
    across: str,
    names: Mapping[str, str] | None = None,
    corner: str | None = None,
) -> str:
    """A Markdown table: one line per value of the column ``down``, one column per value of ``across``."""
    cells = {key: _cell(part) for key, part in rows.groupby([down, across])}
    columns = rows[across].unique()
    lines = [[value, *(cells[value, column] for column in columns)] for value in rows[down].unique()]
    heads = [names[column] if names else column for column in columns]
    return markdown_table([down if corner is None else corner, *heads], lines)


def _cell(rows: pd.DataFrame) -> str:
    """The text of one cell: printed · reproduced · exact, the verdict's mark; a dash where there is none."""
    if len(rows) != 1:
        raise ValueError(f"a cell of a table needs exactly one printed value; got {len(rows)}")
    row = rows.iloc[0]
    ours = [like(row["printed"], row[reading]) or "–" for reading in ("reproduced", "exact")]
    return f"**{row['printed']}** · {ours[0]} {MARKS[row['verdict']]} · {ours[1]}"


def _short(text: str) -> str:
    """A number with a point in three digits, a dash for nothing, any other text as it is."""
    return plain(float(text), 3) if re.fullmatch(r"[\d.e-]*\.[\d.e-]*", text) else text or "–"


def _series(values: Iterable[float | str]) -> str:
    """Distinct values in ascending order ("all" last), with commas."""
    ordered = sorted(set(values), key=lambda value: (isinstance(value, str), value))
    return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in ordered)


def _range(value: Mapping[str, float] | float | str) -> str:
    """A range of the config in words; a number as it is."""
    return "{start} to {stop}, {steps} steps".format_map(value) if isinstance(value, Mapping) else str(value)
