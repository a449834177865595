"""The real pipeline, run once on config/quick.yaml: complete, idle when done, and what an edit reruns."""

import contextlib
import gzip
import hashlib
import http.server
import json
import os
import re
import shutil
import threading
import zipfile
from functools import partial
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from scripts.shared.code import files_of
from tests import ROOT
from tests.workflow.conftest import (
    Project,
    copy_of_project,
    edited,
    jobs_by_rule,
    names_that_differ,
)

pytestmark = pytest.mark.pipeline
slow = pytest.mark.slow

RESULTS = "results/quick"
FIGURES = {  # of a run on config/quick.yaml
    "fig1_delta_surface", "fig2_tv_synthetic", "fig3_checkins", "fig4_estimates_san_francisco",
    "fig5_estimates_paris", "fig6_tv_san_francisco", "fig7_tv_paris", "delta_hat",
    "delta_hat_bound", "delta_hat_trials", "constants", "audit", "blanket", "delta_bounds", "designs",
    "gaussian_scale", "girgis_rdp", "koskela_fig1a", "koskela_fig1b", "log_tv_paris",
    "log_tv_san_francisco", "log_tv_synthetic", "parity_ratio", "too_small",
}  # fmt: skip
TABLES = {f"table_{number}" for number in ("II", "1", "III", "IV", "V", "VI")}


@pytest.fixture
def results(finished_project):
    """The results of the run on config/quick.yaml: path, from results/quick on -> bytes."""
    return finished_project.results()


def text_table(path):
    """A CSV file with all values as texts, as they are written."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def test_every_figure_is_made_as_picture_pdf_svg_and_caption(results):
    kinds = ("png", "pdf", "svg", "txt")
    figures = {f"{RESULTS}/figures/{figure}.{kind}" for figure in FIGURES for kind in kinds}
    assert {name for name in results if "/figures/" in name} == figures


@pytest.mark.parametrize(
    ("kind", "beginning"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")]
)
def test_files_of_figures_are_of_the_kind_in_their_names(results, kind, beginning):
    for figure in FIGURES:
        assert results[f"{RESULTS}/figures/{figure}.{kind}"].startswith(beginning), figure


def test_every_table_has_more_than_a_header_and_one_row(results):
    for table in TABLES:
        assert results[f"{RESULTS}/tables/{table}.csv"].count(b"\n") > 2, table


@pytest.fixture
def page(results):
    """The HTML of the report's main page."""
    return results[f"{RESULTS}/report/index.html"].decode()


def test_report_shows_every_figure_once(results, page):
    """On the main page or on that of the companions."""
    both_pages = page + results[f"{RESULTS}/report/companions.html"].decode()
    assert {both_pages.count(f'<figure id="{figure}">') for figure in FIGURES} == {1}


def test_main_page_can_still_be_read(page):
    """It has 9,980 words. The limit is our own choice."""
    text = re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert len(text.split()) <= 10_000


def test_report_has_a_row_for_every_statement_of_the_paper(results):
    statements = text_table(ROOT / "data/published/claims.csv")
    assert results[f"{RESULTS}/report/statements.html"].count(b'<tr id="claim-') == len(statements)


def test_main_page_names_the_settings_that_are_not_the_papers(page):
    """Among them 5 repetitions, of config/quick.yaml, instead of the paper's 10."""
    assert "These are not the paper's settings." in page
    assert "<li><code>datasets.paris.tv.repetitions</code>: 10 → 5</li>" in page


@pytest.fixture
def linked_pages(results, page):
    """The HTML of two pages of the report, joined: the main one and that of the statements."""
    return page + results[f"{RESULTS}/report/statements.html"].decode()


def test_every_local_link_of_the_report_leads_to_a_file(finished_project, linked_pages):
    links = re.findall(r'(?:href|src)="([^"#]+)', linked_pages)
    local = {link for link in links if "://" not in link and not link.startswith("data:")}
    assert len(local) > 20  # else they were not found
    report = finished_project.folder / RESULTS / "report"
    assert [link for link in local if not (report / link).exists()] == []


