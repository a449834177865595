"""The real pipeline in copies of the project; the tests share one run on config/quick.yaml."""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from scripts.shared.code import digest
from tests import ROOT

SOURCES = ["Snakefile", "config", "data", "docs", "profiles", "scripts", "library", "workflow"]
QUICK = ("--configfile", "config/quick.yaml")
# Snakemake starts faster; tests of a cluster leave it out.
NO_PLUGINS = str(ROOT / "tests/without_plugins")


def jobs_by_rule(text):
    """rule -> number of its jobs, from what Snakemake prints of a plan."""
    if "Nothing to be done" in text:
        return {}
    table = re.search(r"^Job stats:\n(.*?)^total ", text, flags=re.DOTALL | re.MULTILINE)
    assert table, text
    return {name: int(number) for name, number in re.findall(r"(\w+) +(\d+)\n", table[1])}


def wait_for(condition):
    """The first true value of the function ``condition``; after 200 seconds, an error."""
    end = time.monotonic() + 200
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return found


def names_that_differ(results, others):
    """The names of the ``results`` whose bytes differ in ``others``, which has all of these names."""
    return [name for name in results if results[name] != others[name]]


@contextlib.contextmanager
def edited(path, text):
    """Inside a ``with``, the file has this ``text``; then it has its old one again."""
    before = path.read_text()
    path.write_text(text)
    try:
        yield
    finally:
        path.write_text(before)


@dataclass
class Project:
    """Snakemake and the results in a folder with the project's files.

    Every run of Snakemake has the ``arguments``, and the variables of ``environment`` besides the usual ones.
    """

    folder: Path
    arguments: tuple | list = QUICK
    environment: dict = field(default_factory=dict)

    def snakemake(self, *targets, options=()):
        """Run Snakemake: the completed process, with output and errors in ``stdout``."""
        how = self._process_arguments(targets, options)
        return subprocess.run(**how, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def start(self, *targets, options=()):
        """Start Snakemake in a process group of its own: the process. It prints into the file ``printed``."""
        with open(self.folder / "printed", "w") as file:
            how = self._process_arguments(targets, options)
            # Behind `&` in a script, SIGINT is ignored, and a child inherits this.
            heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
            return subprocess.Popen(
                **how, stdout=file, stderr=file, start_new_session=True, preexec_fn=heard
            )

    def _process_arguments(self, targets, options):
        command = [sys.executable, "-m", "snakemake", *self.arguments, *options, "--", *targets]
        environment = {**os.environ, "PYTHONPATH": NO_PLUGINS, **self.environment}
        return {"args": command, "cwd": self.folder, "env": environment}

    def make(self, *targets, options=()):
        """Run Snakemake without an error: what it prints."""
        done = self.snakemake(*targets, options=options)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def planned(self, *targets):
        """rule -> number of its jobs that a run of the targets would start."""
        return jobs_by_rule(self.make(*targets, options=["--dry-run"]))

    def results(self):
        """Path of each result, such as results/quick/SHA256SUMS -> its bytes. Logs are none."""
        results = {}
        for path in (self.folder / "results").rglob("*"):
            name = path.relative_to(self.folder)
            if path.is_file() and "logs" not in name.parts:
                results[str(name)] = path.read_bytes()
        return results

    def wipe(self):
        """Remove all results, as `make clean` does."""
        for name in ("results", ".snakemake"):
            shutil.rmtree(self.folder / name)


def source_files():
    """The files of the project that a copy gets, as paths from the project's folder on."""
    for name in SOURCES:
        source = ROOT / name
        for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
            file = path.relative_to(ROOT)
            if path.is_file() and not {"__pycache__", "raw"} & set(file.parts):
                yield file


def copy_of_project(folder, **attributes):
    """A `Project` in a new folder, with the files of this one and no result."""
    for file in source_files():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, folder / file)
    return Project(folder, **attributes)


# sitecustomize.py, which Python runs first in every process of the project. A job writes a file of JSON into
# the folder ``seen``: its script, input and output, and read, the project's files that it has read.
SITECUSTOMIZE = """
import atexit, json, os, sys

HERE, READ = os.path.dirname(os.path.abspath(__file__)), set()

def note(event, given):
    if event == "open" and isinstance(given[0], (str, bytes)) and not (given[2] or 0) & os.O_ACCMODE:
        READ.add(os.path.abspath(os.fsdecode(given[0])))

def write():
    job = sys.modules["__main__"].snakemake
    loaded = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    read = sorted(os.path.relpath(path, HERE) for path in (READ | loaded) - {None} if path.startswith(HERE))
    name = os.path.basename(sys.argv[0]).partition(".")[2]  # of the copy tmpabc.draw_tv.py that runs
    [script] = [path for path in read if os.path.basename(path) == name]
    files = {"input": list(job.input), "output": list(job.output), "read": read}
    with open(os.path.join(HERE, "seen", str(os.getpid())), "w") as file:
        json.dump({"script": script, **files}, file)

if any(".snakemake/scripts/" in word for word in sys.orig_argv):
    sys.addaudithook(note)
    atexit.register(write)
"""


@pytest.fixture(scope="session")
def finished_project(pytestconfig):
    """A copy of the project, in which the pipeline has run on config/quick.yaml, all of it.

    Tests that change its files put them back. It stays in pytest's cache until a file that it copies changes,
    so the fast and the slow tests share a run. If tests run in several processes, one makes it, and the
    others wait. With `SITECUSTOMIZE`, each job notes in the folder ``seen`` what it has read.
    """
    cache = pytestconfig.cache.mkdir("quick")
    project = Project(cache / "project")
    with open(cache / "digest", "a+") as made_from:
        fcntl.flock(made_from, fcntl.LOCK_EX)
        made_from.seek(0)
        if made_from.read() != digest_of_sources():
            made_from.truncate(0)  # until the end: a run that fails is made again
            shutil.rmtree(project.folder, ignore_errors=True)
            copy_of_project(project.folder)
            (project.folder / "seen").mkdir()
            (project.folder / "sitecustomize.py").write_text(SITECUSTOMIZE)
            project.make()
            made_from.write(digest_of_sources())
    return project


def digest_of_sources():
    """SHA-256 over the names and bytes of all `source_files`."""
    total = hashlib.sha256()
    for file in source_files():
        total.update(f"{file} {digest(ROOT / file)}".encode())
    return total.hexdigest()


@pytest.fixture
def fresh_project(tmp_path):
    """A copy of the project in which nothing has run; its path holds a space and letters beyond ASCII."""
    return copy_of_project(tmp_path / "frisch geklönt")
