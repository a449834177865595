"""The cluster profiles: a real Slurm of one node, started in a folder of its own, and a stand-in for PBS."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.workflow.conftest import QUICK, copy_of_project, names_that_differ, wait_for

pytestmark = [pytest.mark.pipeline, pytest.mark.slow]

# The result of a job on the cluster, and one of jobs there and of one that runs here after them.
GAUSSIAN_SCALE = "results/quick/trials/gaussian_scale.csv"
FIGURE = "results/quick/figures/fig2_tv_synthetic.png"
NO_PLUGIN = "no test of the cluster profiles: make cluster installs Snakemake's plugins"
DAEMONS = ["munged", "slurmctld", "slurmd"]
CLIENTS = ["sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo", "sacct"]
PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
CONFIGURATION = """\
ClusterName=local
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPort={controller}
SlurmdPort={node}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
MinJobAge=3600
KillWait=2
EnforcePartLimits=ALL
AccountingStorageType=accounting_storage/none
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=16000 State=UNKNOWN
PartitionName=short Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=10 State=UP
"""


def write_program(path, script):
    """Write a program for the shell, with the lines of the ``script``."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def free_ports():
    """Two ports that no server uses: those that the system chooses for servers that are closed at once."""
    address = ("127.0.0.1", 0)
    with socket.create_server(address) as one, socket.create_server(address) as other:
        return one.getsockname()[1], other.getsockname()[1]


class Slurm:
    """Slurm's daemons, which die with the tests, and its commands in the folder ``bin``."""

    def __init__(self, folder):
        self.folder, self.daemons = folder, []
        self.configuration = folder / "slurm.conf"

    def configure(self):
        """Write slurm.conf, and for each command of Slurm a program that names it.

        The commands need it because Snakemake's plugin takes SLURM_CONF out of a job.
        """
        for name in ("state", "spool", "bin"):
            (self.folder / name).mkdir()
        controller, node = free_ports()
        host = os.uname().nodename
        self.configuration.write_text(
            CONFIGURATION.format(folder=self.folder, host=host, controller=controller, node=node)
        )
        for name in CLIENTS:
            script = f'export SLURM_CONF={self.configuration}\nexec /usr/bin/{name} "$@"'
            write_program(self.folder / "bin" / name, script)

    def start_munge(self):
        """Start munge, which signs messages between the daemons, with a new secret key."""
        munge = self.folder / "munge"
        key = munge.with_suffix(".key")
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)  # munge insists that nobody else can read it
        options = [
            f"--key-file={key}",
            f"--seed-file={munge}.seed",
            f"--socket={munge}.socket",
            f"--pid-file={munge}.pid",
            f"--log-file={munge}.log",
        ]
        self.start("munged", "--force", "--foreground", *options)
        wait_for(munge.with_suffix(".socket").exists)

    def start_controller_and_node(self):
        """Start Slurm's controller and one node, and wait until the node is idle."""
        # -D: in the foreground, so that the daemons are children of this process.
        self.start("slurmctld", "-D", "-f", self.configuration)
        self.start("slurmd", "-D", "-f", self.configuration)
        wait_for(lambda: self.run("sinfo", "--noheader", "--format=%T") == "idle\n")

    def start(self, *command):
        """Start a daemon, which is killed when this process ends. pytest shows what it prints."""
        environment = {**os.environ, "PATH": PATH}
        killed_with_tests = ["setpriv", "--pdeathsig", "KILL", *command]
        self.daemons.append(subprocess.Popen(killed_with_tests, env=environment))

    def close(self):
        """Cancel all jobs and end the daemons."""
        self.run("scancel", "--full", "--user", "root")
        for daemon in reversed(self.daemons):
            daemon.terminate()
            daemon.wait()

    def run(self, name, *arguments):
        """Output of a Slurm command."""
        return subprocess.run(
            [self.folder / "bin" / name, *arguments], capture_output=True, text=True
        ).stdout

    def jobs(self, project):
        """The jobs that a project has submitted, oldest first: Slurm's fields (JobId, JobState) -> texts."""
        jobs = []
        for line in self.run("scontrol", "--oneliner", "show", "job").splitlines():
            job = dict(field.split("=", 1) for field in line.split() if "=" in field)
            if job.get("WorkDir") == str(project.folder):
                jobs.append(job)
        return sorted(jobs, key=lambda job: int(job["JobId"]))


@pytest.fixture(scope="module")
def slurm():
    """A running `Slurm` of one node.

    Tests are skipped without Slurm, without Snakemake's plugin for it, and without the rights of root.
    """
    pytest.importorskip("snakemake_executor_plugin_slurm", reason=NO_PLUGIN)
    if os.geteuid() or not all(shutil.which(name, path=PATH) for name in DAEMONS):
        pytest.skip(f"no test on a real Slurm: it needs root and {', '.join(DAEMONS)}")
    with (
        # In /tmp, as sockets need short paths.
        tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp") as folder,
        contextlib.closing(Slurm(Path(folder))) as running,
    ):
        running.configure()
        running.start_munge()
        running.start_controller_and_node()
        yield running


