"""Made-up results for the tests of the report: verdicts on the real printed values, and the page of them."""

import io
import itertools
import math

import pandas as pd

from scripts.beyond.statements.joint_tables import OUR_NUMBERING
from scripts.beyond.statements.verdict_rules import CLAIM_VERDICTS
from scripts.report.sections import SECTIONS, ShownFigure, in_page_order
from scripts.report.state_findings import state_findings
from scripts.report.write_report import page_figure, page_values, render, templates_of
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
    "protocol": {"delta_floor": 1e-17, "sensitivity": 1},
    "titles": {"synthetic": "N(0, 2)", "san_francisco": "San Francisco", "paris": "Paris"},
}
PARAMETERS = [
    {"parameter": "eps0", "printed": "0.1 to 3", "table_IV": "1, 2, 3", "source": "Table III"}
]
# cited_bounds.csv with one row: the log10 of the delta that the bound of Balle et al. has at eps = 0.1.
CITED_BOUNDS = pd.DataFrame(
    [["Table 1", "delta", "balle", "100", "", "0.5", "0.1", "", "-3.9693"]],
    columns=[*DELTA_KEY, "cited"],
    dtype=str,
)
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
TEMPLATES = templates_of(
    {path.name: path.read_text("utf-8") for path in (ROOT / "scripts/report/page").iterdir()}
)
ERRATA = (ROOT / "docs/errata.md").read_text("utf-8")


# A row of verdicts.csv: column -> text.
USUAL_VERDICT = dict.fromkeys((*COLUMNS, "reproduced", "exact", "quantile", "low", "high"), "") | {
    "item": "Table IV",
    "n": "100",
    "printed": "1",
    "kind": "deterministic",
    "tolerance": "digits or 5 %",
    "verdict": "same digits",
    "source": "Somewhere",
}


def row(**fields):
    """A row of verdicts.csv: `USUAL_VERDICT` but for ``fields``."""
    return USUAL_VERDICT | fields


ONE_VERDICT = [row(printed="0")]


def real_verdicts():
    """A row of verdicts.csv for each of the 185 values that the paper prints, with made-up verdicts."""
    values = records(read_values(ROOT / "data/published/values.csv"))
    return [made_up_verdict(value, place) for place, value in enumerate(values)]


def made_up_verdict(value, place):
    """A row of verdicts.csv for a printed ``value``, whose ``place`` among all sets the verdict.

    The column reproduced has our value, which is the printed one here, and exact has the correct one. The
    columns quantile, low and high are for random values, and say where the printed one lies in our runs.
    """
    if value["mechanism"] == "koskela":
        return row(**value, verdict="not comparable")

    verdicts = ("same digits", "close", "differs")
    our_runs = {}
    if value["kind"] == "random":
        verdicts = ("consistent", "inconsistent")
        our_runs = {"quantile": "0.25", "low": "1e-7", "high": "0.1"}
    return row(
        **value,
        **our_runs,
        verdict=verdicts[place % len(verdicts)],
        reproduced=str(printed_to_decimal(value["printed"])),
        exact="2.5e-3" if value["mechanism"] == "this paper" else "",
    )


# Of a row of parity_ratio.csv: the columns whose numbers are arbitrary.
PARITY = {
    "k": 15,
    "low": 3.4,
    "high": 4.5,
    "eps": 0.25,
    "repetitions": 200,
    "uniform": 0.478,
    "limit": 1.25,
}


def parity_rows(eps0s=(1, 4, 6), datasets=("paris", "synthetic")):
    """Rows of parity_ratio.csv: the error of shuffling over that of Gaussian noise, for each setting.

    A setting is one value of each key of ``settings``. The ratios are those of `made_up_ratio`.
    """
    settings = {
        "dataset": datasets,
        "n": (1000, 100_000),
        "eps0": eps0s,
        "delta": (1e-6, 5e-4),
        "bound": ("upper", "lower"),
        "metric": ("tv", "individual_error", "most_popular", "ten_most_popular"),
        "comparison": ("unprojected", "projected", "the paper's pairing"),
    }
    return [
        parity_row(**dict(zip(settings, values, strict=True)))
        for values in itertools.product(*settings.values())
    ]


