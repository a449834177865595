"""Write which randomizer to use: the study's sentences and table."""

import pandas as pd

from reproduction.jobs.job import job, write_bytes
from reproduction.report.which_page import which_page

with job(snakemake):
    table = pd.read_csv(snakemake.input[0])
    write_bytes(which_page(table, snakemake.params.which).encode(), snakemake.output[0])
