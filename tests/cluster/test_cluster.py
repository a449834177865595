"""The pipeline on a real Slurm of three nodes that see files late: same bytes, retried, killed, interrupted.

The profile for PBS uses the PBS commands that Debian puts on top of Slurm.
"""

import importlib.util
import os
import re
import signal
import time

import pytest

from tests.cluster.private_slurm import LOGIN, PrivateSlurm, missing
from tests.conftest import QUICK, Project

PLUGINS = ["slurm", "cluster_generic"]
lacking = missing()
if not all(importlib.util.find_spec(f"snakemake_executor_plugin_{name}") for name in PLUGINS):
    lacking = "the executor plugins are not installed: make cluster"
pytestmark = [
    pytest.mark.pipeline,
    pytest.mark.slow,
    pytest.mark.skipif(bool(lacking), reason=f"no test on a real cluster: {lacking}"),
]
TWO = ["results/quick/privacy/gaussian_scale.csv", "results/quick/privacy/delta_surface.csv"]
SOME = [  # and jobs here before and after jobs on the cluster
    *TWO,
    "results/quick/figures/fig2_tv_synthetic.png",
    "results/quick/audit.csv",
]
LONG = [
    "results/quick/privacy/koskela_fig1a.csv",
    "results/quick/parity_plan.csv",
]  # some seconds of work each
PATIENCE = 300  # seconds that any single event may take before a test gives up


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    with PrivateSlurm(tmp_path_factory.getbasetemp()) as running:
        yield running


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """What some small targets are when they are made here, without a cluster."""
    project = Project(tmp_path_factory.mktemp("local") / "project")
    project.make("--", *SOME)
    return project


@pytest.fixture(params=["slurm", "cluster-generic"])
def cluster(request, tmp_path, slurm):
    return Cluster(
        Project(tmp_path / "project"), slurm, request.param
    )  # Debian's qsub splits paths at spaces


class Cluster:
    """A project that sends its jobs to a Slurm by one of the profiles."""

    def __init__(self, project, slurm, profile):
        if profile == "cluster-generic" and not (slurm.folder / "bin/qsub").exists():
            pytest.skip("no qsub: apt-get install slurm-wlm-torque")
        self.project, self.slurm = project, slurm
        project.launcher = slurm.on(LOGIN, project.folder)
        self.arguments = [*QUICK, "--workflow-profile", f"profiles/{profile}"]
        self.environment = {**slurm.environment, "PYTHONPATH": ""}  # with the plugins
        self.before = len(slurm.jobs())

    def run(self, *arguments):
        return self.project.snakemake(*self.arguments, *arguments, environment=self.environment)

    def start(self, *arguments):
        return self.project.start(*self.arguments, *arguments, environment=self.environment)

    def printed(self):
        return (self.project.folder / "printed").read_text()

    def jobs(self):
        """What this project has submitted so far, oldest first."""
        return self.slurm.jobs()[self.before :]

    def until(self, happened):
        end = time.monotonic() + PATIENCE
        while not (result := happened()):
            assert time.monotonic() < end, self.printed()
            time.sleep(0.3)
        return result

    def locks(self):
        return list((self.project.folder / ".snakemake/locks").glob("*"))


def same_bytes(local, project):
    here, there = local.results(), project.results()
    assert there.keys() <= here.keys()
    assert [name for name in there if there[name] != here[name]] == []
    return there.keys()


def test_jobs_here_and_on_the_cluster_give_the_same_bytes(local, fresh, slurm):
    cluster = Cluster(fresh, slurm, "slurm")
    done = cluster.run(*SOME)
    assert done.returncode == 0, done.stdout
    assert same_bytes(local, fresh) == local.results().keys()
    jobs = cluster.jobs()
    assert {job["JobState"] for job in jobs} == {"COMPLETED"}
    assert len(jobs) == 5  # a file of trials, two audits, two files of TWO
    assert "Nothing to be done" in cluster.run(*SOME).stdout
    assert cluster.locks() == []


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
    cluster.until(lambda: [job["JobState"] for job in cluster.jobs()] == ["COMPLETED", "RUNNING"])
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    (first,) = [path for path in files if path.exists()]
    written = first.stat().st_mtime_ns
    assert cluster.slurm.queue(), "the job outlives the controller"
    assert cluster.locks()

    if run := re.search(r"SLURM run ID: (\S+)", cluster.printed()):
        cluster.slurm.run("scancel", "--name", run[1])
    else:
        cluster.slurm.run("scancel", cluster.jobs()[-1]["JobId"])
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
    cluster.until(lambda: [job["JobState"] for job in cluster.jobs()] == ["RUNNING", "RUNNING"])
    os.killpg(process.pid, signal.SIGINT)
    assert cluster.until(lambda: process.poll() is not None)
    assert process.returncode != 0
    cluster.until(lambda: not cluster.slurm.queue())
    assert {job["JobState"] for job in cluster.jobs()} == {"CANCELLED"}
    assert cluster.locks() == []
    assert cluster.run(*LONG, "--dry-run").returncode == 0
