"""A job as Snakemake gives it to a script."""

import runpy
from types import SimpleNamespace

from snakemake.iocontainers import InputFiles, Log, OutputFiles, Params

from reproduction.jobs import run
from reproduction.jobs.code import ROOT


def fake_job(rule, *, input, output, log="job.log", params=None):
    """``input``, ``output`` and ``params``: dicts by name; ``output`` may be a list."""
    made = OutputFiles(fromdict=output) if isinstance(output, dict) else OutputFiles(output)
    files = InputFiles()
    for name, value in input.items():
        many = isinstance(value, list)
        start = len(files)
        files.extend(value if many else [value])
        files._set_name(name, start, end=len(files) if many else None)
    return SimpleNamespace(
        rule=rule,
        input=files,
        output=made,
        log=Log([log]),
        params=Params(fromdict=params or {}),
        scriptdir=str(ROOT / "scripts"),
    )


def run_script(name, job):
    """Run ``scripts/NAME.py`` as Snakemake does, with a `fake_job`."""
    runpy.run_path(str(ROOT / f"scripts/{name}.py"), init_globals={"snakemake": job})


def errors():
    """The errors that the run ends with."""
    return "".join(f"{line}\n" for line in run.errors())
