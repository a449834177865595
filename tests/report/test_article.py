"""The article: numbers come from the findings, and the same values give the same bytes."""

import json
import re

import pytest
import typst

from scripts.report import write_article as article
from scripts.report.write_article import article_values, set_article
from tests import ROOT
from tests.report.world import CHANGED, EVERYTHING, found_in, real_verdicts
from tests.study.test_which_page import table as study_table

PARTS = {path.name: path.read_bytes() for path in sorted((ROOT / "scripts/report/article").iterdir())}
TEMPLATE = PARTS[article.MAIN].decode()
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9z"/></svg>'
FIGURES = re.findall(r'drawn\("(\w+)"', TEMPLATE)
FILES = PARTS | {f"{name}.svg": SVG for name in FIGURES}


def values_of(captions=True, changed=(), **tables):
    captions = dict.fromkeys(FIGURES, "A caption.\n\nSettings.\n\nMore of it.") if captions else {}
    found = found_in(real_verdicts(), skip={"dummies"}, **tables)
    return article_values(TEMPLATE, found, study_table(), captions=captions, changed=changed)


@pytest.fixture(scope="module")
def values():
    published = [EVERYTHING["parity_ratio"][0] | {"comparison": "published", "bound": ""}]
    return values_of(**EVERYTHING | {"parity_ratio": EVERYTHING["parity_ratio"] + published})


def test_numbers_come_from_the_findings_and_the_same_values_give_the_same_bytes(values):
    texts = values["texts"]
    assert (texts["printed.of"], texts["printed.close[0]:g"], texts["cells.box:,"]) == ("185", "5", "11,190")
    assert (texts["audit.example.printed"], texts["audit.example.at_least:.1e"]) == ("2.49E-15", "5.9e-03")
    rows = {name.split(":")[0]: columns for name, columns in values["rows"].items()}
    assert rows["grids.contradicted"] == [["Paris", "0.0027", "0.0004"]]
    assert rows["joint_tests.power"] == [["14"], ["3"], ["25"]]
    assert rows["literature.rows"][0] == ["Erlingsson et al., 2019", "0.97", ""]
    assert values["captions"]["too_small"] == ["A caption.", "Settings."]
    assert values["study"]["rows"][0] == ["k-RR", "1.2", "1.2"]
    first = set_article(FILES, values)
    assert first.startswith(b"%PDF")
    assert first == set_article(FILES, values)
    assert str(ROOT).encode() not in first


def test_what_a_configuration_lacks_is_left_out(values):
    bare = values_of(captions=False, claim_verdicts=EVERYTHING["claim_verdicts"])
    assert all(values["found"].values())
    assert [where for where, computed in bare["found"].items() if computed] == ["theorem"]
    assert set_article(PARTS, bare).startswith(b"%PDF")


def test_other_settings_than_the_papers_are_named_at_the_top(values):
    own = json.dumps(values | {"changed": [list(difference) for difference in CHANGED]}).encode()
    files = FILES | {"main.typ": PARTS[article.MAIN], "values.json": own}
    first, *_ = json.loads(typst.query(files, "raw", field="text"))
    assert first == CHANGED[0][0]


def test_an_error_in_the_template_has_typsts_message(values):
    with pytest.raises(ValueError, match=r"^article.typ: .*unknown font"):  # a warning to Typst
        set_article(FILES | {article.MAIN: b'#set text(font: "No")\nA'}, values)
