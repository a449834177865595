"""A private Slurm of three nodes, and projects that send their jobs to it."""

import importlib.util
import time

import pytest

from tests.workflow.cluster.private_slurm import LOGIN, PrivateSlurm, missing
from tests.workflow.conftest import QUICK, Project

PLUGINS = ["slurm", "cluster_generic"]
TWO = ["results/quick/privacy/gaussian_scale.csv", "results/quick/privacy/delta_surface.csv"]
SOME = [  # and jobs here before and after jobs on the cluster
    *TWO,
    "results/quick/figures/fig2_tv_synthetic.png",
    "results/quick/audit.csv",
]
PATIENCE = 300  # seconds that any single event may take before a test gives up


class Cluster:
    """A project that sends its jobs to a Slurm by one of the profiles, from the login machine."""

    def __init__(self, project, slurm, profile="slurm", login=LOGIN):
        if profile == "cluster-generic" and not (slurm.folder / "bin/qsub").exists():
            pytest.skip("no qsub: apt-get install slurm-wlm-torque")
        self.project, self.slurm = project, slurm
        project.launcher = slurm.on(login, project.folder)
        self.arguments = [*QUICK, "--workflow-profile", f"profiles/{profile}"]
        self.environment = {**slurm.environment, "PYTHONPATH": ""}  # with the plugins

    def run(self, *arguments):
        return self.project.snakemake(*self.arguments, *arguments, environment=self.environment)

    def start(self, *arguments):
        return self.project.start(*self.arguments, *arguments, environment=self.environment)

    def printed(self):
        return (self.project.folder / "printed").read_text()

    def jobs(self):
        """What this project has submitted so far, oldest first."""
        here = str(self.project.folder)
        return [job for job in self.slurm.jobs() if here.startswith(job["WorkDir"])]  # which ends at a space

    def states(self):
        return [job["JobState"] for job in self.jobs()]

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


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    lacking = missing()
    if not all(importlib.util.find_spec(f"snakemake_executor_plugin_{name}") for name in PLUGINS):
        lacking = "the executor plugins are not installed: make cluster"
    if lacking:
        pytest.skip(f"no test on a real cluster: {lacking}")
    with PrivateSlurm(tmp_path_factory.getbasetemp()) as running:
        yield running


@pytest.fixture(scope="session")
def local(tmp_path_factory):
    """What some small targets are when they are made here, without a cluster."""
    project = Project(tmp_path_factory.mktemp("local") / "project")
    project.make("--", *SOME)
    return project


@pytest.fixture(params=["slurm"])
def cluster(request, tmp_path, slurm):
    project = Project(tmp_path / "project")  # Debian's qsub splits paths at spaces
    return Cluster(project, slurm, request.param)


both_profiles = pytest.mark.parametrize("cluster", ["slurm", "cluster-generic"], indirect=True)
