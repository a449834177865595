"""What a run does before its first job (make sure that it is alone) and after its last (repeat the errors).

Reading the Snakefile does none of this: only a run with jobs to do changes anything on disk.
"""

import atexit
import errno
import fcntl
import json
import os
import re
import socket
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

from reproduction.jobs import checksums
from reproduction.jobs.run_facts import settled, told

STATE = Path(".snakemake")
RUN, JOBS = STATE / "run.lock", STATE / "jobs.lock"  # held by a run until its end; by each job while it works
ERRORS = STATE / "errors"  # a file per failed job: on NFS, two machines cannot append to one
HALF_WRITTEN = re.compile(r"\..+\.[0-9a-f]{32}\.part(\..*)?")  # what `job.whole_file` writes to

NO_OUTPUT = "there is no"
FAILED = re.compile(  # what follows "Error in rule" in Snakemake's log, of a job elsewhere
    r"(\w+):\n    message: (.*?)\s*(?:sbatch call:|For further error details).*?\n    log: (.*?) \(check log",
    flags=re.DOTALL,
)

_held: list[TextIO] = []  # the open file whose lock says that this run is alive; the system closes it at exit


def begin(locked_by_snakemake: bool = False) -> str:
    """Reserve the folder for this run, wait for jobs of a killed run, and remove their temporary files.

    Returns the name of this run, which no other run has, for `check_at_work`.
    ValueError, one line that says what to do, in two cases. Another run is active. Or a run on a cluster was
    killed: Snakemake's locks stay, because jobs of that run may still be queued.
    """
    run = _open(RUN)
    if not lock(run, fcntl.LOCK_EX | fcntl.LOCK_NB):
        raise ValueError(
            f"another run is active in this folder ({run.readline().strip()}): wait for its end, or stop it"
        )
    if not locked_by_snakemake and any((STATE / "locks").glob("*")):
        raise ValueError(
            "a run on a cluster was killed in this folder: cancel its jobs, then snakemake --unlock"
        )
    _held.append(run)
    run.truncate(0)
    name = uuid.uuid4().hex
    run.write(f"process {os.getpid()} on {socket.gethostname()}\n{name}")
    run.flush()
    with _open(JOBS) as jobs:
        if not lock(jobs, fcntl.LOCK_EX | fcntl.LOCK_NB):
            print("waiting for the jobs of a killed run to end ...", file=sys.stderr)
            lock(jobs, fcntl.LOCK_EX)
    for folder in {result.parent for result in checksums.made()}:
        for path in folder.glob(".*.part*"):
            if HALF_WRITTEN.fullmatch(path.name) and path.is_file():
                path.unlink()
    ERRORS.mkdir(exist_ok=True)  # never removed: on NFS, another machine would miss it for a while
    for path in ERRORS.iterdir():
        path.unlink()
    return name


def take(folder: str, files: list[str], settings: list[str]) -> None:
    """Record which configuration a results folder belongs to: its files, and settings from the command line.

    ValueError if the folder holds results of another configuration with the same name, whose files still
    exist.
    """
    ours, mark = [files, settings], STATE / "configurations" / Path(folder).name
    before = json.loads(mark.read_text("utf-8")) if mark.exists() else ours
    held = any(path.is_relative_to(folder) and path.exists() for path in checksums.made())
    if before != ours and held and all(map(os.path.exists, before[0])):
        raise ValueError(
            f"{folder} holds the results of {' '.join(before[0] + before[1])}: "
            f"give your file another name, or remove {folder}"
        )
    mark.parent.mkdir(exist_ok=True)
    mark.write_text(json.dumps(ours), "utf-8")


def check_at_work() -> None:
    """ValueError in a job of a killed run, if another run has begun in this folder since.

    The old job may have other settings, and its files would replace those of the new run.
    """
    ours = told("run", None)

    def problem() -> str | None:
        if ours is None or (RUN.exists() and RUN.read_text("utf-8").endswith(ours)):
            return None
        return "another run began here since this job was sent: cancel the jobs of the old run"

    if wrong := settled(problem):
        raise ValueError(wrong)


