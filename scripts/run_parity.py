"""Run both mechanisms at equal privacy: every number of users of one dataset, at every setting."""

import contextlib

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tightshuffle.experiments.parity import rules, run_sizes
from tightshuffle.pipeline.job import job, whole_file


def write_parts(parts, path):
    """Write data frames as one Parquet file, a row group each, with one of them in memory at a time."""
    with contextlib.ExitStack() as stack:
        writer = None
        for part in parts:
            table = pa.Table.from_pandas(part, preserve_index=False)
            writer = writer or stack.enter_context(pq.ParquetWriter(path, table.schema))
            writer.write_table(table)


if __name__ == "__main__":
    with job(snakemake):
        plan = snakemake.params.plan
        parts = run_sizes(
            pd.read_csv(snakemake.input.histogram)["count"].to_numpy(),
            snakemake.params.sizes,
            dataset=snakemake.wildcards.dataset,
            eps0=plan["eps0"],
            delta_rules=rules(plan["delta"], plan["delta_exponents"]),
            repetitions=plan["repetitions"],
            cells=snakemake.params.cells,
            seed=snakemake.params.seed,
        )
        with whole_file(snakemake.output[0]) as path:
            write_parts(parts, path)
