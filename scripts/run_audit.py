"""Play the audit's game at one setting and save what the observer counted."""

from _job import job, whole_file

from tightshuffle.audit import play

with job(snakemake):
    point = snakemake.wildcards
    setting = {"n": int(point.n), "k": int(point.k), "eps0": float(point.eps0), "count": int(point.holders)}
    plan = {name: snakemake.params[name] for name in ("runs", "rest", "seed")}
    tally = play(**setting, cores=snakemake.threads, **plan)
    with whole_file(snakemake.output[0]) as path:
        tally.frame().to_parquet(path, index=False)
