"""Check that the scheduler responds; Snakemake would report a missing one late, or never."""

import shutil
import subprocess

SILENCE = 30  # seconds that a command of Slurm may take


def reach_slurm() -> None:
    """ValueError if Slurm is missing or does not respond."""
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
