"""What a run promises after kills, faults and edits: no wrong byte, and one line that says what to do."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests import ROOT
from tests.workflow.conftest import Project, jobs_by_rule, names_that_differ, wait_for

pytestmark = [pytest.mark.pipeline, pytest.mark.slow]

OVERLAY = """
datasets:
  mine:
    kind: counts
    title: Mine
    file: mine.csv
    tv: {budgets: [{eps0: 2, eps: 1}], n: [200, all], repetitions: 4}
delta_surface: {eps: {steps: 5}, eps0: {steps: 5}}
"""
RESULTS = "results/overlay"
# The dataset as a table, trials on it, and a figure that has nothing to do with it.
HISTOGRAM = f"{RESULTS}/data/histograms/mine.csv"
TRIALS = f"{RESULTS}/trials/mine_eps0-2_eps-1.parquet"
FIGURE = f"{RESULTS}/figures/fig1_delta_surface.png"
# Snakemake's arguments for two short targets, and for the first one alone.
TRIALS_AND_FIGURE = ("--configfile", "overlay.yaml", "--cores", "1", "--", TRIALS, FIGURE)
TRIALS_ONLY = TRIALS_AND_FIGURE[:-1]
METRICS = "scripts/paper/trials/metrics.py"  # code of the job (run_trials) that makes `TRIALS`


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A project with your own histogram, in which two short targets have been made undisturbed."""
    folder = tmp_path_factory.mktemp("undisturbed") / "project"
    project = Project(folder, config=[], results=RESULTS)
    (project.folder / "mine.csv").write_text("cell,count\n1,400\n2,150\n3,0\n4,50\n")
    (project.folder / "overlay.yaml").write_text(OVERLAY)
    project.make(*TRIALS_AND_FIGURE)
    return project


@pytest.fixture
def project(undisturbed, tmp_path):
    """A copy of that project with the dates of the copying, as cp -r makes it; its path holds a space."""
    shutil.copytree(undisturbed.folder, tmp_path / "anders wo", copy_function=shutil.copyfile)
    return Project(tmp_path / "anders wo", config=[], results=RESULTS, exists=True)


def refusal(done, word="error: "):
    """The only line with this word of a run that fails without a traceback: by default, the job's own."""
    assert done.returncode != 0
    assert "Traceback" not in done.stdout
    lines = [line for line in done.stdout.splitlines() if word in line]
    assert len(lines) == 1, done.stdout
    return lines[0]


def script_of(run):
    """The process of a script that the run of Snakemake has started and that is still at work, or None."""
    for child in psutil.Process(run.pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if ".snakemake/scripts" in " ".join(child.cmdline()):
                return child
    return None


# Interruptions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stopped", "signal_name", "pause"),
    [
        ("job", "SIGKILL", 0),
        ("job", "SIGKILL", 0.2),
        ("snakemake", "SIGKILL", 0),
        ("snakemake and its jobs", "SIGKILL", 0.3),
        ("snakemake", "SIGINT", 0.3),
        ("snakemake", "SIGTERM", 0),
    ],
)
def test_an_interrupted_run_and_the_same_command_give_the_same_bytes(
    undisturbed, project, stopped, signal_name, pause
):
    """A run that is stopped, and the same command again, make the results of the ``undisturbed`` run.

    ``stopped`` (the first job, Snakemake, or both) gets the signal ``signal_name``, ``pause`` seconds after
    the job has started. The job ends within a second. `TRIALS_ONLY` are Snakemake's arguments for the
    trials, and ``project`` is a copy of the undisturbed one, here without its results.

    1. If Snakemake itself was killed (SIGKILL), the second run may ask for --unlock first, as docs/running.md
    says. After other signals it does not.
    2. Then it makes the same bytes, even if the job outlives the first run. Nothing is left to do.
    """
    project.wipe()
    run = project.start(*TRIALS_ONLY)
    job = wait_for(lambda: script_of(run))
    time.sleep(pause)
    with contextlib.suppress(ProcessLookupError):
        if stopped == "snakemake and its jobs":
            os.killpg(run.pid, signal.Signals[signal_name])
        else:
            os.kill(job.pid if stopped == "job" else run.pid, signal.Signals[signal_name])
    assert run.wait(120) != 0
    if stopped == "job":
        assert "died with <Signals.SIGKILL: 9>" in (project.folder / "printed").read_text()

    again = project.snakemake(*TRIALS_ONLY)
    if again.returncode:
        assert stopped != "job"
        assert signal_name == "SIGKILL"
        assert "--unlock" in again.stdout
        project.make("--unlock", *TRIALS_ONLY)
        again = project.snakemake(*TRIALS_ONLY)
    assert again.returncode == 0, again.stdout
    with contextlib.suppress(psutil.Error):
        job.wait(60)  # seconds, for a job that has outlived its run

    made = project.results()
    assert made.keys() == {path.removeprefix(f"{RESULTS}/") for path in (HISTOGRAM, TRIALS)}
    assert names_that_differ(made, undisturbed.results()) == []
    assert jobs_by_rule(project.make("--dry-run", *TRIALS_ONLY)) == {}


