"""The real pipeline in copies of the project; the tests share one run on config/quick.yaml."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT

SOURCES = [
    "Snakefile",
    "config",
    "data",
    "docs",
    "profiles",
    "scripts",
    "tightshuffle",
    "workflow",
]
QUICK = ["--configfile", "config/quick.yaml"]
NO_PLUGINS = str(ROOT / "tests/without_plugins")  # Snakemake starts faster; tests of a cluster leave it out


def counted(text):
    """rule -> number of its jobs, from what Snakemake prints of a plan."""
    if "Nothing to be done" in text:
        return {}
    table = re.search(r"^Job stats:\n(.*?)^total ", text, flags=re.DOTALL | re.MULTILINE)
    assert table, text
    return {name: int(number) for name, number in re.findall(r"(\w+) +(\d+)\n", table[1])}


class Project:
    """A copy of the project in a folder of its own, or one that is there already, and Snakemake run in it."""

    def __init__(self, folder, *, config=QUICK, results="results/quick", copied=False):
        self.folder, self.config, self.made = Path(folder), config, results
        if copied:
            return
        self.folder.mkdir(parents=True)
        hidden = shutil.ignore_patterns("__pycache__", "raw")
        for name in SOURCES:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, self.folder / name, ignore=hidden)
            else:
                shutil.copy2(ROOT / name, self.folder / name)

    def python(self, *arguments, environment=None, **options):
        """Run Python in the project's folder, with the project's code; the completed process."""
        paths = (str(self.folder), str(ROOT), NO_PLUGINS)  # this checkout for `tests` only
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=self.folder,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **(environment or {})},
            **{"capture_output": True, **options},
        )

    def snakemake(self, *arguments, environment=None):
        """Run Snakemake; the completed process, its output and errors in ``stdout``."""
        return self.python(
            *("-m", "snakemake", *arguments),
            environment={"PYTHONPATH": NO_PLUGINS, **(environment or {})},
            capture_output=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def start(self, *arguments, environment=None):
        """Start Snakemake in a process group of its own; what it prints goes to the file ``printed``."""
        with open(self.folder / "printed", "w") as file:
            return subprocess.Popen(
                [sys.executable, "-m", "snakemake", *arguments],
                cwd=self.folder,
                stdout=file,
                stderr=file,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": NO_PLUGINS, **(environment or {})},
            )

    def make(self, *arguments, **options):
        """Run Snakemake on the project's configuration without an error; what it prints."""
        done = self.snakemake(*self.config, *arguments, **options)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def planned(self, *targets):
        """rule -> number of its jobs that a run of the targets would start."""
        return counted(self.make("--dry-run", "--", *targets))

    def results(self):
        """The bytes of every result, without logs and run times."""
        made = self.folder / self.made
        return {
            str(path.relative_to(made)): path.read_bytes()
            for path in sorted(made.rglob("*"))
            if path.is_file() and path.relative_to(made).parts[0] != "logs"
        }

    def wipe(self):
        """As `make clean` does."""
        for name in ("results", ".snakemake"):
            shutil.rmtree(self.folder / name, ignore_errors=True)


# What Python runs first in every process of the project: a job notes the project's files that it has read.
NOTES = """
import atexit, json, os, sys

HERE, READ = os.path.dirname(os.path.abspath(__file__)), set()

def note(event, given):
    if event == "open" and isinstance(given[0], (str, bytes)) and not (given[2] or 0) & os.O_ACCMODE:
        READ.add(os.path.abspath(os.fsdecode(given[0])))

def write():
    job = sys.modules["__main__"].snakemake
    loaded = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    read = sorted(os.path.relpath(path, HERE) for path in (READ | loaded) - {None} if path.startswith(HERE))
    declared = {"code": job.params.get("code", ""), "input": list(map(str, job.input)), "read": read}
    with open(os.path.join(HERE, "seen", str(os.getpid())), "w") as file:
        json.dump({"rule": job.rule, "log": job.log[0], **declared}, file)

if any(".snakemake/scripts/" in word for word in sys.orig_argv):
    sys.addaudithook(note)
    atexit.register(write)
"""


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A project whose whole quick pipeline has run. Tests that change files put them back."""
    project = Project(tmp_path_factory.mktemp("quick") / "project")
    (project.folder / "seen").mkdir()
    (project.folder / "sitecustomize.py").write_text(NOTES)
    project.make()
    return project


@pytest.fixture(scope="session")
def full(tmp_path_factory):
    """The same on the papers' own configuration, for the slow tests of its numbers."""
    project = Project(tmp_path_factory.mktemp("full") / "project", config=[], results="results")
    project.make()
    return project


@pytest.fixture
def fresh(tmp_path):
    """A project in which nothing has run; its path holds a space and letters beyond ASCII."""
    return Project(tmp_path / "frisch geklönt")
