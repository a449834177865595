"""What the headline computes from the results: the audit, the budgets, parity."""

import math

import pytest

from tightshuffle.report import findings


def audit_row(published, upper, alone, together):
    return {"published_log10_delta": published, "upper_log10_delta": upper} | {
        "audited_delta": alone, "joint_delta": together,
    }  # fmt: skip


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
    assert found.largest is rows[3]
    assert findings.audit(rows[:1]).largest is None
    assert findings.audit([]) == findings.Audit(of=0, published=0, upper=0, largest=None)


def test_excess_of_nothing_over_nothing_is_no_contradiction():
    assert findings.excess(audit_row("-inf", "-inf", "0.0", "0"), "audited_delta", "upper_log10_delta") < 0
    assert findings.excess(audit_row("-inf", "-1", "0.1", "0"), "audited_delta", "published_log10_delta") == (
        math.inf
    )


def test_budgets_counts_those_without_a_delta():
    plan = {"tv": {"budgets": [{"eps0": 4, "eps": 4}, {"eps0": 4, "eps": 1}]}, "individual": None}
    other = {"estimates": {"budgets": [{"eps0": 2, "eps": 3}]}}
    assert findings.budgets({"a": plan, "b": other, "c": {}}) == (2, 3)


def mean_row(mean, estimator="inversion", mechanism="shuffle", **setting):
    given = {"dataset": "d", "n": "100", "k": "5", "eps0": "1", "delta": "1e-06", "eps": "0.2"}
    given |= {"metric": "tv", "bound": "upper", "mechanism": mechanism, "estimator": estimator}
    return {**given, "mean": mean, **setting}


def ratio_row(ratio, comparison="unprojected", **setting):
    row = mean_row("", **setting)
    for name in ("mean", "mechanism", "estimator"):
        del row[name]
    return row | {"comparison": comparison, "ratio": ratio, "repetitions": "200.0"}


def test_parity_is_the_range_of_the_ratio_by_budget():
    sizes = {("1", "100"): "1.02", ("1", "1000"): "0.96", ("6.0", "100"): "1.3", ("6", "1000"): "1.06"}
    means = [mean_row("0.5", eps0=eps0, n=n) for eps0, n in sizes]
    ratios = [ratio_row(ratio, eps0=eps0, n=n) for (eps0, n), ratio in sizes.items()]
    ratios += [ratio_row("9", metric="individual_error"), ratio_row("9", bound="lower")]
    ratios.append(ratio_row("9", bound="", comparison="published"))
    found = findings.parity(findings.comparisons(means, ratios))
    assert (found.least[0], found.most[0]) == (0.96, 1.3)
    assert found.most[1].setting == {"dataset": "d", "n": 100.0, "k": 5.0, "eps0": 6.0, "delta": 1e-6}
    assert (found.nearly, found.of, found.repetitions) == (2, 4, 200)
    assert found.by_eps0 == {1.0: (0.96, 1.02), 6.0: (1.06, 1.3)}
    assert findings.parity(findings.comparisons(means, ratios), "projected") is None
    assert findings.parity([]) is None


@pytest.mark.parametrize(
    ("means", "ratios", "message"),
    [
        ([mean_row("1"), mean_row("1.0", n="100.0")], [ratio_row("1")], r"parity\.csv: two rows of"),
        ([mean_row("1")], [ratio_row("1"), ratio_row("2")], r"parity_ratio\.csv: two rows of unprojected"),
        ([mean_row("1")], [], "only one of parity.csv, parity_ratio.csv has"),
        ([], [ratio_row("1")], "only one of parity.csv, parity_ratio.csv has"),
    ],
)
def test_parity_names_rows_that_do_not_fit(means, ratios, message):
    with pytest.raises(ValueError, match=message):
        findings.comparisons(means, ratios)
