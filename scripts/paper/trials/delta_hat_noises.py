"""The Gaussian's noises in the trials with delta-hat (scripts/paper/delta/delta_hat.py).

The noise is chosen for eps and a delta. It is

- published: the least noise that honours delta-hat as printed, by the exact analytic scale;
- diffprivlib: what the paper's library adds for delta-hat as printed, or for the protocol's floor where
  delta-hat is smaller, as in our rerun of the paper's figures;
- exact: the least noise that honours the exact delta-hat.
"""

NOISES = ("published", "diffprivlib", "exact")
