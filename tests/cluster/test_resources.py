"""Every rule says what it needs, with headroom over what was measured, and small jobs are sent in groups."""

import contextlib
import csv
import importlib.util
import re

import pytest

from tests.conftest import ROOT

SNAKEMAKE_MB = 500  # Snakemake's own share in every job, workflow/rules/common.smk
RULES = [
    rule
    for file in sorted((ROOT / "workflow/rules").glob("*.smk"))
    for rule in re.split(r"^(?= *rule \w+:)", file.read_text(), flags=re.MULTILINE)[1:]
]


@contextlib.contextmanager
def plain(project, profile):
    """Snakemake's own lines instead of the short ones: they name every job's resources and group."""
    path = project.folder / f"profiles/{profile}/config.yaml"
    before = path.read_text()
    path.write_text(before.replace("logger: rich\n", ""))
    try:
        yield
    finally:
        path.write_text(before)


def name_of(rule):
    return re.match(r" *rule (\w+)", rule)[1]


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_a_rule_states_its_needs(rule):
    """Memory and time that grow with the attempt, and where the job runs: here, or in a group on a node."""
    assert re.search(r"mem_mb=memory\(\d+\),", rule)
    assert re.search(r"runtime=(minutes\(\d+\)|lambda wildcards, attempt: \d+ \* attempt),", rule)
    assert len(re.findall(r"^ +(?:localrule: True|group:\n +\"\w+\")$", rule, flags=re.MULTILINE)) == 1


@pytest.mark.pipeline
def test_memory_has_headroom_over_what_was_measured(finished):
    """max_rss of the quick pipeline's jobs; the rules state half as much again, a fifth must be left."""
    with plain(finished, "default"):
        plan = finished.make("--dry-run", "--forceall")
    stated = dict(
        re.findall(r"^ *(?:local)?rule (\w+):\n(?: .*\n)*?  +resources: .*?mem_mb=(\d+)", plan, re.M)
    )
    folder = finished.folder / "results/quick/benchmarks"
    measured = {}
    for path in folder.rglob("*.tsv"):
        rule = re.sub(r"_fig1[ab]$", "", path.relative_to(folder).parts[0].removesuffix(".tsv"))
        with open(path, newline="") as file:
            (row,) = csv.DictReader(file, delimiter="\t")
        measured[rule] = max(measured.get(rule, 0), float(row["max_rss"]))
    assert len(measured) > 20
    assert measured.keys() <= stated.keys()
    short = {name: peak for name, peak in measured.items() if int(stated[name]) < SNAKEMAKE_MB + 1.2 * peak}
    assert short == {}


@pytest.mark.pipeline
@pytest.mark.parametrize("profile", ["slurm", "cluster-generic"])
def test_a_thousand_points_are_few_submissions(fresh, profile):
    """The scale run and all else. A dry run forms the same groups as a run, each one submission."""
    if not importlib.util.find_spec(f"snakemake_executor_plugin_{profile.replace('-', '_')}"):
        pytest.skip("the executor plugins are not installed: make cluster")
    scale = ["--configfile", "config/scale.yaml", "--workflow-profile", f"profiles/{profile}"]
    with plain(fresh, profile):
        plan = fresh.snakemake(*scale, "--dry-run", "--", "trials", "all").stdout
    assert (
        int(re.search(r"^run_trials +(\d+)$", plan, flags=re.MULTILINE)[1]) == 130 + 5
    )  # the grid's, the papers'
    groups = re.findall(r"Group job (\w+)", plan)
    outside = set(re.findall(r"^rule (\w+):", plan, flags=re.MULTILINE))
    local = {name_of(rule) for rule in RULES if "localrule: True" in rule}
    assert set(groups) == {"trials", "accountants"}
    assert outside <= local | {"all", "trials"}
    assert len(groups) <= 50
