"""Cut one city's grids from its bundled sub-cells, and spread as many points inside them."""

from reproduction.data.grid import all_cells
from reproduction.data.sub_cells import read_bundled
from reproduction.jobs.job import job, write_csv, write_parquet

with job(snakemake):
    cells, points = read_bundled(
        snakemake.input.lines,
        snakemake.input.counts,
        snakemake.params.dataset,
        name=snakemake.wildcards.dataset,
        seed=snakemake.params.seed,
    )
    write_csv(cells[snakemake.params.grid], snakemake.output.histogram)
    write_csv(all_cells(cells), snakemake.output.cells)
    write_parquet([points], snakemake.output.points)
