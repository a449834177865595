"""The article: numbers come from the findings, and the same values give the same bytes."""

import json
import re

import pandas as pd
import pytest
import typst

from scripts.paper.values.verdict_counts import GOOD
from scripts.report import write_article as article
from scripts.report.article_tables import MISSED, number_of_zeros, printed_tables
from scripts.report.state_findings import to_json
from scripts.report.write_article import article_values, set_article
from scripts.shared.configuration import PAPERS_FILE, merged
from scripts.shared.printed import DELTA_KEY
from tests import ROOT
from tests.beyond.study.test_designs_page import table as study_table
from tests.report.world import (
    CHANGED,
    CITED,
    EVERYTHING,
    PARAMETERS,
    as_text,
    claim_rows,
    found_in,
    real_verdicts,
)

PARTS = {
    path.name: path.read_bytes() for path in sorted((ROOT / "scripts/report/article").iterdir())
}
FIGURES = re.findall(r'drawn\("(\w+)"', PARTS[article.MAIN].decode())
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9z"/></svg>'
CAPTIONS = dict.fromkeys(FIGURES, "A caption.\n\nSettings.\n\nMore of it.")
CONFIG = merged([PAPERS_FILE])
HISTOGRAM = pd.DataFrame({"count": [700, 300], "row": [0, 1], "column": [0, 2]})


def values_of(study=None, captions=CAPTIONS, changed=(), datasets=CONFIG["datasets"]):
    """The template's values: real printed values with made-up verdicts; every dataset has `HISTOGRAM`."""
    tables = {
        "study": study_table() if study is None else study,
        "verdicts": as_text(real_verdicts()),
        "claim_verdicts": as_text(claim_rows()),
        "cited_bounds": pd.DataFrame(CITED, columns=[*DELTA_KEY, "cited"], dtype=str),
        "parameters": as_text(PARAMETERS),
    }
    settings = {name: CONFIG[name] for name in ("protocol", "parity", "seed")}
    settings |= {"changed": changed, "datasets": datasets}
    return article_values(tables, dict.fromkeys(datasets, HISTOGRAM), captions, settings)


def parts_of(figures=(), **tables):
    found = to_json(found_in(real_verdicts(), skip={"designs"}, **tables)).encode()
    return PARTS | {"findings.json": found} | {f"{name}.svg": SVG for name in figures}


@pytest.fixture(scope="module")
def parts():
    published = [EVERYTHING["parity_ratio"][0] | {"comparison": "published", "bound": ""}]
    return parts_of(
        FIGURES, **EVERYTHING | {"parity_ratio": EVERYTHING["parity_ratio"] + published}
    )


def test_the_same_values_give_the_same_bytes_with_nothing_of_this_machine(parts):
    values = values_of()
    assert values["captions"]["too_small"] == ["A caption.", "Settings."]
    first = set_article(parts, values)
    assert first.startswith(b"%PDF")
    assert first == set_article(parts, values)
    assert str(ROOT).encode() not in first


def test_the_table_of_krr_is_of_the_settings_in_which_an_estimate_is_useful():
    rows = study_table()
    rows.loc[(rows["n"] == 10_000) & (rows["randomizer"] == "oue"), "tv"] = (
        0.1194  # that of k-RR is 0.12
    )
    study = values_of(pd.concat([rows, rows.assign(k=2, ratio=0.7, eps0=4.0)]))["study"]
    assert study["by_eps"] == [
        ["1", "2 of 6", "at most 0.6 %", "1.20", "at least 5.0", "3.0 to 4.0"]
    ]
    assert values_of(rows.assign(tv=1.0))["study"]["by_eps"] == []
    assert values_of(rows)["study"]["by_n"][0] == ["k-RR", "1.2", "1.2"]


def test_it_shows_every_figure_of_the_paper():
    assert {f"fig{number}" for number in range(1, 8)} <= {name.split("_")[0] for name in FIGURES}


def test_every_printed_value_stands_beside_ours_once():
    tables, verdicts = values_of()["printed"], real_verdicts()
    written = [
        (item, half["title"], *(text.removesuffix(MISSED) for text in row))
        for item, halves in tables.items()
        for half in halves
        for row in half["rows"]
    ]
    assert len(set(written)) == len(written)
    for value in verdicts:
        assert any(value["item"] == row[0] and value["printed"] in row for row in written)
    assert [half["title"] for half in tables["Table V"]] == ["Gaussian", "shuffle+INV"]
    assert tables["Table VI"][0]["rows"][0][0] == "Paris"


def test_a_dagger_marks_what_is_not_reproduced():
    judged = [value for value in real_verdicts() if value["item"] == "Table VI"]
    missed = [value["printed"] + MISSED for value in judged if value["verdict"] not in GOOD]
    printed = [row[2] for half in values_of()["printed"]["Table VI"] for row in half["rows"]]
    assert sorted(text for text in printed if MISSED in text) == sorted(missed)


def test_the_exact_value_of_a_bound_is_the_bound_that_is_named():
    first, _ = values_of()["printed"]["Table 1"]
    (balle,) = (row for row in first["rows"] if row[:2] == ["0.1", "Balle"])
    assert balle[-1] == "1.073E-4"


def test_zeros_are_left_out_only_if_ours_are_zeros_too():
    zero = next(value for value in real_verdicts() if value["printed"] == "0")
    zero |= {"verdict": "same digits"}
    table = as_text(
        [zero | {"reproduced": "0", "exact": "0"}, zero | {"reproduced": "0", "exact": "1e-9"}]
    )
    assert number_of_zeros(table) == 1
    (first, second) = printed_tables(table, {})["Table IV"]
    assert [row[-3:] for row in first["rows"] + second["rows"]] == [["0", "0", "1.000E-9"]]


def test_the_methods_are_those_of_the_run():
    synthetic, paris = (CONFIG["datasets"][name] for name in ("synthetic", "paris"))
    tv = synthetic["tv"] | {"n": [50, 70], "repetitions": 3}
    methods = values_of(datasets={"synthetic": synthetic | {"tv": tv}, "paris": paris})["methods"]
    assert methods["runs"] == [
        ["N(0, 2)", "2", "1,000", "Figure 2", "4", "50 to 70 (2)", "3"],
        ["N(0, 2)", "2", "1,000", "Table V", "4", "1,000 to 100,000 (2)", "1,000"],
        ["Paris", "2", "1,000", "Figure 7", "4, 6", "1,000 to 10,000 (10)", "10"],
        ["Paris", "2", "1,000", "Figure 5", "2, 4, 6", "all", "1"],
        ["Paris", "2", "1,000", "Table VI", "4", "all", "1,000"],
    ]
    assert methods["cities"] == [{"title": "Paris", "rows": "2", "columns": "3"}]
    assert methods["drawn"][0]["range"] == "−6 to 6"


def test_the_statements_that_fail_are_named_with_both_readings():
    (failing,) = values_of()["failing"]
    (row,) = (row for row in claim_rows() if row["verdict"] == "fails")
    assert failing == {
        "claim": row["claim"],
        "where": row["where"],
        "published": row["statistic_published"],
        "exact": row["statistic_exact"],
    }


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
    assert set_article(bare, values_of(captions={})).startswith(b"%PDF")


def test_other_settings_than_the_papers_are_named_at_the_top(parts):
    values = json.dumps(values_of(changed=CHANGED)).encode()
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
