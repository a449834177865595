"""One SHA-256 sum per result, to detect results that were changed after their job.

Snakemake records the inputs of a result, but not the result itself, so it does not notice a truncated or
edited file. A job therefore records the sums of its outputs (.snakemake/sums/PATH) when it ends, and checks
the sums of its inputs when it begins. An empty sum means that the job did not end. A file without a sum was
not made by a job of this folder: it comes from elsewhere, or belongs to the user.

    python -m reproduction.jobs.checksums        checks all results (make verify)
"""

import contextlib
import functools
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from reproduction.jobs.code import digest
from reproduction.jobs.run_facts import settled

RESULTS = Path("results")
SUMS = Path(".snakemake/sums")
UNRECORDED = {"logs", "benchmarks", "bench", "site", "README.md"}  # in results/, but not results
COPIED = "results that were copied here need the folder .snakemake that belongs to them"
NO_FILE = "a folder, a pipe or a broken link instead of a file. Remove it and run again"


def is_result(path: str | Path) -> bool:
    """Whether a path, relative to the folder of the run, is the path of a result."""
    parts = Path(path).parts
    return parts[:1] == RESULTS.parts and not UNRECORDED & set(parts)


def problem(path: str | Path) -> str | None:
    """The fault of a result, and what to do about it; None if it has not changed since its job."""
    recorded_sum = SUMS / path
    before = recorded_sum.read_text() if recorded_sum.exists() else ""
    if not before:
        wrong = "no job of this folder made it, or its job did not end"
        return f"{path}: {wrong}. Remove it and run again ({COPIED})"
    if not Path(path).is_file():
        return f"{path}: {NO_FILE}"
    if digest(path) != before:
        return f"{path}: changed since its job ended. Remove it and run again"
    return None


@contextlib.contextmanager
def recorded(inputs: Iterable[str], outputs: Iterable[str]) -> Iterator[None]:
    """Check the inputs; record the sums of the outputs when the block ends without an error.

    ValueError: an input is a result that changed since its job wrote it, or while the block ran.
    """
    inputs, outputs = list(map(str, inputs)), [path for path in outputs if is_result(path)]
    for path in outputs:
        (SUMS / path).parent.mkdir(parents=True, exist_ok=True)
        (SUMS / path).write_text("")
    for path in filter(is_result, inputs):
        if wrong := settled(functools.partial(problem, path)):
            raise ValueError(wrong)
    before = {path: digest(path) for path in inputs}
    yield
    for path in inputs:
        if digest(path) != before[path]:
            raise ValueError(f"{path}: changed while this job read it. Run again")
    for path in outputs:
        (SUMS / path).write_text(digest(path))


def made() -> list[Path]:
    """The results that jobs of this folder made or began to make, sorted; some may be gone."""
    return sorted(path.relative_to(SUMS) for path in SUMS.rglob("*") if path.is_file())


def verify() -> list[str]:
    """The `problem` of every changed result, sorted by path; one line that says so if there is no result.

    Missing results are no problem: the next run makes them. Files that no job began to write are not checked.
    """
    here = [path for path in made() if os.path.lexists(path)]
    if not here:
        return [f"no job of this folder made any result that is here: run make ({COPIED})"]
    return [wrong for path in here if (wrong := problem(path.as_posix()))]


def unknown() -> list[str]:
    """Files in the results folders that no job wrote, without hidden files, sorted."""
    known = set(made())
    paths = [path for path in RESULTS.rglob("[!.]*") if path.is_file() and is_result(path)]
    return sorted(path.as_posix() for path in paths if path not in known)


if __name__ == "__main__":
    problems = verify()
    for line in problems:
        print(f"error: {line}", file=sys.stderr)
    if problems:
        sys.exit(1)
    print("Verified: no result has changed since its job wrote it.")
    if others := unknown():
        print(f"Not checked, as no job of this folder made it: {', '.join(others[:3])}", end="")
        print(f" and {len(others) - 3} more" if len(others) > 3 else "")
