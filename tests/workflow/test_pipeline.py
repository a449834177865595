"""The real pipeline, run once on config/quick.yaml: complete, idle when done, and what an edit reruns."""

import gzip
import hashlib
import http.server
import json
import os
import re
import threading
import zipfile
from functools import partial
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

from scripts.shared.code import files_of
from tests import ROOT
from tests.workflow.conftest import QUICK, Project, counted

pytestmark = pytest.mark.pipeline

MADE = "results/quick"
CITIES = {"4": "san_francisco", "5": "paris", "6": "san_francisco", "7": "paris"}
FIGURES = {
    *("fig1_delta_surface", "fig2_tv_synthetic", "fig3_checkins"),
    *(f"fig{i}_estimates_{CITIES[i]}" for i in "45"),
    *(f"fig{i}_tv_{CITIES[i]}" for i in "67"),
    *("delta_hat", "delta_hat_trials", "constants"),
    *("audit", "blanket", "delta_bounds", "gaussian_scale", "girgis_rdp", "koskela_fig1a"),
    *("designs", "koskela_fig1b", "parity_ratio", "too_small"),
}
CLAIMS = ROOT / "data/published/claims.csv"
TABLES = {"table_II", "table_1", "table_III", "table_IV", "table_V", "table_VI"}


def table(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def test_everything_is_there(finished):
    results = finished.results()
    kinds = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml", "txt": b""}
    assert {name for name in results if name.startswith("figures/")} == {
        f"figures/{name}.{kind}" for name in FIGURES for kind in kinds
    }
    assert all(
        results[f"figures/{name}.{kind}"].startswith(kinds[kind])
        for name in FIGURES
        for kind in kinds
    )
    assert all(results[f"tables/{name}.csv"].count(b"\n") > 2 for name in TABLES)
    assert results["report/article.pdf"].startswith(b"%PDF")
    page = results["report/index.html"].decode()
    shown = page + results["report/companions.html"].decode()
    assert all(shown.count(f'<figure id="{name}">') == 1 for name in FIGURES)
    # Words.
    assert len(re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL).split()) <= 10_000
    assert results["report/statements.html"].count(b'<tr id="claim-') == len(table(CLAIMS))
    assert "These are not the paper's settings." in page
    assert "<li><code>datasets.paris.tv.repetitions</code>: 10 → 5</li>" in page


def test_every_link_of_the_report_leads_to_a_file_and_every_command_to_a_target(finished):
    report = finished.folder / MADE / "report"
    page = "".join((report / f"{name}.html").read_text("utf-8") for name in ("index", "statements"))
    links = {link.partition("#")[0] for link in re.findall(r'(?:href|src)="([^"#][^"]*)"', page)}
    local = {link for link in links if "://" not in link and not link.startswith("data:")}
    assert len(local) > 20
    # The project's documents are beside the results.
    missing = {link for link in local if not (report / link).exists()}
    assert {link for link in missing if not link.endswith("README.md")} == set()
    targets = set(re.findall(r"again: <code>snakemake (?:--\S+ \S+ -- )?([\w/.~-]+)</code>", page))
    made = {
        f"{MADE}/{name}.csv"
        for name in ("parity/parity_ratio", "tables/table_IV", "statements/claim_verdicts")
    }
    assert {"fig1", "report", *made} <= targets
    finished.make("--dry-run", "--", *sorted(targets))


@pytest.mark.parametrize(
    ("name", "printed"), [("values/verdicts", "values"), ("statements/claim_verdicts", "claims")]
)
def test_every_printed_value_and_statement_has_its_verdict(finished, name, printed):
    judged = table(finished.folder / f"{MADE}/{name}.csv")
    given = table(ROOT / f"data/published/{printed}.csv")
    columns = given.columns.difference(["note"])  # to which a verdict adds
    assert judged[columns].equals(given[columns])
    assert judged["verdict"].ne("").all()
    if printed == "values":
        settled = judged["verdict"][judged["kind"] != "random"]
        assert settled.isin(["same digits", "close"]).sum() >= 110


