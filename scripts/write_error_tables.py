"""Tables V and VI: every printed individual-specific error beside the distribution of ours."""

from _job import job
from _tables import NAMES, cell, distinct, grid, pick, read_rows, write_markdown, write_tidy

LEGEND = (
    "Errors of one cell's estimate as fractions of n. Each cell: **printed** (one run) · median of our runs · exact. "
    "The mark says whether the printed value lies in the central 99 % of our runs: ✓ it does, ✗ it does not, "
    "? not comparable; – means that there is no such value. The range and the quantile are in the CSV file."
)
GAUSSIAN = (
    "There is no exact value for the Gaussian: at eps = eps0 the shuffle model's delta is exactly 0, and no "
    "Gaussian has that. The published reading takes a floor in its place."
)


def blocks(rows, item, name):
    """Markdown tables, one per value of the column ``name``: a line per x0, a column per mechanism."""
    parts = []
    for value in distinct(pick(rows, item), name):
        block = pick(rows, item, **{name: value})
        mechanisms = distinct(block, "mechanism")
        lines = [
            [x0, *(cell(pick(block, item, x0=x0, mechanism=mechanism)) for mechanism in mechanisms)]
            for x0 in distinct(block, "x0")
        ]
        heading = f"n = {int(value):,}" if name == "n" else value.replace("_", " ").title()
        parts += [f"## {heading}", grid(["x0", *(NAMES[mechanism] for mechanism in mechanisms)], lines)]
    return parts


def main(snakemake):
    """Read the verdicts, write the tables."""
    made = snakemake.output
    with job(snakemake):
        rows = read_rows(snakemake.input.verdicts)
        for item, name, splits, title in (
            (
                "Table V",
                "table_V",
                "n",
                "Table V / 4: individual-specific error, synthetic data, eps = eps0 = 4",
            ),
            (
                "Table VI",
                "table_VI",
                "dataset",
                "Table VI / 5: individual-specific error, Gowalla, eps = eps0 = 4",
            ),
        ):
            write_tidy(pick(rows, item), made[f"{name}_csv"])
            write_markdown(made[f"{name}_md"], title, [LEGEND, GAUSSIAN, *blocks(rows, item, splits)])


if __name__ == "__main__":
    main(snakemake)
