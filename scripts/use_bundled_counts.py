"""Take one city's bundled counts for its histogram, and spread as many points inside of their cells."""

import zlib

from _job import job, whole_file, write_csv


def main(snakemake):
    import numpy as np
    import pandas as pd

    from tightshuffle import grid

    params, dataset = snakemake.params, snakemake.wildcards.dataset
    for kind in grid.KINDS:
        cells, name = grid.of_dataset(params.dataset, kind), snakemake.input[kind]
        table = pd.read_csv(name, float_precision="round_trip")
        grid.check_fits(table, cells, name)
        if kind == params.grid:
            write_csv(table, snakemake.output.histogram)
            rng = np.random.default_rng([params.seed, zlib.crc32(dataset.encode())])
            latitude, longitude = grid.spread(cells, table["count"], rng)
            points = pd.DataFrame({"latitude": latitude, "longitude": longitude, "spread": True})
            with whole_file(snakemake.output.points) as temporary:
                points.to_parquet(temporary, index=False)


if __name__ == "__main__":
    with job(snakemake):
        main(snakemake)
