"""Write the paper's tables (printed, reproduced and exact), each as tidy CSV and as Markdown."""

from reproduction.jobs.job import job, write_bytes, write_csv
from reproduction.report.tables import paper_tables
from reproduction.verification.verdicts import read_verdicts

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    tables = paper_tables(
        *map(read_verdicts, (files.verdicts, files.parameters)),
        *(params.surface, params.synthetic),
        *map(read_verdicts, (files.joint, files.grids)),
    )
    for name, (rows, page) in tables.items():
        write_csv(rows, snakemake.output[f"{name}_csv"])
        write_bytes(page.encode(), snakemake.output[f"{name}_md"])