def test_snakemake_knows_every_target_that_the_report_names(finished_project, linked_pages):
    """In its commands, such as "again: snakemake --configfile config/quick.yaml -- fig1"."""
    again = r"again: <code>snakemake (?:--\S+ \S+ -- )?([\w/.~-]+)</code>"
    targets = set(re.findall(again, linked_pages))
    assert {"fig1", "report", f"{RESULTS}/parity/parity_ratio.csv"} <= targets
    assert {f"{RESULTS}/tables/table_IV.csv", f"{RESULTS}/statements/claim_verdicts.csv"} <= targets
    finished_project.planned(*sorted(targets))  # fails for a target that Snakemake does not know


@pytest.mark.parametrize(
    ("printed", "verdicts"),
    [
        ("data/published/values.csv", "values/verdicts.csv"),
        ("data/published/claims.csv", "statements/claim_verdicts.csv"),
    ],
)
def test_everything_that_the_paper_prints_has_its_verdict(finished_project, printed, verdicts):
    """The table of verdicts has the rows of ``printed``, in the same order and with the same texts.

    Only the note may differ, to which we add.
    """
    given = text_table(ROOT / printed)
    judged = text_table(finished_project.folder / RESULTS / verdicts)
    columns = given.columns.difference(["note"])
    assert judged[columns].equals(given[columns])
    assert judged["verdict"].ne("").all()


def test_most_printed_values_without_randomness_are_as_printed(finished_project):
    """113 of 125, with any number of repetitions."""
    verdicts = text_table(finished_project.folder / RESULTS / "values/verdicts.csv")
    deterministic = verdicts[verdicts["kind"] != "random"]
    assert deterministic["verdict"].isin(["same digits", "close"]).sum() >= 110


def test_every_job_reads_only_what_its_rule_knows(finished_project):
    """A file of the project that a job has read is its input, its output or code of its script (`files_of`).

    Else an edit of the file would not rerun the job. A job reads its output to sum the bytes. What the jobs
    of the run have read was noted in the folder ``seen``, one file of JSON for each job.
    """
    jobs = [json.loads(path.read_text()) for path in (finished_project.folder / "seen").iterdir()]
    # Else most jobs were not noted: there are 67, these among them.
    assert len(jobs) > 40
    some = {"draw_tv", "compute_girgis", "run_trials", "write_report"}
    assert {Path(job["script"]).stem for job in jobs} >= some
    # Files of Snakemake, the notes themselves, and compiled code.
    no_sources = re.compile(r"\.snakemake/|seen/|.*__pycache__")
    for job in jobs:
        known = {*files_of(job["script"]), *job["input"], *job["output"], "sitecustomize.py"}
        read = {path for path in job["read"] if not no_sources.match(path)}
        assert read - known == set(), job["script"]
        assert job["script"] in known


def test_a_second_run_has_nothing_to_do(finished_project):
    assert finished_project.planned() == {}


def test_the_sums_have_a_line_for_every_other_result(results):
    lines = results.pop(f"{RESULTS}/SHA256SUMS").decode().splitlines()
    assert {line.split("  ")[1] for line in lines} == results.keys()  # a sum, two spaces, a path


# What reruns ------------------------------------------------------------------------------------------

# Rules that rerun with the report's page, with a number that texts state, with a value that the paper prints,
# and with our delta behind a printed one; and rules that use no bound on delta.
PAGE = {"write_report", "write_sums", "all"}
QUOTED = {"state_findings"} | PAGE
JUDGED = {
    "judge_values", "judge_jointly", "judge_claims", "fit_noise_scale", "write_tables",
} | QUOTED  # fmt: skip
PRINTED_DELTAS = {"compute_printed_deltas", "judge_values", "write_tables"}
DATA = {"use_bundled_counts", "count_checkins", "sample_synthetic"}
NO_BOUND = DATA | {"compute_delta_hat", "run_trials", "run_delta_hat_trials"}
EDITS = {  # edited file -> the rules that rerun, and no others
    "scripts/paper/delta/literature_as_printed.py": PRINTED_DELTAS | QUOTED,
    "scripts/paper/trials/draw_tv.py": {"draw_tv"} | PAGE,
    "scripts/beyond/attack/draw_audit.py": {"draw_audit"} | PAGE,
    "scripts/beyond/attack/run_audit.py": {"run_audit", "collect_audit", "draw_audit"} | QUOTED,
    "scripts/report/page/style.css": PAGE,
    "docs/errata.md": PAGE,  # which is a page of the report
    "data/published/claims.csv": {"judge_claims"} | QUOTED,
    "data/published/values.csv": {"compute_printed_deltas", "compute_cited_bounds"} | JUDGED,
    "docs/design.md": set(),
}
EDITS_OF_BOUNDS = {  # edited file of the library -> rules that do not rerun, while others do
    "library/tightshuffle/bounds/rounds.py": {"run_audit"} | NO_BOUND,
    "library/tightshuffle/bounds/privacy_blanket.py": {"run_audit"} | NO_BOUND,
    "library/tightshuffle/collection/upper.py": {"run_parity", "collect_audit"} | NO_BOUND,
    "library/tightshuffle/randomizers/subset.py": NO_BOUND,
}


