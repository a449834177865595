"""Sample the users of the synthetic dataset and write their histogram."""

import numpy as np

from reproduction.data.synthetic import sample_normal
from reproduction.jobs.job import job, write_csv
from tightshuffle.numerics.seeds import seed_of

with job(snakemake):
    seed = seed_of(snakemake.params.seed, stage="synthetic", dataset=snakemake.wildcards.dataset)
    histogram = sample_normal(rng=np.random.default_rng(seed), **snakemake.params.settings)
    write_csv(histogram, snakemake.output[0])
