"""How many check-ins lie in each city and grid, in how many cells, and in the largest one."""

from tightshuffle.pipeline.job import job, write_csv

COLUMNS = ["dataset", "grid", "columns", "rows", "non_empty", "largest", "checkins"]


def main(snakemake):
    import pandas as pd

    from tightshuffle.data import grid

    counts = iter(snakemake.input.counts)  # in the order of the datasets, for each in the order of the grids
    rows = [
        {"dataset": dataset, "grid": kind} | grid.totals(pd.read_csv(next(counts)))
        for dataset in snakemake.params.datasets
        for kind in snakemake.params.grids
    ]
    write_csv(pd.DataFrame(rows, columns=COLUMNS), snakemake.output[0])


if __name__ == "__main__":
    with job(snakemake):
        main(snakemake)
