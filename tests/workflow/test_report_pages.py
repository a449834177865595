"""The report of the real pipeline: its links and targets exist; Snakemake's own report has every part."""

import json
import re
import zipfile
from html import unescape

import pytest

pytestmark = pytest.mark.pipeline

MADE = "results/quick"
CSV = {
    *(f"{MADE}/tables/table_{name}.csv" for name in ("II", "1", "III", "IV", "V", "VI")),
    *(f"{MADE}/{name}.csv" for name in ("audit", "parity", "parity_ratio", "parity_plan")),
    *(f"{MADE}/{name}.csv" for name in ("report/verdicts", "report/claim_verdicts", "checkins/totals")),
    *(f"{MADE}/{name}.csv" for name in ("report/joint_tests", "study/study")),
}


@pytest.fixture(scope="module")
def page(finished):
    return (finished.folder / f"{MADE}/report/index.html").read_text(encoding="utf-8")


def test_settings_that_are_not_the_papers_are_named(page):
    assert "These are not the paper's settings." in page
    assert "<li><code>datasets.paris.tv.repetitions</code>: 10 → 5</li>" in page


@pytest.mark.slow
def test_the_papers_settings_are_the_papers(full):
    assert "not the paper's settings" not in (full.folder / "results/report/index.html").read_text("utf-8")


def test_every_link_leads_to_a_file(finished, page):
    links = {link.partition("#")[0] for link in re.findall(r'(?:href|src)="([^"#][^"]*)"', page)}
    local = {link for link in links if "://" not in link and not link.startswith("data:")}
    assert len(local) > 20
    assert "../figures/too_small.png" in local
    folder = finished.folder / f"{MADE}/report"
    # The project's documents are beside the results; the copy that the tests run has no docs.
    missing = {link for link in local if not (folder / link).exists()}
    assert {
        link for link in missing if not link.startswith(("../../../docs/", "../../../README.md"))
    } == set()


def test_every_rerun_line_names_a_target(finished, page):
    targets = set(re.findall(r"again: <code>snakemake (?:--\S+ \S+ -- )?([\w/.~-]+)</code>", page))
    assert {
        "fig1",
        "report",
        f"{MADE}/parity_ratio.csv",
        f"{MADE}/tables/table_IV.csv",
        f"{MADE}/report/claim_verdicts.csv",
    } <= targets
    done = finished.snakemake("--configfile", "config/quick.yaml", "--dry-run", "--", *sorted(targets))
    assert done.returncode == 0, done.stdout


def test_snakemakes_report_has_every_figure_and_table_with_caption_and_category(finished):
    archive = finished.folder / f"{MADE}/report/snakemake.zip"
    try:
        done = finished.snakemake(
            "--configfile", "config/quick.yaml", "--report", f"{MADE}/report/snakemake.zip"
        )
        assert done.returncode == 0, done.stdout
        with zipfile.ZipFile(archive) as files:
            names = files.namelist()
            html = files.read(next(name for name in names if name.endswith("report.html"))).decode()
    finally:
        archive.unlink(missing_ok=True)
    results, categories = (assigned(html, name) for name in ("results", "categories"))
    figures = {f"{MADE}/figures/{path.name}" for path in finished.folder.glob(f"{MADE}/figures/*.png")}
    assert len(figures) > 15
    assert set(results) == figures | CSV
    shown = {name: {path for paths in parts.values() for path in paths} for name, parts in categories.items()}
    assert shown == {"Figures": figures, "Tables": CSV}
    for path, result in results.items():
        caption = unescape(re.sub("<.*?>", " ", result["caption"])).split()
        assert len(caption) > 5, path
        assert all(result["labels"].values()), path
        if path in figures:
            text = finished.folder.joinpath(path).with_suffix(".txt").read_text(encoding="utf-8")
            assert caption == text.split(), path
    stored = {name.rpartition("/")[2] for name in names}
    assert {path.rpartition("/")[2] for path in results} <= stored


def assigned(html, name):
    """The JSON value that the page's script gives to a variable."""
    start = re.search(rf"\bvar {name} = (?=\{{)", html).end()
    return json.JSONDecoder().raw_decode(html, start)[0]
