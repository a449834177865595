"""A job as Snakemake gives it to a script."""

import runpy
from types import SimpleNamespace

from snakemake.iocontainers import InputFiles, Log, OutputFiles, Params

from tests import ROOT

ended: list[str] = []  # the lines with which scripts ended


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
    )


def run_script(name, job):
    """Run ``scripts/NAME.py`` as Snakemake does, with a `fake_job`."""
    ended.clear()
    try:
        runpy.run_path(str(ROOT / f"scripts/{name}.py"), init_globals={"snakemake": job})
    except SystemExit as error:
        ended.append(f"{error.code}\n")
        raise


def errors():
    """What the last script ended with."""
    return "".join(ended)
