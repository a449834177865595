"""The records of results: what a job leaves, and what the next job and `make verify` refuse."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reproduction.jobs import checksums
from reproduction.jobs.code import ROOT

SOURCE, FIRST, SECOND = "mine.csv", "results/a/first.csv", "results/b/second.csv"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder with one source, and two results made from it in a row."""
    monkeypatch.chdir(tmp_path)
    Path(SOURCE).write_text("source")
    make(FIRST, [SOURCE], "1")
    make(SECOND, [SOURCE, FIRST], "2")
    return tmp_path


def make(path, inputs, text):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with checksums.recorded(inputs, [path]):
        Path(path).write_text(text)


def in_a_linked_folder(path):
    """The same path, but its folder is elsewhere."""
    path.parent.rename("other disk")
    path.parent.symlink_to(Path("other disk").resolve())
    return path


def test_results_are_as_their_jobs_left_them():
    assert checksums.verify() == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda path: path.write_text("x"), "changed since its job ended. Remove it and run again"),
        (lambda path: os.truncate(path, 0), "changed since its job ended. Remove it and run again"),
        (
            lambda path: (checksums.SUMS / path).write_text(""),
            "no job of this folder made it, or its job did not",
        ),
        (lambda path: (checksums.SUMS / path).write_text("x"), "changed since its job ended"),
        (lambda path: path.unlink() or path.mkdir(), "a folder, a pipe or a broken link instead of a file"),
        (
            lambda path: path.unlink() or os.mkfifo(path),
            "a folder, a pipe or a broken link instead of a file",
        ),
        (
            lambda path: path.unlink() or path.symlink_to("x"),
            "a folder, a pipe or a broken link instead of a",
        ),
        (
            lambda path: in_a_linked_folder(path).write_text("x"),
            "changed since its job ended. Remove it",
        ),
    ],
)
def test_a_changed_result_is_named_and_no_job_takes_it(change, words):
    change(Path(FIRST))
    (found,) = checksums.verify()
    assert found.startswith(f"{FIRST}: {words}")
    before = Path(SECOND).read_bytes()
    with pytest.raises(ValueError, match=f"^{FIRST}: {words}"):
        make(SECOND, [SOURCE, FIRST], "3")
    assert Path(SECOND).read_bytes() == before


def test_same_size_and_date_do_not_hide_an_edit():
    state = os.stat(FIRST)
    Path(FIRST).write_text("9")
    os.utime(FIRST, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert [line.split(":")[0] for line in checksums.verify()] == [FIRST]


def test_a_missing_result_is_left_to_the_next_run_and_dates_mean_nothing():
    Path(FIRST).unlink()
    os.utime(SECOND, (1, 1))
    assert checksums.verify() == []


def test_a_job_that_fails_leaves_no_trusted_output():
    with pytest.raises(RuntimeError), checksums.recorded([SOURCE], [FIRST]):
        raise RuntimeError
    assert len(checksums.verify()) == 1


@pytest.mark.parametrize("path", [SOURCE, FIRST])
def test_an_input_that_changes_while_a_job_reads_it(path):
    def edit():
        with checksums.recorded([SOURCE, FIRST], [SECOND]):
            Path(path).write_text("other")

    with pytest.raises(ValueError, match=f"^{path}: changed while this job read it. Run again"):
        edit()


BESIDE = [
    "notes.txt",
    "logs/x.log",
    "quick/benchmarks/a/b.tsv",
    "site/html/index.html",
    "a/.DS_Store",
    "README.md",
    "a/.~lock.x#",
]


def test_what_no_job_made_is_no_result():
    for path in BESIDE:
        Path("results", path).parent.mkdir(parents=True, exist_ok=True)
        Path("results", path).touch()
    assert checksums.verify() == []
    assert checksums.unknown() == ["results/notes.txt"]
    with pytest.raises(ValueError, match=r"^results/notes\.txt: no job of this folder made it"):
        make(SECOND, ["results/notes.txt"], "3")


def test_the_command_says_what_is_wrong_and_fails(folder):
    command = [sys.executable, "-m", "reproduction.jobs.checksums"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def said():
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    verified = "Verified: no result has changed since its job wrote it.\n"
    assert said() == (0, verified, "")
    for names, others in (("abc", ""), ("de", " and 2 more")):
        for name in names:
            Path("results", f"{name}.csv").touch()
        others = f"results/a.csv, results/b.csv, results/c.csv{others}"
        assert said() == (0, f"{verified}Not checked, as no job of this folder made it: {others}\n", "")
    Path(FIRST).write_text("x")
    assert said() == (1, "", f"error: {FIRST}: changed since its job ended. Remove it and run again\n")
    shutil.rmtree(".snakemake")
    code, out, error = said()
    assert (code, out) == (1, "")
    assert error.startswith(
        "error: no job of this folder made any result that is here: run make (results that"
    )
