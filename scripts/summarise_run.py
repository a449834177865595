"""The page of what differs from run to run: the machine, the date, and what every rule's jobs took."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from tightshuffle.pipeline.job import job, whole_file
from tightshuffle.report import page as _page


def run_times(folder):
    """Jobs, seconds and memory per rule from Snakemake's benchmark files in ``folder``, longest first.

    A list of dicts: ``name`` of the rule (the file's or its folder's), ``jobs``, ``seconds`` in all,
    ``longest`` job, ``cpu`` seconds in all, ``mb`` of the largest job; nan where a job ended too soon to
    be measured. Raises ValueError that names a file without these columns.
    """
    rows = []
    for path in sorted(Path(folder).rglob("*.tsv")):
        table = pd.read_csv(path, sep="\t", na_values=["-", "NA"])
        missing = [name for name in ("s", "max_rss", "cpu_time") if name not in table]
        if missing:
            raise ValueError(f"{path}: no column {missing[0]!r}; delete it and run its job again")
        rule = path.relative_to(folder).parts[0].removesuffix(".tsv")
        rows += [(rule, *row) for row in table[["s", "max_rss", "cpu_time"]].itertuples(index=False)]
    jobs = pd.DataFrame(rows, columns=["name", "s", "max_rss", "cpu_time"])
    found = jobs.groupby("name").agg(
        jobs=("s", "size"), seconds=("s", "sum"), longest=("s", "max"),
        cpu=("cpu_time", "sum"), mb=("max_rss", "max"),
    )  # fmt: skip
    found = found.reset_index().sort_values(["seconds", "name"], ascending=[False, True])
    return found.to_dict("records")


def machine():
    """What this machine is, as pairs of name and value; nothing that names it or its user."""
    found = [
        ("system", f"{platform.system()} {platform.release()}"),
        ("processor", processor()),
        ("cores", str(os.cpu_count())),
    ]
    if hasattr(os, "sched_getaffinity"):
        found.append(("cores that this process may use", str(len(os.sched_getaffinity(0)))))
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", ()):
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        found.append(("memory", f"{size / 2**30:.1f} GiB"))
    return found


def processor(path="/proc/cpuinfo"):
    """The processor's name where the system tells it, else its architecture."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]} ({platform.machine()})" if names else platform.machine()


def main(snakemake):
    """Read the benchmark files, write the page."""
    with job(snakemake):
        values = {
            "rules": run_times(snakemake.params.folder),
            "machine": machine(),
            "now": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "libraries": _page.versions(),
        }
        page = _page.render("run.html.j2", _page.parts_of(snakemake.input.parts), values)
        with whole_file(snakemake.output[0]) as path:
            path.write_text(page, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(snakemake)
