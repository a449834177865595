"""The number on the bounds of the literature that texts state."""

import io

import pandas as pd
import pytest

from scripts.beyond.bounds.compute_cited_bounds import cited_bounds
from scripts.beyond.bounds.findings import literature_bounds
from scripts.shared.printed import read_values
from tests import ROOT


def test_best_analytic_bound_is_82_times_larger_than_a_proven_one():
    """In the first line of Table 1."""
    values = read_values(ROOT / "data/published/values.csv")
    file = io.StringIO(cited_bounds(values).to_csv())
    times = literature_bounds({"cited_bounds": pd.read_csv(file)}).times
    assert times == pytest.approx(82, abs=0.5)
