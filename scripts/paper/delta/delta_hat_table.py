"""What the tables of delta-hat have in common: the columns of a setting, and where floats end."""

SETTING = ["dataset", "n", "k", "eps0"]  # what the rows of one sample and one eps0 share
# -log10 of 1e-324. This delta and every smaller one is 0 as a float, and diffprivlib refuses it.
DEPTH_OF_SMALLEST_FLOAT = 324
