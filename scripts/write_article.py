"""The reproduction article: numbers, tables and figures of this run, set as a PDF by Typst."""

from pathlib import Path

import pandas as pd

from reproduction.jobs.job import job, write_bytes
from reproduction.report.article import Results, article_values, set_article
from reproduction.verification.printed import read_rows

ROWS = ("verdicts", "claim_verdicts", "audit", "joint", "grids", "totals")

with job(snakemake):
    files, titles = snakemake.input, snakemake.params.titles
    ratios = pd.read_csv(files.ratios) if files.get("ratios") else pd.DataFrame({"dataset": []})
    results = Results(
        **{name: read_rows(files[name]) for name in ROWS},
        ratios=ratios[ratios["dataset"].isin(list(titles))],
        study=pd.read_csv(files.study),
        captions={Path(file).stem: Path(file).read_text("utf-8").strip() for file in files.captions},
        titles=titles,
        changed=snakemake.params.changed,
    )
    parts = {Path(file).name: Path(file).read_bytes() for file in [*files.parts, *files.figures]}
    write_bytes(set_article(parts, article_values(results)), snakemake.output[0])
