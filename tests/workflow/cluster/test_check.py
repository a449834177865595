"""`make cluster-check`: what is wrong with a cluster, in words. Scripts stand for the commands of Slurm."""

import platform
import subprocess
import sys

import pytest

from reproduction.jobs import cluster_check
from reproduction.jobs.cluster_check import Job, compare, explain, reach_slurm
from tests import ROOT
from tests.workflow.cluster.private_slurm import LOGIN

REFUSED = """\
Error in rule answer_check:
    message: SLURM sbatch failed. The error message was 'sbatch: error: {0}
sbatch: error: Batch job submission failed: {0}'.
    sbatch call:
"""


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Writes commands that are found before those of the system, and none of Slurm's beside them."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setattr(cluster_check, "SILENCE", 0.5)

    def write(**scripts):
        for name, script in scripts.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / name).chmod(0o755)

    write(sinfo="exit 1", sacctmgr="exit 1")
    return write


def test_no_slurm_at_all(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match="start on a login node"):
        reach_slurm()


def test_a_controller_that_is_down_and_one_that_is_silent(commands):
    commands(sbatch="exit 1", sinfo="echo 'sinfo: error: Unable to contact slurm controller' >&2; exit 1")
    with pytest.raises(ValueError, match=r"cannot be reached:\nsinfo: error: Unable to contact slurm"):
        reach_slurm()
    commands(sinfo="exec sleep 20")
    with pytest.raises(ValueError, match="did not answer"):
        reach_slurm()
    commands(sinfo="echo a node")
    reach_slurm()


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("Invalid partition name specified", "set slurm_partition to one of these: short long"),
        (
            "Invalid account or account/partition combination specified",
            "set slurm_account to one of these: mine",
        ),
        ("Invalid qos specification", "set slurm-qos"),
        ("Requested time limit is invalid (missing or exceeds some limit)", "ask for less time"),
        ("Requested node configuration is not available", "ask for less memory"),
    ],
)
def test_a_refusal_names_the_setting_and_what_there_is(commands, said, advice):
    commands(sinfo="echo short; echo long", sacctmgr="echo '      mine '")
    lines = explain(REFUSED.format(said), Job(), 60).splitlines()
    assert lines[0] == f"sbatch: error: {said}"
    assert lines[-1].startswith(advice)


def test_other_refusals_are_told_as_they_are(commands):
    assert explain(REFUSED.format("Job violates a policy"), Job(), 60).endswith("Job violates a policy")
    said = "reason: Missing output files: answer.json\nqsub: Unknown queue\n"
    assert explain(said, Job(), 60).splitlines() == ["the job ended:", *said.splitlines()]


@pytest.mark.parametrize(
    "log",
    [
        "/bin/sh: 1: /home/me/.venv/bin/python: not found",
        "bash: /home/me/.venv/bin/python3.11: No such file or directory",
        "/usr/bin/python3: No module named snakemake",
        "answer_check: the workflow is in /a, but Python imports tightshuffle from /b: run make there",
    ],
)
def test_another_python(log):
    first, second = explain(
        f"Submitted.\n{log}\n", Job("7", "7.log", "FAILED", "NonZeroExitCode", "n2"), 60
    ).splitlines()
    assert first == log
    assert "another Python" in second


@pytest.mark.parametrize(("state", "reason"), [("COMPLETED", "None"), ("FAILED", "JobLaunchFailure")])
def test_a_folder_that_the_node_does_not_share(state, reason, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    words = explain("Submitted.", Job("7", "7.log", state, reason, "n2"), 60)
    assert words.startswith(f"job 7 ended on n2 ({state}), and what it wrote is not here after 60 seconds")
    assert str(tmp_path) in words


PBS = {  # what `qstat -x -f` says, then `qstat -f`, and what has become of the job
    "running": ("job_state = R", "", "running"),
    "ended well": ("job_state = F\n    Exit_status = 0", "", "success"),
    "killed": ("job_state = F\n    Exit_status = 271", "", "failed"),
    "no history, running": ("", "job_state = R", "running"),
    "no history, forgotten": ("", "qstat: Unknown Job Id 7.pbs", "success"),
    "no history, ended": ("", "qstat: 7.pbs Job has finished, use -x or -H", "success"),
    "busy": ("", "qstat: cannot connect to server", "running"),
}


@pytest.mark.parametrize(("history", "without", "status"), PBS.values(), ids=PBS)
def test_what_has_become_of_a_pbs_job(commands, history, without, status):
    """One that PBS has forgotten counts as ended well: Snakemake looks whether its files are there."""
    code = 0 if history else 1
    commands(qstat=f"[ $1 = -x ] && {{ echo '{history}'; exit {code}; }}\necho '{without}' >&2")
    done = subprocess.run([ROOT / "profiles/cluster-generic/status", "7.pbs"], capture_output=True, text=True)
    assert done.stdout == f"{status}\n"


def test_a_forgotten_job_of_pbs_whose_file_is_missing(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    said = "Job 0 completed successfully, but some output files are missing. Missing files after 60 seconds."
    assert explain(said, Job(), 60).endswith("that all nodes share? If so, raise latency-wait")
    cluster_check.PBS_LOG.parent.mkdir(parents=True)
    cluster_check.PBS_LOG.write_text("/bin/sh: 1: x: not found")
    assert explain(said, Job(), 60).endswith(f"or read what the job printed: {cluster_check.PBS_LOG}")


def test_no_qsub(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match=r"^no qsub on this machine: start on a login node of the cluster$"):
        cluster_check.check(str(ROOT / "profiles/cluster-generic"))


def test_an_answer():
    answer = {"node": "n2", "python": "/p/python", "version": platform.python_version(), "read": "abc"}
    assert "n2" in compare(answer, "abc", 3.2)
    assert "3 seconds" in compare(answer, "abc", 3.2)
    assert f"Python 3.0 (here {platform.python_version()})" in compare(
        answer | {"version": "3.0"}, "abc", None
    )
    with pytest.raises(ValueError, match="n2 reads another"):
        compare(answer, "what was written now", 0.0)


@pytest.mark.slow
@pytest.mark.pipeline
def test_on_a_real_slurm(fresh, slurm):
    """The profile as shipped, and one that names a partition which there is not."""

    def run():
        module = ("-m", "reproduction.jobs.cluster_check", "profiles/slurm")
        return fresh.python(*module, environment=slurm.environment | {"PYTHONPATH": str(fresh.folder)})

    fresh.launcher = slurm.on(LOGIN, fresh.folder)
    done = run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "COMPLETED" in done.stdout
    assert f"Python {platform.python_version()}, {sys.executable}" in done.stdout
    profile = fresh.folder / "profiles/slurm/config.yaml"
    profile.write_text(profile.read_text().replace("# slurm_partition: short", "slurm_partition: none"))
    done = run()
    assert done.returncode == 1
    assert "invalid partition specified: none" in done.stderr
    assert done.stderr.splitlines()[-1] == "set slurm_partition to one of these: short"
    assert slurm.queue() == []
