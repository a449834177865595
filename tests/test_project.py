"""The project itself: pins, versions, size, the oldest Python."""

import importlib
import itertools
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from flit_core import buildapi

import tightshuffle
from reproduction.jobs.code import files_of
from tests import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, GROUPS = PYPROJECT["project"], PYPROJECT["dependency-groups"]
LOCKS = {group: f"requirements{'' if group == 'pipeline' else f'-{group}'}.lock" for group in GROUPS}


def pins(text):
    return dict(re.findall(r"^[\s\"-]*([A-Za-z0-9._-]+)==([^\s\"\\]+)", text, flags=re.MULTILINE))


def locked(name):
    return pins((ROOT / name).read_text())


@pytest.mark.parametrize("environment", ["environment.yml", "workflow/envs/rules.yml"])
def test_conda_has_the_versions_of_the_lock(environment):
    assert locked(environment) == locked("requirements.lock")
    assert len(locked("requirements.lock")) > 50


def test_conda_users_get_the_command_too():
    *_, pip = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    assert pip["pip"][-1] == "-e ."  # conda runs pip in the folder of environment.yml
    # Snakemake copies the rules' environment to a folder where there is nothing to install.
    assert "-e ." not in (ROOT / "workflow/envs/rules.yml").read_text()
    module, function = PROJECT["scripts"]["tightshuffle"].split(":")
    assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize("name", LOCKS.values())
def test_lock_has_hashes_and_no_index(name):
    lock = (ROOT / name).read_text()
    assert not re.search(r"index-url|find-links|https?://|file:", lock)
    entries = re.split(r"\n(?=[a-z])", lock.strip())
    assert all("--hash=sha256:" in entry for entry in entries)


def test_installed_versions_are_the_locked_ones():
    names = ("numpy", "scipy", "pandas", "matplotlib", "diffprivlib", "snakemake")
    lock = locked("requirements.lock")
    assert {name: metadata.version(name) for name in names} == {name: lock[name] for name in names}


def names(requirements):
    return {re.match(r"[A-Za-z0-9_-]+", line)[0].lower().replace("_", "-") for line in requirements}


@pytest.mark.parametrize("group", LOCKS)
def test_every_direct_dependency_is_in_the_lock_of_its_group(group):
    pipeline, lock = locked("requirements.lock"), locked(LOCKS[group])
    alone = group in ("pipeline", "test")  # the library's tests need no more than the test lock
    assert names(GROUPS[group]) | (names(PROJECT["dependencies"]) if alone else set()) <= lock.keys()
    both = lock.keys() & pipeline.keys()
    assert {name: lock[name] for name in both} == {name: pipeline[name] for name in both}
    assert alone or not both


def test_every_extra_is_tested():
    extras = names(itertools.chain(*PROJECT["optional-dependencies"].values()))
    assert extras <= locked(LOCKS["pipeline"]).keys() | locked(LOCKS["test"]).keys()


def test_plugins_of_a_cluster_are_nowhere_else():
    """They make every start of Snakemake a second longer."""
    for group, lock in LOCKS.items():
        plugins = {name.startswith("snakemake-executor-plugin-") for name in locked(lock)}
        assert plugins == {True} if group == "cluster" else True not in plugins


def test_the_citation_and_the_changelog_have_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    newest = re.search(r"^## \[(\d.*?)\]", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1]
    assert {citation["version"], newest} == {tightshuffle.__version__}


def test_nothing_large_and_no_checkin_rows():
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout: the project's files cannot be told from made ones")
    files = [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]
    sizes = [path.stat().st_size for path in files]
    assert max(sizes) < 1_000_000
    assert sum(sizes) < 5_000_000
    # A row of SNAP's file: user, time, latitude, longitude, location, tab separated.
    row = re.compile(rb"^\d+\t\d{4}-\d\d-\d\dT[^\t]+\t-?\d+\.\d+\t-?\d+\.\d+\t", re.MULTILINE)
    assert [path for path in files if path.suffix != ".py" and row.search(path.read_bytes())] == []


