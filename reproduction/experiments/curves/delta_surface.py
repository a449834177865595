"""delta of the count of x0 over a grid of eps and eps0, as in Figure 1."""

import numpy as np
import pandas as pd

from reproduction.experiments.curves.axes import Section, linear_axis, rounded
from reproduction.protocol.printed_formulas import FORMS, delta_of_count


def delta_surface(settings: Section) -> pd.DataFrame:
    """log10 delta, published and exact, one row per (eps, eps0).

    ``settings``: the config's ``delta_surface`` (n, k, count; the axes eps and eps0). The axes are rounded,
    so that the diagonal eps = eps0, from which on delta is 0, is met exactly.
    """
    axes = [rounded(linear_axis(settings[name])) for name in ("eps", "eps0")]
    eps, eps0 = (values.ravel() for values in np.meshgrid(*axes, indexing="ij"))
    fixed = {name: settings[name] for name in ("n", "k", "count")}
    surface = {form: delta_of_count(eps, eps0=eps0, form=form, **fixed) for form in FORMS[::-1]}
    return pd.DataFrame({"eps": eps, "eps0": eps0, **fixed, **surface})
