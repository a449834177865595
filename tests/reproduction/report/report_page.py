"""What the report page's tests share: a parsed page, verdicts to put on it, and the page that shows them."""

import io
import itertools
import re
import struct
from html.parser import HTMLParser

import pandas as pd

from reproduction.report.findings import TOPICS, Results, findings, to_json
from reproduction.report.page import render
from reproduction.report.page_values import page_values
from reproduction.report.quotes import read_findings
from reproduction.verification.claims.verdict_rules import CLAIM_VERDICTS
from reproduction.verification.printed import printed_to_decimal, read_values, records
from reproduction.verification.verdicts import VERDICT_COLUMNS
from tests import ROOT
from tests.reproduction.figures.rows import rows

TEXTS = {"verdicts", "claim_verdicts", "parameters"}  # tables whose numbers stay as they are written
PAGES_TOPICS = ("printed", "claims", "theorem", "audit", "parity")
PARTS = {
    path.name: path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "reproduction/report/page").iterdir())
}
STYLE = PARTS["style.css"]
VOID = {"meta", "link", "img", "input", "br", "hr"}
PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">II", 640, 480) + bytes(9)
SVG = b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="640" height="480"></svg>'
OWN = {"kind": "counts", "title": "mine", "file": "own.csv", "tv": {}}
FIGURES = rows(mine=OWN)
SETTINGS = {
    "results": "results",
    "configfiles": [],
    "source": "bundled",
    "grid": "uniform",
    "seed": 7,
    "changed": [],
    "figures": [FIGURES["fig1_delta_surface"]._asdict()],
    "papers": ["synthetic", "san_francisco", "paris"],
    "protocol": {"delta_form": "published", "delta_floor": 1e-30, "sensitivity": 1},
    "datasets": {
        "synthetic": {"title": "N(0, 2)", "kind": "normal", "individual": {"repetitions": 1000}},
        "san_francisco": {"title": "San Francisco", "kind": "gowalla", "individual": {"repetitions": 1000}},
        "paris": {"title": "Paris", "kind": "gowalla", "individual": {"repetitions": 1000}},
    },
}
CHANGED = [("datasets.paris.tv.budgets", "[{eps0: 4, eps: 4}]", "[{eps0: 4, eps: 5}]")]
TOTALS = [{"dataset": "paris", "grid": "stepped", "columns": "15", "checkins": "10260"}]
REAL_ERRATA = (ROOT / "docs/errata.md").read_text(encoding="utf-8")
ERRATA = "# Errata\n\n## 1. A point\n\nWith $x_0$.\n"
DATA = [{"path": "data/published/values.csv", "bytes": 12345, "sha256": "ab" * 32}]
PARAMETERS = [{"parameter": "eps0", "printed": "0.1 to 3", "table_IV": "1, 2, 3", "source": "Table III"}]


