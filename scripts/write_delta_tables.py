"""Tables II, 1, III and IV: every printed delta beside ours, and the parameters."""

import re

import pandas as pd

from tightshuffle.pipeline.job import job, write_csv
from tightshuffle.report.tables import (
    NAMES,
    cell,
    distinct,
    grid,
    pick,
    read_rows,
    write_markdown,
    write_tidy,
)

LITERATURE_TABLES = {  # item: file name, title
    "Table II": ("table_II", "Table II (long version): delta in the literature and in the paper"),
    "Table 1": ("table_1", "Table 1 (FPS 2023): delta in the literature and in the paper"),
}
LEGEND = (
    "Each cell: **printed** · published reading · exact, for this paper's deltas the tight delta of the same"
    " count. The mark compares the first two: = printed digits, "
    "≈ close, ≠ differs, ? not comparable (rule: {tolerance}); – means that there is no such value."
)
LITERATURE = (
    "What is printed under the names of earlier work are order-of-magnitude expressions solved for delta; "
    "they are not the cited theorems and guarantee nothing. There, exact is the cited bound as its paper "
    "states it, for k = {k}: the privacy blanket of k-RR by Bennett's inequality (Balle et al.), the clones "
    "summed numerically (Feldman et al.), the weak adversary in one round (Koskela et al.). Erlingsson et "
    "al. ask for n >= 1,000, eps0 < 1/2 and delta < 1/100; outside of a theorem's range there is no value."
)
VARYING = re.compile(r"varying (eps0|n|k)")


def legend(rows, item):
    """How to read the cells of one table, with the rule that its rows name."""
    return LEGEND.format(tolerance=", ".join(distinct(pick(rows, item), "tolerance")))


def literature(rows, item):
    """Table II or 1 as Markdown tables: one per n, a line per eps, a column per mechanism."""
    parts = []
    for n in distinct(pick(rows, item), "n"):
        block = pick(rows, item, n=n)
        mechanisms = distinct(block, "mechanism")
        lines = []
        for eps in distinct(block, "eps"):
            line = pick(block, item, eps=eps)
            lines.append([eps, *(cell(pick(line, item, mechanism=mechanism)) for mechanism in mechanisms)])
        parts += [f"## n = {int(n):,}", grid(["eps", *(NAMES[mechanism] for mechanism in mechanisms)], lines)]
    return parts


def sweeps(rows, item="Table IV"):
    """Table IV as Markdown tables: one per parameter that varies, a line per value, a column per eps."""
    parts, blocks = [], {}
    for row in pick(rows, item):
        found = VARYING.search(row["source"])
        if found is None:
            raise ValueError(f"source must say what varies (eps0, n or k); got {row['source']!r}")
        blocks.setdefault(found[1], []).append(row)
    for name, block in blocks.items():
        settings = {other: distinct(block, other) for other in ("eps0", "n", "k", "count")}
        fixed = ", ".join(f"{other} = {values[0]}" for other, values in settings.items() if len(values) == 1)
        epsilons = distinct(block, "eps")
        lines = []
        for value in distinct(block, name):
            line = pick(block, item, **{name: value})
            lines.append([f"{name} = {value}", *(cell(pick(line, item, eps=eps)) for eps in epsilons)])
        parts += [f"## Varying {name} ({fixed})", grid(["", *(f"eps = {eps}" for eps in epsilons)], lines)]
    return parts


def parameters(rows, printed, surface, synthetic):
    """Table III as a data frame: what is printed; what Table IV, Figure 1 and the synthetic trials use.

    ``printed`` are the rows of data/published/parameters.csv; ``surface`` and ``synthetic`` the config's
    delta_surface and datasets.synthetic (empty if there is none).
    """
    table = pick(rows, "Table IV")
    parts = [synthetic.get(name) or {} for name in ("individual", "tv")]
    budgets = [budget for part in parts for budget in part.get("budgets", [])]
    trials = {
        "eps": series(budget["eps"] for budget in budgets),
        "eps0": series(budget["eps0"] for budget in budgets),
        "n": series(n for part in parts for n in part.get("n", [])),
        "x0": series(parts[0].get("cells", [])),
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
                "Table IV": series(map(number, filter(None, distinct(table, name)))),
                "Figure 1": span(surface.get(name, "")),
                "synthetic trials": trials[name],
                "source": row["source"],
            }
        )
    return pd.DataFrame(lines)


def number(text):
    """3 from "3", 0.5 from "0.5"."""
    return float(text) if "." in text else int(text)


def series(values):
    """Distinct values in ascending order ("all" last), with commas."""
    ordered = sorted(set(values), key=lambda value: (isinstance(value, str), value))
    return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in ordered)


def span(value):
    """A range of the config in words; a number as it is."""
    return "{start} to {stop}, {steps} steps".format_map(value) if isinstance(value, dict) else str(value)


def main(snakemake):
    """Read the verdicts, write the tables."""
    given, params, made = snakemake.input, snakemake.params, snakemake.output
    with job(snakemake):
        rows = read_rows(given.verdicts)
        for item, (name, title) in LITERATURE_TABLES.items():
            write_tidy(pick(rows, item), made[f"{name}_csv"])
            cells = ", ".join(distinct(pick(rows, item, mechanism="this paper"), "k"))
            paragraphs = [legend(rows, item), LITERATURE.format(k=cells), *literature(rows, item)]
            write_markdown(made[f"{name}_md"], title, paragraphs)

        frame = parameters(rows, read_rows(given.parameters), params.surface, params.synthetic)
        write_csv(frame, made["table_III_csv"])
        shown = frame.drop(columns=["source"])
        lines = [[text or "–" for text in line] for line in shown.to_numpy().tolist()]
        title = "Table III / 2: parameters of the synthetic experiments"
        write_markdown(made["table_III_md"], title, [grid(list(shown.columns), lines)])

        write_tidy(pick(rows, "Table IV"), made["table_IV_csv"])
        title = "Table IV / 3: delta of the count of x0"
        write_markdown(made["table_IV_md"], title, [legend(rows, "Table IV"), *sweeps(rows)])


if __name__ == "__main__":
    main(snakemake)
