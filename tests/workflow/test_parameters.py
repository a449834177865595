"""Every change of a rule's settings is one that Snakemake sees: it compares values without their names."""

import itertools

import pytest
from snakemake.api import SnakemakeApi
from snakemake.iocontainers import InputFiles, OutputFiles
from snakemake.rules import Rule
from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

from tests import ROOT

OVERLAY = "datasets: {mine: {kind: counts, title: Mine, file: counts.csv}}"


class Parameters:
    """The parameters of all rules, of which a test may change the named ones as the rules are read."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.monkeypatch = folder, monkeypatch

    def of_rules(self, change=lambda rule, named: None):
        """rule -> (its settings by name, the set of values that Snakemake compares)."""
        set_params = Rule.set_params

        def changed(rule, *values, **named):
            change(rule.name, named)
            set_params(rule, *values, **named)

        self.monkeypatch.setattr(Rule, "set_params", changed)
        with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
            workflow = api.workflow(
                resource_settings=ResourceSettings(cores=1),
                config_settings=ConfigSettings(configfiles=[self.folder / "mine.yaml"]),
                snakefile=ROOT / "Snakefile",
                workdir=self.folder,
            )._workflow
            rules = [rule for rule in workflow.rules if rule.script]
            found = {rule.name: self._expanded(rule, workflow.globals) for rule in rules}
        self.monkeypatch.setattr(Rule, "set_params", set_params)
        return found

    def _expanded(self, rule, names):
        dataset = {"sample_synthetic": "synthetic", "use_counts": "mine"}.get(rule.name, "paris")
        part, setting = next(iter(names["PARTS"]["paris"])), next(iter(names["AUDITS"]))
        wildcards = {"dataset": dataset, "part": part, "setting": setting, "number": "", "panel": "fig1a"}
        params, compared = rule.expand_params(wildcards, InputFiles(), OutputFiles(), None)
        return dict(params.items()), frozenset(map(repr, compared))  # as Persistence._params does


@pytest.fixture
def parameters(tmp_path, monkeypatch):
    (tmp_path / "mine.yaml").write_text(OVERLAY)
    (tmp_path / "counts.csv").write_text("cell,count\n1,2\n2,3\n")
    monkeypatch.chdir(tmp_path)
    return Parameters(tmp_path, monkeypatch)


def pairs_of_one_type(settings):
    both = itertools.combinations(settings, 2)
    return [(one, two) for one, two in both if type(settings[one]) is type(settings[two])]


def swap(named, one, two):
    named[one], named[two] = named[two], named[one]


def take(named, one, two):
    named[one] = named[two]


def give(named, one, two):
    named[two] = named[one]


@pytest.mark.slow
def test_settings_that_swap_values_or_take_a_neighbours_are_compared_by_name(parameters):
    """Every pair of values of one type: swapped, and each of them in the place of the other."""
    original = parameters.of_rules()
    pairs = {rule: pairs_of_one_type(settings) for rule, (settings, _) in original.items()}
    assert len(pairs["compute_study"]) == 10
    assert {"run_parity", "summarise_parity", "draw_checkins"} <= {rule for rule in pairs if pairs[rule]}
    seen = {rule: {compared: settings} for rule, (settings, compared) in original.items()}
    for change in (swap, take, give):
        for place in range(max(map(len, pairs.values()))):

            def change_pair(rule, named, change=change, place=place):
                if named and pairs.get(rule, [])[place:]:
                    change(named, *pairs[rule][place])

            for rule, (settings, compared) in parameters.of_rules(change_pair).items():
                assert seen[rule].setdefault(compared, settings) == settings, rule


def test_the_reason_for_a_job_names_the_setting_and_the_file_of_the_code(parameters):
    _, compared = parameters.of_rules()["draw_tv"]
    assert "{'title': 'Paris'}" in compared
    files = {text.split("'")[1] for text in compared if text.startswith("('")}
    assert {"scripts/paper/trials/draw_tv.py", "scripts/shared/style.py"} <= files
