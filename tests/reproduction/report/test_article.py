"""The article: no result is typed into its template, and the same values give the same bytes."""

import hashlib
import json
import math
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import typst

from reproduction.report import article
from reproduction.report.article import Results, article_values, set_article
from reproduction.verification.verdicts import TIMES
from tests import ROOT
from tests.reproduction.report.report_page import (
    CHANGED,
    audit_rows,
    claim_rows,
    parity_rows,
    real_verdicts,
)
from tests.reproduction.report.test_which_page import table as study_table

PARTS = {path.name: path.read_bytes() for path in sorted((ROOT / "reproduction/report/article").iterdir())}
TEMPLATE = PARTS[article.MAIN].decode()
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9z"/></svg>'
FIGURES = re.findall(r'drawn\("(\w+)"', TEMPLATE)
NAMED = r"(Theorem|Table|Figure|Corollary|Section|eq\.) \(?\d+\)?"  # parts of the paper


def ratio_table():
    _, rows = parity_rows()
    published = [rows[0] | {"comparison": "published", "bound": "", "ratio": ratio} for ratio in ("3", "8")]
    table = pd.DataFrame(rows + published)
    numbers = ["n", "eps0", "ratio", "predicted", "uniform"]
    table[numbers] = table[numbers].apply(pd.to_numeric)
    return table.assign(limit=1.25, informative=table["informative"] == "True")


def results(**changed):
    found = {
        "verdicts": real_verdicts(),
        "claim_verdicts": claim_rows(),
        "audit": audit_rows(),
        "joint": [
            {"verdict": "not rejected", "corrected_p": "0.25"} | dict.fromkeys(TIMES, "0.126"),
            {"verdict": "", "corrected_p": ""},
        ],
        "grids": [
            {"dataset": city, "p": p, "verdict": "contradicted" if float(p) < 0.01 else "not contradicted"}
            for city, p in (("paris", "0.0027"), ("paris", "4e-4"), ("rome", "0.0027"), ("rome", "0.5"))
        ],
        "totals": [
            {"dataset": "paris", "grid": grid, "checkins": checkins}
            for grid, checkins in (("uniform", "12000"), ("stepped", "10500"))
        ],
        "study": study_table(),
        "ratios": ratio_table(),
        "captions": dict.fromkeys(FIGURES, "A caption.\n\nMore of it."),
        "titles": {"paris": "Paris"},
    }
    return Results(**found | changed)


@pytest.fixture(scope="module")
def values():
    return article_values(results())


def parts():
    return PARTS | {f"{name}.svg": SVG for name in FIGURES}


def test_no_digit_of_the_template_is_a_result():
    text = re.sub(r"^//[^\n]*|```.*?```|`[^`]*`", "", TEMPLATE, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"@[\w-]+|#?v(\.\w+(\(\))?)+|#?has\(.*?\)|drawn\(.*?\)|left: \d", "", text)
    text = re.sub(NAMED, "", text)
    formulas = re.findall(r"\$(.*?)\$", text, flags=re.DOTALL)
    assert len(formulas) > 150
    # 0, 1 and 2 belong to formulas: x_0, 1 / n, sqrt(2).
    assert [formula for formula in formulas if set(re.findall(r"[\d.]*\d", formula)) - {"0", "1", "2"}] == []
    assert re.findall(r"\S*\d\S*", re.sub(r"\$.*?\$", "", text, flags=re.DOTALL)) == []


def test_the_same_values_give_the_same_bytes(values):
    first = set_article(parts(), values)
    assert first.startswith(b"%PDF")
    assert first == set_article(parts(), values)
    assert str(ROOT).encode() not in first


def test_what_a_configuration_lacks_is_left_out():
    bare = article_values(
        results(joint=[], grids=[], totals=[], ratios=pd.DataFrame({"dataset": []}), captions={}, audit=[])
    )
    assert [name for name, value in bare.items() if value is None] == [
        "joint", "cells", "audit", "parity",
    ]  # fmt: skip
    assert set_article(PARTS, bare).startswith(b"%PDF")


