"""The cluster profiles: a real Slurm of one node, started in a folder of its own, and a stand-in for PBS."""

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.workflow.conftest import QUICK, Project, names_that_differ, wait_for

pytestmark = [pytest.mark.pipeline, pytest.mark.slow]

GAUSSIAN_SCALE = "results/quick/trials/gaussian_scale.csv"
# Results of jobs on the cluster, and of one that runs here after them.
TARGETS = [GAUSSIAN_SCALE, "results/quick/figures/fig2_tv_synthetic.png"]
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


class Slurm:
    """Slurm's daemons, which die with the tests, and its commands in the folder ``bin``.

    The commands are scripts that name slurm.conf, since Snakemake's plugin takes SLURM_CONF out of a job.
    """

    def __init__(self, folder):
        self.folder, self.daemons = folder, []

    def __enter__(self):
        """Start munge (which signs messages between the daemons), Slurm's controller and one node.

        Returns this object as soon as the node is idle. `CONFIGURATION` is the text of slurm.conf, with the
        folder, the host's name and two ports to be filled in. `CLIENTS` are the names of Slurm's commands:
        each gets a script in the folder bin, which calls it with this configuration.
        """
        for name in ("state", "spool", "bin"):
            (self.folder / name).mkdir()

        # Two free ports: those that the system chooses for servers that are closed at once.
        servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        controller, node = (server.getsockname()[1] for server in servers)
        for server in servers:
            server.close()
        configuration, host = self.folder / "slurm.conf", os.uname().nodename
        text = CONFIGURATION.format(folder=self.folder, host=host, controller=controller, node=node)
        configuration.write_text(text)

        for name in CLIENTS:
            client = self.folder / "bin" / name
            client.write_text(
                f'#!/bin/sh\nexport SLURM_CONF={configuration}\nexec /usr/bin/{name} "$@"\n'
            )
            client.chmod(0o755)

        # A secret key for munge, which insists that nobody else can read it.
        (self.folder / "munge.key").write_bytes(os.urandom(128))
        (self.folder / "munge.key").chmod(0o600)
        options = [
            f"--{name}={self.folder}/munge.{name}" for name in ("socket", "pid-file", "log-file")
        ]
        options += [f"--{name}-file={self.folder}/munge.{name}" for name in ("key", "seed")]
        self.start("munged", "--force", "--foreground", *options)
        wait_for(lambda: (self.folder / "munge.socket").exists(), failure=self.logs)

        # -D: in the foreground, so that the daemons are children of this process.
        self.start("slurmctld", "-D", "-f", configuration)
        self.start("slurmd", "-D", "-f", configuration)
        wait_for(
            lambda: self.run("sinfo", "--noheader", "--format=%T") == "idle\n", failure=self.logs
        )
        return self

    def start(self, name, *arguments):
        """Start a daemon, which is killed when this process ends."""
        with open(self.folder / f"{name}.out", "w") as out:
            command = ["setpriv", "--pdeathsig", "KILL", name, *arguments]
            self.daemons.append(
                subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, "PATH": PATH})
            )

    def __exit__(self, *_):
        self.run("scancel", "--full", "--user", "root")
        for daemon in reversed(self.daemons):
            daemon.terminate()
            daemon.wait()

    def logs(self):
        """The ends of what the daemons printed."""
        return "\n".join(path.read_text()[-2000:] for path in self.folder.glob("*.out"))

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


def skip_without(plugin):
    """Skip the test where this plugin of Snakemake is not installed."""
    if not importlib.util.find_spec(f"snakemake_executor_plugin_{plugin}"):
        pytest.skip("no test of the cluster profiles: make cluster installs Snakemake's plugins")


@pytest.fixture(scope="module")
def slurm():
    """A running `Slurm` of one node, in a folder in /tmp, as sockets need short paths.

    Tests are skipped where Snakemake's plugin for Slurm (`skip_without`) or one of Slurm's `DAEMONS` is not
    installed, or without the rights of root, which the daemons need.
    """
    skip_without("slurm")
    lacking = [name for name in DAEMONS if not shutil.which(name, path=PATH)]
    if lacking or os.geteuid():
        pytest.skip(
            f"no test on a real Slurm: it needs root and {', '.join(lacking or ['no more'])}"
        )
    with (
        tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp") as folder,
        Slurm(Path(folder)) as running,
    ):
        yield running


@pytest.fixture
def environment(slurm):
    """Environment variables with which Snakemake finds Slurm's commands and its own plugins."""
    return {"PATH": f"{slurm.folder}/bin:{os.environ['PATH']}", "PYTHONPATH": ""}


def arguments(profile, *others):
    """Snakemake's arguments for a run with a profile, on the quick configuration."""
    return [*QUICK, "--workflow-profile", f"profiles/{profile}", *others]