def rules_planned_after_edit(project, file):
    """The rules of the next run if a line is added to the file.

    It is then dated 1970, as contents decide, not dates. Afterwards it has its old text.
    """
    path = project.folder / file
    # In Python a statement: a comment would rerun nothing.
    line = "edited = 1" if path.suffix == ".py" else "# edited"
    with edited(path, f"{path.read_text()}\n{line}\n"):
        os.utime(path, (86_400, 86_400))
        return set(project.planned())


@slow
@pytest.mark.parametrize(("file", "rules"), EDITS.items())
def test_an_edit_reruns_exactly_what_uses_the_file(finished_project, file, rules):
    assert rules_planned_after_edit(finished_project, file) == rules


@slow
@pytest.mark.parametrize(("file", "unused"), EDITS_OF_BOUNDS.items())
def test_an_edit_of_a_bound_reruns_no_rule_without_it(finished_project, file, unused):
    """The rules in ``unused`` do not use the bound, while others do."""
    planned = rules_planned_after_edit(finished_project, file)
    assert planned
    assert not planned & unused


@slow
def test_a_number_reruns_the_jobs_that_use_it(finished_project):
    """With six instead of five repetitions for Paris: its trials, their figure, and no other simulation."""
    settings = finished_project.folder / "config/quick.yaml"
    before = settings.read_text()
    of_paris = "tv: {budgets: [{eps0: 4, eps: 4}], n: [1000, 10000], repetitions: 5}"
    assert of_paris in before
    with edited(settings, before.replace(of_paris, of_paris.replace("5", "6"))):
        planned = finished_project.planned()
    assert planned["run_trials"] == planned["draw_tv"] == 1
    assert not {"run_parity", "estimate_cells", "run_audit"} & planned.keys()


@slow
def test_a_removed_figure_is_drawn_again_with_the_same_bytes(finished_project, results):
    """By one job, and the rules of `PAGE` make the report's page and the sums anew."""
    (finished_project.folder / RESULTS / "figures/audit.pdf").unlink()
    one_job_each = dict.fromkeys(["draw_audit", *PAGE], 1)
    assert finished_project.planned() == one_job_each
    assert jobs_by_rule(finished_project.make()) == one_job_each
    assert finished_project.results() == results


# Other ways to run ------------------------------------------------------------------------------------


def captions_in_snakemakes_report(project):
    """Path of each result in the page that Snakemake itself writes -> the text of its caption."""
    project.make(options=["--report", "snakemake.zip"])
    with zipfile.ZipFile(project.folder / "snakemake.zip") as files:
        html = files.read("snakemake/report.html").decode()
    # The page has a JavaScript object: path of a result -> what the report says about it.
    start = re.search(r"\bvar results = (?=\{)", html).end()
    results, _end = json.JSONDecoder().raw_decode(html, start)
    return {
        path: unescape(re.sub("<.*?>", " ", result["caption"])) for path, result in results.items()
    }


@slow
def test_snakemakes_report_has_every_figure_and_table_with_its_caption(finished_project):
    """A figure's caption is the text file beside it."""
    captions = captions_in_snakemakes_report(finished_project)
    shown = {Path(path).stem for path in captions}
    assert FIGURES | TABLES | {"audit", "verdicts", "claim_verdicts", "study", "parity"} <= shown
    for path, caption in captions.items():
        assert len(caption.split()) > 5, path  # words: more than a title
        if "/figures/" in path:
            file = (finished_project.folder / path).with_suffix(".txt")
            assert caption.split() == file.read_text("utf-8").split(), path


