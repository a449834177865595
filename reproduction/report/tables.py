"""The papers' tables: each a Markdown page laid out like the printed one, and a tidy frame of its cells."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from reproduction.report.markdown import markdown_page, markdown_table
from reproduction.report.verdict_layout import like
from reproduction.verification.printed import Row
from reproduction.verification.verdicts import TIMES

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
VARYING = re.compile(r"varying (eps0|n|k)")


def paper_tables(
    verdicts: Sequence[Row],
    parameters: Sequence[Row],
    surface: Mapping[str, Any],
    synthetic: Mapping[str, Any],
    joint: Sequence[Row] = (),
    grids: Sequence[Row] = (),
) -> dict[str, Table]:
    """All six tables, by the name of their files (table_II and so on).

    ``verdicts`` are the rows of verdicts.csv, ``parameters`` of data/published/parameters.csv; ``surface``
    and ``synthetic`` the config's delta_surface and datasets.synthetic (empty if there is none); ``joint``
    and ``grids`` the rows of joint_tests.csv and grids.csv.
    """
    pages = {
        "Table II": literature_page(verdicts, "Table II"),
        "Table 1": literature_page(verdicts, "Table 1"),
        "Table IV": sweeps_page(verdicts),
        "Table V": errors_page(verdicts, "Table V", "n", joint),
        "Table VI": errors_page(verdicts, "Table VI", "dataset", joint, grids),
    }
    tables = {item: (pd.DataFrame(_pick(verdicts, item=item))[TIDY], page) for item, page in pages.items()}
    tables["Table III"] = parameters_table(verdicts, parameters, surface, synthetic)
    return {item.replace("Table ", "table_"): table for item, table in tables.items()}


def literature_page(rows: Iterable[Row], item: str) -> str:
    """Table II or 1: one table per n, one line per eps, one column per mechanism."""
    rows = _pick(rows, item=item)
    k = ", ".join(_distinct(_pick(rows, mechanism="this paper"), "k"))
    paragraphs = [_delta_legend(rows), LITERATURE.format(k=k)]
    for n in _distinct(rows, "n"):
        paragraphs += [f"## n = {int(n):,}", _by_mechanism(_pick(rows, n=n), "eps")]
    return markdown_page(TITLES[item], paragraphs)


def sweeps_page(rows: Iterable[Row], item: str = "Table IV") -> str:
    """Table IV: one table per parameter that varies, one line per value, one column per eps."""
    rows = _pick(rows, item=item)
    paragraphs = [_delta_legend(rows)]
    blocks: dict[str, list[Row]] = {}
    for row in rows:
        varying = VARYING.search(row["source"])
        if varying is None:
            raise ValueError(f"source must say what varies (eps0, n or k); got {row['source']!r}")
        blocks.setdefault(varying[1], []).append(row)
    for name, block in blocks.items():
        settings = {other: _distinct(block, other) for other in ("eps0", "n", "k", "count")}
        fixed = ", ".join(f"{other} = {values[0]}" for other, values in settings.items() if len(values) == 1)
        epsilons = _distinct(block, "eps")
        lines = [
            [f"{name} = {value}", *(_cell(_pick(block, **{name: value, "eps": eps})) for eps in epsilons)]
            for value in _distinct(block, name)
        ]
        table = markdown_table(["", *(f"eps = {eps}" for eps in epsilons)], lines)
        paragraphs += [f"## Varying {name} ({fixed})", table]
    return markdown_page(TITLES[item], paragraphs)


def errors_page(
    rows: Iterable[Row], item: str, split: str, joint: Sequence[Row] = (), grids: Sequence[Row] = ()
) -> str:
    """Table V or VI: one table per value of ``split``, one line per x0, one column per mechanism.

    Then the joint tests of this table and of both, and how well either grid fits, where there are such rows.
    """
    rows = _pick(rows, item=item)
    budgets = dict.fromkeys(f"eps = {row['eps']}, eps0 = {row['eps0']}" for row in rows)
    tolerance = ", ".join(_distinct(rows, "tolerance"))
    paragraphs = [ERROR_LEGEND.format(budgets="; ".join(budgets), tolerance=tolerance), GAUSSIAN]
    for value in _distinct(rows, split):
        heading = f"n = {int(value):,}" if split == "n" else value.replace("_", " ").title()
        paragraphs += [f"## {heading}", _by_mechanism(_pick(rows, **{split: value}), "x0")]
    tests = [row for row in joint if row["item"] in (item, "both")]
    for legend, found, names in ((JOINT, tests, TESTED), (GRIDS, grids, FITTED)):
        if found:
            lines = [[_short(row[name]) for name in names] for row in found]
            paragraphs += [legend, markdown_table([name.replace("_", " ") for name in names], lines)]
    return markdown_page(TITLES[item], paragraphs)


def parameters_table(
    verdicts: Iterable[Row], printed: Iterable[Row], surface: Mapping[str, Any], synthetic: Mapping[str, Any]
) -> Table:
    """Table III: what is printed; what Table IV, Figure 1 and the synthetic trials use."""
    table_iv = _pick(verdicts, item="Table IV")
    parts = [synthetic.get(name) or {} for name in ("individual", "tv")]
    budgets = [budget for part in parts for budget in part.get("budgets", [])]
    trials = {
        "eps": _series(budget["eps"] for budget in budgets),
        "eps0": _series(budget["eps0"] for budget in budgets),
        "n": _series(n for part in parts for n in part.get("n", [])),
        "x0": _series(parts[0].get("cells", [])),
        "k": str(synthetic.get("cells", "")),
    }
    lines = []
    for row in printed:
        name = row["parameter"]
        if name not in trials:
            raise ValueError(f"parameter must be one of {', '.join(trials)}; got {name!r}")
        lines.append(
            {
                "parameter": name,
                "printed": row["printed"],
                "Table IV": _series(_number(text) for text in _distinct(table_iv, name) if text),
                "Figure 1": _span(surface.get(name, "")),
                "synthetic trials": trials[name],
                "source": row["source"],
            }
        )
    header = [name for name in lines[0] if name != "source"]
    page = markdown_table(header, [[line[name] or "–" for name in header] for line in lines])
    return pd.DataFrame(lines), markdown_page(TITLES["Table III"], [page])


def _pick(rows: Iterable[Row], **wanted: str) -> list[Row]:
    """The rows with the given values, in order."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def _distinct(rows: Iterable[Row], name: str) -> list[str]:
    """The values of one column, each once, in order."""
    return list(dict.fromkeys(row[name] for row in rows))


