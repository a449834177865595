"""A verdict on every statement of the paper's text, on the published and on the exact reading."""

from reproduction.jobs.job import job, write_csv
from reproduction.verification.claims.evidence import read_evidence
from reproduction.verification.claims.registry import judge_claims, read_claims

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    published, exact = read_evidence(
        values=files.values,
        deltas=files.deltas,
        trials=files.trials,
        estimates=files.estimates,
        parity=files.parity,
        sensitivity=float(params.sensitivity),
        boxes=params.boxes,
    )
    verdicts = judge_claims(read_claims(files.claims), published, exact)
    write_csv(verdicts, snakemake.output[0])
