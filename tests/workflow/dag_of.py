"""The pipeline's graph of jobs as Snakemake itself builds it, without running anything.

Snakemake has no public way to ask for it from Python; what is used here of its inside is `_prepare_dag` and
`_build_dag`, as its own ``--rulegraph`` does.
"""

import contextlib
from pathlib import Path

from snakemake.api import SnakemakeApi
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    OutputSettings,
    Quietness,
    RerunTrigger,
    ResourceSettings,
)

# As in profiles/default: what decides is contents and parameters, not the text of a rule.
TRIGGERS = {RerunTrigger.MTIME, RerunTrigger.PARAMS, RerunTrigger.INPUT, RerunTrigger.SOFTWARE_ENV}


@contextlib.contextmanager
def planned(configfiles=()):
    """Snakemake's workflow with the DAG of everything, for the project in the current folder."""
    # As a dry run: it takes no lock and changes nothing in the folder.
    with SnakemakeApi(OutputSettings(dryrun=True, quiet={Quietness.ALL})) as api:
        workflow_api = api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(configfiles=[Path(file) for file in configfiles]),
            snakefile=Path("Snakefile"),
        )
        workflow_api.dag(DAGSettings(targets={"all"}, rerun_triggers=TRIGGERS))
        workflow = workflow_api._workflow
        workflow._prepare_dag(forceall=False, ignore_incomplete=True, lock_warn_only=True)
        workflow._build_dag()
        yield workflow
