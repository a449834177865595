# For editors and type checkers: the name that Snakemake defines in every file of scripts/.
from tightshuffle.pipeline.job import Described

snakemake: Described
