"""A real Slurm of three nodes that lives in one folder: own key, own ports, no trace outside of that folder.

The nodes and the login machine are namespaces of this one. Each sees the tests' folder through a mount of its
own that believes for some seconds what it saw before, as NFS does: a file that was missing stays missing, a
date or a size stays as it was.

A keeper process (this file, run) starts the daemons and waits for the end of its standard input. That
end comes when the tests close it and also when they die, by whatever signal; the keeper then cancels
all jobs, stops the daemons and removes the folder. The clients find this Slurm through small scripts in
``bin`` that name its slurm.conf: the executor plugin takes SLURM_CONF out of a job's environment, and
/etc/slurm is not touched.
"""

import contextlib
import fcntl
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DAEMONS = ["munged", "slurmctld", "slurmd", "bindfs", "unshare"]
NODES = ["node1", "node2", "node3"]
LOGIN = "login"
STUBBORN = "stubborn"  # another login machine
LATE = {STUBBORN: 3600}  # seconds for which a machine believes what it saw; else 4
CLIENTS = ["sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo", "sacct"]
TORQUE = ["qsub", "qstat", "qdel"]  # Debian's slurm-wlm-torque: PBS commands that talk to Slurm
EXIT_STATUS = """\
for job; do :; done
case $(squeue --noheader --states=all --format=%T --jobs "$job" 2>/dev/null) in
    COMPLETED) echo "    exit_status = 0" ;;
    PENDING | RUNNING | COMPLETING | "") ;;
    *) echo "    exit_status = 271" ;;
esac
"""  # what Torque's qstat also says of a job that has ended
PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
START = 60  # seconds that a node may take until it is idle

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
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=100
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
SlurmdParameters=config_overrides
MinJobAge=3600
KillWait=2
SlurmctldTimeout=30
SlurmdTimeout=10
InactiveLimit=0
EnforcePartLimits=ALL
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
NodeName={nodes} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports} CPUs=1 RealMemory=16000 State=UNKNOWN
PartitionName=short Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=10 State=UP
"""

# All that is started inside dies with this process: so a node can be made to die.
NAMESPACE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def missing():
    """Why no Slurm can be started here, in one line; an empty text if it can."""
    lacking = [name for name in (*DAEMONS, "sbatch") if not _found(name)]
    if lacking:
        return f"no {', '.join(lacking)}: apt-get install slurm-wlm munge bindfs"
    if os.geteuid():
        return "slurmd needs root"
    with tempfile.TemporaryDirectory() as folder:
        mounted = subprocess.run(
            [*NAMESPACE, "bindfs", folder, folder], capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
    return f"no namespaces or no FUSE: {mounted.stderr.strip()}" if mounted.returncode else ""


def _found(name):
    return shutil.which(name, path=PATH)


def _free_ports(count):
    with_ports = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [server.getsockname()[1] for server in with_ports]
    for server in with_ports:
        server.close()
    return ports


class Keeper:
    """Starts the daemons; stops them, and what they run, on exit of the context."""

    def __init__(self, shared):
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))  # sockets need short paths
        self.shared, self.daemons = shared, {}

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self):
        self.folder.chmod(0o755)
        for name in ("state", "bin", *NODES):
            (self.folder / name).mkdir()
        configuration = self.folder / "slurm.conf"
        controller, *ports = _free_ports(1 + len(NODES))
        configuration.write_text(
            CONFIGURATION.format(
                host=os.uname().nodename, folder=self.folder, controller=controller,
                nodes=",".join(NODES), ports=",".join(map(str, ports)),
            )
        )  # fmt: skip
        for name in (*CLIENTS, *TORQUE):
            if real := _found(name):
                client = self.folder / "bin" / name
                call = f'{real} "$@" || exit\n{EXIT_STATUS}' if name == "qstat" else f'exec {real} "$@"\n'
                client.write_text(f"#!/bin/sh\nexport SLURM_CONF={configuration}\n{call}")
                client.chmod(0o755)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        files = ["key-file=munge.key", "socket=munge.socket", "pid-file=munge.pid", "log-file=munge.log"]
        options = [
            f"--{{}}={self.folder}/{{}}".format(*file.split("=")) for file in [*files, "seed-file=seed"]
        ]
        self._daemon("munged", "munged", "--force", "--foreground", *options)
        self._until(lambda: (self.folder / "munge.socket").exists())
        self._daemon("slurmctld", "slurmctld", "-D", "-f", configuration)
        for machine in (LOGIN, STUBBORN):
            self._daemon(machine, "unshare", "--mount", *self._mount(machine, "-f"))
        for node in NODES:
            self.start(node)
        self._until(lambda: _output(self.folder, "sinfo", "--noheader", "--format=%T %D") == "idle 3\n")

    def start(self, node):
        """Start a node, also one that died."""
        mount = shlex.join(self._mount(node))
        slurmd = shlex.join(["exec", "slurmd", "-D", "-N", node, "-f", str(self.folder / "slurm.conf")])
        self._daemon(node, *NAMESPACE, "sh", "-c", f"{mount} && {slurmd}")

    def _mount(self, machine, *options):
        late = LATE.get(machine, 4)
        times = f"attr_timeout={late},entry_timeout={late},negative_timeout={late}"
        return ["bindfs", *options, "-o", times, self.shared, self.shared]

    def _daemon(self, name, *command):
        with open(self.folder / f"{name}.out", "w") as out:
            self.daemons[name] = subprocess.Popen(
                command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env={**os.environ, "PATH": PATH}
            )
        (self.folder / f"{name}.daemon").write_text(str(self.daemons[name].pid))

    def _until(self, ready):
        end = time.monotonic() + START
        while not ready():
            if any(daemon.poll() is not None for daemon in self.daemons.values()) or time.monotonic() > end:
                logs = [path.read_text()[-2000:] for path in sorted(self.folder.glob("*.[lo]*"))]
                raise RuntimeError("\n".join(["Slurm did not start:", *logs]))
            time.sleep(0.2)

    def __exit__(self, *_):
        if NODES[-1] in self.daemons:
            end = time.monotonic() + 15
            _output(self.folder, "scancel", "--full", "--user", str(os.geteuid()))
            while _output(self.folder, "squeue", "--noheader") and time.monotonic() < end:
                time.sleep(0.2)
        for name, daemon in reversed(self.daemons.items()):
            if name in NODES and daemon.poll() is None and (inner := inside(self.folder, name)):
                os.kill(inner, signal.SIGKILL)  # unshare itself is deaf to SIGTERM
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def inside(folder, machine):
    """The process in which a machine began, and which a node does not outlive; 0 if there is none."""
    pid = int((folder / f"{machine}.daemon").read_text())
    if machine not in NODES:
        return pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text()  # unshare waits outside for its child
    return int(children or 0)


def _output(folder, name, *arguments):
    with contextlib.suppress(subprocess.TimeoutExpired):
        return subprocess.run(
            [folder / "bin" / name, *arguments], capture_output=True, text=True, timeout=20
        ).stdout
    return ""


class PrivateSlurm:
    """The tests' side: a running Slurm inside of the context, whose machines share a folder."""

    def __init__(self, shared):
        self.shared = shared

    def __enter__(self):
        self.keeper = subprocess.Popen(
            [sys.executable, __file__, self.shared],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # a Ctrl-C in the terminal is not the keeper's
        )
        said = self.keeper.stdout.readline().strip()
        if not said:
            self.keeper.communicate()
            raise RuntimeError("Slurm did not start; its logs are above")
        self.folder = Path(said)
        return self

    def __exit__(self, *_):
        self.keeper.communicate()  # closes its input, waits for its end

    @property
    def environment(self):
        """What a process needs in its environment to use this Slurm."""
        return {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}

    def on(self, machine, folder):
        """What a command line begins with to run on a node or on the login machine, in a shared folder."""
        spaces = ["--mount", "--pid"] if machine in NODES else ["--mount"]
        return ["nsenter", f"--target={inside(self.folder, machine)}", *spaces, f"--wdns={folder}"]

    def kill(self, node):
        """A node dies, and all that runs on it."""
        os.kill(inside(self.folder, node), signal.SIGKILL)

    def revive(self, node):
        print(node, file=self.keeper.stdin, flush=True)

    def run(self, name, *arguments):
        """Output of a Slurm command."""
        return _output(self.folder, name, *arguments)

    def queue(self):
        """Names of the jobs that wait or run."""
        return self.run("squeue", "--noheader", "--format=%j").split()

    def jobs(self):
        """Every job so far, oldest first: JobId, JobName, JobState ... in Slurm's own words."""
        jobs = [
            dict(field.split("=", 1) for field in line.split() if "=" in field)
            for line in self.run("scontrol", "--oneliner", "show", "job").splitlines()
            if line.startswith("JobId=")
        ]
        return sorted(jobs, key=lambda job: int(job["JobId"]))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with open("/tmp/tight-shuffle-slurm.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one at a time: they would take each other's cores
        with Keeper(sys.argv[1]) as keeper:
            print(keeper.folder, flush=True)
            for line in sys.stdin:
                keeper.start(line.strip())
