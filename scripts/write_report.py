"""The report page: every printed value beside ours, every figure, in one HTML file without outside parts."""

import re
from pathlib import PurePath

from tightshuffle.figures.tables import read_table
from tightshuffle.judgement import printed as published
from tightshuffle.pipeline.job import job, whole_file
from tightshuffle.report import findings
from tightshuffle.report import page as _page
from tightshuffle.report import verdicts as report
from tightshuffle.report.page_figures import by_section, read_figure
from tightshuffle.report.tables import read_rows

ENOUGH_REPETITIONS = 1000  # of an experiment with 1 % of the draws outside the central interval
SCALES = ["eps", "log10_delta", "exact", "published", "published_log10_delta"]
TARGETS = {  # printed item: what to make again
    "Table II": "results/tables/table_II.csv",
    "Table 1": "results/tables/table_1.csv",
    "Table IV": "results/tables/table_IV.csv",
    "Table V": "results/tables/table_V.csv",
    "Table VI": "results/tables/table_VI.csv",
}
VERDICTS = "results/report/verdicts.csv"  # the target of everything else that is judged
OPTIONAL = {  # inputs that a configuration may lack: name -> columns that the page needs
    "parity": [*findings.SETTING, "eps", "bound", "mechanism", "estimator", "metric", "mean"],
    "ratios": [
        *findings.SETTING, "eps", "bound", "comparison", "metric", "ratio", "low", "high", "repetitions",
        "predicted",
    ],
    "plan": [],
    "audit": [
        "n", "k", "eps0", "eps", "count", "published_log10_delta", "exact_log10_delta", "upper_log10_delta",
        "audited_delta", "confidence", "runs", "joint_delta", "observes",
    ],
    "claims": [
        "id", "claim", "version", "section", "page", "about", "test_published", "test_exact",
        "statistic_published", "verdict_published", "statistic_exact", "verdict_exact", "verdict", "why",
    ],
}  # fmt: skip


def item_view(name, rows):
    """One item of the verdicts (a printed table, the text, the data) as the template lays it out."""
    notes, tables, marked = report.place_notes(report.small_tables(rows, report.APART.get(name, ())))
    return {
        "name": name,
        "anchor": "values-" + re.sub(r"\W+", "-", name).lower(),
        "target": TARGETS.get(name, VERDICTS),
        "tally": report.tally(rows),
        "shared": report.common(rows),
        "tables": tables,
        "notes": notes,
        "marked": marked,
        "sources": report.sources(rows),
        "random": any(row["kind"] == "random" for row in rows),
    }


def repetitions(rows, datasets):
    """The fewest repetitions behind a random verdict (the individual errors' runs); None without any."""
    judged = {row["dataset"] for row in rows if row["quantile"]}
    found = [d["individual"]["repetitions"] for name, d in datasets.items() if name in judged]
    return min(found, default=None)


def tolerance(rows, rule):
    """The tolerance of all rows under ``rule`` in words: '5 %'; several ones joined by 'or'."""
    parsed = {published.parse_tolerance(row["tolerance"]) for row in rows}
    return " or ".join(f"{float(100 * share):g} %" for found, share in sorted(parsed) if found == rule)


def read_optional(given, name):
    """The rows of an input that this configuration may lack (then none), with the columns the page needs."""
    path = given.get(name)
    if not path:
        return []
    rows = read_rows(path)
    for column in OPTIONAL[name]:
        if rows and rows[0].get(column) is None:
            raise ValueError(f"{path}: column {column} is missing; make the file again")
    if name == "claims":
        findings.claims(rows, path)
    return rows


def views(rows, figures, settings, scales, optional):
    """What the templates read of the results: a dict.

    ``rows`` are the verdicts, ``figures`` from ``read_figure``, ``settings`` the config's values, ``scales``
    the data frame of results/privacy/gaussian_scale.csv, ``optional`` the rows of each input in `OPTIONAL`.
    """
    fewest = repetitions(rows, settings["datasets"])
    compared = findings.comparisons(optional["parity"], optional["ratios"])
    return {
        "overall": report.tally(rows),
        "items": [item_view(name, found) for name, found in report.items(rows).items()],
        "VERDICTS": report.VERDICTS,
        "CLAIM_VERDICTS": findings.CLAIM_VERDICTS,
        "reproduced_verdicts": report.REPRODUCED,
        "close": tolerance(rows, "digits"),
        "central": tolerance(rows, "central"),
        "figures": by_section(figures),
        "drawn": [figure["name"] for figure in figures],
        "settings": settings,
        "rerun": rerun_of(settings["results"], settings["configfiles"]),
        "home": "/".join([".."] * (1 + len(PurePath(settings["results"]).parts))),  # from the page
        "repetitions": fewest,
        "quick": fewest is not None and fewest < ENOUGH_REPETITIONS,
        "enough": ENOUGH_REPETITIONS,
        "theorem": findings.theorem(rows),
        "saturation": findings.saturation(scales),
        "saturated": findings.SATURATED,
        "budgets": findings.budgets(settings["datasets"]),
        "compared": compared,
        "parity": {kind: findings.parity(compared, kind) for kind in findings.COMPARISONS},
        "nearly": findings.NEARLY,
        "plan": optional["plan"],
        "audit": optional["audit"],
        "audited": findings.audit(optional["audit"]),
        "claims": optional["claims"],
        "claimed": findings.claims(optional["claims"]),
    }


def rerun_of(results, configfiles):
    """A function from a target and options to the command that makes it again with these settings.

    ``results``: the folder of the results; ``configfiles``: what lies over config/config.yaml.
    """

    def rerun(target, options=""):
        settings = f"--configfile {' '.join(configfiles)}" if configfiles else ""
        if target.startswith("results/") and not target.startswith(f"{results}/"):
            target = results + target.removeprefix("results")
        parts = ["snakemake", settings, options, "--" if settings or options else "", target]
        return " ".join(part for part in parts if part)

    return rerun


def main(snakemake):
    """Read the rule's inputs, write the page."""
    given, settings = snakemake.input, dict(snakemake.params.items())
    with job(snakemake):
        figures = [read_figure(path, settings["datasets"]) for path in given.figures]
        optional = {name: read_optional(given, name) for name in OPTIONAL}
        values = views(
            report.check(read_rows(given.verdicts), given.verdicts),
            figures,
            settings,
            read_table(given.scales, SCALES),
            optional,
        )
        values["totals"] = read_rows(given.totals)
        values["parameters"] = read_rows(given.parameters)
        values["data"] = [_page.checksum(path) for path in given.data]
        values["libraries"] = _page.versions()
        page = _page.render("index.html.j2", _page.parts_of(given.parts), values)
        with whole_file(snakemake.output[0]) as path:
            path.write_text(page, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(snakemake)
