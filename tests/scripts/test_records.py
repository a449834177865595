"""The records behind results: what a job leaves, what a later run distrusts, and why."""

import importlib
import json
import os
import socket
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
for folder in (ROOT, ROOT / "scripts"):
    sys.path.insert(0, str(folder))
_job, _records, _run = (importlib.import_module(name) for name in ("_job", "_records", "scripts._run"))
CODE, FIRST, SECOND, BESIDE = "scripts/a.py", "results/a/first.csv", "results/b/second.csv", "results/c.csv"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder with one source; two results made from it in a row, one beside."""
    monkeypatch.chdir(tmp_path)
    Path("scripts").mkdir()
    Path(CODE).write_text("code")
    make(FIRST, [CODE], "1")
    make(SECOND, [CODE, FIRST], "2")
    make(BESIDE, [], "3")


def make(path, inputs, text):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with _records.recorded(inputs, [path]):
        Path(path).write_text(text)


def record_file(path):
    return Path(f".snakemake/records/{path}.json")


def test_nothing_is_distrusted_at_first():
    assert _records.distrusted() == ({}, set())
    assert _records.without_record() == []


def test_a_record_names_inputs_and_sums():
    record = json.loads(record_file(SECOND).read_text())
    assert record == {
        "sum": _records.sum_of(SECOND),
        "inputs": {CODE: _records.sum_of(CODE), FIRST: _records.sum_of(FIRST)},
    }


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda path: path.write_text("x"), "was cut, edited or exchanged"),
        (lambda path: os.truncate(path, 0), "was cut, edited or exchanged"),
        (lambda path: path.unlink(), "is missing"),
        (lambda path: record_file(path).write_text(""), "was left by a job that did not end"),
        (lambda path: record_file(path).write_text("[1]"), "was left by a job that did not end"),
        (lambda path: record_file(path).write_text('{"sum": 1}'), "was left by a job that did not end"),
    ],
)
def test_a_change_reaches_what_was_made_from_it(change, why):
    change(Path(FIRST))
    causes, others = _records.distrusted()
    assert causes == {FIRST: why}
    assert others == {SECOND}
    _records.forget([*causes, *others])
    assert not Path(FIRST).exists()
    assert not Path(SECOND).exists()
    assert Path(BESIDE).exists()
    assert _records.distrusted() == ({}, set())
    assert _records.without_record() == []


def test_dates_alone_change_nothing():
    for seconds in (1, 4_000_000_000):
        for path in (CODE, FIRST, SECOND):
            os.utime(path, (seconds, seconds))
        assert _records.distrusted() == ({}, set())


def test_an_edit_that_a_date_shows_is_left_to_snakemake():
    made = os.stat(SECOND).st_mtime
    Path(CODE).write_text("other code")
    os.utime(CODE, (made + 9, made + 9))
    assert _records.distrusted() == ({}, set())
    os.utime(CODE, (made - 9, made - 9))
    causes, others = _records.distrusted()
    assert set(causes) == {FIRST, SECOND}
    assert others == set()
    assert f"another {CODE}, though the dates do not show it" in causes[FIRST]


def test_a_job_that_fails_or_is_killed_leaves_no_trusted_output():
    with pytest.raises(RuntimeError), _records.recorded([CODE], [FIRST]):
        raise RuntimeError
    assert _records.distrusted()[0] == {FIRST: "was left by a job that did not end"}


def test_a_job_refuses_a_damaged_input():
    Path(FIRST).write_text("x")
    with pytest.raises(ValueError, match=r"^results/a/first.csv: cut, edited .* run again"):
        make(SECOND, [CODE, FIRST], "2")


def test_a_job_refuses_code_that_changed_while_it_ran():
    def edit():
        with _records.recorded([CODE], [FIRST]):
            Path(CODE).write_text("other")

    with pytest.raises(ValueError, match=r"^scripts/a.py: changed while this job read it; run again"):
        edit()
    assert FIRST in _records.distrusted()[0]


def test_files_without_a_record_are_named_but_logs_are_not():
    for path in ("results/z.csv", "results/logs/x.log", "results/benchmarks/a/b.tsv"):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()
    assert _records.without_record() == ["results/z.csv"]


def test_half_files_are_swept_and_no_two_writers_share_one():
    path = Path("results/x.csv")
    with _job.whole_file(path) as one, _job.whole_file(path) as two:
        assert one != two
        assert one.suffix == two.suffix == ".csv"
        one.write_text("1")
        two.write_text("1")
        left = _records.part_of(path)
        left.write_text("half")
    assert path.read_text() == "1"
    _records.sweep()
    assert not left.exists()
    assert path.exists()


def rule(outputs):
    return SimpleNamespace(rule="r", log=["log"], input=[CODE], output=outputs)


def test_an_orphan_of_a_killed_run_writes_nothing(capsys):
    _records.RUN.write_text("here 1 first\n")

    def orphan():
        with _job.job(rule([FIRST])), _job.whole_file(FIRST) as path:
            path.write_text("old settings")
            _records.RUN.write_text("here 2 second\n")  # the next run begins

    with pytest.raises(SystemExit):
        orphan()
    assert Path(FIRST).read_text() == "1"
    assert "error: r: the run that started this job has ended" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("owner", "freed"),
    [("HERE 1 x", True), ("HERE 1 x cluster", False), ("elsewhere 1 x", False), ("", False)],
)
def test_locks_of_killed_runs(monkeypatch, owner, freed):
    """Only the jobs of a killed run of this machine are known to have ended, or to write nothing more."""
    held = []
    monkeypatch.setattr(_run, "_held", held)
    lock = Path(".snakemake/locks/0.output.lock")
    lock.parent.mkdir(parents=True)
    lock.touch()
    before = owner.replace("HERE", socket.gethostname())
    _records.RUN.write_text(before)
    _run.begin(makes=lambda path: True, sources=["scripts"])
    held[0].close()
    assert lock.exists() != freed
    assert (_records.RUN.read_text() == before) == ("cluster" in owner)


def test_a_run_that_sends_its_jobs_away_says_so(monkeypatch):
    held = []
    monkeypatch.setattr(_run, "_held", held)
    _run.begin(makes=lambda path: True, sources=["scripts"])
    _run.send_jobs_away()
    _run.send_jobs_away()
    held[0].close()
    assert _records.RUN.read_text().split()[3:] == ["cluster"]


def test_every_rule_with_an_output_runs_a_script_that_records():
    rules = "".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    scripts = {line.split("/")[-1].strip(' "\n') for line in rules.splitlines() if '"../../scripts/' in line}
    assert len(scripts) >= 20
    for script in scripts:
        text = (ROOT / "scripts" / script).read_text()
        assert "from _job import" in text, script
        assert "with job(snakemake)" in text, script
    assert not any(line.strip() in ("run:", "shell:") for line in rules.splitlines())
