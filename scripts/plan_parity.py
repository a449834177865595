"""The practitioner's question: the eps0 that a wanted (eps, delta) allows, and what accuracy is left."""

import math

import pandas as pd

from tightshuffle.experiments.plan import make_plan
from tightshuffle.pipeline.job import job, write_bytes, write_csv
from tightshuffle.report.markdown import markdown_page, markdown_table

TITLE = "What a wanted guarantee costs"
WORDS = (
    "For n users in k cells and a wanted (eps, delta): the largest eps0 that k-RR may have behind a shuffler,"
    " and the expected total variation distance of shuffle+INV, of the central analytic Gaussian with the"
    " same guarantee, and of k-RR alone with eps0 = eps (no shuffler, delta = 0). Uniform data, which is"
    " k-RR's worst; before any projection, so that a distance above 1 means an estimate that is worthless."
)
HEADER = ["n", "k", "eps", "delta", "eps0", "shuffle+INV", "Gaussian", "shuffle+INV / Gaussian", "local"]


def plans(wanted):
    """A row per n, k and guarantee; ``wanted`` is the config's ``parity.plan``."""
    rows = []
    for n in wanted["n"]:
        for k in wanted["k"]:
            for guarantee in wanted["guarantees"]:
                eps, delta = guarantee["eps"], guarantee["delta"]
                plan = make_plan(n, k, eps, log10_delta=math.log10(delta))
                row = {"n": n, "k": k, "eps": eps, "delta": delta, "eps0": plan.eps0, "capped": plan.capped}
                row |= {"sigma": plan.sigma, "tv_shuffle_inv": plan.tv["shuffle+INV"]}
                row |= {"tv_gaussian": plan.tv["gaussian"], "tv_local": plan.tv["local"]}
                rows.append(row)
    return pd.DataFrame(rows)


def table(rows):
    """The rows as a Markdown table."""
    lines = [
        [
            f"{row.n:,}",
            f"{row.k:,}",
            f"{row.eps:g}",
            f"{row.delta:g}",
            f"{row.eps0:.3f}" + (" or more" if row.capped else ""),
            f"{row.tv_shuffle_inv:.3g}",
            f"{row.tv_gaussian:.3g}",
            f"{row.tv_shuffle_inv / row.tv_gaussian:.3f}",
            f"{row.tv_local:.3g}",
        ]
        for row in rows.itertuples()
    ]
    return markdown_table(HEADER, lines)


if __name__ == "__main__":
    with job(snakemake):
        found = plans(snakemake.params.plan)
        write_csv(found, snakemake.output.csv)
        write_bytes(markdown_page(TITLE, [WORDS, table(found)]).encode(), snakemake.output.md)
