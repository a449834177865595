"""What a job does around its work: one line for an error, and complete files only."""

import contextlib
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from snakemake.iocontainers import Params

from scripts.shared.code import code_digest, digest, digests
from scripts.shared.job import PLANNED, job, whole_file, write_csv, write_parquet
from scripts.shared.table_files import read_frames, read_parquet, read_table
from tests import ROOT


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    """Every test works in an empty folder."""
    monkeypatch.chdir(tmp_path)


@contextlib.contextmanager
def running_job(*, params=(), inputs=()):
    """The work of a job of the rule r, as Snakemake runs a script."""
    described = SimpleNamespace(
        rule="r",
        log=["job.log"],
        params=Params(params),
        input=inputs,
        output=(),
        wildcards=None,
        config=None,
    )
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


def test_a_script_gets_its_settings_by_name():
    with running_job(params=[(CODE_FILE, "0f"), {"n": 5}, {"eps": 1}]) as described:
        assert vars(described.params) == {"n": 5, "eps": 1}


def run_job_of(code_file):
    """Run a job of the rule r whose code is this file."""
    with running_job(params=[(code_file, code_digest(code_file))]):
        pass


def test_a_job_refuses_code_that_is_not_what_the_run_was_planned_with(monkeypatch):
    """Else an edit that is undone before the run ends would stay in the result. Bytes are compared."""
    monkeypatch.setenv(PLANNED, json.dumps({CODE_FILE: digest(ROOT / CODE_FILE)}))
    run_job_of(CODE_FILE)
    monkeypatch.setenv(PLANNED, json.dumps({CODE_FILE: "0" * 64}))
    with pytest.raises(SystemExit, match=f"^error: r: {CODE_FILE} {EDITED}$"):
        run_job_of(CODE_FILE)


def test_a_job_refuses_data_that_are_not_what_the_run_was_planned_with():
    Path("mine.csv").write_text("cell,count\n1,2\n")
    planned = {"contents": digests(["mine.csv"])}
    with running_job(params=[planned], inputs=["mine.csv"]):
        pass
    Path("mine.csv").write_text("cell,count\n1,3\n")
    refused = pytest.raises(SystemExit, match=f"^error: r: mine.csv {EDITED}$")
    with refused, running_job(params=[planned], inputs=["mine.csv"]):
        pass


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
        pytest.param(read_parquet, id="whole"),
        pytest.param(lambda path: read_table(path, ["a"]), id="its columns"),
        pytest.param(lambda path: next(read_frames(path, ["a"], [])), id="in parts"),
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


def test_frames_of_a_file_are_read_one_by_one_as_they_were_written():
    """`read_frames` takes a path, the columns to be read, and those of them that become categories."""
    small = pd.DataFrame({"a": [1, 2, 1], "b": [1.5, 1.5, 0.1], "c": 7})
    # One row more than pyarrow puts into a row group by default.
    large = pd.DataFrame({"a": 3, "b": 0.5, "c": np.arange(2**20 + 1)})
    write_parquet([small, large], "x.parquet")
    frames = read_frames("x.parquet", ["c", "a", "b"], ["a", "b"])
    for frame, written in zip(frames, (small, large), strict=True):
        assert list(frame.dtypes) == ["int64", "category", "category"]
        assert frame.astype(written.dtypes).equals(written[["c", "a", "b"]])
