"""What a run promises after kills, faults and edits: no wrong byte, and one line that says what to do."""

import contextlib
import os
import py_compile
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import psutil
import pytest
import yaml

from tests import ROOT
from tests.workflow.conftest import (
    Project,
    copy_of_project,
    edited,
    jobs_by_rule,
    names_that_differ,
    wait_for,
)

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
# Dataset ``mine`` as a table, trials on it, and a figure that has nothing to do with it.
HISTOGRAM = f"{RESULTS}/data/histograms/mine.csv"
TRIALS = f"{RESULTS}/trials/mine_eps0-2_eps-1.parquet"
FIGURE = f"{RESULTS}/figures/fig1_delta_surface.png"
METRICS = "scripts/paper/trials/metrics.py"  # code of the job (run_trials) that makes `TRIALS`
# Of the run: the settings in `OVERLAY`, and one job after the other.
ARGUMENTS = ("--configfile", "overlay.yaml", "--cores", "1")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A project with a dataset ``mine``, in which `TRIALS` and `FIGURE` have been made undisturbed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    project = copy_of_project(folder, arguments=ARGUMENTS)
    (folder / "mine.csv").write_text("cell,count\n1,400\n2,150\n3,0\n4,50\n")
    (folder / "overlay.yaml").write_text(OVERLAY)
    project.make(TRIALS, FIGURE)
    return project


@pytest.fixture
def finished_copy(undisturbed, tmp_path):
    """A copy of that project, results included, with new dates, as cp -r makes it; its path holds a space."""
    folder = tmp_path / "anders wo"
    shutil.copytree(undisturbed.folder, folder, copy_function=shutil.copyfile)
    return replace(undisturbed, folder=folder)


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


def interrupt(project, *, stopped, signal_name, pause):
    """Start to make `TRIALS`, stop the run by a signal, and return the process of its first job.

    The signal is sent ``pause`` seconds after this job has started. ``stopped`` says to which processes: to
    the job, to Snakemake, or to Snakemake and its jobs. The run must fail.
    """
    run = project.start(TRIALS)
    job = wait_for(lambda: script_of(run))
    time.sleep(pause)
    # A negative number stands for a group of processes.
    pids = {"job": job.pid, "snakemake": run.pid, "snakemake and its jobs": -run.pid}
    with contextlib.suppress(ProcessLookupError):
        os.kill(pids[stopped], signal.Signals[signal_name])
    assert run.wait(120) != 0
    return job


def make_after_interruption(project):
    """Make `TRIALS`, if need be after --unlock, as docs/running.md says: whether this was needed."""
    again = project.snakemake(TRIALS)
    locked = again.returncode != 0
    if locked:
        assert "--unlock" in again.stdout
        project.make(TRIALS, options=["--unlock"])
        project.make(TRIALS)
    return locked


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
def test_an_interrupted_run_and_the_same_command_make_the_same_bytes(
    undisturbed, finished_copy, stopped, signal_name, pause
):
    """As the ``undisturbed`` run, even if the job outlives the first run. Nothing is left to do.

    ``stopped`` gets the signal, ``pause`` seconds after the job has started. Only if Snakemake itself was
    killed, the second run may ask for --unlock.
    """
    finished_copy.wipe()
    job = interrupt(finished_copy, stopped=stopped, signal_name=signal_name, pause=pause)
    if stopped == "job":
        assert "died with <Signals.SIGKILL: 9>" in (finished_copy.folder / "printed").read_text()
    locked = make_after_interruption(finished_copy)
    assert not locked or (stopped != "job" and signal_name == "SIGKILL")
    with contextlib.suppress(psutil.Error):
        job.wait(60)  # seconds, for a job that has outlived its run

    made = finished_copy.results()
    assert made.keys() == {HISTOGRAM, TRIALS}
    assert names_that_differ(made, undisturbed.results()) == []
    assert finished_copy.planned(TRIALS) == {}


# Faults ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def mounted(folder, *options):
    """Inside a ``with``, mount a file system at the folder, as the ``options`` of mount say.

    The test is skipped where that is not allowed, or where mount does not know these options.
    """
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *options, folder], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no mount allowed here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_full_disk_leaves_no_part_of_a_figure_and_a_larger_one_all_results(
    undisturbed, finished_copy
):
    """A run on the full disk ends with one line of error, which `refusal` returns."""
    results = finished_copy.folder / "results"
    shutil.rmtree(results)
    # 64 KB: room for the trials but not for the figure.
    with mounted(results, "-t", "tmpfs", "-o", "size=64k", "none"):
        line = refusal(finished_copy.snakemake(TRIALS, FIGURE))
        figure = "results/overlay/figures/fig1_delta_surface."
        assert line.startswith(f"error: draw_delta_surface: {figure}")
        assert line.endswith("the disk is full: make room and run again")
        assert not [name for name in finished_copy.results() if "/figures/" in name]

        subprocess.run(["mount", "-o", "remount,size=10m", results], check=True)
        finished_copy.make(TRIALS, FIGURE)
        assert finished_copy.results() == undisturbed.results()