def parity_row(**setting):
    """The row of parity_ratio.csv with this setting (column -> value), and in other columns `PARITY`."""
    ratio = made_up_ratio(**setting)
    return (
        PARITY
        | setting
        | {
            "delta_rule": str(setting["delta"]),
            "cell": 3 if setting["metric"] == "individual_error" else 0,  # 0: of several cells
            "informative": setting["eps0"] != 0.1,  # better than the uniform histogram
            "ratio": ratio,
            "predicted": ratio if setting["comparison"] == "unprojected" else None,
        }
    )


def made_up_ratio(dataset, eps0, bound, metric, comparison, **_):
    """The error of shuffling over that of Gaussian noise at equal privacy, in one setting.

    For the upper bound on delta and the metric TV it is 1 + eps0 / 20 if no estimate is projected, 1 + eps0 /
    30 if both are, and 1 - eps0 / 30 in the paper's pairing. For other bounds and metrics it is larger by 50:
    so a test sees where a wrong row is taken. So it does at the one setting that the paper did not run.
    """
    excess = eps0 / 30
    if (dataset, eps0) == ("synthetic", 6):  # which the paper did not run
        excess += 1
    times_excess = {"unprojected": 1.5, "projected": 1, "the paper's pairing": -1}
    ratio = 1 + times_excess[comparison] * excess
    return ratio if (bound, metric) == ("upper", "tv") else ratio + 50


# Of a row of audit.csv: the setting, and what the tests leave as it is.
AUDITED = {
    "n": 100,
    "k": 10,
    "eps0": 2,
    "eps": 0.1,
    "count": 80,
    "confidence": 0.999,
    "runs": 10_000_000,
    "observes": "count",
    "upper_violated": False,
}


def audit_row(published, alone, together, violated_jointly, **changed):
    """A row of audit.csv: one case in which the attack bounds delta from below.

    ``published`` is the log10 of the delta that the paper's formula gives. ``alone`` is the audited lower
    bound on delta at the confidence of this case alone, ``together`` the bound that holds for all cases
    jointly. ``violated_jointly`` says whether ``together`` exceeds the published delta. ``changed`` has
    columns whose value is not that of `AUDITED`.
    """
    audited = {
        "violated": alone > 0,
        "published_log10_delta": published,
        "audited_delta": alone,
        "joint_delta": together,
        "violated_jointly": violated_jointly,
    }
    return AUDITED | audited | changed


# A row of claim_verdicts.csv: a made-up statement of the paper with our verdict, column -> text.
USUAL_CLAIM = {
    "claim": "delta falls",
    "quote": "it falls",
    "where": "SV 5.1",
    "family": "",
    "about": "Figure 1",
    "verdict_published": "holds",
    "verdict_exact": "fails",
    "statistic_published": "because",
    "statistic_exact": "because",
    "test_published": "TV below 0.01",
    "test_exact": "the same",
}


def claim_rows(verdicts=(*CLAIM_VERDICTS, "holds"), **fields):
    """Rows of claim_verdicts.csv: made-up statements c1, c2 and so on of the paper, with these ``verdicts``.

    There are seven verdicts. By default each occurs once, but two statements hold. In the other columns all
    statements have ``fields``, or else `USUAL_CLAIM`.
    """
    rows = []
    for number, verdict in enumerate(verdicts, start=1):
        rows.append(USUAL_CLAIM | {"id": f"c{number}", "verdict": verdict} | fields)
    return rows


