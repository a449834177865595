"""The table of the analytic Gaussian's scales."""

from scripts.paper.trials.compute_gaussian_scale import gaussian_scale
from scripts.shared.published_gaussian import published_scale
from tightshuffle.gaussian import exact_scale


def test_the_scale_table_has_both_scales():
    rows = gaussian_scale(eps=(1, 5), log10_delta=(-2, -60, 30)).iloc[[0, 40]].to_dict("records")
    for row in rows:
        assert row["exact"] == exact_scale(row["eps"], log10_delta=row["log10_delta"])
        assert row["published"] == published_scale(row["eps"], 10 ** row["log10_delta"], 1)
    # diffprivlib's search has stopped long before the delta of the last row.
    assert rows[-1]["published_log10_delta"] > rows[-1]["log10_delta"] + 5
