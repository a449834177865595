"""Count the check-ins of each city and grid, and the cells that they fill."""

import pandas as pd

from reproduction.data.grid import totals
from reproduction.jobs.job import job, write_csv

with job(snakemake):
    cities = zip(snakemake.params.datasets, snakemake.input.cells, strict=True)
    write_csv(totals({dataset: pd.read_csv(path) for dataset, path in cities}), snakemake.output[0])
