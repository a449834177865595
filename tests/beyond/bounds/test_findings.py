"""The numbers on delta and its bounds that texts state."""

from scripts.beyond.bounds.findings import default_setting
from tests.report.world import results


def test_at_the_default_setting_each_reading_has_a_larger_delta_than_the_one_before():
    rows = default_setting(results([])).rows
    assert [row.eps for row in rows] == [0.1, 0.5, 1.0]
    for row in rows:
        assert row.published < row.exact <= row.worst <= row.lower <= row.upper