def test_a_run_in_a_read_only_folder_ends_with_the_path_that_it_cannot_write(finished_copy):
    folder = finished_copy.folder
    # The folder is mounted on itself, and this mount is made read-only.
    with mounted(folder, "--bind", folder):
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
        done = finished_copy.snakemake(TRIALS, options=["--dry-run"])
    assert done.returncode != 0
    last_line = done.stdout.rstrip().splitlines()[-1]
    assert last_line.startswith(f"OSError: [Errno 30] Read-only file system: '{folder}/.snakemake")


def test_a_second_run_at_the_same_time_is_refused_and_the_first_goes_on(undisturbed, finished_copy):
    finished_copy.wipe()
    first = finished_copy.start(TRIALS, FIGURE)
    job = wait_for(lambda: script_of(first))
    job.suspend()
    second = finished_copy.snakemake(TRIALS)
    job.resume()
    assert second.returncode != 0
    assert "Directory cannot be locked" in second.stdout
    assert first.wait(120) == 0
    assert finished_copy.results() == undisturbed.results()


def test_a_negative_count_is_refused_by_every_run_until_it_is_corrected(undisturbed, finished_copy):
    """With one line, which `refusal` returns. A second run does not take the old trials for finished."""
    with edited(finished_copy.folder / "mine.csv", "cell,count\n1,400\n2,-150\n"):
        for _ in range(2):
            line = refusal(finished_copy.snakemake(TRIALS, FIGURE))
            expected = "mine.csv: row 3: count must be a whole number >= 0; got '-150'"
            assert line == f"error: use_counts: {expected}"
            assert not (finished_copy.folder / HISTOGRAM).exists()
    finished_copy.make(TRIALS, FIGURE)
    assert finished_copy.results() == undisturbed.results()


def test_data_dated_an_hour_ahead_of_the_clock_are_refused(finished_copy):
    finished_copy.wipe()
    in_an_hour = time.time() + 3600
    os.utime(finished_copy.folder / "mine.csv", (in_an_hour, in_an_hour))
    assert "mine.csv" in refusal(finished_copy.snakemake(TRIALS), word="clock skew")


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        # A key that does not exist, and one that occurs twice, which most readers of YAML accept.
        ("gowalla: {sourc: snap}", "config: gowalla has no key 'sourc'; did you mean 'source'?"),
        ("seed: 1\nseed: 2", "bad.yaml, line 2: not valid YAML: the key 'seed' occurs twice"),
    ],
)
def test_a_bad_file_of_settings_is_refused_with_one_line(finished_copy, settings, error):
    (finished_copy.folder / "bad.yaml").write_text(settings)
    finished_copy.arguments = ["--configfile", "bad.yaml", "--dry-run"]
    assert refusal(finished_copy.snakemake(), word=error).startswith(error)


def test_a_command_in_a_file_of_settings_is_not_run(undisturbed, finished_copy):
    """Some readers of YAML would run it. Here it would make a file mark."""
    bad = "seed: !!python/object/apply:os.system ['touch mark']\n"
    (finished_copy.folder / "bad.yaml").write_text(bad)
    finished_copy.arguments = ["--configfile", "bad.yaml"]
    assert finished_copy.snakemake().returncode != 0
    assert not (finished_copy.folder / "mark").exists()
    assert finished_copy.results() == undisturbed.results()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_data_that_are_no_file_are_refused_and_not_read_for_ever(finished_copy, make):
    counts = finished_copy.folder / "mine.csv"
    counts.unlink()
    make(counts)
    line = refusal(finished_copy.snakemake(TRIALS, options=["--dry-run"]), word="regular")
    assert line == "mine.csv: not a regular file"


