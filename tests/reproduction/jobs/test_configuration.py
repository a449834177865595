"""Every mistake in a configuration becomes one line that names the key and what it may be."""

import copy
import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from reproduction.jobs import configuration
from reproduction.jobs.configuration import (
    DELIVERED,
    PAPERS,
    check,
    config_error,
    differences,
    fingerprint,
    judged,
    merged,
    read,
)
from tests import ROOT

CONFIG = read(PAPERS)
MISSING = object()
NAN, INF = float("nan"), float("inf")


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


def test_the_papers_configuration_is_valid():
    assert config_error(CONFIG) is None


@pytest.mark.parametrize("overlay", sorted((ROOT / "config").glob("*.yaml")), ids=lambda path: path.name)
def test_overlays_are_valid(overlay):
    assert config_error(merged([PAPERS, overlay])) is None


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
    own = {"kind": "counts", "title": "Mine", "file": "mine.csv", "tv": CONFIG["datasets"]["paris"]["tv"]}
    assert config_error(changed("datasets.mine", own)) is None


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("gowalla.sourc", "snap", ["gowalla.sourc", "did you mean 'source'?", "bad_rows_at_most"]),
        ("gowalla.source", "web", ["gowalla.source", "bundled, snap, file", "'web'"]),
        ("gowalla.source", "file", ["gowalla.file must name a file"]),
        ("gowalla.download.md5", "abc", ["gowalla.download.md5", "'abc'"]),
        ("gowalla.download.url", "ftp://example.org/x", ["gowalla.download.url", "http:// or https://"]),
        ("gowalla.bad_rows_at_most", 2, ["gowalla.bad_rows_at_most must be at most 1; got 2"]),
        ("protocol.delta_floor", "1e-30", ["protocol.delta_floor must be a number", "1e-30 as 1.0e-30"]),
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
        ("parity.delta.0", "1e-6", ["parity.delta[0] must be a number", "1e-30 as 1.0e-30"]),
        (
            "parity.repetitions",
            "3",
            ["repetitions must be a whole number; got '3' (it is text", "not in --config"],
        ),
        ("datasets.paris.figures.tv", "fig9", ["paris.figures.tv must be one of fig1 to fig7; got 'fig9'"]),
        ("parity.delta_exponents.0", 0, ["parity.delta_exponents[0] must be greater than 0; got 0"]),
        ("parity.eps0.3", 21, ["parity.eps0[3] must be at most 20; got 21"]),
        ("parity.repetition", 5, ["parity.repetition", "did you mean 'repetitions'?"]),
        ("gowalla.grid", "published", ["gowalla.grid must be one of: uniform, stepped; got 'published'"]),
        ("datasets.paris.published", {}, ["unknown key 'datasets.paris.published'", "title, tv, uniform"]),
        ("parity.plan.guarantees.0.eps", 20, ["parity.plan.guarantees[0].eps must be less than 20"]),
        ("parity.plan.guarantees.1.delta", MISSING, ["'parity.plan.guarantees[1].delta' is missing"]),
        ("delta_surface.count", 100, ["delta_surface.count must be less than delta_surface.n (100)"]),
        ("audit.remaining", "x3", ["audit.remaining must be one of: x1, x2"]),
        ("audit.confidence", 1, ["audit.confidence must be less than 1"]),
        ("audit.settings.0.runs", 1, ["audit.settings[0].runs must be at least 2; got 1"]),
        ("audit.settings.2.count", 100, ["audit.settings[2].count must be less than n (100); got 100"]),
        ("audit.settings.3.k", 2, ["audit.settings[3].k must be at least 3 with audit.remaining x2"]),
        ("audit.settings.1.eps0", 1.0, ["audit.settings[1] repeats [0]", "all runs at once"]),
        ("delta_surface.eps.start", 3, ["delta_surface.eps.start must be less than stop (3.0)"]),
        ("protocol.sensitivity", NAN, ["protocol.sensitivity must be a finite number; got nan"]),
        ("datasets.synthetic.mean", INF, ["datasets.synthetic.mean must be a finite number"]),
        ("datasets.synthetic.range", [-INF, 6], ["datasets.synthetic.range[0] must be a fin"]),
        ("seed", True, ["seed must be a whole number; got True"]),
        ("protocol", [1], ["protocol must be a mapping (key: value); got [1]"]),
        ("koskela", None, ["koskela must be a mapping (key: value); got None"]),
        ("datasets.paris.box.south", "48.8", ["datasets.paris.box.south must be a number"]),
        ("datasets.paris.tv.n", [0.5], ["datasets.paris.tv.n[0] must be a whole number"]),
        ("datasets.paris.tv.n", [10, 10], ["datasets.paris.tv.n must not name anything twice"]),
        ("datasets.paris.individual.repetitions", 0, ["repetitions must be at least 1; got 0"]),
        ("seed", 10**40, ["seed must be at most 9223372036854775807; got 1000000"]),
        ("datasets.paris.tv.n", [10**30], ["datasets.paris.tv.n[0]"]),
        ("datasets.paris.tv.budgets", [{"eps0": 1e308, "eps": 1}], ["eps0 must be at most 100"]),
        ("datasets.synthetic.cells", 10**12, ["datasets.synthetic.cells must be at most 1000000"]),
        ("delta_surface.eps.steps", 10**9, ["delta_surface.eps.steps must be at most 1000"]),
        (
            "parity.repetitions",
            10**5,
            ["datasets.san_francisco.cells (408) times parity.repetitions (100,000)", "at most 20,000,000"],
        ),
        (
            "datasets.paris.stepped.latitude_step",
            1e-12,
            ["datasets.paris.stepped must cut the box into 2 to 1,000,000 cells"],
        ),
        (
            "datasets.paris.uniform",
            {"columns": 1, "rows": 1},
            ["datasets.paris.uniform must cut the box into 2 to 1,000,000 cells; got 1"],
        ),
        (
            "datasets.synthetic.individual.cells",
            [16],
            ["datasets.synthetic.individual.cells must be at most the number of cells (15); got 16"],
        ),
        ("koskela.fig1a.eps.start", 4.0, ["koskela.fig1a.eps.start must be less than stop (4.0)"]),
        ("koskela.fig1b.eps.stop", 0.01, ["koskela.fig1b.eps.start must be less than stop"]),
        ("blanket_regions.eps0.start", 9, ["blanket_regions.eps0.start must be less than stop"]),
        ("girgis_rdp.orders.stop", 1.05, ["girgis_rdp.orders.start must be less than stop"]),
        ("gaussian_scale.log10_delta.stop", -1, ["log10_delta.start must be greater than stop"]),
        (
            "delta_bounds.settings.0.eps.stop",
            0.5,
            ["settings[0].eps.stop must be less than delta_bounds.settings[0].eps0 (0.5); got 0.5"],
        ),
        (
            "delta_bounds.settings.1.count",
            1000,
            ["delta_bounds.settings[1].count must be less than delta_bounds.settings[1].n (1000); got 1000"],
        ),
        ("gowalla.source", "x" * 100_000, ["gowalla.source must be one of"]),
    ],
)
def test_mistakes_are_named(path, value, words):
    error = config_error(changed(path, value))
    assert error is not None
    assert error.startswith("config: ")
    assert error.isprintable()
    assert len(error) < 400
    for word in words:
        assert word in error


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
            "datasets must keep one of the papers' datasets: synthetic needs no file",
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
    assert config_error(config) == (
        "config: the key 'datasets.paris.stepped' is missing; gowalla.grid asks for it"
    )


