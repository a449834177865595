"""The table of the analytic Gaussian's scales."""

from scripts.paper.trials.compute_gaussian_scale import gaussian_scale
from scripts.shared.published_gaussian import published_scale
from tightshuffle.gaussian import exact_scale


def test_the_scale_table_holds_both_scales():
    for _, row in gaussian_scale(eps=(1, 5), log10_delta=(-2, -60, 30)).iloc[[0, 40]].iterrows():
        assert row["exact"] == exact_scale(row["eps"], log10_delta=row["log10_delta"])
        assert row["published"] == published_scale(row["eps"], 10 ** row["log10_delta"], 1)
    assert row["published_log10_delta"] > row["log10_delta"] + 5  # saturated
