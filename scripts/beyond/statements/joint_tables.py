"""What the tables of the joint tests hold: verdicts, columns, another noise, our numbering of cells."""

import math

REJECTED, NOT_REJECTED = "rejected", "not rejected"  # of a joint test
CONTRADICTED, NOT_CONTRADICTED = "contradicted", "not contradicted"  # of a city's grid
# Column of a power -> the factor by which wrong errors exceed ours.
WRONG_FACTORS = {"power_half": 0.5, "power_sqrt2": math.sqrt(2), "power_double": 2.0}
# delta, sensitivity: another noise that fits the printed errors (docs/errata.md, 7).
OTHER_NOISE = (1e-10, 1.0)
OUR_NUMBERING = "row by row from the south-west"  # as in `data.grid`
