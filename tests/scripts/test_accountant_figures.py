"""The figures on the blanket paper and on the Gaussian's scale: their data and what their captions say."""

import numpy as np
import pytest
from figure_examples import (
    blanket_plan,
    blanket_tables,
    compute_blanket_regions,
    draw_blanket_regions,
    draw_gaussian_scale,
    scale_table,
)

from tightshuffle import plotting
from tightshuffle.gaussian import exact_scale, published_scale
from tightshuffle.privacy import blanket, count, histogram


def test_blanket_tables_hold_the_accountants_values():
    regions, tightness = blanket_tables()
    assert list(regions.columns) == draw_blanket_regions.REGION_COLUMNS
    assert list(tightness.columns) == draw_blanket_regions.TIGHTNESS_COLUMNS
    assert set(regions["count"]) == {10}  # a quarter of 39 others
    assert tightness["series"].value_counts().to_dict() == {"eps": 15, "n": 6, "S_2": 3}
    for _, row in tightness.sample(8, random_state=5).iterrows():
        setting = {name: row[name] for name in ("n", "k", "eps0")}
        assert row["count"] == round(0.25 * (row["n"] - 1))
        assert row["equation_3"] == blanket.equation_3(row["eps"], **setting)
        assert row["upper"] == histogram.upper(row["eps"], **setting)
        assert row["lower"] == histogram.lower(row["eps"], **setting)
        expected = count.delta(row["eps"], count=row["count"], direction="reverse", **setting)
        assert row["count_reverse"] == expected
    halves = tightness[tightness["series"] == "S_2"]
    assert np.allclose(halves["eps"], halves["log_kappa_2"] / 2, rtol=1e-14)


def test_blanket_caption_says_every_parameter_and_the_finding():
    text = draw_blanket_regions.caption(*blanket_tables())
    for words in (
        "n = 40",
        "k = 4",
        "n_x₀ = 10",
        "S₁ = [κ₄, ln κ₂] is empty",
        "exists at 0 of the 12 ε₀",
        "ε₀ = 0.7",
    ):
        assert words in text
    regions, tightness = blanket_tables()
    grown = tightness[(tightness["eps"] == 0.3) & (tightness["n"] == 80)].iloc[0]
    orders = min(0, grown["equation_3"]) - grown["upper"]
    assert f"up to {orders:,.0f} at n = 80, ε = 0.3" in text
    assert "exists at 1 of the 12" in draw_blanket_regions.caption(
        regions.assign(roots_H=[2] + [0] * 11), tightness
    )


def test_blanket_names_what_is_wrong():
    for key, plan in (
        ("growth.eps", blanket_plan(growth=(0.1, 0.7))),
        ("curve.eps.start", blanket_plan(eps0=0.01)),
    ):
        with pytest.raises(ValueError, match=f"^blanket_regions.{key} must be below curve.eps0"):
            compute_blanket_regions.tightness(plan)


def test_scale_table_holds_both_scales():
    table = scale_table()
    assert list(table.columns) == draw_gaussian_scale.COLUMNS
    row = table.iloc[40]
    assert row["exact"] == exact_scale(row["eps"], log10_delta=row["log10_delta"])
    assert row["published"] == published_scale(row["eps"], 10 ** row["log10_delta"], 1)
    assert row["published_log10_delta"] > row["log10_delta"] + 5  # saturated


def test_scale_caption_says_where_the_published_scale_stops():
    text = draw_gaussian_scale.caption(scale_table())
    table = scale_table().groupby("eps").last()
    for eps, row in table.iterrows():
        assert f"for ε = {eps:g} the scale stays at {row['published']:.4g}" in text
        assert f"{row['exact']:.4g} is needed for log₁₀ δ = -60 (short by more than 1% from -" in text
    assert "short" not in draw_gaussian_scale.caption(scale_table(stop=-10))


@pytest.mark.parametrize("drawing", ["blanket", "scale"])
def test_drawing_twice_gives_the_same_bytes(drawing):
    regions, tightness = blanket_tables()
    scales = scale_table()
    first, second = (
        draw_blanket_regions.draw(regions, tightness)
        if drawing == "blanket"
        else draw_gaussian_scale.draw(scales)
        for _ in range(2)
    )
    assert plotting.png(first) == plotting.png(second)
    assert plotting.pdf(first) == plotting.pdf(second)
