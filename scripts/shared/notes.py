"""What a job notes at the end of its log: the sums of its code, and of the files that it read and wrote.

From these notes follows what Snakemake's own records do not say: that a result was changed by hand, or was
made from code or data that are not there any more.
"""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.shared.code import ROOT, digest, digests

# A line of a log: the time, one of the three words, one or two sums, and the file.
LINE = re.compile(
    r"^(\S+ \S+) INFO (code|read|wrote) ([0-9a-f]+)(?: ([0-9a-f]+))?  (.+)$", re.MULTILINE
)


@dataclass(frozen=True)
class Code:
    """A file of code as a job has run it."""

    content: str  # SHA-256 of its bytes
    tree: str  # its `code_digest`


@dataclass(frozen=True)
class Notes:
    """The notes of one job, by file."""

    code: dict[str, Code]
    read: dict[str, str]  # SHA-256
    wrote: dict[str, str] = field(default_factory=dict)  # SHA-256
    time: str = ""  # when the job ended, such as 2026-01-31 23:59:59,999

    def edited(self, planned: Mapping[str, str]) -> list[str]:
        """The files that the job has read otherwise than ``planned``, which is file -> SHA-256.

        A file that ``planned`` lacks may have any content.
        """
        content = {file: ran.content for file, ran in self.code.items()} | self.read
        return [file for file in content if planned.get(file, content[file]) != content[file]]


def code_and_settings(params: Iterable[Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """The parameters of a job as two mappings: its code, file -> `code_digest`, and its settings by name.

    A rule gives them as a tuple (file, digest) for each file, and a dict of one item for each setting.
    """
    trees, settings = {}, {}
    for value in params:
        if isinstance(value, tuple):
            file, tree = value
            trees[file] = tree
        else:
            settings.update(value)
    return trees, settings


def first_notes(trees: Mapping[str, str], inputs: Iterable[str]) -> Notes:
    """The notes of a job that begins: its code, file -> `code_digest`, and its inputs."""
    code = {file: Code(digest(ROOT / file), tree) for file, tree in trees.items()}
    return Notes(code, digests(inputs))


def log_notes(notes: Notes, outputs: Iterable[str]) -> None:
    """Log the notes of a job that ends, and the sums of its outputs."""
    for file, ran in notes.code.items():
        logging.info("code %s %s  %s", ran.content, ran.tree, file)
    for file, content in notes.read.items():
        logging.info("read %s  %s", content, file)
    for file in outputs:
        logging.info("wrote %s  %s", digest(file), file)


def notes_of(log: Path) -> Notes | None:
    """The notes in a log, or None: a job that fails has none."""
    lines = LINE.findall(log.read_text("utf-8", errors="replace"))
    if not lines:
        return None
    code, read, wrote = {}, {}, {}
    for _, word, content, tree, file in lines:
        match word:
            case "code":
                code[file] = Code(content, tree)
            case "read":
                read[file] = content
            case "wrote":
                wrote[file] = content
    return Notes(code, read, wrote, time=lines[-1][0])


def last_notes(logs: Path) -> dict[str, Notes]:
    """File -> the notes of the job that wrote it last; from all logs in a folder."""
    notes = [found for log in logs.rglob("*.log") if (found := notes_of(log))]
    notes.sort(key=lambda found: found.time)
    return {file: found for found in notes for file in found.wrote}


def jobs_of_edits(jobs: Iterable[Any], planned: Mapping[str, str]) -> Iterator[tuple[Any, str]]:
    """The jobs of a run that have read other code or data than it was planned with, each with such a file.

    ``jobs`` are Snakemake's, ended without an error. ``planned`` has the SHA-256 of each file of code when
    the run was planned. Those of data are in the jobs' setting ``contents``.
    """
    for job in jobs:
        notes = notes_of(Path(job.log[0])) if job.log else None
        if notes:
            _, settings = code_and_settings(job.params)
            for file in notes.edited({**planned, **settings.get("contents", {})})[:1]:
                yield job, file
