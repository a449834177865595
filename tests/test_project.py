"""The project itself: format, lint, pins, size."""

import importlib
import itertools
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def project_files():
    listed = run("git", "ls-files", "-co", "--exclude-standard", "-z")
    if listed.returncode:
        pytest.skip("not a git checkout: the project's files cannot be told from made ones")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["snakefmt", "--check", "Snakefile", "workflow"],
    ],
    ids=" ".join,
)
def test_format_and_lint(command):
    done = run(str(Path(sys.executable).with_name(command[0])), *command[1:])
    assert done.returncode == 0, done.stdout + done.stderr


def pins(text):
    return dict(re.findall(r"^[\s\"-]*([A-Za-z0-9._-]+)==([^\s\"\\]+)", text, flags=re.MULTILINE))


def pip_lines(environment):
    """What pip is to install in a conda environment."""
    return yaml.safe_load((ROOT / environment).read_text())["dependencies"][-1]["pip"]


@pytest.mark.parametrize("environment", ["environment.yml", "workflow/envs/rules.yml"])
def test_conda_has_the_versions_of_the_lock(environment):
    lock = pins((ROOT / "requirements.lock").read_text())
    conda = pins("\n".join(pip_lines(environment)))
    assert lock == conda
    assert len(lock) > 50


def test_conda_users_get_the_command_too():
    *versions, last = pip_lines("environment.yml")
    assert last == "-e ."  # conda runs pip in the folder of environment.yml
    assert versions == pip_lines("workflow/envs/rules.yml")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, function = project["scripts"]["tightshuffle"].split(":")
    assert callable(getattr(importlib.import_module(module), function))


def test_rules_name_the_environment_without_the_project():
    """Snakemake copies it into .snakemake/conda, where `-e .` would find nothing to install."""
    rules = ROOT / "workflow" / "rules"
    named = [
        (path.parent / file).resolve()
        for path in rules.glob("*.smk")
        for file in re.findall(r"^ +conda:\s+\"([^\"]+)\"", path.read_text(), flags=re.MULTILINE)
    ]
    assert set(named) == {ROOT / "workflow" / "envs" / "rules.yml"}


LOCKS = ["requirements.lock", "requirements-cluster.lock"]


@pytest.mark.parametrize("name", LOCKS)
def test_lock_holds_hashes_and_no_index(name):
    lock = (ROOT / name).read_text()
    assert not re.search(r"index-url|find-links|https?://|file:", lock)
    entries = re.split(r"\n(?=[a-z])", lock.strip())
    assert all("--hash=sha256:" in entry for entry in entries)


def test_installed_versions_are_the_locked_ones():
    lock = pins((ROOT / "requirements.lock").read_text())
    for name in ("numpy", "scipy", "pandas", "matplotlib", "diffprivlib", "snakemake"):
        assert metadata.version(name) == lock[name]


def test_every_direct_dependency_is_locked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = itertools.chain(project["dependencies"], *project["optional-dependencies"].values())
    names = {re.match(r"[A-Za-z0-9_-]+", requirement)[0].lower().replace("_", "-") for requirement in wanted}
    assert names <= {name for lock in LOCKS for name in pins((ROOT / lock).read_text())}


def test_the_clusters_lock_adds_to_the_lock_and_changes_nothing_in_it():
    base, added = (pins((ROOT / name).read_text()) for name in LOCKS)
    assert not base.keys() & added.keys()
    assert all(name.startswith("snakemake-executor-plugin-") for name in added)


def test_nothing_large_and_no_checkin_rows():
    files = project_files()
    sizes = {path: path.stat().st_size for path in files}
    assert max(sizes.values()) < 1_000_000
    assert sum(sizes.values()) < 5_000_000
    # A row of SNAP's file: user, time, latitude, longitude, location, tab separated.
    row = re.compile(rb"^\d+\t\d{4}-\d\d-\d\dT[^\t]+\t-?\d+\.\d+\t-?\d+\.\d+\t", re.MULTILINE)
    assert [path for path in files if path.suffix != ".py" and row.search(path.read_bytes())] == []


def test_python_that_is_too_old_is_refused_in_one_line(tmp_path):
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\ncase $1 in --version) echo Python 3.9.2;; *) exit 1;; esac\n")
    old.chmod(0o755)
    done = run("make", f"PYTHON={old}", f"VENV={tmp_path / 'venv'}")
    assert done.returncode != 0
    assert "needs Python >= 3.11" in done.stderr
    assert "is Python 3.9.2" in done.stderr
