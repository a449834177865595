"""What a job does around its work: one line for an error, and complete files only."""

import contextlib
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from snakemake.iocontainers import Params

from scripts.shared import run
from scripts.shared.code import code_digest, digests
from scripts.shared.job import job, whole_file, write_csv, write_parquet
from scripts.shared.table_files import read_frames, read_parquet, read_table


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("mine.csv: row 3:\n a number"), "mine.csv: row 3: a number"),
        (OSError(28, "x", "results/b.csv"), "results/b.csv: the disk is full: make room and run again"),
        (MemoryError("3 GB"), "out of memory (3 GB): take fewer repetitions, cells or steps"),
        (KeyError("x"), "KeyError: 'x' (traceback: job.log)"),
    ],
)
def test_errors_are_one_line(error, words, monkeypatch):
    described = SimpleNamespace(rule="r", log=["job.log"], params=Params())
    monkeypatch.setattr("__main__.snakemake", described, raising=False)
    with pytest.raises(SystemExit) as ended, job():
        raise error
    assert ended.value.code == f"error: r: {words}"


def test_a_job_refuses_code_and_data_that_are_no_longer_what_the_run_was_planned_with(monkeypatch):
    """Else an edit that is put back before the run ends would stay in the result."""
    file = "scripts/shared/job.py"
    Path("mine.csv").write_text("cell,count\n1,2\n")
    planned = (file, code_digest(file)), digests(["mine.csv"])

    def ended(code, contents):
        params = Params(fromdict={"contents": contents, "n": 5})
        params.append(code)
        described = SimpleNamespace(rule="r", log=["job.log"], params=params)
        monkeypatch.setattr("__main__.snakemake", described, raising=False)
        with job():
            return "well"

    assert ended(*planned) == "well"
    again = "was edited while the run was on: run the same command again"
    with pytest.raises(SystemExit, match=f"^error: r: {file} {again}$"):
        ended((file, "0" * 16), planned[1])
    Path("mine.csv").write_text("cell,count\n1,3\n")
    with pytest.raises(SystemExit, match=f"^error: r: mine.csv {again}$"):
        ended(*planned)


def test_a_damaged_table_is_refused_by_its_name():
    """One bit, which changes a number."""
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
    Path(".x.csv.0123.part").write_text("half")
    Path(".xx.csv.part").write_text("yours")
    with contextlib.suppress(ValueError), whole_file("x.csv") as path:
        path.write_text("half")
        raise ValueError
    assert [path.name for path in Path().iterdir()] == [".xx.csv.part"]
    write_csv(pd.DataFrame({"a": [0.1]}), "x.csv")
    assert Path("x.csv").read_bytes() == b"a\n0.1\n"
    write_parquet([pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [3]})], "x.parquet")
    assert pd.read_parquet("x.parquet")["a"].tolist() == [1, 2, 3]


def test_the_run_repeats_each_unfinished_jobs_own_error_or_says_that_there_is_none():
    for name, text in {
        "old": "ERROR r: old",
        "own": "x ERROR r: first\nx ERROR r: row 3\n",
        "killed": "",
    }.items():
        Path(name).write_text(text)
    os.utime("old", (1, 1))
    said = "Error in rule r:\n    message: sbatch: none\n such. For further error details\n    jobid: 1\n"
    killed, refused, own = run.last_words(["old", "own", "killed", "not begun"], said)
    assert refused == "error: r: sbatch: none such."
    assert own == "error: r: row 3"
    assert killed == "error: killed has no error: was the job killed, or is the disk full?"


def test_frames_of_a_file_are_read_one_by_one_as_they_were_written():
    """Also one of more rows than pyarrow puts into a row group by itself."""
    small = pd.DataFrame({"a": ["x", "y", "x"], "b": [1.5, 1.5, 0.1], "c": 7})
    large = pd.DataFrame({"a": "z", "b": 0.5, "c": np.arange(2**20 + 1)})
    write_parquet([small, large], "x.parquet")
    frames = list(read_frames("x.parquet", ["c", "a", "b"], ["a", "b"]))
    assert [list(frame.select_dtypes("category")) for frame in frames] == [["a", "b"]] * 2
    for frame, written in zip(frames, (small, large), strict=True):
        plain = frame.astype({"a": written["a"].dtype, "b": float})
        pd.testing.assert_frame_equal(plain, written[["c", "a", "b"]])
