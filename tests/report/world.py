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
    """A row of verdicts.csv: ``fields`` (column -> text), in other columns the ``usual`` text, or else ""."""
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
    """A row of verdicts.csv for each value that the paper prints, with made-up verdicts.

    Values of the mechanism koskela are "not comparable", without a value of ours. For all others the verdicts
    take turns: those that a random value can have, and those of values that are not random. The columns are:

    - reproduced, our value: the printed one;
    - exact, the correct value: 2.5e-3 for the mechanism "this paper", else blank;
    - of a random value, quantile, the share of our repetitions below it: 25 %; and low and high, the ends of
      the interval in which it should be. All three are made up.
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

    There is a row for each dataset, eps0, comparison (of which estimates are projected), two n, two delta,
    two bounds on delta and four metrics of the error. For the upper bound and the metric TV the ratios are:

    - unprojected: 1 + eps0 / 20, which is also in ``predicted``, the column for its closed form;
    - projected: 1 + eps0 / 30;
    - the paper's pairing: 1 - eps0 / 30.

    For the other bound and metrics each ratio is larger by 50, so a test sees where one of these is taken
    instead. For the same reason ``excess`` is larger by 1 for "synthetic" at eps0 = 6. At eps0 = 0.1 no
    estimate is informative (better than the uniform histogram). The other columns have arbitrary numbers.
    """
    ratios = []
    for dataset, n, eps0, delta, bound, metric in itertools.product(
        datasets, (1000, 100_000), eps0s, (1e-6, 5e-4), ("upper", "lower"), METRICS
    ):
        excess = eps0 / 30  # of the ratio over 1, where both estimates are projected
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
    bound on delta at the confidence of this case alone, ``together`` the bound that holds for all cases
    jointly. ``violated_jointly`` says whether ``together`` exceeds the published delta. ``changed`` has
    columns whose value is not that of ``case``.
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
    """Rows of claim_verdicts.csv: eight made-up statements of the paper.

    They have the seven verdicts in the order of `CLAIM_VERDICTS`, from "holds" to "fails", and then "holds"
    again. All statements are about Figure 1. Statement number i has the id "c<i>", and i in some other texts.
    Columns that end in published or exact are on one of the two readings. Statement 2 alone has the exact
    test "none": it is not tested exactly.
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
    """A row of grids.csv: whether what the paper prints of Paris fits a ``grid`` (uniform or stepped).

    ``p`` is the p-value of the test that the printed errors are like those of our runs. ``corrected`` is this
    p-value after a correction for several tests. Here a grid is contradicted if ``p`` is at most 0.01.
    ``numbering`` is how cells are numbered, ``delta`` the delta of the Gaussian noise. ``p_error``, the
    standard error of ``p``, is made up.
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
    """What findings are stated from: tables by name, titles of datasets, and the paper's datasets and eps0s.

    ``rows`` are those of the table verdicts, ``tables`` the rows of other tables by name. These are written
    as CSV and read again, so their columns have the types that a file's have. But verdicts and claim_verdicts
    have texts only.
    """
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
    """The HTML text of a page of the report, with the real errata.

    ``rows``: rows of verdicts.csv, such as `real_verdicts`. ``figures``: what the page says of each figure,
    by default of made-up ones. ``settings``: those of the run, by default the paper's. ``template``: the
    file of the page, by default of the main one. ``tables``: rows of the other tables by name, by default
    none. `PARAMETERS` and `CITED_BOUNDS` are tables of one row.
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
