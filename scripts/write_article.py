"""The reproduction article: numbers, tables and figures of this run, set as a PDF by Typst."""

from pathlib import Path

import pandas as pd

from reproduction.jobs.job import job, write_bytes
from reproduction.report.article import MAIN, article_values, set_article
from reproduction.report.quotes import read_findings

with job(snakemake):
    files = snakemake.input
    parts = {Path(file).name: Path(file).read_bytes() for file in [*files.parts, *files.figures]}
    values = article_values(
        parts[MAIN].decode(),
        read_findings(Path(files.findings).read_text("utf-8")),
        pd.read_csv(files.study),
        captions={Path(file).stem: Path(file).read_text("utf-8").strip() for file in files.captions},
        changed=snakemake.params.changed,
    )
    write_bytes(set_article(parts, values), snakemake.output[0])
