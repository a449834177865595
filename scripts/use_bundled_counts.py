"""Write one city's bundled counts as its histogram, and as many points spread inside of the cells."""

from tightshuffle.data.bundled import read_bundled
from tightshuffle.pipeline.job import job, write_csv, write_parquet

with job(snakemake):
    histogram, points = read_bundled(
        snakemake.input,
        snakemake.params.dataset,
        snakemake.params.grid,
        name=snakemake.wildcards.dataset,
        seed=snakemake.params.seed,
    )
    write_csv(histogram, snakemake.output.histogram)
    write_parquet([points], snakemake.output.points)
