"""The numbers on the simulated attack that texts state."""

import math

import pytest

from scripts.beyond.attack.findings import AuditOfSetting, audit
from tests.report.world import audit_row, results


def test_the_audit_counts_contradictions_in_all_and_by_setting():
    """An attack bounds delta from below: ``alone`` with 99.9 % confidence, ``together`` with all others.

    Four attacks are made up, with log10 of the published delta that they are to contradict.
    """
    rows = [
        audit_row(-90, alone=0.002, together=0.001, violated_jointly=True),
        audit_row(-10, alone=0.002, together=0.00299, violated_jointly=True, upper_violated=True),
        audit_row(-3, alone=0.002, together=0.0009, violated_jointly=False),
        audit_row(-math.inf, alone=0.0, together=0.0, violated_jointly=False),
    ]
    counts = audit(results([], audit=rows))
    assert counts.of == 4
    assert counts.seen == 3  # attacks that succeed at all
    assert counts.alone == 3  # those with a bound ``alone`` above the published delta
    assert counts.together == 2
    assert counts.upper == 1  # above even the library's upper bound
    assert counts.settings == [
        AuditOfSetting(n=100, k=10, eps0=2, count=80, of=4, seen=3, together=2, upper=1)
    ]
    assert counts.confidence == pytest.approx(99.9)