# Faults ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def mounted(folder, *options):
    """Inside a ``with``, mount a file system at the folder, as the ``options`` of mount say.

    The test is skipped where that is not allowed, or where there is no Linux.
    """
    if sys.platform != "linux":
        pytest.skip("mounts as Linux does")
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *options, folder], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no mount allowed here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_full_disk(undisturbed, project):
    """On a full disk a run fails with one line of error (`refusal` returns it). No part of a figure stays.

    The disk is a file system of 64 KB, which has room for the trials but not for the figure.
    `TRIALS_AND_FIGURE` are Snakemake's arguments for these two results. With 10 MB of room, the same command
    makes what the ``undisturbed`` run made.
    """
    results = project.folder / "results"
    shutil.rmtree(results)
    with mounted(results, "-t", "tmpfs", "-o", "size=64k", "none"):
        line = refusal(project.snakemake(*TRIALS_AND_FIGURE))
        assert line.startswith(
            "error: draw_delta_surface: results/overlay/figures/fig1_delta_surface."
        )
        assert line.endswith("the disk is full: make room and run again")
        assert not [name for name in project.results() if name.startswith("figures/")]

        subprocess.run(["mount", "-o", "remount,size=10m", results], check=True)
        project.make(*TRIALS_AND_FIGURE)
        assert project.results() == undisturbed.results()


def test_a_read_only_folder(project):
    """In a read-only folder Snakemake cannot even plan a run: its last line names .snakemake there.

    The ``project``'s folder is mounted on itself, and this mount is made read-only. `TRIALS_AND_FIGURE` are
    Snakemake's arguments for two short targets.
    """
    with mounted(project.folder, "--bind", project.folder):
        subprocess.run(["mount", "-o", "remount,bind,ro", project.folder], check=True)
        done = project.snakemake("--dry-run", *TRIALS_AND_FIGURE)
    assert done.returncode != 0
    last = done.stdout.rstrip().splitlines()[-1]
    assert last.startswith(
        f"OSError: [Errno 30] Read-only file system: '{project.folder}/.snakemake"
    )


def test_bad_input_is_one_line(undisturbed, project):
    """A bad mine.csv, the counts of the dataset, is refused with a single line, which `refusal` returns.

    1. A count below 0 is refused by a first and by a second run, with the same line: the second does not take
    the old trials for finished.
    2. The right file is refused if its date is an hour ahead of the clock.
    3. With the right file and a date of now, the results have the bytes of the ``undisturbed`` run.

    `TRIALS_AND_FIGURE` are Snakemake's arguments for the trials, which use these counts, and a figure.
    """
    (project.folder / "mine.csv").write_text("cell,count\n1,400\n2,-150\n")
    line = refusal(project.snakemake(*TRIALS_AND_FIGURE))
    expected = "mine.csv: row 3: count must be a whole number >= 0; got '-150'"
    assert line == f"error: use_counts: {expected}"
    assert not (project.folder / HISTOGRAM).exists()
    assert refusal(project.snakemake(*TRIALS_AND_FIGURE)) == line

    shutil.copyfile(undisturbed.folder / "mine.csv", project.folder / "mine.csv")
    os.utime(project.folder / "mine.csv", (time.time() + 3600,) * 2)
    assert "mine.csv" in refusal(project.snakemake(*TRIALS_AND_FIGURE), "clock skew")

    # Copied again, which gives it a date of now.
    shutil.copy(undisturbed.folder / "mine.csv", project.folder)
    project.make(*TRIALS_AND_FIGURE)
    assert project.results() == undisturbed.results()


