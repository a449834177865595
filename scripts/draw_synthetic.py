"""Draw the synthetic dataset and write its histogram."""

import numpy as np

from tightshuffle.data.histograms import draw_normal
from tightshuffle.experiments.published import seed_of
from tightshuffle.pipeline.job import job, write_csv

with job(snakemake):
    seed = seed_of(snakemake.params.seed, stage="synthetic", dataset=snakemake.wildcards.dataset)
    histogram = draw_normal(rng=np.random.default_rng(seed), **snakemake.params.plan)
    write_csv(histogram, snakemake.output[0])
