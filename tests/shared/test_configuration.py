"""Every mistake in a configuration becomes one line that names the key and what it may be."""

import copy
import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.shared.configuration import (
    PAPERS_FILE,
    STATED_FILE,
    check,
    datasets_of,
    differences,
    having,
    label,
    merged,
    names_of_kind,
    overlays,
    papers_eps0,
    read,
    results_folder,
)
from scripts.shared.histograms import NUMPYS_LIMIT
from scripts.shared.printed import PAPER
from scripts.shared.settings import MOST_USERS
from tests import ROOT

CONFIG = merged([PAPERS_FILE])
MISSING = object()
OWN = {"kind": "counts", "title": "Mine", "file": "mine.csv"}
GRID = {"eps0": [4, 2], "eps": [0.5, 2.0, 3], "n": [10, "all"], "repetitions": 5}


def config_with(path, value):
    """A copy of the paper's configuration, nested dicts and lists, with another value at one place.

    The place is a path such as "datasets.paris.tv.n.1": the keys on the way to it, or for a list a position
    from 0. With the value `MISSING` the key is left out.
    """
    config = copy.deepcopy(CONFIG)
    # Go down to the dict or list that has the last key.
    *parents, last = path.split(".")
    node = config
    for name in parents:
        node = node[int(name)] if isinstance(node, list) else node[name]
    if value is MISSING:
        del node[last]
    else:
        node[int(last) if isinstance(node, list) else last] = value
    return config


