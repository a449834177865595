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
# A row of cited_bounds.csv.
CITED = [["Table 1", "delta", "balle", "100", "", "0.5", "0.1", "", "-3.9693"]]
SLOW = {"designs", "noise"}  # topics of seconds, which the page does not state
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
    """One verdict: blank but for ``fields``."""
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
    """All printed values, judged: one of each kind and verdict among them."""
    judged = []
    for place, value in enumerate(records(read_values(ROOT / "data/published/values.csv"))):
        verdict = row(**value)
        if value["kind"] == "random":
            verdict.update(quantile="0.25", low="1e-7", high="0.1")
            verdicts = ("consistent", "inconsistent")
        else:
            verdicts = ("same digits", "close", "differs")
        if value["mechanism"] == "koskela":
            verdict["verdict"] = "not comparable"
        else:
            verdict["verdict"] = verdicts[place % len(verdicts)]
            verdict["reproduced"] = str(printed_to_decimal(value["printed"]))
            verdict["exact"] = "2.5e-3" if value["mechanism"] == "this paper" else ""
        judged.append(verdict)
    return judged


METRICS = ("tv", "individual_error", "most_popular", "ten_most_popular")


def parity_rows(eps0s=(1, 4, 6), datasets=("paris", "synthetic")):
    """Rows of parity_ratio.csv: at eps0 = 0.1 nothing is informative.

    By upper and TV the ratio is 1 + eps0 / 20, as is its closed form, after projection 1 + eps0 / 30 and in
    the paper's pairing 1 - eps0 / 30; all else is far larger.
    """
    ratios = []
    for dataset, n, eps0, delta, bound, metric in itertools.product(
        datasets, (1000, 100_000), eps0s, (1e-6, 5e-4), ("upper", "lower"), METRICS
    ):
        share = eps0 / 30
        if (dataset, eps0) == ("synthetic", 6):  # which the paper did not run
            share += 1
        far = 0 if (bound, metric) == ("upper", "tv") else 50
        by_comparison = {
            "unprojected": 1 + 1.5 * share + far,
            "projected": 1 + share + far,
            "the paper's pairing": 1 - share + far,
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
    """A case of audit.csv: the published log10 delta, and the bounds on delta alone and with all others."""
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
    """One claim of each verdict, two that hold."""
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


def as_text(rows):
    """Rows as `read_verdicts` reads them."""
    return pd.DataFrame(rows, dtype=str)


def results(rows, **tables):
    """Verdicts ``rows`` and other ``tables`` of rows, as they are read from their files."""
    read = {
        name: pd.read_csv(io.StringIO(pd.DataFrame(of).to_csv())) for name, of in tables.items()
    }
    text = {name: as_text(of) for name, of in tables.items() if name == "claim_verdicts"}
    return {
        "verdicts": as_text(rows),
        **read,
        **text,
        "titles": SETTINGS["titles"],
        "papers": PAPER,
    }


def found_in(rows, skip=SLOW, **tables):
    """The findings of `results`, but for the topics ``skip``."""
    topics = [topic for topic in TOPICS if topic not in skip]
    skipped = {topic: {"not_computed": "slow"} for topic in skip}
    return state_findings(results(rows, **tables), topics) | skipped


def page_of(rows, figures=FIGURES, settings=SETTINGS, template="index.html.j2", **tables):
    """A page of verdicts ``rows``; ``tables``: rows of the other tables, none by default."""
    given = {
        "verdicts": rows,
        "claim_verdicts": tables.get("claim_verdicts", ()),
        "parameters": PARAMETERS,
    }
    given = {name: as_text(found) for name, found in given.items()}
    given["cited_bounds"] = pd.DataFrame(CITED, columns=[*DELTA_KEY, "cited"], dtype=str)
    parts = {
        path.name: path.read_text("utf-8") for path in (ROOT / "scripts/report/page").iterdir()
    }
    errata = (ROOT / "docs/errata.md").read_text("utf-8")
    return render(
        template, parts, page_values(given, found_in(rows, **tables), figures, settings, errata)
    )
