"""What a run says beside Snakemake's own messages: why it cannot begin, and which errors ended its jobs."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

BEGAN = time.time()


def check_folder() -> None:
    """ValueError if Snakemake could not write its records here; it would end with a traceback."""
    if not os.access(".snakemake" if Path(".snakemake").exists() else ".", os.W_OK):
        raise ValueError(f"{Path.cwd()} is not writable: use another folder with snakemake -d FOLDER")


def check_dates(files: Iterable[str]) -> None:
    """ValueError naming a file that is dated in the future; Snakemake refuses what is made from it."""
    for file in files:
        if Path(file).exists() and Path(file).stat().st_mtime > time.time() + 1:
            raise ValueError(f"{file} is dated in the future: touch it, and run again")


def last_words(logs: Iterable[str]) -> list[str]:
    """The errors in the logs of jobs that did not finish, one line each; also of jobs that were killed."""
    words = []
    for log in map(Path, logs):
        if log.is_file() and log.stat().st_mtime >= BEGAN:
            errors = [line for line in log.read_text("utf-8", "replace").splitlines() if " ERROR " in line]
            said = errors[-1].partition(" ERROR ")[2] if errors else ""
            words.append(f"error: {said or f'{log} has no error: was the job killed, or is the disk full?'}")
    return words
