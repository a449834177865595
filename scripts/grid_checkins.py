"""Count one city's check-ins in the cells of both grids; the configured grid's counts are its histogram."""

import pandas as pd

from tightshuffle.data.grid import KINDS, count_in_cells
from tightshuffle.pipeline.job import job, write_csv

with job(snakemake):
    points = pd.read_parquet(snakemake.input.points)
    cells = {kind: count_in_cells(points, snakemake.params.dataset, kind) for kind in KINDS}
    for kind, table in cells.items():
        write_csv(table, snakemake.output[kind])
    write_csv(cells[snakemake.params.grid], snakemake.output.histogram)
