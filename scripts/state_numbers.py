"""Every number that README.md and docs/ quote as a result, in the words around it, with its source."""

from pathlib import Path

import pandas as pd

from reproduction.jobs.job import job, write_csv
from reproduction.report.quotes import Results, quotes
from reproduction.verification.printed import read_rows

with job(snakemake):
    files = snakemake.input
    ratios = pd.read_csv(files.ratios) if files.get("ratios") else pd.DataFrame(columns=["dataset"])
    results = Results(
        verdicts=read_rows(files.verdicts),
        claim_verdicts=read_rows(files.claim_verdicts),
        totals=read_rows(files.totals),
        audit=read_rows(files.audit),
        ratios=ratios[ratios["dataset"].isin(snakemake.params.datasets)],
        **{name: Path(files[name]).read_text("utf-8").splitlines() for name in ("plan", "which")},
        joint=read_rows(files.joint),
        grids=read_rows(files.grids),
        means=pd.read_csv(files.means) if files.get("means") else pd.DataFrame(),
        estimates=pd.read_csv(files.estimates) if files.get("estimates") else pd.DataFrame(),
    )
    write_csv(quotes(results), snakemake.output[0])
