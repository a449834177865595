# What the rules of all stages share: the checked configuration, parameters, and files as rules name them.
import json
import os
import re
import sys
from compileall import compile_dir
from py_compile import PycInvalidationMode

from snakemake.exceptions import WorkflowError

CODE = [str(PROJECT), str(PROJECT / "library")]
sys.path[:0] = CODE
os.environ.update(
    PYTHONPATH=os.pathsep.join(CODE),  # jobs run this folder's code, whatever is installed
    MPLBACKEND="agg",  # a notebook names its own, which matplotlib does not find here
)

from scripts.paper.trials.parts import points_of_parts
from scripts.report.sections import figures_of, in_page_order, targets_of_figures
from scripts.shared import configuration
from scripts.shared.code import code_of, digests, source, sums_of_digested_code
from scripts.shared.job import EDITED, PLANNED
from scripts.shared.notes import jobs_of_edits

OVERLAYS = configuration.overlays(workflow.configfiles)
try:
    for file in OVERLAYS:
        configuration.read(file)  # Snakemake has read it, but keeps the last of two equal keys
    configuration.leave_out(config)
    configuration.check(config)
    configuration.check_files(config)
    config.update(configuration.canonical(config))
    FOLDER = configuration.results_folder(OVERLAYS)
except ValueError as error:
    raise WorkflowError(str(error))
DATASETS = configuration.datasets_of(config)
# Datasets of your own change no verdict on the paper.
PAPERS = configuration.papers_datasets(DATASETS)
# Of each dataset: file -> its points.
PARTS = {name: points_of_parts(dataset) for name, dataset in DATASETS.items()}
FIGURES = in_page_order(figures_of(DATASETS, PAPERS))  # by name, from scripts/report/sections.py
KINDS = ("png", "pdf", "svg", "txt")  # of the files of a figure; the last is its caption
VALUES = "data/published/values.csv"  # what the paper prints
CAPTIONS = PROJECT / "workflow/report"  # of the rules' figures and tables in `snakemake --report`


pathvars:
    results=FOLDER,


wildcard_constraints:
    dataset="|".join(DATASETS),
    number=r"(fig\d_)?",  # of the paper's figure, which your own datasets do not have


# Parameters. Snakemake reruns a job if a value is new, and names this value as the reason. `code_of(script)` are the
# script and the modules that it imports, each with a digest. A file that no job makes is named twice, as an input and
# in the setting `contents` by its digest, as the input's date may be old. Snakemake sorts inputs before it compares
# them: if a script depends on the order of its inputs, this order is a setting.
def settings(**by_name):
    """The settings of a rule, each as a mapping of one item: Snakemake compares values without their names.

    So two settings that swap their values are two new values. `job` gives a script each setting by its name.
    """
    return [with_its_name(name, value) for name, value in by_name.items()]


def with_its_name(name, value):
    """A setting's value by its name; of a function of wildcards, such a function."""
    if callable(value):
        return lambda wildcards: {name: value(wildcards)}
    return {name: value}


# Files.
def one_of(names):
    """A regular expression for these names; for none of them, one that matches nothing."""
    return "|".join(names) or "(?!)"


def trial_files(*experiments, datasets=DATASETS):
    """The files with the trials of these experiments (tv, individual, grid)."""
    return [
        f"<results>/trials/{name}_{part}.parquet"
        for name in datasets
        for part, points in PARTS[name].items()
        if {point["experiment"] for point in points} & set(experiments)
    ]


def figures_of_stage(stage):
    """The files, of all kinds, of the figures that a stage draws."""
    names = [name for name, figure in FIGURES.items() if figure.stage == stage]
    return expand("<results>/figures/{figure}.{kind}", figure=names, kind=KINDS)


def drawn(name):
    """The files of a figure, with the title of its row in the table for `snakemake --report`."""

    def labels(wildcards):
        figure = FIGURES[name.format(**wildcards)]
        return {"figure": figure.name, "shows": figure.title}

    files = {kind: f"<results>/figures/{name}.{kind}" for kind in KINDS}
    files["png"] = report(
        files["png"], caption=f"{CAPTIONS}/figure.rst", category="Figures", labels=labels
    )
    return files


def shown(file, table, shows, caption="table"):
    """A table that `snakemake --report` shows, with a caption of workflow/report."""
    labels = {"table": table, "shows": shows}
    return report(file, caption=f"{CAPTIONS}/{caption}.rst", category="Tables", labels=labels)


# Runs that meet an edit.
def mark_jobs_of_edits():
    """Mark the results of jobs that have run with edits as incomplete, so that the next run makes them again.

    Returns the names of the files that were edited.
    """
    ended = filter(workflow.dag.finished, workflow.dag.needrun_jobs(exclude_finished=False))
    edited = []
    for job, file in jobs_of_edits(ended, sums_of_digested_code()):
        workflow.persistence.started(job)
        edited.append(file)
    return edited
