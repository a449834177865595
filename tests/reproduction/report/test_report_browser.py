"""The report in a real browser: silent, self-contained, sortable and filterable, fit for every screen."""

import struct
import zlib

import pytest

from reproduction.report.page import render
from reproduction.report.page_figures import page_figure
from reproduction.verification.verdicts import REPRODUCED
from tests.reproduction.report import browser
from tests.reproduction.report.report_page import (
    EVERYTHING,
    FIGURES,
    PARTS,
    PNG,
    REAL_ERRATA,
    SVG,
    claim_rows,
    page_of,
    real_verdicts,
    row,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser.find() is None, reason="no Chromium on this machine"),
]

# Effective colours of every text: the ratio of its ink to what lies behind it (WCAG 2.1, 1.4.3).
CONTRAST = """(() => {
  const linear = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = c => 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const parse = text => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c[3] === 255) return c;
    }
    throw Error("no opaque background");
  };
  const found = [];
  for (const e of document.body.querySelectorAll("*")) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.getClientRects().length || e.closest("script, .hidden, option")) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))];
    found.push({ratio: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), text: e.outerHTML.slice(0, 120)});
  }
  return found;
})()"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The report of fabricated results, with its page of run times beside it; the path of the report."""
    folder = tmp_path_factory.mktemp("results")
    for name in ("report", "benchmarks"):
        (folder / name).mkdir()
    figures = []
    for name in ("parity_ratio", "audit", "fig1_delta_surface", "delta_bounds", "gaussian_scale"):
        figures.append(page_figure(FIGURES[name]._asdict(), f"figures/{name}.png", _png(), SVG, "A caption."))
    verdicts = real_verdicts()
    verdicts[40]["note"] = "a_long_word_without_any_place_to_break_it_" * 4  # nothing may widen the page
    (folder / "report/index.html").write_text(
        page_of(verdicts, figures, errata=REAL_ERRATA, **EVERYTHING), encoding="utf-8"
    )
    rules = [{"name": "run_trials", "jobs": 3, "seconds": 4.0, "longest": 2.0, "cpu": 3.0, "mb": 99.0}]
    values = {"rules": rules, "machine": [("cores", "2")], "now": "today", "libraries": [("Python", "3")]}
    (folder / "benchmarks/run.html").write_text(render("run.html.j2", PARTS, values), encoding="utf-8")
    return folder / "report/index.html"


