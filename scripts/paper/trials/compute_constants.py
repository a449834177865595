"""What hangs on our two constants: the Gaussian's error under other floors of delta and sensitivities.

The paper states neither the delta that the Gaussian has at eps = eps0, where delta-hat is 0, nor its
sensitivity. Figures 2, 6 and 7 are judged here at their largest n.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import product

import pandas as pd

from scripts.shared.job import job, write_csv
from scripts.shared.published_gaussian import published_scale
from scripts.shared.table_files import read_parquet

POINT = ["dataset", "eps0", "eps", "n", "k"]  # what the repetitions behind a mean share
COLUMNS = [*POINT, "floor", "sensitivity", "scale", "gaussian", "shuffle+INV", "ratio"]


def compute_constants(
    trials: Iterable[pd.DataFrame], *, floors: Sequence[float], sensitivities: Sequence[float]
) -> pd.DataFrame:
    """The errors of shuffle+INV and of the Gaussian, under other deltas and sensitivities of the Gaussian.

    The paper's delta for the Gaussian, delta-hat, is 0 in Figures 2, 6 and 7. So another delta stands for it,
    the floor. There is a row for every dataset, budget (eps0 and eps), floor and sensitivity, at the largest
    n of this dataset and budget. The columns are dataset, eps0, eps, n (users), k (cells), and

    - floor and sensitivity, for which the Gaussian's noise is chosen;
    - scale, the standard deviation of this noise as diffprivlib has it, in users;
    - gaussian, the expected total variation (TV) error of the Gaussian;
    - shuffle+INV, the mean TV error of shuffle+INV in the trials;
    - ratio, shuffle+INV divided by gaussian.

    ``trials`` are tables of the experiment tv, with a row for every repetition of a mechanism and metric, and
    the error in the column value. ``floors`` are deltas, and ``sensitivities`` are in users.
    """
    errors = pd.concat(trials)
    errors = errors[(errors["metric"] == "tv") & (errors["mechanism"] == "shuffle+INV")]
    means = errors.groupby(POINT, sort=False)["value"].mean().reset_index(name="shuffle+INV")
    # The row with the largest n of each dataset and budget.
    largest = means.loc[means.groupby(["dataset", "eps0", "eps"], sort=False)["n"].idxmax()]

    rows = []
    for point in largest.to_dict("records"):
        for floor, sensitivity in product(floors, sensitivities):
            scale = published_scale(point["eps"], floor, sensitivity)  # of diffprivlib
            gaussian = expected_tv_of_noise(scale, n=point["n"], k=point["k"])
            inverted = point["shuffle+INV"]
            row = [point[name] for name in POINT]
            row += [floor, sensitivity, scale, gaussian, inverted, inverted / gaussian]
            rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def expected_tv_of_noise(scale: float, *, n: int, k: int) -> float:
    """The expected TV error of the Gaussian mechanism: a histogram of n users in k cells plus normal noise.

    The noise has the standard deviation ``scale``, in users, and the result is not projected. The TV error is
    half the sum of the k absolute values of the noise, as a fraction of n. Each has the mean
    scale sqrt(2 / pi), so the error is k scale sqrt(2 / pi) / (2 n).
    """
    return k * scale * math.sqrt(2 / math.pi) / (2 * n)


if __name__ == "__main__":
    with job() as snakemake:
        tables = [
            read_parquet(path, filters=[("experiment", "==", "tv")]) for path in snakemake.input
        ]
        settings = snakemake.params.settings
        table = compute_constants(
            tables, floors=settings["floors"], sensitivities=settings["sensitivities"]
        )
        write_csv(table, snakemake.output[0])
