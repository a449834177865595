"""The machine of a run, and the time and memory of every rule."""

import os
import platform
from pathlib import Path
from typing import Any

import pandas as pd


def run_times(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Time and memory of every rule, from Snakemake's benchmark files in ``folder``; slowest rule first.

    One dict per rule: ``name``; ``jobs``, their number; ``seconds`` of all jobs; ``longest``, the seconds of
    the longest job; ``cpu``, the processor seconds of all jobs; ``mb``, the largest memory of a job. A value
    is nan if the job ended before it was measured. Raises ValueError for a file that lacks a column.
    """
    rows = []
    for path in sorted(Path(folder).rglob("*.tsv")):
        table = pd.read_csv(path, sep="\t", na_values=["-", "NA"])
        missing = [name for name in ("s", "max_rss", "cpu_time") if name not in table]
        if missing:
            raise ValueError(f"{path}: no column {missing[0]!r}; remove it and run again")
        rule = path.relative_to(folder).parts[0].removesuffix(".tsv")
        rows += [(rule, *row) for row in table[["s", "max_rss", "cpu_time"]].itertuples(index=False)]
    jobs = pd.DataFrame(rows, columns=["name", "s", "max_rss", "cpu_time"])
    rules = jobs.groupby("name", as_index=False).agg(
        jobs=("s", "size"), seconds=("s", "sum"), longest=("s", "max"),
        cpu=("cpu_time", "sum"), mb=("max_rss", "max"),
    )  # fmt: skip
    rules = rules.sort_values(["seconds", "name"], ascending=[False, True])
    return [dict(zip(rules.columns, row, strict=True)) for row in rules.itertuples(index=False)]


def machine() -> list[tuple[str, str]]:
    """Pairs of name and value that describe this machine, without identifying it or its user."""
    facts = [
        ("system", f"{platform.system()} {platform.release()}"),
        ("processor", processor()),
        ("cores", str(os.cpu_count())),
    ]
    if hasattr(os, "sched_getaffinity"):
        facts.append(("cores that this process may use", str(len(os.sched_getaffinity(0)))))
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", ()):
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        facts.append(("memory", f"{size / 2**30:.1f} GiB"))
    return facts


def processor(path: str | os.PathLike[str] = "/proc/cpuinfo") -> str:
    """The processor's name if the system knows it, else its architecture."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]} ({platform.machine()})" if names else platform.machine()