@pytest.mark.parametrize(
    "overlay", sorted((ROOT / "config").glob("*.yaml")), ids=lambda path: path.name
)
def test_every_file_in_config_is_valid(overlay):
    check(merged([PAPERS_FILE, overlay]))


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (
            "gowalla.sourc",
            "snap",
            "gowalla has no key 'sourc'; did you mean 'source'? Its keys: bad_rows",
        ),
        (
            "datasets.paris.cells",
            3,
            "datasets.paris has no key 'cells'. Its keys: box, delta_hat, estimates,",
        ),
        (
            "gowalla.source",
            "web",
            "gowalla.source: should be 'bundled', 'snap' or 'file'; got 'web'",
        ),
        (
            "gowalla.source",
            "file",
            "gowalla: file must name a file in SNAP's format, as source is 'file'",
        ),
        (
            "protocol.delta_floor",
            "1e-30",
            "should be a valid number; got '1e-30' (it is text: write it",
        ),
        (
            "protocol.delta_floor",
            0,
            "protocol.delta_floor: should be greater than or equal to 1e-300; got 0",
        ),
        ("protocol", MISSING, "the key 'protocol' is missing"),
        ("datasets.paris.box", MISSING, "the key 'datasets.paris.box' is missing"),
        ("seed", True, "seed: should be a valid integer; got True"),
        ("seed", 5.0, "seed: should be a valid integer; got 5.0"),
        (
            "datasets.paris.tv.n.1",
            "most",
            "datasets.paris.tv.n.1: must be a whole number from 1 to 10^12",
        ),
        (
            "datasets.paris.tv.n",
            [10, 10],
            "datasets.paris.tv.n: must not name anything twice; got [10, 10]",
        ),
        (
            "datasets.paris.box.south",
            49,
            "box: south must be less than north (48.8798); got 49",
        ),
        ("datasets.paris.kind", "tiles", "'normal', 'gowalla', 'counts'"),
        ("datasets.Bad Name", OWN, "datasets.Bad Name: String should match pattern"),
        ("datasets.paris", 7, "datasets.paris: should be a valid dictionary"),
        ("datasets.paris.title", "a\n.. raw:: html", r"got 'a\n.. raw:: html'"),
        (
            "datasets.paris.title",
            "Paris パリ",
            "datasets.paris.title: has letters that the figures' font, DejaVu Sans, lacks: パリ; got",
        ),
        (
            "datasets.mine",
            OWN | {"file": "a{b}.csv"},
            "datasets.mine.file: String should match pattern",
        ),
        (
            "datasets.mine",
            OWN | {"grid": GRID | {"eps": [5]}},
            "datasets.mine.grid: eps must have one up",
        ),
        (
            "datasets.synthetic.population",
            50000,
            "every n must be at most the population (50000)",
        ),
        (
            "datasets.synthetic.individual.cells",
            [16],
            "(15); got 16: choose other cells, or leave the section out with individual: null",
        ),
        (
            "datasets.paris.stepped.longitude_step",
            1e-6,
            "datasets.paris: stepped must cut the box into 2 to 1,000,000 cells; got 1,159,389",
        ),
        (
            "datasets.paris.stepped",
            {"latitude_step": 0.04, "longitude_step": 0.06},
            "datasets.paris: stepped must cut the box into 2 to 1,000,000 cells; got 1",
        ),
        (
            "datasets.paris.stepped.latitude_step",
            1.5,
            "datasets.paris: stepped must cut the box into 2 to 1,000,000 cells; got 0",
        ),
        (
            "datasets.paris.stepped.latitude_step",
            1e-320,
            "datasets.paris.stepped.latitude_step: should be greater than or equal to 0.000001",
        ),
        (
            "parity.repetitions",
            100000,
            "datasets.san_francisco: cells (408) times parity.repetitions",
        ),
        ("parity.eps0", [1, 2, 3, 4, 5, 6, 7], "parity.eps0: List should have at most 6 items"),
        (
            "protocol.sensitivity",
            float("nan"),
            "protocol.sensitivity: should be a finite number; got nan",
        ),
        ("delta_surface.count", 100, "delta_surface: count must be less than n (100); got 100"),
        ("audit.settings.3.k", 2, "audit: settings[3].k must be at least 3, as remaining x2"),
        (
            "audit.eps",
            [3, 10],
            "audit: eps must have one below the largest eps0 of the settings (3)",
        ),
        (
            "study.designs.1",
            CONFIG["study"]["designs"][0],
            "study.designs: must not name anything twice",
        ),
        (
            "datasets.paris.tv.n",
            [1, 10],
            "datasets.paris.tv.n must be at least 2 with parity",
        ),
        (
            "datasets.synthetic.population",
            10**9,
            "should be less than or equal to 999999999; got 1000000000",
        ),
        ("audit.settings.1.eps0", 1.0, "audit: settings[1] repeats n, k, eps0 and count: keep one"),
        ("gowalla.source", "x" * 100_000, "got 'xxx"),
    ],
)
def test_a_mistake_is_named_in_one_line(path, value, told):
    with pytest.raises(ValueError, match=r"^config: ") as error:
        check(config_with(path, value))
    line = str(error.value)
    assert told in line
    assert "\n" not in line
    assert len(line) < 400


def test_single_cells_must_exist_in_the_grid_that_is_used():
    config = config_with("gowalla.grid", "stepped")
    config["datasets"]["paris"]["individual"]["cells"] = [165]
    check(config)
    config["datasets"]["paris"]["individual"]["cells"] = [166]
    with pytest.raises(ValueError, match=r"at most the number of cells \(165\); got 166"):
        check(config)


