"""What a run promises: its own folder's code, nothing deleted that was not asked for, a plan that is kept."""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.conftest import QUICK, ROOT, Project, counted
from tests.pipeline.test_faults import everything, last_line

pytestmark = pytest.mark.pipeline

OVERLAY = """
datasets:
  mine:
    kind: counts
    title: Mine
    file: mine.csv
    tv: {budgets: [{eps0: 2, eps: 1}], n: [200, all], repetitions: 4}
delta_surface: {eps: {steps: 5}, eps0: {steps: 5}}
"""
TRIALS = "results/overlay/trials/mine_eps0-2_eps-1.parquet"
PLANS = ["--configfile", "overlay.yaml", "--"]


def small(folder):
    project = Project(folder, made="results/overlay")
    (project.folder / "mine.csv").write_text("cell,count\n1,400\n2,150\n3,0\n4,50\n")
    (project.folder / "overlay.yaml").write_text(OVERLAY)
    return project


def run(project, *targets, **options):
    done = project.snakemake(*PLANS, *targets, **options)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project with trials on a histogram of its own. Tests copy it."""
    project = small(tmp_path_factory.mktemp("runs") / "project")
    run(project, TRIALS)
    return project


@pytest.fixture
def copy(made, tmp_path):
    shutil.copytree(made.folder, tmp_path / "kopie ü", symlinks=True)  # keeps dates, as cp -a
    project = object.__new__(Project)
    project.folder, project.made = tmp_path / "kopie ü", made.made
    return project


def distances(project):
    trials = pd.read_parquet(project.folder / TRIALS)
    return trials.loc[trials["metric"] == "tv", "value"].to_numpy()


def test_a_copied_folder_runs_its_own_code(made, copy):
    """Although the environment has another checkout installed."""
    script = copy.folder / "tightshuffle/mechanisms/metrics.py"
    before = script.read_text()
    script.write_text(before.replace("/ 2", "/ 20"))
    assert script.read_text() != before
    assert counted(run(copy, TRIALS)) == {"run_trials": 1}
    np.testing.assert_allclose(distances(copy), distances(made) / 10, rtol=1e-12)


def test_code_that_is_edited_while_jobs_wait_is_refused(copy):
    """The job starts after the edit: it neither mixes old and new results nor takes the new for the old."""
    (copy.folder / TRIALS).unlink()
    log = copy.folder / "results/overlay/logs/use_counts/mine.log"
    log.unlink()
    with subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--forcerun", "use_counts", *PLANS, TRIALS],
        cwd=copy.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        while not log.exists():
            assert process.poll() is None
            time.sleep(0.02)
        script = copy.folder / "tightshuffle/mechanisms/metrics.py"
        script.write_text(script.read_text() + "\n# edited\n")
        output = process.communicate()[0]
    assert process.returncode != 0, output
    assert "was edited since this run began: run again" in output.rstrip().splitlines()[-1]
    run(copy, TRIALS)


def test_reading_changes_nothing(copy):
    commands = [
        ["--list-rules"],
        ["--lint"],
        ["--summary"],
        ["--dag"],
        ["--rulegraph"],
        ["--dry-run"],
    ]
    (copy.folder / "bad.yaml").write_text("sed: 1\n")
    (copy.folder / TRIALS).unlink()
    (copy.folder / "results/overlay/histograms/mine.csv").write_text("edited")
    copy.snakemake("--dry-run", *PLANS, TRIALS)  # Snakemake's own folders
    before = everything(copy)
    for command in commands:
        copy.snakemake(*command, *PLANS, TRIALS)
        assert everything(copy) == before, command
    assert copy.snakemake("--configfile", "bad.yaml", "--", TRIALS).returncode != 0
    assert everything(copy) == before


def test_nothing_outside_of_the_targets_is_touched_and_what_is_removed_comes_back(finished):
    """Also: a dry run names the jobs that then run."""
    made = finished.folder / finished.made
    trials = next(iter(sorted(made.glob("trials/paris_*.parquet"))))
    removed = [trials, *(made / name for name in ("tables/claims.md", "parity_plan.md", "figures/audit.pdf"))]
    before, state = finished.results(), everything(finished)
    for path in removed:
        path.unlink()
    assert "Nothing to be done" in finished.make("--", "fig1")
    now = everything(finished)
    assert {name for name in state if now.get(name) != state[name] and state[name][0] is not None} == {
        path.relative_to(finished.folder).as_posix() for path in removed
    }
    planned = counted(finished.make("--dry-run"))
    assert {"run_trials", "judge_claims", "plan_parity", "draw_audit"} <= set(planned)
    assert counted(finished.make()) == planned
    after = finished.results()
    assert [name for name in before if after.get(name) != before[name]] == []
    assert "Nothing to be done" in finished.make()


def test_whatever_a_job_makes_is_a_target_of_all(fresh):
    """Else it would not come back: Snakemake makes what is asked for, and what that needs."""
    code = (
        "import json; from tests.pipeline.dag_of import planned\n"
        "with planned(configfiles=sys.argv[1:]) as workflow:\n"
        "    jobs = {job.rule.name: job for job in workflow.dag.jobs}\n"
        "    outputs = {str(file) for job in workflow.dag.jobs for file in job.output}\n"
        "    print(json.dumps(sorted(outputs - {str(file) for file in jobs['all'].input})))\n"
    )
    for config in ([], QUICK[1:], ["file.yaml"]):
        (fresh.folder / "file.yaml").write_text("gowalla: {source: file, file: config/config.yaml}\n")
        done = subprocess.run(
            [sys.executable, "-c", code, *config], cwd=fresh.folder, capture_output=True, text=True
        )
        assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_every_configuration_has_a_folder_of_its_own(copy):
    before = copy.results()
    (copy.folder / "other.yaml").write_text("seed: 7\n")
    target = "privacy/delta_surface.csv"
    two = ["--configfile", "overlay.yaml", "other.yaml"]
    for folder, settings in {
        "results/overlay_other": two,
        "results/custom": ["--config", "seed=5"],
        "results/overlay_custom": [*PLANS[:2], "--config", "seed=5"],
    }.items():
        done = copy.snakemake(*settings, "--", f"{folder}/{target}")
        assert done.returncode == 0, done.stdout
        assert (copy.folder / folder / target).exists()
    assert copy.results() == before
    assert "Nothing to be done" in run(copy, TRIALS)
    (copy.folder / "figures.yaml").write_text("seed: 7\n")
    done = copy.snakemake("--configfile", "figures.yaml", "--dry-run")
    assert "results/figures, which is taken: give it another name" in done.stdout


def test_elsewhere_and_as_a_module(tmp_path):
    """The folder of the run is another than the project's: -s and -d, and Snakemake's modules."""
    figure = "results/figures/fig1_delta_surface.png"
    there, module = tmp_path / "there", tmp_path / "module"
    for folder in (there, module):
        folder.mkdir()
    (module / "Snakefile").write_text(
        f'module tightshuffle:\n    snakefile: "{ROOT}/Snakefile"\n\nuse rule * from tightshuffle as ts_*\n\n'
        f'rule mine:\n    default_target: True\n    input: "{figure}"\n'
    )
    snakefile = ["-s", f"{ROOT}/Snakefile", "-d", "."]
    for folder, arguments in ((there, [*snakefile, "--", figure]), (module, ["--cores", "1"])):
        for words in ("surface", "Nothing to be done"):
            done = subprocess.run(
                [sys.executable, "-m", "snakemake", *arguments],
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            assert done.returncode == 0, done.stdout
            assert words in done.stdout
    assert (there / figure).read_bytes() == (module / figure).read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *snakefile, "--dry-run", "--", "all"],
        cwd=there,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_the_terminal_says_little_and_ends_with_the_error(copy):
    (copy.folder / "mine.csv").write_text("cell,count\n1,400\n2,150\n3,0\n4,51\n")
    lines = run(copy, TRIALS).splitlines()
    assert len(lines) < 30
    assert max(map(len, lines)) < 300
    assert "localrule" not in "".join(lines)
    log = next(re.search(r"Complete Log: (.*)", line)[1] for line in lines if "Complete Log" in line)
    assert "rule run_trials" in Path(log).read_text()
    (copy.folder / "mine.csv").write_text("cell,count\n1,400\n2,-150\n")
    done = copy.snakemake(*PLANS, TRIALS)
    assert (
        last_line(done) == "error: use_counts: mine.csv: row 3: count must be a whole number >= 0; got '-150'"
    )
    assert len([line for line in done.stdout.splitlines() if line.startswith("error:")]) == 1
    assert (copy.folder / TRIALS).exists()
