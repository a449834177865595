"""kill -9 of jobs, of Snakemake and of both at random moments: the same bytes come out in the end."""

import concurrent.futures
import os
import random
import signal
import time

import psutil
import pytest

pytestmark = [pytest.mark.pipeline, pytest.mark.slow]

WHAT = ("job", "snakemake", "group")
KILLS = len(WHAT)  # in a row, in each of two projects, one per core; then a run is left in peace


def start(made):
    return made.start(*made.command())


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
    number, pause = chance.randrange(2), chance.uniform(0, 1.2)
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
    """Kill runs in the middle; then a run must end well, with the undisturbed bytes. What was killed."""
    chance = random.Random(seed)
    killed, sessions = [], []
    made.wipe()
    while len(killed) < KILLS:
        run = start(made)
        sessions.append(run.pid)
        job = in_the_middle(run, chance)
        what = WHAT[(seed + len(killed)) % len(WHAT)]
        if job is None or not psutil.pid_exists(job):  # too late for this one
            assert run.wait() == 0, printed(made)
            made.wipe()
            continue
        kill(run, what, job)
        assert run.wait() != 0, printed(made)
        killed.append(what)
    run = start(made)
    sessions.append(run.pid)
    assert run.wait() == 0, printed(made)
    wait_for_orphans(sessions)
    assert made.results() == undisturbed, printed(made)
    return killed


def wait_for_orphans(sessions):
    for process in psutil.process_iter(["pid"]):
        try:
            if os.getsid(process.pid) in sessions:
                process.wait(60)
        except (psutil.Error, ProcessLookupError):
            continue


def test_killed_at_random_moments(calm, tmp_path):
    """Jobs of four rules; some need others, one has several outputs."""
    undisturbed = calm.results()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        projects = [calm.copy(tmp_path / f"killed {seed}") for seed in (1, 2)]
        ends = [pool.submit(suffer, made, seed, undisturbed) for seed, made in enumerate(projects)]
        killed = [what for end in ends for what in end.result()]
    assert len(killed) == 2 * KILLS
    assert set(killed) == set(WHAT)


def test_a_job_of_a_killed_run_that_wakes_up_late(calm, tmp_path):
    """It had not said yet that it is at work, so the next run, with other settings, did not wait for it."""
    made = calm.copy(tmp_path / "late")
    script, overlay = made.folder / "scripts/run_trials.py", made.folder / "overlay.yaml"
    hold = 'while "HOLD" in os.environ and not os.path.exists("go"):\n    time.sleep(0.1)\n'
    script.write_text(f"import os, time\n\n{hold}{script.read_text()}")
    run = made.start(*made.command(made.TRIALS), environment={"HOLD": "1"})
    while not jobs_of(run):
        assert run.poll() is None, printed(made)
        time.sleep(0.02)
    kill(run, "snakemake", None)
    run.wait()
    overlay.write_text(overlay.read_text().replace("repetitions: 4", "repetitions: 9"))
    assert made.run(targets=[made.TRIALS]).returncode == 0
    renewed = made.results()
    assert renewed != calm.results()
    (made.folder / "go").touch()
    wait_for_orphans([run.pid])
    assert made.results() == renewed
