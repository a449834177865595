"""Write the page of run times: the machine, the date, and the time and memory of every rule."""

from datetime import UTC, datetime
from pathlib import Path

from reproduction.jobs.job import job, write_bytes
from reproduction.jobs.run_times import machine, run_times
from reproduction.report.page import render, versions

with job(snakemake):
    parts = {Path(file).name: Path(file).read_text("utf-8") for file in snakemake.input.parts}
    values = {
        "rules": run_times(snakemake.params.folder),
        "machine": machine(),
        "now": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "libraries": versions(),
    }
    write_bytes(render("run.html.j2", parts, values).encode(), snakemake.output[0])