def test_the_wheel_holds_the_library_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    with zipfile.ZipFile(tmp_path / buildapi.build_wheel(str(tmp_path))) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    library = {str(path.relative_to(ROOT)) for path in (ROOT / "tightshuffle").rglob("*.py")}
    assert held == library | {"tightshuffle/py.typed"}


def test_the_librarys_tests_import_the_library_and_the_test_tools_only():
    tests = [*(ROOT / "tests/library").rglob("*.py"), ROOT / "tests/conftest.py"]
    files = files_of(*(str(path.relative_to(ROOT)) for path in tests))
    houses = {"tightshuffle", "tests", "benchmarks"}
    assert {Path(file).parts[0] for file in files} == houses
    assert not [file for file in files if file.startswith(("tests/reproduction", "tests/workflow"))]
    own = [
        (ROOT / file).read_text(encoding="utf-8") for file in files if not file.startswith("tightshuffle/")
    ]
    imported = set(re.findall(r"^ *(?:import|from(?=.* import )) (\w+)", "\n".join(own), re.MULTILINE))
    tools = {name.replace("-", "_") for name in names([*PROJECT["dependencies"], *GROUPS["test"]])}
    assert {"numpy", "pytest"} <= imported <= houses | tools | {"xdist"} | sys.stdlib_module_names


@pytest.mark.parametrize("name", ["mit Leerzeichen", "cash $HOME", "a{b}", "it's", "a(b", "Büro-1_x.y"])
def test_a_folder_that_snakemake_cannot_work_in_is_refused_before_anything_is_installed(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    for file in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy2(ROOT / file, folder)
    command = ["make", "install", "PYTHON=false"]  # which is no Python: nothing is installed in any case
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    reason = (
        "needs Python" if name == "Büro-1_x.y" else f"error: {folder}: Snakemake does not quote this path"
    )
    assert reason in done.stderr.splitlines()[0]
    assert not (folder / ".venv").exists()


def test_make_help_names_every_target():
    """Also after a wrong one; what `make check` splits into is no user's."""
    makefile = (ROOT / "Makefile").read_text()
    rules = re.findall(r"^([a-z][a-z1-7 -]*):(?!=)", makefile, re.MULTILINE)
    rules += re.findall(r"^TARGETS := (.*)", makefile, re.MULTILINE)
    # As a user calls it: a make inside of `make test` says which folder it enters.
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    helped, wrong = (
        subprocess.run(["make", target], cwd=ROOT, capture_output=True, text=True, env=outside)
        for target in ("help", "fig8")
    )
    missing = set(" ".join(rules).split()) - set(re.findall(r"[\w-]+", helped.stdout))
    assert missing == {"slow", *(f"fig{number}" for number in range(2, 7))}
    assert (wrong.returncode, wrong.stderr.splitlines()[0]) == (2, "error: there is no make fig8, but these:")
    assert helped.stdout in wrong.stderr


def test_make_clean_leaves_only_the_readme_of_results(tmp_path):
    shutil.copy2(ROOT / "Makefile", tmp_path)
    for name in ("results/README.md", "results/a.csv", "results/figures/README.md", ".snakemake/x", "mine/a"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for left in (["Makefile", "mine/a", "results/README.md"], ["Makefile", "mine/a"]):
        subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True)
        assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()) == left
        shutil.rmtree(tmp_path / "results", ignore_errors=True)  # and then there is nothing to clean


def test_python_that_is_too_old_is_refused_in_one_line(tmp_path):
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\ncase $1 in --version) echo Python 3.9.2;; *) exit 1;; esac\n")
    old.chmod(0o755)
    command = ["make", f"PYTHON={old}", f"VENV={tmp_path / 'venv'}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    assert "needs Python >= 3.11" in done.stderr
    assert "is Python 3.9.2" in done.stderr
