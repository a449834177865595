# For editors and type checkers: the name that Snakemake defines in every file of scripts/.
from scripts.shared.job import Described

snakemake: Described
