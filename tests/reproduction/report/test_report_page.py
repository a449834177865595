"""The report page: what it counts and shows, and that it stands alone, escapes data and is well formed."""

import base64
import hashlib
import itertools
import math
import re
from collections import Counter

import pytest

from reproduction.report.page import brief
from reproduction.report.page_figures import page_figure
from reproduction.verification.verdicts import VERDICTS
from tests.reproduction.report.report_page import (
    CHANGED,
    EVERYTHING,
    FIGURES,
    PNG,
    REAL_ERRATA,
    SETTINGS,
    STYLE,
    SVG,
    Page,
    audit_rows,
    claim_rows,
    page_of,
    parity_rows,
    real_verdicts,
    row,
)

NAMES = (
    *("audit", "delta_bounds", "fig1_delta_surface", "fig4_parity_estimates_san_francisco"),
    *(
        "fig6_parity_san_francisco",
        "fig6_tv_san_francisco",
        "parity_ratio",
        "tv_mine",
        "parity_mine",
    ),
)


def words_of(text):
    return re.sub(r"\s+", " ", Page(text).text)


@pytest.fixture(scope="module")
def verdicts():
    return real_verdicts()


@pytest.fixture(scope="module")
def whole(verdicts):
    """The page with every optional part."""
    return page_of(verdicts, errata=REAL_ERRATA, **EVERYTHING)


def sentences(text):
    """The sentences of the page's paragraphs and lists, without tables and errata."""
    prose = re.sub(
        r"""(?s)<(head|nav|table|svg|script)\b.*?</\1>|<section id="errata".*?</section>""", "", text
    )
    for _, part in re.findall(r"(?s)<(p|li|dd)\b[^>]*>(.*?)</\1>", prose):
        yield from re.split(r"(?<=[.?!])\s+(?=[^a-z])", words_of(part))


@pytest.fixture(scope="module")
def figures():
    caption = "Boxes of 10 runs. n < 100 & more.\n\nReading: published.\n"
    drawn = [FIGURES[name] for name in FIGURES if name in NAMES]
    return [page_figure(row._asdict(), f"figures/{row.name}.png", PNG, SVG, caption) for row in drawn]


# What it says


def test_headline_and_summary_count_the_verdicts(verdicts):
    page = Page(page_of(verdicts))
    counts = Counter(found["verdict"] for found in verdicts)
    assert set(counts) == set(VERDICTS)
    digits = counts["same digits"] + counts["close"]
    assert f"What the paper prints: {digits} of 185 values match ours" in page.text
    assert f"do not contradict {counts['consistent']} printed random values." in page.text
    total = next(cells for _, cells in page.rows if cells[0] == "all")
    assert total[1] == f"{digits + counts['consistent']} of 185"
    assert [int(cell) for cell in total[3:]] == [counts[verdict] for verdict in VERDICTS]


def test_every_printed_value_has_its_row_with_a_verdict_in_words(verdicts, whole):
    shown = Counter(Page(whole).judged)
    assert shown == Counter((found["printed"], found["verdict"]) for found in verdicts)
    assert sum(shown.values()) == 185


def test_finding_is_left_out_without_exact_values_and_turned_round_without_a_gap():
    without = [row(eps="0.1", printed="0.5", reproduced="0.5")]
    assert "counts one factor twice" not in page_of(without)
    equal = [row(eps="0.1", printed="0.5", reproduced="0.5", exact="0.5")]
    text = words_of(page_of(equal))
    assert "in none of the 1 entries of Table IV where both are positive" in text
    assert "too small" not in text


def test_other_settings_than_the_papers_say_so(verdicts, whole):
    """At the top, with what differs, and where verdicts are counted; the papers' settings say nothing."""
    page = Page(page_of(verdicts, settings={**SETTINGS, "changed": CHANGED}, **EVERYTHING))
    notice = page.text.index("These are not the paper's settings.")
    assert notice < page.text.index("The printed δ is too small")
    assert "datasets.paris.tv.budgets: [{eps0: 4, eps: 4}] → [{eps0: 4, eps: 5}]" in page.text
    for words in (
        "here with other settings than the paper's.",
        "What is reproduced, with other settings than the paper's",
        "hold or mostly hold, with other settings than the paper's",
    ):
        assert words in page.text
    assert "other settings than" not in Page(whole).text


