"""Run both mechanisms at equal privacy: every setting of one dataset and number of users."""

import pandas as pd
from _job import job, whole_file

from tightshuffle.parity import rules, run_point

with job(snakemake):
    counts = pd.read_csv(snakemake.input.histogram)["count"].to_numpy()
    plan, wildcards = snakemake.params.plan, snakemake.wildcards
    trials = run_point(
        counts,
        dataset=wildcards.dataset,
        n=wildcards.n,
        eps0=plan["eps0"],
        delta_rules=rules(plan["delta"], plan["delta_exponents"]),
        bounds=snakemake.params.bounds,
        repetitions=plan["repetitions"],
        cells=snakemake.params.cells,
        seed=snakemake.params.seed,
    )
    with whole_file(snakemake.output[0]) as path:
        trials.to_parquet(path, index=False)
