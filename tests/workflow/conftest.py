"""The real pipeline in copies of the project; most tests share one run on config/quick.yaml."""

import fcntl
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
    "reproduction",
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
    table = re.search(r"Job stats\s*\n(.*?\n) *total +\d+", text, flags=re.DOTALL)
    assert table, text
    rows = re.findall(r"^ (\S.*?) {2,}(\d+) *$", table[1], flags=re.MULTILINE)
    return {name.replace(" ", "_"): int(number) for name, number in rows}


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
            if path.is_file() and path.relative_to(made).parts[0] not in ("logs", "benchmarks")
        }

    def wipe(self):
        """As `make clean` does."""
        for name in ("results", ".snakemake"):
            shutil.rmtree(self.folder / name, ignore_errors=True)


OVERLAY = """
datasets:
  mine:
    kind: counts
    title: Mine
    file: mine.csv
    tv: {budgets: [{eps0: 2, eps: 1}], n: [200, all], repetitions: 4}
delta_surface: {eps: {steps: 5}, eps0: {steps: 5}}
"""


class Small(Project):
    """A project with short targets: your own histogram, trials on it, and a figure made in two steps."""

    made = "results/overlay"
    HISTOGRAM = f"{made}/histograms/mine.csv"
    TRIALS = f"{made}/trials/mine_eps0-2_eps-1.parquet"
    SURFACE = f"{made}/privacy/delta_surface.csv"
    FIGURE = f"{made}/figures/fig1_delta_surface.png"

    def __init__(self, folder, *, copied=False):
        super().__init__(folder, results=self.made, copied=copied)
        if not copied:
            (self.folder / "mine.csv").write_text("cell,count\n1,400\n2,150\n3,0\n4,50\n")
            (self.folder / "overlay.yaml").write_text(OVERLAY)

    def command(self, *targets):
        targets = targets or (self.HISTOGRAM, self.TRIALS, self.FIGURE)
        return ("--configfile", "overlay.yaml", "--cores", "1", "--", *targets)

    def run(self, *options, targets=()):
        """Run Snakemake on the short targets, or some of them; the completed process."""
        return self.snakemake(*options, *self.command(*targets))

    def copy(self, folder):
        """A copy with the dates of the copying, as cp -r makes it."""
        shutil.copytree(self.folder, folder, copy_function=shutil.copyfile)
        return Small(folder, copied=True)


def made_once(tmp_path_factory, name, run):
    """A copy of a folder where ``run`` has run: the first process of pytest runs it, others wait."""
    root = tmp_path_factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    with open(root / f"{name}.lock", "a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        if not (outcome := lock.read()):
            done = run(root / name)
            outcome = "made" if done.returncode == 0 else done.stdout
            lock.write(outcome)
    assert outcome == "made", outcome
    copy = tmp_path_factory.mktemp(name) / "project"
    shutil.copytree(root / name, copy, symlinks=True)
    return copy


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A project whose whole quick pipeline has run. Tests that change files put them back."""
    made = made_once(tmp_path_factory, "quick", lambda folder: Project(folder).snakemake(*QUICK))
    return Project(made, copied=True)


@pytest.fixture(scope="session")
def full(tmp_path_factory):
    """The same on the papers' own configuration, for the slow tests: they need no other finished run."""
    made = made_once(tmp_path_factory, "full", lambda folder: Project(folder).snakemake())
    return Project(made, config=[], results="results", copied=True)


@pytest.fixture(scope="session")
def calm(tmp_path_factory):
    """A finished small project. Nobody changes it."""
    return Small(made_once(tmp_path_factory, "calm", lambda folder: Small(folder).run()), copied=True)


@pytest.fixture
def small(calm, tmp_path):
    """A copy of the finished small project."""
    return calm.copy(tmp_path / "anders wo")


@pytest.fixture
def fresh(tmp_path):
    """A project in which nothing has run; its path holds a space and letters beyond ASCII."""
    return Project(tmp_path / "frisch geklönt")
