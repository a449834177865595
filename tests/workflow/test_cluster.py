"""The cluster profiles: a real Slurm of two nodes on this machine, and a stand-in for PBS."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from scripts.shared.job import PLANNED
from tests import ROOT
from tests.workflow.conftest import (
    QUICK,
    copy_of_project,
    jobs_by_rule,
    names_that_differ,
    wait_for,
)

pytestmark = [pytest.mark.pipeline, pytest.mark.slow]

# The result of a job on the cluster, and one of jobs there and of one that runs here after them.
GAUSSIAN_SCALE = "results/quick/trials/gaussian_scale.csv"
FIGURE = "results/quick/figures/fig2_tv_synthetic.png"
NO_PLUGIN = "no test of the cluster profiles: make cluster installs Snakemake's plugins"
DAEMONS = ["munged", "slurmctld", "slurmd"]
CLIENTS = ["sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo", "sacct"]
NODES = ["n1", "n2"]
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
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
MinJobAge={min_job_age}
KillWait=2
EnforcePartLimits=ALL
AccountingStorageType=accounting_storage/none
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={n1} CPUs=1 RealMemory=8000 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={n2} CPUs=1 RealMemory=8000 State=UNKNOWN
PartitionName=short Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=10 State=UP
"""


def write_program(path, script):
    """Write a program for the shell, with the lines of the ``script``."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def free_ports(number):
    """Ports that no server uses: those that the system chooses for servers that are closed at once."""
    with contextlib.ExitStack() as servers:
        opened = [
            servers.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)
        ]
        return [server.getsockname()[1] for server in opened]


class Slurm:
    """Slurm's daemons, which die with the tests, and its commands in the folder ``bin``."""

    def __init__(self, folder):
        self.folder, self.daemons = folder, []
        self.configuration = folder / "slurm.conf"

    def configure(self):
        """Write slurm.conf, and for each command of Slurm a program that names it.

        The commands need it because Snakemake's plugin takes SLURM_CONF out of a job.
        """
        for name in ("state", "bin", *(f"spool-{node}" for node in NODES)):
            (self.folder / name).mkdir()
        controller, n1, n2 = free_ports(3)
        self.settings = {"folder": self.folder, "host": os.uname().nodename}
        self.settings |= {"controller": controller, "n1": n1, "n2": n2}
        self.write_configuration(min_job_age=3600)
        for name in CLIENTS:
            script = f'export SLURM_CONF={self.configuration}\nexec /usr/bin/{name} "$@"'
            write_program(self.folder / "bin" / name, script)

    def write_configuration(self, *, min_job_age):
        """Write slurm.conf, in which Slurm forgets a job after this many seconds."""
        text = CONFIGURATION.format(**self.settings, min_job_age=min_job_age)
        self.configuration.write_text(text)

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

    def start_controller(self):
        """Start Slurm's controller, in the foreground, so that it is a child of this process."""
        self.controller = self.start("slurmctld", "-D", "-f", self.configuration)

    def restart_controller(self):
        """End the controller, and start it with what it has saved."""
        self.controller.terminate()
        self.controller.wait()
        self.start_controller()

    def start_nodes(self):
        """Start all nodes, and wait until they are idle."""
        for node in NODES:
            self.start("slurmd", "-D", "-N", node, "-f", self.configuration)
        wait_for(lambda: self.run("sinfo", "--noheader", "--format=%D %T") == "2 idle\n")

    def start(self, *command):
        """Start a daemon, which is killed when this process ends. pytest shows what it prints."""
        environment = {**os.environ, "PATH": PATH}
        killed_with_tests = ["setpriv", "--pdeathsig", "KILL", *command]
        self.daemons.append(subprocess.Popen(killed_with_tests, env=environment))
        return self.daemons[-1]

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

    @contextlib.contextmanager
    def drained(self):
        """Inside a ``with``, jobs wait: no node takes one."""
        update = ["scontrol", "update", f"NodeName={','.join(NODES)}"]
        self.run(*update, "State=DRAIN", "Reason=test")
        try:
            yield
        finally:
            self.run(*update, "State=RESUME")

    def wait_for_job(self, project, state):
        """The first job of a project that is in this state, as soon as there is one."""

        def found():
            return [job for job in self.jobs(project) if job["JobState"] == state]

        return wait_for(found)[0]

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
    """A running `Slurm` of two nodes with one core each.

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
        running.start_controller()
        running.start_nodes()
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


def test_a_cluster_of_two_nodes_makes_the_bytes_of_this_machine(
    slurm, slurm_project, local_results
):
    """The whole pipeline. A second run has nothing to do."""
    slurm_project.make()
    jobs = slurm.jobs(slurm_project)
    assert {job["JobState"] for job in jobs} == {"COMPLETED"}
    assert {job["BatchHost"] for job in jobs} == set(NODES)

    made = slurm_project.results()
    assert made.keys() == local_results.keys()
    assert names_that_differ(made, local_results) == []
    assert "Nothing to be done" in slurm_project.make()


def run_and_kill_first_job(slurm, project, *, options=()):
    """Start Snakemake on ``slurm`` for `GAUSSIAN_SCALE`, and kill the first job as soon as it runs.

    Returns Snakemake's exit code and what it printed.
    """
    run = project.start(GAUSSIAN_SCALE, options=options)
    job = slurm.wait_for_job(project, "RUNNING")
    slurm.run("scancel", "--signal=KILL", "--full", job["JobId"])
    return ended(run, project)


def ended(run, project):
    """The exit code of a run, as soon as it has ended, and what it printed."""
    exit_code = run.wait(300)  # seconds
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


@pytest.mark.parametrize(
    ("too_little", "state", "stopped"),
    [
        ("mem_mb=60 * 20 ** (attempt - 1)", "FAILED", False),  # by a signal of Slurm's own
        ("runtime=1 * 20 ** (attempt - 1)", "TIMEOUT", True),  # minutes
    ],
)
def test_a_job_that_asked_for_too_little_is_sent_again_with_more(
    slurm, slurm_project, too_little, state, stopped
):
    """``stopped`` halts the first job, so that it is still there when its time is over."""
    resources = ["--set-resources", f"compute_gaussian_scale:{too_little}"]
    run = slurm_project.start(GAUSSIAN_SCALE, options=resources)
    if stopped:
        job = slurm.wait_for_job(slurm_project, "RUNNING")
        slurm.run("scancel", "--signal=STOP", "--full", job["JobId"])
    exit_code, printed = ended(run, slurm_project)
    assert exit_code == 0, printed
    assert [job["JobState"] for job in slurm.jobs(slurm_project)] == [state, "COMPLETED"]


def test_a_run_goes_on_when_slurms_controller_is_back(slurm, slurm_project):
    run = slurm_project.start(GAUSSIAN_SCALE)
    slurm.wait_for_job(slurm_project, "RUNNING")
    slurm.restart_controller()
    exit_code, printed = ended(run, slurm_project)
    assert exit_code == 0, printed


def test_one_ctrl_c_cancels_all_jobs_and_the_same_command_goes_on(slurm, slurm_project):
    with slurm.drained():
        run = slurm_project.start(GAUSSIAN_SCALE)
        printed = slurm_project.folder / "printed"
        wait_for(lambda: "has been submitted with SLURM jobid" in printed.read_text())
        os.kill(run.pid, signal.SIGINT)
        exit_code, _ = ended(run, slurm_project)
    assert exit_code != 0
    assert {job["JobState"] for job in slurm.jobs(slurm_project)} == {"CANCELLED"}
    slurm_project.make(GAUSSIAN_SCALE)


# Code of `GAUSSIAN_SCALE`, and an edit that halves its values.
CODE = "scripts/paper/trials/compute_gaussian_scale.py"
EDITED = f"{CODE} was edited while the run was on: run the same command again"


def test_a_job_refuses_code_that_was_edited_while_it_waited(slurm, slurm_project, local_results):
    """And after the edit is put back, the same command gives the right result."""
    code = slurm_project.folder / CODE
    with slurm.drained():
        run = slurm_project.start(GAUSSIAN_SCALE, options=["--retries", "0"])
        slurm.wait_for_job(slurm_project, "PENDING")
        before = code.read_text()
        code.write_text(f"{before}\nedited = 1\n")
    exit_code, printed = ended(run, slurm_project)
    code.write_text(before)
    assert exit_code != 0
    assert EDITED in printed
    slurm_project.make(GAUSSIAN_SCALE)
    assert slurm_project.results()[GAUSSIAN_SCALE] == local_results[GAUSSIAN_SCALE]


def check_of_profile(slurm, *, min_job_age):
    """What profiles/slurm/check says of a Slurm that forgets a job after this many seconds."""
    slurm.write_configuration(min_job_age=min_job_age)
    slurm.run("scontrol", "reconfigure")
    environment = {**os.environ, "PATH": f"{slurm.folder / 'bin'}:{PATH}"}
    return subprocess.run(
        [ROOT / "profiles/slurm/check"], env=environment, capture_output=True, text=True
    )


def test_the_check_refuses_a_slurm_that_forgets_jobs_too_soon(slurm):
    forgets = check_of_profile(slurm, min_job_age=20)
    lasts = check_of_profile(slurm, min_job_age=3600)
    assert "Slurm remembers ended jobs for 20 s" in forgets.stdout
    assert forgets.returncode == 1
    assert forgets.stderr.startswith("error: with squeue, a run on this Slurm may wait for ever")
    assert lasts.returncode == 0, lasts.stderr


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


def project_with_fake_pbs(folder, *, exit_status, qsub=QSUB):
    """A copy of the project, which sends its jobs to stand-ins for the commands of PBS.

    They run each job at once, write what it asks for into the file ``asked``, and tell this ``exit_status``.
    """
    pytest.importorskip("snakemake_executor_plugin_cluster_generic", reason=NO_PLUGIN)
    write_program(folder / "qsub", qsub)
    write_program(folder / "qstat", f'echo "    exit_status = {exit_status}"')
    write_program(folder / "qdel", "true")
    return project_with_profile(folder, profile="cluster-generic", programs=folder)


def test_the_profile_for_pbs_asks_for_its_resources(tmp_path):
    project = project_with_fake_pbs(tmp_path, exit_status=0)
    project.make(GAUSSIAN_SCALE)
    assert "-l ncpus=1,mem=1200mb,walltime=00:20:00" in (project.folder / "asked").read_text()


# A cluster whose jobs do not get the environment: here they run with an edit, which is put back then.
QSUB_WITH_EDIT = f"""
cp {CODE} before
echo "edited = 1" >>{CODE}
unset {PLANNED}
{QSUB}
cp before {CODE}
"""


def test_a_run_fails_if_a_job_has_run_with_an_edit_and_the_next_one_makes_it_again(
    tmp_path, finished_project
):
    project = project_with_fake_pbs(tmp_path, exit_status=0, qsub=QSUB_WITH_EDIT)
    run = project.snakemake(GAUSSIAN_SCALE)
    assert run.returncode != 0
    assert EDITED in run.stdout
    write_program(tmp_path / "qsub", QSUB)
    assert jobs_by_rule(project.make(GAUSSIAN_SCALE)) == {"compute_gaussian_scale": 1}
    assert project.results()[GAUSSIAN_SCALE] == finished_project.results()[GAUSSIAN_SCALE]


def test_a_run_fails_if_pbs_says_that_its_job_was_killed(tmp_path):
    """Even if the job has made its result."""
    killed = 256 + 15  # PBS adds the signal, here SIGTERM, to 256
    project = project_with_fake_pbs(tmp_path, exit_status=killed)
    run = project.snakemake(GAUSSIAN_SCALE, options=["--retries", "0"])
    assert run.returncode != 0
    assert "Error in rule compute_gaussian_scale" in run.stdout
