"""The pipeline on a real Slurm of three nodes that see files late, and what users of clusters report.

Every run ends: with the same bytes as here, or with a line that says what to do. Then the same command
finishes it. The profile for PBS uses the PBS commands that Debian puts on top of Slurm.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests import ROOT
from tests.workflow.cluster.conftest import SOME, TWO, Cluster, both_profiles, same_bytes
from tests.workflow.cluster.private_slurm import NODES, STUBBORN
from tests.workflow.conftest import Project

pytestmark = [pytest.mark.pipeline, pytest.mark.slow]

LONG = [
    "results/quick/privacy/koskela_fig1a.csv",
    "results/quick/parity_plan.csv",
]  # some seconds of work each
ONCE = ("--retries", "0")
FORGET = Path("/proc/sys/vm/drop_caches")


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


def test_a_job_of_a_killed_run_that_starts_late(cluster):
    """Nobody cancelled it, and another run has made its result since."""
    made = cluster.project.folder / TWO[1]
    cluster.slurm.run("scontrol", "update", "PartitionName=short", "State=DOWN")
    process = cluster.start(TWO[1], *ONCE)
    (job,) = cluster.until(cluster.jobs)
    cluster.slurm.run("scontrol", "hold", job["JobId"])
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert cluster.run("--unlock").returncode == 0
    cluster.slurm.run("scontrol", "update", "PartitionName=short", "State=UP")
    assert cluster.run(TWO[1]).returncode == 0
    written, output = made.stat().st_mtime_ns, Path(job["StdOut"])
    output.parent.mkdir(parents=True, exist_ok=True)  # the last run removed it, and without it no job starts
    cluster.slurm.run("scontrol", "release", job["JobId"])
    cluster.until(lambda: not cluster.slurm.queue())
    assert "another run began here since this job was sent" in output.read_text()
    assert made.stat().st_mtime_ns == written


def test_an_interrupt_leaves_no_job_and_no_lock(cluster):
    process = cluster.start(*LONG)
    cluster.until(lambda: cluster.states() == ["RUNNING", "RUNNING"])
    for job in cluster.jobs():  # they must not end before the interrupt reaches the run
        cluster.slurm.run("scontrol", "suspend", job["JobId"])
    os.killpg(process.pid, signal.SIGINT)
    assert cluster.until(lambda: process.poll() is not None)
    assert process.returncode != 0
    cluster.until(lambda: not cluster.slurm.queue())
    assert set(cluster.states()) == {"CANCELLED"}
    assert cluster.locks() == []
    assert cluster.run(*LONG, "--dry-run").returncode == 0


def last_lines(printed, number=1):
    return printed.rstrip().splitlines()[-number:]


def on(cluster, node, command):
    """Run a shell command on a node, in the project's folder."""
    subprocess.run([*cluster.slurm.on(node, cluster.project.folder), "sh", "-ec", command], check=True)


@pytest.mark.skipif(not os.access(FORGET, os.W_OK), reason="machines cannot be told to look again")
def test_without_waiting_files_that_arrive_late_fail_the_run(local, slurm, tmp_path):
    """Two runs on a machine that misses a file until it looks again: one does not wait for it."""
    projects = (Project(tmp_path / name) for name in ("naive", "shipped"))
    naive, shipped = (Cluster(project, slurm, login=STUBBORN) for project in projects)
    for cluster in (naive, shipped):  # in a folder that is missing, nothing is looked for
        (cluster.project.folder / TWO[0]).parent.mkdir(parents=True)
    runs = naive.start(TWO[0], *ONCE, "--latency-wait", "0"), shipped.start(TWO[0])
    assert runs[0].wait() == 1, naive.printed()
    assert "Missing files after 0 seconds" in naive.printed()
    shipped.until(lambda: "Waiting at most 60 seconds for missing files" in shipped.printed())
    while runs[1].poll() is None:
        FORGET.write_text("2")
        time.sleep(1)
    assert runs[1].returncode == 0, shipped.printed()
    assert (naive.states(), shipped.states()) == (["COMPLETED"], ["COMPLETED"])
    assert len(same_bytes(local, shipped.project)) == 1


def test_code_that_is_edited_while_jobs_are_queued_is_refused(local, cluster):
    """The job whose code is as it was is done; the other refuses, on the node."""
    cluster.slurm.run("scontrol", "update", "PartitionName=short", "State=DOWN")
    process = cluster.start(*TWO, *ONCE)
    cluster.until(lambda: cluster.states() == ["PENDING", "PENDING"])
    script = cluster.project.folder / "reproduction/experiments/curves/gaussian_scale.py"
    script.write_text(script.read_text() + "\n# edited\n")
    cluster.slurm.run("scontrol", "update", "PartitionName=short", "State=UP")
    assert process.wait() != 0
    assert last_lines(cluster.printed()) == [
        "error: compute_curve: reproduction/experiments/curves/gaussian_scale.py, or a file that it imports, "
        "was edited since this run began: run again"
    ]
    assert same_bytes(local, cluster.project) == {"privacy/delta_surface.csv"}


