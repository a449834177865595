"""The table of all bounds: the accountants' values, in the order that theory asks for."""

import numpy as np

from scripts.beyond.bounds.compute_delta_bounds import BOUNDS, delta_bounds
from scripts.paper.delta.printed_formulas import theorem_1_as_printed
from tightshuffle import delta, upper
from tightshuffle.literature import count
from tightshuffle.methods import METHODS

BOUNDED = [
    {"n": 60, "k": 5, "eps0": 0.5, "count": 40, "eps": {"start": 0.02, "stop": 0.45}},
    {"n": 5000, "k": 30, "eps0": 3, "count": 10, "eps": {"start": 0.01, "stop": 0.2}},
    {"n": 300, "k": 2, "eps0": 1, "count": 0, "eps": {"start": 0.01, "stop": 0.9}},
]


def test_bounds_are_the_accountants_values_and_in_order():
    """A table of log10 of delta: four eps for each of the three settings that `BOUNDED` lists.

    The columns published and exact are of the count of x0: by the paper's formula, and the true delta. The
    others are bounds for the whole histogram: lower, and one for each other method of `BOUNDS`. Two rows are
    compared with the functions that compute a single delta, all rows with the order that theory asks for.
    """
    table = delta_bounds(4, BOUNDED)
    assert table["setting"].value_counts().to_dict() == {1: 4, 2: 4, 3: 4}
    for _, row in table.iloc[
        [1, 6]
    ].iterrows():  # the second eps of setting 1, the third of setting 2
        eps, holders = row["eps"], row["count"]
        setting = {name: row[name] for name in ("n", "k", "eps0")}
        assert row["published"] == theorem_1_as_printed(eps, count=holders, **setting)
        assert row["exact"] == count.delta(eps, count=holders, direction="both", **setting)
        assert row["upper"] == upper(eps, log10=True, **setting)
        assert row["koskela_strong"] == delta(eps, method="koskela-strong", log10=True, **setting)

    # The lower bound is below the upper one, and one count tells less than the whole histogram.
    assert (table["lower"] <= table["upper"]).all()
    assert (table["exact"] <= table["upper"]).all()
    # `upper` is the smallest of all upper bounds, up to the relative error of a computed delta, 1e-3. (Here
    # no bound is below `upper` by any bit, and that of the privacy blanket is equal.)
    slack = np.log10(1.001)
    for name in set(BOUNDS) - {"lower"}:
        assert (table[METHODS[name].column] >= table["upper"] - slack).all(), name
    # In the first setting the printed formula is more than a factor of 10 below a proven lower bound.
    assert (table["published"] < table["lower"] - 1)[table["setting"] == 1].all()
