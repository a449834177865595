"""Print docs/rerun.md: for every module and script, which rules run again when it is edited.

    python workflow/rerun_table.py > docs/rerun.md       (make docs)

tests/workflow/test_rerun.py edits each of the files in a finished project and compares.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dag_of import planned, rule_edges

from tightshuffle.pipeline.code import files_of

PATTERNS = ("tightshuffle/**/*.py", "tightshuffle/*.mplstyle", "scripts/*.py", "workflow/report/*.*")
ANY = "config/config.yaml"  # a file that exists: its digest alone is read
POINTS = {"budgets": [{"eps0": 4, "eps": 1}], "n": [1000], "repetitions": 1}
OWN_DATA = {  # of the user's own: check-ins, and a histogram
    "gowalla": {"source": "file", "file": ANY},
    "datasets": {"mine": {"kind": "counts", "title": "Mine", "file": ANY, "tv": POINTS}},
}
HEAD = """# What runs again after an edit

Made by `make docs` (`workflow/rerun_table.py`) from the graph that Snakemake builds. A test appends a line to
each of these files, one at a time, and checks whose code changes: these rules and no other.

A rule's parameter `code` is a digest of its script and of every module of this project that the script
imports (`code_of` in `tightshuffle/pipeline/code.py` follows the imports). Snakemake compares parameters by
value: whatever the dates say, an edit reruns what imports the file, and touching it reruns nothing.

- "Its own rules" have the file in their code. "What follows" runs because its inputs were made again.
- A colour or a word in a drawing script redraws the figures of that one script and the report that
  shows them. The colours of the three mechanisms, and what else all figures share, stand in
  `tightshuffle/plotting.py` and `tightshuffle.mplstyle` on purpose: they are the same everywhere, so an
  edit there redraws every figure.
- Points are rows, not files: a changed `repetitions` or a new `n` runs the files of trials of that dataset
  again, one per budget, and a new budget runs its own file only. The values of the old points stay the same,
  for a point's seed depends on its own parameters. Then the figures and tables that show them.
- Rules marked † are not part of the default run: `use_counts` takes a histogram of your own; the others
  stand in the place of `use_bundled_counts` with `gowalla.source: snap` or `file`. `download_checkins`
  takes no code: an md5 says what comes out.
- The texts `workflow/report/*.rst` are read by `snakemake --report` only, which runs nothing again.
- Rules themselves (`Snakefile`, `*.smk`) are no inputs: a changed parameter or set of inputs reruns a rule,
  its text does not.

| file | its own rules | what follows |
|---|---|---|"""


def code_of_rules(workflow):
    """rule name -> the files whose digests its jobs have as their parameter ``code``."""
    found = {}
    for job in workflow.dag.jobs:
        found.setdefault(job.rule.name, set()).update(files_of(*job.params.get("code", ())))
    return found


def followers(rules, edges):
    """The rules that take, directly or not, what ``rules`` make; without ``all`` and ``rules`` themselves."""
    reached, open_ends = set(rules), list(rules)
    while open_ends:
        rule = open_ends.pop()
        new = {name for name, needed in edges.items() if rule in needed} - reached
        reached |= new
        open_ends += new
    return reached - set(rules) - {"all"}


def table():
    """(file, its own rules, what follows) of every file; † marks rules that only own data need."""
    code, edges, usual = {}, {}, None
    for config in ({}, OWN_DATA):
        with planned(config=config) as workflow:
            here = rule_edges(workflow)
            usual = usual or set(here)
            for name, files in code_of_rules(workflow).items():
                code.setdefault(name, set()).update(files)
            for name, needed in here.items():
                edges.setdefault(name, set()).update(needed)

    def listed(rules):
        return ", ".join(name if name in usual else f"{name} †" for name in sorted(rules)) or "–"

    rows = []
    for file in sorted(str(path) for pattern in PATTERNS for path in Path().glob(pattern)):
        own = {name for name, files in code.items() if file in files}
        rows.append((file, listed(own) if own else "nothing", listed(followers(own, edges))))
    return rows


if __name__ == "__main__":
    lines = [f"| `{file}` | {own} | {after} |" for file, own, after in table()]
    print("\n".join([HEAD, *lines]))
