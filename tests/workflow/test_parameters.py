"""Every change of a rule's settings or code is one that Snakemake sees: it compares values without names."""

from pathlib import Path

import pytest
from snakemake.api import SnakemakeApi
from snakemake.iocontainers import InputFiles, OutputFiles
from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

from scripts.shared.code import code_of
from tests import ROOT

OVERLAY = "datasets: {mine: {kind: counts, title: Mine, file: counts.csv}}"
# Rule -> the dataset for which it is asked for its parameters. All other rules are asked for paris.
DATASETS = {"sample_synthetic": "synthetic", "use_counts": "mine"}
NOT_RERUN = "download_checkins"  # the md5 fixes the file that it downloads


@pytest.fixture
def rules(tmp_path, monkeypatch):
    """A triple for each rule with a script: the rule, its parameters by name, and the list of their values.

    Snakemake compares this list, which has no names, with the list of the run before, and reruns a job if the
    two differ. The rules are those of the real Snakefile, on the paper's settings and a dataset ``mine``
    (`OVERLAY`), without `NOT_RERUN`, the rule of the download. The parameters of a rule depend on the file
    that it makes, so each rule is asked for one: of the dataset in `DATASETS`, by default paris.
    """
    (tmp_path / "mine.yaml").write_text(OVERLAY)
    (tmp_path / "counts.csv").write_text("cell,count\n1,2\n2,3\n")
    monkeypatch.chdir(tmp_path)
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        workflow = api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(configfiles=[tmp_path / "mine.yaml"]),
            snakefile=ROOT / "Snakefile",
            workdir=tmp_path,
        )._workflow
        # Values for the other wildcards in names of files. Any part of paris, audit and panel would do.
        wildcards = {
            "part": next(iter(workflow.globals["PARTS"]["paris"])),
            "setting": next(iter(workflow.globals["AUDITS"])),
            "number": "",
            "panel": "fig1a",
        }
        expanded = []
        for rule in workflow.rules:
            if rule.script and rule.name != NOT_RERUN:
                values = wildcards | {"dataset": DATASETS.get(rule.name, "paris")}
                params, compared = rule.expand_params(values, InputFiles(), OutputFiles(), None)
                expanded.append((rule, dict(params.items()), compared))
    assert len(expanded) > 40  # else most rules were not found; there are 53
    return expanded


def test_every_setting_is_compared_together_with_its_name(rules):
    """So two settings that swap values, or one that takes another one's, rerun the jobs of the rule."""
    settings = 0
    for rule, params, compared in rules:
        for name in params:
            if not name.endswith(" by name"):
                assert {name: params[name]} in compared, f"{rule.name}: {name} is not in named(...)"
                settings += 1
    assert settings > 60  # else most settings were not found; there are 100


def test_the_code_of_every_rule_is_compared_file_by_file(rules):
    """So the reason for a job names the file that was edited."""
    for rule, _, compared in rules:
        script = Path(str(rule.basedir), rule.script).resolve().relative_to(ROOT).as_posix()
        files = [value for value in compared if isinstance(value, tuple)]
        assert files == code_of(script), f"{rule.name} has not the code of its script"
        assert len(files) > 1


def test_every_rule_has_condas_environment(rules):
    environments = {Path(str(rule.basedir), rule.conda_env).resolve() for rule, _, _ in rules}
    assert environments == {ROOT / "workflow/envs/rules.yml"}
