"""The table of the analytic Gaussian's scales."""

import pytest

from scripts.paper.trials.compute_gaussian_scale import gaussian_scale
from scripts.shared.published_gaussian import published_scale
from tightshuffle.mechanisms.gaussian import exact_scale


def test_the_scale_table_has_both_scales():
    rows = gaussian_scale(eps=(1, 5), log10_delta=(-2, -60, 30)).iloc[[0, 40]].to_dict("records")
    for row in rows:
        assert row["exact"] == exact_scale(row["eps"], log10_delta=row["log10_delta"])
        assert row["published"] == published_scale(row["eps"], 10 ** row["log10_delta"], 1)
    # diffprivlib's search has stopped long before the delta of the last row.
    assert rows[-1]["published_log10_delta"] > rows[-1]["log10_delta"] + 5


def test_the_table_has_the_scales_that_texts_state():
    """At eps = 4: of diffprivlib for two deltas, and the one that the smaller delta needs."""
    scales = gaussian_scale(eps=[4]).set_index("log10_delta")
    assert scales["published"][-10.0] == pytest.approx(1.5753, abs=5e-5)
    assert scales["published"][-30.0] == pytest.approx(2.1517, abs=5e-5)
    assert scales["exact"][-30.0] == pytest.approx(2.8334, abs=5e-5)
