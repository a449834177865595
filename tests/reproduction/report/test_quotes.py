"""The numbers that the documents quote: computed in another way, and no error where results are missing."""

import pandas as pd
import pytest

from reproduction.report import quotes
from tests.reproduction.report.report_page import audit_rows, real_verdicts
from tightshuffle.bounds.enumeration import enumerate_worst_case

ROW = audit_rows()[0] | {"observes": "count"}
RESULTS = quotes.Results(
    verdicts=real_verdicts(),
    claim_verdicts=[{"verdict": verdict, "family": ""} for verdict in ("holds", "fails", "mostly holds")],
    totals=[],
    audit=[ROW | {"audited_delta": "0.00539", "joint_delta": "0.00499"}],
    ratios=pd.DataFrame(),
    plan=[],
)


def texts(*topics, monkeypatch):
    monkeypatch.setattr(quotes, "SOURCES", dict.fromkeys(topics, "somewhere"))
    return quotes.quotes(RESULTS)["quoted"].tolist()


def test_texts_hold_the_numbers_and_a_lower_bound_is_rounded_down(monkeypatch):
    found = texts(quotes.headline, quotes.audited, monkeypatch=monkeypatch)
    assert {"2 of 3 hold or mostly hold on both readings", "1 fail", "delta is at least 4.9e-03"} <= set(
        found
    )


def test_the_shuffled_histogram_as_it_is_wins_only_below_both_projected_estimates():
    setting = {"n": 1000, "delta_rule": "1e-06", "metric": "tv", "bound": "upper"}
    kinds = [("shuffle", "none"), ("shuffle", "projection"), ("gaussian", "projection")]
    means = pd.DataFrame(
        setting
        | {"dataset": dataset, "eps0": eps0, "mechanism": mechanism, "estimator": estimator, "mean": mean}
        for dataset, eps0, tv in (
            ("paris", 1.0, (0.4875, 0.9, 0.8)),
            ("paris", 2.0, (0.49, 0.6, 0.4)),  # the Gaussian's is the least
            ("synthetic", 2.0, (0.3, 0.1, 0.1)),
            ("paris", 4.0, (0.1, 0.2, 0.3)),  # another eps0
        )
        for (mechanism, estimator), mean in zip(kinds, tv, strict=True)
    )
    settings = means[means["estimator"] == "none"].assign(uniform=0.5)
    assert [text for _, text in quotes._without_inversion(means, settings)] == [
        "in 1 of the 3 settings with eps0 = 1 or 2",
        "all of them in the cities",
        "by at most 3 % in these 1",
    ]


def test_results_that_a_configuration_lacks_are_said_to_be_missing(monkeypatch):
    found = texts(quotes.equal_privacy, quotes.printed, monkeypatch=monkeypatch)
    assert [text.partition(":")[0] for text in found] == ["not computed"] * 2


@pytest.mark.parametrize(("value", "text"), [("2.4837E-5", "2.48e-05"), ("9.996E-400", "1.00e-399")])
def test_deltas_are_written_like_c(value, text):
    assert quotes.scientific(value) == text


def test_two_counts_are_a_view_of_the_third_cell():
    """With three cells they are the whole histogram, with more they tell less."""
    for k in (3, 4):
        setting = {"n": 5, "k": k, "eps0": 1.2}
        for eps in (0.0, 0.3, 0.9):
            whole = float(enumerate_worst_case(eps, **setting)[(0, 0, 4) + (0,) * (k - 3)])
            seen = quotes._two_counts(eps, **setting)
            assert seen == pytest.approx(whole, rel=1e-12) if k == 3 else seen < whole