def test_the_command_says_where_the_results_go_or_what_is_wrong(tmp_path):
    """The command prints the folder of a configuration's results, or one line that says the mistake.

    The line names the file if its text is wrong (no valid YAML), and the key if a setting is wrong (a seed
    that is no number).
    """
    file = tmp_path / "mine.yaml"

    def printed(text):
        """(standard output, standard error) of the command for a configuration file with this text."""
        file.write_text(text)
        command = [sys.executable, "-m", "scripts.shared.configuration", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        return done.stdout, done.stderr

    # The folder is named after the file.
    assert printed("seed: 5") == ("results/mine\n", "")

    _, tabulator = printed("seed: 5\n\tx: 3")
    assert tabulator.startswith(f"error: {file}, line 2: not valid YAML: ")

    _, no_number = printed("datasets: {synthetic: null, paris: null}\nseed: one")
    assert no_number.startswith("error: config: seed: ")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"a: " + b"[" * 1000, "not valid YAML: brackets or lists are nested too deeply"),
        (b"seed: " + b"1" * 5000, "a value cannot be read: Exceeds the limit"),
        ("title: Zürich".encode("latin-1"), "not valid YAML: expected text in UTF-8"),
        ("title: Zürich".encode("utf-16"), "not valid YAML: expected text in UTF-8"),
        (b"title: \0", "not valid YAML: expected text in UTF-8"),
        (b"a: {b: 1, b: 2}", "line 1: not valid YAML: the key 'b' occurs twice"),
        (b"a:\n  c: null\na:\n  d: null\n", "line 3: not valid YAML: the key 'a' occurs twice"),
        (b"[1]", ": expected a mapping (key: value) at the top level"),
    ],
)
def test_what_is_no_yaml_is_one_line_that_names_the_file(tmp_path, content, told):
    (tmp_path / "mine.yaml").write_bytes(content)
    with pytest.raises(ValueError, match=f"^{re.escape(str(tmp_path))}/mine.yaml[:,] ") as error:
        read(tmp_path / "mine.yaml")
    line = str(error.value)
    assert told in line
    assert "\n" not in line
    assert len(line) < 300


def test_keys_that_yaml_merges_are_not_twice(tmp_path):
    (tmp_path / "mine.yaml").write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\n")
    assert read(tmp_path / "mine.yaml")["b"] == {"x": 1, "y": 3}


def test_a_name_that_yaml_reads_as_false_is_explained():
    with pytest.raises(ValueError, match=r"got False \(YAML reads no, off, yes and on as"):
        check(config_with("datasets", CONFIG["datasets"] | {False: OWN}))


def test_the_largest_population_is_what_numpy_can_sample_from():
    assert MOST_USERS == NUMPYS_LIMIT - 1


def test_the_folder_of_the_results():
    assert results_folder([]) == "results"
    assert results_folder(["config/quick.yaml", "my own.yaml"]) == "results/quick_my_own"
    with pytest.raises(ValueError, match=r"^results/figures is in use"):
        results_folder(["figures.yaml"])


def test_a_copy_of_the_papers_configuration_is_no_file_of_your_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_bytes(PAPERS_FILE.read_bytes())
    assert overlays([PAPERS_FILE, tmp_path / "config.yaml"]) == []
    Path("config.yaml").write_text("seed: 5")
    assert overlays([PAPERS_FILE, tmp_path / "config.yaml"]) == ["config.yaml"]


def test_a_setting_that_is_not_the_papers_is_named_with_both_values():
    other = config_with("datasets.paris.tv.budgets", [{"eps0": 4, "eps": 5}])
    papers_value = "[{eps0: 4, eps: 4}, {eps0: 6, eps: 6}]"
    other_value = "[{eps0: 4, eps: 5}]"
    assert differences(other) == [("datasets.paris.tv.budgets", papers_value, other_value)]


def test_the_settings_of_a_section_that_is_left_out_are_named_so():
    without_section = config_with("datasets.paris.individual", MISSING)
    assert {value for _key, _papers_value, value in differences(without_section)} == {"left out"}


@pytest.mark.parametrize(
    "config",
    [CONFIG, config_with("datasets.mine", OWN), config_with("seed", 5)],
    ids=["the paper's", "with a dataset of your own", "with another seed"],
)
def test_a_dataset_of_your_own_and_the_seed_are_no_settings_of_the_papers(config):
    assert differences(config) == []


# Dataset -> the eps0s of the paper's figures, written by hand.
EPS0_OF_PAPER = {name: list(map(float, eps0)) for name, eps0 in PAPER.items()}


def test_all_datasets_of_the_papers_configuration_are_the_papers():
    assert papers_eps0(CONFIG) == EPS0_OF_PAPER


def test_the_comparison_at_equal_privacy_makes_no_dataset_another_one():
    """The comparison, parity, is not in the paper."""
    assert papers_eps0(config_with("parity.eps0", [4, 6, 8])) == EPS0_OF_PAPER


