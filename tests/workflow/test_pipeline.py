"""The real pipeline: complete, idle when done, the same bytes anywhere, readable where it refuses."""

import csv

import pandas as pd
import pytest

from reproduction.figures.catalogue import KINDS
from reproduction.verification.claims.verdict_rules import CLAIM_VERDICTS
from tests import ROOT
from tests.reproduction.figures.rows import rows
from tests.workflow.conftest import QUICK, Project

pytestmark = pytest.mark.pipeline

FIGURES = rows()
TABLES = ["table_II", "table_1", "table_III", "table_IV", "table_V", "table_VI"]


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
    page = results["report/index.html"]
    assert page.lstrip().startswith(b"<!doctype html>")
    assert all(f'<figure id="{name}">'.encode() in page for name in FIGURES)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_verdicts_cover_every_printed_value(finished):
    rows = rows_of(finished.folder / "results/quick/report/verdicts.csv")
    values = rows_of(ROOT / "data/published/values.csv")
    assert len(rows) == len(values) == 185
    for row, value in zip(rows, values, strict=True):
        assert row["note"].startswith(value.pop("note"))
        assert {name: row[name] for name in value} == value
    settled = [row for row in rows if row["kind"] != "random"]
    assert sum(row["verdict"] in ("same digits", "close") for row in settled) >= 110


def test_every_statement_of_the_text_is_judged(finished):
    rows = rows_of(finished.folder / "results/quick/report/claim_verdicts.csv")
    claims = rows_of(ROOT / "data/published/claims.csv")
    assert [{name: row[name] for name in claims[0]} for row in rows] == claims
    assert {row["verdict"] for row in rows} <= set(CLAIM_VERDICTS)
    assert all(row["why"] for row in rows)
    settled = {row["id"]: row["verdict"] for row in rows}
    assert settled["figure-1-caption"] == "holds"
    assert settled["figure-1-text"] == settled["least-delta"] == settled["equal-privacy"] == "fails"


def test_second_run_does_nothing(finished):
    assert "Nothing to be done" in finished.make()


def test_a_typo_in_the_config_is_one_line(fresh):
    done = fresh.snakemake("--config", "gowalla={sourc: snap}", "--dry-run")
    assert done.returncode != 0
    (line,) = [line for line in done.stdout.splitlines() if "config:" in line]
    assert "gowalla.sourc" in line
    assert "did you mean 'source'?" in line
    assert "Traceback" not in done.stdout


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
    assert all((fresh.folder / target).stat().st_size > 5000 for target in targets)
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
def test_same_bytes_in_another_folder_on_one_core(full, tmp_path):
    """One of everything that is drawn at random: the rest is made from these by the same code."""
    other = Project(tmp_path / "frisch geklönt", config=[], results="results")
    targets = [
        "results/trials/synthetic_eps0-4_eps-4.parquet",
        "results/trials/paris_eps0-4_eps-4.parquet",
        "results/parity/paris.parquet",
        "results/audit/n-50_k-10_eps0-2_count-40.parquet",
    ]
    other.make("--cores", "1", "--", *targets, environment={"PYTHONHASHSEED": "77", "OMP_NUM_THREADS": "1"})
    here, there = full.results(), other.results()
    assert there.keys() >= {name.removeprefix("results/") for name in targets}
    assert [name for name in there if here[name] != there[name]] == []


@pytest.mark.slow
def test_named_targets(fresh):
    named = ["figures", "tables", "report", "article", "parity", "study", *(f"fig{i}" for i in range(1, 8))]
    wanted = {"run_trials", "run_parity", "write_report", "write_tables"}
    assert fresh.planned(*named).keys() >= wanted
    planned = fresh.planned("fig6").keys()
    assert planned >= {"run_trials", "draw_figure", "run_parity"}
    assert not planned & {"estimate_cells", "run_audit", "write_report"}
