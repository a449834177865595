"""The real pipeline, run once on config/quick.yaml: complete, idle when done, and what an edit reruns."""

import csv
import json
import re
import zipfile
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

from scripts.shared.catalogue import KINDS
from scripts.shared.code import files_of
from scripts.verdicts.verdict_rules import CLAIM_VERDICTS
from tests import ROOT
from tests.shared.rows import rows
from tests.workflow.conftest import QUICK, Project, counted

pytestmark = pytest.mark.pipeline

MADE = "results/quick"
FIGURES = rows()
TABLES = ["table_II", "table_1", "table_III", "table_IV", "table_V", "table_VI"]


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_everything_is_there(finished):
    results = finished.results()
    assert {name for name in results if name.startswith("figures/")} == {
        f"figures/{name}.{kind}" for name in FIGURES for kind in KINDS
    }
    for name in FIGURES:
        assert results[f"figures/{name}.png"].startswith(b"\x89PNG")
        assert results[f"figures/{name}.pdf"].startswith(b"%PDF")
        assert b"<svg" in results[f"figures/{name}.svg"][:500]
    for name in TABLES:
        assert results[f"tables/{name}.csv"].count(b"\n") > 2
    page = results["report/index.html"].decode()
    assert all(f'<figure id="{name}">' in page for name in FIGURES)
    assert "These are not the paper's settings." in page
    assert "<li><code>datasets.paris.tv.repetitions</code>: 10 → 5</li>" in page


def test_every_link_of_the_report_leads_to_a_file_or_a_target(finished):
    page = (finished.folder / MADE / "report/index.html").read_text(encoding="utf-8")
    links = {link.partition("#")[0] for link in re.findall(r'(?:href|src)="([^"#][^"]*)"', page)}
    local = {link for link in links if "://" not in link and not link.startswith("data:")}
    assert len(local) > 20
    # The project's documents are beside the results.
    missing = {link for link in local if not (finished.folder / MADE / "report" / link).exists()}
    assert {link for link in missing if not link.endswith("README.md")} == set()
    targets = set(re.findall(r"again: <code>snakemake (?:--\S+ \S+ -- )?([\w/.~-]+)</code>", page))
    assert {"fig1", "report", f"{MADE}/parity_ratio.csv", f"{MADE}/tables/table_IV.csv"} <= targets
    finished.make("--dry-run", "--", *sorted(targets))


def test_verdicts_cover_every_printed_value(finished):
    rows = rows_of(finished.folder / MADE / "report/verdicts.csv")
    values = rows_of(ROOT / "data/published/values.csv")
    assert len(rows) == len(values) == 185
    for row, value in zip(rows, values, strict=True):
        assert row["note"].startswith(value.pop("note"))
        assert {name: row[name] for name in value} == value
    settled = [row for row in rows if row["kind"] != "random"]
    assert sum(row["verdict"] in ("same digits", "close") for row in settled) >= 110


def test_every_statement_of_the_text_is_judged(finished):
    rows = rows_of(finished.folder / MADE / "report/claim_verdicts.csv")
    claims = rows_of(ROOT / "data/published/claims.csv")
    assert [{name: row[name] for name in claims[0]} for row in rows] == claims
    assert {row["verdict"] for row in rows} <= set(CLAIM_VERDICTS)
    assert all(row["statistic_published"] for row in rows)


def test_every_job_reads_only_what_its_rule_knows(finished):
    """All modules that it loaded and all files that it opened: else an edit of one would rerun nothing."""
    jobs = [json.loads(path.read_text()) for path in (finished.folder / "seen").iterdir()]
    assert len(jobs) > 40
    assert {job["rule"] for job in jobs} >= {"draw_figure", "compute_curve", "run_trials", "write_report"}
    for job in jobs:
        code = job["code"].split()[1:]
        known = {*files_of(*code), *job["input"], "sitecustomize.py"}
        read = [path for path in job["read"] if not path.startswith((".snakemake/", "seen/"))]
        assert [path for path in read if path not in known and "__pycache__" not in path] == [], job["rule"]
        assert code[0] in known


