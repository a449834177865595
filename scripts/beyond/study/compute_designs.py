"""Which design to run: every one at its best parameters, at the guarantees of the config's study.designs.

A design is a way to collect a histogram with noise, such as shuffled k-RR, k-RR with dummy reports, or the
noise of a curator.
"""

from collections.abc import Iterable, Mapping

import pandas as pd

from scripts.shared.job import job, write_csv
from tightshuffle.planning.designs import compare_designs

POPULAR_SHARE = 0.1  # the share of the users who hold the popular value, an example of a common one


def designs(settings: Iterable[Mapping[str, float]]) -> pd.DataFrame:
    """The errors, bits and trust of every design at its best parameters: a row per setting and design.

    A setting is a guarantee (eps, delta) of all ``rounds`` together, for n users and k values. Its keys are
    n, k, eps, delta and rounds. The columns are these, and:

    - share: the share of the users who hold the popular value, `POPULAR_SHARE`
    - name, parameters (in words), eps0 (inf without local noise), dummies and law (of their number)
    - error: half the sum of the expected absolute errors of all values' shares, for uniform data
    - rare_error and popular_error: expected absolute error of a count, in users, of a value that nobody holds
      and of the popular value
    - messages_per_user and bits_per_user: per round
    - trust: who must be trusted with what, and eps_if_it_fails: the eps that is left, at delta = 0, if this
      party fails; inf if nothing is left
    - reference: whether a curator who sees all values adds the noise
    """
    rows = []
    for setting in settings:
        n, k, eps, delta = (setting[name] for name in ("n", "k", "eps", "delta"))
        try:
            rounds = int(setting["rounds"])
            compared = compare_designs(n, k, eps, delta, rounds=rounds, share=POPULAR_SHARE)
        except ValueError as error:
            raise ValueError(f"study.designs, {setting}: {error}") from error
        rows += [{**setting, "share": POPULAR_SHARE, **vars(design)} for design in compared.designs]
    return pd.DataFrame(rows)


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(designs(snakemake.params.designs), snakemake.output[0])
