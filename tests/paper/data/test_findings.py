"""The numbers on check-ins that texts state."""

from scripts.paper.data.findings import CheckinsOfParis, checkins_of_paris
from tests.report.world import results


def test_the_checkins_of_paris_are_stated_for_both_grids():
    totals = [
        {"dataset": "san_francisco", "grid": "uniform", "checkins": 123026},
        {"dataset": "paris", "grid": "uniform", "checkins": 11190},
        {"dataset": "paris", "grid": "stepped", "checkins": 10260},
    ]
    expected = CheckinsOfParis(box=11190, stepped=10260)
    assert checkins_of_paris(results([], totals=totals)) == expected
