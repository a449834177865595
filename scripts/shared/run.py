"""What a run says beside Snakemake's own messages: why it cannot begin, and which errors ended its jobs."""

import os
import re
import time
from collections.abc import Iterable
from pathlib import Path

BEGAN = time.time()
REFUSED = re.compile(  # the scheduler's message in Snakemake's log
    r"^Error in rule (\w+):\n    message: (?!None)(.*?)"
    r"\s*(?:sbatch call:|For further error details|\n    jobid:)",
    re.DOTALL | re.MULTILINE,
)


def check_folder() -> None:
    """ValueError if Snakemake could not write its records here; it would end with a traceback."""
    if not os.access(".snakemake" if Path(".snakemake").exists() else ".", os.W_OK):
        raise ValueError(f"{Path.cwd()} is not writable: use another folder with snakemake -d FOLDER")


def check_regular(files: Iterable[str]) -> None:
    """ValueError naming what is there, but no file: a folder has no bytes, and a pipe may have no end."""
    for file in files:
        if Path(file).exists() and not Path(file).is_file():
            raise ValueError(f"{file}: not a regular file")


def check_dates(files: Iterable[str]) -> None:
    """ValueError naming a file that is dated in the future; Snakemake refuses what is made from it."""
    for file in files:
        if Path(file).exists() and Path(file).stat().st_mtime > time.time() + 1:
            raise ValueError(f"{file} is dated in the future: touch it, and run again")


def last_words(logs: Iterable[str], snakemake: str) -> list[str]:
    """Why jobs did not finish, one line each: first of those whose logs have no error, last their own errors.

    Between them is what ``snakemake``, the text of Snakemake's log, says of jobs on a cluster.
    """
    silent, own = [], []
    for log in map(Path, logs):
        if log.is_file() and log.stat().st_mtime >= BEGAN:
            errors = [line for line in log.read_text("utf-8", "replace").splitlines() if " ERROR " in line]
            own += [line.partition(" ERROR ")[2] for line in errors[-1:]]
            silent += [] if errors else [f"{log} has no error: was the job killed, or is the disk full?"]
    said = [f"{rule}: {' '.join(message.split())}" for rule, message in REFUSED.findall(snakemake)]
    return [f"error: {line}" for line in dict.fromkeys([*silent, *said, *own])]
