"""The papers' tables, printed, reproduced and exact: each as tidy CSV and as Markdown."""

from tightshuffle.judgement.printed import read_rows
from tightshuffle.pipeline.job import job, write_bytes, write_csv
from tightshuffle.report.tables import paper_tables

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    tables = paper_tables(
        *map(read_rows, (files.verdicts, files.parameters)),
        *(params.surface, params.synthetic),
        *map(read_rows, (files.joint, files.grids)),
    )
    for name, (rows, page) in tables.items():
        write_csv(rows, snakemake.output[f"{name}_csv"])
        write_bytes(page.encode(), snakemake.output[f"{name}_md"])
