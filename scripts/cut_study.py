"""Compare randomizers on one city that is cut into finer and coarser cells."""

from reproduction.data.sub_cells import read_sub_cells
from reproduction.experiments.study_trials import cut_into_grids
from reproduction.jobs.job import job, write_csv

with job(snakemake):
    cells = read_sub_cells(snakemake.input.lines, snakemake.input.counts)
    params = snakemake.params
    write_csv(cut_into_grids(*cells, params.city, params.settings, seed=params.seed), snakemake.output[0])
