"""The calculator: one HTML file that computes the bounds for any setting, offline."""

from pathlib import Path

import tightshuffle
from reproduction.jobs.job import job, write_bytes
from reproduction.report.page import render
from tightshuffle.randomizers import BY_KEY

with job(snakemake):
    parts = {Path(file).name: Path(file).read_text("utf-8") for file in snakemake.input.parts}
    values = {"version": tightshuffle.__version__, "randomizers": BY_KEY.values()}
    page = render("calculator.html.j2", parts, values)
    write_bytes(page.encode(), snakemake.output[0])
