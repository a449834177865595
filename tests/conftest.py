"""The real pipeline, run once on config/quick.yaml in a copy of the project."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = [
    "Snakefile",
    "config",
    "data",
    "profiles",
    "scripts",
    "tightshuffle",
    "workflow",
]
QUICK = ["--configfile", "config/quick.yaml"]


def counted(text):
    """rule -> number of its jobs, from what Snakemake prints of a plan."""
    if "Nothing to be done" in text:
        return {}
    table = re.search(r"Job stats\s*\n(.*?\n) *total +\d+", text, flags=re.DOTALL)
    assert table, text
    rows = re.findall(r"^ (\S.*?) {2,}(\d+) *$", table[1], flags=re.MULTILINE)
    return {name.replace(" ", "_"): int(number) for name, number in rows}


class Project:
    """A copy of the project in a folder of its own, and Snakemake run in it."""

    def __init__(self, folder, sources=SOURCES, made="results/quick"):
        self.made = made
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=not sources)
        hidden = shutil.ignore_patterns("__pycache__", "raw")
        for name in sources:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, self.folder / name, ignore=hidden)
            else:
                shutil.copy2(source, self.folder / name)

    def snakemake(self, *arguments, environment=None):
        """Run Snakemake; the completed process, its output and errors in ``stdout``."""
        return subprocess.run(
            [sys.executable, "-m", "snakemake", *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONPATH": "", **(environment or {})},
        )

    def make(self, *arguments, **options):
        done = self.snakemake(*QUICK, *arguments, **options)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def planned(self, *arguments, target=("all",)):
        """The names of the rules that a dry run of the targets would start."""
        return set(counted(self.make(*arguments, "--dry-run", "--", *target)))

    def results(self, folder=None):
        """The bytes of every result in a folder, without logs and run times."""
        made = self.folder / (folder or self.made)
        return {
            str(path.relative_to(made)): path.read_bytes()
            for path in sorted(made.rglob("*"))
            if path.is_file() and path.relative_to(made).parts[0] not in ("logs", "benchmarks")
        }

    def wipe(self):
        """As `make clean` does."""
        for name in ("results", ".snakemake"):
            shutil.rmtree(self.folder / name, ignore_errors=True)


def pytest_collection_modifyitems(items):
    """What runs the pipeline comes first: beside the long files the short ones fill the other cores."""
    items.sort(key=lambda item: item.get_closest_marker("pipeline") is None)


def made_once(tmp_path_factory, name, *configs):
    """A project in which the pipeline has run, by the first of pytest's processes; the others wait for it."""
    root = tmp_path_factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    with open(root / f"{name}.lock", "a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        if not (said := lock.read()):
            done = Project(root / name).snakemake(*configs)
            said = "made" if done.returncode == 0 else done.stdout
            lock.write(said)
    assert said == "made", said
    return root / name


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A project whose whole quick pipeline has run. Tests that change files put them back."""
    made = made_once(tmp_path_factory, "quick", *QUICK)
    copy = tmp_path_factory.mktemp("finished") / "project"
    shutil.copytree(made, copy, symlinks=True)
    return Project(copy, sources=())


@pytest.fixture(scope="session")
def full(tmp_path_factory):
    """A project whose whole pipeline has run on the paper's own configuration. Nobody changes it."""
    return Project(made_once(tmp_path_factory, "full"), sources=(), made="results")


@pytest.fixture
def fresh(tmp_path):
    """A project in which nothing has run; its path holds a space and letters beyond ASCII."""
    return Project(tmp_path / "frisch geklönt")
