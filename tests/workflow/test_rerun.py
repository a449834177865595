"""What reruns after an edit or a removal, and no more: by real edits."""

import json

import pytest
import yaml

from reproduction.jobs.configuration import merge
from tests.workflow.conftest import counted
from tests.workflow.test_faults import everything

pytestmark = [pytest.mark.pipeline, pytest.mark.slow]

CONFIG = "config/config.yaml"
# What follows from a script's or a module's own rules.
PAGE = {"write_report", "all"}
QUOTED = {"state_findings", "write_article"} | PAGE
AFTER_SUMMARY = {"summarise_parity", "draw_parity_ratio"} | QUOTED
AFTER_PARITY = {"judge_claims"} | AFTER_SUMMARY
AFTER_VALUES = {"judge_values", "write_tables"} | QUOTED
AFTER_AUDIT = {"collect_audit", "draw_audit"} | QUOTED


STUDY_FIGURES = {f"draw_study_{name}" for name in ("best", "estimators", "grids", "ratio")}
FOLLOWS = {
    "reproduction/figures/tv.py": {"draw_tv", "draw_parity_tv", "write_article"} | PAGE,
    "scripts/run_parity.py": {"run_parity", "draw_parity_tv"} | AFTER_PARITY,
    "reproduction/experiments/parity_summary.py": AFTER_SUMMARY,
    "scripts/run_trials.py": {"run_trials", "draw_tv", "judge_jointly"} | AFTER_VALUES | AFTER_PARITY,
    "reproduction/protocol/metrics.py": {
        "run_trials",
        "estimate_cells",
        "draw_tv",
        "draw_estimates",
        "judge_jointly",
    }
    | {"run_parity", "estimate_parity", "draw_parity_tv", "draw_parity_estimates"}
    | {"compute_study", "simulate_study", "cut_study", "write_which"}
    | STUDY_FIGURES
    | AFTER_VALUES
    | AFTER_PARITY,
    "reproduction/figures/style.py": {
        "draw_delta_surface",
        "draw_tv",
        "draw_checkins",
        "draw_estimates",
        "draw_gaussian_scale",
        "draw_frontier",
    }
    | {"draw_koskela", "draw_blanket_regions", "draw_delta_bounds", "draw_girgis_rdp", "draw_audit"}
    | {"draw_parity_tv", "draw_parity_estimates", "draw_parity_ratio", "draw_too_small", "write_article"}
    | STUDY_FIGURES
    | PAGE,
    "tightshuffle/audit/game.py": {"run_audit"} | AFTER_AUDIT,
    "tightshuffle/audit/assessment.py": AFTER_AUDIT,
    "reproduction/verification/claims/registry.py": {"judge_claims"} | QUOTED,
    "reproduction/protocol/printed_formulas.py": {"compute_printed_deltas", "judge_claims"} | AFTER_VALUES,
    "reproduction/report/which_page.py": {"write_which"} | QUOTED,
    "reproduction/experiments/curves/frontier.py": {"compute_curve", "draw_frontier"} | PAGE,
    "reproduction/figures/girgis_rdp.py": {"draw_girgis_rdp"} | PAGE,
}


SETTINGS = {  # edits of config/config.yaml; nested ones go over the papers'
    "repetitions": "datasets: {paris: {tv: {repetitions: 6}}}",
    "a budget": "datasets: {paris: {individual: {budgets: [{eps0: 4.0, eps: 2}]}}}",
    "another n": "datasets: {paris: {tv: {n: [1000, 3000, 10000]}}}",
}
PLANS = """
import json, sys
from pathlib import Path
from tests.workflow.dag_of import planned

for edit, (file, text) in json.load(sys.stdin).items():
    before = Path(file).read_text()
    Path(file).write_text(text)
    try:
        with planned() as workflow:
            listed = []
            for job in workflow.dag.needrun_jobs():
                name = f"draw_{job.params.module}" if job.rule.name == "draw_figure" else job.rule.name
                listed.append([name, *map(str, job.output)])
    finally:
        Path(file).write_text(before)
    print("plan", json.dumps([edit, listed]))
"""


