"""What a run tells its jobs on other machines, and what those wait for or refuse."""

import threading
from pathlib import Path

import pytest

from reproduction.jobs import checksums, code, run, run_facts

CONFIG = {"seed": 1}
SCRIPT = "scripts/draw_figure.py"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of a run that waits 3 s for files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(run_facts.VARIABLE, "{}")
    run_facts.tell(workflow=code.workflow_of(CONFIG), code=code.code_of(SCRIPT), patience=3)


def make(inputs, output):
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    with checksums.recorded(inputs, [output]):
        Path(output).write_text("1")


def test_a_job_has_the_code_that_the_run_was_planned_with():
    run_facts.tell(code={SCRIPT: "planned"})
    assert code.code_of(SCRIPT) == {SCRIPT: "planned"}
    with pytest.raises(ValueError, match="was edited since this run began: run again"):
        code.check_unchanged(code.code_of(SCRIPT))
    run_facts.tell()
    code.check_unchanged(code.code_of(SCRIPT))


def test_a_job_with_other_settings_is_refused():
    code.workflow_of({"seed": 1})
    with pytest.raises(ValueError, match="the settings or the rules were edited since this run began"):
        code.workflow_of({"seed": 2})


@pytest.mark.parametrize("file", ["figures/catalogue.py", "experiments/curves/tables.py", "jobs/workload.py"])
def test_a_job_whose_rules_read_an_edited_file_is_refused(file, monkeypatch):
    digest, edited = code.digest, code.ROOT / "reproduction" / file
    monkeypatch.setattr(code, "digest", lambda path: "edited" if path == edited else digest(path))
    with pytest.raises(ValueError, match="the settings or the rules were edited since this run began"):
        code.workflow_of(CONFIG)


def test_a_sum_that_comes_late_is_waited_for():
    make([], "results/a")
    written = (checksums.SUMS / "results/a").read_text()
    (checksums.SUMS / "results/a").unlink()
    threading.Timer(0.5, (checksums.SUMS / "results/a").write_text, [written]).start()
    make(["results/a"], "results/b")


def test_a_sum_that_never_comes_is_refused_at_last():
    run_facts.tell(patience=0.5)
    Path("results").mkdir()
    Path("results/a").touch()
    with pytest.raises(ValueError, match="no job of this folder made it"):
        make(["results/a"], "results/b")


LOG = """
Error in rule run_trials:
    message: SLURM sbatch failed. The error message was 'sbatch: error: invalid partition: x
sbatch: error: Batch job submission failed'.
    sbatch call:
        sbatch --parsable
For further error details see the cluster/cloud log and the log files of the involved rule(s).
    jobid: 0
    log: results/logs/a.log (check log file(s) for error details)
Error in rule draw_bits:
    message: None
    jobid: 2
Error in rule run_audit:
    message: SLURM-job '2' failed, SLURM status is: 'FAILED'. For further error details see the cluster
    jobid: 1
    log: results/logs/b.log, results/logs/slurm/2.log (check log file(s) for error details)
"""


def test_the_last_words_of_the_scheduler_are_found_in_the_log():
    Path("log").write_text(LOG)
    assert dict(run._last_words("log")) == {
        "run_trials": "SLURM sbatch failed. The error message was 'sbatch: error: invalid partition: x "
        "sbatch: error: Batch job submission failed'.",
        "run_audit": "SLURM-job '2' failed, SLURM status is: 'FAILED'. "
        "(there is no results/logs/slurm/2.log: is this folder full or read-only on the node?)",
    }
