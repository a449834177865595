"""Write the run as an RO-Crate: its files, their sums, and the jobs that made them."""

from reproduction.jobs.crate import run_of, write
from reproduction.jobs.job import job, whole_file

with job(snakemake), whole_file(snakemake.output[0]) as temporary:
    given = snakemake.params
    write(
        temporary,
        run_of(snakemake.input),
        project=given.project,
        settings=given.settings,
        addresses=given.addresses,
    )
