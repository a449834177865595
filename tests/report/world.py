"""Made-up results for the tests of the report: verdicts on the real printed values, and the page of them."""

import io
import itertools

import pandas as pd

from scripts.beyond.statements.judge_jointly import OUR_NUMBERING
from scripts.beyond.statements.verdict_rules import CLAIM_VERDICTS
from scripts.report.sections import SECTIONS, ShownFigure, in_page_order
from scripts.report.state_findings import TOPICS, state_findings
from scripts.report.write_report import page_figure, page_values, render
from scripts.shared.printed import (
    COLUMNS,
    DELTA_KEY,
    PAPER,
    printed_to_decimal,
    read_values,
    records,
)
from tests import ROOT

SETTINGS = {
    "results": "results",
    "configfiles": [],
    "changed": [],
    "protocol": {"delta_floor": 1e-30, "sensitivity": 1},
    "titles": {"synthetic": "N(0, 2)", "san_francisco": "San Francisco", "paris": "Paris"},
}
CHANGED = [("datasets.paris.tv.budgets", "[{eps0: 4, eps: 4}]", "[{eps0: 4, eps: 5}]")]
PARAMETERS = [
    {"parameter": "eps0", "printed": "0.1 to 3", "table_IV": "1, 2, 3", "source": "Table III"}
]
# cited_bounds.csv with one row: the log10 of the delta that the bound of Balle et al. has at eps = 0.1.
CITED_BOUNDS = pd.DataFrame(
    [["Table 1", "delta", "balle", "100", "", "0.5", "0.1", "", "-3.9693"]],
    columns=[*DELTA_KEY, "cited"],
    dtype=str,
)
SLOW = {"designs", "noise"}  # topics of findings that take seconds and that the page does not state
# Figures of the page: name, stage, section, title and number in the paper (0: the paper has none).
SHOWN = [
    ShownFigure(f"{section}_of", "stage", section, f"About {section}", 0) for section in SECTIONS
]
SHOWN += [
    ShownFigure("delta_bounds", "bounds", "experts", "All bounds", 0),
    ShownFigure("fig7_tv_paris", "trials", "figures", "Errors: Paris", 7),
    ShownFigure("fig1_surface", "delta", "figures", "Delta", 1),
]
CAPTION = "Boxes of 10 runs. n < 100 & more.\n\nReading: published.\n"
FIGURES = [page_figure(row._asdict(), row.name, CAPTION) for row in in_page_order(SHOWN).values()]


def row(**fields):
    """A row of verdicts.csv as texts: ``fields``, the usual texts of some columns, and "" in the others."""
    blank = dict.fromkeys((*COLUMNS, "reproduced", "exact", "quantile", "low", "high"), "")
    usual = {
        "item": "Table IV",
        "kind": "deterministic",
        "tolerance": "digits or 5 %",
        "verdict": "same digits",
        "source": "Somewhere",
    }
    return {**blank, **usual, **fields}


def real_verdicts():
    """A row of verdicts.csv for every real printed value, with made-up verdicts of every sort in turn.

    Our value is the printed one wherever the two can be compared.
    """
    judged = []
    for place, value in enumerate(records(read_values(ROOT / "data/published/values.csv"))):
        verdict = row(**value)
        if value["kind"] == "random":
            verdict.update(quantile="0.25", low="1e-7", high="0.1")
            verdicts_in_turn = ("consistent", "inconsistent")
        else:
            verdicts_in_turn = ("same digits", "close", "differs")

        if value["mechanism"] == "koskela":
            verdict["verdict"] = "not comparable"
        else:
            verdict["verdict"] = verdicts_in_turn[place % len(verdicts_in_turn)]
            verdict["reproduced"] = str(printed_to_decimal(value["printed"]))
            verdict["exact"] = "2.5e-3" if value["mechanism"] == "this paper" else ""
        judged.append(verdict)
    return judged


METRICS = ("tv", "individual_error", "most_popular", "ten_most_popular")


