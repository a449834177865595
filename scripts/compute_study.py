"""Compare all randomizers at equal privacy: the whole grid of n, k and guarantees; and what to use where."""

from tightshuffle.experiments.study import study
from tightshuffle.pipeline.job import job, write_bytes, write_csv
from tightshuffle.report.which_page import which_page

with job(snakemake):
    table = study(snakemake.params.plan)
    write_csv(table, snakemake.output.csv)
    write_bytes(which_page(table, snakemake.params.plan["which"]).encode(), snakemake.output.md)