def _png():
    """A real picture: the parsed header alone would leave an error in the log."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 640, 480, 8, 0, 0, 0, 0)
    body = zlib.compress((b"\0" + b"\xff" * 640) * 480)
    return PNG[:8] + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


@pytest.fixture(scope="module")
def tab():
    with browser.Browser() as found:
        yield found


def column(tab, name, table="#parity-settings table"):
    """The texts of the column with this heading, from top to bottom, of the rows that are shown."""
    return tab.run(
        f"""(() => {{ const table = document.querySelector("{table}");
        const place = [...table.tHead.rows[0].cells].findIndex(c => c.textContent.trim() === "{name}");
        return [...table.tBodies[0].rows].filter(r => !r.hidden).map(r => r.cells[place].textContent.trim());
        }})()"""
    )


def sizes(texts):
    """The numbers that the page writes as 0.02 or 1.2×10⁻⁴."""
    plain = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    return [float(text.replace("×10", "e").translate(plain)) for text in texts]


def heading(name, table="#parity-settings table"):
    return f'[...document.querySelectorAll("{table} thead th")].find(c => c.textContent.trim() === "{name}")'


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_page_is_silent_alone_and_not_wider_than_the_window(tab, page, width, scheme):
    tab.open(page, width=width, height=844, scheme=scheme)
    tab.run("document.querySelector('iframe').scrollIntoView()")
    assert tab.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert tab.run("[...document.images].every(i => i.complete && i.naturalWidth === 640)")
    assert tab.complaints() == []
    run = page.parents[1] / "benchmarks/run.html"
    assert set(tab.requests()) <= {page.as_uri(), run.as_uri(), "data:image/svg+xml;base64"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_is_readable_on_what_lies_behind_it(tab, page, scheme):
    tab.open(page, scheme=scheme)
    found = tab.run(CONTRAST)
    assert len(found) > 1000
    assert [text for text in found if text["ratio"] < 4.5] == []


def test_the_first_screen_has_the_first_finding_and_a_wide_one_has_all_and_what_to_do(tab, page):
    bottom = "document.querySelector('{}').getBoundingClientRect().bottom"
    tab.open(page, width=390, height=844)
    assert tab.run(bottom.format(".findings li")) < 844
    tab.open(page, width=1280, height=844)
    assert tab.run(bottom.format(".findings")) < 844
    assert tab.run(bottom.format(".brief")) < 844


def test_the_audit_is_filtered_and_numbers_are_found_as_files_have_them(tab, page):
    tab.open(page)
    choose(tab, "audit-section", "verdict", "contradicted")
    assert status(tab, "audit-section") == "1 of 3 settings shown"
    choose(tab, "tables", "words", "3.25E-22")
    assert status(tab, "tables").split()[0] != "0"
    assert tab.run("document.querySelector('#audit-section .tall').tabIndex") in (0, -1)


def test_a_click_sorts_up_then_down_then_back(tab, page):
    tab.open(page)
    before = column(tab, "shuffle+INV")
    numbers = sizes(before)
    assert numbers != sorted(numbers)
    for direction, wanted in (
        ("ascending", sorted(numbers)),
        ("descending", sorted(numbers, reverse=True)),
        ("none", numbers),
    ):
        tab.run(heading("shuffle+INV") + ".querySelector('button').click()")
        assert tab.run(heading("shuffle+INV") + ".getAttribute('aria-sort')") == direction
        assert sizes(column(tab, "shuffle+INV")) == wanted
    tab.run(heading("ratio") + ".querySelector('button').click()")
    assert tab.run(heading("shuffle+INV") + ".getAttribute('aria-sort')") == "none"


def test_deltas_below_the_smallest_float_sort_by_size_and_blanks_stay_last(tab, page, tmp_path):
    printed = ["1E-400", "0", "2.5E-7", "1E-399", "0.5", "3E-9"]
    rows = [
        row(eps=str(place), printed=text, reproduced="" if text == "3E-9" else text.lower(), exact="1")
        for place, text in enumerate(printed)
    ]
    (tmp_path / "index.html").write_text(page_of(rows))
    tab.open(tmp_path / "index.html")
    table = "#tables .box table"
    wanted = ["0", "10⁻⁴⁰⁰", "10⁻³⁹⁹", "3×10⁻⁹", "2.5×10⁻⁷", "0.5"]
    tab.run(heading("printed", table) + ".querySelector('button').click()")
    assert column(tab, "printed", table) == wanted
    for _ in range(2):
        tab.run(heading("ours", table) + ".querySelector('button').click()")
        assert column(tab, "ours", table)[-1] == "–"


def test_tab_reaches_the_skip_link_first_and_it_is_seen_then(tab, page):
    tab.open(page)
    tab.press("Tab", code=9)
    assert tab.run("document.activeElement.textContent") == "Skip to the results"
    assert tab.run("document.activeElement.getBoundingClientRect().left") >= 0
    assert tab.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def status(tab, section):
    return tab.run(f"document.querySelector('#{section} [role=status]').textContent")


def choose(tab, section, name, value):
    tab.run(
        f"""(() => {{ const field = document.querySelector('form[data-filters={section}]').elements.{name};
        field.value = {value!r}; field.dispatchEvent(new Event("input", {{bubbles: true}})); }})()"""
    )


def test_claims_are_filtered_by_verdict_and_by_words(tab, page):
    tab.open(page)
    assert status(tab, "claims") == "8 of 8 rows shown"
    choose(tab, "claims", "verdict", "fails")
    assert status(tab, "claims") == "1 of 8 rows shown"
    shown = tab.run("[...document.querySelectorAll('#claims tbody tr')].map(r => !r.hidden)")
    assert shown == [found["verdict"] == "fails" for found in claim_rows()]
    choose(tab, "claims", "words", "because of 4")
    assert status(tab, "claims") == "0 of 8 rows shown"
    tab.run("document.querySelector('form[data-filters=claims] button').click()")
    tab.run("new Promise(done => setTimeout(done, 50))")
    assert status(tab, "claims") == "8 of 8 rows shown"


def test_values_are_filtered_and_a_link_into_a_hidden_part_shows_it(tab, page):
    tab.open(page)
    verdicts = real_verdicts()
    missed = sum(found["verdict"] not in REPRODUCED for found in verdicts)
    tab.run("document.querySelector('#tables select').selectedIndex = 2")
    choose(tab, "tables", "words", "")
    assert status(tab, "tables") == f"{missed} of 185 values shown"
    assert tab.run("document.querySelector('#misses')") is None
    choose(tab, "tables", "words", "nowhere to be found")
    assert tab.run("[...document.querySelectorAll('#tables .item')].every(i => i.hidden)")
    tab.run("location.hash = '#values-table-v'")
    tab.run("new Promise(done => setTimeout(done, 100))")
    assert status(tab, "tables") == "185 of 185 values shown"
    assert not tab.run("document.querySelector('#values-table-v').hidden")


def test_what_scrolls_sideways_can_be_reached_and_has_a_name(tab, page):
    tab.open(page, width=390, height=844)
    tab.run("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
    found = tab.run(
        """[...document.querySelectorAll(".scroll")]
        .filter(b => b.checkVisibility() && b.scrollWidth > b.clientWidth)
        .map(b => [b.tabIndex, b.getAttribute("role"), b.getAttribute("aria-label").length > 3])"""
    )
    assert len(found) > 3
    assert {tuple(one) for one in found} == {(0, "region", True)}


def test_without_its_script_the_page_shows_every_row(tab, page):
    tab.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        tab.open(page)
    finally:
        tab.ask("Emulation.setScriptExecutionDisabled", value=False)
    assert tab.run("document.querySelectorAll('thead button').length") == 0
    assert tab.run("[...document.querySelectorAll('tr[data-row]')].every(r => r.getClientRects().length)")
    assert tab.run("[...document.forms].every(f => !f.getClientRects().length)")


def test_paper_shows_no_controls_and_every_row(tab, page):
    tab.open(page, width=794, media="print")
    shown = "[...document.querySelectorAll('{}')].filter(e => e.getClientRects().length).length"
    assert tab.run(shown.format("nav, form, iframe, .skip")) == 0
    assert tab.run("[...document.querySelectorAll('.tall')].every(b => b.scrollHeight <= b.clientHeight + 1)")
    assert tab.pdf().startswith(b"%PDF")
