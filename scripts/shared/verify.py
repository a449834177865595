"""Are the results what their jobs wrote, and what ours were?

    snakemake --summary | python -m scripts.shared.verify results

Each job notes in its log what it has read and written (`notes`). So the first question is answered after a
run of any part, and a result that was changed by hand is found also after later runs have used it. Ours are
the sums and findings of a run with the paper's settings, in data/reference/ (`write_reference`).
"""

import functools
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.shared.code import ROOT, code_digest, digest
from scripts.shared.notes import Notes, last_notes

REFERENCE = ROOT / "data/reference"
SUMS, FINDINGS = "SHA256SUMS", "findings.json"
# Another processor or another version of a library may round the last digits in another way.
TOLERANCE = 1e-6  # relative, of a finding


@dataclass(frozen=True)
class Check:
    """Results beside the notes of the jobs that made them. All files are sorted."""

    same: list[str]  # what their jobs wrote, from the code and data that are here now
    changed: list[str]  # others than their jobs wrote
    stale: list[
        str
    ]  # made from other code or data than are here now, each with the name of such a file
    missing: list[str]  # noted, but not there
    without_notes: list[str]  # there, but no log says who made them
    left_over: list[str]  # that no setting makes any more; these are not checked


def check(outputs: Set[str], made_by: Mapping[str, Notes]) -> Check:
    """Compare the ``outputs``, which the settings ask for, with the notes of the jobs that made them."""
    noted = outputs & made_by.keys()
    present = {file for file in noted if Path(file).is_file()}
    changed = {file for file in present if digest(file) != made_by[file].wrote[file]}
    others = {file: other_source(made_by[file], made_by) for file in present - changed}
    stale = {file: other for file, other in others.items() if other}
    return Check(
        same=sorted(others.keys() - stale.keys()),
        changed=sorted(changed),
        stale=sorted(f"{file} ({other})" for file, other in stale.items()),
        missing=sorted(noted - present),
        without_notes=sorted(file for file in outputs - noted if Path(file).is_file()),
        left_over=sorted(file for file in made_by.keys() - outputs if Path(file).is_file()),
    )


def other_source(notes: Notes, made_by: Mapping[str, Notes]) -> str | None:
    """A file of the code or the inputs of a job that is not what the job has read, or None.

    Of code, comments do not count. An input that a job makes is what this job noted.
    """
    for file, ran in notes.code.items():
        if not (ROOT / file).is_file() or _tree(file) != ran.tree:
            return file
    for file, content in notes.read.items():
        if file in made_by:
            now = made_by[file].wrote[file]
        else:
            now = _content(file)
        if content != now:
            return file
    return None


def _tree(file: str) -> str:
    """The `code_digest` of a file, or no digest if it is no code any more."""
    try:
        return code_digest(file)
    except SyntaxError:
        return ""


@functools.cache
def _content(file: str) -> str:
    """The SHA-256 of a file, or no sum if it is not there."""
    return digest(file) if Path(file).is_file() else ""


def changed_files(sums: Mapping[str, str]) -> list[str]:
    """The files that are there, but whose bytes are not those of the sum."""
    present = [file for file in sums if Path(file).is_file()]
    return sorted(file for file in present if digest(file) != sums[file])


