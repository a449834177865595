"""Every mistake in a configuration becomes one line that names the key and what it may be."""

import copy
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
import yaml

from reproduction.experiments.study import FAMILIES
from reproduction.jobs import configuration
from reproduction.jobs.configuration import (
    DELIVERED,
    PAPERS,
    checked,
    differences,
    fingerprint,
    judged,
    merged,
    read,
    settings_of,
)
from reproduction.jobs.settings import Section, Settings, StudyGrids
from tests import ROOT

CONFIG = read(PAPERS)
MISSING = object()
NAN, INF = float("nan"), float("inf")
OWN = {"kind": "counts", "title": "Mine", "file": "mine.csv"}


def changed(path, value, config=CONFIG):
    config = copy.deepcopy(config)
    *parents, last = path.split(".")
    node = config
    for name in parents:
        node = node[int(name)] if isinstance(node, list) else node[name]
    if value is MISSING:
        del node[last]
    else:
        node[int(last) if isinstance(node, list) else last] = value
    return config


def config_error(config):
    """The one line that a user reads, or None."""
    try:
        settings_of(config)
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.parametrize("overlay", sorted((ROOT / "config").glob("*.yaml")), ids=lambda path: path.name)
def test_every_file_in_config_is_valid_and_its_numbers_stay_as_they_are_written(overlay):
    """4 and 4.0 would be other parameters to Snakemake, which would run the job again."""
    config = merged([PAPERS, overlay])
    assert json.dumps(settings_of(config).plain(), sort_keys=True) == json.dumps(config, sort_keys=True)


def test_what_is_handed_to_a_script_does_not_depend_on_the_order_of_the_keys():
    upside_down = dict(reversed(CONFIG["parity"].items()))
    assert str(settings_of(CONFIG | {"parity": upside_down}).parity.plain()) == str(CONFIG["parity"])


def sections(annotation):
    """The sections of the configuration in a type: itself, or those in a list, a dict or a choice."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return [annotation]
    return [section for part in get_args(annotation) for section in sections(part)]


def keys(section):
    """The names of all keys in a section and below it."""
    for name, field in section.model_fields.items():
        yield name
        for inner in sections(field.annotation):
            yield from keys(inner)


def test_the_readme_explains_every_key_and_names_no_other():
    readme = (ROOT / "config/README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w.]+).*", readme, flags=re.MULTILINE)
    datasets = readme.split("\n## ")[1]
    for name, field in Settings.model_fields.items():
        told = [row for row in readme.splitlines() if re.match(rf"\| `({name}\b|start`)", row)]
        text = datasets if name == "datasets" else " ".join(told)
        named = set(re.findall(r"\w+", " ".join(re.findall("`([^`]*)`", text))))
        assert {name, *(key for part in sections(field.annotation) for key in keys(part))} <= named, name
    assert {part for row in rows for part in row.split(".")} <= set(keys(Settings))


def test_the_study_knows_every_randomizer_of_the_configuration():
    (named,) = get_args(StudyGrids.model_fields["randomizers"].annotation)
    assert set(get_args(named)) == set(FAMILIES)


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (
            "datasets.paris.tv.budgets",
            [{"eps0": 4, "eps": 5}],
            ("[{eps0: 4, eps: 4}, {eps0: 6, eps: 6}]", "[{eps0: 4, eps: 5}]"),
        ),
        ("datasets.synthetic.range", [-8, 8], ("[-6, 6]", "[-8, 8]")),
        ("datasets.paris.individual", MISSING, None),
        ("datasets.san_francisco", MISSING, None),
        ("protocol.delta_floor", 1e-10, ("1e-30", "1e-10")),
        ("parity.eps0", [1], ("[1, 2, 4, 6]", "[1]")),
        ("gowalla.grid", "stepped", ("uniform", "stepped")),
        ("gowalla.file", "mine.txt", ("", "mine.txt")),
        ("delta_surface.count", 10, ("80", "10")),
    ],
)
def test_settings_that_are_not_the_papers_are_named(path, value, told):
    ((key, theirs, ours),) = differences(changed(path, value))
    assert key == path
    assert (theirs, ours) == told if told else ours == "left out"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("seed", 5),
        ("gowalla.source", "snap"),
        ("datasets.paris.title", "Lutetia"),
        ("datasets.paris.grid", {"eps0": [1], "eps": [1], "n": [100], "repetitions": 2}),
        ("datasets.mine", {"kind": "counts", "title": "Mine", "file": "mine.csv"}),
        ("protocol.delta_floor", float("1.0e-30")),
        ("study.n", [1000]),
    ],
)
def test_settings_that_move_no_verdict_on_the_papers_are_not_named(path, value):
    assert differences(changed(path, value)) == differences(CONFIG) == []


def test_an_edited_file_of_the_papers_is_named(tmp_path, monkeypatch):
    """Its results go to results/, where the papers' are. (`DELIVERED` follows what the project changes.)"""
    assert fingerprint(judged(CONFIG)) == DELIVERED
    edited = changed("datasets.paris.tv.budgets", [{"eps0": 4, "eps": 5}])
    monkeypatch.setattr(configuration, "PAPERS", tmp_path / "config.yaml")
    configuration.PAPERS.write_text(yaml.safe_dump(edited))
    assert differences(edited) == [("config/config.yaml", "as delivered", "edited")]
    configuration.PAPERS.write_text(yaml.safe_dump(changed("seed", 5)))
    assert differences(CONFIG) == []


