"""The real pipeline in copies of the project; the tests share one run on config/quick.yaml."""

import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from scripts.shared.code import digest
from tests import ROOT

SOURCES = ["config", "data", "docs", "profiles", "scripts", "tightshuffle", "workflow"]
QUICK = ["--configfile", "config/quick.yaml"]
# Snakemake starts faster; tests of a cluster leave it out.
NO_PLUGINS = str(ROOT / "tests/without_plugins")


def jobs_by_rule(text):
    """rule -> number of its jobs, from what Snakemake prints of a plan."""
    if "Nothing to be done" in text:
        return {}
    table = re.search(r"^Job stats:\n(.*?)^total ", text, flags=re.DOTALL | re.MULTILINE)
    assert table, text
    return {name: int(number) for name, number in re.findall(r"(\w+) +(\d+)\n", table[1])}


def wait_for(condition, failure=lambda: "it did not happen", seconds=200):
    """The first true value of the function ``condition``; after ``seconds``, an error with ``failure()``."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, failure()
        time.sleep(0.02)
    return found


def names_that_differ(results, others):
    """The names of the ``results`` whose bytes differ in ``others``, which has all of these names."""
    return [name for name in results if results[name] != others[name]]


class Project:
    """A copy of the project in a folder of its own, or one that ``exists``, and Snakemake run in it.

    ``config`` are the arguments that name the files of settings, ``results`` the folder of the results.
    """

    def __init__(self, folder, *, config=QUICK, results="results/quick", exists=False):
        self.folder, self.config, self.results_folder = Path(folder), config, results
        if not exists:
            self.folder.mkdir(parents=True)
            shutil.copy2(ROOT / "Snakefile", self.folder)
            for name in SOURCES:
                hidden = shutil.ignore_patterns("__pycache__", "raw")
                shutil.copytree(ROOT / name, self.folder / name, ignore=hidden)

    def snakemake(self, *arguments, environment=None):
        """Run Snakemake: the completed process, with output and errors in ``stdout``."""
        how = self._process_arguments(arguments, environment)
        return subprocess.run(**how, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def start(self, *arguments, environment=None):
        """Start Snakemake in a process group of its own: the process. It prints into the file ``printed``."""
        with open(self.folder / "printed", "w") as file:
            how = self._process_arguments(arguments, environment)
            # Behind `&` in a script, SIGINT is ignored, and a child inherits this.
            heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
            return subprocess.Popen(
                **how, stdout=file, stderr=file, start_new_session=True, preexec_fn=heard
            )

    def _process_arguments(self, arguments, environment):
        own = {**os.environ, "PYTHONPATH": NO_PLUGINS, **(environment or {})}
        return {
            "args": [sys.executable, "-m", "snakemake", *arguments],
            "cwd": self.folder,
            "env": own,
        }

    def make(self, *arguments, **options):
        """Run Snakemake on the project's configuration without an error: what it prints."""
        done = self.snakemake(*self.config, *arguments, **options)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def planned(self, *targets):
        """rule -> number of its jobs that a run of the targets would start."""
        return jobs_by_rule(self.make("--dry-run", "--", *targets))

    def results(self):
        """Name of each result, from the folder of the results on -> its bytes. Logs are none."""
        made = self.folder / self.results_folder
        paths = {
            str(path.relative_to(made)): path for path in sorted(made.rglob("*")) if path.is_file()
        }
        return {
            name: path.read_bytes() for name, path in paths.items() if not name.startswith("logs/")
        }

    def wipe(self):
        """Remove all results, as `make clean` does."""
        for name in ("results", ".snakemake"):
            shutil.rmtree(self.folder / name)


# sitecustomize.py, which Python runs first in every process of the project. A job writes a file of JSON into
# the folder ``seen``: its rule, script, input and output, and read, the project's files that it has read.
SITECUSTOMIZE = """
import atexit, json, os, sys

HERE, READ = os.path.dirname(os.path.abspath(__file__)), set()

def note(event, given):
    if event == "open" and isinstance(given[0], (str, bytes)) and not (given[2] or 0) & os.O_ACCMODE:
        READ.add(os.path.abspath(os.fsdecode(given[0])))

def write():
    job = sys.modules["__main__"].snakemake
    script = os.path.join(job.scriptdir, os.path.basename(sys.argv[0]).partition(".")[2])  # tmpabc.draw_tv.py
    loaded = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    read = sorted(os.path.relpath(path, HERE) for path in (READ | loaded) - {None} if path.startswith(HERE))
    script = os.path.relpath(script, HERE)
    files = {"input": list(job.input), "output": list(job.output), "read": read}
    with open(os.path.join(HERE, "seen", str(os.getpid())), "w") as file:
        json.dump({"rule": job.rule, "script": script, **files}, file)

if any(".snakemake/scripts/" in word for word in sys.orig_argv):
    sys.addaudithook(note)
    atexit.register(write)
"""


@pytest.fixture(scope="session")
def finished_project(pytestconfig):
    """A `Project`, a copy of this one, in which the pipeline has run on config/quick.yaml, all of it.

    Tests that change the copy's files put them back. The copy stays in pytest's cache, with a digest of the
    files that were copied, until one of these files changes, so the fast and the slow tests share a run. If
    tests run in several processes, one makes the copy and the others wait. The code `SITECUSTOMIZE`, which
    Python runs at the start of a job, notes in the folder ``seen`` which files the job has read.
    """
    cache = Path(pytestconfig.cache.mkdir("quick"))
    digest_of_run, folder = cache / "contents", cache / "project"
    with open(cache / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not digest_of_run.exists() or digest_of_run.read_text() != digest_of_sources():
            shutil.rmtree(folder, ignore_errors=True)
            project = Project(folder)
            (folder / "seen").mkdir()
            (folder / "sitecustomize.py").write_text(SITECUSTOMIZE)
            project.make()
            digest_of_run.write_text(digest_of_sources())  # last: a run that fails is made again
    return Project(folder, exists=True)


def digest_of_sources():
    """SHA-256 over the names and bytes of all files that a `Project` copies."""
    total = hashlib.sha256()
    for name in ["Snakefile", *SOURCES]:
        found = ROOT / name
        for path in sorted(found.rglob("*")) if found.is_dir() else [found]:
            if path.is_file() and not {"__pycache__", "raw"} & set(path.parts):
                total.update(f"{path.relative_to(ROOT)} {digest(path)}".encode())
    return total.hexdigest()


@pytest.fixture
def fresh_project(tmp_path):
    """A project in which nothing has run; its path holds a space and letters beyond ASCII."""
    return Project(tmp_path / "frisch geklönt")