def test_another_file_in_the_place_of_the_download_is_refused(finished_copy):
    """Its MD5 sum is wrong. Snakemake downloads nothing, as it takes a file in this place for SNAP's."""
    download = finished_copy.folder / "data/raw/loc-gowalla_totalCheckins.txt.gz"
    download.parent.mkdir()
    download.write_text("7\t2010\t48.85\t2.33\t15\n")  # one line of check-ins
    target = f"{RESULTS}/data/checkins/paris_cropped.parquet"
    from_snap = ["--config", "gowalla={source: snap}"]
    line = refusal(finished_copy.snakemake(target, options=from_snap))
    name = "data/raw/loc-gowalla_totalCheckins.txt.gz"
    assert line.startswith(f"error: crop_checkins: {name}: its MD5 sum is ")
    assert not (finished_copy.folder / target).exists()


def test_code_that_is_edited_during_a_run_leaves_no_result(undisturbed, finished_copy):
    """`METRICS`, code of the job run_trials, is edited during the job before it, and put back after the run.

    The run fails with a line that names the file. The same command then makes the ``undisturbed`` results.
    """
    finished_copy.wipe()
    metrics = finished_copy.folder / METRICS
    run = finished_copy.start(TRIALS, FIGURE)
    wait_for(lambda: script_of(run))  # the process of the first job
    with edited(metrics, metrics.read_text().replace("/ 2", "/ 4")):
        assert run.wait(120) != 0
    printed = (finished_copy.folder / "printed").read_text()
    again = "was edited while the run was on: run the same command again"
    errors = re.findall("^error: .*", printed, re.MULTILINE)
    assert errors == [f"error: run_trials: {METRICS} {again}"]
    finished_copy.make(TRIALS, FIGURE)
    assert finished_copy.results() == undisturbed.results()


@pytest.fixture
def changed_by_hand(undisturbed, finished_copy):
    """A finished project whose `HISTOGRAM` was changed by hand, and whose `TRIALS` a run has made from it."""
    histogram = finished_copy.folder / HISTOGRAM
    histogram.write_text(histogram.read_text().replace("400", "401"))
    finished_copy.make(TRIALS, FIGURE)
    changed = names_that_differ(finished_copy.results(), undisturbed.results())
    assert {HISTOGRAM, TRIALS} <= set(changed)
    return finished_copy


def verify(project):
    """Run what `make verify` runs: the completed process."""
    summary = project.make(options=["--summary", "--quiet", "all"])
    command = [sys.executable, "-m", "scripts.shared.verify", RESULTS]
    return subprocess.run(
        command, cwd=project.folder, input=summary, capture_output=True, text=True
    )


def test_verify_names_a_result_that_was_changed_by_hand(changed_by_hand):
    """And the result that a job has made from it."""
    done = verify(changed_by_hand)
    assert done.returncode != 0
    assert done.stdout.splitlines() == [
        "Changed since their jobs wrote them:",
        HISTOGRAM,
        "Made from other code or data than are here now:",
        f"{TRIALS} ({HISTOGRAM})",
    ]


def test_verify_names_a_result_of_an_edit_that_was_put_back_with_its_old_date(
    undisturbed, changed_by_hand
):
    """Snakemake has nothing to do then. Without the named result, it makes the right one."""
    before = undisturbed.folder / HISTOGRAM
    shutil.copyfile(before, changed_by_hand.folder / HISTOGRAM)
    os.utime(changed_by_hand.folder / HISTOGRAM, IN_1970)
    assert changed_by_hand.planned(TRIALS, FIGURE) == {}
    named = ["Made from other code or data than are here now:", f"{TRIALS} ({HISTOGRAM})"]
    assert verify(changed_by_hand).stdout.splitlines() == named
    (changed_by_hand.folder / TRIALS).unlink()
    changed_by_hand.make(TRIALS, FIGURE)
    assert changed_by_hand.results() == undisturbed.results()


def test_verify_names_a_removed_result_until_it_is_made_again(changed_by_hand):
    """Also if the user makes only a part that does not need it."""
    (changed_by_hand.folder / HISTOGRAM).unlink()
    changed_by_hand.make(FIGURE)
    done = verify(changed_by_hand)
    assert done.returncode != 0
    assert done.stdout.splitlines()[-2:] == ["Missing:", HISTOGRAM]


def test_the_results_are_right_again_once_the_changed_one_is_removed(undisturbed, changed_by_hand):
    (changed_by_hand.folder / HISTOGRAM).unlink()
    changed_by_hand.make(TRIALS, FIGURE, HISTOGRAM)  # all results, as `make` does
    assert changed_by_hand.results() == undisturbed.results()
    assert verify(changed_by_hand).returncode == 0


