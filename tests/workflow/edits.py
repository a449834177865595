"""Edit every file of docs/rerun.md in the current folder, a finished project, and print what would rerun.

    python edits.py config/quick.yaml          prints JSON: file -> rules

Each file really gets a further line (its bytes and times are put back), and Snakemake itself decides, on
its real records. Only the reading of the Snakefile, which takes 2 s, is done once for all edits.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, "workflow")

from dag_of import planned, rules_to_run
from rerun_table import PATTERNS


def rerun_after_edit(path, workflow):
    before, times = path.read_bytes(), path.stat()
    try:
        path.write_bytes(before + b"\n# edited\n")
        return sorted(rules_to_run(workflow))
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


if __name__ == "__main__":
    with planned(configfiles=sys.argv[1:]) as workflow:
        answers = {"": sorted(rules_to_run(workflow))}
        for path in sorted({path for pattern in PATTERNS for path in Path().glob(pattern)}):
            answers[str(path)] = rerun_after_edit(path, workflow)
        answers["afterwards"] = sorted(rules_to_run(workflow))
    print(json.dumps(answers))