@pytest.mark.parametrize("name", ["folder", "pipe.csv", "/dev/zero", "missing.csv"])
def test_data_come_from_a_file_that_is_there(tmp_path, monkeypatch, name):
    """Anything else would give no rows, wait for a writer, or never end."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    os.mkfifo("pipe.csv")
    own = {"kind": "counts", "title": "Mine", "file": name}
    with pytest.raises(ValueError, match=rf"^datasets\.mine\.file: no file '{name}'"):
        check(changed("datasets.mine", own))
    with pytest.raises(ValueError, match=rf"^gowalla\.file: no file '{name}'"):
        check(CONFIG | {"gowalla": CONFIG["gowalla"] | {"source": "file", "file": name}})


def test_n_is_at_most_the_number_of_users_in_a_file_of_counts(tmp_path):
    config = changed("datasets.paris.tv.n", [1000, 200_000])
    with pytest.raises(
        ValueError, match=r"^datasets\.paris\.tv\.n must be at most the population \(11190\); got"
    ):
        check(config)
    path = tmp_path / "mine.csv"
    own = {"kind": "counts", "title": "Mine", "file": str(path), "tv": CONFIG["datasets"]["paris"]["tv"]}
    for text in ("cell, Count\n1,600\n2,399\n", "\ufeffCELL,count\n1,999\n"):
        path.write_text(text)
        with pytest.raises(
            ValueError, match=r"^datasets\.mine\.tv\.n must be at most the population \(999\)"
        ):
            check(changed("datasets.mine", own))
    for text in ("", "cell\n1\n", "cell,count\n1,x\n", "cell,count\n1\n", "\xff"):
        path.write_text(text, "latin-1")
        check(changed("datasets.mine", own))  # its job names the row that is wrong


# Files -----------------------------------------------------------------------------------------------

FILES = {
    "a key twice": ("seed: 1\nseed: 2\n", "line 2: the key 'seed' is in line 1 already"),
    "a nested key twice": ("protocol:\n  a: 1\n  b: 2\n  a: 3\n", "line 4: the key 'a' is in line 2"),
    "a key twice in a list": ("x:\n  - {a: 1}\n  - {a: 1, a: 2}\n", "line 3: the key 'a' is in line 3"),
    "a tab": ("protocol:\n\tsensitivity: 1\n", "line 2: not valid YAML: found character"),
    "an open bracket": ("x: [1, 2\n", "expected ',' or ']'"),
    "a list": ("- seed\n", "must be a mapping (key: value) at its top"),
    "a word": ("seed", "must be a mapping (key: value) at its top"),
    "two documents": ("seed: 1\n---\nseed: 2\n", "line 2: not valid YAML: but found another document"),
    "a missing anchor": ("x: *y\n", "line 1: not valid YAML: found undefined alias"),
    "control characters": ("x: \x00\n", "characters are not allowed"),
}


def refused(folder, text):
    """The error of a configuration file with this text."""
    (folder / "mine.yaml").write_text(text)
    with pytest.raises(ValueError, match=r"mine\.yaml") as info:
        read(folder / "mine.yaml")
    return str(info.value).removeprefix(f"{folder}/")


@pytest.mark.parametrize(("text", "words"), FILES.values(), ids=FILES)
def test_configuration_files(tmp_path, text, words):
    error = refused(tmp_path, text)
    assert error.startswith("mine.yaml")
    assert words in error
    assert error.isprintable()
    assert len(error) < 400


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "a: &x {b: 1}\nc: *x\n", '{"a": {"b": [1]}}', "\ufeffa: 1"]
)
def test_unusual_configuration_files_are_fine(tmp_path, text):
    (tmp_path / "mine.yaml").write_text(text)
    read(tmp_path / "mine.yaml")


CODE = {
    "call": "x: !!python/object/apply:os.system ['touch {mark}']\n",
    "new object": "x: !!python/object/new:os.system ['touch {mark}']\n",
    "key": "? !!python/object/apply:os.system ['touch {mark}']\n: 1\n",
    "module": "x: !!python/module:os\n",
    "own tag": "x: !run 'touch {mark}'\n",
    "template": "__use_yte__: true\nx: ?__import__('os').system('touch {mark}')\n",
    "template deep down": "a:\n  __use_yte__: true\n",
}


@pytest.mark.parametrize("text", CODE.values(), ids=CODE)
def test_code_in_a_configuration_is_refused_unrun(tmp_path, text):
    mark = tmp_path / "mark"
    error = refused(tmp_path, text.replace("{mark}", str(mark)))
    assert re.search(r"mine.yaml, line \d: .*(no.* constructor for the tag|remove it)", error)
    assert error.isprintable()
    assert not mark.exists()


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


@pytest.mark.parametrize("number", ["1/../../x", "4; touch x", "$(x)", "4\n", "1e3", "nan", "{n}"])
@pytest.mark.parametrize("key", ["eps0", "eps"])
def test_numbers_that_become_parts_of_paths(key, number):
    error = config_error(changed(f"datasets.paris.tv.budgets.0.{key}", number))
    assert f"datasets.paris.tv.budgets[0].{key} must be a number" in error


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("datasets.paris.tv.n", ["all/../x"]),
        ("datasets.paris.figures.tv", "fig1/../../x"),
        ("datasets.paris.figures.tv", "fig1\n"),
        ("datasets.mine.file", "a{b}.csv"),
        ("datasets.paris.title", "a\n.. raw:: html"),
        ("datasets.paris.title", "a\x1b[2J"),
        ("gowalla.download.url", "file:///etc/passwd"),
        ("gowalla.download.url", "https://x.org/a\n"),
        ("gowalla.download.md5", "0" * 32 + "\n"),
        ("gowalla.grid", "../uniform"),
    ],
)
def test_texts_that_become_parts_of_something_else(path, value):
    own = CONFIG["datasets"] | {"mine": {"kind": "counts", "title": "Mine", "file": "mine.csv"}}
    error = config_error(changed(path, value, CONFIG | {"datasets": own}))
    assert error is not None
    assert path in error
    assert error.isprintable()


def test_the_command_reads_a_file_without_running_it(tmp_path):
    """Snakemake runs the code in a template: hence the check of `make CONFIG=...`, which only reads."""
    mark, evil = tmp_path / "mark", tmp_path / "evil.yaml"

    def check(text):
        evil.write_text(text)
        command = [sys.executable, "-m", "reproduction.jobs.configuration", evil]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    done = check(f"__use_yte__: true\nseed: ?__import__('os').system('touch {mark}')\n")
    wanted = f"error: {evil}, line 1: '__use_yte__' makes a config a program; remove it\n"
    assert (done.returncode, done.stderr) == (1, wanted)
    assert not mark.exists()
    assert check("seed: 7\n").stdout == "results/evil\n"
    assert "unknown key 'sed'; did you mean 'seed'?" in check("sed: 7\n").stderr


def test_the_command_prints_the_folder_of_the_results(tmp_path):
    """Which `make CONFIG=...` ends with."""
    shutil.copy(ROOT / "config/quick.yaml", tmp_path / "my quick.yaml")
    command = [sys.executable, "-m", "reproduction.jobs.configuration"]
    for path, printed in {
        "config/config.yaml": "results\n",
        tmp_path / "my quick.yaml": "results/my_quick\n",
        "config": "error: config: a folder; name a file in it, such as config/quick.yaml\n",
    }.items():
        done = subprocess.run([*command, path], cwd=ROOT, capture_output=True, text=True)
        assert done.stdout + done.stderr == printed
