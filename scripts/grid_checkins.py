"""Count one city's check-ins in the cells of its grids, one of which is its histogram, and in sub-cells."""

import pandas as pd

from reproduction.data.grid import all_cells, count_in_cells
from reproduction.data.sub_cells import count_in_sub_cells
from reproduction.jobs.job import job, write_csv

with job(snakemake):
    points = pd.read_parquet(snakemake.input.points)
    cells = count_in_cells(points, snakemake.params.dataset)
    write_csv(cells[snakemake.params.grid], snakemake.output.histogram)
    write_csv(all_cells(cells), snakemake.output.cells)
    lines, counts = count_in_sub_cells(points, snakemake.params.dataset)
    write_csv(lines, snakemake.output.lines)
    write_csv(counts, snakemake.output.counts)