def test_quick_runs_say_so(verdicts, whole):
    few = {
        name: {**dataset, "individual": {"repetitions": 100}}
        for name, dataset in SETTINGS["datasets"].items()
    }
    page = Page(page_of(verdicts, settings={**SETTINGS, "datasets": few}))
    assert "Quick run." in page.text
    assert "rest on 100" in page.text
    assert "Quick run." not in Page(whole).text
    only_deltas = [found for found in verdicts if found["kind"] == "deterministic"]
    assert "Quick run." not in Page(page_of(only_deltas, settings={**SETTINGS, "datasets": few})).text


def test_a_blank_value_is_a_dash_and_its_note_is_there():
    open_ = {"item": "Table 1", "mechanism": "koskela", "verdict": "not comparable", "note": "not stated"}
    rows = [row(**open_, eps="0.1", printed="9.01E-4"), row(**open_, eps="0.2", printed="1.89E-6")]
    page = Page(page_of(rows))
    assert ["0.1", "9.01×10⁻⁴", "–", "? not comparable"] in page.body()
    assert page.text.count("not stated") == 1


def test_random_values_show_interval_and_quantile():
    drawn = {"kind": "random", "tolerance": "central 99 %", "verdict": "inconsistent", "dataset": "synthetic"}
    drawn |= {"reproduced": "2e-4", "low": "1e-6", "high": "0.00212", "quantile": "0.9985"}
    rows = [row(item="Table V", x0=x0, printed="3E-3", **drawn) for x0 in ("1", "3")]
    page = Page(page_of(rows))
    assert ["1", "3×10⁻³", "2.000×10⁻⁴", "∉ inconsistent", "1.0×10⁻⁶ … 2.1×10⁻³", "0.999"] in page.body()
    assert "our 99 %" in page.text


def test_config_totals_versions_and_parameters_are_there(whole):
    page = Page(whole)
    assert ["Paris", "stepped", "15", "10,260"] in page.body()
    assert ["ε0", "0.1 to 3", "1, 2, 3"] in page.body()
    assert ["root seed", "7"] in page.body()
    assert ["least δ of the Gaussian", "10⁻³⁰"] in page.body()
    assert "numpy 2.0" in page.text
    assert "Check-ins per grid" not in page_of([row(printed="0")], totals=[])


def test_no_sentence_is_long(whole):
    assert [found for found in sentences(whole) if len(found.split()) > 30] == []


def test_numbers_in_the_errata_keep_their_e(verdicts):
    """E means printed in the paper and e ours; everywhere else both become powers of ten."""
    text = page_of(verdicts, errata="# Errata\n\nPrinted 2.49E-15, ours 6.15e-03.\n", **EVERYTHING)
    assert "Printed 2.49E-15, ours 6.15e-03." in text


# How it is made


def test_page_is_well_formed_and_accessible(verdicts, figures):
    page = Page(page_of(verdicts, figures, errata=REAL_ERRATA, **EVERYTHING))
    assert page.of("html")[0]["lang"] == "en"
    assert any(meta.get("name") == "viewport" for meta in page.of("meta"))
    assert not [name for name, count in Counter(page.ids).items() if count > 1]
    local = [a["href"][1:] for a in page.of("a") if a["href"].startswith("#")]
    assert local
    assert set(local) <= set(page.ids)
    assert all("scope" in attrs for attrs in page.of("th"))
    assert len(page.of("caption")) == len(page.of("table"))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_every_figure_has_image_alt_caption_pdf_and_target(figures):
    page = Page(page_of([row(printed="0")], figures))
    images = page.of("img")
    assert len(images) == len(NAMES)
    assert all(image["src"].startswith("data:image/png;base64,") for image in images)
    alts = [image["alt"] for image in images]
    assert len(set(alts)) == len(NAMES)
    assert all(alt.endswith(". Boxes of 10 runs.") for alt in alts)
    assert "Total variation error at equal privacy: San Francisco. Boxes of 10 runs." in alts
    assert {(image["width"], image["height"]) for image in images} == {("640", "480")}
    assert page.text.count("n < 100 & more.") == len(NAMES)
    links = {link["href"] for link in page.of("a")}
    assert {f"../figures/{name}.pdf" for name in NAMES} <= links
    assert "snakemake fig6" in page.text
    assert re.search(r"snakemake \S*/delta_bounds\.png", page.text)


