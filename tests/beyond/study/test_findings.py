"""The number on designs that texts state."""

from scripts.beyond.study.findings import designs
from tests.report.world import EVERYTHING, results


def test_the_eps0_is_that_of_krr_without_dummies_for_100_000_users():
    assert designs(results([], **EVERYTHING)).eps0 == 7.9
