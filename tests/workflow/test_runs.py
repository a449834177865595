"""What a run promises: its own folder's code, nothing deleted that nobody asked for, a plan that is kept."""

import os
import py_compile
import re
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests import ROOT
from tests.workflow.conftest import QUICK, Project, counted
from tests.workflow.test_faults import everything, last_line, lines_with

pytestmark = [pytest.mark.pipeline, pytest.mark.slow]


def run(project, *targets):
    """What a run without an error prints."""
    done = project.run(targets=targets)
    assert done.returncode == 0, done.stdout
    return done.stdout


def distances(project):
    trials = pd.read_parquet(project.folder / project.TRIALS)
    return trials.loc[trials["metric"] == "tv", "value"].to_numpy()


def test_a_copied_folder_runs_its_own_code(calm, small):
    """Although the environment has another checkout installed, and old byte code of that size and date."""
    script = small.folder / "reproduction/protocol/metrics.py"
    py_compile.compile(str(script), invalidation_mode=py_compile.PycInvalidationMode.TIMESTAMP)
    before, state = script.read_text(), script.stat()
    script.write_text(before.replace("/ 2", "/ 4"))
    os.utime(script, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert script.read_text() != before
    assert counted(run(small, small.TRIALS)) == {"run_trials": 1}
    np.testing.assert_allclose(distances(small), distances(calm) / 2, rtol=1e-12)


def test_code_that_is_edited_while_jobs_wait_is_refused(small):
    """The job starts after the edit: it neither mixes old and new results nor takes the new for the old."""
    (small.folder / small.TRIALS).unlink()
    log = small.folder / "results/overlay/logs/use_counts/mine.log"
    log.unlink()
    process = small.start("--forcerun", "use_counts", *small.command(small.TRIALS))
    while not log.exists():
        assert process.poll() is None
        time.sleep(0.02)
    script = small.folder / "reproduction/protocol/metrics.py"
    script.write_text(script.read_text() + "\n# edited\n")
    assert process.wait() != 0
    printed = (small.folder / "printed").read_text()
    assert "was edited since this run began: run again" in printed.rstrip().splitlines()[-1]
    run(small, small.TRIALS)


def test_reading_changes_nothing(small):
    """And Snakemake finds nothing to complain about; its list of rules reads like a table of contents."""
    (small.folder / small.TRIALS).unlink()
    (small.folder / small.HISTOGRAM).write_text("edited")
    small.run("--dry-run", targets=[small.TRIALS])  # makes Snakemake's own folders
    before = everything(small)
    said = {}
    for option in ("--list-rules", "--lint", "--summary", "--dry-run"):
        done = small.run(option, targets=[small.TRIALS])
        assert done.returncode == 0, done.stdout
        assert everything(small) == before, option
        said[option] = done.stdout
    assert "Congratulations" in said["--lint"]
    for name in ("run_trials", "judge_values", "write_report", "fig6", "tables"):
        assert any(line.startswith(f"{name} (") for line in said["--list-rules"].splitlines()), name


PLANS = """
import sys
from tests.workflow.dag_of import planned
from reproduction.jobs.configuration import TAKEN
for config in sys.argv[1:]:
    with planned(configfiles=config.split()) as workflow:
        (everything,) = (job for job in workflow.dag.jobs if job.rule.name == "all")
        outputs = {str(file) for job in workflow.dag.jobs for file in job.output}
        folders = {file.split("/")[1] for file in outputs if file.count("/") > 1}
        first = [job.rule.name for job in workflow.dag.jobs if job.rule.priority]
        judges = [job for job in workflow.dag.jobs if job.rule.name.startswith("judge_")]
        judged = {str(file).split("/")[-1] for job in judges for file in job.input}
        own = [name for name in judged if "mine" in name]
        left = sorted(outputs - set(map(str, everything.input))), folders - TAKEN - {"quick", "city", "own"}
        print("planned", first, *left, len(judges), own)
"""


def test_what_a_whole_run_makes(fresh):
    """Whatever a job makes is a target of all.

    Else it would not come back: Snakemake makes what is asked for, and what that needs. No configuration can
    have the name of a result's folder. Your own dataset has no part in the verdicts.
    """
    (city,) = re.findall(r"^```yaml\n(.*?)^```", (ROOT / "docs/datasets.md").read_text(), re.M | re.S)
    (fresh.folder / "city.yaml").write_text(city.replace("path/to/checkins.txt.gz", "config/config.yaml"))
    (fresh.folder / "own.csv").write_text("cell,count\n1,400\n2,150\n")
    (fresh.folder / "own.yaml").write_text(
        "datasets:\n  mine:\n    {kind: counts, title: Mine, file: own.csv,\n"
        "    tv: {budgets: [{eps0: 2, eps: 1}], n: [200, all], repetitions: 4},\n"
        "    individual: {budgets: [{eps0: 2, eps: 1}], n: [all], cells: [1], repetitions: 4},\n"
        "    estimates: {budgets: [{eps0: 2, eps: 1}], n: all}}\n"
    )
    done = fresh.python("-c", PLANS, "", QUICK[1], "own.yaml", "city.yaml")
    lines = [line for line in done.stdout.splitlines() if line.startswith("planned")]
    usual, city = "planned [] [] set() 3 []", "planned ['crop_checkins'] [] set()"
    assert lines[:3] == [usual] * 3, done.stdout + done.stderr
    assert [line[: len(city)] for line in lines[3:]] == [city]


def test_every_configuration_has_a_folder_of_its_own(small):
    before = small.results()
    (small.folder / "other.yaml").write_text("seed: 7\n")
    target = "privacy/delta_surface.csv"
    overlay = ["--configfile", "overlay.yaml"]
    for folder, settings in {
        "results/overlay_other": [*overlay, "other.yaml"],
        "results/overlay_custom": [*overlay, "--config", "seed=5"],
    }.items():
        done = small.snakemake(*settings, "--", f"{folder}/{target}")
        assert done.returncode == 0, done.stdout
        assert (small.folder / folder / target).exists()
    (small.folder / "other").mkdir()
    (small.folder / "other/overlay.yaml").write_text("delta_surface: {eps: {steps: 6}}\n")
    settings = ["--configfile", "other/overlay.yaml", "--config", "seed=6"]
    done = small.snakemake(*settings, "--", f"{folder}/{target}")
    assert "results/overlay_custom holds the results of overlay.yaml seed=5: give your file" in done.stdout
    assert small.results() == before
    assert "Nothing to be done" in run(small, small.TRIALS)
    (small.folder / "figures.yaml").write_text("seed: 7\n")
    done = small.snakemake("--configfile", "figures.yaml", "--dry-run")
    assert "results/figures, a name in use: give the file another name" in done.stdout


def test_elsewhere_and_as_a_module(tmp_path):
    """The folder of the run is another than the project's: -s and -d, and Snakemake's modules."""
    target = "results/privacy/delta_surface.csv"
    there, module = tmp_path / "there", tmp_path / "module"
    for folder in (there, module):
        folder.mkdir()
    (module / "Snakefile").write_text(
        f'module tightshuffle:\n    snakefile: "{ROOT}/workflow/Snakefile"\n\n'
        "use rule * from tightshuffle as ts_*\n\n"
        f'rule mine:\n    default_target: True\n    input: "{target}"\n'
    )
    snakefile = ["-s", f"{ROOT}/Snakefile", "-d", "."]
    for folder, arguments in ((there, [*snakefile, "--", target]), (module, ["--cores", "1"])):
        for made in (False, True):
            assert (folder / target).exists() == made
            done = Project(folder, copied=True).snakemake(*arguments)
            assert done.returncode == 0, done.stdout
            assert ("Nothing to be done" in done.stdout) == made
    assert (there / target).read_bytes() == (module / target).read_bytes()
    done = Project(there, copied=True).snakemake(*snakefile, "--dry-run", "--", "all")
    assert done.returncode == 0, done.stdout


def test_as_the_catalog_deploys_it(tmp_path):
    """The Snakefile and the configuration that snakedeploy writes, with a clone here instead of GitHub's."""
    target = "results/privacy/delta_surface.csv"
    source = Project(tmp_path / "source", config=[])
    for command in (["init"], ["add", "."], ["commit", "-m", "All"], ["tag", "v1"]):
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *who, *command], cwd=source.folder, check=True, capture_output=True)
    shutil.copytree(ROOT / "config", tmp_path / "mine/config")
    (tmp_path / "mine/Snakefile").write_text(
        'configfile: "config/config.yaml"\n\nmodule tight_shuffle:\n'
        '    snakefile: github("owner/tight-shuffle", path="workflow/Snakefile", tag="v1")\n'
        "    config: config\n\nuse rule * from tight_shuffle\n"
    )
    environment = {
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{source.folder}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/owner/tight-shuffle",
    }
    mine = Project(tmp_path / "mine", copied=True)
    for arguments, wanted in (
        (["--", target], "1 of 1 steps"),
        (["--", target], "Nothing to be done"),
        (["--dry-run", "all"], "write_report"),
    ):
        done = mine.snakemake("--cores", "1", *arguments, environment=environment)
        assert done.returncode == 0, done.stdout
        assert wanted in done.stdout
    assert source.snakemake("--cores", "1", "--", target).returncode == 0
    assert (mine.folder / target).read_bytes() == (source.folder / target).read_bytes()
    # The catalog draws this graph, in .test because other workflows have data there.
    where = ["--snakefile", "workflow/Snakefile", "--directory", ".test"]
    drawn = source.snakemake(*where, "--cores", "1", "--forceall", "--rulegraph")
    assert drawn.returncode == 0, drawn.stdout
    assert 'label = "write_report"' in drawn.stdout


def test_the_terminal_says_little_and_ends_with_the_error(small):
    (small.folder / "mine.csv").write_text("cell,count\n1,400\n2,150\n3,0\n4,51\n")
    lines = run(small, small.TRIALS).splitlines()
    assert len(lines) < 30
    assert max(map(len, lines)) < 300
    assert "localrule" not in "".join(lines)
    log = next(re.search(r"Complete Log: (.*)", line)[1] for line in lines if "Complete Log" in line)
    assert "rule run_trials" in Path(log).read_text()
    (small.folder / "mine.csv").write_text("cell,count\n1,400\n2,-150\n")
    done = small.run(targets=[small.TRIALS])
    assert done.returncode != 0
    wanted = "error: use_counts: mine.csv: row 3: count must be a whole number >= 0; got '-150'"
    assert lines_with(done, "error:") == [last_line(done)] == [wanted]
    assert not (small.folder / small.HISTOGRAM).exists()
    assert (small.folder / small.TRIALS).exists()
