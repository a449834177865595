"""What the page's templates read: verdicts by item, figures by section, findings, how to rerun each part."""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import pandas as pd
from markupsafe import Markup

from reproduction.report import findings
from reproduction.report.document import document
from reproduction.report.page import symbols
from reproduction.report.page_figures import by_section
from reproduction.report.plan_page import EXPLANATION, HEADER, plan_lines
from reproduction.report.verdict_layout import (
    APART,
    common,
    count_sources,
    place_notes,
    rows_by_item,
    small_tables,
)
from reproduction.verification.claims.verdict_rules import CLAIM_VERDICTS
from reproduction.verification.printed import Row, parse_tolerance
from reproduction.verification.verdicts import (
    REPRODUCED,
    TIMES,
    VERDICTS,
    check_verdicts,
    count_claims,
    count_verdicts,
    cross_claims,
    fixed_values,
)

ENOUGH_REPETITIONS = 1000  # of an experiment with 1 % of the draws outside the central interval
TARGETS = {  # printed item: what to rerun
    "Table II": "results/tables/table_II.csv",
    "Table 1": "results/tables/table_1.csv",
    "Table IV": "results/tables/table_IV.csv",
    "Table V": "results/tables/table_V.csv",
    "Table VI": "results/tables/table_VI.csv",
}
VERDICTS_FILE = "results/report/verdicts.csv"  # the target of everything else that is judged
COLUMNS: dict[str, list[str]] = {  # results that a configuration may lack -> the columns that the page needs
    "parity": [*findings.SETTING, "eps", "bound", "mechanism", "estimator", "metric", "mean"],
    "parity_ratio": [
        *findings.SETTING, "eps", "bound", "comparison", "metric", "ratio", "low", "high", "repetitions",
        "predicted", "uniform", "informative",
    ],
    "parity_plan": ["n", "k", "eps", "delta", "eps0", "capped", "tv_shuffle_inv", "tv_gaussian", "tv_local"],
    "audit": [
        "n", "k", "eps0", "eps", "count", "published_log10_delta", "exact_log10_delta", "upper_log10_delta",
        "audited_delta", "confidence", "runs", "joint_delta", "observes",
    ],
    "joint_tests": [
        "item", "mechanism", "line", "test", "values", "below_median", "p", "corrected_p", "verdict", *TIMES,
    ],
    "grids": ["dataset", "grid", "p", "verdict"],
    "claim_verdicts": [
        "id", "claim", "version", "where", "quote", "family", "about", "test_published", "test_exact",
        "statistic_published", "verdict_published", "statistic_exact", "verdict_exact", "verdict", "why",
    ],
}  # fmt: skip


def page_values(
    tables: Mapping[str, Sequence[Row]],
    figures: Sequence[dict[str, Any]],
    settings: Mapping[str, Any],
    errata: str,
) -> dict[str, Any]:
    """What the templates read of the results.

    ``tables``: name -> rows of verdicts, totals, parameters and, where the configuration has them, of
    `COLUMNS`; ``figures`` from `page_figure`; ``settings`` the config's values; ``errata`` the text of
    docs/errata.md. Raises ValueError that names the table and what is wrong with it.
    """
    verdicts = tables["verdicts"]
    frame = check_verdicts(pd.DataFrame(verdicts))
    optional = {name: _checked(tables.get(name, ()), columns, name) for name, columns in COLUMNS.items()}
    file_of = _file_of(settings["results"])
    fewest = _fewest_repetitions(verdicts, settings["datasets"])
    compared = findings.comparisons(optional["parity"], optional["parity_ratio"])
    papers = set(settings["papers"])  # your own datasets are in the table, and move no finding
    told = [one for one in compared if one.setting["dataset"] in papers]
    parity = {kind: findings.parity(told, kind) for kind in findings.COMPARISONS}
    plans = optional["parity_plan"]
    claims = pd.DataFrame(optional["claim_verdicts"], columns=COLUMNS["claim_verdicts"])
    return {
        "overall": count_verdicts(frame),
        "fixed": count_verdicts(fixed_values(frame)),
        "items": [_item_view(name, rows) for name, rows in rows_by_item(verdicts).items()],
        "VERDICTS": VERDICTS,
        "CLAIM_VERDICTS": CLAIM_VERDICTS,
        "reproduced_verdicts": REPRODUCED,
        "close": _tolerance(verdicts, "digits"),
        "central": _tolerance(verdicts, "central"),
        "figures": by_section(figures),
        "drawn": [figure["name"] for figure in figures],
        "settings": settings,
        "rerun": _rerun_of(settings["results"], settings["configfiles"]),
        "file": lambda path: Markup('<a href="{}"><code>{}</code></a>').format(*file_of(path)),
        "errata": document(
            errata, anchor="errata", folder="docs", link=lambda path: file_of(path)[0], words=symbols
        ),
        "repetitions": fewest,
        "fewest": min((found.repetitions for found in parity.values() if found), default=0),
        "quick": fewest is not None and fewest < ENOUGH_REPETITIONS,
        "enough": ENOUGH_REPETITIONS,
        "theorem": findings.theorem(verdicts),
        "compared": compared,
        "parity": parity,
        "plan": {"lines": plan_lines(plans), "header": HEADER, "explanation": EXPLANATION} if plans else None,
        "joint_tests": [row for row in optional["joint_tests"] if not row["line"]],
        "grids": [row for row in optional["grids"] if row["verdict"]],
        "audit": optional["audit"],
        "audited": findings.audit(optional["audit"], verdicts),
        "claims": optional["claim_verdicts"],
        "claimed": count_claims(claims),
        "claimed_twice": cross_claims(claims),  # published -> exact -> number
        "totals": tables["totals"],
        "parameters": tables["parameters"],
    }


