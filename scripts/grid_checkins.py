"""Count one city's check-ins in the cells of both grids; the configured grid's counts are its histogram."""

from tightshuffle.pipeline.job import job, write_csv


def main(snakemake):
    import pandas as pd

    from tightshuffle.data import grid

    points = pd.read_parquet(snakemake.input.points)
    for kind in grid.KINDS:
        cells = grid.of_dataset(snakemake.params.dataset, kind)
        counts = grid.count(cells, points["latitude"], points["longitude"])
        table = grid.table(cells, counts)
        write_csv(table, snakemake.output[kind])
        if kind == snakemake.params.grid:
            write_csv(table, snakemake.output.histogram)


if __name__ == "__main__":
    with job(snakemake):
        main(snakemake)