def project_with_profile(folder, *, profile, programs):
    """A copy of the project, whose runs have a profile for clusters and find the commands in ``programs``."""
    return copy_of_project(
        folder / "project",
        arguments=[*QUICK, "--workflow-profile", f"profiles/{profile}"],
        # Without NO_PLUGINS, which hides Snakemake's plugins.
        environment={"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": ""},
    )


@pytest.fixture
def slurm_project(slurm, tmp_path):
    """A copy of the project, which sends its jobs to the running `slurm`."""
    return project_with_profile(tmp_path, profile="slurm", programs=slurm.folder / "bin")


@pytest.fixture
def local_results(slurm, request):
    """The results of config/quick.yaml, made on this machine: name -> bytes.

    They are asked for after ``slurm``, so they are not made where there is no Slurm.
    """
    return request.getfixturevalue("finished_project").results()


def test_a_cluster_makes_the_same_bytes_as_this_machine(slurm, slurm_project, local_results):
    """On Slurm, in a run of two results. A second run has nothing to do."""
    slurm_project.make(GAUSSIAN_SCALE, FIGURE)
    jobs = slurm.jobs(slurm_project)
    assert len(jobs) >= 2
    assert {job["JobState"] for job in jobs} == {"COMPLETED"}

    made = slurm_project.results()
    assert made.keys() >= {GAUSSIAN_SCALE, FIGURE}
    assert names_that_differ(made, local_results) == []
    assert "Nothing to be done" in slurm_project.make(GAUSSIAN_SCALE, FIGURE)


def run_and_kill_first_job(slurm, project, *, options=()):
    """Start Snakemake on ``slurm`` for `GAUSSIAN_SCALE`, and kill the first job as soon as it runs.

    Returns Snakemake's exit code and what it printed.
    """
    run = project.start(GAUSSIAN_SCALE, options=options)

    def running_jobs():
        return [job for job in slurm.jobs(project) if job["JobState"] == "RUNNING"]

    [job] = wait_for(running_jobs)
    slurm.run("scancel", "--signal=KILL", "--full", job["JobId"])
    exit_code = run.wait(200)  # seconds
    return exit_code, (project.folder / "printed").read_text()


def test_without_retries_a_killed_job_ends_the_run_and_is_named(slurm, slurm_project):
    exit_code, printed = run_and_kill_first_job(slurm, slurm_project, options=["--retries", "0"])
    assert exit_code != 0
    assert "Error in rule compute_gaussian_scale" in printed
    assert len(slurm.jobs(slurm_project)) == 1


def test_a_killed_job_is_sent_again_with_twice_the_memory(slurm, slurm_project):
    """By the profile, which has retries and "mem_mb: 1200 * 2 ** (attempt - 1)"."""
    exit_code, printed = run_and_kill_first_job(slurm, slurm_project)
    assert exit_code == 0, printed
    killed, second = slurm.jobs(slurm_project)
    assert killed["JobState"] != "COMPLETED"
    assert killed["MinMemoryNode"] == "1200M"
    assert second["JobState"] == "COMPLETED"
    assert second["MinMemoryNode"] == "2400M"


def test_a_run_with_a_partition_that_slurm_lacks_prints_slurms_error(slurm_project):
    """As `make cluster-check` does: one job with the profile, without retries."""
    profile = slurm_project.folder / "profiles/slurm/config.yaml"
    text = profile.read_text()
    profile.write_text(text.replace("# slurm_partition: short", "slurm_partition: none"))
    run = slurm_project.snakemake(GAUSSIAN_SCALE, options=["--retries", "0"])
    assert run.returncode != 0
    assert "invalid partition specified: none" in run.stdout


# In place of PBS's command that sends a job: it runs the job's script, its last argument, at once.
QSUB = """
for script; do :; done
echo "$*" >>asked
sh "$script" >>job.log 2>&1
echo 1.server
"""


def project_with_fake_pbs(folder, *, exit_status):
    """A copy of the project, which sends its jobs to stand-ins for the commands of PBS.

    They run each job at once, write what it asks for into the file ``asked``, and tell this ``exit_status``.
    """
    pytest.importorskip("snakemake_executor_plugin_cluster_generic", reason=NO_PLUGIN)
    write_program(folder / "qsub", QSUB)
    write_program(folder / "qstat", f'echo "    exit_status = {exit_status}"')
    write_program(folder / "qdel", "true")
    return project_with_profile(folder, profile="cluster-generic", programs=folder)


def test_the_profile_for_pbs_asks_for_its_resources(tmp_path):
    project = project_with_fake_pbs(tmp_path, exit_status=0)
    project.make(GAUSSIAN_SCALE)
    assert "-l ncpus=1,mem=1200mb,walltime=00:20:00" in (project.folder / "asked").read_text()


def test_a_run_fails_if_pbs_says_that_its_job_was_killed(tmp_path):
    """Even if the job has made its result."""
    killed = 256 + 15  # PBS adds the signal, here SIGTERM, to 256
    project = project_with_fake_pbs(tmp_path, exit_status=killed)
    run = project.snakemake(GAUSSIAN_SCALE, options=["--retries", "0"])
    assert run.returncode != 0
    assert "Error in rule compute_gaussian_scale" in run.stdout