def test_the_results_readme_names_every_folder():
    readme = (ROOT / "results/README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)/` \|", readme, flags=re.MULTILINE)) == configuration.TAKEN


def test_a_users_own_counts_are_a_dataset():
    assert config_error(changed("datasets.mine", OWN | {"tv": CONFIG["datasets"]["paris"]["tv"]})) is None


GRID = {"eps0": [0.5, 1], "eps": [2, 3], "n": [10], "repetitions": 2}
MISTAKES = [  # key, its value, and what the error says after the key, or the whole of it
    ("gowalla.sourc", "snap", "unknown key 'gowalla.sourc'; did you mean 'source'? Allowed:"),
    ("gowalla.source", "web", "must be one of: bundled, snap, file; got 'web'"),
    ("gowalla.source", "file", "gowalla.file must name a file in SNAP's format, as source is 'file'; got"),
    ("gowalla.download.md5", "abc", "must be 32 of the digits 0-9 and a-f; got 'abc'"),
    ("gowalla.download.url", "ftp://example.org/x", "must be an address that begins with http:// or"),
    ("gowalla.bad_rows_at_most", 2, "must be at most 1; got 2"),
    ("protocol.delta_floor", "1e-30", "must be a number; got '1e-30' (it is text: write it without"),
    ("protocol.delta_floor", 0, "must be at least 1e-300; got 0"),
    ("protocol", MISSING, "the key 'protocol' is missing"),
    ("seed", -1, "must be at least 0; got -1"),
    ("seed", "one", "must be a whole number; got 'one'"),
    ("datasets.paris.tv.repetitions", 0, "must be at least 1; got 0"),
    ("datasets.paris.tv.n.1", "most", "must be a whole number from 1 to 10^12, or all; got 'most'"),
    ("datasets.paris.tv.budgets.0.eps", 0, "must be greater than 0; got 0"),
    ("datasets.paris.tv.n", [], "must have at least 1 entries; got []"),
    ("datasets.paris.box.south", 91, "must be at most 90; got 91"),
    ("datasets.paris.box.west", -181, "must be at least -180; got -181"),
    ("datasets.paris.box.south", 49, "must be less than north (48.8798); got 49"),
    ("datasets.paris.box", MISSING, "the key 'datasets.paris.box' is missing"),
    ("datasets.paris.cells", 3, "unknown key 'datasets.paris.cells' Allowed: box, estimates, figures,"),
    ("datasets.paris.kind", "tiles", "must be one of: normal, gowalla, counts; got 'tiles'"),
    ("datasets.synthetic.spread_is", "sd", "must be one of: standard deviation, variance; got 'sd'"),
    ("datasets.synthetic.range", [3, 3], "must be [low, high] with low < high; got [3, 3]"),
    ("datasets.paris.box.east", 181, "must be at most 180; got 181"),
    ("band.n", [100_001], "band.n[0] must be at most 100000; got 100001"),
    ("koskela.fig1b.n", 1_000_001, "must be at most 1000000; got 1000001"),
    ("girgis_rdp.composed.compositions.0", 100_001, "must be at most 100000; got 100001"),
    ("datasets.synthetic.range", [3, -3], "must be [low, high] with low < high; got [3, -3]"),
    ("datasets.synthetic.population", 50000, "datasets.synthetic.tv.n must be at most the population"),
    ("datasets.Bad Name", {}, "a name in datasets must be made of a to z, 0 to 9 and _, at most 40 of"),
    ("datasets.paris", 7, "must be a mapping (key: value); got 7"),
    ("parity.delta", [], "must have at least 1 entries; got []"),
    ("parity.delta.0", "1e-6", "must be a number; got '1e-6' (it is text: write it without quotes, 1e-30"),
    ("parity.repetitions", "3", "must be a whole number; got '3' (it is text: write it without quotes,"),
    ("datasets.paris.figures.tv", "fig9", "must be one of fig1 to fig7; got 'fig9'"),
    ("parity.delta_exponents.0", 0, "must be greater than 0; got 0"),
    ("parity.eps0.3", 21, "must be at most 20; got 21"),
    ("parity.repetition", 5, "unknown key 'parity.repetition'; did you mean 'repetitions'? Allowed:"),
    ("gowalla.grid", "published", "must be one of: uniform, stepped; got 'published'"),
    ("datasets.paris.published", {}, "unknown key 'datasets.paris.published' Allowed: box, estimates,"),
    ("parity.plan.guarantees.0.eps", 20, "must be less than 20; got 20"),
    ("parity.plan.guarantees.1.delta", MISSING, "the key 'parity.plan.guarantees[1].delta' is missing"),
    ("delta_surface.count", 100, "must be less than n (100); got 100"),
    ("audit.remaining", "x3", "must be one of: x1, x2; got 'x3'"),
    ("audit.confidence", 1, "must be less than 1; got 1"),
    ("audit.settings.0.runs", 1, "must be at least 2; got 1"),
    ("audit.settings.2.count", 100, "must be less than n (100); got 100"),
    ("audit.settings.3.k", 2, "must be at least 3 with audit.remaining x2, a third value; got 2"),
    ("audit.settings.1.eps0", 1.0, "audit.settings[1] repeats audit.settings[0]: n, k, eps0 and count are"),
    ("delta_surface.eps.start", 3, "must be less than stop (3.0); got 3"),
    ("protocol.sensitivity", NAN, "must be a finite number; got nan"),
    ("datasets.synthetic.mean", INF, "must be a finite number; got inf"),
    ("datasets.synthetic.range", [-INF, 6], "datasets.synthetic.range[0] must be a finite number; got"),
    ("seed", True, "must be a whole number; got True"),
    ("protocol", [1], "must be a mapping (key: value); got [1]"),
    ("koskela", None, "must be a mapping (key: value); got None"),
    ("datasets.paris.box.south", "48.8", "must be a number; got '48.8' (it is text: write it without"),
    ("datasets.paris.tv.n", [0.5], "datasets.paris.tv.n[0] must be a whole number from 1 to 10^12, or"),
    ("datasets.paris.tv.n", [10, 10], "must not name anything twice; got [10, 10]"),
    ("datasets.paris.tv.repetitions", 1_000_001, "must be at most 1000000; got 1000001"),
    ("delta_bounds.settings.0.n", 1, "must be at least 2; got 1"),
    ("datasets.paris.individual.repetitions", 0, "must be at least 1; got 0"),
    ("seed", 10**40, "must be at most 9223372036854775807; got 10000000000000000000000000000000000000000"),
    ("datasets.paris.tv.n", [10**30], "datasets.paris.tv.n[0] must be a whole number from 1 to 10^12, or"),
    ("datasets.paris.tv.budgets", [{"eps0": 1e308, "eps": 1}], "datasets.paris.tv.budgets[0].eps0 must"),
    ("datasets.synthetic.cells", 10**12, "must be at most 1000000; got 1000000000000"),
    ("delta_surface.eps.steps", 1000000000, "must be at most 1000; got 1000000000"),
    ("parity.repetitions", 100000, "datasets.san_francisco.cells (408) times parity.repetitions"),
    ("datasets.paris.stepped.latitude_step", 1e-12, "datasets.paris.stepped must cut the box into 2 to"),
    ("datasets.paris.uniform", {"columns": 2, "rows": 1}, "datasets.paris.individual.cells must be at most"),
    ("datasets.paris.stepped.latitude_step", 10, "datasets.paris.stepped must cut the box into 2 to"),
    ("datasets.paris.uniform", {"columns": 1, "rows": 1}, "must cut the box into 2 to 1,000,000 cells;"),
    ("datasets.synthetic.individual.cells", [16], "must be at most the number of cells (15); got 16"),
    ("koskela.fig1a.eps.start", 4.0, "must be less than stop (4.0); got 4.0"),
    ("koskela.fig1b.eps.stop", 0.01, "koskela.fig1b.eps.start must be less than stop (0.01); got 0.02"),
    ("blanket_regions.eps0.start", 9, "must be less than stop (3.0); got 9"),
    ("girgis_rdp.orders.stop", 1.05, "girgis_rdp.orders.start must be less than stop (1.05); got 1.1"),
    ("gaussian_scale.log10_delta.stop", -1, "must be less than start (-2); got -1"),
    ("delta_bounds.settings.0.eps.stop", 0.5, "must be less than eps0 (0.5); got 0.5"),
    ("delta_bounds.settings.1.count", 1000, "must be less than n (1000); got 1000"),
    ("gowalla.source", "x" * 100_000, "must be one of: bundled, snap, file; got"),
    ("seed", 5.0, "must be a whole number; got 5.0"),
    ("datasets.paris.tv", None, "must have a value; to leave it out, remove the key; got None"),
    ("datasets.paris.kind", MISSING, "the key 'datasets.paris.kind' is missing"),
    ("datasets.paris.kind", [], "must be one of: normal, gowalla, counts; got []"),
    ("datasets", {}, "must have at least 1 entries; got {}"),
    ("parity.eps0", [1, 2, 3, 4, 5, 6, 7], "must have at most 6 entries; got [1, 2, 3, 4, 5, 6, ...]"),
    ("protocol.sensitivity", 10**400, "must be a number; got"),
    ("datasets.paris.tv.n", ["all/../x"], "datasets.paris.tv.n[0] must be a whole number from 1 to"),
    ("datasets.paris.figures.tv", "fig1/../../x", "must be one of fig1 to fig7; got 'fig1/../../x'"),
    ("datasets.paris.figures.tv", "fig1\n", "must be one of fig1 to fig7; got 'fig1\\n'"),
    ("datasets.mine.grid", GRID, "datasets.mine.grid.eps must have an eps that is at most the largest eps0"),
    ("delta_bounds.settings.0.eps.start", 0.4, "must be less than stop (0.4); got 0.4"),
    (
        "datasets.mine.file",
        "a{b}.csv",
        "must be a path of at most 1,000 characters without braces, which mean wildcards to",
    ),
    ("datasets.paris.title", "a\n.. raw:: html", "must be 1 to 60 characters, none of them a control"),
    ("datasets.paris.title", "a\x1b[2J", "must be 1 to 60 characters, none of them a control character;"),
    ("gowalla.download.url", "file:///etc/passwd", "must be an address that begins with http:// or"),
    ("gowalla.download.url", "https://x.org/a\n", "must be an address that begins with http:// or"),
    ("gowalla.download.md5", "0" * 32 + "\n", "must be 32 of the digits 0-9 and a-f; got"),
    ("gowalla.grid", "../uniform", "must be one of: uniform, stepped; got '../uniform'"),
    ("datasets.paris.tv.budgets.0.eps0", "4; touch x", "must be a number; got '4; touch x'"),
    ("datasets.paris.tv.budgets.0.eps", "1e3", "must be a number; got '1e3' (it is text: write it"),
    ("datasets.paris.figures.estimates", "fig4\n", "must be one of fig1 to fig7; got 'fig4\\n'"),
]


