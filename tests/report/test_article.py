"""The article: numbers come from the findings, and the same values give the same bytes."""

import json
import re

import pandas as pd
import pytest
import typst

from scripts.report import write_article as article
from scripts.report.state_findings import to_json
from scripts.report.write_article import article_values, set_article
from tests import ROOT
from tests.beyond.study.test_designs_page import table as study_table
from tests.report.world import CHANGED, EVERYTHING, found_in, real_verdicts

PARTS = {path.name: path.read_bytes() for path in sorted((ROOT / "scripts/report/article").iterdir())}
FIGURES = re.findall(r'drawn\("(\w+)"', PARTS[article.MAIN].decode())
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9z"/></svg>'
CAPTIONS = dict.fromkeys(FIGURES, "A caption.\n\nSettings.\n\nMore of it.")


def parts_of(figures=(), **tables):
    found = to_json(found_in(real_verdicts(), skip={"designs"}, **tables)).encode()
    return PARTS | {"findings.json": found} | {f"{name}.svg": SVG for name in figures}


@pytest.fixture(scope="module")
def parts():
    published = [EVERYTHING["parity_ratio"][0] | {"comparison": "published", "bound": ""}]
    return parts_of(FIGURES, **EVERYTHING | {"parity_ratio": EVERYTHING["parity_ratio"] + published})


def test_the_same_values_give_the_same_bytes_with_nothing_of_this_machine(parts):
    values = article_values(study_table(), CAPTIONS)
    assert values["captions"]["too_small"] == ["A caption.", "Settings."]
    first = set_article(parts, values)
    assert first.startswith(b"%PDF")
    assert first == set_article(parts, values)
    assert str(ROOT).encode() not in first


def test_the_table_of_krr_is_of_the_settings_in_which_an_estimate_is_useful():
    rows = study_table()
    rows.loc[(rows["n"] == 10_000) & (rows["randomizer"] == "oue"), "tv"] = 0.1194  # that of k-RR is 0.12
    study = article_values(pd.concat([rows, rows.assign(k=2, ratio=0.7, eps0=4.0)]), {})["study"]
    assert study["by_eps"] == [["1", "2 of 6", "at most 0.6 %", "1.20", "at least 5.0", "3.0 to 4.0"]]
    assert article_values(rows.assign(tv=1.0), {})["study"]["by_eps"] == []
    assert article_values(rows, {})["study"]["by_n"][0] == ["k-RR", "1.2", "1.2"]


def test_numbers_are_written_as_python_writes_them():
    numbers = [1.2, 0.999, 0.00273, 4e-4, 99.9, 2.4849e-15, 9.999e-8, 1e-30, 0.05]
    forms = {"fixed({}, 2)": ".2f", "scientific({}, 2)": ".2e", "short({}, digits: 2)": ".2g"}
    calls = {call.format(x): format(x, form) for x in numbers for call, form in forms.items()}
    calls |= {"grouped(1234567)": "1,234,567", "short(4.0)": "4"}
    main = '#import "style.typ": fixed, grouped, scientific, short\n'
    main += "".join(f"#metadata({call})<n>" for call in calls)
    found = json.loads(typst.query(PARTS | {"main.typ": main.encode()}, "<n>", field="value"))
    for (call, like), text in zip(calls.items(), found, strict=True):
        first, _, exponent = text.replace("−", "-").partition("e")
        if "e" in like and call.startswith("short"):  # which has noughts at the end
            assert float(f"{first}e{exponent or 0}") == float(like)
        else:
            assert (f"{first}e{int(exponent):+03d}" if exponent else first) == like


def test_what_a_configuration_lacks_is_left_out():
    bare = parts_of(claim_verdicts=EVERYTHING["claim_verdicts"])
    assert set_article(bare, article_values(study_table(), {})).startswith(b"%PDF")


def test_other_settings_than_the_papers_are_named_at_the_top(parts):
    values = json.dumps(article_values(study_table(), CAPTIONS, CHANGED)).encode()
    files = parts | {"main.typ": parts[article.MAIN], "values.json": values}
    first, *_ = json.loads(typst.query(files, "raw", field="text"))
    assert first == CHANGED[0][0]


def test_the_documents_that_it_cites_exist():
    cited = re.findall(r"`((?:docs|data)/[\w./]+)`", PARTS[article.MAIN].decode())
    assert "docs/errata.md" in cited
    assert not [name for name in cited if not (ROOT / name).exists()]


def test_an_error_in_the_template_has_typsts_message(parts):
    with pytest.raises(ValueError, match=r"^article.typ: .*unknown font"):  # a warning to Typst
        set_article(parts | {article.MAIN: b'#set text(font: "No")\nA'}, {})
