"""Count one city's check-ins in the cells of its grids, one of which is its histogram, and in sub-cells."""

from scripts.paper.data.grid import all_cells, count_in_cells, grids_of
from scripts.paper.data.sub_cells import count_in_sub_cells
from scripts.shared.job import job, write_csv
from scripts.shared.table_files import read_parquet

if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        grids = grids_of(params.box, params.uniform, params.stepped)
        points = read_parquet(snakemake.input.points)
        cells = count_in_cells(points, grids)
        write_csv(cells[params.grid], snakemake.output.histogram)
        write_csv(all_cells(cells), snakemake.output.cells)
        lines, counts = count_in_sub_cells(points, grids)
        write_csv(lines, snakemake.output.lines)
        write_csv(counts, snakemake.output.counts)
