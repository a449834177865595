"""Compute every number that the report, the article or docs/ state; they read this file."""

from pathlib import Path
from typing import Any

import pandas as pd

from reproduction.jobs.job import job, write_bytes
from reproduction.report.findings import Results, findings, to_json
from reproduction.verification.verdicts import read_verdicts

with job(snakemake):
    titles = snakemake.params.titles
    found: dict[str, Any] = {"titles": titles}
    for name, path in snakemake.input.items():
        if not path:
            continue
        if name in ("verdicts", "claim_verdicts"):
            found[name] = read_verdicts(path)
        elif name in ("plan", "which"):
            found[name] = Path(path).read_text("utf-8").splitlines()
        else:
            found[name] = pd.read_csv(path, dtype={"delta_rule": str})
    for name in ("parity_ratio", "parity"):
        if name in found:
            found[name] = found[name][found[name]["dataset"].isin(list(titles))]
    write_bytes(to_json(findings(Results(**found))).encode(), snakemake.output[0])
