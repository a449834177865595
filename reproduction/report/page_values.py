"""What the page's templates read: verdicts by item, figures by section, findings, how to rerun each part."""

import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import pandas as pd
from markupsafe import Markup

from reproduction.report.document import document
from reproduction.report.page import named
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
from reproduction.verification.printed import Row
from reproduction.verification.verdicts import (
    REPRODUCED,
    VERDICTS,
    check_verdicts,
    count_verdicts,
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
COMPARED = ["dataset", "n", "k", "eps0", "delta"]


def page_values(
    tables: Mapping[str, pd.DataFrame],
    found: Mapping[str, Any],
    figures: Sequence[dict[str, Any]],
    settings: Mapping[str, Any],
    errata: str,
) -> dict[str, Any]:
    """What the templates read of the results.

    ``tables``: name -> verdicts, totals, parameters and, where the configuration has them, claim_verdicts,
    audit, joint_tests, grids, parity_plan, parity and parity_ratio; ``found``: the findings, of which the
    page leaves out what was not computed; ``figures`` from `page_figure`; ``settings`` the config's values;
    ``errata`` the text of docs/errata.md. Raises ValueError that names the row of an unknown verdict.
    """
    verdicts = check_verdicts(tables["verdicts"])
    rows = defaultdict(list, {name: _records(table) for name, table in tables.items()})
    file_of = _file_of(settings["results"])
    fewest = _fewest_repetitions(rows["verdicts"], settings["datasets"])
    return {
        "found": {topic: None if "not_computed" in part else part for topic, part in found.items()},
        "overall": count_verdicts(verdicts),
        **{
            name: " or ".join(f"{share:g} %" for share in found["printed"][name])
            for name in ("close", "central")
        },
        "items": [_item_view(name, of_item) for name, of_item in rows_by_item(rows["verdicts"]).items()],
        "VERDICTS": VERDICTS,
        "CLAIM_VERDICTS": CLAIM_VERDICTS,
        "reproduced_verdicts": REPRODUCED,
        "figures": by_section(figures),
        "drawn": [figure["name"] for figure in figures],
        "settings": settings,
        "rerun": _rerun_of(settings["results"], settings["configfiles"]),
        "file": lambda path: Markup('<a href="{}"><code>{}</code></a>').format(*file_of(path)),
        # Its numbers stay as they are: E means printed in the paper, e means ours.
        "errata": document(
            errata, anchor="errata", folder="docs", link=lambda path: file_of(path)[0], words=named
        ),
        "repetitions": fewest,
        "quick": fewest is not None and fewest < ENOUGH_REPETITIONS,
        "enough": ENOUGH_REPETITIONS,
        "compared": _compared(tables["parity"], tables["parity_ratio"]) if "parity" in tables else [],
        "plan": plan_lines(tables["parity_plan"]) if "parity_plan" in tables else [],
        "plan_header": HEADER,
        "plan_explanation": EXPLANATION,
        "joint_tests": [row for row in rows["joint_tests"] if not row["line"]],
        "grids": [row for row in rows["grids"] if row["verdict"]],
        "audit": rows["audit"],
        "claims": rows["claim_verdicts"],
        "totals": rows["totals"],
        "parameters": rows["parameters"],
    }


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table, a blank where it has nothing."""
    records: list[dict[str, Any]] = table.astype(object).where(table.notna(), "").to_dict("records")  # type: ignore[assignment]
    return records


def _compared(means: pd.DataFrame, ratios: pd.DataFrame) -> list[dict[str, Any]]:
    """Both mechanisms at every setting, TV errors with eps from ``upper``, in the order of parity.csv.

    A setting has its parameters, the mean errors ``shuffle`` and ``gaussian``, both projected, what the row
    of the comparison "unprojected" has, and ``ratios``: comparison -> ratio.
    """
    means, ratios = (
        table[(table["metric"] == "tv") & (table["bound"] == "upper")] for table in (means, ratios)
    )
    errors = means[means["estimator"] == "projection"].pivot(
        index=COMPARED, columns="mechanism", values="mean"
    )
    by_kind = ratios.pivot(index=COMPARED, columns="comparison", values="ratio")
    plain = ratios[ratios["comparison"] == "unprojected"].set_index(COMPARED)
    return [
        {
            "setting": dict(zip(COMPARED, place, strict=True)),
            **plain.loc[place].to_dict(),
            **errors.loc[place].to_dict(),
            "ratios": by_kind.loc[place].to_dict(),
        }
        for place in means.set_index(COMPARED).index.unique()
    ]


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
