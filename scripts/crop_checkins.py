"""Read the file of check-ins once and keep the points inside each city's box."""

from reproduction.data.checkins import crop_tables
from reproduction.jobs.job import job, write_csv, write_parquet

with job(snakemake):
    cities, summary = crop_tables(
        snakemake.input.checkins,
        snakemake.params.boxes,
        bad_rows_at_most=snakemake.params.bad_rows_at_most,
    )
    for points, path in zip(cities.values(), snakemake.output.points, strict=True):
        write_parquet([points], path)
    write_csv(summary, snakemake.output.summary)
