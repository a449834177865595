"""Edit every file of docs/rerun.md in the current folder and print whose code that changes.

    python edits.py config/quick.yaml          prints JSON: file -> rules

Each file really gets a further line; its bytes and times are put back.
"""

import json
import os
import sys
from pathlib import Path

sys.path[:0] = ["", "workflow"]

from dag_of import planned  # noqa: E402
from rerun_table import PATTERNS  # noqa: E402

from tightshuffle.pipeline import code  # noqa: E402


def codes(rules):
    """rule -> its parameter ``code`` as the files are now."""
    code._imports.cache_clear()
    return {rule: code.code_of(*paths) for rule, paths in rules.items()}


def changed_by_edit(path, rules, before):
    content, times = path.read_bytes(), path.stat()
    try:
        path.write_bytes(content + b"\n# edited\n")
        return sorted(rule for rule, now in codes(rules).items() if now != before[rule])
    finally:
        path.write_bytes(content)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


if __name__ == "__main__":
    with planned(configfiles=sys.argv[1:]) as workflow:
        rules = {job.rule.name: list(job.params.get("code", ())) for job in workflow.dag.jobs}
    before = codes(rules)
    answers = {
        str(path): changed_by_edit(path, rules, before)
        for path in sorted({path for pattern in PATTERNS for path in Path().glob(pattern)})
    }
    assert codes(rules) == before
    print(json.dumps(answers))