def _checked(rows: Sequence[Row], columns: Iterable[str], name: str) -> Sequence[Row]:
    for column in columns:
        if rows and rows[0].get(column) is None:
            raise ValueError(f"{name}.csv: column {column} is missing; make the file again")
    return rows


def _item_view(name: str, rows: Sequence[Row]) -> dict[str, Any]:
    """One item of the verdicts (a printed table, the text, the data) as the template lays it out."""
    notes, tables, marked = place_notes(small_tables(rows, APART.get(name, ())))
    return {
        "name": name,
        "anchor": "values-" + re.sub(r"\W+", "-", name).lower(),
        "target": TARGETS.get(name, VERDICTS_FILE),
        "counts": count_verdicts(pd.DataFrame(rows)),
        "shared": common(rows),
        "tables": tables,
        "notes": notes,
        "marked": marked,
        "sources": count_sources(rows),
        "random": any(row["kind"] == "random" for row in rows),
    }


def _fewest_repetitions(rows: Iterable[Row], datasets: Mapping[str, Any]) -> int | None:
    """The fewest repetitions behind a random verdict (the individual errors' runs); None without any."""
    judged = {row["dataset"] for row in rows if row["quantile"]}
    return min(
        (dataset["individual"]["repetitions"] for name, dataset in datasets.items() if name in judged),
        default=None,
    )


def _tolerance(rows: Iterable[Row], rule: str) -> str:
    """The tolerance of all rows under ``rule`` in words: '5 %'; several ones joined by 'or'."""
    tolerances = {parse_tolerance(row["tolerance"]) for row in rows}
    return " or ".join(f"{float(100 * share):g} %" for name, share in sorted(tolerances) if name == rule)


def _file_of(results: str) -> Callable[[str], tuple[str, str]]:
    """A function from a file's path in the project to its address seen from the page, and its path.

    ``results``: the folder that the paths' "results" stands for.
    """
    home = "/".join([".."] * (1 + len(PurePath(results).parts)))

    def file(path: str) -> tuple[str, str]:
        inside = path.removeprefix("results/")
        return (f"{home}/{path}", path) if inside == path else (f"../{inside}", f"{results}/{inside}")

    return file


def _rerun_of(results: str, configfiles: Sequence[str]) -> Callable[..., str]:
    """A function from a target and options to the command that rebuilds it with these settings.

    ``results``: the folder of the results; ``configfiles``: what is put over config/config.yaml.
    """

    def rerun(target: str, options: str = "") -> str:
        settings = f"--configfile {shlex.join(configfiles)}" if configfiles else ""
        if target.startswith("results/") and not target.startswith(f"{results}/"):
            target = results + target.removeprefix("results")
        parts = ["snakemake", settings, options, "--" if settings or options else "", target]
        return " ".join(part for part in parts if part)

    return rerun