def _delta_legend(rows: Iterable[Row]) -> str:
    return DELTA_LEGEND.format(tolerance=", ".join(_distinct(rows, "tolerance")))


def _by_mechanism(rows: list[Row], name: str) -> str:
    """A Markdown table: one line per value of the column ``name``, one column per mechanism."""
    mechanisms = _distinct(rows, "mechanism")
    lines = [
        [value, *(_cell(_pick(rows, **{name: value, "mechanism": mechanism})) for mechanism in mechanisms)]
        for value in _distinct(rows, name)
    ]
    return markdown_table([name, *(NAMES[mechanism] for mechanism in mechanisms)], lines)


def _cell(rows: list[Row]) -> str:
    """The text of one cell: printed · reproduced · exact, the verdict's mark; a dash where there is none."""
    if len(rows) != 1:
        raise ValueError(f"a cell of a table needs exactly one printed value; got {len(rows)}")
    row = rows[0]
    ours = [like(row["printed"], row[reading]) or "–" for reading in ("reproduced", "exact")]
    return f"**{row['printed']}** · {ours[0]} {MARKS[row['verdict']]} · {ours[1]}"


def _short(text: str) -> str:
    """A number with a point in three digits, a dash for nothing, any other text as it is."""
    return f"{float(text):.3g}" if re.fullmatch(r"[\d.e-]*\.[\d.e-]*", text) else text or "–"


def _number(text: str) -> float:
    """3 from "3", 0.5 from "0.5"."""
    return float(text) if "." in text else int(text)


def _series(values: Iterable[float | str]) -> str:
    """Distinct values in ascending order ("all" last), with commas."""
    ordered = sorted(set(values), key=lambda value: (isinstance(value, str), value))
    return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in ordered)


def _span(value: Mapping[str, float] | float | str) -> str:
    """A range of the config in words; a number as it is."""
    return "{start} to {stop}, {steps} steps".format_map(value) if isinstance(value, Mapping) else str(value)
