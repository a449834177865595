"""delta of the count of x0 over a grid of eps and eps0, published and exact."""

import numpy as np
import pandas as pd

from tightshuffle.pipeline.job import job, write_csv
from tightshuffle.privacy.count import delta

with job(snakemake):
    plan = snakemake.params.plan
    axes = [
        np.linspace(plan[name]["start"], plan[name]["stop"], plan[name]["steps"]) for name in ("eps", "eps0")
    ]
    # Rounded, so that 0.1 + 0.1 is 0.2 and the diagonal eps = eps0 is met exactly.
    eps, eps0 = (axis.ravel() for axis in np.meshgrid(*np.round(axes, 10), indexing="ij"))
    setting = {name: plan[name] for name in ("n", "k", "count")}
    surface = {form: delta(eps, eps0=eps0, form=form, **setting) for form in ("published", "exact")}
    write_csv(pd.DataFrame({"eps": eps, "eps0": eps0, **setting, **surface}), snakemake.output[0])