def parity_rows(eps0s=(1, 4, 6), datasets=("paris", "synthetic")):
    """Rows of parity_ratio.csv: the error of shuffling over that of Gaussian noise at equal privacy.

    For the upper bound on delta and the metric TV, the ratio is 1 + eps0 / 20 unprojected (also its closed
    form ``predicted``), 1 + eps0 / 30 projected and 1 - eps0 / 30 in the paper's pairing. For the other bound
    and the other metrics the ratio is larger by 50, so a test sees where one of these is taken instead.
    At eps0 = 0.1 no estimate is informative.
    """
    ratios = []
    for dataset, n, eps0, delta, bound, metric in itertools.product(
        datasets, (1000, 100_000), eps0s, (1e-6, 5e-4), ("upper", "lower"), METRICS
    ):
        excess = eps0 / 30
        if (dataset, eps0) == ("synthetic", 6):  # which the paper did not run
            excess += 1
        shift = 0 if (bound, metric) == ("upper", "tv") else 50
        by_comparison = {
            "unprojected": 1 + 1.5 * excess + shift,
            "projected": 1 + excess + shift,
            "the paper's pairing": 1 - excess + shift,
        }
        for comparison, ratio in by_comparison.items():
            ratios.append(
                {
                    "dataset": dataset,
                    "n": n,
                    "eps0": eps0,
                    "delta": delta,
                    "bound": bound,
                    "metric": metric,
                    "k": 15,
                    "delta_rule": str(delta),
                    "cell": 3 if metric == "individual_error" else 0,
                    "low": 3.4,
                    "high": 4.5,
                    "eps": 0.25,
                    "repetitions": 200,
                    "uniform": 0.478,
                    "informative": eps0 != 0.1,
                    "comparison": comparison,
                    "ratio": ratio,
                    "limit": 1.25,
                    "predicted": ratio if comparison == "unprojected" else None,
                }
            )
    return ratios


def audit_row(published, alone, together, violated_jointly, **changed):
    """A row of audit.csv: one case in which the attack bounds delta from below.

    ``published`` is the log10 of the delta that the paper's formula gives. ``alone`` is the audited lower
    bound on delta at the confidence of this case, ``together`` at that of all cases jointly, and
    ``violated_jointly`` whether the latter exceeds the published delta. ``changed``: other columns.
    """
    case = {
        "n": 100,
        "k": 10,
        "eps0": 2,
        "eps": 0.1,
        "count": 80,
        "confidence": 0.999,
        "runs": 10_000_000,
        "observes": "count",
        "upper_violated": False,
        "violated": alone > 0,
        "published_log10_delta": published,
        "audited_delta": alone,
        "joint_delta": together,
        "violated_jointly": violated_jointly,
    }
    return {**case, **changed}


def claim_rows():
    """Rows of claim_verdicts.csv: a statement of each verdict in the order of `CLAIM_VERDICTS`, one more.

    Statement number i has the id "c<i>". The last one holds as the first one does.
    """
    rows = []
    for number, verdict in enumerate((*CLAIM_VERDICTS, "holds"), start=1):
        rows.append(
            {
                "id": f"c{number}",
                "claim": f"delta falls, part {number}",
                "quote": f"it falls {number}",
                "version": "both",
                "where": "SV 5.1",
                "family": "",
                "about": "Figure 1",
                "verdict_published": "holds",
                "verdict_exact": "fails",
                "verdict": verdict,
                "statistic_published": f"because of {number}",
                "statistic_exact": f"because of {number}",
                "test_published": f"TV below 0.0{number}",
                "test_exact": "none" if number == 2 else "the same",
            }
        )
    return rows


def grid_row(grid, p, corrected, numbering=OUR_NUMBERING, delta=1e-30):
    """A row of grids.csv: the joint test of a grid of Paris, with p-value ``p`` and the ``corrected`` one.

    A grid is contradicted at the level 0.01.
    """
    verdict = "contradicted" if p <= 0.01 else "not contradicted"
    given = {
        "dataset": "paris",
        "grid": grid,
        "numbering": numbering,
        "delta": delta,
        "sensitivity": 1.0,
    }
    return given | {"p": p, "p_error": p / 30, "corrected_p": corrected, "verdict": verdict}