def test_the_check_of_a_cluster_touches_no_result(undisturbed, finished_copy):
    finished_copy.make("check_cluster", options=["--forcerun", "check_cluster"])
    assert finished_copy.results() == undisturbed.results()


# What reruns -----------------------------------------------------------------------------------------

IN_1970 = (86_400, 86_400)  # a file's dates of access and of change, in seconds since 1970


def set_dates(folder, dates):
    """Give every file and folder inside these dates."""
    for path in folder.rglob("*"):
        os.utime(path, dates)


def test_new_dates_rerun_nothing(finished_copy):
    """Even where a result, here the trials, is older than its input."""
    set_dates(finished_copy.folder, (time.time(), time.time()))
    set_dates(finished_copy.folder / RESULTS / "trials", IN_1970)
    assert finished_copy.planned(TRIALS, FIGURE) == {}


@pytest.fixture
def edited_metrics(finished_copy):
    """A finished project in which `METRICS`, code of the job run_trials, is edited, with a date of 1970.

    Python had compiled it before, when it had the same date and the same size.
    """
    metrics = finished_copy.folder / METRICS
    os.utime(metrics, IN_1970)
    py_compile.compile(metrics, invalidation_mode=py_compile.PycInvalidationMode.TIMESTAMP)
    metrics.write_text(metrics.read_text().replace("/ 2", "/ 4"))
    os.utime(metrics, IN_1970)
    return finished_copy


def test_an_edit_of_code_reruns_the_job_that_uses_it_whatever_its_date(undisturbed, edited_metrics):
    """With the edited code, not that of a checkout which the environment may have: the trials change."""
    assert jobs_by_rule(edited_metrics.make(TRIALS, FIGURE)) == {"run_trials": 1}
    assert names_that_differ(edited_metrics.results(), undisturbed.results()) == [TRIALS]


def test_the_plan_names_the_edited_file_as_the_reason(edited_metrics):
    """The plan is what -n prints, as docs/running.md says."""
    plan = edited_metrics.make(TRIALS, FIGURE, options=["-n"])
    [reason] = [line for line in plan.splitlines() if "before:" in line]
    assert set(re.findall(r"\b(?:scripts|tightshuffle)/[\w/.]+", reason)) == {METRICS}


def test_an_edit_of_data_reruns_the_jobs_that_use_them_whatever_its_date(finished_copy):
    counts = finished_copy.folder / "mine.csv"
    counts.write_text("cell,count\n1,400\n2,150\n3,50\n4,0\n")
    os.utime(counts, IN_1970)
    assert jobs_by_rule(finished_copy.make(TRIALS, FIGURE)) == {"use_counts": 1, "run_trials": 1}


STUDY = """
study:
  {{n: [{n}], k: [{k}], eps: [1], delta: [1.0e-6], delta_exponents: [{delta_exponent}]}}
"""


def test_a_setting_that_takes_a_neighbours_value_reruns_and_two_that_swap_theirs(finished_copy):
    """First delta_exponents, with the value of k, takes that of eps; last, n and k swap."""
    for n, k, delta_exponent in ((1000, 2, 2), (1000, 2, 1), (1000, 100, 1), (100, 1000, 1)):
        study = STUDY.format(n=n, k=k, delta_exponent=delta_exponent)
        (finished_copy.folder / "overlay.yaml").write_text(OVERLAY + study)
        printed = finished_copy.make(f"{RESULTS}/study/grr.parquet")
        assert jobs_by_rule(printed) == {"compute_study": 1}


def test_another_spelling_of_a_setting_reruns_nothing(finished_copy):
    """2.0 for 2, and keys in another order."""
    overlay = finished_copy.folder / "overlay.yaml"
    text = overlay.read_text()
    assert "{eps0: 2, eps: 1}" in text
    overlay.write_text(text.replace("{eps0: 2, eps: 1}", "{eps: 1.0, eps0: 2.0}"))
    assert finished_copy.planned(TRIALS, FIGURE) == {}


SMALL = """
datasets:
  san_francisco: null
  paris: null
  synthetic:
    population: 2000
    tv: {budgets: [{eps0: 2, eps: 2}, {eps0: 4, eps: 4}], n: [100, 200], repetitions: 2}
    individual: {n: [100, 200], cells: [7, 9], repetitions: 2}
    delta_hat: {eps0: [2, 4], n: [100, 200], steps: 2, repetitions: 2}
constants: {floors: [1.0e-8, 1.0e-10], repetitions: 10}
study:
  n: [100, 1000]
  k: [2, 4]
  eps: [0.5, 1]
  delta: [1.0e-6, 1.0e-4]
audit:
  eps: [0.5]  # only one: two in reverse order would already rerun the table
  settings:
    - {n: 20, k: 5, eps0: 1, count: 10, runs: 1000}
    - {n: 10, k: 5, eps0: 1, count: 5, runs: 1000}
"""
# Results from several files or settings, which come in their order.
WITH_ORDER = [
    f"results/small/{name}"
    for name in (
        "attack/audit.csv",
        "figures/audit.png",
        "figures/constants.png",
        "figures/delta_hat.png",
        "figures/fig2_tv_synthetic.png",
        "study/study.csv",
        "trials/constants.csv",
    )
]


