#!/usr/bin/env python3
"""Submit, watch and cancel Snakemake's jobs on Slurm, PBS (Pro or Torque), LSF or Grid Engine.

    scheduler.py submit JOBSCRIPT      prints the job's name for the two commands below: ID@FILE
    scheduler.py status ID@FILE        prints running, success or failed
    scheduler.py cancel ID@FILE ...

A job writes its own exit code into a file, and the scheduler is only asked whether the job is still
in its hands. So nothing depends on accounting, and a job that was killed (memory, time, node) is one
that has gone without a code. Plain Python: nothing to install on the cluster.
"""

SCHEDULER = "slurm"  # edit: slurm, pbs, lsf or sge
OPTIONS = ""  # edit: further options of every submission, such as "-p long -A account" or "-q queue"
SGE_MEMORY = "mem_free"  # Grid Engine only: the name of the site's memory request; often h_vmem

import json  # noqa: E402 - what is to be edited comes first
import re  # noqa: E402
import shlex  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

FOLDER = Path(".snakemake/cluster")  # job scripts and exit codes
LOGS = Path("results/logs/cluster")  # what the jobs print
LATENCY = 60  # seconds until a file written on a node must be visible here

# In the scheduler's words: a job that has ended, and a job that it does not know (any more).
ENDED = {
    "slurm": {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY"}
    | {"PREEMPTED", "REVOKED", "TIMEOUT"},
    "pbs": {"C", "F", "X"},
    "lsf": {"DONE", "EXIT", "ZOMBI"},
    "sge": {"E", "z"},  # E: an error before the start; such a job would wait for ever
}
UNKNOWN = {
    "slurm": r"Invalid job id",
    "pbs": r"Unknown Job ?Id|has finished|Job not found",
    "lsf": r"is not found",
    "sge": r"do not exist",
}


def submission(scheduler, job, script, log):
    """The command that submits ``script``: a list of words.

    ``job`` holds what Snakemake says of the job: rule or groupid, threads, resources mem_mb and runtime.
    """
    name = job.get("groupid") or job["rule"]
    threads, memory, minutes = job["threads"], job["resources"]["mem_mb"], job["resources"]["runtime"]
    clock = f"{minutes // 60:02d}:{minutes % 60:02d}:00"
    words = {
        "slurm": f"sbatch --parsable -J {name} -o {log} -n 1 -c {threads} --mem {memory} -t {minutes}",
        "pbs": f"qsub -N {name} -o {log} -j oe -l ncpus={threads},mem={memory}mb,walltime={clock}",
        "lsf": f"bsub -J {name} -o {log} -n {threads} -M {memory}MB -W {minutes}"
        f" -R span[hosts=1] -R rusage[mem={memory}MB]",
        "sge": f"qsub -terse -cwd -S /bin/sh -N {name} -o {log} -j y"
        f" -l {SGE_MEMORY}={memory}M,h_rt={60 * minutes}" + (f" -pe smp {threads}" if threads > 1 else ""),
    }
    return [*words[scheduler].split(), *shlex.split(OPTIONS), str(script)]


def job_id(scheduler, printed):
    """The id in what a submission printed."""
    pattern = {"lsf": r"Job <(\d+)>", "slurm": r"^(\d+)"}.get(scheduler, r"^(\d[\w.\[\]-]*)")
    if found := re.search(pattern, printed, flags=re.MULTILINE):
        return found[1]
    raise ValueError(f"{scheduler}: no job id in what the submission printed: {printed.strip()!r}")


def question(scheduler, job):
    """The command that asks for a job's state."""
    return {
        "slurm": ["squeue", "--noheader", "--states=all", "--format=%T", "--jobs", job],
        "pbs": ["qstat", "-f", job],
        "lsf": ["bjobs", "-noheader", "-o", "stat", job],
        "sge": ["qstat", "-u", "*"],
    }[scheduler]


def state(scheduler, job, code, out, err):
    """``queue`` or ``ended`` from the answer; an answer that cannot be read (server busy) means ``queue``."""
    if scheduler == "sge":
        if code:
            return "queue"
        rows = [line.split() for line in out.splitlines()]
        states = [row[4] for row in rows if len(row) > 4 and row[0] == job]
        return "queue" if states and not ENDED["sge"] & set("".join(states)) else "ended"
    if scheduler == "pbs":
        found = re.findall(r"job_state\s*=\s*(\w)", out)
    else:
        found = [word for word in out.split() if word.isupper()]
    if found:
        return "ended" if found[0] in ENDED[scheduler] else "queue"
    gone = re.search(UNKNOWN[scheduler], out + err, flags=re.IGNORECASE) or not (code or out.strip())
    return "ended" if gone else "queue"


def submit(jobscript):
    properties = re.search(r"^# properties = (.*)$", Path(jobscript).read_text(), flags=re.MULTILINE)
    job = json.loads(properties[1])
    FOLDER.mkdir(parents=True, exist_ok=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    name = f"{job.get('groupid') or job['rule']}-{time.time_ns():x}"
    file = (FOLDER / name).resolve()
    file.with_suffix(".job").write_text(Path(jobscript).read_text())
    quoted = shlex.quote(str(file))
    file.with_suffix(".sh").write_text(
        f"#!/bin/sh\nsh {quoted}.job\ncode=$?\n"
        f"echo $code > {quoted}.part && mv {quoted}.part {quoted}.exit\nexit $code\n"
    )
    # Relative: some qsub split a path at its spaces.
    command = submission(SCHEDULER, job, FOLDER / f"{name}.sh", LOGS / f"{name}.log")
    stdin = None
    if SCHEDULER == "lsf":  # bsub reads the script from its input
        stdin = Path(command.pop()).read_text()
    done = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        sys.exit(done.returncode)
    print(f"{job_id(SCHEDULER, done.stdout)}@{name}")


def status(reference):
    job, _, name = reference.partition("@")
    code, gone = FOLDER / f"{name}.exit", FOLDER / f"{name}.gone"
    if not code.exists():
        done = subprocess.run(question(SCHEDULER, job), capture_output=True, text=True)
        if state(SCHEDULER, job, done.returncode, done.stdout, done.stderr) == "queue":
            return "running"
        if not gone.exists():
            gone.touch()
        # The job has ended; give its exit code time to arrive over a network file system.
        if time.time() - gone.stat().st_mtime < LATENCY:
            return "running"
        if not code.exists():
            return "failed"
    return "success" if code.read_text().strip() == "0" else "failed"


def cancel(references):
    """Without waiting: Snakemake gives this two seconds, a busy scheduler may take longer."""
    command = {"slurm": "scancel", "pbs": "qdel", "lsf": "bkill", "sge": "qdel"}[SCHEDULER]
    jobs = [reference.partition("@")[0] for reference in references]
    subprocess.Popen([command, *jobs], start_new_session=True, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    if SCHEDULER not in ENDED:
        sys.exit(f"{__file__}: SCHEDULER must be one of {', '.join(ENDED)}; got {SCHEDULER!r}")
    if sys.argv[1:2] == ["submit"] and len(sys.argv) == 3:
        submit(sys.argv[2])
    elif sys.argv[1:2] == ["status"] and len(sys.argv) == 3:
        print(status(sys.argv[2]))
    elif sys.argv[1:2] == ["cancel"]:
        cancel(sys.argv[2:])
    else:
        sys.exit(__doc__)
