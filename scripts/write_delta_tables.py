"""Tables II, 1, III and IV: every printed delta beside ours, and the parameters."""

import re

import pandas as pd
from _job import job, write_csv
from _tables import NAMES, cell, distinct, grid, pick, read_rows, write_markdown, write_tidy

LEGEND = (
    "Each cell: **printed** · published reading · exact. The mark compares the first two: = printed digits, "
    "≈ within 5 %, ≠ differs, ? not comparable; – means that there is no such value."
)
LITERATURE = (
    "The columns that carry the names of earlier work are order-of-magnitude expressions solved for delta; "
    "they are not the cited theorems and guarantee nothing."
)
VARYING = re.compile(r"varying (eps0|n|k)")


def literature(rows, item):
    """Table II or 1 as Markdown tables: one per n, a line per eps, a column per mechanism."""
    parts = []
    for n in distinct(pick(rows, item), "n"):
        block = pick(rows, item, n=n)
        mechanisms = distinct(block, "mechanism")
        lines = [
            [eps, *(cell(pick(block, item, eps=eps, mechanism=mechanism)) for mechanism in mechanisms)]
            for eps in distinct(block, "eps")
        ]
        parts += [f"## n = {int(n):,}", grid(["eps", *(NAMES[mechanism] for mechanism in mechanisms)], lines)]
    return parts


def sweeps(rows):
    """Table IV as Markdown tables: one per parameter that varies, a line per value, a column per eps."""
    parts, blocks = [], {}
    for row in pick(rows, "Table IV"):
        found = VARYING.search(row["source"])
        if found is None:
            raise ValueError(f"source must say what varies (eps0, n or k); got {row['source']!r}")
        blocks.setdefault(found[1], []).append(row)
    for name, block in blocks.items():
        fixed = ", ".join(
            f"{other} = {values[0]}"
            for other in ("eps0", "n", "k", "count")
            if len(values := distinct(block, other)) == 1
        )
        epsilons = distinct(block, "eps")
        lines = [
            [
                f"{name} = {value}",
                *(cell(pick(block, "Table IV", **{name: value, "eps": eps})) for eps in epsilons),
            ]
            for value in distinct(block, name)
        ]
        parts += [f"## Varying {name} ({fixed})", grid(["", *(f"eps = {eps}" for eps in epsilons)], lines)]
    return parts


def parameters(rows, printed, surface, synthetic):
    """Table III as a data frame: what is printed, and what Table IV, Figure 1 and the synthetic trials use."""
    table = pick(rows, "Table IV")
    individual, tv = (synthetic.get(name) or {} for name in ("individual", "tv"))
    budgets = [*individual.get("budgets", []), *tv.get("budgets", [])]
    users = {*individual.get("n", []), *tv.get("n", [])}
    trials = {
        "eps": series(budget["eps"] for budget in budgets),
        "eps0": series(budget["eps0"] for budget in budgets),
        "n": series(users),
        "x0": series(individual.get("cells", [])),
        "k": str(synthetic.get("cells", "")),
    }
    return pd.DataFrame(
        [
            {
                "parameter": row["parameter"],
                "printed": row["printed"],
                "table_IV": series(number(row_) for row_ in distinct(table, row["parameter"]) if row_),
                "figure_1": span(surface.get(row["parameter"], "")),
                "synthetic_trials": trials[row["parameter"]],
                "source": row["source"],
            }
            for row in printed
        ]
    )


def number(text):
    """3 from "3", 0.5 from "0.5"."""
    return float(text) if "." in text else int(text)


def series(values):
    """Distinct values in ascending order ("all" last), with commas."""
    ordered = sorted(set(values), key=lambda value: (isinstance(value, str), value))
    return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in ordered)


def span(value):
    """A range of the config in words; a number as it is."""
    return (
        f"{value['start']} to {value['stop']}, {value['steps']} steps"
        if isinstance(value, dict)
        else str(value)
    )


def main(snakemake):
    """Read the verdicts, write the tables."""
    given, made = snakemake.input, snakemake.output
    with job(snakemake):
        rows = read_rows(given.verdicts)
        for item, name, title in (
            ("Table II", "table_II", "Table II (long version): delta in the literature and in the paper"),
            (
                "Table 1",
                "table_1",
                "Table 1 (FPS 2023): delta in the literature and in the paper, n = 100, eps0 = 0.5",
            ),
        ):
            write_tidy(pick(rows, item), made[f"{name}_csv"])
            write_markdown(made[f"{name}_md"], title, [LEGEND, LITERATURE, *literature(rows, item)])

        frame = parameters(
            rows, read_rows(given.parameters), snakemake.params.surface, snakemake.params.synthetic
        )
        write_csv(frame, made.table_III_csv)
        header = ["", "printed", "Table IV", "Figure 1", "synthetic trials (Table V, Figure 2)"]
        lines = [[text or "–" for text in line] for line in frame.drop(columns="source").to_numpy().tolist()]
        write_markdown(
            made.table_III_md, "Table III / 2: parameters of the synthetic experiments", [grid(header, lines)]
        )

        write_tidy(pick(rows, "Table IV"), made.table_IV_csv)
        write_markdown(made.table_IV_md, "Table IV / 3: delta of the count of x0", [LEGEND, *sweeps(rows)])


if __name__ == "__main__":
    main(snakemake)
