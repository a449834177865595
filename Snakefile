# This file makes `snakemake` work in this folder. The workflow is where Snakemake's catalog expects it.
include: "workflow/Snakefile"


workflow.default_target = "all"  # `default_target: True` has no effect in an included file
