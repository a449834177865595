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
from tests import ROOT
from tests.beyond.study.test_designs_page import study_table
from tests.report.world import (
    CHANGED,
    CITED_BOUNDS,
    EVERYTHING,
    PARAMETERS,
    claim_rows,
    real_verdicts,
    stated_findings,
    text_table,
)

# The files of the article's Typst template: name -> bytes.
TEMPLATE = {
    path.name: path.read_bytes() for path in sorted((ROOT / "scripts/report/article").iterdir())
}
FIGURES = re.findall(r'drawn\("(\w+)"', TEMPLATE[article.MAIN].decode())
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9z"/></svg>'
CAPTIONS = dict.fromkeys(FIGURES, "A caption.\n\nSettings.\n\nMore of it.")
CONFIG = merged([PAPERS_FILE])
# 1,000 users in two cells of a grid of 2 rows and 3 columns; cells without users are left out.
HISTOGRAM = pd.DataFrame({"count": [700, 300], "row": [0, 1], "column": [0, 2]})


def template_values(study=None, captions=CAPTIONS, changed=(), datasets=CONFIG["datasets"]):
    """The values that the article shows, by name, as `article_values` makes them of made-up tables.

    The tables are the paper's real printed values with made-up verdicts (`real_verdicts`), eight made-up
    statements of the paper (`claim_rows`), a bound from the literature and a parameter (one row each), and
    ``study``, the errors of randomizers: by default the made-up `study_table`. Every dataset has the two
    cells of `HISTOGRAM`. ``captions`` (figure -> text), ``changed`` (settings that are not the paper's) and
    ``datasets`` are those of `article_values`. The other settings are the paper's.
    """
    tables = {
        "study": study_table() if study is None else study,
        "verdicts": text_table(real_verdicts()),
        "claim_verdicts": text_table(claim_rows()),
        "cited_bounds": CITED_BOUNDS,
        "parameters": text_table(PARAMETERS),
    }
    settings = {name: CONFIG[name] for name in ("protocol", "parity", "seed")}
    settings |= {"changed": changed, "datasets": datasets}
    return article_values(tables, dict.fromkeys(datasets, HISTOGRAM), captions, settings)


def template_files(figures=(), **tables):
    """The files that Typst reads, name -> bytes: template, findings of ``tables`` and figures."""
    findings = to_json(stated_findings(real_verdicts(), skip={"designs"}, **tables)).encode()
    return TEMPLATE | {"findings.json": findings} | {f"{name}.svg": SVG for name in figures}


@pytest.fixture(scope="module")
def files():
    """The files that Typst reads, with every figure and the findings of every table."""
    parity = EVERYTHING["parity_ratio"]
    published = parity[0] | {"comparison": "published", "bound": ""}
    return template_files(FIGURES, **EVERYTHING | {"parity_ratio": [*parity, published]})


def test_the_same_values_give_the_same_bytes_with_nothing_of_this_machine(files):
    values = template_values()
    assert values["captions"]["too_small"] == ["A caption.", "Settings."]
    first = set_article(files, values)
    assert first.startswith(b"%PDF")
    assert first == set_article(files, values)
    assert str(ROOT).encode() not in first


def test_the_table_of_krr_is_of_the_settings_in_which_an_estimate_is_useful():
    """In a setting an estimate is useful if the best randomizer's error (total variation, TV) is at most 0.5.

    `study_table` has the errors of all randomizers in three settings with k = 16, eps = 1 and eps0 = 3. One
    has n = 10,000 and is useful: there k-RR has a TV error of 0.12, which is 1.2 times the Gaussian's, and
    the smallest error without a shuffler is 0.6. Two have n = 1,000 and are not useful: the best error is
    above 1. The expected texts follow from this by hand.
    """
    rows = study_table()
    oue = (rows["n"] == 10_000) & (rows["randomizer"] == "oue")
    # Now OUE has the smallest error: the 0.12 of k-RR are 0.503 % more, rounded up to 0.6 %.
    rows.loc[oue, "tv"] = 0.1194
    # The same settings with k = 2, so six in all. The ratio 0.7 to the Gaussian is shown for k above 2 only.
    two_cells = rows.assign(k=2, ratio=0.7, eps0=4.0)
    by_eps = template_values(pd.concat([rows, two_cells]))["study"]["by_eps"]
    # eps; useful settings; how far k-RR's error is above the best, as a share and over the Gaussian's;
    # how many times larger the best error is without a shuffler (0.6 / 0.1194); eps0.
    assert by_eps == [["1", "2 of 6", "at most 0.6 %", "1.20", "at least 5.0", "3.0 to 4.0"]]
    assert template_values(rows.assign(tv=1.0))["study"]["by_eps"] == []  # no error is useful
    # The other table: k-RR's ratio to the Gaussian at n = 1,000 and at n = 10,000.
    assert template_values(rows)["study"]["by_n"][0] == ["k-RR", "1.2", "1.2"]