def test_figures_are_in_their_sections(figures):
    sections = {"parity", "audit-section", "figures", "own-figures", "beyond"}
    ids = Page(page_of([row(printed="0")], figures)).ids
    assert [name for name in ids if name in sections | set(NAMES)] == [
        *("parity", "parity_ratio", "fig4_parity_estimates_san_francisco", "fig6_parity_san_francisco"),
        *("audit-section", "audit"),
        *("figures", "fig1_delta_surface", "fig6_tv_san_francisco"),
        *("own-figures", "parity_mine", "tv_mine"),
        *("beyond", "delta_bounds"),
    ]
    alone = page_of([row(printed="0")], [found for found in figures if found["name"] == "fig1_delta_surface"])
    for words in ("Your datasets", "At equal privacy", "simulated attack", "Beyond the paper", "statements"):
        assert words not in Page(alone).text


def test_nothing_is_loaded_from_elsewhere(verdicts, figures):
    text = page_of(verdicts, figures, errata=REAL_ERRATA, **EVERYTHING)
    page = Page(text)
    assert not page.of("object") + page.of("embed")
    assert [frame["src"] for frame in page.of("iframe")] == ["../benchmarks/run.html"]
    assert page.of("script") == [{}]
    policy = next(meta["content"] for meta in page.of("meta") if "Security" in meta.get("http-equiv", ""))
    script = re.search(r"<script>(.*?)</script>", text, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert all(attrs.get("href", "").startswith("data:") for attrs in page.of("link"))
    assert not [
        attrs for tag, attrs in page.tags if tag != "a" and "http" in "".join(map(str, attrs.values()))
    ]
    assert not re.search(r"url\(|@import|http", STYLE)
    assert not re.search(r"http|fetch|import|XMLHttp|</", script)
    outside = {a["href"] for a in page.of("a") if "://" in a["href"]}
    assert outside == {"https://arxiv.org/abs/2205.08858", "https://doi.org/10.1007/978-3-031-57537-2_27"}


def test_names_from_data_are_escaped():
    evil = '<img src=x onerror="alert(1)">&'
    drawn = {"kind": "random", "tolerance": "central 99 %", "quantile": "0.5", "dataset": "mine"}
    drawn |= dict.fromkeys(("item", "quantity", "mechanism", "n", "note", "source"), evil)
    rows = [row(eps=eps, printed="0.1", **drawn) for eps in ("1", evil)]
    datasets = {"mine": {"title": evil, "kind": evil, "individual": {"repetitions": 10}}}
    row_of_figure = FIGURES["tv_mine"]._replace(title=evil, short=evil)._asdict()
    figure = page_figure(row_of_figure, "figures/tv_mine.png", PNG, SVG, evil)
    text = page_of(
        rows, [figure], {**SETTINGS, "source": evil, "datasets": datasets, "papers": [evil]},
        [{"dataset": evil, "grid": evil}],
        [{"parameter": evil, evil: evil}], data=[{"path": evil, "bytes": 1, "sha256": evil}],
        claim_verdicts=[dict.fromkeys(claim_rows()[0], evil) | {"verdict": "fails"}],
        audit=[found | {"observes": evil} for found in audit_rows()],
        **dict(zip(("parity", "parity_ratio"), parity_rows(datasets=(evil,)), strict=True)),
    )  # fmt: skip
    page = Page(text)
    assert [image["src"][:5] for image in page.of("img")] == ["data:"]
    assert evil in page.of("img")[0]["alt"]
    assert evil not in text
    assert not [attrs for _, attrs in page.tags if "onerror" in attrs]


# The parts that come with parity, audit and claims


def test_the_findings_stand_in_the_text(whole):
    means, ratios = parity_rows(eps0s=("0.1", "1"))
    quiet = words_of(page_of([row(printed="0")], parity=means, parity_ratio=ratios))
    text, orders = (
        words_of(whole),
        math.log10(2.5e-3) - math.log10(6.99e-59),
    )  # of Table IV, as `judged` makes it
    for words, of in (
        (f"The printed δ is too small, by up to {orders:.1f} orders of magnitude", text),
        ("Where the paper prints 2.49×10⁻¹⁵, the attack shows at least 0.0059.", text),
        (
            "shuffling has 1.03 to 1.20 times the error of Gaussian noise. Both estimates are projected: ",
            text,
        ),
        ("The range covers all 8 settings.", text),
        ("The range covers the 4 of 8 settings where at least one of the two beats a uniform", quiet),
        ("shuffle+INV has the smaller error in 8 of 8 settings.", text),
        ("The lower bound is above 0 in 2 of 3 rows.", text),
        ("it is above the published δ in 2 rows and above our upper in none.", text),
        ("they are above the published δ in 1 rows.", text),
        ("A simulated attack shows a positive δ in 2 of 3 cases.", text),
        ("contradicts the printed δ in 1 of them, with 99.9 % confidence, and our bound in none.", text),
        ("and exactly, on the true values. 2 hold, 1 mostly hold", text),
    ):
        assert words in of


def test_the_audit_has_a_row_per_setting(whole):
    cells = ["100", "10", "2", "0.1", "80", "count", "2.51×10⁻¹⁵", "0.0061", "0.0059", "0.00617", "0.0501"]
    assert [*cells, "10,000,000", "✗ contradicted"] in Page(whole).body()


def test_scoreboard_shows_the_claims_published_by_exact(whole):
    assert ["holds", "·", "8"] in Page(whole).body()
    rows = [attrs for attrs in Page(whole).of("tr") if attrs.get("id", "").startswith("claim-")]
    assert [attrs["data-verdict"] for attrs in rows] == [found["verdict"] for found in claim_rows()]


def test_scoreboard_counts_distinct_values_and_shows_the_joint_tests(verdicts, whole):
    page = Page(whole)
    text = re.sub(r"\s+", " ", page.text)
    fixed = [found for found in verdicts if found["kind"] != "random"]
    printed = [found for found in fixed if float(found["printed"].replace(",", "")) != 0]
    names = ("quantity", "dataset", "mechanism", "n", "k", "eps0", "eps", "count", "x0", "printed")
    distinct = {tuple(found[name] for name in names) for found in printed}
    assert f"Of the {len(distinct)} values that are neither random nor zero nor repeated, " in text
    assert [
        "Table V / 4",
        "Gaussian",
        "chi-square",
        "14",
        "9",
        "0.0012",
        "0.0049",
        "∉ rejected",
        "14.0 %",
        "3.1 %",
        "25.0 %",
    ] in page.body()
    assert ["both tables", "Gaussian", "chi-square", "28", "20", "0.006", *"–––––"] in page.body()
    assert "“Not rejected” does not mean agreement" in text
    assert "Paris, uniform grid: contradicted (p = 0.0027)" in text
    assert "Paris, stepped grid: not contradicted (p = 0.5)" in text
    assert "number below the median" not in text


def test_files_are_named_by_their_path_in_the_project():
    settings = {**SETTINGS, "results": "results/quick"}
    text = page_of([row(printed="0")], settings=settings, audit=audit_rows())
    assert '<a href="../audit.csv"><code>results/quick/audit.csv</code></a>' in text
    assert '<a href="../../../docs/errata.md"><code>docs/errata.md</code></a>' in text
    shown = re.findall(r'<a href="(?![.][.]/article)(?:[.][.]/|\w+[.])[^"]*">(.*?)</a>', text)
    assert shown
    assert all(re.fullmatch(r"<code>[\w./]+</code>", words) for words in shown)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1e-06", "10⁻⁶"),
        (0.0223456, "0.02235"),
        ("100000", "100,000"),
        ("2.5E-400", "2.5×10⁻⁴⁰⁰"),
        ("all", "all"),
    ],
)
def test_numbers_have_one_notation(value, text):
    assert brief(value) == text


