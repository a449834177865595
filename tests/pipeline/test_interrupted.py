"""kill -9 of jobs, of Snakemake and of both at random moments: the same bytes come out in the end."""

import concurrent.futures
import os
import random
import signal
import time

import psutil
import pytest

from tests.conftest import Small

pytestmark = [pytest.mark.pipeline, pytest.mark.slow]

# Short jobs of five rules; some need others, some have several outputs.
TARGETS = [
    "results/overlay/checkins/totals.csv",
    "results/overlay/histograms/paris.csv",
    "results/overlay/histograms/san_francisco.csv",
    "results/overlay/histograms/mine.csv",
    "results/overlay/privacy/delta_surface.csv",
]
WHAT = ("job", "snakemake", "group")
KILLS = 6  # in each of two projects, one per core
IN_A_ROW = 5  # kills before a run is left in peace


def start(made):
    return made.start(*made.command(*TARGETS))


def printed(made):
    return (made.folder / "printed").read_text()


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
            assert run.wait() == 0, printed(made)
            made.wipe()
            continue
        kill(run, what, job)
        assert run.wait() != 0, printed(made)
        killed.append(what)
        if len(killed) % IN_A_ROW == 0:
            run = start(made)
            sessions.append(run.pid)
            assert run.wait() == 0, printed(made)
            wait_for_orphans(sessions)
            assert made.results() == undisturbed, printed(made)
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
    calm = Small(tmp_path / "calm")
    assert calm.run(targets=TARGETS).returncode == 0
    undisturbed = calm.results()
    assert {f"results/overlay/{name}" for name in undisturbed} >= set(TARGETS)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        projects = [Small(tmp_path / f"killed {seed}") for seed in (1, 2)]
        ends = [pool.submit(suffer, made, seed, undisturbed) for seed, made in enumerate(projects)]
        killed = [what for end in ends for what in end.result()]
    assert len(killed) == 2 * KILLS
    assert set(killed) == set(WHAT)
