"""The numbers on the simulated attack that texts state."""

import math

import pytest

from scripts.beyond.attack.findings import AuditOfSetting, audit
from tests.report.world import audit_row, results, row

TABLE_IV = [row(n="100", k="10", eps0="2", eps="0.10", count="80", printed="1E-10")]


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
    counts = audit(results(TABLE_IV, audit=rows))
    assert counts.of == 4
    assert counts.seen == 3  # attacks that succeed at all
    assert counts.alone == 3  # those with a bound ``alone`` above the published delta
    assert counts.together == 2
    assert counts.upper == 1  # above even the library's upper bound
    assert counts.settings == [
        AuditOfSetting(n=100, k=10, eps0=2, count=80, of=4, seen=3, together=2, upper=1)
    ]
    assert counts.confidence == pytest.approx(99.9)


def contradiction(*, together, eps, runs):
    """A row of audit.csv: attacks in so many runs contradict the published delta, 10^-90, at eps."""
    return audit_row(-90, 0.002, together, violated_jointly=True, eps=eps, runs=runs)


def test_the_example_has_the_most_runs_of_those_whose_delta_is_printed():
    """`TABLE_IV` prints 1E-10 at eps = 0.1. The bound is rounded down to two digits."""
    rows = [
        contradiction(together=0.001, eps=0.2, runs=90_000_000),  # not printed
        contradiction(together=0.001, eps=0.1, runs=10_000_000),
        contradiction(together=0.00299, eps=0.1, runs=80_000_000),
    ]
    example = audit(results(TABLE_IV, audit=rows)).example
    assert (example.eps, example.printed, example.at_least) == (0.1, "1E-10", 0.0029)


def test_without_a_contradicted_cell_of_table_iv_there_is_no_example():
    not_printed = contradiction(together=0.001, eps=0.2, runs=10_000_000)
    counts = audit(results(TABLE_IV, audit=[not_printed]))
    assert (counts.upper, counts.example) == (0, None)
