"""Which design to run: every one at its best parameters, at the guarantees of the config's study.designs."""

from collections.abc import Iterable, Mapping

import pandas as pd

from scripts.shared.job import job, write_csv
from tightshuffle.planning.designs import compare_designs

SHARE = 0.1  # of the users who hold the popular value


def designs(settings: Iterable[Mapping[str, float]]) -> pd.DataFrame:
    """One row per setting (n, k, eps, delta, rounds) and design, with the share and the fields of `Design`.

    ``eps_if_it_fails`` and ``eps0`` are inf where nothing is left, or there is no local noise.
    """
    rows = []
    for setting in settings:
        n, k, eps, delta = (setting[name] for name in ("n", "k", "eps", "delta"))
        try:
            compared = compare_designs(n, k, eps, delta, rounds=int(setting["rounds"]), share=SHARE)
        except ValueError as error:
            raise ValueError(f"study.designs, {setting}: {error}") from error
        rows += [{**setting, "share": SHARE, **vars(design)} for design in compared.designs]
    return pd.DataFrame(rows)


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(designs(snakemake.params.designs), snakemake.output[0])
