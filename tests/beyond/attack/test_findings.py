"""The numbers on the simulated attack that texts state."""

import math

import pytest

from scripts.beyond.attack.findings import AuditOfSetting, audit
from tests.report.world import audit_row, results, row

TABLE_IV = [row(n="100", k="10", eps0="2", eps="0.10", count="80", printed="1E-10")]


def test_the_audit_counts_contradictions_in_all_and_by_setting():
    """Four cases of one setting: in the last the attack shows nothing, in one even `upper` is exceeded."""
    rows = [
        audit_row(-90, alone=0.002, together=0.001, violated_jointly=True),
        audit_row(-10, alone=0.002, together=0.00299, violated_jointly=True, upper_violated=True),
        audit_row(-3, alone=0.002, together=0.0009, violated_jointly=False),
        audit_row(-math.inf, alone=0.0, together=0.0, violated_jointly=False),
    ]
    counts = audit(results(TABLE_IV, audit=rows))
    assert (counts.of, counts.seen, counts.alone, counts.together, counts.upper) == (4, 3, 3, 2, 1)
    assert counts.settings == [
        AuditOfSetting(n=100, k=10, eps0=2, count=80, of=4, seen=3, together=2, upper=1)
    ]
    assert counts.confidence == pytest.approx(99.9)


def test_the_example_is_printed_has_the_most_runs_and_is_rounded_down():
    """In a row: log10 of the published delta, the bound alone, the joint bound, is delta below the latter."""
    rows = [
        audit_row(
            -90, 0.002, 0.001, True, eps=0.2, runs=90_000_000
        ),  # eps = 0.2 is not in `TABLE_IV`
        audit_row(-90, 0.002, 0.001, True),  # 10,000,000 runs
        audit_row(-10, 0.002, 0.00299, True, runs=80_000_000),
    ]
    example = audit(results(TABLE_IV, audit=rows)).example
    assert (example.eps, example.printed, example.at_least) == (0.1, "1E-10", 0.0029)


def test_without_a_contradicted_cell_of_table_iv_there_is_no_example():
    not_printed = audit_row(-90, 0.002, 0.001, True, eps=0.2)
    counts = audit(results(TABLE_IV, audit=[not_printed]))
    assert (counts.upper, counts.example) == (0, None)
