"""Take one city's bundled counts for its histogram, and spread as many points inside of their cells."""

import zlib

from tightshuffle.pipeline.job import job, whole_file, write_csv


def main(snakemake):
    import numpy as np
    import pandas as pd

    from tightshuffle.data import grid

    params, counts = snakemake.params, {}
    for kind in grid.KINDS:  # both: the totals are made from both
        table = pd.read_csv(snakemake.input[kind])
        grid.check_fits(table, grid.of_dataset(params.dataset, kind), snakemake.input[kind])
        counts[kind] = table["count"]
    cells, counts = grid.of_dataset(params.dataset, params.grid), counts[params.grid]
    write_csv(grid.table(cells, counts), snakemake.output.histogram)

    rng = np.random.default_rng([params.seed, zlib.crc32(snakemake.wildcards.dataset.encode())])
    latitude, longitude = grid.spread(cells, counts, rng)
    points = pd.DataFrame({"latitude": latitude, "longitude": longitude, "spread": True})
    with whole_file(snakemake.output.points) as temporary:
        points.to_parquet(temporary, index=False)


if __name__ == "__main__":
    with job(snakemake):
        main(snakemake)
