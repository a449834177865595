"""The numbers on check-ins that texts state."""

from scripts.paper.data.findings import CheckinsOfParis, checkins_of_paris
from tests.report.world import EVERYTHING, results


def test_the_checkins_of_paris_are_stated_for_both_grids():
    totals = results([], totals=EVERYTHING["totals"])
    assert checkins_of_paris(totals) == CheckinsOfParis(box=11190, stepped=10260)