def test_a_node_that_dies_is_replaced(local, cluster):
    process = cluster.start(TWO[0])
    cluster.until(lambda: cluster.states() == ["RUNNING"])
    (job,) = cluster.jobs()
    cluster.slurm.kill(job["NodeList"])
    try:
        cluster.until(lambda: cluster.states() == ["PENDING"])
        # Slurm lets it rest for two minutes, in which nothing is to be tested.
        cluster.slurm.run("scontrol", "update", f"JobId={job['JobId']}", "StartTime=now")
        assert process.wait() == 0, cluster.printed()
        (again,) = cluster.jobs()
        assert again["NodeList"] in set(NODES) - {job["NodeList"]}
        assert len(same_bytes(local, cluster.project)) == 1
    finally:
        cluster.slurm.revive(job["NodeList"])
        cluster.until(lambda: "down" not in cluster.slurm.run("sinfo", "--noheader", "--format=%T"))


def test_a_node_whose_disk_is_full_and_one_where_it_is_read_only(local, cluster):
    """The first says which file; the second cannot write a line, which is said for it."""
    folder = cluster.project.folder / "results/quick/privacy"
    folder.mkdir(parents=True)
    on(cluster, NODES[0], f"mount -t tmpfs -o size=4k none '{folder}'; head -c 4096 /dev/zero >'{folder}/x'")
    on(cluster, NODES[1], "mount --bind . .; mount -o remount,bind,ro .")
    done = cluster.run(*TWO, *ONCE)
    assert done.returncode != 0
    dumb, full = sorted(last_lines(done.stdout, 2), key=lambda line: "disk is full" in line)
    assert full.endswith(".csv: the disk is full: make room and run again")
    assert "there is no results/logs/slurm/" in dumb
    assert dumb.endswith(".log: is this folder full or read-only on the node?)")
    assert "Traceback" not in done.stdout
    on(cluster, NODES[0], f"umount '{folder}' || true")  # Snakemake may have removed the empty folder below
    on(cluster, NODES[1], "umount --lazy .")
    done = cluster.run(*TWO)
    assert done.returncode == 0, done.stdout
    assert len(same_bytes(local, cluster.project)) == 2


def test_make_cluster_check_sends_one_job_or_ends_with_the_reason(cluster):
    command = re.search(r"^\t@snakemake (.*--retries 0.*) &&", (ROOT / "Makefile").read_text(), re.MULTILINE)[
        1
    ]
    small = "results/privacy/delta_surface.csv"
    command = command.replace("$(PROFILE)", "profiles/slurm").replace("$(SMALL)", small).split()
    made = cluster.project.folder / small
    made.parent.mkdir(parents=True)
    made.touch()  # a result that is there is no reason not to send the job
    done = cluster.project.snakemake(*command, environment=cluster.environment)
    assert done.returncode == 0, done.stdout
    assert cluster.states() == ["COMPLETED"]
    assert made.stat().st_size > 1000
    profile = cluster.project.folder / "profiles/slurm/config.yaml"
    profile.write_text(profile.read_text().replace("# slurm_partition: short", "slurm_partition: none"))
    done = cluster.project.snakemake(*command, environment=cluster.environment)
    assert done.returncode != 0
    (line,) = last_lines(done.stdout)
    assert re.match(r"error: \w+: SLURM sbatch failed", line)
    assert "invalid partition specified: none" in line


def test_a_slurm_that_does_not_answer(slurm, tmp_path):
    """The reason is on the terminal, and the run ends."""
    project = Project(tmp_path / "project")
    elsewhere = tmp_path / "bin"
    shutil.copytree(slurm.folder / "bin", elsewhere)
    nobody = (slurm.folder / "slurm.conf").read_text().replace("SlurmctldPort=", "SlurmctldPort=1\n#")
    (tmp_path / "slurm.conf").write_text(nobody)
    for client in elsewhere.iterdir():
        client.write_text(client.read_text().replace(f"{slurm.folder}/slurm.conf", f"{tmp_path}/slurm.conf"))
    alone = Cluster(project, slurm)
    alone.environment["PATH"] = f"{elsewhere}:{os.environ['PATH']}"
    done = alone.run("fig7")
    assert done.returncode != 0
    reason = "slurm_load_partitions: Unable to contact slurm controller"
    assert f"Slurm's controller cannot be reached:\n{reason}" in done.stdout