def grid_row(grid, p, corrected, numbering=OUR_NUMBERING, delta=1e-17):
    """A row of grids.csv: whether what the paper prints of Paris fits a ``grid`` (uniform or stepped).

    ``p`` is the p-value of the test that the printed errors are like those of our runs. ``corrected`` is this
    p-value after a correction for several tests. ``numbering`` is how cells are numbered, ``delta`` the delta
    of the Gaussian noise.
    """
    return {
        "dataset": "paris",
        "grid": grid,
        "numbering": numbering,
        "delta": delta,
        "sensitivity": 1.0,
        "p": p,
        "p_error": p / 30,  # the standard error of p, made up
        "corrected_p": corrected,
        "verdict": "contradicted" if p <= 0.01 else "not contradicted",
    }


def csv_table(text):
    """The table that a text in CSV has; spaces after a comma only align its columns."""
    return pd.read_csv(io.StringIO(text), skipinitialspace=True)


# The tables that no setting changes, all of log10 deltas or of scales: name -> rows.
IN_EVERY_RUN = {
    "cited_bounds": csv_table("""
item,     mechanism,  eps, cited
Table II, balle,      0.1, -2
Table 1,  balle,      0.2, -8
Table 1,  erlingsson, 0.1,
Table 1,  balle,      0.1, -3.9693
Table 1,  feldman,    0.1, -3
Table 1,  koskela,    0.1, -5.8822
"""),
    "gaussian_scale": csv_table("""
eps, log10_delta, exact, published, published_log10_delta
1,   -30,         9.5,   9.0,       -17.2
4,   -8,          1.4,   1.3,       -7.9
4,   -10,         1.7,   1.6,       -9.9
4,   -17,         2.1,   2.2,       -17.8
4,   -30,         2.8,   2.2,       -17.8
"""),
}
EVERYTHING = {  # name of another table -> its rows
    # At the second point the printed delta-hat (log10) is below every float.
    "delta_hat": csv_table("""
dataset,   n,    k,  eps0, eps, published, exact
synthetic, 1000, 15, 4,    0.5, -110,      -4
synthetic, 1000, 15, 4,    1.0, -350,      -12
"""),
    "delta_hat_trials": csv_table("""
dataset,   n,    k,  eps0, eps, noise,       projected, gaussian, ratio, standard_error
synthetic, 1000, 15, 4,    0.5, published,   False,     1.8,      20.0,  0
synthetic, 1000, 15, 4,    1.0, published,   False,     0.8,      10.0,  0
synthetic, 1000, 15, 4,    0.5, published,   True,      0.4,      5.0,   0
synthetic, 1000, 15, 4,    1.0, published,   True,      0.3,      3.0,   0
synthetic, 1000, 15, 4,    0.5, diffprivlib, False,     0.3,      4.0,   0
synthetic, 1000, 15, 4,    1.0, diffprivlib, True,      0.05,     0.7,   0
synthetic, 1000, 15, 4,    0.5, exact,       False,     0.12,     1.5,   0
synthetic, 1000, 15, 4,    1.0, exact,       True,      0.1,      1.2,   0
"""),
    # N(0, 2) at the ends of Figure 2, and Paris in Figure 5, each for two floors of which the second is ours.
    "constants": csv_table("""
dataset,   experiment, end,      eps0, eps, n,      floor, ours,  ratio, low,  high, shuffle+INV
synthetic, tv,         largest,  4,    4,   100000, 1e-8,  False, 40.0,  39.0, 41.0, 0.1
synthetic, tv,         largest,  4,    4,   100000, 1e-17, True,  28.0,  27.0, 29.0, 0.1
synthetic, tv,         smallest, 4,    4,   1000,   1e-8,  False, 1.2,   1.1,  1.3,  0.4
synthetic, tv,         smallest, 4,    4,   1000,   1e-17, True,  0.9,   0.8,  1.0,  0.4
paris,     estimates,  largest,  2,    2,   11190,  1e-8,  False, 90.0,  88.0, 92.0, 0.5
paris,     estimates,  largest,  2,    2,   11190,  1e-17, True,  60.0,  58.0, 62.0, 0.5
""").assign(sensitivity=1, standard_error=0.001, repetitions=1000, confidence=0.95),
    "designs": csv_table("""
n,       k,    eps, delta, rounds, name,              eps0
100000,  256,  1,   1e-6,  1,      k-RR with dummies, 10.0
100000,  256,  1,   1e-6,  1,      k-RR,              7.9
1000000, 4096, 0.1, 1e-6,  1,      k-RR,              7.3
"""),
    "parity_ratio": parity_rows(),
    "unequal_privacy": csv_table("""
mechanism, n,      k,  eps0, delta, eps
gaussian,  ,       ,   ,     1e-6,  3.0
gaussian,  ,       ,   ,     1e-17, 7.6
shuffle,   1000,   15, 4,    1e-6,  1.4
shuffle,   100000, 15, 4,    1e-6,  0.1
shuffle,   1000,   15, 4,    1e-17, 2.9
shuffle,   100000, 15, 4,    1e-17, 0.3
"""),
    "audit": [  # the second contradicts the published delta alone only, the third shows nothing
        audit_row(-14.6, alone=0.0061, together=0.0059, violated_jointly=True),
        audit_row(-2.0, alone=0.0101, together=0.0091, violated_jointly=False, eps=1.0),
        audit_row(
            -math.inf,
            alone=0.0,
            together=0.0,
            violated_jointly=False,
            eps=2.0,
            observes="histogram",
        ),
    ],
    "claim_verdicts": claim_rows(),
    "joint_tests": csv_table("""
item,    mechanism, test,       corrected_p, verdict,  power_half, power_sqrt2, power_double
Table V, gaussian,  chi-square, 0.0049,      rejected, 0.14,       0.031,       0.25
"""),
    "grids": [
        grid_row("uniform", 0.0058, 0.0175),
        grid_row("stepped", 3e-4, 0.0011),
        grid_row("uniform", 0.035, 0.1, delta=1e-10),
        grid_row("uniform", 0.02, 0.1, "another", delta=1e-10),
        grid_row("stepped", 0.002, 0.01, delta=1e-10),
        grid_row("stepped", 0.014, 0.04, "another", delta=1e-10),
    ],
    "noise_scale": csv_table("""
digits,  errors, low, high
rounded, 30,     1.6, 2.3
cut off, 30,     1.7, 2.6
"""),
}


