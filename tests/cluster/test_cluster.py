"""The pipeline on a real Slurm of three nodes that see files late: same bytes, retried, killed, interrupted.

The profile for PBS uses the PBS commands that Debian puts on top of Slurm.
"""

import os
import re
import signal

import pytest

from tests.cluster.conftest import SOME, TWO, Cluster, both_profiles, same_bytes

pytestmark = [pytest.mark.pipeline, pytest.mark.slow]

LONG = [
    "results/quick/privacy/koskela_fig1a.csv",
    "results/quick/parity_plan.csv",
]  # some seconds of work each


def test_jobs_here_and_on_the_cluster_give_the_same_bytes(local, fresh, slurm):
    cluster = Cluster(fresh, slurm)
    done = cluster.run(*SOME)
    assert done.returncode == 0, done.stdout
    assert same_bytes(local, fresh) == local.results().keys()
    jobs = cluster.jobs()
    assert {job["JobState"] for job in jobs} == {"COMPLETED"}
    assert len(jobs) == 5  # a file of trials, two audits, two files of TWO
    assert len({job["NodeList"] for job in jobs}) == 3
    assert "Nothing to be done" in cluster.run(*SOME).stdout
    assert cluster.locks() == []


@both_profiles
def test_a_job_that_exceeds_its_memory_is_sent_again_with_more(local, cluster):
    """A quarter of the memory, so that the first attempt is too small and the second large enough."""
    for profile in (cluster.project.folder / "profiles").glob("*/config.yaml"):
        profile.write_text(profile.read_text().replace("mem_mb: 1200", "mem_mb: 300"))
    done = cluster.run(TWO[0])
    assert done.returncode == 0, done.stdout
    states = [(job["JobState"], job["MinMemoryNode"]) for job in cluster.jobs()]
    asked = [int(memory.removesuffix("M")) for _, memory in states]
    assert asked == [asked[0] * 2**attempt for attempt in range(len(asked))]
    assert len(states) in (2, 3)
    for job in cluster.jobs()[:-1]:
        killed = (cluster.slurm.folder / f"{job['NodeList']}.log").read_text()
        assert re.search(rf"StepId={job['JobId']}\.\w+ exceeded memory limit", killed)
    assert [state == "COMPLETED" for state, _ in states] == [False] * (len(states) - 1) + [True]
    assert same_bytes(local, cluster.project) == {"privacy/gaussian_scale.csv"}


def test_a_killed_controller(local, cluster):
    """kill -9 while the second of two jobs runs, the README's clean-up, and a rerun: one job, same bytes."""
    files = [cluster.project.folder / name for name in TWO]
    process = cluster.start(*TWO, "--jobs", "1")
    cluster.until(lambda: cluster.states() == ["COMPLETED", "RUNNING"])
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    (first,) = [path for path in files if path.exists()]
    written = first.stat().st_mtime_ns
    assert cluster.slurm.queue(), "the job outlives the controller"
    assert cluster.locks()

    cluster.slurm.run("scancel", "--name", re.search(r"SLURM run ID: (\S+)", cluster.printed())[1])
    assert cluster.run("--unlock").returncode == 0
    cluster.until(lambda: not cluster.slurm.queue())
    before = len(cluster.jobs())
    done = cluster.run(*TWO)
    assert done.returncode == 0, done.stdout
    assert len(cluster.jobs()) == before + 1
    assert first.stat().st_mtime_ns == written
    assert len(same_bytes(local, cluster.project)) == 2
    assert "Nothing to be done" in cluster.run(*TWO).stdout


def test_an_interrupt_leaves_no_job_and_no_lock(cluster):
    process = cluster.start(*LONG)
    cluster.until(lambda: cluster.states() == ["RUNNING", "RUNNING"])
    os.killpg(process.pid, signal.SIGINT)
    assert cluster.until(lambda: process.poll() is not None)
    assert process.returncode != 0
    cluster.until(lambda: not cluster.slurm.queue())
    assert set(cluster.states()) == {"CANCELLED"}
    assert cluster.locks() == []
    assert cluster.run(*LONG, "--dry-run").returncode == 0
