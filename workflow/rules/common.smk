# Checks the configuration, and has what several files of rules share; the logic is in reproduction/jobs.
import atexit
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

HERE = Path(str(workflow.current_basedir)).parents[1]  # the project's folder, wherever the run is
sys.path.insert(0, str(HERE))
os.environ.update(PYTHONPATH=str(HERE))  # jobs run this folder's code, whatever is installed

from reproduction.jobs import configuration, run, workload
from reproduction.jobs.code import code_of, source
from reproduction.jobs.job import digest
from reproduction.figures.catalogue import KINDS, catalogue

OVERLAYS = configuration.overlays(workflow.configfiles)
try:
    if workflow.is_main_process:
        run.check_folder()
    configuration.leave_out(config)
    SETTINGS = configuration.checked(config)
    FOLDER = configuration.results_folder(OVERLAYS)
except ValueError as error:
    raise WorkflowError(str(error))


pathvars:
    results=FOLDER,


DATASETS = workload.datasets_of(SETTINGS)
GOWALLA, NORMAL, COUNTS = (workload.of_kind(DATASETS, kind) for kind in ("gowalla", "normal", "counts"))
PAPERS = configuration.of_the_papers(DATASETS)  # datasets of your own change no verdict on the paper
ESTIMATE_DATASETS = workload.having(DATASETS, "estimates")
PARITY_DATASETS = workload.having(DATASETS, "tv")
PARITY = SETTINGS.parity
TRIALS = workload.trials_of(DATASETS)
AUDITS = workload.audit_settings(SETTINGS.audit)
TABLES = {  # table: its number in both versions of the paper, and what it shows
    "table_II": ("Table II", "delta beside three bounds of the literature"),
    "table_1": ("Table 1", "delta beside four bounds of the literature"),
    "table_III": ("Table III / 2", "parameters of the synthetic experiments"),
    "table_IV": ("Table IV / 3", "tight delta as eps0, n and k vary"),
    "table_V": ("Table V / 4", "errors of one value, synthetic data"),
    "table_VI": ("Table VI / 5", "errors of one value, check-ins"),
}

# The paper's printed values.
VALUES, CLAIMS, PARAMETERS = (f"data/published/{name}.csv" for name in ("values", "claims", "parameters"))


wildcard_constraints:
    dataset="|".join(DATASETS),
    part="eps0-[0-9.e-]+_eps-[0-9.e-]+|grid-[0-9]+",


def shown(file, table, shows, caption="table"):
    """A table's CSV file, shown in `snakemake --report` with a caption of workflow/report."""
    labels = {"table": table, "shows": shows}
    return report(file, caption=f"../report/{caption}.rst", category="Tables", labels=labels)


def trial_files(*experiments, datasets=DATASETS):
    """The files with the trials of these experiments (tv, individual, grid)."""
    return [f"<results>/trials/{file}" for file in workload.files_of_trials(TRIALS, experiments, datasets)]


ASKED = {name: config["datasets"][name] for name in DATASETS}  # as written in the configuration
FIGURES = catalogue(config, ASKED, PAPERS, lambda name: trial_files("tv", datasets=[name]))


def figure_files(names=FIGURES, kind="png"):
    """Files of figures, in the order of the page."""
    return [f"<results>/figures/{name}.{kind}" for name in names]


def drawn_from(start):
    """The figures with an input whose path in the results folder starts with this text."""
    return [
        name
        for name, figure in FIGURES.items()
        if any(str(file).startswith(f"<results>/{start}") for file in figure.inputs.values())
    ]


# The targets of the default run, so that deleted results are made again; every file of rules adds its own.
EVERYTHING = [file for kind in KINDS for file in figure_files(kind=kind)]
