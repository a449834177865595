"""The report page: what it counts and shows, and that it stands alone, escapes data and is well formed."""

import itertools
import os
import re
import subprocess
import sys
from collections import Counter

import pytest
from report_page import PNG, ROOT, SETTINGS, STYLE, Page, real_verdicts, render, row, write_report

from tightshuffle import report


@pytest.fixture(scope="module")
def verdicts():
    return real_verdicts()


@pytest.fixture
def figures(tmp_path):
    for name in ("delta_bounds", "fig1_delta_surface", "fig6_tv_san_francisco", "new_one", "tv_mine"):
        (tmp_path / f"{name}.png").write_bytes(PNG)
        (tmp_path / f"{name}.txt").write_text("Boxes of 10 runs. n < 100 & more.\n\nReading: published.\n")
    paths = sorted(tmp_path.glob("*.png"))
    return [write_report.read_figure(path, SETTINGS["datasets"]) for path in paths]


# What it says


def test_headline_and_summary_count_the_verdicts(verdicts):
    page = Page(render(verdicts))
    counts = Counter(found["verdict"] for found in verdicts)
    assert set(counts) == set(report.VERDICTS)
    good = counts["exact"] + counts["close"] + counts["consistent"]
    assert f"Reproduced {good} of 185 printed values" in page.text
    total = next(cells for _, cells in page.rows if cells[0] == "all")
    assert total[1] == f"{good} of 185"
    assert [int(cell) for cell in total[3:]] == [counts[verdict] for verdict in report.VERDICTS]
    one = next(cells for cells in page.body() if cells[0] == "Table 1")
    assert one[1:2] == [
        f"{sum(r['verdict'] in ('exact', 'close') for r in verdicts if r['item'] == 'Table 1')} of 20"
    ]


def test_every_printed_value_has_its_row_with_a_verdict_in_words(verdicts):
    shown = Counter(Page(render(verdicts)).judged)
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
    text = re.sub(r"\s+", " ", Page(render(rows)).text)
    assert "3 of 3 in Table IV / 3" in text
    assert "all 2 cells" in text
    assert "up to 50.3 orders of magnitude (ε = 1.0, ε0 = 2, n = 150, k = 10, nx₀ = 120, printed" in text
    assert "printed 1E-400, exact 2.000E-350)" in text


def test_finding_is_left_out_without_exact_values_and_turned_round_without_a_gap():
    without = [row(eps="0.1", printed="0.5", reproduced="0.5")]
    assert "orders of magnitude" not in render(without)
    equal = [row(eps="0.1", printed="0.5", reproduced="0.5", exact="0.5")]
    text = re.sub(r"\s+", " ", Page(render(equal)).text)
    assert "In none of the 1 cells of Table IV / 3" in text
    assert "too small" not in text


def test_quick_runs_say_so(verdicts):
    few = {name: {**plan, "individual": {"repetitions": 100}} for name, plan in SETTINGS["datasets"].items()}
    page = Page(render(verdicts, settings={**SETTINGS, "datasets": few}))
    assert "Quick run." in page.text
    assert "rest on 100" in page.text
    assert "Quick run." not in Page(render(verdicts)).text
    only_deltas = [found for found in verdicts if found["kind"] == "deterministic"]
    assert "Quick run." not in Page(render(only_deltas, settings={**SETTINGS, "datasets": few})).text


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
    page = Page(render(rows))
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
    page = Page(render(rows))
    assert ["1", "3E-3", "2.000E-4", "∉ inconsistent", "1.0E-6 … 2.1E-3", "0.999"] in page.body()
    assert "our 99 %" in page.text


def test_config_totals_versions_and_parameters_are_there(verdicts):
    page = Page(render(verdicts))
    assert ["Paris", "stepped", "15", "10,260"] in page.body()
    assert ["ε0", "0.1 to 3", "1, 2, 3"] in page.body()
    assert ["root seed", "7"] in page.body()
    assert ["floor of δ", "1e-30"] in page.body()
    assert "numpy 2.0" in page.text
    assert "Check-ins per grid" not in render(verdicts, totals=[])


