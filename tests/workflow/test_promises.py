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
from tests.workflow.conftest import Project, counted, until

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
MADE = "results/overlay"
HISTOGRAM, TRIALS = f"{MADE}/data/histograms/mine.csv", f"{MADE}/trials/mine_eps0-2_eps-1.parquet"
FIGURE = f"{MADE}/figures/fig1_delta_surface.png"
COMMAND = ("--configfile", "overlay.yaml", "--cores", "1", "--", TRIALS, FIGURE)
WITHOUT_FIGURE = COMMAND[:-1]


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """A project with your own histogram, in which two short targets have been made undisturbed."""
    project = Project(tmp_path_factory.mktemp("calm") / "project", config=[], results=MADE)
    (project.folder / "mine.csv").write_text("cell,count\n1,400\n2,150\n3,0\n4,50\n")
    (project.folder / "overlay.yaml").write_text(OVERLAY)
    project.make(*COMMAND)
    return project


@pytest.fixture
def small(calm, tmp_path):
    """A copy of it with the dates of the copying, as cp -r makes it; its path holds a space."""
    shutil.copytree(calm.folder, tmp_path / "anders wo", copy_function=shutil.copyfile)
    return Project(tmp_path / "anders wo", config=[], results=MADE, copied=True)


def refusal(done, word="error: "):
    """The only line with this word of a run that fails without a traceback: by default, the job's own."""
    assert done.returncode != 0
    assert "Traceback" not in done.stdout
    lines = [line for line in done.stdout.splitlines() if word in line]
    assert len(lines) == 1, done.stdout
    return lines[0]


def script_of(run):
    """The process of the script that the run has started and that is still at work."""
    for child in psutil.Process(run.pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if ".snakemake/scripts" in " ".join(child.cmdline()):
                return child
    return None


# Interruptions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "pause"),  # seconds: as the job starts, or soon after; it ends within one
    [("job", 0), ("job", 0.2), ("snakemake", 0), ("group", 0.3), ("SIGINT", 0.3), ("SIGTERM", 0)],
)
def test_an_interrupted_run_and_the_same_command_give_the_same_bytes(calm, small, what, pause):
    """At most after --unlock, as docs/running.md says; a job that outlives its run changes nothing."""
    small.wipe()
    run = small.start(*WITHOUT_FIGURE)
    job = until(lambda: script_of(run))
    time.sleep(pause)
    with contextlib.suppress(ProcessLookupError):
        if what == "job":
            job.kill()
        elif what == "group":
            os.killpg(run.pid, signal.SIGKILL)
        else:
            os.kill(run.pid, signal.SIGKILL if what == "snakemake" else getattr(signal, what))
    assert run.wait(120) != 0
    if what == "job":
        assert "died with <Signals.SIGKILL: 9>" in (small.folder / "printed").read_text()
    again = small.snakemake(*WITHOUT_FIGURE)
    if again.returncode:
        assert what in ("snakemake", "group")
        assert "--unlock" in again.stdout
        small.make("--unlock", *WITHOUT_FIGURE)
        again = small.snakemake(*WITHOUT_FIGURE)
    assert again.returncode == 0, again.stdout
    with contextlib.suppress(psutil.Error):
        job.wait(60)
    made, calmly_made = small.results(), calm.results()
    assert made.keys() == {path.removeprefix(f"{MADE}/") for path in (HISTOGRAM, TRIALS)}
    assert [name for name in made if made[name] != calmly_made[name]] == []
    assert counted(small.make("--dry-run", *WITHOUT_FIGURE)) == {}


# Faults ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def mounted(folder, *options):
    """Something mounted at the folder; skips the test where that is not allowed."""
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


def test_a_full_disk(calm, small):
    results = small.folder / "results"
    shutil.rmtree(results)
    with mounted(results, "-t", "tmpfs", "-o", "size=64k", "none"):
        line = refusal(small.snakemake(*COMMAND))
        assert line.startswith(
            "error: draw_delta_surface: results/overlay/figures/fig1_delta_surface."
        )
        assert line.endswith("the disk is full: make room and run again")
        assert not [name for name in small.results() if name.startswith("figures/")]
        subprocess.run(["mount", "-o", "remount,size=10m", results], check=True)
        small.make(*COMMAND)
        assert small.results() == calm.results()


