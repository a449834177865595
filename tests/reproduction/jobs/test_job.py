"""What a job does around its work, and what a run does before its first job."""

import fcntl
import subprocess
import sys
import threading
import uuid
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from reproduction.jobs import checksums, run, run_facts
from reproduction.jobs.code import ROOT, code_of
from reproduction.jobs.job import job, whole_file, write_parquet

OUTPUT = "results/a.csv"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "_held", [])
    for name in ("results", ".snakemake"):
        Path(name).mkdir()


def rule(**settings):
    given = {"rule": "r", "log": ["log"], "input": [], "output": [OUTPUT], "params": {}}
    return SimpleNamespace(**given | {"scriptdir": str(ROOT / "scripts")} | settings)


def fail(snakemake, error=None):
    """The line that the run repeats at its end, of a job that raises ``error`` or refuses by itself."""

    def work():
        with job(snakemake):
            if error:
                raise error

    with pytest.raises(SystemExit) as ended:
        work()
    assert ended.value.code == 1
    (line,) = run.errors()
    return line


def test_a_job_records_what_it_wrote():
    with job(rule()), whole_file(OUTPUT) as path:
        path.write_text("1")
    assert checksums.verify() == []
    assert run.errors() == []


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("mine.csv: row 3:\n a number"), "mine.csv: row 3: a number"),
        (OSError(28, "x", "results/b.csv"), "results/b.csv: the disk is full: make room and run again"),
        (MemoryError("3 GB"), "out of memory (3 GB): take fewer repetitions, cells or steps"),
        (KeyError("x"), "KeyError: 'x' (traceback: log)"),
    ],
)
def test_errors_are_one_line(error, words):
    assert fail(rule(), error) == f"error: r: {words}"


def test_another_folders_workflow_is_refused(tmp_path):
    line = fail(rule(scriptdir=str(tmp_path / "scripts")))
    assert line.startswith(f"error: r: the workflow is in {tmp_path}, but Python imports tightshuffle from")


def test_code_that_was_edited_since_the_plan_is_refused():
    planned = code_of("scripts/draw_figure.py")
    with job(rule(params={"code": planned})):
        Path(OUTPUT).write_text("1")
    line = fail(rule(params={"code": {"scripts/draw_figure.py": "old"}}))
    assert (
        "scripts/draw_figure.py, or a file that it imports, was edited since this run began: run again"
        in line
    )


def test_no_two_writers_share_a_half_written_file():
    path = Path("results/x.csv")
    with whole_file(path) as one, whole_file(path) as two:
        assert one != two
        assert one.suffix == two.suffix == ".csv"
        one.write_text("1")
        two.write_text("1")
    assert list(Path("results").iterdir()) == [path]


def test_tables_are_written_one_after_the_other_into_one_file():
    tables = [pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [3]})]
    write_parquet(tables, "x.parquet")
    assert pd.read_parquet("x.parquet")["a"].tolist() == [1, 2, 3]


YOURS = [".thesis.part2.tex", ".notes.partial", "other/.a.part.csv"]


def test_a_run_removes_half_written_files_and_old_errors_and_nothing_of_yours():
    with job(rule()), whole_file(OUTPUT) as path:
        path.write_text("1")
    left = path.with_name(path.name.replace(path.name[3:35], uuid.uuid4().hex))
    assert left != path
    left.touch()
    Path("results/other").mkdir()
    Path("results/.sync.partial").mkdir()
    for name in YOURS:
        Path("results", name).touch()
    run.report("old")
    run.begin()
    found = {path.as_posix() for path in Path("results").rglob("*") if path.is_file()}
    assert found == {OUTPUT, *(f"results/{name}" for name in YOURS)}
    assert run.errors() == []


def test_a_folder_of_results_belongs_to_one_configuration():
    here, there = Path("a/mine.yaml"), Path("b/mine.yaml")
    for file in (here, there):
        file.parent.mkdir()
        file.touch()
    result = Path("results/mine/a.csv")
    result.parent.mkdir()

    def take(file, *settings):
        run.take("results/mine", [str(file)], [*settings])
        with checksums.recorded([], [str(result)]):
            result.touch()

    take(here)
    take(here)
    for other in ((there,), (here, "seed=5")):
        with pytest.raises(
            ValueError, match=r"^results/mine holds the results of a/mine\.yaml: give your file another name"
        ):
            take(*other)
    here.rename("moved")
    take(there)
    result.unlink()
    take(there, "seed=5")


