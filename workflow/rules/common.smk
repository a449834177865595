# The checked configuration, and what the rules of several stages share.
# A file that no job makes is named twice, as input and by its digest in `contents`: the input's date may be old. A
# function of `input` would not do: Snakemake does not record what it returns.
import atexit
import os
import re
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

HERE = Path(str(workflow.current_basedir)).parents[1]  # the project's folder, wherever the run is
sys.path.insert(0, str(HERE))
os.environ.update(PYTHONPATH=str(HERE))  # jobs run this folder's code, whatever is installed

from scripts.shared import configuration, run
from scripts.shared.code import code_of, digests, source

OVERLAYS = configuration.overlays(workflow.configfiles)
try:
    if workflow.is_main_process:
        run.check_folder()
    for file in OVERLAYS:
        configuration.read(file)  # Snakemake has read it, but keeps the last of two equal keys
    configuration.leave_out(config)
    configuration.check(config)
    run.check_regular(configuration.own_files(config))
    FOLDER = configuration.results_folder(OVERLAYS)
except ValueError as error:
    raise WorkflowError(str(error))
DATASETS = configuration.datasets_of(config)
VALUES = "data/published/values.csv"  # what the paper prints
PAPERS = configuration.of_the_papers(DATASETS)  # datasets of your own change no verdict on the paper


pathvars:
    results=FOLDER,


wildcard_constraints:
    dataset="|".join(DATASETS),
    number=r"(fig\d_)?",  # of the paper's figure, which your own datasets do not have


def with_its_name(name, value):
    """A parameter's value by its name; of a function of wildcards, such a function."""
    return (lambda wildcards: {name: value(wildcards)}) if callable(value) else {name: value}