def test_a_bad_configuration_is_one_line(undisturbed, project):
    """A bad file of settings is refused: the results stay those of the ``undisturbed`` run. In turn it has

    1. a key that does not exist, for which the line of error proposes one that does;
    2. a key that occurs twice, which most readers of YAML accept;
    3. a value that some readers of YAML would run as a command. It is not run: it would make a file mark.

    `refusal` returns the only line with a given word that a failed run prints.
    """
    bad = project.folder / "bad.yaml"
    dry_run = ("--configfile", "bad.yaml", "--dry-run")
    bad.write_text("gowalla: {sourc: snap}\n")
    line = refusal(project.snakemake(*dry_run), "sourc'")
    assert "did you mean 'source'?" in line

    bad.write_text("seed: 1\nseed: 2\n")
    line = refusal(project.snakemake(*dry_run), "twice")
    assert line == "bad.yaml, line 2: not valid YAML: the key 'seed' occurs twice"

    bad.write_text("seed: !!python/object/apply:os.system ['touch mark']\n")
    assert project.snakemake("--configfile", "bad.yaml").returncode != 0
    assert not (project.folder / "mark").exists()
    assert project.results() == undisturbed.results()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_data_that_are_no_file_are_refused_and_not_read_for_ever(project, make):
    (project.folder / "mine.csv").unlink()
    make(project.folder / "mine.csv")
    line = refusal(project.snakemake("--dry-run", *TRIALS_AND_FIGURE), "regular")
    assert line == "mine.csv: not a regular file"


def test_another_file_in_the_place_of_the_download_is_refused(project):
    """If another file lies where SNAP's file is downloaded to, the job that reads it fails: a wrong MD5 sum.

    Here it has one line of check-ins. `refusal` returns the line of error. No result is made. Nothing is
    downloaded, as Snakemake takes a file in this place for the downloaded one.
    """
    (project.folder / "data/raw").mkdir()
    (project.folder / "data/raw/loc-gowalla_totalCheckins.txt.gz").write_text(
        "7\t2010\t48.85\t2.33\t15\n"
    )
    target = f"{RESULTS}/data/checkins/paris_cropped.parquet"
    source = ("--config", "gowalla={source: snap}")
    line = refusal(project.snakemake("--configfile", "overlay.yaml", *source, "--", target))
    assert line.startswith(
        "error: crop_checkins: data/raw/loc-gowalla_totalCheckins.txt.gz: its MD5 sum is "
    )
    assert not (project.folder / target).exists()


def test_code_that_is_edited_during_a_run_and_put_back_leaves_no_result(undisturbed, project):
    """`METRICS`, code of the job run_trials, is edited while an earlier job is at work.

    run_trials fails, with a line that names the file. When the file is as before, the same command makes what
    the ``undisturbed`` run made. `TRIALS_AND_FIGURE` are Snakemake's arguments for two targets, one job after
    the other. `wait_for` waits until the function is true.
    """
    project.wipe()
    metrics = project.folder / METRICS
    text = metrics.read_text()
    run = project.start(*TRIALS_AND_FIGURE)
    wait_for(lambda: script_of(run))  # the process of the first job
    metrics.write_text(text.replace("/ 2", "/ 4"))
    assert run.wait(120) != 0
    (line,) = re.findall("^error: .*", (project.folder / "printed").read_text(), re.MULTILINE)
    again = "was edited while the run was on: run the same command again"
    assert line == f"error: run_trials: {METRICS} {again}"
    metrics.write_text(text)
    project.make(*TRIALS_AND_FIGURE)
    assert project.results() == undisturbed.results()


