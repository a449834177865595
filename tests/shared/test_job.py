"""What a job does around its work: one line for an error, and complete files only."""

import contextlib
import logging
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from snakemake.iocontainers import Params

from scripts.shared.code import code_digest, digests
from scripts.shared.job import job, whole_file, write_csv, write_parquet
from scripts.shared.table_files import read_frames, read_parquet, read_table
from scripts.shared.verify import changed_files, noted_sums


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    """Every test works in an empty folder."""
    monkeypatch.chdir(tmp_path)


@contextlib.contextmanager
def running_job(*, log="job.log", params=None, output=()):
    """The work of a job of the rule r, as Snakemake runs a script."""
    described = SimpleNamespace(rule="r", log=[log], params=params or Params(), output=output)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("__main__.snakemake", described, raising=False)
        with job() as snakemake:
            yield snakemake


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("mine.csv: row 3:\n a number"), "mine.csv: row 3: a number"),
        (
            OSError(28, "x", "results/b.csv"),
            "results/b.csv: the disk is full: make room and run again",
        ),
        (MemoryError("3 GB"), "out of memory (3 GB): take fewer repetitions, cells or steps"),
        (KeyError("x"), "KeyError: 'x' (traceback: job.log)"),
    ],
)
def test_errors_are_one_line(error, words):
    with pytest.raises(SystemExit) as ended, running_job():
        raise error
    assert ended.value.code == f"error: r: {words}"


CODE_FILE = "scripts/shared/job.py"
EDITED = "was edited while the run was on: run the same command again"


def run_job_planned_with(*, code_sum, data_sums):
    """Run a job of the rule r, planned with this digest of `CODE_FILE` and these of data (file -> digest)."""
    params = Params(fromdict={"contents": data_sums, "n": 5})
    params.append((CODE_FILE, code_sum))
    with running_job(params=params):
        pass


def test_a_job_refuses_code_that_is_not_what_the_run_was_planned_with():
    """Else an edit that is undone before the run ends would stay in the result."""
    run_job_planned_with(code_sum=code_digest(CODE_FILE), data_sums={})
    with pytest.raises(SystemExit, match=f"^error: r: {CODE_FILE} {EDITED}$"):
        run_job_planned_with(code_sum="0" * 16, data_sums={})


def test_a_job_refuses_data_that_are_not_what_the_run_was_planned_with():
    Path("mine.csv").write_text("cell,count\n1,2\n")
    planned = {"code_sum": code_digest(CODE_FILE), "data_sums": digests(["mine.csv"])}
    run_job_planned_with(**planned)
    Path("mine.csv").write_text("cell,count\n1,3\n")
    with pytest.raises(SystemExit, match=f"^error: r: mine.csv {EDITED}$"):
        run_job_planned_with(**planned)


def write_with_one_changed_bit(path):
    """Write a Parquet file of 5,000 numbers a, and change a bit in the middle of the file."""
    write_parquet([pd.DataFrame({"a": np.random.default_rng(1).random(5000)})], path)
    assert read_parquet(path).shape == (5000, 1)
    content = bytearray(Path(path).read_bytes())
    content[len(content) // 2] ^= 1
    Path(path).write_bytes(content)


@pytest.mark.parametrize(
    "read",
    [
        read_parquet,
        lambda path: read_table(path, ["a"]),
        lambda path: next(read_frames(path, ["a"], [])),
    ],
)
def test_a_damaged_table_is_refused_by_its_name(read):
    write_with_one_changed_bit("x.parquet")
    with pytest.raises(ValueError, match=r"^x\.parquet: damaged .*: remove it and run again$"):
        read("x.parquet")


def test_after_an_error_there_is_no_file():
    """`whole_file` gives a temporary path. Its file gets the name x.csv if there is no error."""
    with contextlib.suppress(ValueError), whole_file("x.csv") as path:
        path.write_text("half")
        raise ValueError
    assert not list(Path().iterdir())


def test_temporary_files_that_killed_jobs_left_of_a_file_are_removed():
    Path(".x.csv.0123.part").write_text("half")
    Path(".xx.csv.part").write_text("of another file")
    with whole_file("x.csv") as path:
        path.write_text("whole")
    assert sorted(file.name for file in Path().iterdir()) == [".xx.csv.part", "x.csv"]


def test_a_table_is_written_as_csv():
    write_csv(pd.DataFrame({"a": [0.1]}), "x.csv")
    assert Path("x.csv").read_bytes() == b"a\n0.1\n"


def write_in_job(text, file, log):
    """Run a job that writes the text to the file, and notes the file's sum in the log."""
    logging.root.handlers.clear()  # each job is a process with a log of its own
    with running_job(log=log, output=[file]) as snakemake:
        Path(snakemake.output[0]).write_text(text)


@pytest.fixture
def logs_folder():
    """An empty folder ``logs``. After jobs have set up their logging, that of pytest is put back."""
    Path("logs").mkdir()
    before = list(logging.root.handlers)
    yield
    logging.root.handlers[:] = before


def files_changed_since_noted():
    """The files whose sum is not the one that was noted last in the logs of the folder ``logs``."""
    return changed_files(noted_sums(Path("logs")))


@pytest.mark.usefixtures("logs_folder")
def test_a_result_is_changed_if_its_sum_is_not_the_noted_one():
    write_in_job("1", "x.csv", log="logs/first.log")
    assert files_changed_since_noted() == []
    Path("x.csv").write_text("2")
    assert files_changed_since_noted() == ["x.csv"]


@pytest.mark.usefixtures("logs_folder")
def test_a_result_that_is_gone_is_not_changed():
    write_in_job("1", "gone.csv", log="logs/gone.log")
    Path("gone.csv").unlink()
    assert files_changed_since_noted() == []


@pytest.mark.usefixtures("logs_folder")
def test_the_sum_that_counts_is_noted_last_in_whichever_log():
    """The log with the last sum comes first in the alphabet."""
    write_in_job("1", "x.csv", log="logs/first.log")
    write_in_job("2", "x.csv", log="logs/a_new_name.log")
    assert files_changed_since_noted() == []


def test_frames_of_a_file_are_read_one_by_one_as_they_were_written():
    """`read_frames` takes a path, the columns to be read, and those of them that become categories."""
    small = pd.DataFrame({"a": ["x", "y", "x"], "b": [1.5, 1.5, 0.1], "c": 7})
    # One row more than pyarrow puts into a row group by default.
    large = pd.DataFrame({"a": "z", "b": 0.5, "c": np.arange(2**20 + 1)})
    write_parquet([small, large], "x.parquet")
    frames = read_frames("x.parquet", ["c", "a", "b"], ["a", "b"])
    for frame, written in zip(frames, (small, large), strict=True):
        expected = written[["c", "a", "b"]].astype({"a": "category", "b": "category"})
        pd.testing.assert_frame_equal(frame, expected, check_categorical=False)
