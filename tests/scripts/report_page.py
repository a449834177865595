"""What the report page's tests share: a parsed page, verdicts to put on it, and the page made from them."""

import re
import struct
import sys
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import write_report  # noqa: E402

from tightshuffle import published, report  # noqa: E402

TEMPLATE = (ROOT / "workflow/report/index.html.j2").read_text(encoding="utf-8")
STYLE = (ROOT / "workflow/report/style.css").read_text(encoding="utf-8")
VOID = {"meta", "link", "img", "input", "br", "hr"}
PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">II", 640, 480) + bytes(9)
SETTINGS = {
    "source": "bundled",
    "grid": "published",
    "seed": 7,
    "protocol": {"delta_form": "published", "delta_floor": 1e-30, "sensitivity": 1},
    "datasets": {
        "synthetic": {"title": "N(0, 2)", "kind": "normal", "individual": {"repetitions": 1000}},
        "san_francisco": {"title": "San Francisco", "kind": "gowalla", "individual": {"repetitions": 1000}},
        "paris": {"title": "Paris", "kind": "gowalla", "individual": {"repetitions": 1000}},
    },
}
TOTALS = [{"dataset": "paris", "grid": "stepped", "columns": "15", "checkins": "10260"}]
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
            self.kind = attrs.get("class", "").split()
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        raise AssertionError(f"<{tag}/> is no HTML")

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag
        if tag == "td" and "printed" in self.kind:
            self.printed = self.rows[-1][1][-1]
        if tag == "td" and "verdict" in self.kind:
            words = re.fullmatch(
                r"[^a-z]* (exact|close|differs|(in)?consistent|not comparable)( [a-z])?", self.rows[-1][1][-1]
            )
            self.judged.append((self.printed, words[1]))

    def handle_data(self, data):
        if "style" not in self.open:
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
    given = {"item": "Table IV", "kind": "deterministic", "tolerance": "digits or 5 %", "verdict": "exact"}
    return {**dict.fromkeys(report.COLUMNS, ""), "source": "Somewhere", **given, **fields}


def judged(values):
    """Verdicts for the real printed values, one of each kind and verdict among them."""
    rows = []
    for place, value in enumerate(values):
        ours = str(published.printed_to_decimal(value["printed"]))
        verdicts = (
            ("consistent", "inconsistent") if value["kind"] == "random" else ("exact", "close", "differs")
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
    return judged(published.read_values(ROOT / "data/published/values.csv"))


def render(rows, figures=(), settings=SETTINGS, totals=TOTALS, parameters=PARAMETERS):
    return write_report.render(
        TEMPLATE, STYLE, rows, totals, parameters, list(figures), settings, [("numpy", "2.0")]
    )