def test_a_result_that_was_changed_by_hand_is_found_also_after_a_run_has_used_it(
    undisturbed, project
):
    """`HISTOGRAM`, a result, is changed by hand. The next run makes wrong trials (`TRIALS`) from it.

    1. The module verify, which `make verify` runs, names the histogram only: the trials are as their job has
    written them.
    2. Once the histogram is removed, a run that names all three results, as `make` does, makes what the
    ``undisturbed`` run made, and verify finds nothing.

    `TRIALS_AND_FIGURE` are Snakemake's arguments for the trials and for a figure that does not depend on
    them.
    """
    histogram = project.folder / HISTOGRAM
    histogram.write_text(histogram.read_text().replace("400", "401"))
    project.make(*TRIALS_AND_FIGURE)
    trials = f"trials/{Path(TRIALS).name}"
    assert project.results()[trials] != undisturbed.results()[trials]

    verify = [sys.executable, "-m", "scripts.shared.verify", RESULTS]
    done = subprocess.run(verify, cwd=project.folder, capture_output=True, text=True)
    assert done.returncode != 0
    assert done.stdout.splitlines() == ["Changed since their jobs wrote them:", HISTOGRAM]
    histogram.unlink()
    project.make(*TRIALS_AND_FIGURE, HISTOGRAM)
    assert project.results() == undisturbed.results()
    assert subprocess.run(verify, cwd=project.folder).returncode == 0


def test_the_check_of_a_cluster_touches_no_result(undisturbed, project):
    project.make(
        "--configfile", "overlay.yaml", "--forcerun", "check_cluster", "--", "check_cluster"
    )
    assert project.results() == undisturbed.results()


# What reruns -----------------------------------------------------------------------------------------


def set_dates(folder, seconds):
    """Give every file and folder inside a date: seconds since 1970."""
    for path in folder.rglob("*"):
        os.utime(path, (seconds, seconds))


def test_dates_alone_rerun_nothing_and_edits_without_a_new_date_do(undisturbed, project):
    """Contents decide what reruns. On a copy of the ``undisturbed`` project, where two targets are made:

    1. New dates rerun nothing, even where a result is older than its input. Nor does a comment in code.
    2. An edit of `METRICS`, code of run_trials, dated 1970, reruns this job. The plan (-n, as docs/running.md
    says) names the file as the reason. Only the trials change. So the code that runs is the edited one, not
    that of a checkout which the environment may have.
    3. An edit of the data, dated 1970, reruns the two jobs that use them.

    `jobs_by_rule` reads from what Snakemake prints how many jobs of each rule it plans or runs.
    """
    now, in_1970 = time.time(), 86_400  # seconds since 1970
    for name in ("data", "scripts", "tightshuffle", "workflow"):
        set_dates(project.folder / name, now)
    # The trials are older than the data that they are made from.
    for name, seconds in (("data", now), ("trials", in_1970), ("delta", now)):
        set_dates(project.folder / RESULTS / name, seconds)
    os.utime(project.folder / "mine.csv")
    assert jobs_by_rule(project.make("--dry-run", *TRIALS_AND_FIGURE)) == {}

    metrics = project.folder / METRICS
    text = metrics.read_text()
    metrics.write_text(f"# A comment.\n{text}")
    assert jobs_by_rule(project.make("--dry-run", *TRIALS_AND_FIGURE)) == {}

    metrics.write_text(text.replace("/ 2", "/ 4"))
    assert metrics.read_text() != text
    os.utime(metrics, (in_1970, in_1970))
    plan = project.make("-n", *TRIALS_AND_FIGURE)
    [reason] = [line for line in plan.splitlines() if "before:" in line]
    assert set(re.findall(r"\b(?:scripts|tightshuffle)/[\w/.]+", reason)) == {METRICS}
    assert jobs_by_rule(project.make(*TRIALS_AND_FIGURE)) == {"run_trials": 1}
    changed = names_that_differ(project.results(), undisturbed.results())
    assert changed == [TRIALS.removeprefix(f"{RESULTS}/")]

    metrics.write_text(text)
    (project.folder / "mine.csv").write_text("cell,count\n1,400\n2,150\n3,50\n4,0\n")
    os.utime(project.folder / "mine.csv", (in_1970, in_1970))
    assert jobs_by_rule(project.make(*TRIALS_AND_FIGURE)) == {"use_counts": 1, "run_trials": 1}