def targets_of_makefile():
    """The names that `make` takes for targets of the pipeline."""
    text = (ROOT / "Makefile").read_text()
    return re.search(r"^TARGETS := (.*)", text, re.MULTILINE)[1].split()


@slow
def test_snakemake_knows_every_target_of_the_makefile(fresh_project):
    targets = targets_of_makefile()
    some = "fig1 fig7 figures tables report data paper statements"
    assert set(some.split()) <= set(targets)
    rules = {"run_trials", "run_parity", "write_report", "write_tables"}
    assert fresh_project.planned(*targets).keys() >= rules


@slow
def test_the_target_of_a_figure_of_trials_runs_no_other_simulation(fresh_project):
    planned = fresh_project.planned("fig6").keys()
    assert planned >= {"run_trials", "draw_tv"}
    assert not planned & {"estimate_cells", "run_parity", "run_audit", "write_report"}


@slow
@pytest.mark.parametrize(
    ("target", "rule", "figures"),
    [
        ("fps1", "draw_checkins", 1),  # arXiv's Figure 3
        ("fps2", "draw_estimates", 2),  # arXiv's Figures 4 and 5
        ("fps3", "draw_tv", 2),  # arXiv's Figures 6 and 7
    ],
)
def test_figures_as_fps_numbers_them(fresh_project, target, rule, figures):
    assert target in targets_of_makefile()
    planned = fresh_project.planned(target)
    assert planned.keys() & {"draw_checkins", "draw_estimates", "draw_tv"} == {rule}
    assert planned[rule] == figures


@slow
def test_a_figure_is_drawn_where_a_notebook_names_a_backend_of_its_own(fresh_project):
    """As every cell of a notebook that starts a command does; matplotlib has no such backend here."""
    fresh_project.environment = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    fresh_project.make(f"{RESULTS}/figures/fig1_delta_surface.png")


@slow
def test_a_project_in_a_folder_with_braces_is_refused_in_one_line(tmp_path):
    done = copy_of_project(tmp_path / "a{b}").snakemake("fig1", options=["--dry-run"])
    assert done.returncode != 0
    assert "Traceback" not in done.stdout
    line = f"Snakemake does not work in a folder with a brace: {tmp_path}/a{{b}}"
    assert line in done.stdout.splitlines()


@slow
def test_the_large_grid_is_planned(fresh_project):
    """config/scale.yaml, which is what a cluster is for."""
    fresh_project.arguments = ["--configfile", "config/scale.yaml"]
    last = "results/scale/trials/scale_k100000_grid-50.parquet"  # of 198 points, 4 in a job
    assert fresh_project.planned(last) == {"sample_synthetic": 1, "run_trials": 1}
    assert fresh_project.planned("trials")["run_trials"] > 60


# What snakedeploy writes, with the Snakefile of this checkout.
DEPLOYED = f"""
configfile: "config/config.yaml"

module tightshuffle:
    snakefile: "{ROOT}/workflow/Snakefile"
    config: config

use rule * from tightshuffle
"""


@slow
def test_a_deployed_workflow_has_our_folder_of_results_until_it_has_other_settings(tmp_path):
    project = Project(tmp_path, arguments=["--cores", "1"])
    (tmp_path / "Snakefile").write_text(DEPLOYED)
    (tmp_path / "config").mkdir()
    settings = tmp_path / "config/config.yaml"
    shutil.copy(ROOT / "config/config.yaml", settings)
    assert project.planned("results/delta/delta_surface.csv")
    settings.write_text(re.sub(r"(?m)^seed: .*", "seed: 5", settings.read_text()))
    assert project.planned("results/config/delta/delta_surface.csv")


def add_datasets(project, settings):
    """Add settings to config/quick.yaml, for datasets from the counts in a file whose name has a space.

    The results are then in results/quick_mine.
    """
    (project.folder / "my counts.csv").write_text("cell,count\n1,400\n2,150\n3,0\n4,50\n")
    (project.folder / "config/mine.yaml").write_text(settings)
    project.arguments = ["--configfile", "config/quick.yaml", "config/mine.yaml"]


# Little is simulated: no trials (tv) of the paper's datasets, and few repetitions.
MINE = """
datasets:
  mine:
    kind: counts
    file: my counts.csv
    title: Mine <b>&
    tv: {budgets: [{eps0: 2, eps: 1}], n: [200, all], repetitions: 4}
    estimates: {budgets: [{eps0: 2, eps: 1}], n: all}
  synthetic: {tv: null}
  san_francisco: {tv: null}
  paris: {tv: null}
parity: {eps0: [2], repetitions: 5, bootstrap: 20}
"""


