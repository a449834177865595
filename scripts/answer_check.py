"""Say from a cluster's node what runs there, and what this node reads in the file that it was sent."""

import json
import os
import platform
import socket
import sys
from pathlib import Path

import reproduction.protocol.trials  # noqa: F401  (what most jobs import, with its libraries)
from reproduction.jobs.job import job, write_bytes

with job(snakemake):
    answer = {
        "node": os.environ.get("SLURMD_NODENAME", socket.gethostname()),
        "python": sys.executable,
        "version": platform.python_version(),
        "read": Path(snakemake.input[0]).read_text(),
    }
    write_bytes(json.dumps(answer).encode(), snakemake.output[0])
