"""profiles/cluster-generic/scheduler.py: what it says to each scheduler, and what it reads in the answers.

The answers are in the formats that the manuals of Slurm, PBS Pro, Torque, LSF and Grid Engine show; only
Slurm and Debian's PBS commands on top of it are run for real (test_cluster.py).
"""

import importlib.util
import os
import subprocess
import time

import pytest

from tests.conftest import ROOT

FILE = ROOT / "profiles/cluster-generic/scheduler.py"
JOB = {"type": "group", "groupid": "trials", "threads": 2, "resources": {"mem_mb": 875, "runtime": 75}}

PBS_PRO = """\
Job Id: 1234.head
    Job_Name = trials
    Job_Owner = me@head.cluster
    job_state = {}
    queue = workq
    Resource_List.mem = 875mb
"""
TORQUE_ON_SLURM = (
    "Job Id:\t17\n\tJob_Name = trials\n\tJob_Owner = me@head\n\tjob_state = {}\n\tqueue = short\n"
)
SGE = """\
job-ID  prior   name       user         state submit/start at     queue       slots ja-task-ID
-----------------------------------------------------------------------------------------------
    117 0.55500 trials     me           r     11/21/2026 14:00:01 all.q@node1     1
    118 0.55500 figures    me           {:5s} 11/21/2026 14:00:02                 1
   1180 0.00000 figures    other        qw    11/21/2026 14:00:03                 1
"""
NO_JOB = {
    "slurm": "slurm_load_jobs error: Invalid job id specified",
    "pbs": "qstat: Unknown Job Id 118.head",
    "lsf": "Job <118> is not found",
}
BUSY = {
    "slurm": "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
    "pbs": "qstat: cannot connect to server head (errno=111)",
    "lsf": "Cannot connect to LSF. Please wait ...",
    "sge": "error: commlib error: got select error (Connection refused)",
}


@pytest.fixture(scope="module")
def scheduler():
    spec = importlib.util.spec_from_file_location("scheduler", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("slurm", "sbatch --parsable -J trials -o a.log -n 1 -c 2 --mem 875 -t 75 a.sh"),
        ("pbs", "qsub -N trials -o a.log -j oe -l ncpus=2,mem=875mb,walltime=01:15:00 a.sh"),
        (
            "lsf",
            "bsub -J trials -o a.log -n 2 -M 875MB -W 75 -R span[hosts=1] -R rusage[mem=875MB] a.sh",
        ),
        (
            "sge",
            "qsub -terse -cwd -S /bin/sh -N trials -o a.log -j y -l mem_free=875M,h_rt=4500 -pe smp 2 a.sh",
        ),
    ],
)
def test_submission_asks_for_cores_memory_and_time(scheduler, name, command):
    assert scheduler.submission(name, JOB, "a.sh", "a.log") == command.split()


def test_options_of_the_site_come_before_the_script(scheduler, monkeypatch):
    monkeypatch.setattr(scheduler, "OPTIONS", "-p long -A 'my account'")
    words = scheduler.submission("slurm", {**JOB, "groupid": None, "rule": "draw_tv"}, "a.sh", "a.log")
    assert words[:4] == ["sbatch", "--parsable", "-J", "draw_tv"]
    assert words[-5:] == ["-p", "long", "-A", "my account", "a.sh"]


@pytest.mark.parametrize(
    ("name", "printed", "job"),
    [
        ("slurm", "4711\n", "4711"),
        ("slurm", "sbatch: warning\n4711;cluster2\n", "4711"),
        ("pbs", "4711.head.cluster\n", "4711.head.cluster"),
        ("pbs", "4711\n", "4711"),
        ("lsf", "Job <4711> is submitted to default queue <normal>.\n", "4711"),
        ("sge", "4711\n", "4711"),
    ],
)
def test_job_id(scheduler, name, printed, job):
    assert scheduler.job_id(name, printed) == job


def test_a_submission_without_a_job_id_is_an_error(scheduler):
    with pytest.raises(ValueError, match=r"lsf: no job id in .*'Request aborted'"):
        scheduler.job_id("lsf", "Request aborted\n")


@pytest.mark.parametrize(
    ("name", "answer", "states"),
    [
        ("slurm", "{}\n", {"PENDING": True, "RUNNING": True, "COMPLETING": True, "SUSPENDED": True}),
        ("slurm", "{}\n", {"COMPLETED": False, "FAILED": False, "OUT_OF_MEMORY": False, "TIMEOUT": False}),
        ("slurm", "{}\n", {"CANCELLED": False, "NODE_FAIL": False, "": False}),
        ("pbs", PBS_PRO, {"Q": True, "R": True, "H": True, "E": True, "S": True, "F": False, "C": False}),
        ("pbs", TORQUE_ON_SLURM, {"Q": True, "R": True, "C": False}),
        (
            "lsf",
            "{}\n",
            {"PEND": True, "RUN": True, "PSUSP": True, "UNKWN": True, "DONE": False, "EXIT": False},
        ),
        ("sge", SGE, {"qw": True, "r": True, "hqw": True, "t": True, "dr": True, "Eqw": False}),
    ],
)
def test_states(scheduler, name, answer, states):
    for word, waits in states.items():
        found = scheduler.state(name, "118", 0, answer.format(word), "")
        assert found == ("queue" if waits else "ended"), word


