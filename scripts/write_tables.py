"""Write the paper's tables: printed, reproduced and exact values with their verdicts."""

from reproduction.jobs.job import job, write_csv
from reproduction.report.tables import paper_tables
from reproduction.verification.verdicts import read_verdicts

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    verdicts, parameters = (read_verdicts(file) for file in (files.verdicts, files.parameters))
    for name, rows in paper_tables(verdicts, parameters, params.surface, params.synthetic).items():
        write_csv(rows, snakemake.output[name])
