"""The real pipeline, run once on config/quick.yaml in a copy of the project."""

import fcntl
import os
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


class Project:
    """A copy of the project in a folder of its own, and Snakemake run in it."""

    def __init__(self, folder, sources=SOURCES):
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

    def planned(self, *configs, target=("all",)):
        """The names of the rules that a dry run of the targets would start, with further config files."""
        text = self.make(*configs, "--dry-run", *target)
        if "Nothing to be done" in text:
            return set()
        lines = text[text.index("Job stats:") :].splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("---"))
        rules = set()
        for line in lines[start + 1 :]:
            if line.startswith("total"):
                return rules
            rules.add(line.split()[0])
        raise AssertionError(text)

    def results(self):
        """The bytes of every result, without logs and run times."""
        made = self.folder / "results"
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
    return Project(made_once(tmp_path_factory, "full"), sources=())


@pytest.fixture
def fresh(tmp_path):
    """A project in which nothing has run; its path holds a space and letters beyond ASCII."""
    return Project(tmp_path / "frisch geklönt")
