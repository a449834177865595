"""Every number that the report or docs/ state, read from the tables, for results/findings.json.

The modules ``findings`` of the stages read them. Numbers stay numbers, and printed digits are texts. A
number for which a text says "at least" is rounded to the safe side.
"""

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

import scripts.beyond.attack.findings as attack
import scripts.beyond.bounds.findings as bounds
import scripts.beyond.parity.findings as parity
import scripts.beyond.statements.findings as statements
import scripts.beyond.study.findings as study
import scripts.paper.trials.findings as trials
import scripts.paper.values.findings as values
from scripts.paper.values.verdict_counts import read_verdicts
from scripts.shared.findings import Results
from scripts.shared.job import job, write_bytes

TOPICS: dict[str, Callable[[Results], Any]] = {  # name in results/findings.json -> its function
    "printed": values.printed_values,
    "claims": statements.statements,
    "theorem": values.theorem_gap,
    "audit": attack.audit,
    "joint_tests": statements.joint_tests,
    "grids": statements.grids,
    "gaussian": trials.gaussian_scales,
    "noise": statements.noise_scales,
    "delta_hat": trials.delta_hat,
    "rerun": trials.rerun,
    "parity": parity.equal_privacy,
    "papers_settings": parity.papers_settings,
    "popular": parity.popular_values,
    "almost_comparable": statements.almost_comparable,
    "unequal": parity.unequal_privacy,
    "literature": bounds.literature_bounds,
    "designs": study.designs,
    "papers_extremes": parity.papers_extremes,
}


def state_findings(
    results: Results, topics: Iterable[str] = tuple(TOPICS)
) -> dict[str, dict[str, Any]]:
    """The numbers that report and docs/ state: topic -> name -> number, as JSON can hold them.

    ``results`` has the tables of results/ by name. For each topic, `TOPICS` has the function that reads its
    numbers from them. A configuration need not make all tables: if this function fails for lack of data,
    the topic has ``{"not_computed": the error as a text}`` instead of numbers.
    """
    stated = {}
    for topic in topics:
        try:
            numbers = dataclasses.asdict(TOPICS[topic](results))
            # to_json raises ValueError for a number that is not finite.
            stated[topic] = json.loads(to_json(numbers))
        except (LookupError, ArithmeticError, ValueError) as error:
            stated[topic] = {"not_computed": f"{type(error).__name__}: {error}"}
    return stated


def to_json(stated: Mapping[str, Any]) -> str:
    """The findings as results/findings.json has them. Raises ValueError for a number that is not finite."""
    return (
        json.dumps(stated, default=lambda number: number.item(), indent=1, allow_nan=False) + "\n"
    )


def read_results_table(name: str, paths: Any, datasets: Iterable[str]) -> pd.DataFrame:
    """The table of results/ with this name, of one or several files.

    - A table whose name ends with "verdicts" (our verdicts on the paper's printed values or statements) is
      read with texts in all columns, since deltas go below the smallest float.
    - A table whose name begins with "delta_hat" has a file per dataset. ``paths`` are the paths of these.
    - Of "parity_ratio" (errors at equal privacy), only the rows of ``datasets``, the paper's, are kept.

    For any other table, and for the first and the last, ``paths`` is the path of its one file.
    """
    if name.endswith("verdicts"):
        return read_verdicts(paths)
    if name.startswith("delta_hat"):
        return pd.concat([pd.read_csv(path) for path in paths], ignore_index=True)
    table = pd.read_csv(paths)
    if name == "parity_ratio":
        return table[table["dataset"].isin(list(datasets))]
    return table


if __name__ == "__main__":
    with job() as snakemake:
        titles = snakemake.params.titles
        results: dict[str, Any] = {"titles": titles, "papers": snakemake.params.papers}
        for name, paths in snakemake.input.items():
            results[name] = read_results_table(name, paths, titles)
        write_bytes(to_json(state_findings(results)).encode(), snakemake.output[0])
