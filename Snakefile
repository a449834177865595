# So that `snakemake` works in this folder. The workflow itself is where Snakemake's catalog expects it.
include: "workflow/Snakefile"


workflow.default_target = "all"  # an include does not hand on what `default_target: True` says