@pytest.mark.parametrize(("path", "value", "told"), MISTAKES)
def test_mistakes_are_named(path, value, told):
    error = config_error(changed(path, value, CONFIG | {"datasets": CONFIG["datasets"] | {"mine": OWN}}))
    key = re.sub(r"\.(\d+)", r"[\1]", path)
    assert error is not None
    assert error.startswith((f"config: {key} {told}", f"config: {told}"))
    assert error.isprintable()
    assert len(error) < 400


CITY = (
    "{kind: gowalla, title: V, box: {south: 1, north: 2, west: 1, east: 2}, uniform: {columns: 3, rows: 2}}"
)
ALL = "san_francisco: null, synthetic: null, paris: null"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("datasets: {san_francisco: null, synthetic: null}\nstudy: {grids: {city: paris}}\n", None),
        (
            "datasets: {san_francisco: null}",
            "study.grids.city must be one of the cities in datasets (paris); got 'san_francisco'",
        ),
        (
            f"datasets: {{{ALL}, vienna: {CITY}}}\nstudy: {{grids: {{city: vienna}}}}\n",
            "keep at least one of the paper's datasets; synthetic needs no file",
        ),
        ("datasets: {pariss: null}\n", "datasets.pariss must be a mapping (key: value); got None"),
    ],
)
def test_an_overlay_may_leave_out_datasets_of_the_papers(tmp_path, text, problem):
    (tmp_path / "mine.yaml").write_text(text)
    assert config_error(merged([PAPERS, tmp_path / "mine.yaml"])) == (problem and f"config: {problem}")


