"""kill -9 of jobs, of Snakemake and of both at random moments: the same bytes come out in the end."""

import concurrent.futures
import os
import random
import signal
import subprocess
import sys
import time

import psutil
import pytest

from tests.conftest import Project

pytestmark = pytest.mark.pipeline

# Short jobs of five rules; some need others, some have several outputs.
TARGETS = [
    "results/overlay/checkins/totals.csv",
    "results/overlay/histograms/paris.csv",
    "results/overlay/histograms/san_francisco.csv",
    "results/overlay/histograms/mine.csv",
    "results/overlay/privacy/delta_surface.csv",
]
OVERLAY = """
datasets: {mine: {kind: counts, title: Mine, file: mine.csv}}
delta_surface: {eps: {steps: 5}, eps0: {steps: 5}}
"""
WHAT = ("job", "snakemake", "group")
KILLS = 10  # in each of two projects, one per core
IN_A_ROW = 5  # kills before a run is left in peace


def project(folder):
    made = Project(folder, made="results/overlay")
    (made.folder / "mine.csv").write_text("cell,count\n1,400\n2,150\n3,0\n4,50\n")
    (made.folder / "overlay.yaml").write_text(OVERLAY)
    return made


def start(made):
    return subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--configfile", "overlay.yaml", "--cores", "1", "--", *TARGETS],
        cwd=made.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": ""},
        start_new_session=True,
    )


def jobs_of(run):
    """The processes of the scripts that the run has started and that are still at work."""
    found = []
    try:
        for child in psutil.Process(run.pid).children(recursive=True):
            if ".snakemake/scripts" in " ".join(child.cmdline()):
                found.append(child.pid)
    except psutil.Error:
        pass
    return found


def in_the_middle(run, chance):
    """Wait for a random moment in the work of a random job; its process, or None if the run ended before."""
    number, pause = chance.randrange(3), chance.uniform(0, 1.2)
    seen = []
    while run.poll() is None:
        for pid in jobs_of(run):
            if pid not in seen:
                seen.append(pid)
        if len(seen) > number:
            time.sleep(pause)
            return seen[-1] if run.poll() is None else None
        time.sleep(0.02)
    return None


def kill(run, what, job):
    if what == "job":
        psutil.Process(job).kill()
    elif what == "snakemake":  # the job goes on by itself, beside the next run
        os.kill(run.pid, signal.SIGKILL)
    else:
        os.killpg(run.pid, signal.SIGKILL)


def suffer(made, seed, undisturbed):
    """Kill runs in the middle; after every few of them a run must end well, with the undisturbed bytes."""
    chance = random.Random(seed)
    killed, sessions = [], []
    while len(killed) < KILLS:
        run = start(made)
        sessions.append(run.pid)
        job = in_the_middle(run, chance)
        what = WHAT[len(killed) % len(WHAT)]
        if job is None or not psutil.pid_exists(job):  # too late for this one
            output = run.communicate()[0]
            assert run.returncode == 0, output
            made.wipe()
            continue
        kill(run, what, job)
        output = run.stdout.read() if what != "snakemake" else ""
        assert run.wait() != 0, output
        killed.append(what)
        if len(killed) % IN_A_ROW == 0:
            run = start(made)
            sessions.append(run.pid)
            output = run.communicate()[0]
            assert run.returncode == 0, output
            wait_for_orphans(sessions)
            assert made.results() == undisturbed, output
            made.wipe()
    return killed


def wait_for_orphans(sessions):
    for process in psutil.process_iter(["pid"]):
        try:
            if os.getsid(process.pid) in sessions:
                process.wait(60)
        except (psutil.Error, ProcessLookupError):
            continue


def test_killed_at_random_moments(tmp_path):
    calm = project(tmp_path / "calm")
    run = start(calm)
    output = run.communicate()[0]
    assert run.returncode == 0, output
    undisturbed = calm.results()
    assert {f"results/overlay/{name}" for name in undisturbed} >= set(TARGETS)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        projects = [project(tmp_path / f"killed {seed}") for seed in (1, 2)]
        ends = [pool.submit(suffer, made, seed, undisturbed) for seed, made in enumerate(projects)]
        killed = [what for end in ends for what in end.result()]
    assert len(killed) == 2 * KILLS
    assert set(killed) == set(WHAT)