def test_the_cluster_makes_the_same_bytes(slurm, environment, request, tmp_path):
    """Two results (`TARGETS`), made on a real Slurm, have the bytes of a run on this machine.

    A second run has nothing to do. ``slurm`` is the running Slurm, and with the variables in ``environment``
    Snakemake finds it. `finished_project` has all results of config/quick.yaml, made on this machine. This
    fixture is asked for inside the test, so it is made only where there is a Slurm.
    """
    finished_project = request.getfixturevalue("finished_project")
    there = Project(tmp_path / "there")
    run = there.snakemake(*arguments("slurm", *TARGETS), environment=environment)
    assert run.returncode == 0, run.stdout
    jobs = slurm.jobs(there)
    assert len(jobs) >= 2
    assert {job["JobState"] for job in jobs} == {"COMPLETED"}

    made = there.results()
    assert made.keys() >= {path.removeprefix("results/quick/") for path in TARGETS}
    assert names_that_differ(made, finished_project.results()) == []
    again = there.snakemake(*arguments("slurm", *TARGETS), environment=environment)
    assert "Nothing to be done" in again.stdout


def run_with_first_job_killed(slurm, project, environment, *options):
    """Run Snakemake on ``slurm`` for one result (`GAUSSIAN_SCALE`) and kill the first job as soon as it runs.

    Returns Snakemake's exit code, what it printed, and the jobs that ``project`` has ever submitted, oldest
    first, each as a dict of Slurm's fields (such as JobState). ``options`` are those of Snakemake.
    """
    run = project.start(*arguments("slurm", *options, GAUSSIAN_SCALE), environment=environment)
    printed = (project.folder / "printed").read_text

    def running_jobs():
        return [job for job in slurm.jobs(project) if job["JobState"] == "RUNNING"]

    [job] = wait_for(running_jobs, failure=printed)
    slurm.run("scancel", "--signal=KILL", "--full", job["JobId"])
    wait_for(lambda: run.poll() is not None, failure=printed)
    return run.returncode, printed(), slurm.jobs(project)


def test_a_killed_job_is_sent_again_with_twice_the_memory_or_named(slurm, environment, tmp_path):
    """`run_with_first_job_killed` starts a run on ``slurm`` and kills its first job. It is called twice:

    1. Without retries, the run fails and names the rule of the killed job.
    2. With the retries of the profile, the killed job is sent again, with twice the memory, and the run
    succeeds.
    """
    project = Project(tmp_path / "project")
    no_retry = ["--retries", "0"]
    code, printed, jobs = run_with_first_job_killed(slurm, project, environment, *no_retry)
    assert code != 0
    assert "Error in rule compute_gaussian_scale" in printed
    assert len(jobs) == 1

    code, printed, jobs = run_with_first_job_killed(slurm, project, environment)
    assert code == 0, printed
    # The job of the first run, and two of this one, of which the last was not killed.
    assert [job["JobState"] == "COMPLETED" for job in jobs] == [False, False, True]
    # In megabytes: 1200, then 2400, by the profile's "mem_mb: 1200 * 2 ** (attempt - 1)".
    first, second = (int(job["MinMemoryNode"].removesuffix("M")) for job in jobs[1:])
    assert second == 2 * first


def test_make_cluster_check_ends_with_the_reason(environment, tmp_path):
    """If the profile names a partition that Slurm does not have, the run fails and prints Slurm's error.

    As in `make cluster-check`, one job runs with the profile, without retries. ``environment`` has the
    variables with which Snakemake finds the running Slurm.
    """
    project = Project(tmp_path / "project")
    profile = project.folder / "profiles/slurm/config.yaml"
    text = profile.read_text()
    profile.write_text(text.replace("# slurm_partition: short", "slurm_partition: none"))
    no_retry = arguments("slurm", "--retries", "0", GAUSSIAN_SCALE)
    run = project.snakemake(*no_retry, environment=environment)
    assert run.returncode != 0
    assert "invalid partition specified: none" in run.stdout


# Stand-ins for the commands of PBS. The last argument of qsub is the script of the job.
QSUB = """#!/bin/sh
for script; do :; done
echo "$*" >>asked
sh "$script" >>job.log 2>&1; echo $? >code
echo 1.server
"""
QSTAT = '#!/bin/sh\necho "    exit_status = $(cat code)"\n'


def test_the_profile_for_pbs_sends_jobs_and_reads_their_state(tmp_path):
    """Instead of PBS, its commands qsub and qstat are scripts of our own, in the first folder of PATH.

    1. qsub gets the resources that the profile asks for, and the run succeeds. The script `QSUB` writes its
    arguments into the file asked, runs the job at once, and keeps the job's exit status in the file code.
    2. The run fails if qstat says that the job was killed. The script `QSTAT` prints PBS's line on an ended
    job, with the kept exit status. PBS gives a killed job one above 256: here 271, 256 and the signal 15.
    """
    skip_without("cluster_generic")
    project = Project(tmp_path / "project")
    for name, script in (("qsub", QSUB), ("qstat", QSTAT), ("qdel", "#!/bin/sh\n")):
        (tmp_path / name).write_text(script)
        (tmp_path / name).chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": ""}
    run = project.snakemake(*arguments("cluster-generic", GAUSSIAN_SCALE), environment=environment)
    assert run.returncode == 0, run.stdout
    assert "-l ncpus=1,mem=1200mb,walltime=00:20:00" in (project.folder / "asked").read_text()

    # The same job again, of which qstat now tells another exit status.
    (project.folder / GAUSSIAN_SCALE).unlink()
    (tmp_path / "qstat").write_text(QSTAT.replace("$(cat code)", "271"))
    no_retry = arguments("cluster-generic", "--retries", "0", GAUSSIAN_SCALE)
    assert project.snakemake(*no_retry, environment=environment).returncode != 0
