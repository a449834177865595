"""The calculator: one HTML file that computes the bounds for any setting, offline."""

from pathlib import Path

import tightshuffle
from reproduction.jobs.job import job, write_bytes
from reproduction.report.page import render

with job(snakemake):
    parts = {Path(file).name: Path(file).read_text("utf-8") for file in snakemake.input.parts}
    page = render("calculator.html.j2", parts, {"version": tightshuffle.__version__})
    write_bytes(page.encode(), snakemake.output[0])
