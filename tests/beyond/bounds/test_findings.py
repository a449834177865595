"""The numbers on delta and its bounds that texts state."""

import io

import pandas as pd
import pytest

from scripts.beyond.bounds.compute_cited_bounds import cited_bounds
from scripts.beyond.bounds.compute_corollary_1 import corollary_table
from scripts.beyond.bounds.compute_stated_deltas import stated_deltas
from scripts.beyond.bounds.findings import bounds_apart, default_setting, literature_bounds
from scripts.paper.delta.compute_printed_deltas import printed_deltas
from scripts.shared.printed import read_values
from tests import ROOT
from tests.report.world import real_verdicts, results

VERDICTS = real_verdicts()


@pytest.fixture(scope="module")
def real_results():
    """The real tables of bounds, as they are read from their files, and made-up verdicts."""
    values = read_values(ROOT / "data/published/values.csv")
    tables = {
        "printed_deltas": printed_deltas(values),
        "cited_bounds": cited_bounds(values),
        "corollary_1": corollary_table(),
        "stated_deltas": stated_deltas(),
    }
    files = {name: io.StringIO(table.to_csv(index=False)) for name, table in tables.items()}
    return results(VERDICTS, **{name: pd.read_csv(file) for name, file in files.items()})


def test_at_the_default_setting_each_reading_has_a_larger_delta_than_the_one_before(real_results):
    rows = default_setting(real_results).rows
    assert [row.eps for row in rows] == [0.1, 0.5, 1.0]
    for row in rows:
        assert row.published < row.exact <= row.worst <= row.lower <= row.upper


def test_best_analytic_bound_is_82_times_larger_than_a_proven_one(real_results):
    """In the first line of Table 1. Our two bounds are nearly the same there."""
    bounds = literature_bounds(real_results)
    assert (bounds.n, bounds.k, bounds.eps0, bounds.eps) == (100, 10, 0.5, 0.1)
    assert bounds.times == pytest.approx(82, abs=0.5)
    assert bounds.near_percent == pytest.approx(3.2, abs=0.05)
    analytic = [row.bound for row in bounds.rows[1:4]]
    assert min(analytic) == bounds.rows[1].bound == pytest.approx(bounds.times * bounds.high)
    assert bounds.rows[5].bound < bounds.low < bounds.high == bounds.rows[4].bound


def test_default_setting_has_the_deltas_of_four_tables_and_a_ratio_of_directions():
    """Of made-up tables, whose log10 deltas are round numbers."""
    found = default_setting(results([]))
    assert (found.n, found.k, found.eps0, found.count) == (100, 10, 2.0, 80)
    [row] = found.rows
    deltas = (row.published, row.exact, row.worst, row.lower, row.upper)
    assert deltas == pytest.approx((1e-20, 1e-7, 1e-5, 1e-4, 2e-4))
    assert (found.reverse_eps, found.reverse) == (0.5, pytest.approx(10))


def test_a_bound_is_missing_where_its_theorem_does_not_apply():
    bounds = {row.name: row.bound for row in literature_bounds(results(VERDICTS)).rows}
    assert bounds["Erlingsson et al., 2019"] is None
    assert bounds["Balle et al., 2019 (Bennett)"] == pytest.approx(10**-3.9693)


def test_bounds_are_apart_by_a_percentage_of_the_lower_one():
    """Of made-up bounds: at eps = 1 the upper one is 10^0.01 times the lower one, at eps = 2 10^0.1 times."""
    apart = bounds_apart(results([]))
    assert [row.eps for row in apart.rows] == [1.0, 2.0]
    percents = [row.percent for row in apart.rows]
    assert percents == pytest.approx([100 * (10**0.01 - 1), 100 * (10**0.1 - 1)])
    assert apart.bracket_percent == pytest.approx(0.01)