def sums_of(path: Path) -> dict[str, str]:
    """File -> SHA-256 sum, from a file that the command sha256sum wrote."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {file: noted for noted, file in (line.split("  ", 1) for line in lines)}


@dataclass(frozen=True)
class Comparison:
    """Results beside those of the reference run."""

    of: int  # files that the reference run made
    present: int  # of these, how many are there
    other_bytes: list[str]  # of these, the files that differ
    other_findings: (
        list[str] | None
    )  # keys whose values differ; None if results/findings.json is missing

    def in_words(self) -> str:
        """A sentence or two: how many files have the same bytes, and if not all, what the findings say."""
        same = self.present - len(self.other_bytes)
        text = f"{same} of {self.present} files have the bytes of the reference run"
        if self.present < self.of:
            text += f", which made {self.of - self.present} more"
        if not self.other_bytes:
            return f"{text}."
        text += f". Other bytes: {', '.join(self.other_bytes)}."
        if self.other_findings is None:
            return text
        if not self.other_findings:
            return f"{text}\nAll findings agree within a relative {TOLERANCE:g}."
        return f"{text}\nOther findings: {', '.join(self.other_findings)}."


def compare_with_reference(results: Path, reference: Path) -> Comparison:
    """The files in ``results`` beside the sums in ``reference``, and the findings beside its findings.

    The sums name files from the working folder on, as results/tables/table_II.csv.
    """
    sums = sums_of(reference / SUMS)
    present = [file for file in sums if Path(file).is_file()]
    findings = results / FINDINGS
    return Comparison(
        of=len(sums),
        present=len(present),
        other_bytes=changed_files(sums),
        other_findings=other_findings(findings, reference / FINDINGS)
        if findings.is_file()
        else None,
    )


def other_findings(path: Path, reference: Path) -> list[str]:
    """The keys, such as parity.rows.0.limit, whose values in two files of findings do not agree.

    Numbers agree within a relative `TOLERANCE`, texts and truth values if they are equal. A key that only one
    file has does not agree.
    """
    ours = dict(_values(json.loads(path.read_text(encoding="utf-8"))))
    theirs = dict(_values(json.loads(reference.read_text(encoding="utf-8"))))
    shared = [key for key in theirs if key in ours]
    differing = [key for key in shared if not _agree(ours[key], theirs[key])]
    return sorted([*differing, *(ours.keys() ^ theirs.keys())])


def _values(part: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """(key, value) for every number and text in a part of findings, which is at ``key``."""
    if isinstance(part, dict):
        inner = part.items()
    elif isinstance(part, list):
        inner = dict(enumerate(part)).items()
    else:
        yield key, part
        return
    for name, value in inner:
        yield from _values(value, f"{key}.{name}" if key else str(name))


def _agree(ours: Any, theirs: Any) -> bool:
    numbers = (int, float)
    if isinstance(ours, bool) or not isinstance(ours, numbers) or not isinstance(theirs, numbers):
        return bool(ours == theirs)
    return math.isclose(ours, theirs, rel_tol=TOLERANCE)


def verify(results: str, outputs: Iterable[str]) -> None:
    """Say how the results in a folder compare, and end with an error if they are not as they should be.

    ``outputs`` are the files that a run of all jobs makes. Results in another folder than results/ are of
    other settings, which the reference run did not have.
    """
    checked = check(set(outputs), last_notes(Path(results, "logs")))
    wrong = {
        "Changed since their jobs wrote them": checked.changed,
        "Made from other code or data than are here now": checked.stale,
        "No log says who made them": checked.without_notes,
    }
    for what, files in wrong.items():
        if files:
            print(f"{what}:", *files, sep="\n")
    if checked.missing:
        print("Missing:", *checked.missing, sep="\n")
    if checked.left_over:
        print("No setting makes these any more:", *checked.left_over, sep="\n")
    if any(wrong.values()):
        sys.exit(
            "error: remove these files and run make, which makes them and what was made from them again"
        )
    if checked.missing:
        sys.exit("error: run make, which makes these files again")
    if not checked.same:
        sys.exit(f"error: no job has made a result in {results}: run make first")
    print(f"Verified: {len(checked.same)} files in {results} are what their jobs wrote.")
    if results == "results":
        comparison = compare_with_reference(Path(results), REFERENCE)
        print(comparison.in_words())
        if comparison.other_findings:
            sys.exit("error: these results are not those of the reference run (data/reference)")


if __name__ == "__main__":
    # What `snakemake --summary` prints: a header, and a line for each output, which begins with its path.
    summary = sys.stdin.read().splitlines()[1:]
    verify(sys.argv[1], [line.split("\t")[0] for line in summary])