def text_table(rows):
    """A table of the rows with all values as texts, as `read_verdicts` reads a file."""
    return pd.DataFrame(rows, dtype=str)


def results(rows, **tables):
    """What findings are stated from: tables by name, titles of datasets, and the paper's datasets and eps0s.

    ``rows`` are those of the table verdicts, ``tables`` the rows of other tables by name. Those of
    `IN_EVERY_RUN` are there, too.
    """
    read = {name: pd.DataFrame(content) for name, content in (IN_EVERY_RUN | tables).items()}
    return read | {"verdicts": text_table(rows), "titles": SETTINGS["titles"], "papers": PAPER}


def html_page(
    file="index.html",
    verdicts=ONE_VERDICT,
    figures=FIGURES,
    settings=SETTINGS,
    errata="# Errata\n\n## 1. One\n",
    **tables,
):
    """The HTML text of a page of the report, by default of the main one, with short ``errata``.

    ``verdicts``: rows of verdicts.csv. ``figures``: what the page says of each figure, by default of made-up
    ones. ``settings``: those of the run, by default the paper's. ``tables``: rows of the other tables by
    name, by default those of `IN_EVERY_RUN` only. `PARAMETERS` and `CITED_BOUNDS` are tables of one row.
    """
    printed = {
        "verdicts": text_table(verdicts),
        "claim_verdicts": text_table(tables.get("claim_verdicts", ())),
        "parameters": text_table(PARAMETERS),
        "cited_bounds": CITED_BOUNDS,
    }
    findings = state_findings(results(verdicts, **tables))
    values = page_values(printed, findings, figures, settings, errata)
    return render(file, TEMPLATES, values)
