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
from tests.workflow.conftest import Project, jobs_by_rule, names_that_differ

pytestmark = pytest.mark.pipeline

RESULTS = "results/quick"
FIGURES = {  # of a run on config/quick.yaml
    "fig1_delta_surface", "fig2_tv_synthetic", "fig3_checkins", "fig4_estimates_san_francisco",
    "fig5_estimates_paris", "fig6_tv_san_francisco", "fig7_tv_paris", "delta_hat",
    "delta_hat_trials", "constants", "audit", "blanket", "delta_bounds", "designs",
    "gaussian_scale", "girgis_rdp", "koskela_fig1a", "koskela_fig1b", "parity_ratio", "too_small",
}  # fmt: skip
CLAIMS = ROOT / "data/published/claims.csv"
TABLES = {f"table_{number}" for number in ("II", "1", "III", "IV", "V", "VI")}


def text_table(path):
    """A CSV file with all values as texts, as they are written."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def test_everything_is_there(finished_project):
    """A run of the whole pipeline on config/quick.yaml (``finished_project``) makes:

    1. every figure (`FIGURES`) as picture, PDF, SVG and caption, the tables (`TABLES`), and the article;
    2. the report's pages, with every figure once, and a row for each of the paper's statements (`CLAIMS`);
    3. a notice of the settings that are not the paper's, among them 5 repetitions instead of 10.
    """
    results = finished_project.results()
    beginnings = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml", "txt": b""}
    files = {f"figures/{name}.{kind}": kind for name in FIGURES for kind in beginnings}
    assert {name for name in results if name.startswith("figures/")} == files.keys()
    assert all(results[file].startswith(beginnings[kind]) for file, kind in files.items())
    # More than a header and one row.
    assert all(results[f"tables/{name}.csv"].count(b"\n") > 2 for name in TABLES)
    assert results["report/article.pdf"].startswith(b"%PDF")

    page = results["report/index.html"].decode()
    both_pages = page + results["report/companions.html"].decode()
    assert all(both_pages.count(f'<figure id="{name}">') == 1 for name in FIGURES)
    text = re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL)
    # The page has 9,400 words. The limit is our own choice, so that it can still be read.
    assert len(text.split()) <= 10_000
    assert results["report/statements.html"].count(b'<tr id="claim-') == len(text_table(CLAIMS))

    assert "These are not the paper's settings." in page
    assert "<li><code>datasets.paris.tv.repetitions</code>: 10 → 5</li>" in page


def test_every_link_of_the_report_leads_to_a_file_and_every_command_to_a_target(finished_project):
    """On two pages of the report of `finished_project`, the main one and that of the statements:

    1. Every local link leads to a file.
    2. Every command ("again: snakemake ...") names a target. Snakemake can plan a run of all these targets.
    """
    report = finished_project.folder / RESULTS / "report"
    both_pages = "".join(
        (report / f"{name}.html").read_text("utf-8") for name in ("index", "statements")
    )
    links = {
        link.partition("#")[0] for link in re.findall(r'(?:href|src)="([^"#][^"]*)"', both_pages)
    }
    local = {link for link in links if "://" not in link and not link.startswith("data:")}
    assert len(local) > 20  # else they were not found
    assert {link for link in local if not (report / link).exists()} == set()

    again = r"again: <code>snakemake (?:--\S+ \S+ -- )?([\w/.~-]+)</code>"
    targets = set(re.findall(again, both_pages))
    some = ("parity/parity_ratio", "tables/table_IV", "statements/claim_verdicts")
    assert {"fig1", "report", *(f"{RESULTS}/{name}.csv" for name in some)} <= targets
    finished_project.make("--dry-run", "--", *sorted(targets))


@pytest.mark.parametrize(
    ("name", "printed"), [("values/verdicts", "values"), ("statements/claim_verdicts", "claims")]
)
def test_every_printed_value_and_statement_has_its_verdict(finished_project, name, printed):
    """Each row of ``printed``, which the paper prints or states, has a verdict in our table ``name``.

    The table of verdicts, which the run in `finished_project` has made, has the same rows in the same order.
    It has the texts of ``printed`` in all columns but the note, to which we may add.
    """
    judged = text_table(finished_project.folder / f"{RESULTS}/{name}.csv")
    given = text_table(ROOT / f"data/published/{printed}.csv")
    columns = given.columns.difference(["note"])
    assert judged[columns].equals(given[columns])
    assert judged["verdict"].ne("").all()
    if printed == "values":
        # 113 of the 125 values that are not random are as printed, with any number of repetitions.
        deterministic = judged["verdict"][judged["kind"] != "random"]
        assert deterministic.isin(["same digits", "close"]).sum() >= 110


def test_every_job_reads_only_what_its_rule_knows(finished_project):
    """Each file of the project that a job has read is the job's input, its output or code of its script.

    Else an edit of the file would not rerun the job. `files_of` has the script's files of code. A job reads
    its output to sum the bytes. Each job of `finished_project` has written a JSON file into the folder
    ``seen``: its rule, script, input and output, and under "read" the modules and files that it has read.
    """
    jobs = [json.loads(path.read_text()) for path in (finished_project.folder / "seen").iterdir()]
    # Else most jobs were not noted: there are 65, these among them.
    assert len(jobs) > 40
    some = {"draw_tv", "compute_girgis", "run_trials", "write_report"}
    assert {job["rule"] for job in jobs} >= some
    # Files of Snakemake, the notes themselves, and compiled code.
    no_sources = re.compile(r"\.snakemake/|seen/|.*__pycache__")
    for job in jobs:
        known = {*files_of(job["script"]), *job["input"], *job["output"], "sitecustomize.py"}
        read = {path for path in job["read"] if not no_sources.match(path)}
        assert read - known == set(), job["rule"]
        assert job["script"] in known


def test_sums_and_a_second_run(finished_project):
    """A second run has nothing to do, and SHA256SUMS has a line for every other result."""
    assert finished_project.planned() == {}
    sums = (finished_project.folder / RESULTS / "SHA256SUMS").read_text().splitlines()
    assert {line.split("  ")[1] for line in sums} == {
        f"{RESULTS}/{name}" for name in finished_project.results() if name != "SHA256SUMS"
    }


# What reruns ------------------------------------------------------------------------------------------

# Rules that rerun with the report's page, with a number that the article quotes, and with a value that the
# paper prints; and rules that use no bound on delta.
PAGE = {"write_report", "write_sums", "all"}
QUOTED = {"state_findings", "write_article"} | PAGE
JUDGED = {"judge_values", "judge_jointly", "judge_claims", "write_tables"} | QUOTED
NO_BOUND = {"use_bundled_counts", "count_checkins", "sample_synthetic"}
EDITS = {  # edited file -> the rules that rerun, and no others
    "scripts/paper/trials/draw_tv.py": {"draw_tv", "write_article"} | PAGE,
    "scripts/beyond/attack/draw_audit.py": {"draw_audit"} | PAGE,
    "scripts/beyond/attack/run_audit.py": {"run_audit", "collect_audit", "draw_audit"} | QUOTED,
    "scripts/report/page/style.css": PAGE,
    "docs/errata.md": PAGE,  # which is a page of the report
    "scripts/report/article/article.typ": {"write_article", "write_sums", "all"},
    "data/published/claims.csv": {"judge_claims"} | QUOTED,
    "data/published/values.csv": {"compute_printed_deltas", "compute_cited_bounds"} | JUDGED,
    "README.md": set(),
    "docs/design.md": set(),
}
EDITS_OF_BOUNDS = {  # edited file of the library -> rules that do not rerun, while others do
    "tightshuffle/bounds/privacy_blanket.py": {"run_trials", "run_audit"} | NO_BOUND,
    "tightshuffle/collection/bounds.py": {"run_trials", "run_parity", "collect_audit"} | NO_BOUND,
    "tightshuffle/randomizers/subset.py": NO_BOUND,
}


@pytest.mark.slow
@pytest.mark.parametrize("file", [*EDITS, *EDITS_OF_BOUNDS])
def test_an_edit_reruns_what_uses_it_and_nothing_else(finished_project, file):
    """One line is added to the ``file``, and Snakemake plans the next run of `finished_project`.

    `EDITS` has for a file all rules that the run must have, written by hand. `EDITS_OF_BOUNDS` has for a file
    rules that the run must not have, while it has others. The edited file is dated 1970, as contents decide,
    not dates. Then the text is put back.
    """
    path = finished_project.folder / file
    before = path.read_text() if path.exists() else ""  # README.md is not there
    # In Python a statement: a comment would rerun nothing.
    edit = "edited = 1" if path.suffix == ".py" else "# edited"
    path.write_text(f"{before}\n{edit}\n")
    os.utime(path, (86_400, 86_400))
    planned = set(finished_project.planned())
    path.write_text(before)
    if file in EDITS:
        assert planned == EDITS[file]
    else:
        assert planned
        assert not planned & EDITS_OF_BOUNDS[file]


@pytest.mark.slow
def test_a_number_reruns_the_jobs_that_use_it(finished_project):
    """In `finished_project`, where all is made, on the settings in config/quick.yaml:

    1. Six instead of five repetitions of the trials of Paris would rerun these trials and their figure, one
    job each, and no other simulation.
    2. With the old settings, a figure that is removed is drawn again by one job. The rules of `PAGE` make the
    report's page and the sums anew, and all results have the same bytes as before.
    """
    path, before = finished_project.folder / "config/quick.yaml", finished_project.results()
    text = path.read_text()
    of_paris = "tv: {budgets: [{eps0: 4, eps: 4}], n: [1000, 10000], repetitions: 5}"
    assert of_paris in text
    path.write_text(text.replace(of_paris, of_paris.replace("5}", "6}")))
    planned = finished_project.planned()
    path.write_text(text)
    assert planned["run_trials"] == planned["draw_tv"] == 1
    assert not {"run_parity", "estimate_cells", "run_audit"} & set(planned)

    (finished_project.folder / RESULTS / "figures/audit.pdf").unlink()
    assert (
        finished_project.planned()
        == jobs_by_rule(finished_project.make())
        == dict.fromkeys(["draw_audit", *PAGE], 1)
    )
    assert finished_project.results() == before


# Other ways to run ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_snakemakes_report_has_every_figure_and_table_with_its_caption(finished_project):
    """The report that Snakemake itself writes on `finished_project`, a page in a zip file.

    It has all `FIGURES` and `TABLES`, and more results. A figure's caption is the text file beside it.
    """
    finished_project.make("--report", "snakemake.zip")
    with zipfile.ZipFile(finished_project.folder / "snakemake.zip") as files:
        name = next(name for name in files.namelist() if name.endswith("report.html"))
        html = files.read(name).decode()
    # The page has a JavaScript object: path of a result -> what the report says about it.
    start = re.search(r"\bvar results = (?=\{)", html).end()
    results, _ = json.JSONDecoder().raw_decode(html, start)
    shown = {Path(path).stem for path in results}
    assert FIGURES | TABLES | {"audit", "verdicts", "claim_verdicts", "study", "parity"} <= shown
    for path, result in results.items():
        caption = unescape(re.sub("<.*?>", " ", result["caption"])).split()
        assert len(caption) > 5, path  # words: more than a title
        if "/figures/" in path:
            file = (finished_project.folder / path).with_suffix(".txt")
            assert caption == file.read_text("utf-8").split(), path


def targets_of_makefile():
    """The names that `make` takes for targets of the pipeline."""
    text = (ROOT / "Makefile").read_text()
    return re.search(r"^TARGETS := (.*)", text, re.MULTILINE)[1].split()


@pytest.mark.slow
def test_named_targets(fresh_project):
    """Snakemake plans jobs for all targets that the Makefile names (`targets_of_makefile`), such as fig6.

    For fig6 it plans trials and their figure, but no other simulation. In ``fresh_project`` nothing has run.
    """
    targets = targets_of_makefile()
    some = "fig1 fig7 figures tables report article data paper statements"
    assert set(some.split()) <= set(targets)
    rules = {"run_trials", "run_parity", "write_report", "write_tables"}
    assert fresh_project.planned(*targets).keys() >= rules
    planned = fresh_project.planned("fig6").keys()
    assert planned >= {"run_trials", "draw_tv"}
    assert not planned & {"estimate_cells", "run_parity", "run_audit", "write_report"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "rule", "figures"),
    [
        pytest.param("fps1", "draw_checkins", 1, id="Figure 1, arXiv's 3"),
        pytest.param("fps2", "draw_estimates", 2, id="Figure 2, arXiv's 4 and 5"),
        pytest.param("fps3", "draw_tv", 2, id="Figure 3, arXiv's 6 and 7"),
    ],
)
def test_figures_as_fps_numbers_them(fresh_project, target, rule, figures):
    assert target in targets_of_makefile()
    planned = fresh_project.planned(target)
    assert planned.keys() & {"draw_checkins", "draw_estimates", "draw_tv"} == {rule}
    assert planned[rule] == figures


@pytest.mark.slow
def test_the_large_grid_is_planned(fresh_project):
    """config/scale.yaml, which is what a cluster is for."""
    fresh_project.config = ["--configfile", "config/scale.yaml"]
    last = "results/scale/trials/scale_k100000_grid-50.parquet"  # of 198 points, 4 in a job
    assert fresh_project.planned(last) == {"sample_synthetic": 1, "run_trials": 1}
    assert fresh_project.planned("trials")["run_trials"] > 60


@pytest.mark.slow
def test_a_histogram_of_your_own(fresh_project):
    """Two datasets from counts of your own, by config/quick.yaml and mine.yaml, so in results/quick_mine.

    1. The file name with a space and the title with HTML do no harm: the captions have the title.
    2. The dataset mine_eps0 gets its own trials, with its 3 repetitions, though its name ends as a setting
    begins: a file of trials has the name of the dataset and then _eps0-2.

    Little is simulated: no trials (tv) of the paper's datasets, and few repetitions. `fresh_project` is a
    copy of this project in which nothing has run.
    """
    (fresh_project.folder / "my counts.csv").write_text("cell,count\n1,400\n2,150\n3,0\n4,50\n")
    (fresh_project.folder / "config/mine.yaml").write_text("""
