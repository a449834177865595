"""Every change of a rule's settings or code is one that Snakemake sees: it compares values without names."""

import contextlib
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
NOT_RERUN = "download_checkins"  # no setting reruns it: the md5 fixes the file that it downloads


@pytest.fixture(scope="module")
def workflow(tmp_path_factory):
    """Snakemake's object for the real Snakefile, on the paper's settings and a dataset ``mine``."""
    folder = tmp_path_factory.mktemp("workflow")
    (folder / "mine.yaml").write_text(OVERLAY)
    (folder / "counts.csv").write_text("cell,count\n1,2\n2,3\n")
    with (
        contextlib.chdir(folder),
        SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api,
    ):
        yield api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(configfiles=[folder / "mine.yaml"]),
            snakefile=ROOT / "Snakefile",
            workdir=folder,
        )._workflow


@pytest.fixture(scope="module")
def rules(workflow):
    """A pair for each rule with a script: the rule, and the list of its parameters' values.

    Snakemake compares this list, which has no names, with that of the run before, and reruns a job if the two
    differ. A rule that makes a file for each dataset has the parameters of one of these files here: of the
    dataset in `DATASETS`, or else of paris. `NOT_RERUN` is left out.
    """
    # Values for the other wildcards in names of files. Any part of paris, audit and panel would do.
    wildcards = {
        "part": next(iter(workflow.globals["PARTS"]["paris"])),
        "setting": next(iter(workflow.globals["AUDITS"])),
        "number": "",
        "panel": "fig1a",
    }
    pairs = []
    for rule in workflow.rules:
        if rule.script and rule.name != NOT_RERUN:
            wildcards["dataset"] = DATASETS.get(rule.name, "paris")
            _, values = rule.expand_params(wildcards, InputFiles(), OutputFiles(), None)
            pairs.append((rule, values))
    assert len(pairs) > 40  # else most rules were not found; there are 62
    return pairs


def test_every_setting_is_compared_together_with_its_name(rules):
    """So two settings that swap values, or one that takes another one's, rerun the jobs of the rule."""
    names = []
    for rule, values in rules:
        settings = [value for value in values if not isinstance(value, tuple)]
        for setting in settings:
            assert isinstance(setting, dict), f"{rule.name}: {setting} is not in settings(...)"
            [name] = setting
            names.append(name)
    assert len(names) > 60  # else most settings were not found; there are 100


def path_in(rule, name):
    """A path that a rule gives from its own file on."""
    return Path(str(rule.basedir), name).resolve().relative_to(ROOT).as_posix()


def test_the_code_of_every_rule_is_compared_file_by_file(rules):
    """So the reason for a job names the file that was edited."""
    for rule, values in rules:
        files = [value for value in values if isinstance(value, tuple)]
        assert files == code_of(path_in(rule, rule.script)), rule.name
        assert len(files) > 1


def test_every_rule_has_condas_environment(rules):
    environments = {path_in(rule, rule.conda_env) for rule, _ in rules}
    assert environments == {"workflow/envs/rules.yml"}
