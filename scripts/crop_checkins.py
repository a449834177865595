"""Read the file of check-ins once and keep the points inside of every city's box."""

import logging

from tightshuffle.pipeline.job import job, whole_file, write_csv


def main(snakemake):
    import pandas as pd

    from tightshuffle.data.checkins import crop
    from tightshuffle.data.grid import Box

    path, boxes = snakemake.input.checkins, snakemake.params.boxes
    points, reading = crop(
        path,
        {name: Box(**box) for name, box in boxes.items()},
        bad_rows_at_most=snakemake.params.bad_rows_at_most,
    )
    logging.info("%s: %s", path, reading)
    for (latitude, longitude), output in zip(points.values(), snakemake.output.points, strict=True):
        frame = pd.DataFrame({"latitude": latitude, "longitude": longitude, "spread": False})
        with whole_file(output) as temporary:
            frame.to_parquet(temporary, index=False)
    lines = " ".join(map(str, reading.first_bad_lines))
    summary = {"file": path, "rows": reading.rows, "bad_rows": reading.bad_rows, "first_bad_lines": lines}
    write_csv(pd.DataFrame([summary]), snakemake.output.reading)


if __name__ == "__main__":
    with job(snakemake):
        main(snakemake)