datasets:
  mine:
    kind: counts
    file: my counts.csv
    title: Mine <b>&
    tv: {budgets: [{eps0: 2, eps: 1}], n: [200, all], repetitions: 4}
    estimates: {budgets: [{eps0: 2, eps: 1}], n: all}
  mine_eps0:
    kind: counts
    file: my counts.csv
    title: Other
    tv: {budgets: [{eps0: 2, eps: 1}], n: [200, all], repetitions: 3}
  synthetic: {tv: null}
  san_francisco: {tv: null}
  paris: {tv: null}
parity: {eps0: [2], repetitions: 5, bootstrap: 20}
""")
    figures = ("tv_mine", "estimates_mine", "parity_ratio")
    targets = [f"results/quick_mine/figures/{name}.png" for name in figures]
    # Of the dataset mine_eps0 at eps0 = 2 and eps = 1.
    trials = "results/quick_mine/trials/mine_eps0_eps0-2_eps-1.parquet"
    # make() puts "--configfile config/quick.yaml" before these arguments.
    fresh_project.make("config/mine.yaml", "--", *targets, trials)
    frame = pd.read_parquet(fresh_project.folder / trials)
    assert set(frame["dataset"]) == {"mine_eps0"}
    assert set(frame["repetitions"]) == {3}
    for target in targets:
        assert "Mine" in (fresh_project.folder / target).with_suffix(".txt").read_text()


def made_up_checkins():
    """The text of a file of check-ins: 2,000 in each of the paper's cities, and a line that cannot be read.

    A line has SNAP's format: user, time, latitude, longitude and location, with tabs between them.
    """
    rows = []
    for i in range(4000):
        # The remainders by primes spread the places over the box of San Francisco or Paris in config.yaml.
        if i % 2:
            latitude, longitude = 37.73 + 0.06 * (i % 97) / 97, -122.51 + 0.12 * (i % 83) / 83
        else:
            latitude, longitude = 48.83 + 0.045 * (i % 89) / 89, 2.29 + 0.1 * (i % 79) / 79
        rows.append(f"{i}\t2010-01-01T00:00:00Z\t{latitude:.6f}\t{longitude:.6f}\t{i}")
    return "\n".join([*rows, "broken row"]) + "\n"


@pytest.mark.slow
def test_a_file_of_checkins(fresh_project):
    """Its places are drawn where they are, while those of the bundled counts are spread in sub-cells."""
    (fresh_project.folder / "rows.txt").write_text(made_up_checkins())
    fresh_project.make("--config", "gowalla={source: file, file: rows.txt}", "--", "fig3")
    made = fresh_project.folder / RESULTS
    assert pd.read_csv(made / "data/histograms/paris.csv")["count"].sum() == 2000
    assert "sub-cell" not in (made / "figures/fig3_checkins.txt").read_text()


@pytest.mark.slow
def test_the_download_is_a_rule_by_default_that_no_result_needs(fresh_project):
    listed = fresh_project.snakemake("--list-rules").stdout
    steps = ["download_checkins", "crop_checkins", "grid_checkins"]
    assert [step for step in steps if not re.search(rf"^{step}\b", listed, re.MULTILINE)] == []
    assert fresh_project.planned("download_checkins") == {"download_checkins": 1}
    everything = fresh_project.planned()
    assert everything["use_bundled_counts"] == 2
    assert not everything.keys() & {*steps, "compare_checkins"}


@pytest.mark.slow
def test_config_snap_downloads_the_file_and_says_where_its_counts_differ(fresh_project, tmp_path):
    """Instead of SNAP's file, that of `made_up_checkins` from a server on this machine, named in here.yaml.

    1. A run on config/snap.yaml plans the steps from the download on, and does not use the bundled counts.
    2. A table in its results, results/snap_here, compares check-ins of Paris: the paper prints 10,260, the
    bundled counts have 11,190, and this file 2,000.

    `fresh_project` is a copy of this project in which nothing has run.
    """
    site = tmp_path / "site"
    site.mkdir()
    (site / "rows.txt.gz").write_bytes(gzip.compress(made_up_checkins().encode()))
    md5 = hashlib.md5((site / "rows.txt.gz").read_bytes()).hexdigest()
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/rows.txt.gz"
        (fresh_project.folder / "here.yaml").write_text(
            f"gowalla: {{download: {{url: {address}, md5: {md5}}}}}\n"
        )
        fresh_project.config = ["--configfile", "config/snap.yaml", "here.yaml"]
        planned = fresh_project.planned()
        fresh_project.make("--", "data", environment={"NO_PROXY": "127.0.0.1"})
        server.shutdown()

    assert "use_bundled_counts" not in planned
    steps = ("download", "crop", "grid", "compare")
    assert planned.keys() >= {f"{step}_checkins" for step in steps}
    compared = pd.read_csv(fresh_project.folder / "results/snap_here/data/checkins/compared.csv")
    paris = compared[compared["dataset"] == "paris"].set_index("grid").loc["uniform"]
    assert paris[["printed", "bundled", "counted"]].tolist() == [10_260, 11_190, 2_000]
    assert paris["cells"] == 12 * 16
    assert paris["cells_that_differ"] > 100  # most, as the made-up places are spread evenly


@pytest.mark.slow
def test_same_bytes_in_another_folder_on_one_core(finished_project, tmp_path):
    """Two results of simulations and one table have the bytes that they have in `finished_project`.

    That project has run on all cores. Here are another folder (with a space), one core, one thread, and
    another order of Python's sets (PYTHONHASHSEED). The targets are one of each sort of results that are
    drawn at random. The other results are made from these by the same code.
    """
    other = Project(tmp_path / "frisch geklönt")
    names = {"trials/synthetic_eps0-4_eps-4.parquet", "parity/paris.parquet", "attack/audit.csv"}
    targets = [f"{RESULTS}/{name}" for name in names]
    environment = {"PYTHONHASHSEED": "77", "OMP_NUM_THREADS": "1"}
    other.make("--cores", "1", "--", *targets, environment=environment)
    there = other.results()
    assert there.keys() >= names
    assert names_that_differ(there, finished_project.results()) == []
