"""A verdict on every statement of the paper's text, on the published and on the exact reading."""

import csv

import pandas as pd

from tightshuffle.judgement.claims.evidence import (
    EXACT,
    PUBLISHED,
    Reading,
    read_calibrations,
    read_estimates,
    read_parity,
    read_trials,
)
from tightshuffle.judgement.claims.file import read_claims
from tightshuffle.judgement.claims.registry import RESULT_COLUMNS, judge
from tightshuffle.judgement.printed import read_values
from tightshuffle.pipeline.job import job, write_csv
from tightshuffle.report.tables import grid, write_markdown

TITLE = "What the paper's text says, and whether it holds"
LEGEND = (
    "Published: the paper's formulas and protocol. Exact: the true delta of the whole release, and "
    "experiments at equal (eps, delta). The rules stand in data/published/README.md."
)


def read_cited(path):
    """(item, mechanism, n, eps) -> log10 delta of the cited bound; nan where its theorem does not apply."""
    with open(path, newline="", encoding="utf-8") as file:
        return {
            (row["item"], row["mechanism"], row["n"], row["eps"]): float(row["exact"] or "nan")
            for row in csv.DictReader(file)
            if row["mechanism"] != "this paper"
        }


def as_table(rows):
    """The statements as one table: claim, where, the readings' verdicts, the verdict, why."""
    header = ["claim", "where", "published", "exact", "verdict", "why"]
    lines = [
        [
            row["claim"],
            f"{row['version']}: {row['section']}; {row['about']}",
            row["verdict_published"],
            row["verdict_exact"],
            f"**{row['verdict']}**",
            row["why"],
        ]
        for row in rows
    ]
    escaped = [[text.replace("|", "\\|") for text in line] for line in lines]
    return grid(header, escaped)


def main(snakemake):
    """Read the statements and what they are tested on, write the verdicts."""
    given, params, made = snakemake.input, snakemake.params, snakemake.output
    with job(snakemake):
        common = {
            "values": read_values(given.values),
            "cited": read_cited(given.deltas),
            "calibrations": read_calibrations(given.trials),
            "sensitivity": float(params.sensitivity),
            "boxes": params.boxes,
        }
        settings = read_trials(given.trials) + read_estimates(given.estimates)
        published = Reading(PUBLISHED, settings=settings, **common)
        exact = Reading(EXACT, settings=read_parity(given.parity), **common)
        rows = judge(read_claims(given.claims), published, exact)
        write_csv(pd.DataFrame(rows)[list(RESULT_COLUMNS)], made.csv)
        write_markdown(made.md, TITLE, [LEGEND, as_table(rows)])


if __name__ == "__main__":
    main(snakemake)
