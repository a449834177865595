"""Check that the scheduler responds; Snakemake would report a missing one late, or never."""

import shutil
import subprocess

SILENCE = 30  # seconds after which a command of Slurm counts as unanswered


def reach_slurm() -> None:
    """ValueError if no Slurm is here, or none that answers."""
    find("sbatch")
    try:
        done = subprocess.run(["sinfo"], capture_output=True, text=True, timeout=SILENCE)
    except subprocess.TimeoutExpired:
        raise ValueError(f"Slurm's controller did not answer sinfo within {SILENCE} seconds") from None
    if done.returncode:
        raise ValueError(f"Slurm's controller cannot be reached:\n{done.stderr.strip()}")


def find(submit: str) -> None:
    """ValueError if the last command in a line of shell is not on this machine."""
    command = submit.split(";")[-1].split()[0]
    if not shutil.which(command):
        raise ValueError(f"no {command} on this machine: start on a login node of the cluster")
