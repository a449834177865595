"""Does a cluster run this project's jobs? One job of a second, and in words what is wrong.

    python -m reproduction.jobs.cluster_check profiles/slurm

Snakemake sends the job by the profile itself: its partition, account, memory and time are tried too.
"""

import contextlib
import getpass
import json
import math
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

FOLDER = Path("results/logs/cluster_check")  # on the results' own disk, wherever that is
SENT, ANSWER, LOG, PRINTED = (FOLDER / name for name in ("sent", "answer.json", "job.log", "printed"))
PBS_LOG = Path("results/logs/cluster/answer_check-0.log")  # as the profile's qsub has it
MISSING = "some output files are missing"  # Snakemake, of a job that ended well
PATIENCE = 600  # seconds that the job may take, most of them in the queue
SILENCE = 30  # seconds after which a command of Slurm counts as unanswered

ADVICE = [  # what Snakemake, Slurm or a node's shell says, what to do, and a command that lists what there is
    (r"invalid partition", "set slurm_partition to one of these", "sinfo --noheader --format=%R"),
    (
        r"invalid account|account \S+ appears to be invalid|'sacctmgr' reported",
        "set slurm_account to one of these",
        f"sacctmgr --noheader show associations user={getpass.getuser()} format=account",
    ),
    (r"invalid qos", "set slurm-qos to one of these", "sacctmgr --noheader show qos format=name"),
    (r"time limit", "ask for less time (runtime) or another partition", "sinfo --noheader --format=%R=%l"),
    (
        r"memory specification|node configuration is not available",
        "ask for less memory (mem_mb) or another partition",
        "sinfo --noheader --format=%R=%mMB",
    ),
    (
        r"No module named|imports tightshuffle from|python[\w.]*:.*(?:not found|no such file|cannot execute)",
        "the node has another Python: .venv, and the Python that made it, must be where all nodes see them",
        "",
    ),
]


@dataclass
class Job:
    """What Slurm says of the job; nothing of it is known elsewhere."""

    id: str = ""
    log: str = ""
    state: str = ""
    reason: str = ""
    node: str = ""
    waited: float | None = None  # seconds from the job's end to its answer

    @property
    def ended(self) -> bool:
        return self.state not in ("", "PENDING", "CONFIGURING", "RUNNING", "COMPLETING")


def check(profile: str) -> str:
    """Send one job by ``profile`` and say how it went; ValueError, in words, for what is wrong."""
    settings = yaml.safe_load((Path(profile) / "config.yaml").read_text("utf-8"))
    command = [sys.executable, "-m", "snakemake", "--snakefile", "workflow/cluster_check.smk", "--nolock"]
    command += ["--workflow-profile", profile, "--retries", "0"]
    if settings["executor"] == "slurm":
        reach_slurm()
        command += ["--slurm-init-seconds-before-status-checks", "1"]
    elif settings["executor"] == "cluster-generic":
        find(settings["cluster-generic-submit-cmd"])
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in (ANSWER, LOG, PRINTED, PBS_LOG):
        path.unlink(missing_ok=True)
    SENT.write_text(token := uuid.uuid4().hex)
    print(f"One job goes to the cluster as {profile}/config.yaml says ...", flush=True)
    with PRINTED.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, start_new_session=True)
    job = Job()
    try:
        _watch(process, job, settings["latency-wait"])
    finally:
        _stop(process, job)
    if ANSWER.exists():
        return compare(json.loads(ANSWER.read_text("utf-8")), token, job.waited)
    said = "".join(map(_text, (PRINTED, LOG, job.log or PBS_LOG)))
    raise ValueError(explain(said, job, settings["latency-wait"]))


def reach_slurm() -> None:
    """ValueError if no Slurm is here, or none that answers: Snakemake would say so late, or never."""
    find("sbatch")
    try:
        done = subprocess.run(["sinfo"], capture_output=True, text=True, timeout=SILENCE)
    except subprocess.TimeoutExpired:
        raise ValueError(f"Slurm's controller did not answer sinfo within {SILENCE} seconds") from None
    if done.returncode:
        raise ValueError(f"Slurm's controller cannot be reached:\n{done.stderr.strip()}")