class Page(HTMLParser):
    """A parsed page; fails on a tag that is closed in the wrong place or never."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.rows, self.text = [], [], [], [], ""
        self.judged = []  # (printed, verdict) of every row that has both
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "tr":
            self.rows.append(("tbody" in self.open, []))
        if tag in ("td", "th"):
            self.rows[-1][1].append("")
            self.kind, self.given = attrs.get("class", "").split(), attrs.get("data-sort")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        raise AssertionError(f"<{tag}/> is no HTML")

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag
        if tag == "td" and "printed" in self.kind:
            self.printed = self.given  # as printed; what is shown is typeset
        if tag == "td" and "verdict" in self.kind:
            words = re.fullmatch(
                r"[^a-z]* (same digits|close|differs|(in)?consistent|not comparable)( [a-z])?",
                self.rows[-1][1][-1],
            )
            self.judged.append((self.printed, words[1]))

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text += data
        if self.rows and {"td", "th"} & set(self.open):
            self.rows[-1][1][-1] += data

    def of(self, tag):
        """The attributes of every element ``tag``."""
        return [attrs for name, attrs in self.tags if name == tag]

    def body(self):
        """The cells' texts of every row in a table's body."""
        return [[cell.strip() for cell in cells] for in_body, cells in self.rows if in_body]


def row(**fields):
    """One verdict: blank but for ``fields``."""
    given = {
        "item": "Table IV",
        "kind": "deterministic",
        "tolerance": "digits or 5 %",
        "verdict": "same digits",
    }
    return {**dict.fromkeys(VERDICT_COLUMNS, ""), "source": "Somewhere", **given, **fields}


def judged(values):
    """Verdicts for the real printed values, one of each kind and verdict among them."""
    rows = []
    for place, value in enumerate(values):
        ours = str(printed_to_decimal(value["printed"]))
        verdicts = (
            ("consistent", "inconsistent")
            if value["kind"] == "random"
            else ("same digits", "close", "differs")
        )
        drawn = {"quantile": "0.25", "low": "1e-7", "high": "0.1"} if value["kind"] == "random" else {}
        exact = "2.5e-3" if value["mechanism"] == "this paper" else ""
        fields = {"verdict": verdicts[place % len(verdicts)], "reproduced": ours, "exact": exact}
        if value["mechanism"] == "koskela":
            fields = {"verdict": "not comparable"}
        rows.append(row(**{**value, **fields, **drawn}))
    return rows


def real_verdicts():
    """All printed values, judged."""
    return judged(records(read_values(ROOT / "data/published/values.csv")))


def parity_rows(eps0s=("1", "6"), deltas=("1e-06", "0.0005"), sizes=("1000", "100000"), datasets=("paris",)):
    """Rows of parity.csv and parity_ratio.csv, for both bounds and metrics.

    By upper and TV the ratio is 1 + eps0 / 20, as is its closed form, after projection 1 + eps0 / 30 and in
    the paper's pairing 1 - eps0 / 30; all else is far larger.
    """
    means, ratios = [], []
    for dataset, n, eps0, delta, bound, metric in itertools.product(
        datasets, sizes, eps0s, deltas, ("upper", "lower"), ("tv", "individual_error")
    ):
        setting = {"dataset": dataset, "n": n, "k": "192", "eps0": eps0, "delta_rule": delta, "delta": delta}
        setting |= {"bound": bound, "eps": "0.25", "metric": metric, "repetitions": "200"}
        level = 10 / float(n) / float(eps0) * (1 if metric == "tv" else 70)
        baseline = {"uniform": "0.478", "informative": str(eps0 != "0.1"), "limit": "1.25"}
        other = 0 if (bound, metric) == ("upper", "tv") else 50
        excess = {"unprojected": float(eps0) / 20 + other, "projected": float(eps0) / 30 + other}
        excess["the paper's pairing"] = other - float(eps0) / 30
        for mechanism, estimator, share in (
            ("shuffle", "none", 9),
            ("shuffle", "inversion", excess["unprojected"]),
            ("shuffle", "projection", excess["projected"]),
            ("gaussian", "none", 0),
            ("gaussian", "projection", 0),
        ):
            mean = repr(level * (1 + share))
            means.append(setting | {"mechanism": mechanism, "estimator": estimator, "mean": mean})
        for kind, share in excess.items():
            size = {"ratio": 1 + share, "low": 0.99 * (1 + share), "high": 1.01 * (1 + share)}
            size = {name: repr(value) for name, value in size.items()}
            size |= {"predicted": repr(1 + share) if kind == "unprojected" else ""} | baseline
            ratios.append(setting | {"comparison": kind, **size})
    return means, ratios


def audit_rows():
    """The first row contradicts the published delta, the second does alone only, the third shows nothing."""
    shared = {"n": "100", "k": "10", "eps0": "2", "count": "80", "confidence": "0.999", "runs": "10000000"}
    columns = ("eps", "published_log10_delta", "exact_log10_delta", "upper_log10_delta", "audited_delta")
    columns += ("joint_delta", "violated", "violated_jointly")
    values = (
        ("0.1", "-14.6", "-2.21", "-1.3", "0.0061", "0.0059", True, True),
        ("1.0", "-2.0", "-2.0", "-1.9", "0.0101", "0.0091", True, False),
        ("2.0", "-inf", "-inf", "-12.0", "0.0", "0.0", False, False),
    )
    shared |= {"observes": "count", "upper_violated": False}
    return [shared | dict(zip(columns, found, strict=True)) for found in values]


def claim_rows():
    """One claim of each verdict, two that hold."""
    verdicts = (*CLAIM_VERDICTS, "holds")
    return [
        {"id": f"c{number}", "claim": f"delta falls, part {number}", "version": "both", "where": "SV 5.1"}
        | {
            "quote": f"it falls {number}",
            "family": "",
            "about": "Figure 1",
            "test_published": "the formula",
            "test_exact": "both bounds",
        }
        | {"statistic_published": "0 of 9 rise", "verdict_published": "holds", "statistic_exact": ""}
        | {"verdict_exact": "fails", "verdict": verdict, "why": f"because of {number}"}
        for number, verdict in enumerate(verdicts, start=1)
    ]


def plan_rows():
    """What a practitioner may use, for two wishes."""
    errors = {"tv_shuffle_inv": "0.0223456", "tv_gaussian": "0.02", "tv_local": "123.456"}
    return [
        {"n": "100000", "k": "408", "eps": eps, "delta": "1e-06", "eps0": eps0, "capped": capped, **errors}
        for eps, eps0, capped in (("0.5", "6.1234567", "False"), ("1.0", "7.0", "True"))
    ]


def joint_rows():
    """One joint test that rejects, one for information, one of a single line."""
    names = ("item", "mechanism", "line", "test", "values", "below_median", "p", "corrected_p", "verdict")
    names += ("power_half", "power_sqrt2", "power_double")
    judged = ("0.0049", "rejected", "0.14", "0.031", "0.25")
    rows = (
        ("Table V", "gaussian", "", "chi-square", "14", "9", "0.00123", *judged),
        ("both", "gaussian", "", "chi-square", "28", "20", "0.006", *[""] * 5),
        (
            "Table V",
            "gaussian",
            "synthetic, n = 1000",
            "number below the median",
            "7",
            "7",
            "0.02",
            *[""] * 5,
        ),
    )
    return [dict(zip(names, found, strict=True)) for found in rows]


def grid_rows():
    """Both grids of Paris, of which one is contradicted."""
    names = ("dataset", "grid", "mechanism", "p", "verdict")
    found = (
        ("paris", "uniform", "gaussian", "0.012", ""),
        ("paris", "uniform", "both", "0.0027", "contradicted"),
        ("paris", "stepped", "both", "0.5", "not contradicted"),
    )
    return [dict(zip(names, row, strict=True)) for row in found]


EVERYTHING = dict(zip(("parity", "parity_ratio"), parity_rows(), strict=True)) | {
    "parity_plan": plan_rows(),
    "audit": audit_rows(),
    "claim_verdicts": claim_rows(),
    "joint_tests": joint_rows(),
    "grids": grid_rows(),
}


def as_text(rows):
    """Rows as `read_verdicts` reads them."""
    return pd.DataFrame(rows, dtype=str)


def as_read(rows):
    """Rows as pandas reads them from their file."""
    if not len(rows):
        return pd.DataFrame()
    return pd.read_csv(io.StringIO(pd.DataFrame(rows).to_csv(index=False)), dtype={"delta_rule": str})


def found_in(tables, *names, **texts):
    """The findings of these tables; by default those that the page states."""
    fields = Results.__dataclass_fields__
    results = Results(**{name: table for name, table in tables.items() if name in fields}, **texts)
    topics = [topic for topic in TOPICS if topic.__name__ in (names or PAGES_TOPICS)]
    return read_findings(to_json(findings(results, topics)))


def page_of(
    rows,
    figures=(),
    settings=SETTINGS,
    totals=TOTALS,
    parameters=PARAMETERS,
    data=DATA,
    errata=ERRATA,
    **optional,
):
    """The page of verdicts ``rows``; ``optional``: rows of other tables that it shows, none by default."""
    tables = {"verdicts": rows, "totals": totals, "parameters": parameters, **optional}
    tables = {name: as_text(found) if name in TEXTS else as_read(found) for name, found in tables.items()}
    values = page_values(tables, found_in(tables), list(figures), settings, errata)
    return render("index.html.j2", PARTS, values | {"data": data, "libraries": [("numpy", "2.0")]})
