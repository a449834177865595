"""The report page: what it counts and shows, and that it stands alone, escapes data and is well formed."""

import base64
import hashlib
import itertools
import os
import re
import subprocess
import sys
from collections import Counter

import pytest

from tests.report.report_page import (
    EVERYTHING,
    PARTS,
    PNG,
    ROOT,
    SETTINGS,
    STYLE,
    Page,
    audit_rows,
    claim_rows,
    page_of,
    parity_rows,
    real_verdicts,
    row,
)
from tightshuffle.judgement.verdicts import VERDICTS
from tightshuffle.report.page_figures import page_figure

NAMES = (
    *("audit", "delta_bounds", "fig1_delta_surface", "fig4_parity_estimates_san_francisco"),
    *("fig6_parity_san_francisco", "fig6_tv_san_francisco", "new_one", "parity_ratio", "tv_mine"),
)


@pytest.fixture(scope="module")
def verdicts():
    return real_verdicts()


@pytest.fixture
def figures():
    caption = "Boxes of 10 runs. n < 100 & more.\n\nReading: published.\n"
    return [page_figure(f"figures/{name}.png", PNG, caption, SETTINGS["datasets"]) for name in NAMES]


# What it says


def test_headline_and_summary_count_the_verdicts(verdicts):
    page = Page(page_of(verdicts))
    counts = Counter(found["verdict"] for found in verdicts)
    assert set(counts) == set(VERDICTS)
    good = counts["exact"] + counts["close"] + counts["consistent"]
    assert f"Reproduced {good} of 185 printed values" in page.text
    total = next(cells for _, cells in page.rows if cells[0] == "all")
    assert total[1] == f"{good} of 185"
    assert [int(cell) for cell in total[3:]] == [counts[verdict] for verdict in VERDICTS]
    one = next(cells for cells in page.body() if cells[0] == "Table 1")
    assert one[1:2] == [
        f"{sum(r['verdict'] in ('exact', 'close') for r in verdicts if r['item'] == 'Table 1')} of 20"
    ]


def test_every_printed_value_has_its_row_with_a_verdict_in_words(verdicts):
    shown = Counter(Page(page_of(verdicts)).judged)
    assert shown == Counter((found["printed"], found["verdict"]) for found in verdicts)
    assert sum(shown.values()) == 185


def test_finding_names_the_largest_gap_of_table_iv_even_below_the_smallest_float():
    rows = [
        row(
            n="100",
            k="10",
            eps0="2",
            eps="0.5",
            count="80",
            printed="3.25E-22",
            reproduced="3.2451e-22",
            exact="2.606e-8",
        ),
        row(
            n="150",
            k="10",
            eps0="2",
            eps="1.0",
            count="120",
            printed="1E-400",
            reproduced="1e-400",
            exact="2e-350",
        ),
        row(n="150", k="10", eps0="2", eps="2.0", count="120", printed="0", reproduced="0", exact="0"),
        row(item="Table II", eps="0.1", printed="1E-90", reproduced="1e-90", exact="1e-1"),
    ]
    text = re.sub(r"\s+", " ", Page(page_of(rows)).text)
    assert "3 of 3 in Table IV / 3" in text
    assert "all 2 cells" in text
    assert "up to 50.3 orders of magnitude (ε = 1.0, ε0 = 2, n = 150, k = 10, nx₀ = 120, printed" in text
    assert "printed 1E-400, exact 2.000E-350)" in text


def test_finding_is_left_out_without_exact_values_and_turned_round_without_a_gap():
    without = [row(eps="0.1", printed="0.5", reproduced="0.5")]
    assert "orders of magnitude" not in page_of(without)
    equal = [row(eps="0.1", printed="0.5", reproduced="0.5", exact="0.5")]
    text = re.sub(r"\s+", " ", Page(page_of(equal)).text)
    assert "In none of the 1 cells of Table IV / 3" in text
    assert "too small" not in text


def test_quick_runs_say_so(verdicts):
    few = {name: {**plan, "individual": {"repetitions": 100}} for name, plan in SETTINGS["datasets"].items()}
    page = Page(page_of(verdicts, settings={**SETTINGS, "datasets": few}))
    assert "Quick run." in page.text
    assert "rest on 100" in page.text
    assert "Quick run." not in Page(page_of(verdicts)).text
    only_deltas = [found for found in verdicts if found["kind"] == "deterministic"]
    assert "Quick run." not in Page(page_of(only_deltas, settings={**SETTINGS, "datasets": few})).text


def test_a_blank_value_is_a_dash_and_its_note_is_there():
    rows = [
        row(
            item="Table 1",
            mechanism="koskela",
            eps=eps,
            printed=printed,
            verdict="not comparable",
            note="not stated",
        )
        for eps, printed in (("0.1", "9.01E-4"), ("0.2", "1.89E-6"))
    ]
    page = Page(page_of(rows))
    assert ["0.1", "9.01E-4", "–", "? not comparable"] in page.body()
    assert page.text.count("not stated") == 1