# How it is made


def test_page_is_well_formed_and_accessible(verdicts, figures):
    page = Page(render(verdicts, figures))
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
    page = Page(render([row(printed="0")], figures))
    images = page.of("img")
    assert len(images) == 5
    assert all(image["src"].startswith("data:image/png;base64,") for image in images)
    assert [image["alt"] for image in images] == [
        "δ over ε and ε₀. Boxes of 10 runs.",
        "Total variation distance: San Francisco. Boxes of 10 runs.",
        "Total variation distance: mine. Boxes of 10 runs.",
        "δ over ε: published, true, and every bound. Boxes of 10 runs.",
        "new_one. Boxes of 10 runs.",
    ]
    assert {(image["width"], image["height"]) for image in images} == {("640", "480")}
    assert page.text.count("n < 100 & more.") == 5
    assert {"../figures/fig1_delta_surface.pdf", "../figures/tv_mine.pdf"} <= {
        a["href"] for a in page.of("a")
    }
    assert "snakemake fig6" in page.text
    assert re.search(r"snakemake \S*/delta_bounds\.png", page.text)


def test_figures_stand_in_sections(figures):
    text = render([row(printed="0")], figures)
    page = Page(text)
    headings = re.findall(r'<h2 id="(.*?)-title">(.*?)</h2>', text)
    assert headings[1:4] == [
        ("figures", "Figures of the paper"),
        ("own-figures", "Own datasets"),
        ("beyond", "Beyond the paper: accountants and companion papers"),
    ]
    anchors = [anchor for anchor, _ in headings]
    order = [name for name in page.ids if name in {figure["name"] for figure in figures} | set(anchors)]
    assert order[1:9] == [
        *("figures", "fig1_delta_surface", "fig6_tv_san_francisco"),
        *("own-figures", "tv_mine"),
        *("beyond", "delta_bounds", "new_one"),
    ]
    assert "Own datasets" not in render([row(printed="0")], figures[:1])


def test_nothing_is_loaded_from_elsewhere(verdicts, figures):
    text = render(verdicts, figures)
    page = Page(text)
    assert not page.of("script") + page.of("iframe") + page.of("object")
    assert all(attrs.get("href", "").startswith("data:") for attrs in page.of("link"))
    assert not [
        attrs for tag, attrs in page.tags if tag != "a" and "http" in "".join(map(str, attrs.values()))
    ]
    assert not re.search(r"url\(|@import|http", STYLE)
    outside = {a["href"] for a in page.of("a") if "://" in a["href"]}
    assert outside == {"https://arxiv.org/abs/2205.08858", "https://doi.org/10.1007/978-3-031-57537-2_27"}


def test_names_from_data_are_escaped(tmp_path):
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
    (tmp_path / "tv_mine.png").write_bytes(PNG)
    (tmp_path / "tv_mine.txt").write_text(evil)
    figure = write_report.read_figure(tmp_path / "tv_mine.png", plans)
    text = render(
        rows, [figure], {**SETTINGS, "source": evil, "datasets": plans}, [{"dataset": evil, "grid": evil}],
        [{"parameter": evil, evil: evil}],
    )  # fmt: skip
    page = Page(text)
    assert [image["src"][:5] for image in page.of("img")] == ["data:"]
    assert evil in page.of("img")[0]["alt"]
    assert evil not in text
    assert not [attrs for _, attrs in page.tags if "onerror" in attrs]


def test_bytes_do_not_depend_on_the_hash_seed(tmp_path):
    code = (
        "import sys, hashlib; sys.path[:0] = ['tests/scripts', '.']; import report_page as page;"
        "print(hashlib.sha256(page.render(page.real_verdicts()).encode()).hexdigest())"
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
