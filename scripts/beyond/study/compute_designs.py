"""Which design to run: every one at its best parameters, at the guarantees of the config's study.designs."""

from collections.abc import Iterable, Mapping

import pandas as pd

from scripts.shared.job import job, write_csv
from tightshuffle.planning.designs import compare_designs

SHARE = 0.1  # of the users who hold the popular value


def designs(settings: Iterable[Mapping[str, float]]) -> pd.DataFrame:
    """The errors, bits and trust of every design at its best parameters: a row per setting and design.

    A setting is a guarantee (eps, delta) of all ``rounds`` together, for n users and k values. A `SHARE` of
    the users hold the popular value. The columns are n, k, eps, delta, rounds, share, and the fields of
    `Design`. Two of them may be inf: ``eps_if_it_fails`` where nothing is left if the trusted party fails,
    and ``eps0`` where there is no local noise.
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