def test_a_read_only_folder(small):
    with mounted(small.folder, "--bind", small.folder):
        subprocess.run(["mount", "-o", "remount,bind,ro", small.folder], check=True)
        done = small.snakemake("--dry-run", *COMMAND)
    assert done.returncode != 0
    last = done.stdout.rstrip().splitlines()[-1]
    assert last.startswith(f"OSError: [Errno 30] Read-only file system: '{small.folder}/.snakemake")


def test_bad_input_and_a_bad_configuration_are_one_line(calm, small):
    (small.folder / "mine.csv").write_text("cell,count\n1,400\n2,-150\n")
    line = refusal(small.snakemake(*COMMAND))
    assert (
        line == "error: use_counts: mine.csv: row 3: count must be a whole number >= 0; got '-150'"
    )
    assert not (small.folder / HISTOGRAM).exists()
    assert refusal(small.snakemake(*COMMAND)) == line, "the old trials are not taken for finished"
    shutil.copyfile(calm.folder / "mine.csv", small.folder / "mine.csv")
    os.utime(small.folder / "mine.csv", (time.time() + 3600,) * 2)
    assert "mine.csv" in refusal(small.snakemake(*COMMAND), "clock skew")
    (small.folder / "bad.yaml").write_text("gowalla: {sourc: snap}\n")
    line = refusal(small.snakemake("--configfile", "bad.yaml", "--dry-run"), "sourc'")
    assert "did you mean 'source'?" in line
    (small.folder / "bad.yaml").write_text("seed: 1\nseed: 2\n")
    line = refusal(small.snakemake("--configfile", "bad.yaml", "--dry-run"), "twice")
    assert line == "bad.yaml, line 2: not valid YAML: the key 'seed' occurs twice"
    (small.folder / "bad.yaml").write_text("seed: !!python/object/apply:os.system ['touch mark']\n")
    done = small.snakemake("--configfile", "bad.yaml")
    assert done.returncode != 0
    assert not (small.folder / "mark").exists()
    shutil.copy(calm.folder / "mine.csv", small.folder)
    small.make(*COMMAND)
    assert small.results() == calm.results()


def test_data_that_are_no_file_are_refused_and_not_read_for_ever(small):
    for make in (os.mkfifo, os.mkdir):
        (small.folder / "mine.csv").unlink()
        make(small.folder / "mine.csv")
        assert (
            refusal(small.snakemake("--dry-run", *COMMAND), "regular")
            == "mine.csv: not a regular file"
        )
        (small.folder / "mine.csv").rename(small.folder / make.__name__)
        (small.folder / "mine.csv").touch()


def test_another_file_in_the_place_of_the_download_is_refused(small):
    (small.folder / "data/raw").mkdir()
    (small.folder / "data/raw/loc-gowalla_totalCheckins.txt.gz").write_text(
        "7\t2010\t48.85\t2.33\t15\n"
    )
    target = f"{MADE}/data/checkins/paris_cropped.parquet"
    source = ("--config", "gowalla={source: snap}")
    line = refusal(small.snakemake("--configfile", "overlay.yaml", *source, "--", target))
    assert line.startswith(
        "error: crop_checkins: data/raw/loc-gowalla_totalCheckins.txt.gz: its MD5 sum is "
    )
    assert not (small.folder / target).exists()


def test_code_that_is_edited_during_a_run_and_put_back_leaves_no_result(calm, small):
    small.wipe()
    metrics = small.folder / "scripts/paper/trials/metrics.py"
    text = metrics.read_text()
    run = small.start(*COMMAND)
    until(lambda: script_of(run))  # of a job before the one that uses the edited file
    metrics.write_text(text.replace("/ 2", "/ 4"))
    assert run.wait(120) != 0
    (line,) = re.findall("^error: .*", (small.folder / "printed").read_text(), re.MULTILINE)
    again = "was edited while the run was on: run the same command again"
    assert line == f"error: run_trials: scripts/paper/trials/metrics.py {again}"
    metrics.write_text(text)
    small.make(*COMMAND)
    assert small.results() == calm.results()


def test_a_result_that_was_changed_by_hand_is_found_also_after_a_run_has_used_it(calm, small):
    """Once it is removed, a run that names every result, as `make` does, gives the same bytes as before."""
    histogram = small.folder / HISTOGRAM
    histogram.write_text(histogram.read_text().replace("400", "401"))
    small.make(*COMMAND)
    assert (
        small.results()[f"trials/{Path(TRIALS).name}"]
        != calm.results()[f"trials/{Path(TRIALS).name}"]
    )
    verify = [sys.executable, "-m", "scripts.shared.verify", MADE]
    done = subprocess.run(verify, cwd=small.folder, capture_output=True, text=True)
    assert done.returncode != 0
    assert done.stdout.splitlines() == ["Changed since their jobs wrote them:", HISTOGRAM]
    histogram.unlink()
    small.make(*COMMAND, HISTOGRAM)
    assert small.results() == calm.results()
    assert subprocess.run(verify, cwd=small.folder).returncode == 0


