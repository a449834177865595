"""How far delta-hat as printed lies below the exact one, in a table of `compute_delta_hat`."""

import pandas as pd

from scripts.paper.delta.delta_hat_table import DEPTH_OF_SMALLEST_FLOAT
from scripts.shared.findings import Range, rounded_outwards


def orders_below_exact(table: pd.DataFrame) -> Range:
    """The range of orders of magnitude by which the printed delta-hat lies below, rounded outwards."""
    orders = table["exact"] - table["published"]
    return rounded_outwards(orders.min(), orders.max())


def points_below_floats(table: pd.DataFrame) -> int:
    """At how many rows the printed delta-hat is below every float."""
    return int((table["published"] < -DEPTH_OF_SMALLEST_FLOAT).sum())