def reversed_lists(part):
    """A part of a configuration in which every list is in reverse order."""
    if isinstance(part, dict):
        return {key: reversed_lists(value) for key, value in part.items()}
    return part[::-1] if isinstance(part, list) else part


def test_lists_in_another_order_give_the_results_of_a_fresh_run(tmp_path):
    """Rows and panels come in the order of the settings, and Snakemake does not compare that of inputs."""
    run, fresh = (
        copy_of_project(tmp_path / name, arguments=["--configfile", "small.yaml"])
        for name in ("run", "fresh")
    )
    settings = yaml.safe_load(SMALL)
    (run.folder / "small.yaml").write_text(yaml.safe_dump(settings))
    run.make(*WITH_ORDER)
    before = run.results()

    for project in (run, fresh):
        (project.folder / "small.yaml").write_text(yaml.safe_dump(reversed_lists(settings)))
        project.make(*WITH_ORDER)
    assert names_that_differ(run.results(), fresh.results()) == []
    assert "results/small/attack/audit.csv" in names_that_differ(run.results(), before)


# Elsewhere -------------------------------------------------------------------------------------------

TABLE = "results/delta/delta_surface.csv"


def test_workflow_makes_the_same_in_another_folder_and_as_a_module(tmp_path):
    """Of this checkout: with Snakemake's options -s and -d, and from a Snakefile that takes all its rules."""
    other = Project(tmp_path / "other", arguments=["-s", f"{ROOT}/Snakefile", "-d", "."])
    module = Project(tmp_path / "module", arguments=["--cores", "1"])
    for project in (other, module):
        project.folder.mkdir()
    (module.folder / "Snakefile").write_text(
        f'module tightshuffle:\n    snakefile: "{ROOT}/workflow/Snakefile"\n\n'
        "use rule * from tightshuffle as ts_*\n\n"
        f'rule mine:\n    default_target: True\n    input: "{TABLE}"\n'
    )
    other.make(TABLE)
    module.make()
    assert (other.folder / TABLE).read_bytes() == (module.folder / TABLE).read_bytes()
    assert "Nothing to be done" in other.make(TABLE)
    assert "Nothing to be done" in module.make()


def git(folder, *words):
    """Run git in the folder: what it prints."""
    return subprocess.run(
        ["git", "-C", folder, *words], check=True, capture_output=True, text=True
    ).stdout


def put_into_cache_of_snakemake(folder, repository):
    """Put this project into a folder that is XDG_CACHE_HOME, as a clone of the repository on GitHub.

    Returns its commit. Snakemake looks there first, so no network is needed.
    """
    project = copy_of_project(folder.with_name("project")).folder
    git(project, "init", "--quiet")
    git(project, "add", "--all")
    author = ["-c", "user.name=me", "-c", "user.email=me@here"]
    git(project, *author, "commit", "--quiet", "--message", "all")
    clone = folder / "snakemake/snakemake/source-cache/snakemake-git-cache/github.com" / repository
    git(project, "clone", "--quiet", "--bare", ".", clone)
    return git(project, "rev-parse", "HEAD").strip()


def test_a_snakefile_takes_the_workflow_from_github_as_a_module(tmp_path):
    """As Snakemake's catalog of workflows says."""
    cache = tmp_path / "cache"
    commit = put_into_cache_of_snakemake(cache, "me/tight-shuffle")
    mine = Project(
        tmp_path / "mine", arguments=["--cores", "1"], environment={"XDG_CACHE_HOME": str(cache)}
    )
    mine.folder.mkdir()
    (mine.folder / "Snakefile").write_text(
        "module tightshuffle:\n"
        f'    snakefile: github("me/tight-shuffle", path="workflow/Snakefile", commit="{commit}")\n\n'
        "use rule * from tightshuffle\n"
    )
    mine.make(TABLE)
    assert (mine.folder / TABLE).stat().st_size > 1000  # bytes: the table is not empty
