"""What every result was made from: sums of its own bytes and of all its inputs, written by the job itself.

Snakemake decides by dates and by what it did itself. It cannot see that a result was cut or edited, that an
input changed while its date says otherwise (a clock that jumped, a copy that keeps dates), or that results
came from another folder. The records can. They lie beside Snakemake's own (.snakemake/records/PATH.json), for
a result without Snakemake's record of its parameters cannot be trusted either: both are copied, or none is.
"""

import contextlib
import functools
import hashlib
import json
import os
import uuid
from pathlib import Path

RECORDS = Path(".snakemake/records")
RUN = Path(".snakemake/run")  # the run at work: machine, process, and a word that no other run has
RESULTS = Path("results")
UNRECORDED = ("logs", "benchmarks")  # folders of results/ that say how it went, not what came out
UNFINISHED = {"sum": None, "inputs": {}}  # the record of an output whose job has not ended


def sum_of(path):
    """SHA-256 (hex) of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def run_at_work():
    """The text of `RUN`; None where no run has begun."""
    with contextlib.suppress(OSError):
        return RUN.read_text(encoding="utf-8")
    return None


def is_result(path):
    return Path(path).parts[:1] == RESULTS.parts


def read_record(path):
    """The record of a result: {"sum": hex or None, "inputs": {path: hex}}; None without one.

    A record that cannot be read (a power failure may leave it empty) counts as unfinished.
    """
    try:
        record = json.loads(_place(path).read_text(encoding="utf-8"))
        return record if record.keys() == UNFINISHED.keys() else UNFINISHED
    except FileNotFoundError:
        return None
    except (ValueError, AttributeError):
        return UNFINISHED


@contextlib.contextmanager
def recorded(inputs, outputs):
    """Check the inputs that are results; record the outputs when the block ends without an error.

    ValueError: an input is not as its job left it, or changed while the block ran.
    """
    outputs = [path for path in outputs if is_result(path)]
    if not outputs:  # a download has its own sum; a benchmark has no inputs
        yield
        return
    sums = {}
    for path in map(str, inputs):
        sums[path] = sum_of(path)
        record = read_record(path) if is_result(path) else None
        if record and record["sum"] != sums[path]:
            raise ValueError(
                f"{path}: cut, edited or half made since its job ended; run again to make it anew"
            )
    for path in outputs:
        _write_record(path, UNFINISHED)
    yield
    for path, before in sums.items():
        if sum_of(path) != before:
            raise ValueError(f"{path}: changed while this job read it; run again")
    for path in outputs:
        _write_record(path, {"sum": sum_of(path), "inputs": sums})


def part_of(path):
    """A name beside ``path`` for its bytes until they are whole: no two processes write to the same one."""
    return path.with_name(f".{path.stem}.{uuid.uuid4().hex}.part{path.suffix}")


def sweep():
    """Remove what killed jobs left half written."""
    for folder in (RESULTS, RECORDS):
        for path in folder.rglob(".*.part*"):
            path.unlink(missing_ok=True)


def _place(path):
    return RECORDS / f"{path}.json"


def _write_record(path, record):
    place = _place(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = part_of(place)
    try:
        temporary.write_text(json.dumps(record), encoding="utf-8")
        os.replace(temporary, place)
    finally:
        temporary.unlink(missing_ok=True)


def distrusted():
    """The recorded results that must be made again: {path: why}, and a set of those made from them.

    A result is distrusted that is missing or not as its job left it, or one of whose inputs is other than
    recorded though it looks no newer: such a change Snakemake would not see. Others it sees by itself.
    """
    records = _all_records()
    sum_once = functools.cache(sum_of)
    causes = {}
    for path, record in records.items():
        if why := _doubt(path, record, sum_once):
            causes[path] = why
    users = {}
    for path, record in records.items():
        for source in record["inputs"]:
            users.setdefault(source, []).append(path)
    reached, open_ends = set(causes), list(causes)
    while open_ends:
        for user in users.get(open_ends.pop(), []):
            if user not in reached:
                reached.add(user)
                open_ends.append(user)
    return causes, reached - set(causes)


def _all_records():
    found = {}
    for place in sorted(RECORDS.rglob("*.json")):
        path = place.relative_to(RECORDS).as_posix().removesuffix(".json")
        found[path] = read_record(path)
    return found


def _doubt(path, record, sum_once):
    if not os.path.isfile(path):
        return "is missing"
    if record["sum"] is None:
        return "was left by a job that did not end"
    if sum_once(path) != record["sum"]:
        return "was cut, edited or exchanged"
    made = os.stat(path).st_mtime_ns
    for source, before in record["inputs"].items():
        with contextlib.suppress(OSError):  # gone: Snakemake says so
            if os.stat(source).st_mtime_ns <= made and sum_once(source) != before:
                return f"was made from another {source}, though the dates do not show it"
    return None


def forget(paths):
    """Remove results and then their records: whatever stops this in between, the next run goes on with it."""
    for path in paths:
        Path(path).unlink(missing_ok=True)
    for path in paths:
        _place(path).unlink(missing_ok=True)


def without_record():
    """Files in results/ that have no record, sorted; logs and run times need none."""
    files = (path for path in RESULTS.rglob("*") if path.is_file())
    return sorted(
        path.as_posix()
        for path in files
        if path.relative_to(RESULTS).parts[0] not in UNRECORDED and not _place(path).exists()
    )
