"""Check your own counts and write them as a dataset's histogram."""

from typing import Any

import pandas as pd

from scripts.shared.font import writable
from scripts.shared.histograms import NUMPYS_LIMIT
from scripts.shared.job import StrPath, job, write_csv
from tightshuffle.counts_file import read_counts


def counts_to_sample(path: StrPath) -> dict[str, Any]:
    """The columns of a file of counts by name, checked, as `read_counts` gives them.

    Raises ValueError for a wrong file, for so many users that numpy draws no samples of them, and for the
    name of a cell (in the column label) that the figures cannot write.
    """
    counts = read_counts(path)
    users = sum(counts["count"].tolist())
    if users >= NUMPYS_LIMIT:
        raise ValueError(f"{path}: {users:,} users; expected fewer than {NUMPYS_LIMIT:,} in all")
    for row, name in enumerate(counts.get("label", []), start=2):  # below the header
        try:
            writable(name)
        except ValueError as error:
            raise ValueError(f"{path}: row {row}: label {error}") from None
    return counts


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(pd.DataFrame(counts_to_sample(snakemake.input.counts)), snakemake.output[0])
