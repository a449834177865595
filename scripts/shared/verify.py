"""Are the results what their jobs wrote, and what ours were? `python -m scripts.shared.verify results`.

Each job notes the sums of its outputs in its log. So the first question is answered after a run of any part,
and a result that was changed by hand is found also after later runs have used it. Ours are the sums and
findings of a run with the paper's settings, in data/reference/ (`write_reference`).
"""

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.shared.code import ROOT, digest

# As `job.SUM` is logged.
NOTE = re.compile(r"^(\S+ \S+) INFO sha256 ([0-9a-f]{64})  (.+)$", re.MULTILINE)
REFERENCE = ROOT / "data/reference"
SUMS, FINDINGS = "SHA256SUMS", "findings.json"
# Another processor or another version of a library may round the last digits in another way.
TOLERANCE = 1e-6  # relative, of a finding


def noted_sums(logs: Path) -> dict[str, str]:
    """File -> its SHA-256 sum, as the last job that wrote it has noted; from all logs in a folder."""
    notes: list[tuple[str, str, str]] = []  # time, sum, file
    for log in logs.rglob("*.log"):
        notes += NOTE.findall(log.read_text(encoding="utf-8", errors="replace"))
    return {file: noted for _, noted, file in sorted(notes)}


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


def verify(results: str) -> None:
    """Say how the results in a folder compare, and end with an error if they are not as they should be.

    Results in another folder than results/ are of other settings, which the reference run did not have.
    """
    sums = noted_sums(Path(results, "logs"))
    if not sums:
        sys.exit(f"error: no job has made a result in {results}: run make first")
    changed = changed_files(sums)
    if changed:
        print("Changed since their jobs wrote them:", *changed, sep="\n")
        sys.exit(
            "error: remove these files and run make, which makes them and what was made from them again"
        )
    print(f"Verified: no result in {results} has changed since its job wrote it.")
    if results == "results":
        comparison = compare_with_reference(Path(results), REFERENCE)
        print(comparison.in_words())
        if comparison.other_findings:
            sys.exit("error: these results are not those of the reference run (data/reference)")


if __name__ == "__main__":
    verify(sys.argv[1])
