"""What a run does before its first job: be alone in the folder, and trust nothing that was tampered with."""

import fcntl
import os
import shutil
import socket
import sys
import time
import uuid
from pathlib import Path

from ._records import RESULTS, RUN, distrusted, forget, sweep, without_record

LOCKS = Path(".snakemake/locks")
CLUSTER = "cluster"  # stands in RUN where jobs may outlive the run
CLOCK_S = 5.0  # file servers' clocks may be ahead by so much
SHOWN = 5  # so many files are named one by one

_held = []  # the open file whose lock says that this run is alive; the system frees it however the run ends


def begin(*, makes, sources):
    """Take the folder for this run. ``makes(path)``: whether a rule makes that file; ``sources``: folders.

    ValueError, one line that says what to do: another run is at work, results/ cannot be written, a source
    is dated in the future, or results/ holds files of unknown origin.
    """
    if not _be_alone():
        return
    if RESULTS.exists() and not os.access(RESULTS, os.W_OK | os.X_OK):
        raise ValueError(
            f"{RESULTS.resolve()}: cannot be written (a read-only disk or folder): allow writing there"
        )
    _mend_dates(sources)
    sweep()
    causes, others = distrusted()
    for path, why in list(causes.items())[:SHOWN]:
        _say(f"{path} {why}: to be made again")
    if len(causes) > SHOWN or others:
        _say(f"to be made again in all, with what was made from them: {len(causes) + len(others)} files")
    forget([*causes, *others])
    unknown = [path for path in without_record() if makes(path)]
    if unknown:
        raise ValueError(
            f"{unknown[0]}{f' and {len(unknown) - 1} more' if unknown[1:] else ''}: not made in this folder "
            "(no record), so the settings behind it are unknown; remove it (all: make clean) or, if the "
            "results were copied here, copy the folder .snakemake that belongs to them too"
        )


def _be_alone():
    """Hold the folder's lock until this process ends; locks of a killed run of this machine are removed.

    False if that run's jobs may still be at work on a cluster: Snakemake then says how to unlock.
    """
    if _held:  # this very process read the Snakefile before
        return True
    RUN.parent.mkdir(exist_ok=True)
    file = RUN.open("a+")
    file.seek(0)
    owner = file.read().split()
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        process = f" (process {owner[1]} on {owner[0]})" if len(owner) > 1 else ""
        raise ValueError(
            f"another run is at work in this folder{process}: wait for its end, or stop it; "
            "meanwhile only dry runs (snakemake -n) are possible"
        ) from None
    except OSError:
        return True  # a file system without locks: Snakemake's own, which outlive a killed run, must do
    _held.append(file)
    if CLUSTER in owner and any(LOCKS.glob("*")):
        return False
    if owner[:1] == [socket.gethostname()]:  # of another machine we cannot know: Snakemake asks the user
        shutil.rmtree(LOCKS, ignore_errors=True)
    file.truncate(0)
    file.write(f"{socket.gethostname()} {os.getpid()} {uuid.uuid4().hex}")
    file.flush()
    return True


def send_jobs_away():
    """Note that this run's jobs will outlive it if it is killed: they run elsewhere."""
    if _held and CLUSTER not in RUN.read_text(encoding="utf-8").split():
        _held[0].write(f" {CLUSTER}")
        _held[0].flush()


def _mend_dates(sources):
    """Results dated in the future get today's date; for a source that is an error, for it is the user's."""
    now = time.time()
    for folder in (RESULTS, *map(Path, sources)):
        for path in [folder, *folder.rglob("*")] if folder.is_dir() else [folder]:
            if not path.is_file() or path.stat().st_mtime <= now + CLOCK_S:
                continue
            if folder != RESULTS:
                raise ValueError(
                    f"{path}: dated in the future ({_date(path.stat().st_mtime)}; it is {_date(now)}): "
                    "set the clock, or give such files today's date: "
                    "find . -path ./.venv -prune -o -type f -newermt now -exec touch {} +"
                )
            os.utime(path, (now, now))


def _date(seconds):
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _say(line):
    print(f"note: {line}", file=sys.stderr)