def find(submit: str) -> None:
    """ValueError if the last command in a line of shell is not on this machine."""
    command = submit.split(";")[-1].split()[0]
    if not shutil.which(command):
        raise ValueError(f"no {command} on this machine: start on a login node of the cluster")


def explain(said: str, job: Job, latency: int) -> str:
    """Why no answer came within ``latency`` seconds; ``said``: by Snakemake and in the job's logs."""
    refused = re.search(r"The error message was '(.*?)'\.$", said, re.DOTALL | re.MULTILINE)
    for pattern, advice, command in ADVICE:
        if found := re.search(f".*(?:{pattern}).*", said, re.IGNORECASE):
            there = " ".join(_output(command).split()) if command else ""
            return f"{refused[1] if refused else found[0].strip()}\n{advice}{': ' if there else ''}{there}"
    if refused:
        return refused[1]
    ended = f"job {job.id} ended on {job.node} ({job.state})" if job.node else "the job ended"
    # PBS without job history does not tell how a job ended.
    if job.state == "COMPLETED" or job.reason == "JobLaunchFailure" or MISSING in said:
        return (
            f"{ended}, and what it wrote is not here after {latency} seconds: is {Path.cwd()} on a disk that"
            " all nodes share? If so, raise latency-wait"
            + (f", or read what the job printed: {PBS_LOG}" if PBS_LOG.exists() else "")
        )
    return "\n".join([f"{ended}:", *said.strip().splitlines()[-20:]])


def compare(answer: Mapping[str, str], token: str, waited: float | None) -> str:
    """What a node's ``answer`` says; ValueError if the node did not read ``token``, written here."""
    if answer["read"] != token:
        raise ValueError(
            f"{answer['node']} reads another {SENT} than was written here: the folder is not shared"
        )
    here = platform.python_version()
    python = f"Python {answer['version']}" + (f" (here {here})" if answer["version"] != here else "")
    late = "" if waited is None else f" {waited:.0f} seconds after the job's end"
    return (
        f"Node {answer['node']} imports what jobs need with {python}, {answer['python']}.\n"
        f"It read a file that was written here, and what it wrote was here{late}. No other node was tried."
    )


def _watch(process: subprocess.Popen[bytes], job: Job, latency: int) -> None:
    """Fill in ``job`` and say how it fares, until its answer is here or cannot come any more."""
    start, ended, told = time.monotonic(), math.inf, ""
    while process.poll() is None:
        now = time.monotonic()
        if sent := re.search(r"SLURM jobid (\d+) \(log: (.*)\)\.", _text(PRINTED)):
            job.id, job.log = sent.groups()
        if job.id and not job.ended:
            line = _output(f"squeue --noheader --states=all --format=%T|%r|%N --job {job.id}").strip()
            job.state, job.reason, job.node = line.split("|") if line else (job.state, job.reason, job.node)
            if told != (told := f"job {job.id}: {job.state} {job.node or job.reason}"):
                print(f"  {told}", flush=True)
            ended = now if job.ended else ended
        here = ANSWER.exists() if job.state == "COMPLETED" else _text(job.log)
        if job.ended and (here or now > ended + latency):
            job.waited = now - ended
            return
        if now > start + PATIENCE:
            raise ValueError(
                f"no answer after {PATIENCE // 60} minutes; {told or 'nothing is known of a job'}"
            )
        time.sleep(0.5)


def _stop(process: subprocess.Popen[bytes], job: Job) -> None:
    """End Snakemake; it cancels a job that has not ended."""
    if process.poll() is None and not job.ended:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(2 * SILENCE)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _output(command: str) -> str:
    """What a command prints; an empty text if it cannot."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run(command.split(), capture_output=True, text=True, timeout=SILENCE).stdout
    return ""


def _text(path: str | Path) -> str:
    """What is in a file; an empty text if there is none."""
    with contextlib.suppress(OSError):
        return Path(path).read_text("utf-8", "replace")
    return ""


if __name__ == "__main__":
    try:
        print(check(*sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("error: stopped; the job is cancelled")
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
