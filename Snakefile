# This file makes `snakemake` work in this folder. The workflow is where Snakemake's catalog expects it.
include: "workflow/Snakefile"


workflow.default_target = "all"  # an include does not hand on what `default_target: True` says