def test_sums_and_a_second_run(finished):
    assert finished.planned() == {}
    sums = (finished.folder / MADE / "SHA256SUMS").read_text().splitlines()
    assert {line.split("  ")[1] for line in sums} == {
        f"{MADE}/{name}" for name in finished.results() if name != "SHA256SUMS"
    }


# What reruns ------------------------------------------------------------------------------------------

PAGE = {"write_report", "write_sums", "all"}
QUOTED = {"state_findings", "write_article"} | PAGE
NO_BOUND = {"use_bundled_counts", "count_checkins", "sample_synthetic", "run_trials"}
EDITS = {  # file -> the rules that rerun, and how many figures; or the rules that do not
    "scripts/trials/draw_tv.py": ({"write_article"} | PAGE, 6),
    "scripts/attack/draw_audit.py": (PAGE, 1),
    "scripts/parity/run_parity.py": ({"run_parity", "judge_claims", "summarise_parity"} | QUOTED, 4),
    "scripts/attack/run_audit.py": ({"run_audit", "collect_audit"} | QUOTED, 1),
    "scripts/study/write_which.py": ({"write_which", "write_article", "write_sums", "all"}, 0),
    "tightshuffle/bounds/histogram.py": (NO_BOUND, None),
    "tightshuffle/collection/bounds.py": (NO_BOUND | {"run_parity", "judge_values"}, None),
    "tightshuffle/randomizers/subset.py": (
        {"use_bundled_counts", "count_checkins", "sample_synthetic"},
        None,
    ),
    "README.md": (set(), 0),
    "docs/design.md": (set(), 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("file", EDITS)
def test_an_edit_reruns_what_uses_it_and_nothing_else(finished, file):
    path = finished.folder / file
    before = path.read_text() if path.exists() else ""
    path.write_text(f"{before}\n# edited\n")
    planned = finished.planned()
    path.write_text(before)
    rules, figures = EDITS[file]
    drawn = planned.pop("draw_figure", 0)
    if figures is None:
        assert planned
        assert not rules & set(planned)
    else:
        assert (set(planned), drawn) == (rules, figures)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clones", "amplification", "blanket", "renyi"])
def test_an_edited_bound_of_the_literature_reruns_its_curves(finished, name):
    path = finished.folder / f"tightshuffle/literature/{name}.py"
    before = path.read_text()
    path.write_text(f"{before}\n# edited\n")
    planned = finished.snakemake(*QUICK, "--dry-run", "--quiet", "host", "--", "figures")
    path.write_text(before)
    assert f"output: {MADE}/privacy/delta_bounds.csv\n" in planned.stdout


@pytest.mark.slow
def test_a_number_reruns_the_jobs_that_use_it(finished):
    """And a result that is removed comes back with the same bytes."""
    path, before = finished.folder / "config/quick.yaml", finished.results()
    text = path.read_text()
    path.write_text(
        text.replace(
            "tv: {budgets: [{eps0: 4, eps: 4}], n: [1000, 10000], repetitions: 5}",
            "tv: {budgets: [{eps0: 4, eps: 4}], n: [1000, 10000], repetitions: 6}",
        )
    )
    assert path.read_text() != text
    planned = finished.planned()
    path.write_text(text)
    assert planned["run_trials"] == 1
    assert not {"run_parity", "estimate_cells", "run_audit"} & set(planned)
    removed = finished.folder / MADE / "figures/audit.pdf"
    removed.unlink()
    assert finished.planned() == counted(finished.make()) == dict.fromkeys(["draw_figure", *PAGE], 1)
    assert finished.results() == before


# Other ways to run ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_snakemakes_report_has_every_figure_and_table_with_caption_and_category(finished):
    archive = finished.folder / "snakemake.zip"
    finished.make("--report", archive)
    with zipfile.ZipFile(archive) as files:
        name = next(name for name in files.namelist() if name.endswith("report.html"))
        html = files.read(name).decode()
    start = re.search(r"\bvar results = (?=\{)", html).end()
    results = json.JSONDecoder().raw_decode(html, start)[0]
    shown = {Path(path).stem for path in results}
    assert {*FIGURES, *TABLES, "audit", "verdicts", "claim_verdicts", "study", "parity"} <= shown
    for path, result in results.items():
        caption = unescape(re.sub("<.*?>", " ", result["caption"])).split()
        assert len(caption) > 5, path
        if "/figures/" in path:
            assert caption == (finished.folder / path).with_suffix(".txt").read_text("utf-8").split(), path


@pytest.mark.slow
def test_named_targets(fresh):
    named = ["figures", "tables", "report", "article", "parity", "study", *(f"fig{i}" for i in range(1, 8))]
    wanted = {"run_trials", "run_parity", "write_report", "write_tables"}
    assert fresh.planned(*named).keys() >= wanted
    planned = fresh.planned("fig6").keys()
    assert planned >= {"run_trials", "draw_figure", "run_parity"}
    assert not planned & {"estimate_cells", "run_audit", "write_report"}


@pytest.mark.slow
def test_a_histogram_of_your_own(fresh):
    """The name of its file holds a space, its title markup, and another one's name looks like a budget."""
    (fresh.folder / "my counts.csv").write_text("cell,count\n1,400\n2,150\n3,0\n4,50\n")
    own = "    kind: counts\n    file: my counts.csv\n    tv: {budgets: [{eps0: 2, eps: 1}], n: [200, all], "
    (fresh.folder / "config/mine.yaml").write_text(
        f"datasets:\n  mine:\n{own}repetitions: 4}}\n    title: Mine <b>&\n"
        "    estimates: {budgets: [{eps0: 2, eps: 1}], n: all}\n"
        f"  mine_eps0:\n{own}repetitions: 3}}\n    title: Other\n"
        "parity: {eps0: [2], repetitions: 5, bootstrap: 20}\n"
    )
    figures = ("tv", "estimates", "parity", "parity_estimates")
    targets = [f"results/quick_mine/figures/{name}_mine.png" for name in figures]
    trials = "results/quick_mine/trials/mine_eps0_eps0-2_eps-1.parquet"
    done = fresh.snakemake(*targets, trials, *QUICK, "config/mine.yaml")
    assert done.returncode == 0, done.stdout
    frame = pd.read_parquet(fresh.folder / trials)
    assert (set(frame["dataset"]), set(frame["repetitions"])) == ({"mine_eps0"}, {3})
    for target in targets:
        assert "Mine" in (fresh.folder / target).with_suffix(".txt").read_text()


@pytest.mark.slow
def test_a_file_of_checkins(fresh):
    rows = []
    for i in range(4000):
        latitude = (37.73 + 0.06 * (i % 97) / 97) if i % 2 else (48.83 + 0.045 * (i % 89) / 89)
        longitude = (-122.51 + 0.12 * (i % 83) / 83) if i % 2 else (2.29 + 0.1 * (i % 79) / 79)
        rows.append(f"{i}\t2010-01-01T00:00:00Z\t{latitude:.6f}\t{longitude:.6f}\t{i}")
    (fresh.folder / "rows.txt").write_text("\n".join([*rows, "broken row"]) + "\n")
    done = fresh.snakemake("fig3", *QUICK, "--config", "gowalla={source: file, file: rows.txt}")
    assert done.returncode == 0, done.stdout
    made = fresh.folder / "results/quick"
    histogram = (made / "histograms/paris.csv").read_text().splitlines()
    assert sum(int(line.split(",")[1]) for line in histogram[1:]) == 2000
    assert "sub-cell" not in (made / "figures/fig3_checkins.txt").read_text()


@pytest.mark.slow
def test_same_bytes_in_another_folder_on_one_core(finished, tmp_path):
    """One of everything that is drawn at random, and a text: the rest is made from these by the same code."""
    other = Project(tmp_path / "frisch geklönt")
    names = ("trials/synthetic_eps0-4_eps-4.parquet", "parity/paris.parquet", "audit.csv", "study/which.md")
    targets = [f"{MADE}/{name}" for name in names]
    other.make("--cores", "1", "--", *targets, environment={"PYTHONHASHSEED": "77", "OMP_NUM_THREADS": "1"})
    here, there = finished.results(), other.results()
    assert there.keys() >= set(names)
    assert [name for name in there if here[name] != there[name]] == []