def test_it_shows_every_figure_of_the_paper():
    assert {f"fig{number}" for number in range(1, 8)} <= {name.split("_")[0] for name in FIGURES}


def test_every_printed_value_stands_beside_ours_once():
    """The article has each value that the paper prints (`real_verdicts`) in the table of its item, once.

    An item is such as "Table V". In `template_values`, "printed" gives for each item the parts of the
    article's table, which stand side by side. A row of a part has texts: the parameters, the printed value
    (with the mark `MISSED` behind it if we do not reproduce it), and ours. Mechanisms and datasets are shown
    by their titles.
    """
    tables = template_values()["printed"]
    written = []  # each row as (item, title of the part, the texts)
    for item, parts in tables.items():
        for part in parts:
            for row in part["rows"]:
                written.append((item, part["title"], *(text.removesuffix(MISSED) for text in row)))
    assert len(set(written)) == len(written)
    for value in real_verdicts():
        assert any(value["item"] == row[0] and value["printed"] in row for row in written)

    assert [part["title"] for part in tables["Table V"]] == ["Gaussian", "shuffle+INV"]
    first_row = tables["Table VI"][0]["rows"][0]
    assert first_row[0] == "Paris"


def test_a_dagger_marks_what_is_not_reproduced():
    """A row of Table VI is dataset, x0, the printed value, ours. `GOOD` verdicts agree with the paper."""
    judged = [value for value in real_verdicts() if value["item"] == "Table VI"]
    missed = [value["printed"] + MISSED for value in judged if value["verdict"] not in GOOD]
    printed = [row[2] for half in template_values()["printed"]["Table VI"] for row in half["rows"]]
    assert sorted(text for text in printed if MISSED in text) == sorted(missed)


def test_the_exact_value_of_a_bound_is_the_bound_that_is_named():
    """1.073E-4 is 10^-3.9693, from the only row of `CITED_BOUNDS`."""
    first, _ = template_values()["printed"]["Table 1"]
    (balle,) = (row for row in first["rows"] if row[:2] == ["0.1", "Balle"])
    assert balle[-1] == "1.073E-4"


def test_zeros_are_left_out_only_if_ours_are_zeros_too():
    """A row ends with the printed, the reproduced and the exact value."""
    zero = next(value for value in real_verdicts() if value["printed"] == "0")
    zero |= {"verdict": "same digits", "reproduced": "0"}
    verdicts = text_table([zero | {"exact": "0"}, zero | {"exact": "1e-9"}])
    assert number_of_zeros(verdicts) == 1  # how many are zero in print and in both of ours
    first, second = printed_tables(verdicts, {})["Table IV"]
    assert [row[-3:] for row in first["rows"] + second["rows"]] == [["0", "0", "1.000E-9"]]


def test_the_methods_are_those_of_the_run():
    """The article's section on methods lists the experiments of a run, here for two of the paper's datasets.

    The settings are the paper's (config/config.yaml), but for n and the repetitions of Figure 2: they are
    changed, to see that the article shows those of the run. The expected texts are written by hand, from the
    settings and from `HISTOGRAM`, which both datasets have: 2 cells, 1,000 users, 2 rows and 3 columns.
    """
    synthetic, paris = CONFIG["datasets"]["synthetic"], CONFIG["datasets"]["paris"]
    synthetic = synthetic | {"tv": synthetic["tv"] | {"n": [50, 70], "repetitions": 3}}
    methods = template_values(datasets={"synthetic": synthetic, "paris": paris})["methods"]
    # Dataset, its cells, its users, what the run is for, eps0, n (in brackets how many), repetitions.
    assert methods["runs"] == [
        ["N(0, 2)", "2", "1,000", "Figure 2", "4", "50 to 70 (2)", "3"],
        ["N(0, 2)", "2", "1,000", "Table V", "4", "1,000 to 100,000 (2)", "1,000"],
        ["Paris", "2", "1,000", "Figure 7", "4, 6", "1,000 to 10,000 (10)", "10"],
        ["Paris", "2", "1,000", "Figure 5", "2, 4, 6", "all", "1"],
        ["Paris", "2", "1,000", "Table VI", "4", "all", "1,000"],
    ]
    assert methods["cities"] == [{"title": "Paris", "rows": "2", "columns": "3"}]
    assert methods["drawn"][0]["range"] == "−6 to 6"  # of the values of N(0, 2), with a real minus


