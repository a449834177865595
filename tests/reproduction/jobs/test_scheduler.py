"""A scheduler that is not there or does not answer. Scripts stand for the commands of Slurm and PBS."""

import subprocess

import pytest

from reproduction.jobs import scheduler
from tests import ROOT


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Writes commands that are found before those of the system, and none of Slurm's beside them."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setattr(scheduler, "SILENCE", 0.5)

    def write(**scripts):
        for name, script in scripts.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / name).chmod(0o755)

    return write


def test_no_scheduler_at_all(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    for command, call in {
        "sbatch": scheduler.reach_slurm,
        "qsub": lambda: scheduler.find("x; qsub -l y"),
    }.items():
        with pytest.raises(ValueError, match=f"^no {command} on this machine: start on a login node"):
            call()


def test_a_controller_that_is_down_and_one_that_is_silent(commands):
    commands(sbatch="exit 1", sinfo="echo 'sinfo: error: Unable to contact slurm controller' >&2; exit 1")
    with pytest.raises(ValueError, match=r"cannot be reached:\nsinfo: error: Unable to contact slurm"):
        scheduler.reach_slurm()
    commands(sinfo="exec sleep 20")
    with pytest.raises(ValueError, match="did not answer"):
        scheduler.reach_slurm()
    commands(sinfo="echo a node")
    scheduler.reach_slurm()


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