def test_a_city_needs_the_grid_that_is_used_and_no_other():
    config = changed("gowalla.source", "snap")
    del config["datasets"]["paris"]["stepped"]
    assert config_error(config) is None
    config["gowalla"]["grid"] = "stepped"
    assert config_error(config) == "config: datasets.paris.stepped is missing; gowalla.grid: stepped needs it"


@pytest.mark.parametrize("name", ["folder", "pipe.csv", "/dev/zero", "missing.csv"])
def test_data_come_from_a_file_that_is_there(tmp_path, monkeypatch, name):
    """Anything else would give no rows, wait for a writer, or never end."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    os.mkfifo("pipe.csv")
    own = {"kind": "counts", "title": "Mine", "file": name}
    with pytest.raises(ValueError, match=rf"^datasets\.mine\.file: no file '{name}'"):
        checked(changed("datasets.mine", own))
    with pytest.raises(ValueError, match=rf"^gowalla\.file: no file '{name}'"):
        checked(CONFIG | {"gowalla": CONFIG["gowalla"] | {"source": "file", "file": name}})


def test_a_city_without_bundled_counts_needs_a_source():
    vienna = changed("datasets.vienna", yaml.safe_load(CITY))
    with pytest.raises(ValueError, match=r"^datasets\.vienna: no bundled counts; set gowalla.source to snap"):
        checked(vienna)
    checked(vienna | {"gowalla": CONFIG["gowalla"] | {"source": "snap"}})


def test_n_is_at_most_the_number_of_users_in_a_file_of_counts(tmp_path):
    config = changed("datasets.paris.tv.n", [1000, 200_000])
    with pytest.raises(
        ValueError, match=r"^datasets\.paris\.tv\.n must be at most the population \(11190\); got"
    ):
        checked(config)
    path = tmp_path / "mine.csv"
    own = {"kind": "counts", "title": "Mine", "file": str(path), "tv": CONFIG["datasets"]["paris"]["tv"]}
    for text in ("cell, Count\n1,600\n2,399\n", "\ufeffCELL,count\n1,999\n"):
        path.write_text(text)
        with pytest.raises(
            ValueError, match=r"^datasets\.mine\.tv\.n must be at most the population \(999\)"
        ):
            checked(changed("datasets.mine", own))
    for text in ("", "cell\n1\n", "cell,count\n1,x\n", "cell,count\n1\n", "\xff"):
        path.write_text(text, "latin-1")
        checked(changed("datasets.mine", own))  # its job names the row that is wrong


# Files -----------------------------------------------------------------------------------------------

NO_CODE = "line 1: not valid YAML: could not determine a constructor for the tag"
FILES = {
    "a key twice": ("seed: 1\nseed: 2\n", "line 2: the key 'seed' is in line 1 already"),
    "a nested key twice": ("protocol:\n  a: 1\n  b: 2\n  a: 3\n", "line 4: the key 'a' is in line 2"),
    "a key twice in a list": ("x:\n  - {a: 1}\n  - {a: 1, a: 2}\n", "line 3: the key 'a' is in line 3"),
    "a tab": ("protocol:\n\tsensitivity: 1\n", "line 2: not valid YAML: found character"),
    "an open bracket": ("x: [1, 2\n", "expected ',' or ']'"),
    "a list": ("- seed\n", "expected a mapping (key: value) at the top level"),
    "a word": ("seed", "expected a mapping (key: value) at the top level"),
    "two documents": ("seed: 1\n---\nseed: 2\n", "line 2: not valid YAML: but found another document"),
    "a missing anchor": ("x: *y\n", "line 1: not valid YAML: found undefined alias"),
    "control characters": ("x: \x00\n", "characters are not allowed"),
    "a call": ("x: !!python/object/apply:os.system ['touch mark']\n", NO_CODE),
    "a new object": ("x: !!python/object/new:os.system ['touch mark']\n", NO_CODE),
    "a call as a key": ("? !!python/object/apply:os.system ['touch mark']\n: 1\n", NO_CODE),
    "a module": ("x: !!python/module:os\n", NO_CODE),
    "an own tag": ("x: !run 'touch mark'\n", NO_CODE),
    "a template": ("__use_yte__: true\nx: ?__import__('os').system('touch mark')\n", "the key '__use_yte__'"),
    "a template deep down": (
        "a:\n  __use_yte__: true\n",
        "line 2: the key '__use_yte__' makes the configuration a program; remove the key",
    ),
}


@pytest.mark.parametrize(("text", "words"), FILES.values(), ids=FILES)
def test_a_file_that_is_no_plain_yaml_is_refused_and_nothing_in_it_is_run(tmp_path, monkeypatch, text, words):
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(text)
    with pytest.raises(ValueError, match=r"^mine\.yaml") as info:
        read("mine.yaml")
    assert words in str(info.value)
    assert str(info.value).isprintable()
    assert len(str(info.value)) < 400
    assert not Path("mark").exists()


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "a: &x {b: 1}\nc: *x\n", '{"a": {"b": [1]}}', "\ufeffa: 1"]
)
def test_unusual_configuration_files_are_fine(tmp_path, text):
    (tmp_path / "mine.yaml").write_text(text)
    read(tmp_path / "mine.yaml")


def test_a_billion_laughs_is_not_unfolded(tmp_path):
    lines = ["a0: &a0 [ha, ha]"] + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)]
    (tmp_path / "laughs.yaml").write_text("\n".join(lines))
    assert len(read(tmp_path / "laughs.yaml")["a29"]) == 9  # each was looked at once


# Values that become parts of paths, rule patterns, shells, pages and figures ---------------------------

NAMES = ["..", "../x", "a/b", "/etc/x", "a b", "a;touch x", "$(touch x)", "`x`", "a\n", "a\nb", "a|b", "a{b}"]
NAMES += [".*", "", "A", "ä", "a" * 41, "a\x00", "-n"]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_names_of_datasets(name):
    datasets = CONFIG["datasets"] | {name: CONFIG["datasets"]["paris"]}
    error = config_error(CONFIG | {"datasets": datasets})
    assert error is not None
    assert "a name in datasets must be made of a to z, 0 to 9 and _, at most 40 of them" in error
    assert error.isprintable()


def test_the_command_reads_files_without_running_them_and_prints_the_folder_of_the_results(tmp_path):
    """Snakemake runs the code in a template: `make CONFIG=...` asks this command first."""
    shutil.copy(ROOT / "config/quick.yaml", tmp_path / "my quick.yaml")
    mark, evil, typo = (tmp_path / name for name in ("mark", "evil.yaml", "typo.yaml"))
    evil.write_text(f"__use_yte__: true\nseed: ?__import__('os').system('touch {mark}')\n")
    typo.write_text("sed: 7\n")
    for path, code, printed in (
        ("config/config.yaml", 0, "results\n"),
        (tmp_path / "my quick.yaml", 0, "results/my_quick\n"),
        ("config", 1, "error: config: a folder; name a file in it, such as config/quick.yaml\n"),
        ("config/none.yaml", 1, "error: config/none.yaml: No such file or directory\n"),
        (evil, 1, f"error: {evil}, line 1: the key '__use_yte__' makes the configuration a program; remove"),
        (typo, 1, "error: config: unknown key 'sed'; did you mean 'seed'?"),
    ):
        command = [sys.executable, "-m", "reproduction.jobs.configuration", path]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == code
        assert (done.stdout + done.stderr).startswith(printed)
    assert not mark.exists()