def test_every_job_reads_only_what_its_rule_knows(finished):
    """All modules that it loaded and all files that it opened: else an edit of one would rerun nothing."""
    jobs = [json.loads(path.read_text()) for path in (finished.folder / "seen").iterdir()]
    assert len(jobs) > 40
    assert {job["rule"] for job in jobs} >= {
        "draw_tv",
        "compute_girgis",
        "run_trials",
        "write_report",
    }
    for job in jobs:
        script = job["script"]
        known = {
            *files_of(script),
            *job["input"],
            *job["output"],
            "sitecustomize.py",
        }  # it sums its outputs
        read = [path for path in job["read"] if not path.startswith((".snakemake/", "seen/"))]
        assert [path for path in read if path not in known and "__pycache__" not in path] == [], (
            job["rule"]
        )
        assert script in known


def test_sums_and_a_second_run(finished):
    assert finished.planned() == {}
    sums = (finished.folder / MADE / "SHA256SUMS").read_text().splitlines()
    assert {line.split("  ")[1] for line in sums} == {
        f"{MADE}/{name}" for name in finished.results() if name != "SHA256SUMS"
    }


# What reruns ------------------------------------------------------------------------------------------

PAGE = {"write_report", "write_sums", "all"}
QUOTED = {"state_findings", "write_article"} | PAGE
JUDGED = {"judge_values", "judge_jointly", "judge_claims", "write_tables"} | QUOTED
NO_BOUND = {"use_bundled_counts", "count_checkins", "sample_synthetic"}
EDITS = {  # file -> the rules that rerun; or, behind "not", rules that do not
    "scripts/paper/trials/draw_tv.py": {"draw_tv", "write_article"} | PAGE,
    "scripts/beyond/attack/draw_audit.py": {"draw_audit"} | PAGE,
    "scripts/beyond/attack/run_audit.py": {"run_audit", "collect_audit", "draw_audit"} | QUOTED,
    "scripts/report/page/style.css": PAGE,
    "docs/errata.md": PAGE,  # which is a page of the report
    "scripts/report/article/article.typ": {"write_article", "write_sums", "all"},
    "data/published/claims.csv": {"judge_claims"} | QUOTED,
    "data/published/values.csv": {"compute_printed_deltas", "compute_cited_bounds"} | JUDGED,
    "tightshuffle/bounds/privacy_blanket.py": {"not", "run_trials", "run_audit"} | NO_BOUND,
    "tightshuffle/collection/bounds.py": {"not", "run_trials", "run_parity", "collect_audit"}
    | NO_BOUND,
    "tightshuffle/randomizers/subset.py": {"not"} | NO_BOUND,
    "README.md": set(),
    "docs/design.md": set(),
}


@pytest.mark.slow
@pytest.mark.parametrize("file", EDITS)
def test_an_edit_reruns_what_uses_it_and_nothing_else(finished, file):
    """An edit whose date is old; the date that putting the text back leaves reruns nothing."""
    path = finished.folder / file
    before = path.read_text() if path.exists() else ""
    edit = (
        "edited = 1" if path.suffix == ".py" else "# edited"
    )  # a comment of Python reruns nothing
    path.write_text(f"{before}\n{edit}\n")
    os.utime(path, (86_400, 86_400))
    planned = set(finished.planned())
    path.write_text(before)
    if "not" in EDITS[file]:
        assert planned
        assert not planned & EDITS[file]
    else:
        assert planned == EDITS[file]


@pytest.mark.slow
def test_a_number_reruns_the_jobs_that_use_it(finished):
    """And a result that is removed comes back with the same bytes."""
    path, before = finished.folder / "config/quick.yaml", finished.results()
    text = path.read_text()
    one = "tv: {budgets: [{eps0: 4, eps: 4}], n: [1000, 10000], repetitions: 5}"
    assert one in text
    path.write_text(text.replace(one, one.replace("5}", "6}")))
    planned = finished.planned()
    path.write_text(text)
    assert planned["run_trials"] == planned["draw_tv"] == 1
    assert not {"run_parity", "estimate_cells", "run_audit"} & set(planned)
    (finished.folder / MADE / "figures/audit.pdf").unlink()
    assert finished.planned() == counted(finished.make()) == dict.fromkeys(["draw_audit", *PAGE], 1)
    assert finished.results() == before


