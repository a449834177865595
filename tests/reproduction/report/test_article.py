"""The article: its template contains no result, and the same values give the same bytes."""

import hashlib
import json
import os
import re
import subprocess
import sys

import pandas as pd
import pytest
import typst

from reproduction.figures import style
from reproduction.report import article
from reproduction.report.article import article_values, set_article
from reproduction.report.findings import TOPICS as EVERY_TOPIC
from tests import ROOT
from tests.reproduction.report.report_page import (
    CHANGED,
    as_read,
    as_text,
    audit_rows,
    claim_rows,
    found_in,
    joint_rows,
    parity_rows,
    real_verdicts,
)
from tests.reproduction.report.test_which_page import table as study_table

PARTS = {path.name: path.read_bytes() for path in sorted((ROOT / "reproduction/report/article").iterdir())}
TEMPLATE = PARTS[article.MAIN].decode()
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9z"/></svg>'
FIGURES = re.findall(r'drawn\("(\w+)"', TEMPLATE)
TOPICS = [topic.__name__ for topic in EVERY_TOPIC]


def values_of(changed=(), captions=True, **tables):
    """The article's values, with the findings of every topic whose table is given."""
    found = found_in({"verdicts": as_text(real_verdicts()), **tables}, *TOPICS, titles={"paris": "Paris"})
    captions = dict.fromkeys(FIGURES, "A caption.\n\nSettings.\n\nMore of it.") if captions else {}
    return article_values(TEMPLATE, found, study_table(), captions=captions, changed=changed)


def full_tables():
    _, ratios = parity_rows(eps0s=("1", "4", "6"), datasets=("paris", "synthetic"))
    published = [ratios[0] | {"comparison": "published", "bound": "", "ratio": ratio} for ratio in ("3", "8")]
    grids = [
        {"dataset": "paris", "grid": grid, "mechanism": "both", "p": p, "verdict": "contradicted"}
        for grid, p in (("uniform", "0.0027"), ("stepped", "4e-4"))
    ]
    sizes = {("paris", "uniform"): 12000, ("paris", "stepped"): 10500, ("san_francisco", "uniform"): 123026}
    totals = [{"dataset": city, "grid": grid, "checkins": size} for (city, grid), size in sizes.items()]
    tables = {
        "audit": audit_rows(),
        "joint_tests": joint_rows(),
        "grids": grids,
        "totals": totals,
        "parity_ratio": ratios + published,
    }
    return {name: as_read(rows) for name, rows in tables.items()} | {"claim_verdicts": as_text(claim_rows())}


@pytest.fixture(scope="module")
def values():
    return values_of(**full_tables())


def parts():
    return PARTS | {f"{name}.svg": SVG for name in FIGURES}


def test_letters_of_figures_have_at_least_6_points():
    look = PARTS["style.typ"].decode()
    assert 'image(name + ".svg", width: 100%,' in look
    text_width = 210 - 2 * int(re.findall(r"margin: \(x: (\d+)mm", look)[0])
    assert 7 * text_width / 25.4 / style.WIDTH >= 6  # test_figures.py: no letter is drawn with less than 7


def test_the_same_values_give_the_same_bytes(values):
    first = set_article(parts(), values)
    assert first.startswith(b"%PDF")
    assert first == set_article(parts(), values)
    assert str(ROOT).encode() not in first


def test_what_a_configuration_lacks_is_left_out(values):
    bare = values_of(captions=False, claim_verdicts=as_text(claim_rows()))
    assert all(values["found"].values())
    assert [where for where, computed in bare["found"].items() if computed] == ["theorem"]
    assert set_article(PARTS, bare).startswith(b"%PDF")


def test_an_error_in_the_template_has_typsts_message(values):
    with pytest.raises(ValueError, match=r"^article.typ: .*unknown variable"):
        set_article(parts() | {article.MAIN: b"#nothing"}, values)
    with pytest.raises(ValueError, match=r"^article.typ: .*unknown font family"):
        set_article(parts() | {article.MAIN: b'#set text(font: "Nobody Has It")\nA'}, values)


def set_in_code(values):
    """The texts that the article shows as code for these values, in order."""
    files = parts() | {"main.typ": PARTS[article.MAIN], "values.json": json.dumps(values).encode()}
    return json.loads(typst.query(files, "raw", field="text"))


def test_other_settings_than_the_papers_are_named_at_the_top(values):
    own = values | {"changed": [list(difference) for difference in CHANGED]}
    first, *others = set_in_code(own)
    assert first == CHANGED[0][0]
    assert others == set_in_code(values)
    assert values["changed"] == []
    assert "These are not the paper's settings" in TEMPLATE[: TEMPLATE.index("#abstract[")]


def test_numbers_come_from_the_findings(values):
    texts = values["texts"]
    assert (texts["printed.of"], texts["printed.close[0]:g"], texts["cells.box:,"]) == ("185", "5", "12,000")
    assert (texts["parity.low:.2f"], texts["parity.high:.2f"]) == ("1.03", "1.20")  # 1 + eps0 / 30
    assert (texts["audit.example.printed"], texts["audit.example.at_least:.1e"]) == ("2.49E-15", "5.9e-03")
    rows = {name.split(":")[0]: columns for name, columns in values["rows"].items()}
    assert rows["grids.contradicted"] == [["Paris", "0.0027", "0.0004"]]
    assert rows["joint_tests.power"] == [["14"], ["3"], ["25"]]
    assert [row[:2] for row in rows["parity.rows"]][:2] == [["Paris", "1"], ["Paris", "4"]]
    assert rows["literature.rows"][0] == ["Erlingsson et al., 2019", "0.97", ""]
    assert values["captions"]["audit"] == ["A caption.", "Settings."]


def test_the_studys_table_has_a_line_per_randomizer(values):
    study = values["study"]
    names = ["k-RR", "subset selection", "OUE", "local hashing", "RAPPOR", "Hadamard"]
    ratios = ["1.2", "1.2", "1.5", "1.6", "4", "9"]
    assert study["rows"] == [[name, ratio, ratio] for name, ratio in zip(names, ratios, strict=True)]
    assert (study["k"], study["eps"]) == ("16", "1")
    assert study["sizes"] == ["1,000", "10,000"]


def test_the_studys_table_is_of_the_eps_next_to_1_and_the_middle_k_and_writes_large_ratios_in_full():
    far = study_table().assign(eps=0.1)
    large = study_table().assign(ratio=lambda rows: 1000 * rows["ratio"])
    others = [large.assign(k=k, ratio=7) for k in (4, 64)]
    study = article._study(pd.concat([far, large, *others]))
    assert (study["eps"], study["k"]) == ("1", "16")
    assert study["rows"][0] == ["k-RR", "1,200", "1,200"]


@pytest.mark.slow
def test_bytes_do_not_depend_on_the_process_and_its_hash_seed(values):
    code = (
        "import hashlib; from tests.reproduction.report import test_article as t;"
        "pdf = t.set_article(t.parts(), t.values_of(**t.full_tables()));"
        "print(hashlib.sha256(pdf).hexdigest())"
    )
    there = subprocess.check_output(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": "77"}, text=True
    )
    assert there.strip() == hashlib.sha256(set_article(parts(), values)).hexdigest()
