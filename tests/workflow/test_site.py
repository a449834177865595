"""The documentation site: a strict build that runs the tour, and pages that need no network."""

import importlib
import json
import re
import subprocess
import sys

import pytest

import tightshuffle
from tests import ROOT
from tests.reproduction.report import browser

LOADED = re.compile(
    r"""<(?:script|img|iframe|source|embed|object|link\b(?=[^>]*stylesheet))[^>]*?(?:src|href|data)=["']?(?:https?:)?//"""
    r"""|url\(\s*["']?(?:https?:)?//|@import""",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site's folder, built as `make docs` builds it; warnings are errors."""
    pytest.importorskip("sphinx", reason="Sphinx is not installed: make docs")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, *f"-m sphinx -M html . {folder} -c docs -W --keep-going -q".split()],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_the_tour_is_committed_without_outputs():
    cells = json.loads((ROOT / "docs/tour.ipynb").read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 4
    assert not any(cell["outputs"] or cell["execution_count"] for cell in code)


@pytest.mark.slow
def test_every_document_and_module_has_a_page(site):
    inventory = (site / "searchindex.js").read_text(encoding="utf-8")
    pages = [path.relative_to(ROOT).with_suffix("") for path in ROOT.glob("docs/**/*.md")]
    assert {str(page) for page in pages} <= set(re.findall(r'"([\w/]+)"', inventory))
    api = (site / "docs/api/bounds.html").read_text(encoding="utf-8")
    assert 'id="tightshuffle.bounds.histogram.upper"' in api
    public = (site / "docs/api/tightshuffle.html").read_text(encoding="utf-8")
    assert all(f'id="tightshuffle.{name}"' in public for name in tightshuffle.__all__)
    start = (site / "docs/index.html").read_text(encoding="utf-8")
    assert re.findall(r'href="api/(\w+).html"', start)[0] == "tightshuffle"
    assert start.count('class="caption-text"') <= 5  # groups in the side bar


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("e^(eps - eps0) >= x0", r"e^{\epsilon - \epsilon_0} \ge x_{0}"),
        ("E_w[(R_x0 / w)^2],   w the blanket", r"E_{w}[(R_{x_{0}} / w)^{2}],\quad w\text{ the blanket}"),
        ("sqrt(2 (p - q))^-1 for k-RR", r"\sqrt{2 (p - q)}^{-1}\text{ for k-RR}"),
    ],
)
def test_a_docstrings_formula_becomes_latex(text, latex, monkeypatch):
    pytest.importorskip("sphinx", reason="Sphinx is not installed: make docs")
    monkeypatch.syspath_prepend(ROOT / "docs")
    made = importlib.import_module("docstrings").latex(text)
    assert re.sub(r" +(?=[ }])", "", made) == latex


@pytest.mark.slow
def test_docstrings_have_tables_formulas_and_lists_of_parameters(site):
    page = (site / "docs/api/bounds.html").read_text(encoding="utf-8")
    table, _, modules = page.partition('<section id="tightshuffle-bounds-histogram">')
    assert table.count("<tr") > 20
    assert modules.count('<div class="formula">') >= 7
    assert "<blockquote" not in page
    assert "<math" in modules
    assert re.search(r"<sup>eps</sup>", modules)
    assert "Parameters" in modules


@pytest.mark.slow
def test_the_tour_ran(site):
    tour = (site / "docs/tour.html").read_text(encoding="utf-8")
    assert "largest eps0: 6.95" in tour
    assert tour.count("cell_output") >= 4
    assert tour.count("<img") >= 2


@pytest.mark.slow
def test_no_page_loads_anything_from_the_net(site):
    files = [path for suffix in ("html", "css") for path in site.rglob(f"*.{suffix}")]
    assert len(files) > 30
    assert [path.name for path in files if LOADED.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.slow
@pytest.mark.skipif(browser.find() is None, reason="no Chromium")
def test_formulas_and_search_work_from_a_file(site):
    with browser.Browser() as tab:
        tab.open(site / "docs/errata.html", width=390)
        assert tab.run("document.querySelectorAll('math').length") > 100
        assert tab.run("document.documentElement.scrollWidth") <= 390  # of a phone
        assert tab.run("document.fonts.load('16px \"STIX Two Math\"').then(fonts => fonts.length)") == 1
        asked = tab.requests()
        tab.open(site / "search.html")
        tab.events = []
        tab.run("location.search = '?q=blanket'")
        tab.wait_for("Page.loadEventFired")
        hit = "document.querySelector('#search-results li')"
        assert tab.run(f"new Promise(done => setInterval(() => {hit} && done(1), 100))") == 1
        asked += tab.requests()
    assert len(asked) > 10
    assert {address.partition(":")[0] for address in asked} <= {"file", "data"}