# Other ways to run ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_snakemakes_report_has_every_figure_and_table_with_caption_and_category(finished):
    finished.make("--report", "snakemake.zip")
    with zipfile.ZipFile(finished.folder / "snakemake.zip") as files:
        name = next(name for name in files.namelist() if name.endswith("report.html"))
        html = files.read(name).decode()
    start = re.search(r"\bvar results = (?=\{)", html).end()
    results = json.JSONDecoder().raw_decode(html, start)[0]
    shown = {Path(path).stem for path in results}
    assert FIGURES | TABLES | {"audit", "verdicts", "claim_verdicts", "study", "parity"} <= shown
    for path, result in results.items():
        caption = unescape(re.sub("<.*?>", " ", result["caption"])).split()
        assert len(caption) > 5, path
        if "/figures/" in path:
            assert (
                caption == (finished.folder / path).with_suffix(".txt").read_text("utf-8").split()
            ), path


@pytest.mark.slow
def test_named_targets(fresh):
    makefile = re.search(r"^TARGETS := (.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)[
        1
    ].split()
    assert {
        "fig1",
        "fig7",
        "figures",
        "tables",
        "report",
        "article",
        "data",
        "paper",
        "statements",
    } <= set(makefile)
    assert fresh.planned(*makefile).keys() >= {
        "run_trials",
        "run_parity",
        "write_report",
        "write_tables",
    }
    planned = fresh.planned("fig6").keys()
    assert planned >= {"run_trials", "draw_tv"}
    assert not planned & {"estimate_cells", "run_parity", "run_audit", "write_report"}


@pytest.mark.slow
def test_figures_as_fps_numbers_them(fresh):
    """Its Figure 1 is arXiv's 3, its 2 is 4 and 5, its 3 is 6 and 7."""
    makefile = re.search(r"^TARGETS := (.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)[
        1
    ].split()
    assert {"fps1", "fps2", "fps3"} <= set(makefile)
    drawing = {"draw_checkins", "draw_estimates", "draw_tv"}
    for target, drawn in (
        ("fps1", "draw_checkins"),
        ("fps2", "draw_estimates"),
        ("fps3", "draw_tv"),
    ):
        planned = fresh.planned(target)
        assert planned.keys() & drawing == {drawn}
        assert planned[drawn] == (1 if target == "fps1" else 2)


@pytest.mark.slow
def test_the_large_grid_is_planned(fresh):
    """config/scale.yaml, which is what a cluster is for."""
    fresh.config = ["--configfile", "config/scale.yaml"]
    last = "results/scale/trials/scale_k100000_grid-50.parquet"  # of 198 points, 4 in a job
    assert fresh.planned(last) == {"sample_synthetic": 1, "run_trials": 1}
    assert fresh.planned("trials")["run_trials"] > 60


@pytest.mark.slow
def test_a_histogram_of_your_own(fresh):
    """The name of its file holds a space, its title markup, and another one's name looks like a budget."""
    (fresh.folder / "my counts.csv").write_text("cell,count\n1,400\n2,150\n3,0\n4,50\n")
    own = "    kind: counts\n    file: my counts.csv\n    tv: {budgets: [{eps0: 2, eps: 1}], n: [200, all], "
    others = "".join(
        f"  {name}: {{tv: null}}\n" for name in ("synthetic", "san_francisco", "paris")
    )
    (fresh.folder / "config/mine.yaml").write_text(
        f"datasets:\n  mine:\n{own}repetitions: 4}}\n    title: Mine <b>&\n"
        "    estimates: {budgets: [{eps0: 2, eps: 1}], n: all}\n"
        f"  mine_eps0:\n{own}repetitions: 3}}\n    title: Other\n"
        f"{others}parity: {{eps0: [2], repetitions: 5, bootstrap: 20}}\n"
    )
    figures = ("tv_mine", "estimates_mine", "parity_ratio")
    targets = [f"results/quick_mine/figures/{name}.png" for name in figures]
    trials = "results/quick_mine/trials/mine_eps0_eps0-2_eps-1.parquet"
    done = fresh.snakemake(*targets, trials, *QUICK, "config/mine.yaml")
    assert done.returncode == 0, done.stdout
    frame = pd.read_parquet(fresh.folder / trials)
    assert (set(frame["dataset"]), set(frame["repetitions"])) == ({"mine_eps0"}, {3})
    for target in targets:
        assert "Mine" in (fresh.folder / target).with_suffix(".txt").read_text()


