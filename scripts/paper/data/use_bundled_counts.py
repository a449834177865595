"""Cut one city's grids from its bundled sub-cells, and spread as many points inside them."""

from scripts.paper.data.grid import all_cells, grids_of
from scripts.paper.data.sub_cells import read_bundled
from scripts.shared.job import job, write_csv, write_parquet

if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        cells, points = read_bundled(
            snakemake.input.lines,
            snakemake.input.counts,
            grids_of(params.box, params.uniform, params.stepped),
            name=snakemake.wildcards.dataset,
            seed=params.seed,
        )
        write_csv(cells[params.grid], snakemake.output.histogram)
        write_csv(all_cells(cells), snakemake.output.cells)
        write_parquet([points], snakemake.output.points)
