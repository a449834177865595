# One job of a second that answers from a node (`make cluster-check`), sent as the profile sends all jobs.
import sys
from pathlib import Path

HERE = Path(str(workflow.current_basedir)).parent
sys.path.insert(0, str(HERE))

from reproduction.jobs.code import run_code_of

run_code_of(HERE)


rule answer_check:
    "What the node is, and what it read of a file that was written here."
    input:
        "results/logs/cluster_check/sent",
    output:
        "results/logs/cluster_check/answer.json",
    log:
        "results/logs/cluster_check/job.log",
    script:
        "../scripts/answer_check.py"