STUDY = """
study:
  {{n: [{0}], k: [{1}], eps: [1], delta: [1.0e-6], delta_exponents: [{2}]}}
"""


def test_a_setting_that_takes_a_neighbours_value_reruns_and_two_that_swap_theirs(project):
    """First delta_exponents, with the value of k, takes that of eps; last, n and k swap."""
    command = ("--configfile", "overlay.yaml", "--", f"{RESULTS}/study/grr.parquet")
    for values in ((1000, 2, 2), (1000, 2, 1), (1000, 100, 1), (100, 1000, 1)):
        (project.folder / "overlay.yaml").write_text(OVERLAY + STUDY.format(*values))
        assert jobs_by_rule(project.make(*command)) == {"compute_study": 1}


def test_elsewhere_and_as_a_module(tmp_path):
    """The workflow of this checkout makes the same table in two other folders, not copies of the project.

    In the folder ``there`` Snakemake is run with its options -s (the Snakefile) and -d (the folder). The
    folder ``module`` has a Snakefile of its own, which takes all rules as a module of Snakemake. A second run
    has nothing to do.
    """
    target = "results/delta/delta_surface.csv"
    there, module = tmp_path / "there", tmp_path / "module"
    for folder in (there, module):
        folder.mkdir()
    (module / "Snakefile").write_text(
        f'module tightshuffle:\n    snakefile: "{ROOT}/workflow/Snakefile"\n\n'
        "use rule * from tightshuffle as ts_*\n\n"
        f'rule mine:\n    default_target: True\n    input: "{target}"\n'
    )
    snakefile = ["-s", f"{ROOT}/Snakefile", "-d", ".", "--", target]
    for folder, arguments in ((there, snakefile), (module, ["--cores", "1"])):
        done = Project(folder, exists=True).snakemake(*arguments)
        assert done.returncode == 0, done.stdout
        assert "Nothing to be done" in Project(folder, exists=True).snakemake(*arguments).stdout
    assert (there / target).read_bytes() == (module / target).read_bytes()


def git(folder, *words):
    """Run git in the folder: what it prints."""
    return subprocess.run(
        ["git", "-C", folder, *words], check=True, capture_output=True, text=True
    ).stdout


def test_from_a_git_host(tmp_path):
    """A Snakefile takes the workflow from GitHub as a module, as Snakemake's catalog of workflows says.

    Snakemake looks for copies of repositories in its cache. The test puts a clone of a copy of this project
    there, under the name github.com/me/tight-shuffle, so that no network is needed.
    """
    project = Project(tmp_path / "project").folder
    git(project, "init", "--quiet")
    git(project, "add", "--all")
    who = ["-c", "user.name=me", "-c", "user.email=me@here"]
    git(project, *who, "commit", "--quiet", "--message", "all")
    # XDG_CACHE_HOME, below, is the folder cache; the rest of the path is Snakemake's choice.
    cache = tmp_path / "cache/snakemake/snakemake/source-cache/snakemake-git-cache"
    git(tmp_path, "clone", "--quiet", "--bare", project, cache / "github.com/me/tight-shuffle")

    target, mine = "results/delta/delta_surface.csv", tmp_path / "mine"
    mine.mkdir()
    commit = git(project, "rev-parse", "HEAD").strip()
    (mine / "Snakefile").write_text(
        "module tightshuffle:\n"
        f'    snakefile: github("me/tight-shuffle", path="workflow/Snakefile", commit="{commit}")\n\n'
        "use rule * from tightshuffle\n"
    )
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = Project(mine, exists=True).snakemake(
        "--cores", "1", "--", target, environment=environment
    )
    assert done.returncode == 0, done.stdout
    assert (mine / target).stat().st_size > 1000  # bytes: the table is not empty
