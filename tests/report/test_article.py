"""The article: numbers come from the findings, and the same values give the same bytes."""

import json
import re

import pytest
import typst
import yaml

from scripts.report import write_article as article
from scripts.report.article_tables import (
    MISSED,
    failing_statements,
    methods_as_texts,
    number_of_zeros,
    printed_tables,
)
from scripts.report.state_findings import state_findings, to_json
from scripts.report.write_article import article_values, set_article
from scripts.shared.configuration import PAPERS_FILE, merged
from tests import ROOT
from tests.report.world import (
    CITED_BOUNDS,
    EVERYTHING,
    PARAMETERS,
    claim_rows,
    csv_table,
    real_verdicts,
    results,
    row,
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
HISTOGRAM = csv_table("count, row, column\n 700, 0, 0\n 300, 1, 2")
# Rounding changes the power of ten of some of them, such as 0.999, 99.9 and 9.999e-8.
NUMBERS = (1.2, 0.999, 0.00273, 4e-4, 99.9, 2.4849e-15, 9.999e-8, 1e-30, 0.05)


# The errors of k-RR (grr) in one setting of study.csv.
STUDY = """
n,     k,  eps, delta, delta_rule, randomizer, tv,   ratio, local_tv, eps0
10000, 16, 1,   1e-6,  1e-06,      grr,        0.12, 1.2,   0.6,      3
"""


def template_values(study=STUDY, captions=CAPTIONS, changed=()):
    """What the article shows of made-up results with the paper's settings: name -> texts.

    ``study``: the text of study.csv. ``captions``: figure -> text. ``changed``: settings that are not the
    paper's, as (key, the paper's value, ours). Every dataset has the two cells of `HISTOGRAM`.
    """
    tables = {
        "study": csv_table(study),
        "verdicts": text_table(real_verdicts()),
        "claim_verdicts": text_table(claim_rows()),
        "cited_bounds": CITED_BOUNDS,
        "parameters": text_table(PARAMETERS),
    }
    histograms = dict.fromkeys(CONFIG["datasets"], HISTOGRAM)
    return article_values(tables, histograms, captions, CONFIG | {"changed": changed})


def template_files(figures=(), **tables):
    """The files that Typst reads, name -> bytes: template, findings of ``tables`` and figures."""
    findings = to_json(state_findings(results(real_verdicts(), **tables))).encode()
    return TEMPLATE | {"findings.json": findings} | {f"{name}.svg": SVG for name in figures}


def rows_of(printed_table):
    """The rows of all parts of a printed table, which stand side by side in the article."""
    return [row for part in printed_table for row in part["rows"]]


def written_by_typst(calls):
    """The texts that calls of functions in the article's style.typ return, with a plain minus."""
    main = '#import "style.typ": fixed, grouped, scientific, short\n'
    main += "".join(f"#metadata({call})<n>" for call in calls)
    files = TEMPLATE | {"main.typ": main.encode()}
    return [text.replace("−", "-") for text in json.loads(typst.query(files, "<n>", field="value"))]


@pytest.fixture(scope="module")
def files():
    """The files that Typst reads, with every figure and the findings of every table."""
    return template_files(FIGURES, **EVERYTHING)


@pytest.fixture(scope="module")
def printed():
    """The article's tables of the paper's 185 printed values: "Table V" and so on -> parts side by side."""
    return printed_tables(text_table(real_verdicts()), titles={})


def test_the_same_values_give_the_same_bytes_with_nothing_of_this_machine(files):
    values = template_values()
    assert values["captions"]["too_small"] == ["A caption.", "Settings."]
    first = set_article(files, values)
    assert first.startswith(b"%PDF")
    assert first == set_article(files, values)
    assert str(ROOT).encode() not in first


def krr_by_eps(study):
    """The rows of the article's table on k-RR (grr) in settings with a useful estimate, of this study.csv."""
    return [" | ".join(row) for row in template_values(study)["study"]["by_eps"]]


def test_study_compares_krr_with_the_best_randomizer_in_settings_with_a_useful_estimate():
    """An estimate is useful if the best randomizer's total variation error (TV) is at most 0.5."""
    rows = krr_by_eps("""
n,     k,  eps, delta, delta_rule, randomizer, tv,     ratio, local_tv, eps0
10000, 16, 1,   1e-6,  1e-06,      grr,        0.12,   1.2,   0.7,      3
10000, 16, 1,   1e-6,  1e-06,      oue,        0.1194, 1.1,   0.6,      3
1000,  16, 1,   1e-6,  1e-06,      grr,        0.51,   1.3,   0.9,      4
""")
    # eps; useful settings; the excess of k-RR's error (0.503 %, rounded up) and its ratio to the Gaussian's;
    # how many times larger the best error is without a shuffler (0.6 / 0.1194); eps0.
    assert rows == ["1 | 1 of 2 | at most 0.6 % | 1.20 | at least 5.0 | 3.0"]


def test_study_has_the_ratio_to_the_gaussian_for_more_than_two_cells_only():
    rows = krr_by_eps("""
n,     k,  eps, delta, delta_rule, randomizer, tv,  ratio, local_tv, eps0
10000, 2,  1,   1e-6,  1e-06,      grr,        0.1, 0.7,   0.7,      4
10000, 16, 1,   1e-6,  1e-06,      grr,        0.1, 1.2,   0.6,      3
""")
    assert rows == ["1 | 2 of 2 | at most 0 % | 1.20 | at least 6.0 | 3.0 to 4.0"]


def test_study_without_a_useful_estimate_has_no_row():
    assert krr_by_eps(STUDY.replace("0.12", "0.51")) == []


def test_study_has_the_ratio_to_the_gaussian_for_each_n():
    study = STUDY + "1000,  16, 1,   1e-6,  1e-06,      grr,        0.9,  1.3,   4,        3"
    assert template_values(study)["study"]["by_n"] == [["k-RR", "1.3", "1.2"]]


def test_it_shows_every_figure_of_the_paper():
    assert {f"fig{number}" for number in range(1, 8)} <= {name.split("_")[0] for name in FIGURES}


def test_every_printed_value_stands_in_the_table_of_its_item(printed):
    for value in real_verdicts():
        shown = {value["printed"], value["printed"] + MISSED}
        assert any(shown & set(row) for row in rows_of(printed[value["item"]]))


def test_a_value_that_its_table_repeats_is_left_out():
    value = row(item="Table IV", eps0="2", printed="0.5")
    repeated = value | {"source": "Another place"}
    tables = printed_tables(text_table([value, repeated]), titles={})
    assert len(rows_of(tables["Table IV"])) == 1


def test_a_table_of_random_values_has_a_part_for_each_mechanism(printed):
    assert [part["title"] for part in printed["Table V"]] == ["Gaussian", "shuffle+INV"]


def test_any_other_table_is_cut_in_the_middle_into_two_parts_without_titles(printed):
    first, second = printed["Table 1"]
    assert first["title"] == second["title"] == ""
    assert len(first["rows"]) == len(second["rows"])


def test_printed_values_of_a_dataset_have_its_title():
    rows = rows_of(template_values()["printed"]["Table VI"])
    assert rows[0][0] == "Paris"  # the first column


def test_a_dagger_marks_a_printed_value_that_is_not_reproduced():
    values = [row(printed="0.1", verdict="close"), row(printed="0.2", verdict="differs")]
    reproduced, missed = rows_of(printed_tables(text_table(values), titles={})["Table IV"])
    assert "0.1" in reproduced
    assert "0.2" + MISSED in missed


def test_the_exact_value_of_a_bound_is_the_bound_that_is_named():
    """1.073E-4 is 10^-3.9693, from the only row of `CITED_BOUNDS`."""
    rows = rows_of(template_values()["printed"]["Table 1"])
    [balle] = [row for row in rows if row[:2] == ["0.1", "Balle"]]
    assert balle[-1] == "1.073E-4"


def test_zeros_are_left_out_only_if_ours_are_zeros_too():
    zero = row(printed="0", reproduced="0", exact="0")
    verdicts = text_table([zero, zero | {"exact": "1e-9"}])
    assert number_of_zeros(verdicts) == 1
    [shown] = rows_of(printed_tables(verdicts, titles={})["Table IV"])
    assert shown[-3:] == ["0", "0", "1.000E-9"]  # printed, by the paper's formula, exact


def methods_of(dataset):
    """The article's texts on methods, for one dataset of the configuration, with 1,000 users in 2 cells."""
    return methods_as_texts({"any": dataset}, {"any": HISTOGRAM})


def test_methods_have_a_row_for_each_experiment_on_a_dataset():
    """`methods_of` has 1,000 users in 2 cells. Table VI has the individual errors of the paper."""
    dataset = yaml.safe_load("""
title: Paris
kind: gowalla
figures: {tv: fig7, estimates: fig5}
tv: {budgets: [{eps0: 4}, {eps0: 6}], n: [50, 70], repetitions: 3}
estimates: {budgets: [{eps0: 2}], n: all}
individual: {budgets: [{eps0: 4}], n: [all], repetitions: 1000}
""")
    # Dataset, its cells, its users, what the run is for, eps0, n (in brackets how many), repetitions.
    assert [" | ".join(run) for run in methods_of(dataset)["runs"]] == [
        "Paris | 2 | 1,000 | Figure 7 | 4, 6 | 50 to 70 (2) | 3",
        "Paris | 2 | 1,000 | Figure 5 | 2 | all | 1",
        "Paris | 2 | 1,000 | Table VI | 4 | all | 1,000",
    ]


def test_methods_say_which_values_a_synthetic_dataset_has_and_in_which_table_they_are():
    methods = methods_of(CONFIG["datasets"]["synthetic"])
    assert methods["drawn"][0]["range"] == "−6 to 6"  # with a real minus
    assert [run[3] for run in methods["runs"]] == ["Figure 2", "Table V"]


def test_methods_have_the_grid_of_a_city():
    methods = methods_of(CONFIG["datasets"]["paris"])
    assert methods["cities"] == [{"title": "Paris", "rows": "2", "columns": "3"}]


def test_a_dataset_of_the_paper_may_have_no_figure():
    """With null for its figure in the configuration, a run is for "Figure" without a number."""
    paris = CONFIG["datasets"]["paris"] | {"figures": {"tv": None}}
    assert [run[3] for run in methods_of(paris)["runs"]] == ["Figure", "Figure", "Table VI"]


def test_statements_that_fail_have_the_reason_on_both_readings():
    failing = {"claim": "delta falls", "where": "SV 5.1"}
    reasons = {"statistic_published": "true in 1 of 3 cases", "statistic_exact": "true in none"}
    claims = claim_rows(["holds", "fails"], **failing, **reasons)
    assert failing_statements(text_table(claims)) == [
        failing | {"published": "true in 1 of 3 cases", "exact": "true in none"}
    ]


def by_python(number, form):
    """The text of a number by Python's `format`, but with exponents as Typst has them: e-5, not e-05."""
    return re.sub(r"e[+]?(-?)0?", r"e\1", format(number, form))


@pytest.mark.parametrize(
    ("function", "form"), [("fixed({}, 2)", ".2f"), ("scientific({}, 2)", ".2e")]
)
def test_numbers_are_written_as_python_writes_them(function, form):
    written = written_by_typst(function.format(number) for number in NUMBERS)
    assert written == [by_python(number, form) for number in NUMBERS]


def test_short_numbers_have_an_exponent_only_if_they_are_small():
    written = written_by_typst(f"short({number}, digits: 2)" for number in NUMBERS)
    assert written == [
        "1.2", "1", "0.0027", "0.0004", "100", "2.5e-15", "1.0e-7", "1.0e-30", "0.05",
    ]  # fmt: skip


def test_whole_numbers_have_no_decimals():
    assert written_by_typst(["grouped(1234567)", "short(4.0)"]) == ["1,234,567", "4"]


def test_what_a_configuration_lacks_is_left_out():
    bare = template_files(claim_verdicts=EVERYTHING["claim_verdicts"])
    assert set_article(bare, template_values(captions={})).startswith(b"%PDF")


def test_other_settings_than_the_papers_are_named_at_the_top(files):
    changed = [("datasets.paris.tv.n", "[1000]", "[500]")]  # key, the paper's value, ours
    values = json.dumps(template_values(changed=changed)).encode()
    files = files | {"main.typ": files[article.MAIN], "values.json": values}
    first, *_ = json.loads(typst.query(files, "raw", field="text"))  # texts in a fixed width
    assert first == "datasets.paris.tv.n"


def test_the_documents_that_it_cites_exist():
    cited = re.findall(r"`((?:docs|data)/[\w./]+)`", TEMPLATE[article.MAIN].decode())
    assert "docs/errata.md" in cited
    assert not [name for name in cited if not (ROOT / name).exists()]


def test_an_error_in_the_template_has_typsts_message(files):
    with pytest.raises(ValueError, match=r"^article.typ: .*unknown font"):  # a warning to Typst
        set_article(files | {article.MAIN: b'#set text(font: "No")\nA'}, {})
