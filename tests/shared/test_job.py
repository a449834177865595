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


def test_a_job_refuses_code_and_data_that_are_no_longer_what_the_run_was_planned_with():
    """A job compares the digests with which the run was planned with the files as they are now.

    Else an edit that is undone before the run ends would stay in the result. The digests are parameters of
    the job: contents are pairs (data file, digest), and each unnamed parameter is a pair (code file, digest).
    """
    file = "scripts/shared/job.py"
    Path("mine.csv").write_text("cell,count\n1,2\n")
    code, contents = (file, code_digest(file)), digests(["mine.csv"])

    def run_job(code, contents):
        """Run a job of the rule r with these digests in its parameters: "well" if it comes to its work."""
        params = Params(fromdict={"contents": contents, "n": 5})
        params.append(code)
        with running_job(params=params):
            return "well"

    assert run_job(code, contents) == "well"
    again = "was edited while the run was on: run the same command again"
    with pytest.raises(SystemExit, match=f"^error: r: {file} {again}$"):
        run_job((file, "0" * 16), contents)  # another digest than that of the file
    Path("mine.csv").write_text("cell,count\n1,3\n")
    with pytest.raises(SystemExit, match=f"^error: r: mine.csv {again}$"):
        run_job(code, contents)


def test_a_damaged_table_is_refused_by_its_name():
    """Each of three readers refuses a file of 5,000 numbers with one changed bit, in the file's middle."""
    write_parquet([pd.DataFrame({"a": np.random.default_rng(1).random(5000)})], "x.parquet")
    assert read_parquet("x.parquet").shape == (5000, 1)
    content = bytearray(Path("x.parquet").read_bytes())
    content[len(content) // 2] ^= 1
    Path("x.parquet").write_bytes(content)
    for read in (
        read_parquet,
        lambda path: read_table(path, ["a"]),
        lambda path: next(read_frames(path, ["a"], [])),
    ):
        with pytest.raises(ValueError, match=r"^x\.parquet: damaged .*: remove it and run again$"):
            read("x.parquet")


def test_a_file_is_whole_or_not_there_and_a_killed_jobs_rest_is_removed():
    """`whole_file` gives a temporary path, .NAME.SOMETHING.part. It becomes NAME if there is no error.

    1. After an error in the block there is no file. Temporary files of NAME that earlier jobs left are
    removed, those of other names are not. 2. The two writers of tables write whole files.
    """
    Path(".x.csv.0123.part").write_text("half")  # a killed job's
    Path(".xx.csv.part").write_text("yours")
    with contextlib.suppress(ValueError), whole_file("x.csv") as path:
        path.write_text("half")
        raise ValueError
    assert [path.name for path in Path().iterdir()] == [".xx.csv.part"]
    write_csv(pd.DataFrame({"a": [0.1]}), "x.csv")
    assert Path("x.csv").read_bytes() == b"a\n0.1\n"
    write_parquet([pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [3]})], "x.parquet")
    assert pd.read_parquet("x.parquet")["a"].tolist() == [1, 2, 3]


def write_in_job(text, file, log):
    """Run a job that writes the text."""
    logging.root.handlers.clear()  # each job is a process with a log of its own
    with running_job(log=log, output=[file]) as snakemake:
        Path(snakemake.output[0]).write_text(text)


@pytest.fixture
def no_handlers():
    """The logging of pytest, put back after jobs have set up theirs."""
    before = list(logging.root.handlers)
    yield
    logging.root.handlers[:] = before


@pytest.mark.usefixtures("no_handlers")
def test_a_result_is_compared_with_the_sum_that_the_last_job_to_write_it_noted():
    """A file is changed if its sum is not the one noted last, in whichever log. A file that is gone is not.

    `write_in_job` runs a job that writes a text to a file and notes the file's sum in a log. `noted_sums` is
    file -> the sum noted last, from all logs of a folder. `changed_files` names the files with another sum.
    """
    Path("logs").mkdir()
    write_in_job("1", "x.csv", "logs/first.log")
    write_in_job("1", "gone.csv", "logs/gone.log")
    assert changed_files(noted_sums(Path("logs"))) == []

    Path("x.csv").write_text("2")
    Path("gone.csv").unlink()
    assert changed_files(noted_sums(Path("logs"))) == ["x.csv"]

    # "a_new_name" comes before "first" in the alphabet: what is noted last counts, not the last log.
    write_in_job("2", "x.csv", "logs/a_new_name.log")
    assert changed_files(noted_sums(Path("logs"))) == []


def test_frames_of_a_file_are_read_one_by_one_as_they_were_written():
    """`read_frames` takes a path, the columns to be read, and those of them that become categories.

    One of the two frames has 2^20 + 1 rows: one more than pyarrow puts into a row group by default.
    """
    small = pd.DataFrame({"a": ["x", "y", "x"], "b": [1.5, 1.5, 0.1], "c": 7})
    large = pd.DataFrame({"a": "z", "b": 0.5, "c": np.arange(2**20 + 1)})
    write_parquet([small, large], "x.parquet")
    frames = list(read_frames("x.parquet", ["c", "a", "b"], ["a", "b"]))  # columns in another order
    assert [list(frame.select_dtypes("category")) for frame in frames] == [["a", "b"]] * 2
    for frame, written in zip(frames, (small, large), strict=True):
        # Without the categories, a frame is what was written.
        plain = frame.astype({"a": written["a"].dtype, "b": float})
        pd.testing.assert_frame_equal(plain, written[["c", "a", "b"]])