def made_up_checkins():
    """Rows in SNAP's format, 2,000 in each of the paper's cities, and one that cannot be read."""
    rows = []
    for i in range(4000):
        latitude = (37.73 + 0.06 * (i % 97) / 97) if i % 2 else (48.83 + 0.045 * (i % 89) / 89)
        longitude = (-122.51 + 0.12 * (i % 83) / 83) if i % 2 else (2.29 + 0.1 * (i % 79) / 79)
        rows.append(f"{i}\t2010-01-01T00:00:00Z\t{latitude:.6f}\t{longitude:.6f}\t{i}")
    return "\n".join([*rows, "broken row"]) + "\n"


@pytest.mark.slow
def test_a_file_of_checkins(fresh):
    (fresh.folder / "rows.txt").write_text(made_up_checkins())
    fresh.make("--config", "gowalla={source: file, file: rows.txt}", "--", "fig3")
    made = fresh.folder / MADE
    assert pd.read_csv(made / "data/histograms/paris.csv")["count"].sum() == 2000
    assert "sub-cell" not in (made / "figures/fig3_checkins.txt").read_text()


@pytest.mark.slow
def test_the_download_is_a_rule_by_default_that_no_result_needs(fresh):
    listed = fresh.snakemake("--list-rules").stdout
    steps = ["download_checkins", "crop_checkins", "grid_checkins"]
    assert [step for step in steps if not re.search(rf"^{step}\b", listed, re.MULTILINE)] == []
    assert fresh.planned("download_checkins") == {"download_checkins": 1}
    everything = fresh.planned()
    assert everything["use_bundled_counts"] == 2
    assert not everything.keys() & {*steps, "compare_checkins"}


@pytest.mark.slow
def test_config_snap_downloads_the_file_and_says_where_its_counts_differ(fresh, tmp_path):
    """From a server on this machine; the results lie beside those of the bundled counts."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "rows.txt.gz").write_bytes(gzip.compress(made_up_checkins().encode()))
    md5 = hashlib.md5((site / "rows.txt.gz").read_bytes()).hexdigest()
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/rows.txt.gz"
        (fresh.folder / "here.yaml").write_text(
            f"gowalla: {{download: {{url: {address}, md5: {md5}}}}}\n"
        )
        fresh.config = ["--configfile", "config/snap.yaml", "here.yaml"]
        planned = fresh.planned()
        fresh.make("--", "data", environment={"NO_PROXY": "127.0.0.1"})
        server.shutdown()
    assert "use_bundled_counts" not in planned
    assert planned.keys() >= {
        "download_checkins",
        "crop_checkins",
        "grid_checkins",
        "compare_checkins",
    }
    compared = pd.read_csv(fresh.folder / "results/snap_here/data/checkins/compared.csv")
    paris = compared[compared["dataset"] == "paris"].set_index("grid").loc["uniform"]
    assert paris[["printed", "bundled", "counted", "cells"]].tolist() == [
        10_260,
        11_190,
        2_000,
        192,
    ]
    assert paris["cells_that_differ"] > 100


@pytest.mark.slow
def test_same_bytes_in_another_folder_on_one_core(finished, tmp_path):
    """One of everything that is drawn at random, and a text: the rest is made from these by the same code."""
    other = Project(tmp_path / "frisch geklönt")
    names = {"trials/synthetic_eps0-4_eps-4.parquet", "parity/paris.parquet", "attack/audit.csv"}
    targets = [f"{MADE}/{name}" for name in names]
    other.make(
        "--cores", "1", "--", *targets, environment={"PYTHONHASHSEED": "77", "OMP_NUM_THREADS": "1"}
    )
    here, there = finished.results(), other.results()
    assert there.keys() >= names
    assert [name for name in there if here[name] != there[name]] == []