def test_a_run_on_a_full_disk_ends_with_a_line(monkeypatch):
    """Its jobs could not write their errors."""
    said = []
    monkeypatch.setattr(run.atexit, "register", lambda _, *lines, **rest: said.append(lines))
    run.report("r: wrong")
    (run.ERRORS / "0").touch()
    Path("log").touch()
    run.end_with_errors(["log"])
    full = "error: .snakemake: the disk is full: make room and run again"
    assert said == [(full, "error: r: wrong")]


def test_a_job_without_a_line_is_told_beside_one_of_its_rule_that_has_one(monkeypatch):
    said = []
    monkeypatch.setattr(run.atexit, "register", lambda _, *lines, **rest: said.append(lines))
    failed = (
        "Error in rule r:\n    message: FAILED. For further error details\n    log: a.log, {} (check log\n"
    )
    Path("made").touch()
    Path("log").write_text(failed.format("gone") + failed.format("made"))
    run.report("r: wrong")
    run.end_with_errors(["log"])
    run.report("r: wrong")
    run.end_with_errors(["log"])
    hint = "(there is no gone: is this folder full or read-only on the node?)"
    assert said == [(f"error: r: FAILED. {hint}", "error: r: wrong"), ("error: r: wrong",)]


def test_something_else_in_the_place_of_a_result_is_refused():
    run.check_folder()
    Path(".snakemake/sums/results").mkdir(parents=True)
    for name in ("a.csv", "b.csv", "gone.csv"):
        Path(".snakemake/sums/results", name).touch()
    Path("results/a.csv").touch()
    run.check_folder()
    wrong = r"^results/b\.csv: a folder, a pipe or a broken link instead of a file\. Remove it"
    Path("results/b.csv").mkdir()
    with pytest.raises(ValueError, match=wrong):
        run.check_folder()
    Path("results/b.csv").rmdir()
    Path("results/b.csv").symlink_to("nowhere")
    with pytest.raises(ValueError, match=wrong):
        run.check_folder()


HOLD = """
import sys
from reproduction.jobs import run
held = WHAT
print("holds", flush=True)
sys.stdin.read()
"""


def holding(what):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD.replace("WHAT", what)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "holds\n"
    return process


def test_a_second_run_is_refused_until_the_first_one_ends_however_it_ends():
    first = holding("run.begin()")
    with pytest.raises(
        ValueError, match=rf"^another run is active .*process {first.pid} on .*: wait for its end"
    ):
        run.begin()
    first.kill()
    first.wait()
    run.begin()


def test_a_job_of_a_killed_run_leaves_the_next_ones_results_alone(monkeypatch):
    """On a cluster, too, where it may start much later and see the new run late."""
    monkeypatch.setenv(run_facts.VARIABLE, "{}")
    old = run.begin()
    run._held.pop().close()
    new = run.begin()
    run_facts.tell(run=new)
    with job(rule()), whole_file(OUTPUT) as path:
        path.write_text("new")
    words = "another run began here since this job was sent"
    with pytest.raises(ValueError, match=words), whole_file(OUTPUT):
        run_facts.tell(run=old)
    assert words in fail(rule(), AssertionError("it worked"))
    assert checksums.verify() == []
    run_facts.tell(run=old, patience=5)
    threading.Timer(0.5, run.RUN.write_text, [old]).start()
    run.check_at_work()


def test_a_killed_run_on_a_cluster_wants_its_jobs_cancelled_first():
    Path(".snakemake/locks").mkdir()
    run.begin()
    run._held.pop().close()
    Path(".snakemake/locks/0.output.lock").touch()
    with pytest.raises(ValueError, match=r"cancel its jobs, then snakemake --unlock"):
        run.begin()
    run.begin(locked_by_snakemake=True)


def test_a_run_waits_for_the_jobs_of_a_killed_run(capsys):
    orphan = holding("run.job_at_work()")
    started = threading.Thread(target=run.begin)
    started.start()
    started.join(1)
    assert started.is_alive()
    orphan.communicate("")
    started.join(60)
    assert not started.is_alive()
    assert "waiting for the jobs of a killed run to end" in capsys.readouterr().err


def test_jobs_do_not_exclude_each_other_and_a_file_system_without_locks_is_no_error(monkeypatch):
    with run.job_at_work(), run.job_at_work():
        pass

    def none(*arguments):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", none)
    run.begin()