def test_a_broken_template_is_said_in_typsts_words(values):
    with pytest.raises(ValueError, match=r"^article.typ: .*unknown variable"):
        set_article(parts() | {article.MAIN: b"#nothing"}, values)
    with pytest.raises(ValueError, match=r"^article.typ: .*unknown font family"):
        set_article(parts() | {article.MAIN: b'#set text(font: "Nobody Has It")\nA'}, values)


def test_the_example_by_hand_is_that_of_the_errata(values):
    hand = values["hand"]
    assert (hand["ratio"], hand["printed"], hand["mass"]) == ("4/3", "1", "7/8")


def set_in_code(values):
    """What the article that Typst makes of ``values`` shows as code, in its order."""
    files = parts() | {"main.typ": PARTS[article.MAIN], "values.json": json.dumps(values).encode()}
    return json.loads(typst.query(files, "raw", field="text"))


def test_other_settings_than_the_papers_are_named_at_the_top(values):
    own = article_values(results(changed=CHANGED))
    first, *others = set_in_code(own)
    assert first == CHANGED[0][0]
    assert others == set_in_code(values)
    assert own["changed"] == [list(difference) for difference in CHANGED]
    assert values["changed"] == []
    assert "These are not the paper's settings" in TEMPLATE[: TEMPLATE.index("#abstract[")]


def test_numbers_come_from_the_rows(values):
    assert values["reproduced"]["of"] == "185"
    assert sum(int(row[1]) for row in values["reproduced"]["items"]) == 185
    assert (values["reproduced"]["close"], values["reproduced"]["central"]) == ("5", "99")
    assert values["cells"] == {"box": "12,000", "stepped": "10,500", "lost": "1,500"}
    assert values["joint"] == {"of": "1", "rejected": "0", "least": "0.25", "power": ["13"] * 3}
    assert values["grids"] == [
        {"title": "Paris", "p": ["0.0027", "0.0004"]}
    ]  # not Rome: one grid may be right
    parity = values["parity"]
    assert parity["range"] == ["1.03", "1.20"]  # 1 + eps0 / 30
    assert parity["published"] == ["3.0", "8"]
    assert [row[:2] for row in parity["rows"]] == [["Paris", "1"], ["Paris", "6"]]
    assert values["captions"]["band"] == "A caption."


def test_the_gaussians_noise_is_told_only_where_the_printed_errors_can_be_read(values):
    assert values["gaussian"]["fits"] is None  # no number of San Francisco's check-ins
    sizes = {"san_francisco": "123026", "paris": "11190"}
    totals = [{"dataset": name, "grid": "uniform", "checkins": size} for name, size in sizes.items()]
    known = article_values(results(totals=totals))
    assert known["gaussian"]["fits"] == ["1.56", "2.34"]
    assert set_article(parts(), known) != set_article(parts(), values)


def test_the_studys_table_has_a_line_per_randomizer(values):
    study = values["study"]
    names = ["k-RR", "subset selection", "OUE", "local hashing", "RAPPOR", "Hadamard"]
    ratios = ["1.2", "1.2", "1.5", "1.6", "4", "9"]
    assert study["rows"] == [[name, ratio, ratio] for name, ratio in zip(names, ratios, strict=True)]
    assert (study["k"], study["eps"]) == ("16", "1")
    assert study["sizes"] == ["1,000", "10,000"]


def test_a_lower_bound_is_rounded_down():
    generator = np.random.default_rng(5)
    for value in [*10 ** generator.uniform(-30, 0, 300), 4.99e-3, 0.05]:
        text = article._down(float(value))
        assert float(text) <= value * (1 + 1e-12)
        assert float(text) > value - 1.001 * 10 ** (math.floor(math.log10(value)) - 1)


@pytest.mark.slow
def test_bytes_do_not_depend_on_the_process_and_its_hash_seed(values):
    code = (
        "import hashlib; from tests.reproduction.report import test_article as t;"
        "pdf = t.set_article(t.parts(), t.article_values(t.results()));"
        "print(hashlib.sha256(pdf).hexdigest())"
    )
    there = subprocess.check_output(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": "77"}, text=True
    )
    assert there.strip() == hashlib.sha256(set_article(parts(), values)).hexdigest()
