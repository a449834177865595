"""What the cluster profiles ask for: more memory and time than was measured, twice as much on a retry."""

import csv
import importlib.util
import re

import pytest
import yaml

from tests import ROOT

SNAKEMAKE_MB = 500  # the two Snakemake processes around a script: 130 to 245 MB each
PROFILES = ["slurm", "cluster-generic"]


def asked(profile, name, attempt):
    """The memory (MB) or time (minutes) that a profile asks for at an attempt, by Snakemake's own rules."""
    settings = yaml.safe_load((ROOT / f"profiles/{profile}/config.yaml").read_text())
    return eval(settings["default-resources"][name], {"attempt": attempt})


@pytest.mark.parametrize("profile", PROFILES)
def test_a_retry_asks_for_twice_as_much(profile):
    for name in ("mem_mb", "runtime"):
        assert asked(profile, name, 3) == 2 * asked(profile, name, 2) == 4 * asked(profile, name, 1)


@pytest.mark.parametrize("profile", [*PROFILES, "default"])
def test_no_profile_takes_the_scheduler_in_which_a_sigterm_hangs(profile):
    """Snakemake's handler of SIGTERM takes a lock that ilp, in the same thread, holds for up to a second."""
    settings = yaml.safe_load((ROOT / f"profiles/{profile}/config.yaml").read_text())
    assert settings["scheduler"] == "greedy"


@pytest.mark.pipeline
@pytest.mark.parametrize("profile", PROFILES)
def test_every_job_has_room_above_what_was_measured(finished, profile):
    """A fifth more memory than any job of the quick run took, beside Snakemake's own; ten times the time."""
    measured = []
    for path in (finished.folder / "results/quick/benchmarks").rglob("*.tsv"):
        with open(path, newline="") as file:
            measured += csv.DictReader(file, delimiter="\t")
    assert len(measured) > 20
    assert asked(profile, "mem_mb", 1) >= SNAKEMAKE_MB + 1.2 * max(float(job["max_rss"]) for job in measured)
    assert asked(profile, "runtime", 1) * 60 >= 10 * max(float(job["cpu_time"]) for job in measured)


@pytest.mark.slow
@pytest.mark.pipeline
@pytest.mark.parametrize("profile", PROFILES)
def test_snakemake_gives_every_job_of_the_cluster_these_resources(fresh, profile):
    if not importlib.util.find_spec(f"snakemake_executor_plugin_{profile.replace('-', '_')}"):
        pytest.skip("the executor plugins are not installed: make cluster")
    plan = fresh.make(
        "--workflow-profile", f"profiles/{profile}", "--dry-run", environment={"PYTHONPATH": ""}
    )
    jobs = re.findall(r"^rule (\w+):\n((?:    .*\n)*)", plan, flags=re.M)
    assert {"run_trials", "run_audit", "judge_claims", "compute_curve"} <= {rule for rule, _ in jobs}
    memory, minutes = (asked(profile, name, 1) for name in ("mem_mb", "runtime"))
    for rule, details in jobs:
        assert re.search(rf"resources: .*mem_mb={memory},.* runtime={minutes}\b", details), rule