def test_random_values_show_interval_and_quantile():
    drawn = {"kind": "random", "tolerance": "central 99 %", "verdict": "inconsistent", "dataset": "synthetic"}
    rows = [
        row(
            item="Table V",
            x0=x0,
            printed="3E-3",
            reproduced="2e-4",
            low="1e-6",
            high="0.00212",
            quantile="0.9985",
            **drawn,
        )
        for x0 in ("1", "3")
    ]
    page = Page(page_of(rows))
    assert ["1", "3E-3", "2.000E-4", "∉ inconsistent", "1.0E-6 … 2.1E-3", "0.999"] in page.body()
    assert "our 99 %" in page.text


def test_config_totals_versions_and_parameters_are_there(verdicts):
    page = Page(page_of(verdicts))
    assert ["Paris", "stepped", "15", "10,260"] in page.body()
    assert ["ε0", "0.1 to 3", "1, 2, 3"] in page.body()
    assert ["root seed", "7"] in page.body()
    assert ["floor of δ", "1e-30"] in page.body()
    assert "numpy 2.0" in page.text
    assert "Check-ins per grid" not in page_of(verdicts, totals=[])


# How it is made


def test_page_is_well_formed_and_accessible(verdicts, figures):
    page = Page(page_of(verdicts, figures, **EVERYTHING))
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
    assert len(images) == len(NAMES) + 1  # one of them is in the headline, too
    assert all(image["src"].startswith("data:image/png;base64,") for image in images)
    assert [image["alt"] for image in images] == [
        *["Error of shuffle+INV over error of the Gaussian. Boxes of 10 runs."] * 2,
        "Estimated histograms at equal privacy: San Francisco. Boxes of 10 runs.",
        "Total variation distance at equal privacy: San Francisco. Boxes of 10 runs.",
        "Audit: δ shown on the real protocol. Boxes of 10 runs.",
        "δ over ε and ε₀. Boxes of 10 runs.",
        "Total variation distance: San Francisco. Boxes of 10 runs.",
        "Total variation distance: mine. Boxes of 10 runs.",
        "δ over ε: published, true, and every bound. Boxes of 10 runs.",
        "new_one. Boxes of 10 runs.",
    ]
    assert {(image["width"], image["height"]) for image in images} == {("640", "480")}
    assert page.text.count("n < 100 & more.") == len(NAMES)
    assert {"../figures/fig1_delta_surface.pdf", "../figures/tv_mine.pdf"} <= {
        a["href"] for a in page.of("a")
    }
    assert "snakemake fig6" in page.text
    assert re.search(r"snakemake \S*/delta_bounds\.png", page.text)


def test_figures_are_in_their_sections(figures):
    text = page_of([row(printed="0")], figures)
    page = Page(text)
    headings = re.findall(r'<h2 id="(.*?)-title">(.*?)</h2>', text)
    assert [heading for heading in headings if heading[0] not in ("tables", "methods")][1:6] == [
        ("parity", "Parity: the comparison at equal privacy"),
        ("audit-section", "Audit: the game played on the real protocol"),
        ("figures", "Figures of the paper"),
        ("own-figures", "Own datasets"),
        ("beyond", "Beyond the paper: accountants and companion papers"),
    ]
    anchors = [anchor for anchor, _ in headings]
    order = [name for name in page.ids if name in {figure["name"] for figure in figures} | set(anchors)]
    assert [name for name in order if name != "tables"][2:16] == [
        *("parity", "parity_ratio", "fig4_parity_estimates_san_francisco", "fig6_parity_san_francisco"),
        *("audit-section", "audit"),
        *("figures", "fig1_delta_surface", "fig6_tv_san_francisco"),
        *("own-figures", "tv_mine"),
        *("beyond", "delta_bounds", "new_one"),
    ]
    alone = page_of([row(printed="0")], [found for found in figures if found["name"] == "fig1_delta_surface"])
    for words in ("Own datasets", "Parity", "Audit", "Beyond the paper", "claims"):
        assert words not in Page(alone).text


def test_nothing_is_loaded_from_elsewhere(verdicts, figures):
    text = page_of(verdicts, figures, **EVERYTHING)
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
    rows = [
        row(
            item=evil,
            quantity=evil,
            mechanism=evil,
            n=evil,
            eps=eps,
            printed="0.1",
            note=evil,
            source=evil,
            **drawn,
        )
        for eps in ("1", evil)
    ]
    plans = {"mine": {"title": evil, "kind": evil, "individual": {"repetitions": 10}}}
    figure = page_figure("figures/tv_mine.png", PNG, evil, plans)
    text = page_of(
        rows, [figure], {**SETTINGS, "source": evil, "datasets": plans}, [{"dataset": evil, "grid": evil}],
        [{"parameter": evil, evil: evil}], data=[{"path": evil, "bytes": 1, "sha256": evil}],
        claims=[dict.fromkeys(claim_rows()[0], evil) | {"verdict": "fails"}],
        audit=[found | {"observes": evil} for found in audit_rows()],
        parity_plan=[{evil: evil, "n": evil}],
        **dict(zip(("parity", "parity_ratio"), parity_rows(datasets=(evil,)), strict=True)),
    )  # fmt: skip
    page = Page(text)
    assert [image["src"][:5] for image in page.of("img")] == ["data:"]
    assert evil in page.of("img")[0]["alt"]
    assert evil not in text
    assert not [attrs for _, attrs in page.tags if "onerror" in attrs]