@slow
def test_captions_have_the_title_of_a_dataset_of_your_own(fresh_project):
    """Though there is HTML in the title and a space in the file's name."""
    add_datasets(fresh_project, MINE)
    names = ("tv_mine", "estimates_mine", "parity_ratio")
    figures = [f"results/quick_mine/figures/{name}.png" for name in names]
    fresh_project.make(*figures)
    for figure in figures:
        assert "Mine" in (fresh_project.folder / figure).with_suffix(".txt").read_text()


MINE_AND_MINE_EPS0 = """
datasets:
  mine:
    kind: counts
    file: my counts.csv
    title: Mine
    tv: {budgets: [{eps0: 2, eps: 1}], n: [200, all], repetitions: 4}
  mine_eps0:
    kind: counts
    file: my counts.csv
    title: Other
    tv: {budgets: [{eps0: 2, eps: 1}], n: [200, all], repetitions: 3}
"""


@slow
def test_a_dataset_whose_name_ends_as_a_setting_begins_gets_its_own_trials(fresh_project):
    """A file of trials has the name of the dataset and then its settings: mine_eps0-2_eps-1."""
    add_datasets(fresh_project, MINE_AND_MINE_EPS0)
    trials = "results/quick_mine/trials/mine_eps0_eps0-2_eps-1.parquet"
    fresh_project.make(trials)
    frame = pd.read_parquet(fresh_project.folder / trials)
    assert set(frame["dataset"]) == {"mine_eps0"}
    assert set(frame["repetitions"]) == {3}


def made_up_checkins():
    """The text of a file of check-ins: 2,000 in each of the paper's cities, and a line that cannot be read.

    A line has SNAP's format: user, time, latitude, longitude and location, with tabs between them.
    """
    datasets = yaml.safe_load((ROOT / "config/config.yaml").read_text())["datasets"]
    cities = [checkins_in(datasets[city]["box"], 2000) for city in ("san_francisco", "paris")]
    return "".join([*cities[0], *cities[1], "broken row\n"])


def checkins_in(box, number):
    """Lines of check-ins that are spread evenly in a box."""
    generator = np.random.default_rng(1)
    for user in range(number):
        latitude = generator.uniform(box["south"], box["north"])
        longitude = generator.uniform(box["west"], box["east"])
        yield f"{user}\t2010-01-01T00:00:00Z\t{latitude:.6f}\t{longitude:.6f}\t{user}\n"


@slow
def test_a_file_of_checkins(fresh_project):
    """Its places are drawn where they are, while those of the bundled counts are spread in sub-cells."""
    (fresh_project.folder / "rows.txt").write_text(made_up_checkins())
    fresh_project.make("fig3", options=["--config", "gowalla={source: file, file: rows.txt}"])
    made = fresh_project.folder / RESULTS
    assert pd.read_csv(made / "data/histograms/paris.csv")["count"].sum() == 2000
    assert "sub-cell" not in (made / "figures/fig3_checkins.txt").read_text()


def cities_of_your_own(boxes):
    """The settings of datasets in a file rows.txt, name -> box, without the paper's cities."""
    common = {
        "kind": "gowalla",
        "uniform": {"columns": 6, "rows": 4},
        "tv": {"budgets": [{"eps0": 4, "eps": 1}], "n": [100, "all"], "repetitions": 2},
        "estimates": {"budgets": [{"eps0": 4, "eps": 1}], "n": "all"},
    }
    cities = {name: {**common, "title": name, "box": box} for name, box in boxes.items()}
    return {
        "gowalla": {"source": "file", "file": "rows.txt"},
        "datasets": {"san_francisco": None, "paris": None, **cities},
        "parity": {"eps0": [2], "repetitions": 5, "bootstrap": 20},
    }


