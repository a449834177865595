"""A verdict on every printed value: our value, and whether the two agree."""

from reproduction.jobs.job import job, write_csv
from reproduction.verification.printed import read_values
from reproduction.verification.values import (
    judge_values,
    read_deltas,
    read_individual_trials,
    read_totals,
    read_users,
)

with job(snakemake):
    files = snakemake.input
    values = read_values(files.values)
    verdicts = judge_values(
        values,
        read_deltas(files.deltas, values),
        read_totals(files.totals),
        read_individual_trials(files.trials),
        read_users(dict(zip(snakemake.params.datasets, files.histograms, strict=True))),
    )
    write_csv(verdicts, snakemake.output[0])