def test_bytes_do_not_depend_on_the_hash_seed(tmp_path):
    code = (
        "import hashlib; from tests.report import report_page as page;"
        "print(hashlib.sha256(page.page_of(page.real_verdicts()).encode()).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True, text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(found) == 1
    assert len(found.pop().strip()) == 64


def luminance(colour):
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_contrast_meets_wcag_aa(theme):
    blocks = re.findall(r":root \{(.*?)\}", STYLE, re.S)
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", blocks[theme]))
    kinds = ["exact", "close", "consistent", "differs", "inconsistent", "none", "notice"]
    pairs = [(f"{kind}-ink", f"{kind}-paper", 4.5) for kind in kinds]
    pairs += [(ink, paper, 4.5) for ink in ("text", "muted", "link") for paper in ("page", "card")]
    pairs += [(f"{kind}-fill", "page", 3) for kind in kinds[:-1]]
    for ink, paper, least in pairs:
        light, dark = sorted((luminance(colours[ink]), luminance(colours[paper])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= least, (ink, paper)


# The parts that come with parity, audit and claims


def words_of(text):
    return re.sub(r"\s+", " ", Page(text).text)


def test_headline_gives_the_range_of_parity_and_its_worst_setting(verdicts):
    text = words_of(page_of(verdicts, **EVERYTHING))
    assert "shuffle+INV has 1.05 to 1.30 times the Gaussian's error" in text
    assert "means over 8 settings); in 4 of 8 the two differ by at most 5 %" in text
    assert "The largest ratio is at Paris, n = 1,000, k = 192, ε0 = 6, δ = 1e-06." in text
    assert "By ε0: 1: 1.05; 6: 1.30. After projection of both: 1.03 to 1.20." in text
    assert "Parity" not in words_of(page_of(verdicts))


def test_headline_counts_the_audit_for_all_rows_together(verdicts):
    text = words_of(page_of(verdicts, **EVERYTHING))
    assert "shows δ ≥ 0.0059 with 99.9 % confidence (all settings together)" in text
    assert "where the published δ is 10−14.6 (ε = 0.1, ε0 = 2, n = 100, k = 10, nx₀ = 80)" in text
    assert "it never exceeds our upper bound" in text
    assert "lie above the published δ in 1 of 3 rows" in text
    above = [found | {"upper_log10_delta": "-3"} for found in audit_rows()]
    assert "it exceeds in 2 of 3 settings our upper bound" in words_of(page_of(verdicts, audit=above))


def test_headline_counts_the_claims(verdicts):
    text = words_of(page_of(verdicts, **EVERYTHING))
    assert "2 of 5 claims hold The other claims: 1 only as published, 1 not, 1 untestable." in text
    page = Page(page_of(verdicts, **EVERYTHING))
    rows = [attrs for attrs in page.of("tr") if attrs.get("id", "").startswith("claim-")]
    assert [attrs["data-verdict"] for attrs in rows] == [found["verdict"] for found in claim_rows()]
    assert "both: 5.1, page 9; Figure 1" in text


def test_saturation_says_what_the_scale_stays_at(verdicts):
    text = words_of(page_of(verdicts))
    assert "stays at that of δ = 10−17.8 however small a δ is asked for: at δ = 10−100" in text
    assert "it stays at 2.15 where 5.3 is needed (ε = 4)" in text
    budgets = {"tv": {"budgets": [{"eps0": 4, "eps": 4}, {"eps0": 4, "eps": 1}], "repetitions": 5}}
    plans = {**SETTINGS["datasets"], "mine": {"title": "Mine", "kind": "counts", **budgets}}
    text = words_of(page_of(verdicts, settings={**SETTINGS, "datasets": plans}))
    assert "1 of the 2 budgets of the paper's experiments have ε ≥ ε0" in text


def test_parity_table_has_a_row_per_setting_of_upper(verdicts):
    body = Page(page_of(verdicts, **EVERYTHING)).body()
    row = ["Paris", "1,000", "192", "6", "0.0005", "0.25", "0.00217", "0.00167", "1.300"]
    assert [*row, "1.287 … 1.313", "–", "1.200"] in body
    assert sum(len(cells) == 12 and cells[0] == "Paris" for cells in body) == 8
    assert ["100,000", "408", "0.5", "1e-06", "6.123", "0.02235"] in body


def test_every_file_that_went_in_has_its_checksum(verdicts):
    assert ["data/published/values.csv", "12,345", "ab" * 32] in Page(page_of(verdicts)).body()


def test_no_template_is_longer_than_300_lines():
    assert not {name for name, text in PARTS.items() if name.endswith(".j2") and text.count("\n") > 300}
