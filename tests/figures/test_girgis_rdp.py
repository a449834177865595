"""The tables and the figure of Renyi differential privacy."""

import numpy as np
import pytest

from tests.figures.examples import draw_girgis_rdp, girgis_plan, girgis_tables
from tightshuffle.experiments.curves.axes import log_axis, rounded
from tightshuffle.privacy.composition import composed_clones
from tightshuffle.privacy.renyi import girgis, rdp_upper


def test_tables_have_a_row_per_point_and_the_packages_values():
    divergences, composed = girgis_tables()
    assert list(divergences.columns) == draw_girgis_rdp.DIVERGENCES
    assert set(composed.columns) == set(draw_girgis_rdp.COMPOSED)
    assert len(divergences) == 2 * 6
    assert len(composed) == 2 * 9
    last = divergences.iloc[-1]
    assert (last["eps0"], last["order"]) == (3, 60)
    assert last["girgis"] == rdp_upper(60, n=300, eps0=3)
    assert np.all(divergences["two_counts"] <= divergences[["girgis", "clones"]].min(axis=1))
    row = composed.iloc[9]
    setting = {"n": 300, "k": 5, "eps0": 1, "compositions": 20}
    assert row["girgis"] == girgis(row["eps"], **setting)
    assert row["clones_pld"] == pytest.approx(composed_clones(row["eps"], **setting), abs=1e-6)


def test_curves_are_in_their_order_and_the_distribution_goes_as_deep_as_the_figure():
    _, composed = girgis_tables()
    known = composed[composed["clones_pld"].notna()]
    assert np.all(known["clones_pld"] <= known["clones_rdp"] + 1e-9)
    assert np.all(known["clones_rdp"] <= known["girgis"] + 1e-9)
    unknown = composed[composed["clones_pld"].isna()]
    assert len(unknown) > 0
    assert np.all(unknown["clones_rdp"] < girgis_plan()["composed"]["deepest"])
    local = composed["eps"] >= composed["compositions"] * composed["eps0"]
    assert local.any()
    assert np.all(np.isneginf(composed.loc[local, ["girgis", "clones_rdp"]]))


def test_axes_are_even_in_logarithms_with_the_ends_as_asked():
    points = rounded(log_axis({"start": 0.1, "stop": 1000, "steps": 5}))
    np.testing.assert_allclose(points, [0.1, 1, 10, 100, 1000], rtol=1e-9)
    assert points[0] == 0.1
    assert points[-1] == 1000


def test_caption_says_every_parameter_and_where_the_curves_reach_a_delta():
    divergences, composed = girgis_tables()
    text = draw_girgis_rdp.caption(divergences, composed)
    for words in (
        "n = 300, k = 5",
        "ε₀ = 0.5 and 3",
        "after 1 and 20 rounds for ε₀ = 1",
        "Theorem 3.1",
        "PLD",
    ):
        assert words in text
    ratio = divergences["girgis"] / divergences["clones"]
    assert f"{ratio.min():.2g} to {ratio.max():.2g} times" in text
    assert "δ ≤ 10⁻⁶ after 20 rounds" in text
    shallow = composed[composed["eps"] < 0.2]
    assert "δ ≤" not in draw_girgis_rdp.caption(divergences, shallow)