JOINT = {"item": "Table V", "mechanism": "gaussian", "test": "chi-square", "corrected_p": 0.0049}
SIZES = {
    ("paris", "uniform"): 11190,
    ("paris", "stepped"): 10260,
    ("san_francisco", "uniform"): 123026,
}
HAT = {"dataset": "synthetic", "n": 1000, "k": 15, "eps0": 4.0}
EVERYTHING = {
    "delta_hat": [  # at the second point the printed delta-hat is below every float
        HAT | {"eps": 0.5, "published": -110.0, "exact": -4.0},
        HAT | {"eps": 1.0, "published": -350.0, "exact": -12.0},
    ],
    "delta_hat_trials": [
        HAT | {"eps": eps, "form": form, "mechanism": mechanism, "value": value}
        for eps, form, mechanism, value in (
            (None, "", "shuffle+INV", 0.03),
            (None, "", "shuffle+INV", 0.05),
            (0.5, "published", "gaussian", 0.8),
            (1.0, "published", "gaussian", 0.4),
            (0.5, "exact", "gaussian", 0.05),
            (1.0, "exact", "gaussian", 0.06),
        )
    ],
    "constants": [{"floor": 1e-8, "ratio": 40.0}, {"floor": 1e-30, "ratio": 3.5}],
    "parity_ratio": parity_rows(),
    "audit": [  # the second contradicts the published delta alone only, the third shows nothing
        audit_row(-14.6, 0.0061, 0.0059, True),
        audit_row(-2.0, 0.0101, 0.0091, False, eps=1.0),
        audit_row(float("-inf"), 0.0, 0.0, False, eps=2.0),
    ],
    "claim_verdicts": claim_rows(),
    "joint_tests": [
        JOINT
        | {"verdict": "rejected", "power_half": 0.14, "power_sqrt2": 0.031, "power_double": 0.25}
    ],
    "grids": [
        grid_row("uniform", 0.0058, 0.0175),
        grid_row("stepped", 3e-4, 0.0011),
        grid_row("uniform", 0.035, 0.1, delta=1e-10),
        grid_row("uniform", 0.02, 0.1, "another", delta=1e-10),
        grid_row("stepped", 0.002, 0.01, delta=1e-10),
        grid_row("stepped", 0.014, 0.04, "another", delta=1e-10),
    ],
    "totals": [
        {"dataset": city, "grid": grid, "checkins": size} for (city, grid), size in SIZES.items()
    ],
}


def text_table(rows):
    """A table of the rows with all values as texts, as `read_verdicts` reads a file."""
    return pd.DataFrame(rows, dtype=str)


def results(rows, **tables):
    """What findings are stated from: verdicts ``rows``, and other ``tables`` of rows as read from files."""
    read = {
        name: pd.read_csv(io.StringIO(pd.DataFrame(content).to_csv()))
        for name, content in tables.items()
    }
    if "claim_verdicts" in tables:  # which is read as texts
        read["claim_verdicts"] = text_table(tables["claim_verdicts"])
    settings = {"titles": SETTINGS["titles"], "papers": PAPER}
    return {"verdicts": text_table(rows), **read, **settings}


def stated_findings(rows, skip=SLOW, **tables):
    """topic -> its findings, from `results` of the same arguments; topics ``skip`` are not computed."""
    topics = [topic for topic in TOPICS if topic not in skip]
    skipped = {topic: {"not_computed": "slow"} for topic in skip}
    return state_findings(results(rows, **tables), topics) | skipped


def html_page(rows, figures=FIGURES, settings=SETTINGS, template="index.html.j2", **tables):
    """The HTML text of a page of the report.

    ``rows``: rows of verdicts.csv. ``tables``: rows of the other tables by name, none by default.
    """
    printed = {
        "verdicts": text_table(rows),
        "claim_verdicts": text_table(tables.get("claim_verdicts", ())),
        "parameters": text_table(PARAMETERS),
        "cited_bounds": CITED_BOUNDS,
    }
    folder = ROOT / "scripts/report/page"
    parts = {path.name: path.read_text("utf-8") for path in folder.iterdir()}
    errata = (ROOT / "docs/errata.md").read_text("utf-8")
    findings = stated_findings(rows, **tables)
    return render(template, parts, page_values(printed, findings, figures, settings, errata))
