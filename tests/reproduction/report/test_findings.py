"""What the headline computes from the results: the audit, parity."""

import pytest

from reproduction.report import findings
from tests.reproduction.report.report_page import parity_rows, row

MEANS, RATIOS = parity_rows()


def audit_row(published, upper, alone, together, eps="0.1", observes="count", runs="1000"):
    setting = {"n": "100", "k": "10", "eps0": "2", "eps": eps, "count": "80"}
    bounds = {"audited_delta": alone, "joint_delta": together, "observes": observes, "runs": runs}
    return setting | bounds | {"published_log10_delta": published, "upper_log10_delta": upper}


def test_audit_counts_jointly_what_contradicts_and_alone_what_would_refute_upper():
    rows = [
        audit_row("-3", "-1", "0.002", "0.0009"),  # contradicts alone only
        audit_row("-10", "-1", "0.002", "0.001"),  # by 7 orders
        audit_row("-20", "-1", "1e-12", "1e-13"),  # by 7 orders, too
        audit_row("-20", "-3", "0.0011", "0.0009"),  # by 17 orders; alone above upper
        audit_row("-inf", "-inf", "0.0", "0.0"),
    ]
    found = findings.audit(rows)
    assert (found.published, found.upper, found.of) == (3, 1, 5)
    assert (found.seen, found.alone) == (4, 4)
    seen_below = findings.audit([audit_row("-1", "-1", "0.002", "0.001")])
    assert (seen_below.seen, seen_below.alone) == (1, 0)
    assert findings.audit([]) == findings.Audit(0, 0, 0, published=0, upper=0, example=None)


def test_the_example_is_printed_counted_and_has_the_most_runs():
    printed = [
        row(n="100", k="10", eps0="2", eps=eps, count="80", printed=text)
        for eps, text in (("0.10", "1E-10"), ("0.5", "1E-20"))
    ]
    rows = [
        audit_row("-90", "-1", "0.002", "0.001", eps="0.2", runs="9000"),  # is not printed
        audit_row("-90", "-1", "0.002", "0.001", observes="histogram", runs="9000"),
        audit_row("-40", "-1", "0.002", "0.001", eps="0.5"),
        audit_row("-10", "-1", "0.002", "0.001", runs="8000.0"),
        audit_row("-10", "-1", "0.002", "0.002", runs="8000.0"),
    ]
    assert findings.audit(rows, printed).example == (rows[4], "1E-10")
    assert findings.audit(rows[:3], printed).example == (rows[2], "1E-20")
    assert findings.audit(rows[:2], printed).example is None


def test_parity_without_a_kind_of_ratio_is_no_finding():
    assert findings.parity([]) is None
    unprojected = [ratio for ratio in RATIOS if ratio["comparison"] == "unprojected"]
    assert findings.parity(findings.comparisons(MEANS, unprojected), "projected") is None


def test_parity_is_told_of_informative_settings():
    means, ratios = parity_rows(eps0s=("0.1", "1", "6"))
    found = findings.parity(findings.comparisons(means, ratios), "projected")
    assert found is not None
    assert (found.of, found.settings) == (8, 12)  # two n and two deltas of each eps0; 0.1 tells nothing
    assert found.by_eps0 == {1: (1 + 1 / 30, 1 + 1 / 30), 6: (1.2, 1.2)}
    assert (found.least[0], found.most[0]) == (1 + 1 / 30, 1.2)
    assert (found.nearly, found.better, found.better_anywhere) == (4, 0, 0)
    uninformative = [ratio | {"informative": "False"} for ratio in ratios]
    assert findings.parity(findings.comparisons(means, uninformative), "projected") is None


@pytest.mark.parametrize(
    ("means", "ratios", "message"),
    [
        ([*MEANS, MEANS[0] | {"n": "1000.0"}], RATIOS, r"parity\.csv: two rows of"),
        (MEANS, [*RATIOS, RATIOS[0] | {"ratio": "2"}], r"parity_ratio\.csv: two rows of unprojected"),
        (MEANS, [], "only one of parity.csv, parity_ratio.csv has"),
        ([], RATIOS, "only one of parity.csv, parity_ratio.csv has"),
    ],
)
def test_parity_names_rows_that_do_not_fit(means, ratios, message):
    with pytest.raises(ValueError, match=message):
        findings.comparisons(means, ratios)