def check_folder() -> None:
    """ValueError, one line: the folder is not writable, or something that is no file is in a result's place.

    Snakemake would end with a traceback, or take a folder for the result.
    """
    if not os.access(STATE if STATE.exists() else ".", os.W_OK):
        raise ValueError(f"{Path.cwd()} is not writable: use another folder with snakemake -d FOLDER")
    for path in checksums.made():
        if os.path.lexists(path) and not path.is_file():
            raise ValueError(f"{path}: {checksums.NO_FILE}")


def report(message: str) -> None:
    """Make the run end with this error; if no file can be written, it goes to the job's output."""
    try:
        ERRORS.mkdir(parents=True, exist_ok=True)
        (ERRORS / f"{time.time_ns()}-{uuid.uuid4().hex}").write_text(f"error: {message}", "utf-8")
    except OSError:
        print(f"error: {message}", file=sys.stderr)


def errors() -> list[str]:
    """The errors of this run's jobs, oldest first. An empty file means that the disk was full."""
    files = sorted(ERRORS.iterdir()) if ERRORS.exists() else []
    full = f"error: {STATE}: the disk is full: make room and run again"
    return [path.read_text("utf-8") or full for path in files]


def end_with_errors(logs: Iterable[str]) -> None:
    """Print the errors of this run's jobs at its very end.

    For jobs that could not report an error, print the scheduler's last line from Snakemake's ``logs``.
    """
    own = errors()
    reported = Counter(line.split(": ")[1] for line in own)
    failed = [failure for log in logs for failure in _last_words(log)]
    failures = Counter(rule for rule, _ in failed)
    # One line for each rule with a job that could not report: of one without output, if there is one.
    failed.sort(key=lambda failure: NO_OUTPUT in failure[1])
    silent = {rule: line for rule, line in failed if failures[rule] > reported[rule]}
    words = [f"error: {rule}: {line}" for rule, line in silent.items()]
    if words or own:
        atexit.register(print, *words, *dict.fromkeys(own), sep="\n", file=sys.stderr)


def end_with_files(jobs: Iterable[Any], targets: Iterable[str]) -> None:
    """Print, last of all, the files of the requested figure, report or article."""
    wanted = [job for job in jobs if job.rule.name in targets]
    named = [job for job in wanted if re.match(r"fig\d|report|article", job.rule.name)]
    if files := [str(file) for job in named for file in job.input if not file.endswith(".csv")]:
        atexit.register(print, *files, sep="\n")


def _last_words(log: str) -> list[tuple[str, str]]:
    """(rule, one line of Snakemake's log) for every failed job."""
    words = []
    for failure in Path(log).read_text("utf-8", "replace").split("Error in rule "):
        if not (found := FAILED.match(failure)):
            continue
        rule, message, logs = found.groups()
        output = os.path.relpath(logs.split(", ")[-1])  # the scheduler's file with the job's output
        known = Path(output).exists() or "sbatch" in message
        hint = "" if known else f" ({NO_OUTPUT} {output}: is this folder full or read-only on the node?)"
        words.append((rule, " ".join(message.split()) + hint))
    return words


def job_at_work() -> TextIO:
    """An open file that marks a job as active until it is closed or its process ends.

    ValueError as `check_at_work`. A run that begins later waits for the file.
    """
    file = _open(JOBS)
    lock(file, fcntl.LOCK_SH)
    check_at_work()
    return file


def lock(file: TextIO, how: int) -> bool:
    """Lock an open file as ``fcntl.flock`` does; False if somebody else holds it.

    True also on a file system without locks, where two runs cannot be detected.
    """
    try:
        fcntl.flock(file, how)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
            raise
    return True


def _open(path: Path) -> TextIO:
    path.parent.mkdir(exist_ok=True)
    file = path.open("a+", encoding="utf-8")
    file.seek(0)
    return file