def test_a_job_that_the_scheduler_has_forgotten_has_ended(scheduler):
    for name, words in NO_JOB.items():
        assert scheduler.state(name, "118", 1, "", words) == "ended"
    assert scheduler.state("sge", "119", 0, SGE.format("qw"), "") == "ended"
    assert scheduler.state("sge", "119", 0, "", "") == "ended"


def test_a_scheduler_that_cannot_be_reached_ends_no_job(scheduler):
    for name, words in BUSY.items():
        assert scheduler.state(name, "118", 1, "", words) == "queue"


@pytest.fixture
def site(tmp_path):
    """A folder in which the schedulers' commands only note their words and print what a file says."""
    (tmp_path / "bin").mkdir()
    for name in ("sbatch", "squeue", "scancel", "qsub", "qstat", "qdel", "bsub", "bjobs", "bkill"):
        command = tmp_path / "bin" / name
        command.write_text(f'#!/bin/sh\necho {name} "$@" >> said\ncat {name}.says\n')
        command.chmod(0o755)
    (tmp_path / "a.job").write_text('#!/bin/sh\n# properties = {"rule": "r", "threads": 1, "resources": ')
    with open(tmp_path / "a.job", "a") as file:
        file.write('{"mem_mb": 600, "runtime": 3}}\necho worked > done\n')
    return tmp_path


def call(site, name, *words, latency=60):
    """scheduler.py as a user edits it, for the scheduler ``name``."""
    text = FILE.read_text()
    edited = text.replace('SCHEDULER = "slurm"', f'SCHEDULER = "{name}"')
    edited = edited.replace("LATENCY = 60", f"LATENCY = {latency}")
    (site / "scheduler.py").write_text(edited)
    return subprocess.run(
        ["python3", "scheduler.py", *words],
        cwd=site,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{site / 'bin'}:{os.environ['PATH']}"},
    )


PRINTS = {"slurm": "7", "pbs": "7.head", "lsf": "Job <7> is submitted to queue <short>.", "sge": "7"}
COMMANDS = {
    "slurm": ("sbatch", "squeue", "scancel"),
    "pbs": ("qsub", "qstat", "qdel"),
    "lsf": ("bsub", "bjobs", "bkill"),
    "sge": ("qsub", "qstat", "qdel"),
}


@pytest.mark.parametrize("name", PRINTS)
def test_a_jobs_life(site, name):
    submits, asks, cancels = COMMANDS[name]
    (site / f"{submits}.says").write_text(PRINTS[name])
    (site / f"{asks}.says").write_text(
        {"slurm": "RUNNING", "pbs": PBS_PRO.format("R"), "lsf": "RUN", "sge": SGE.replace("118", "  7")}[
            name
        ].format("r")
    )
    done = call(site, name, "submit", "a.job")
    assert done.returncode == 0, done.stderr
    reference = done.stdout.strip()
    assert reference.split("@")[0] == PRINTS[name].removeprefix("Job <").split(">")[0]
    assert call(site, name, "status", reference).stdout == "running\n"
    script = next((site / ".snakemake/cluster").glob("*.sh"))
    assert subprocess.run(["sh", script], cwd=site).returncode == 0
    assert (site / "done").exists()
    assert call(site, name, "status", reference).stdout == "success\n"
    next((site / ".snakemake/cluster").glob("*.exit")).write_text("1\n")
    assert call(site, name, "status", reference).stdout == "failed\n"
    call(site, name, "cancel", reference, reference)
    end = time.monotonic() + 20
    wanted = f"{cancels} {' '.join([reference.split('@')[0]] * 2)}"
    while wanted not in (site / "said").read_text() and time.monotonic() < end:
        time.sleep(0.1)
    assert wanted in (site / "said").read_text()


def test_a_job_that_is_gone_without_an_exit_code_has_failed(site):
    (site / "sbatch.says").write_text("7")
    (site / "squeue.says").write_text("OUT_OF_MEMORY")
    reference = call(site, "slurm", "submit", "a.job").stdout.strip()
    assert call(site, "slurm", "status", reference).stdout == "running\n"  # its code may still arrive
    assert call(site, "slurm", "status", reference, latency=0).stdout == "failed\n"


def test_a_failing_job_keeps_its_exit_code(site):
    (site / "sbatch.says").write_text("7")
    with open(site / "a.job", "a") as file:
        file.write("exit 3\n")
    reference = call(site, "slurm", "submit", "a.job").stdout.strip()
    script = next((site / ".snakemake/cluster").glob("*.sh"))
    assert subprocess.run(["sh", script], cwd=site).returncode == 3
    assert call(site, "slurm", "status", reference).stdout == "failed\n"


def test_a_scheduler_it_does_not_know(site):
    done = call(site, "condor", "status", "7@x")
    assert done.returncode != 0
    assert "SCHEDULER must be one of slurm, pbs, lsf, sge; got 'condor'" in done.stderr