def test_parity_table_has_a_row_per_setting_of_upper(whole):
    body = Page(whole).body()
    row = ["Paris", "1,000", "192", "6", "5×10⁻⁴", "0.25", "0.002", "0.001667", "0.478", "1.200", "1.300"]
    assert [*row, "1.287 … 1.313", "1.300", "–", "0.800"] in body
    assert sum(len(cells) == 15 and cells[0] == "Paris" for cells in body) == 8
    plan = ["100,000", "408", "0.5", "10⁻⁶", "6.123", "0.0223", "0.02", "1.117", "123"]
    assert plan in body
    assert ["7.000 or more" in cells for cells in body].count(True) == 1


def test_your_own_figures_say_how_to_draw_them_again(figures):
    """With the files over config/config.yaml, in the folder that these give the results."""
    folder, files = "results/quick_my_own", ["config/quick.yaml", "my own.yaml"]
    own = next(found for found in figures if found["name"] == "parity_mine")
    drawn = own | {"target": f"{folder}/figures/parity_mine.png"}
    settings = SETTINGS | {"results": folder, "configfiles": files}
    text = Page(page_of([row(printed="0")], [drawn], settings)).text
    assert f"snakemake --configfile config/quick.yaml 'my own.yaml' -- {drawn['target']}" in text
