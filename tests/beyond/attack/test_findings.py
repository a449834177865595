"""The numbers on the simulated attack that texts state."""

import math

import pytest

from scripts.beyond.attack.findings import AuditOfSetting, audit
from tests.report.world import audit_row, results, row

TABLE_IV = [row(n="100", k="10", eps0="2", eps="0.10", count="80", printed="1E-10")]


def test_the_audit_counts_contradictions_in_all_and_by_setting():
    """`audit` counts how many of four made-up cases, each an attack, contradict a published bound on delta.

    All have one setting: n = 100, k = 10, eps0 = 2, and 80 others with x0. `audit_row` makes a case from
    log10 of the published delta and two lower bounds on delta by the attack: ``alone`` with the confidence
    99.9 % in this case, ``together`` in all cases. In the first three cases the attack succeeds (``seen``),
    and its bound ``alone`` exceeds the published delta. In two the bound ``together`` does
    (``violated_jointly``). In one a bound even exceeds the library's ``upper`` bound.
    """
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
    """The example is the case with the most runs of those that contradict a delta which the paper prints.

    `TABLE_IV` prints one delta, 1E-10 at eps = 0.1. `audit_row` makes a case from log10 of the delta by the
    paper's formula and two lower bounds on delta by the attack: ``alone``, and ``together`` if the bounds of
    all cases are to hold at once. The example's ``at_least`` is ``together``, rounded down to two digits.
    """
    bounds = {"alone": 0.002, "violated_jointly": True}
    rows = [
        # It has most runs and lies far above -90, but eps = 0.2 is not printed.
        audit_row(-90, together=0.001, eps=0.2, runs=90_000_000, **bounds),
        # 10,000,000 runs at eps = 0.1, as in every row that says nothing else.
        audit_row(-90, together=0.001, **bounds),
        audit_row(-10, together=0.00299, runs=80_000_000, **bounds),
    ]
    example = audit(results(TABLE_IV, audit=rows)).example
    assert (example.eps, example.printed, example.at_least) == (0.1, "1E-10", 0.0029)


def test_without_a_contradicted_cell_of_table_iv_there_is_no_example():
    not_printed = audit_row(-90, 0.002, 0.001, True, eps=0.2)
    counts = audit(results(TABLE_IV, audit=[not_printed]))
    assert (counts.upper, counts.example) == (0, None)
