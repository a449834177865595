"""Write the report: every printed value with ours, and every figure, on one page."""

from pathlib import Path

from reproduction.jobs.job import job, write_bytes
from reproduction.report.page import page_figure, page_values, render
from reproduction.report.quotes import read_findings
from reproduction.verification.verdicts import read_verdicts

with job(snakemake):
    files, settings = snakemake.input, dict(snakemake.params.items())
    figures = [
        page_figure(row, Path(caption).stem, Path(caption).read_text("utf-8"))
        for row, caption in zip(settings["figures"], files.captions, strict=True)
    ]
    tables = {name: read_verdicts(files[name]) for name in ("verdicts", "claim_verdicts", "parameters")}
    found = read_findings(Path(files.findings).read_text("utf-8"))
    parts = {Path(file).name: Path(file).read_text("utf-8") for file in files.parts}
    page = render("index.html.j2", parts, page_values(tables, found, figures, settings))
    write_bytes(page.encode(), snakemake.output[0])