def test_a_dataset_of_the_paper_may_have_no_figure():
    """With null for its figure in the configuration, a run is for "Figure" without a number."""
    paris = CONFIG["datasets"]["paris"] | {"figures": {"tv": None}}
    methods = template_values(datasets={"paris": paris})["methods"]
    purposes = [purpose for _, _, _, purpose, *_ in methods["runs"]]
    assert purposes == ["Figure", "Figure", "Table VI"]


def test_the_statements_that_fail_are_named_with_both_readings():
    """The article names each statement of the paper whose verdict is "fails", with where the paper makes it.

    It also gives the reason for the verdict on each of two readings: with the published numbers and with
    exact ones. Of the eight made-up statements (`claim_rows`) a single one fails.
    """
    [failing] = template_values()["failing"]
    [row] = [row for row in claim_rows() if row["verdict"] == "fails"]
    assert failing == {
        "claim": row["claim"],
        "where": row["where"],
        "published": row["statistic_published"],
        "exact": row["statistic_exact"],
    }


def test_numbers_are_written_as_python_writes_them():
    """The functions of the article's style.typ that write numbers give the texts of Python's `format`.

    Typst and Python differ in the sign for minus and in the digits of an exponent (e−5, e-05), so these are
    made equal first. Where Python's g gives an exponent, such as 1e+02, the function `short` may write the
    number otherwise, such as 100. There the two are compared as numbers, else as texts.
    """
    # Rounding changes the power of ten of some of them, such as 0.999, 99.9 and 9.999e-8.
    numbers = [1.2, 0.999, 0.00273, 4e-4, 99.9, 2.4849e-15, 9.999e-8, 1e-30, 0.05]
    forms = {"fixed({}, 2)": ".2f", "scientific({}, 2)": ".2e", "short({}, digits: 2)": ".2g"}
    # A call in Typst -> the text by Python.
    expected = {call.format(x): format(x, form) for x in numbers for call, form in forms.items()}
    expected |= {"grouped(1234567)": "1,234,567", "short(4.0)": "4"}

    # A document with the value of each call as metadata, which Typst's query returns.
    main = '#import "style.typ": fixed, grouped, scientific, short\n'
    main += "".join(f"#metadata({call})<n>" for call in expected)
    files = TEMPLATE | {"main.typ": main.encode()}
    written = json.loads(typst.query(files, "<n>", field="value"))

    for (call, by_python), text in zip(expected.items(), written, strict=True):
        mantissa, e, exponent = text.replace("−", "-").partition("e")
        if exponent:
            exponent = f"{int(exponent):+03d}"  # a sign and two digits, as Python writes it
        as_python = mantissa + e + exponent
        if call.startswith("short") and "e" in by_python:
            assert float(as_python) == float(by_python)
        else:
            assert as_python == by_python


def test_what_a_configuration_lacks_is_left_out():
    bare = template_files(claim_verdicts=EVERYTHING["claim_verdicts"])
    assert set_article(bare, template_values(captions={})).startswith(b"%PDF")


def test_other_settings_than_the_papers_are_named_at_the_top(files):
    values = json.dumps(template_values(changed=CHANGED)).encode()
    files = files | {"main.typ": files[article.MAIN], "values.json": values}
    first, *_ = json.loads(typst.query(files, "raw", field="text"))  # texts in a fixed width
    assert first == CHANGED[0][0]


def test_the_documents_that_it_cites_exist():
    cited = re.findall(r"`((?:docs|data)/[\w./]+)`", TEMPLATE[article.MAIN].decode())
    assert "docs/errata.md" in cited
    assert not [name for name in cited if not (ROOT / name).exists()]


def test_an_error_in_the_template_has_typsts_message(files):
    with pytest.raises(ValueError, match=r"^article.typ: .*unknown font"):  # a warning to Typst
        set_article(files | {article.MAIN: b'#set text(font: "No")\nA'}, {})