def with_settings(project, settings):
    """The text of the configuration with these settings over the papers'."""
    config = yaml.safe_load((project.folder / CONFIG).read_text())
    return yaml.safe_dump(merge(config, yaml.safe_load(settings)), sort_keys=False)


@pytest.fixture(scope="module")
def plans(full):
    """Of each edit, which is taken back: rule -> the outputs of its jobs that a run would start.

    A figure's rule is called after the module that draws it.
    """
    edits = {file: (file, (full.folder / file).read_text() + "\n# edited\n") for file in FOLLOWS}
    edits |= {name: (CONFIG, with_settings(full, settings)) for name, settings in SETTINGS.items()}
    edits["none"] = CONFIG, (full.folder / CONFIG).read_text()
    done = full.python("-c", PLANS, input=json.dumps(edits))
    assert done.returncode == 0, done.stderr
    found = {}
    for line in done.stdout.splitlines():
        if line.startswith("plan "):
            edit, listed = json.loads(line.removeprefix("plan "))
            found[edit] = {}
            for rule, *outputs in listed:
                found[edit].setdefault(rule, []).extend(outputs)
    return found


@pytest.mark.parametrize("file", FOLLOWS)
def test_an_edit_reruns_exactly_what_imports_it(plans, file):
    assert set(plans[file]) == FOLLOWS[file] | {"all"}


def test_an_edit_that_is_taken_back_reruns_nothing(plans):
    assert plans["none"] == {}


def trials(*names):
    return {f"results/trials/paris_{name}.parquet" for name in names}


def test_the_number_of_repetitions_reruns_the_trials_that_need_it(plans):
    """Of the boxplots of Paris: both budgets' files, with the points of Table VI; of no other dataset."""
    planned = plans["repetitions"]
    assert set(planned["run_trials"]) == trials("eps0-4_eps-4", "eps0-6_eps-6")
    assert len(planned["draw_tv"]) == 4  # PNG, PDF, SVG and caption
    assert set(planned) <= FOLLOWS["scripts/run_trials.py"]
    assert not {"run_parity", "estimate_cells"} & set(planned)


def test_snakemakes_own_dry_run_plans_the_same_rules(full, plans):
    path = full.folder / CONFIG
    before = path.read_text()
    path.write_text(with_settings(full, SETTINGS["repetitions"]))
    try:
        planned = full.planned()
    finally:
        path.write_text(before)
    names = {"draw_figure" if name.startswith("draw_") else name for name in plans["repetitions"]}
    assert planned.keys() == names


def test_a_budget_of_its_own_reruns_nothing_else(plans):
    """Another budget for Table VI: a file of its own, and that of the boxplots loses the old points."""
    assert set(plans["a budget"]["run_trials"]) == trials("eps0-4_eps-2", "eps0-4_eps-4")


def test_another_n_runs_that_dataset_only(plans):
    """Its trials at every budget, and its comparison at equal privacy."""
    planned = plans["another n"]
    assert set(planned["run_trials"]) == trials("eps0-4_eps-4", "eps0-6_eps-6")
    assert planned["run_parity"] == ["results/parity/paris.parquet"]
    assert set(planned) <= FOLLOWS["scripts/run_trials.py"] | FOLLOWS["scripts/run_parity.py"]


def test_nothing_outside_of_the_targets_is_touched_and_what_is_removed_comes_back(full):
    """Also: a dry run names the jobs that then run; texts and drawings are the same with other hashes."""
    made = full.folder / full.made
    removed = [made / name for name in ("report/verdicts.csv", "parity_plan.csv", "figures/audit.pdf")]
    before, state = full.results(), everything(full)
    for path in removed:
        path.unlink()
    assert "Nothing to be done" in full.make("--", "fig1")
    now = everything(full)
    assert {name for name in state if now.get(name) != state[name] and state[name][0] is not None} == {
        path.relative_to(full.folder).as_posix() for path in removed
    }
    planned = full.planned()
    assert {"judge_values", "plan_parity", "draw_figure", "state_findings", "write_report"} <= set(planned)
    assert counted(full.make(environment={"PYTHONHASHSEED": "77"})) == planned
    after = full.results()
    assert [name for name in before if after.get(name) != before[name]] == []
    assert "Nothing to be done" in full.make()
