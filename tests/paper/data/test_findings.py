"""The numbers on check-ins that texts state."""

import io

import pandas as pd

from scripts.paper.data.findings import CheckinsOfParis, checkins_of_paris

TOTALS = """\
dataset,grid,checkins
san_francisco,uniform,123026
paris,uniform,11190
paris,stepped,10260
"""


def test_the_checkins_of_paris_are_stated_for_both_grids():
    totals = pd.read_csv(io.StringIO(TOTALS))
    expected = CheckinsOfParis(box=11190, stepped=10260)
    assert checkins_of_paris({"totals": totals}) == expected