def test_the_check_of_a_cluster_touches_no_result(calm, small):
    small.make("--configfile", "overlay.yaml", "--forcerun", "check_cluster", "--", "check_cluster")
    assert small.results() == calm.results()


# What reruns -----------------------------------------------------------------------------------------


def date(folder, seconds):
    for path in folder.rglob("*"):
        os.utime(path, (seconds, seconds))


def test_dates_alone_rerun_nothing_and_edits_without_a_new_date_do(calm, small):
    """Contents decide. Another checkout's code, which the environment may have, is not run."""
    for name in ("data", "scripts", "tightshuffle", "workflow"):
        date(small.folder / name, time.time())
    for name, seconds in (("data", time.time()), ("trials", 86_400), ("delta", time.time())):
        date(small.folder / MADE / name, seconds)
    os.utime(small.folder / "mine.csv")
    assert counted(small.make("--dry-run", *COMMAND)) == {}
    metrics = small.folder / "scripts/paper/trials/metrics.py"
    text = metrics.read_text()
    metrics.write_text(f"# A comment.\n{text}")
    assert counted(small.make("--dry-run", *COMMAND)) == {}
    metrics.write_text(text.replace("/ 2", "/ 4"))
    assert metrics.read_text() != text
    os.utime(metrics, (86_400, 86_400))
    plan = small.make("-n", *COMMAND)  # as docs/running.md says
    (reason,) = [line for line in plan.splitlines() if "before:" in line]
    assert set(re.findall(r"\b(?:scripts|tightshuffle)/[\w/.]+", reason)) == {
        "scripts/paper/trials/metrics.py"
    }
    assert counted(small.make(*COMMAND)) == {"run_trials": 1}
    now, before = small.results(), calm.results()
    assert [name for name in now if now[name] != before[name]] == [TRIALS.removeprefix(f"{MADE}/")]
    metrics.write_text(text)
    (small.folder / "mine.csv").write_text("cell,count\n1,400\n2,150\n3,50\n4,0\n")
    os.utime(small.folder / "mine.csv", (86_400, 86_400))
    assert counted(small.make(*COMMAND)) == {"use_counts": 1, "run_trials": 1}


STUDY = """
study:
  {{n: [{0}], k: [{1}], eps: [1], delta: [1.0e-6], delta_exponents: [{2}]}}
"""


def test_a_setting_that_takes_a_neighbours_value_reruns_and_two_that_swap_theirs(small):
    """First delta_exponents, with the value of k, takes that of eps; last, n and k swap."""
    command = ("--configfile", "overlay.yaml", "--", f"{MADE}/study/grr.parquet")
    for values in ((1000, 2, 2), (1000, 2, 1), (1000, 100, 1), (100, 1000, 1)):
        (small.folder / "overlay.yaml").write_text(OVERLAY + STUDY.format(*values))
        assert counted(small.make(*command)) == {"compute_study": 1}


def test_elsewhere_and_as_a_module(tmp_path):
    """The folder of the run is another than the project's: -s and -d, and Snakemake's modules."""
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
        done = Project(folder, copied=True).snakemake(*arguments)
        assert done.returncode == 0, done.stdout
        assert "Nothing to be done" in Project(folder, copied=True).snakemake(*arguments).stdout
    assert (there / target).read_bytes() == (module / target).read_bytes()


def git(folder, *words):
    return subprocess.run(
        ["git", "-C", folder, *words], check=True, capture_output=True, text=True
    ).stdout


def test_from_a_git_host(tmp_path):
    """As Snakemake's catalog loads workflows. Its cache has the repository, so no network is asked."""
    project = Project(tmp_path / "project").folder
    git(project, "init", "--quiet")
    git(project, "add", "--all")
    git(
        project,
        "-c",
        "user.name=me",
        "-c",
        "user.email=me@here",
        "commit",
        "--quiet",
        "--message",
        "all",
    )
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
    done = Project(mine, copied=True).snakemake(
        "--cores", "1", "--", target, environment=environment
    )
    assert done.returncode == 0, done.stdout
    assert (mine / target).stat().st_size > 1000
