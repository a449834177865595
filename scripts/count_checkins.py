"""Count the check-ins of each city and grid, and the cells that they fill."""

import itertools

import pandas as pd

from tightshuffle.data.grid import totals
from tightshuffle.pipeline.job import job, write_csv

with job(snakemake):
    cities_and_grids = itertools.product(snakemake.params.datasets, snakemake.params.grids)
    write_csv(
        totals(
            (dataset, kind, pd.read_csv(path))
            for (dataset, kind), path in zip(cities_and_grids, snakemake.input.counts, strict=True)
        ),
        snakemake.output[0],
    )
