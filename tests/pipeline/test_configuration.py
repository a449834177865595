"""Every mistake in a configuration becomes one line that names the key and what it may be."""

import copy

import pytest
import yaml

from tests.conftest import ROOT
from tightshuffle.pipeline.configuration import config_error

SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
CONFIG = yaml.safe_load((ROOT / "config/config.yaml").read_text())
MISSING = object()


def changed(path, value):
    config = copy.deepcopy(CONFIG)
    *parents, last = path.split(".")
    node = config
    for name in parents:
        node = node[int(name)] if isinstance(node, list) else node[name]
    if value is MISSING:
        del node[last]
    else:
        node[int(last) if isinstance(node, list) else last] = value
    return config


def merged(config, overlay):
    for key, value in overlay.items():
        config[key] = merged(config.get(key, {}), value) if isinstance(value, dict) else value
    return config


def test_the_papers_configuration_is_valid():
    assert config_error(CONFIG, SCHEMA) is None


@pytest.mark.parametrize("overlay", sorted((ROOT / "config").glob("*.yaml")), ids=lambda path: path.name)
def test_overlays_are_valid(overlay):
    assert config_error(merged(copy.deepcopy(CONFIG), yaml.safe_load(overlay.read_text())), SCHEMA) is None


def test_a_users_own_counts_are_a_dataset():
    own = {"kind": "counts", "title": "Mine", "file": "mine.csv", "tv": CONFIG["datasets"]["paris"]["tv"]}
    assert config_error(changed("datasets.mine", own), SCHEMA) is None


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("gowalla.sourc", "snap", ["gowalla.sourc", "did you mean 'source'?", "bad_rows_at_most"]),
        ("gowalla.source", "web", ["gowalla.source", "bundled, snap, file", "'web'"]),
        ("gowalla.source", "file", ["gowalla.file must name a file"]),
        ("gowalla.download.md5", "abc", ["gowalla.download.md5", "'abc'"]),
        ("gowalla.download.url", "ftp://example.org/x", ["gowalla.download.url", "https?"]),
        ("gowalla.bad_rows_at_most", 2, ["gowalla.bad_rows_at_most must be at most 1; got 2"]),
        ("protocol.delta_floor", "1e-30", ["protocol.delta_floor must be a number", "1.0e-30 with a dot"]),
        ("protocol.delta_floor", 0, ["protocol.delta_floor must be at least 1e-300"]),
        ("protocol", MISSING, ["the key 'protocol' is missing"]),
        ("seed", -1, ["seed must be at least 0; got -1"]),
        ("seed", "one", ["seed must be a whole number; got 'one'"]),
        ("datasets.paris.tv.repetitions", 0, ["datasets.paris.tv.repetitions must be at least 1"]),
        ("datasets.paris.tv.n.1", "most", ["datasets.paris.tv.n[1]", "whole number >= 1, or all", "'most'"]),
        ("datasets.paris.tv.budgets.0.eps", 0, ["datasets.paris.tv.budgets[0].eps", "greater than 0"]),
        ("datasets.paris.tv.n", [], ["datasets.paris.tv.n must have at least 1 entries"]),
        ("datasets.paris.box.south", 91, ["datasets.paris.box.south must be at most 90; got 91"]),
        ("datasets.paris.box.south", 49, ["datasets.paris.box.south must be less than box.north"]),
        ("datasets.paris.box", MISSING, ["'datasets.paris.box' is missing"]),
        ("datasets.paris.cells", 3, ["unknown key 'datasets.paris.cells'"]),
        ("datasets.paris.kind", "tiles", ["datasets.paris.kind must be one of: normal, gowalla, counts"]),
        ("datasets.synthetic.spread_is", "sd", ["standard deviation, variance; got 'sd'"]),
        ("datasets.synthetic.range", [3, -3], ["datasets.synthetic.range", "low < high"]),
        ("datasets.synthetic.population", 50_000, ["n must be at most the population (50000); got 100000"]),
        ("datasets.Bad Name", {}, ["Bad Name"]),
        ("datasets.paris", 7, ["datasets.paris must be a mapping (key: value); got 7"]),
        ("parity.delta", [], ["parity.delta must have at least 1 entries"]),
        ("parity.delta.0", "1e-6", ["parity.delta[0] must be a number", "1.0e-30 with a dot"]),
        ("parity.delta_exponents.0", 0, ["parity.delta_exponents[0] must be greater than 0; got 0"]),
        ("parity.eps0.3", 21, ["parity.eps0[3] must be at most 20; got 21"]),
        ("parity.repetition", 5, ["parity.repetition", "did you mean 'repetitions'?"]),
        ("parity.plan.guarantees.0.eps", 20, ["parity.plan.guarantees[0].eps must be less than 20"]),
        ("parity.plan.guarantees.1.delta", MISSING, ["'parity.plan.guarantees[1].delta' is missing"]),
        ("delta_surface.count", 100, ["delta_surface.count must be less than delta_surface.n (100)"]),
        ("audit.rest", "x3", ["audit.rest must be one of: x1, x2"]),
        ("audit.confidence", 1, ["audit.confidence must be less than 1"]),
        ("audit.settings.0.runs", 1, ["audit.settings[0].runs must be at least 2; got 1"]),
        ("audit.settings.2.count", 100, ["audit.settings[2].count must be less than n (100); got 100"]),
        ("audit.settings.3.k", 2, ["audit.settings[3].k must be at least 3 with audit.rest x2"]),
        ("audit.settings.1.eps0", 1.0, ["audit.settings[1] repeats [0]", "all runs at once"]),
        ("delta_surface.eps.start", 3, ["delta_surface.eps.start must be less than stop (3.0)"]),
    ],
)
def test_mistakes_are_named(path, value, words):
    error = config_error(changed(path, value), SCHEMA)
    assert error is not None
    assert error.startswith("config: ")
    assert "\n" not in error
    assert len(error) < 300
    for word in words:
        assert word in error