@pytest.mark.parametrize(
    ("key", "other_value"),
    [
        ("paris", MISSING),
        ("paris.tv.n", [1000, 2000]),
        ("paris.uniform.columns", 10),
        ("paris.box.north", 48.8799),
        ("paris.tv.budgets", [{"eps0": 4, "eps": 4}]),
        ("paris.individual.cells", [1, 2]),
        ("paris.individual", MISSING),
        ("synthetic.population", 999_999),
        ("synthetic.cells", 16),
        ("synthetic.spread_is", "variance"),
        ("synthetic.mean", 1),
    ],
)
def test_a_dataset_with_another_setting_is_not_the_papers(key, other_value):
    """`config_with` is the paper's configuration with another value at a key; `MISSING` takes the key out."""
    others = EPS0_OF_PAPER.copy()
    others.pop(key.split(".")[0])
    assert papers_eps0(config_with(f"datasets.{key}", other_value)) == others


def test_on_another_grid_neither_city_is_the_papers():
    assert list(papers_eps0(config_with("gowalla.grid", "stepped"))) == ["synthetic"]


def test_a_dataset_of_the_papers_can_be_left_out(tmp_path):
    (tmp_path / "a.yaml").write_text("datasets: {paris: null}")
    assert "paris" not in merged([PAPERS_FILE, tmp_path / "a.yaml"])["datasets"]
    with pytest.raises(ValueError, match="keep at least one of the paper's datasets"):
        check(CONFIG | {"datasets": {"mine": OWN}})


@pytest.mark.parametrize(
    "grid",
    ["paris: {uniform: {columns: 8, rows: 6}}", "synthetic: {cells: 10}"],
)
def test_a_grid_without_the_papers_cells_leaves_out_the_tables_of_single_cells(tmp_path, grid):
    """So such a grid needs no other key. Cells that an overlay chooses stay, and must fit."""
    name = grid.partition(":")[0]
    file = tmp_path / "a.yaml"
    file.write_text(f"datasets: {{{grid}}}")
    config = merged([PAPERS_FILE, file])
    check(config)
    assert config["datasets"][name]["individual"] is None
    assert config["datasets"]["san_francisco"]["individual"]

    chosen = "individual: {cells: [7, 99]}}"
    file.write_text(f"datasets: {{{grid.removesuffix('}')}, {chosen}}}")
    with pytest.raises(ValueError, match="got 99: choose other cells"):
        check(merged([PAPERS_FILE, file]))


def test_a_smaller_grid_that_has_the_papers_cells_keeps_them(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("datasets: {paris: {uniform: {columns: 14, rows: 10}}}")
    assert merged([PAPERS_FILE, file])["datasets"]["paris"]["individual"]["cells"][-1] == 140


def test_datasets_are_in_the_order_of_their_figures_and_are_asked_for_by_kind_and_section():
    datasets = datasets_of(config_with("datasets.a_own", OWN | {"grid": GRID}))
    assert list(datasets) == ["synthetic", "san_francisco", "paris", "a_own"]
    cities = ["san_francisco", "paris"]
    assert names_of_kind(datasets, "gowalla") == having("estimates", datasets) == cities
    assert having("grid", datasets) == ["a_own"]
    assert label(eps0=4, eps=4.0) == label(eps0=4.0, eps=4) == "eps0-4_eps-4"


def test_every_setting_is_the_papers_or_said_to_be_ours():
    """settings.csv (`STATED_FILE`) has a row per setting: "yes" (stated), "our reading" or "our choice".

    config/README.md lists the keys of the settings that the paper does not state: in one line our readings of
    the paper, in another our choices. The keys stand between backquotes, in the order of settings.csv.
    """
    with STATED_FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["stated"] for row in rows} == {"yes", "our reading", "our choice"}
    assert all(row["source"] for row in rows)
    readme = (ROOT / "config/README.md").read_text(encoding="utf-8")
    _, _, section = readme.partition("## What the paper does not state\n")
    for stated in ("Our reading", "Our choice"):
        (line,) = re.findall(rf"^- \*\*{stated}\*\*.*", section, re.MULTILINE)
        keys = [row["key"] for row in rows if row["stated"] == stated.lower()]
        assert re.findall(r"`([^`]+)`", line) == keys
