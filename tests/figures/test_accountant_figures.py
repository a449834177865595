"""The figures on the blanket paper and on the Gaussian's scale: their data and what their captions say."""

import numpy as np
import pytest

from tests.figures.examples import (
    blanket_plan,
    blanket_tables,
    bound_table,
    draw_blanket_regions,
    draw_delta_bounds,
    draw_gaussian_scale,
    scale_table,
)
from tightshuffle.experiments.curves.blanket_regions import blanket_tightness
from tightshuffle.figures import style as plotting
from tightshuffle.mechanisms.gaussian import exact_scale, published_scale
from tightshuffle.privacy import blanket, composition, count, histogram


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
            blanket_tightness(plan)


def test_bound_table_holds_the_accountants_values():
    table = bound_table()
    assert set(table.columns) == set(draw_delta_bounds.COLUMNS)
    assert table["setting"].value_counts().to_dict() == {1: 4, 2: 4, 3: 4}
    for _, row in table.iloc[[1, 6]].iterrows():
        given = {name: row[name] for name in ("n", "k", "eps0")}
        counted = {"count": row["count"], **given}
        assert row["published"] == count.delta(row["eps"], form="published", **counted)
        assert row["exact"] == count.delta(row["eps"], direction="both", **counted)
        assert row["upper"] == histogram.upper(row["eps"], **given)
        strong = composition.koskela_strong(row["eps"], **given)
        assert row["koskela_strong"] == pytest.approx(strong, rel=1e-9)


def test_bounds_stand_in_the_order_that_the_figure_shows():
    table = bound_table()
    assert (table["lower"] <= table["upper"]).all()
    assert (table["exact"] <= table["upper"]).all()
    # For k = 2 the stronger clones are the upper bound itself, without the 1e-3 that its blocks may cost.
    slack = np.log10(1.001)
    for name in draw_delta_bounds.BOUNDS:
        assert (table[name] >= table["upper"] - slack).all(), name
    assert (table["published"] < table["lower"] - 1)[table["setting"] == 1].all()


def test_bound_caption_says_every_parameter_and_the_gaps():
    table = bound_table()
    text = draw_delta_bounds.caption(table)
    for words in ("(a) n = 60, k = 5, ε₀ = 0.5, n_x₀ = 40", "(b) n = 5,000, k = 30, ε₀ = 3, n_x₀ = 10"):
        assert words in text
    gap = (table["lower"] - table["published"])[table["setting"] == 2]
    assert f"(b) {gap.min():,.0f} to {gap.max():,.0f}" in text


def test_bounds_name_what_is_wrong():
    setting = {"n": 60, "k": 5, "eps0": 0.5, "count": 40}
    for ends in ({"start": 0.1, "stop": 0.5}, {"start": 0.2, "stop": 0.1}):
        with pytest.raises(ValueError, match=r"^delta_bounds\.settings, number 1: eps"):
            bound_table([{**setting, "eps": ends}])


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