@slow
def test_three_cities_of_your_own(fresh_project):
    """In a file with 200 check-ins in each of them: their histograms, and all figures of errors."""
    boxes = {
        "vienna": {"south": 48.17, "north": 48.25, "west": 16.30, "east": 16.45},
        "quito": {"south": -0.3, "north": 0.1, "west": -78.6, "east": -78.4},
        "suva": {"south": -18.2, "north": -18.0, "west": 178.3, "east": 178.6},
    }
    rows = [row for box in boxes.values() for row in checkins_in(box, 200)]
    (fresh_project.folder / "rows.txt").write_text("".join(rows))
    settings = yaml.safe_dump(cities_of_your_own(boxes))
    (fresh_project.folder / "config/cities.yaml").write_text(settings)
    fresh_project.arguments = ["--configfile", "config/quick.yaml", "config/cities.yaml"]

    made = fresh_project.folder / "results/quick_cities"
    figures = [f"{kind}_{name}" for kind in ("tv", "estimates") for name in boxes]
    figures += ["fig3_checkins", "parity_ratio"]
    fresh_project.make(*(f"results/quick_cities/figures/{figure}.png" for figure in figures))
    for name in boxes:
        counts = pd.read_csv(made / f"data/histograms/{name}.csv")["count"]
        assert (len(counts), counts.sum()) == (24, 200)
    assert "Suva" in (made / "figures/fig3_checkins.txt").read_text().title()


@slow
def test_no_result_needs_the_download_by_default(fresh_project):
    """It is a rule, though, as are the steps after it."""
    steps = {"download_checkins", "crop_checkins", "grid_checkins"}
    listed = fresh_project.make(options=["--list-rules"])
    assert steps <= set(re.findall(r"^\w+", listed, re.MULTILINE))
    assert fresh_project.planned("download_checkins") == {"download_checkins": 1}
    everything = fresh_project.planned()
    assert everything["use_bundled_counts"] == 2
    assert not everything.keys() & {*steps, "compare_checkins"}


@slow
def test_config_snap_plans_the_download_and_not_the_bundled_counts(fresh_project):
    fresh_project.arguments = ["--configfile", "config/snap.yaml"]
    planned = fresh_project.planned().keys()
    steps = {"download_checkins", "crop_checkins", "grid_checkins", "compare_checkins"}
    assert planned >= steps
    assert "use_bundled_counts" not in planned


@contextlib.contextmanager
def served(folder):
    """Inside a ``with``, a server on this machine for the files in the folder: its address."""
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@slow
def test_config_snap_says_where_the_counts_of_the_downloaded_file_differ(fresh_project, tmp_path):
    """Here that of `made_up_checkins`, from a server on this machine, which here.yaml names."""
    file = gzip.compress(made_up_checkins().encode())
    (tmp_path / "rows.txt.gz").write_bytes(file)
    md5 = hashlib.md5(file).hexdigest()
    with served(tmp_path) as address:
        download = f"{{url: {address}/rows.txt.gz, md5: {md5}}}"
        (fresh_project.folder / "here.yaml").write_text(f"gowalla: {{download: {download}}}\n")
        fresh_project.arguments = ["--configfile", "config/snap.yaml", "here.yaml"]
        fresh_project.environment = {"NO_PROXY": "127.0.0.1"}
        fresh_project.make("data")

    compared = pd.read_csv(fresh_project.folder / "results/snap_here/data/checkins/compared.csv")
    [paris] = compared.query("dataset == 'paris' and grid == 'uniform'").to_dict("records")
    assert paris["printed"] == 10_260  # check-ins, by the paper
    assert paris["bundled"] == 11_190
    assert paris["counted"] == 2_000
    assert paris["cells"] == 12 * 16
    assert paris["cells_that_differ"] > 100  # most, as the made-up places are spread evenly


@slow
def test_results_are_the_same_in_another_folder_on_one_core(finished_project, fresh_project):
    """One target of each sort of results that are drawn at random; all others are made from these.

    The finished project has run on all cores. The folder of the other has a space in its name.
    """
    targets = {
        f"{RESULTS}/trials/synthetic_eps0-4_eps-4.parquet",
        f"{RESULTS}/parity/paris.parquet",
        f"{RESULTS}/attack/audit.csv",
    }
    # Another order of Python's sets, and one thread.
    fresh_project.environment = {"PYTHONHASHSEED": "77", "OMP_NUM_THREADS": "1"}
    fresh_project.make(*targets, options=["--cores", "1"])
    made = fresh_project.results()
    assert made.keys() >= targets
    assert names_that_differ(made, finished_project.results()) == []
