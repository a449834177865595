"""Compute every number that the report, the article or docs/ state; they read this file."""

from typing import Any

import pandas as pd

from reproduction.jobs.job import job, write_bytes
from reproduction.report.findings import Results, findings, to_json
from reproduction.verification.verdicts import read_verdicts

with job(snakemake):
    titles = snakemake.params.titles
    found: dict[str, Any] = {
        name: read_verdicts(path) if name.endswith("verdicts") else pd.read_csv(path)
        for name, path in snakemake.input.items()
    }
    if "parity_ratio" in found:
        found["parity_ratio"] = found["parity_ratio"][found["parity_ratio"]["dataset"].isin(list(titles))]
    write_bytes(to_json(findings(Results(**found, titles=titles))).encode(), snakemake.output[0])
