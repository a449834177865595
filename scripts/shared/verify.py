"""Has a result changed since its job wrote it? `python -m scripts.shared.verify results`.

Each job notes the sums of its outputs in its log. So this works after a run of any part, and a result that
was changed by hand is found also after later runs have used it.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from scripts.shared.code import digest

# As `job.SUM` is logged.
NOTE = re.compile(r"^(\S+ \S+) INFO sha256 ([0-9a-f]{64})  (.+)$", re.MULTILINE)


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


if __name__ == "__main__":
    results = sys.argv[1]
    sums = noted_sums(Path(results, "logs"))
    if not sums:
        sys.exit(f"error: no job has made a result in {results}: run make first")
    changed = changed_files(sums)
    if changed:
        print("Changed since their jobs wrote them:", *changed, sep="\n")
        sys.exit(
            "error: remove these files and run make, which makes them and what was made from them anew"
        )
    print(f"Verified: no result in {results} has changed since its job wrote it.")
