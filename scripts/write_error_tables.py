"""Tables V and VI: every printed individual-specific error beside the distribution of ours."""

from tightshuffle.pipeline.job import job
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

TABLES = {  # item: file name, the column that tells its blocks apart, title
    "Table V": ("table_V", "n", "Table V / 4: individual-specific error, synthetic data"),
    "Table VI": ("table_VI", "dataset", "Table VI / 5: individual-specific error, Gowalla check-ins"),
}
LEGEND = (
    "Errors of one cell's estimate as fractions of n, at {budgets}. Each cell: **printed** (one run) · "
    "median of our runs · exact. The mark says whether the printed value lies in the range of our runs that "
    "its rule names ({tolerance}): ✓ it does, ✗ it does not, ? not comparable; – means that there is no "
    "such value. The range and the quantile are in the CSV file."
)
GAUSSIAN = (
    "There is no exact value for the Gaussian: at eps = eps0 the shuffle model's delta is exactly 0, and no "
    "Gaussian has that. The published reading takes a floor in its place."
)


def legend(rows, item):
    """How to read the cells of one table, with the budgets and the rule that its rows name."""
    table = pick(rows, item)
    budgets = dict.fromkeys(f"eps = {row['eps']}, eps0 = {row['eps0']}" for row in table)
    return LEGEND.format(budgets="; ".join(budgets), tolerance=", ".join(distinct(table, "tolerance")))


def blocks(rows, item, name):
    """Markdown tables, one per value of the column ``name``: a line per x0, a column per mechanism."""
    parts = []
    for value in distinct(pick(rows, item), name):
        block = pick(rows, item, **{name: value})
        mechanisms = distinct(block, "mechanism")
        lines = []
        for x0 in distinct(block, "x0"):
            line = pick(block, item, x0=x0)
            lines.append([x0, *(cell(pick(line, item, mechanism=mechanism)) for mechanism in mechanisms)])
        heading = f"n = {int(value):,}" if name == "n" else value.replace("_", " ").title()
        parts += [f"## {heading}", grid(["x0", *(NAMES[mechanism] for mechanism in mechanisms)], lines)]
    return parts


def main(snakemake):
    """Read the verdicts, write the tables."""
    made = snakemake.output
    with job(snakemake):
        rows = read_rows(snakemake.input.verdicts)
        for item, (name, splits, title) in TABLES.items():
            write_tidy(pick(rows, item), made[f"{name}_csv"])
            paragraphs = [legend(rows, item), GAUSSIAN, *blocks(rows, item, splits)]
            write_markdown(made[f"{name}_md"], title, paragraphs)


if __name__ == "__main__":
    main(snakemake)
