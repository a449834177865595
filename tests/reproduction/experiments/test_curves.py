"""The tables of the accountants' curves: the accountants' values, in the order that theory asks for."""

import math

import numpy as np
import pytest

from reproduction.experiments.curves.axes import log_axis, rounded
from reproduction.experiments.curves.blanket_regions import blanket_tightness
from reproduction.experiments.curves.koskela import balle_analytic, eps0_of_blanket
from reproduction.figures import delta_bounds
from reproduction.protocol.gaussian import published_scale
from reproduction.protocol.printed_formulas import theorem_1_as_printed
from tests.reproduction.experiments.tables import (
    blanket_settings,
    blanket_tables,
    bound_table,
    frontier_table,
    girgis_settings,
    girgis_tables,
    koskela_table,
    scale_table,
)
from tightshuffle import methods
from tightshuffle.arguments import OutsideRange
from tightshuffle.bounds import histogram
from tightshuffle.collection import Collection, Dummies, Group
from tightshuffle.gaussian import exact_scale
from tightshuffle.literature import blanket, count, renyi
from tightshuffle.literature.koskela import koskela_strong


def test_the_frontier_holds_the_numbers_of_collections():
    table = frontier_table()
    assert [len(rows) > 5 for _, rows in table.groupby(["n", "k", "eps"])] == [True] * 3
    for row in table.iloc[::4].to_dict("records"):
        made = Collection(
            row["k"], (Group("users", row["n"], row["eps0"]),), dummies=Dummies(number=row["dummies"])
        )
        assert made.delta(row["eps"]) <= row["delta"]
        assert row["messages"] == 1 + row["dummies"] / row["n"]
        assert row["tv"] == made.expected_error()
        assert row["ratio"] == pytest.approx(row["tv"] / made.gaussian_error(row["eps"], -6.0), rel=1e-9)


def test_blanket_tables_hold_the_accountants_values():
    regions, tightness = blanket_tables()
    assert set(regions["count"]) == {10}  # a quarter of the 39 remaining users
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


@pytest.mark.parametrize(
    ("key", "settings"),
    [
        ("growth.eps", blanket_settings(growth=(0.1, 0.7))),
        ("curve.eps.start", blanket_settings(eps0=0.01)),
    ],
)
def test_blanket_settings_name_what_is_wrong(key, settings):
    with pytest.raises(ValueError, match=f"^blanket_regions.{key} must be below curve.eps0"):
        blanket_tightness(settings)


def test_bounds_are_the_accountants_values_and_in_order():
    table = bound_table()
    assert table["setting"].value_counts().to_dict() == {1: 4, 2: 4, 3: 4}
    for _, row in table.iloc[[1, 6]].iterrows():
        setting = {name: row[name] for name in ("n", "k", "eps0")}
        counted = {"count": row["count"], **setting}
        assert row["published"] == theorem_1_as_printed(row["eps"], **counted)
        assert row["exact"] == count.delta(row["eps"], direction="both", **counted)
        assert row["upper"] == histogram.upper(row["eps"], **setting)
        assert row["koskela_strong"] == koskela_strong(row["eps"], **setting)
    assert (table["lower"] <= table["upper"]).all()
    assert (table["exact"] <= table["upper"]).all()
    # For k = 2 the stronger clones are the upper bound itself, without the 1e-3 that its blocks may cost.
    slack = np.log10(1.001)
    for name in delta_bounds.BOUNDS:
        assert (table[name] >= table["upper"] - slack).all(), name
    assert (table["published"] < table["lower"] - 1)[table["setting"] == 1].all()


@pytest.mark.parametrize("eps", [{"start": 0.1, "stop": 0.5}, {"start": 0.2, "stop": 0.1}])
def test_a_setting_of_the_bounds_names_what_is_wrong(eps):
    setting = {"n": 60, "k": 5, "eps0": 0.5, "count": 40, "eps": eps}
    with pytest.raises(ValueError, match=r"^delta_bounds\.settings, number 1: eps"):
        bound_table([setting])


def test_the_scale_table_holds_both_scales():
    for _, row in scale_table().iloc[[0, 40]].iterrows():
        assert row["exact"] == exact_scale(row["eps"], log10_delta=row["log10_delta"])
        assert row["published"] == published_scale(row["eps"], 10 ** row["log10_delta"], 1)
    assert row["published_log10_delta"] > row["log10_delta"] + 5  # saturated


def test_renyi_tables_hold_the_accountants_values():
    divergences, composed = girgis_tables()
    assert (len(divergences), len(composed)) == (2 * 6, 2 * 9)
    last = divergences.iloc[-1]
    assert (last["eps0"], last["order"]) == (3, 60)
    assert last["girgis"] == renyi.rdp_upper(60, n=300, eps0=3)
    assert np.all(divergences["two_counts"] <= divergences[["girgis", "clones"]].min(axis=1))
    row = composed.iloc[9]
    setting = {"n": 300, "k": 5, "eps0": 1, "compositions": 20}
    assert row["girgis"] == renyi.girgis(row["eps"], **setting)
    clones = methods.delta("clones", row["eps"], **setting)
    assert row["clones_pld"] == pytest.approx(clones, abs=1e-6)


def test_composed_curves_are_in_their_order_and_the_distribution_goes_as_deep_as_the_figure():
    _, composed = girgis_tables()
    known = composed[composed["clones_pld"].notna()]
    assert np.all(known["clones_pld"] <= known["clones_rdp"] + 1e-9)
    assert np.all(known["clones_rdp"] <= known["girgis"] + 1e-9)
    unknown = composed[composed["clones_pld"].isna()]
    assert len(unknown) > 0
    assert np.all(unknown["clones_rdp"] < girgis_settings()["composed"]["deepest"])
    local = composed["eps"] >= composed["compositions"] * composed["eps0"]
    assert local.any()
    assert np.all(np.isneginf(composed.loc[local, ["girgis", "clones_rdp"]]))


def test_koskelas_curves_are_in_their_order():
    table = koskela_table()
    composed = table[table["curve"].isin(["strong", "weak"])]
    wide = composed.pivot(index="eps", columns=["curve", "compositions"], values="upper").dropna()
    assert (wide["strong"] > wide["weak"]).all(axis=None)
    assert (wide["weak", 3] > wide["weak", 1]).all()
    theorem = table.query("curve == 'balle_analytic'")  # only where it applies
    assert theorem["eps"].max() <= 1
    assert np.isfinite(theorem["upper"]).all()


def test_balles_analytic_bound_is_its_condition_on_gamma():
    setting = {"n": 1000, "k": 4, "eps0": eps0_of_blanket(0.25, 4)}
    assert 4 / (math.exp(setting["eps0"]) + 3) == pytest.approx(0.25, rel=1e-14)
    delta = 10 ** balle_analytic(0.8, **setting)
    assert 14 * 4 * math.log(2 / delta) / (999 * 0.8**2) == pytest.approx(0.25, rel=1e-12)
    for outside, words in ((1.01, "eps <= 1"), (0.43, "gamma >= 27 k")):
        with pytest.warns(OutsideRange, match=words):
            assert np.isnan(balle_analytic(outside, **setting))
    assert np.all(balle_analytic([0.5, 1.0], **setting) > koskela_strong([0.5, 1.0], **setting))


def test_axes_are_even_in_logarithms_with_the_ends_as_asked():
    points = rounded(log_axis({"start": 0.1, "stop": 1000, "steps": 5}))
    np.testing.assert_allclose(points, [0.1, 1, 10, 100, 1000], rtol=1e-9)
    assert points[0] == 0.1
    assert points[-1] == 1000
