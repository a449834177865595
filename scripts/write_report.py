"""Write the report: every printed value with ours, and every figure, in one self-contained HTML file."""

from pathlib import Path

import pandas as pd

from reproduction.jobs.code import digest
from reproduction.jobs.job import job, write_bytes
from reproduction.report.page import render, versions
from reproduction.report.page_figures import page_figure
from reproduction.report.page_values import page_values
from reproduction.report.quotes import read_findings
from reproduction.verification.verdicts import read_verdicts

TEXTS = ("verdicts", "claim_verdicts", "parameters")  # tables whose numbers stay as they are written
NUMBERS = ("totals", "audit", "joint_tests", "grids", "parity_plan", "parity", "parity_ratio")

with job(snakemake):
    files, settings = snakemake.input, dict(snakemake.params.items())
    figures = [
        page_figure(row, png, Path(png).read_bytes(), Path(svg).read_bytes(), Path(txt).read_text("utf-8"))
        for row, png, svg, txt in zip(
            settings["figures"], files.figures, files.vectors, files.captions, strict=True
        )
    ]
    tables = {name: read_verdicts(files[name]) for name in TEXTS}
    tables |= {name: pd.read_csv(files[name]) for name in NUMBERS if files.get(name)}
    found, errata = (Path(file).read_text("utf-8") for file in (files.findings, files.errata))
    values = page_values(tables, read_findings(found), figures, settings, errata)
    values["data"] = [
        {"path": file, "bytes": Path(file).stat().st_size, "sha256": digest(file)} for file in files.data
    ]
    parts = {Path(file).name: Path(file).read_text("utf-8") for file in files.parts}
    page = render("index.html.j2", parts, values | {"libraries": versions()})
    write_bytes(page.encode(), snakemake.output[0])
