"""The tables of the curves: the bounds' values at their rows, in the order that theory asks for."""

import math

import numpy as np
import pytest

from reproduction.experiments.curves.axes import log_axis, rounded
from reproduction.experiments.curves.blanket_regions import blanket_tightness
from reproduction.experiments.curves.delta_bounds import delta_bounds
from reproduction.experiments.curves.koskela import balle_analytic, eps0_of_blanket
from reproduction.figures.delta_bounds import BOUNDS
from reproduction.jobs.configuration import merge
from reproduction.protocol.gaussian import published_scale
from reproduction.protocol.printed_formulas import theorem_1_as_printed
from tests.reproduction.figures.results import CONFIG, curve
from tightshuffle import methods
from tightshuffle.arguments import OutsideRange
from tightshuffle.bounds import histogram
from tightshuffle.gaussian import exact_scale
from tightshuffle.literature import blanket, count, renyi
from tightshuffle.literature.koskela import koskela_strong


def setting_of(row):
    return {name: row[name] for name in ("n", "k", "eps0")}


def test_blanket_tables_hold_the_bounds_values():
    tightness = curve("blanket_tightness")
    for _, row in tightness.sample(8, random_state=5).iterrows():
        eps, setting = row["eps"], setting_of(row)
        assert row["count"] == round(0.1 * (row["n"] - 1))
        assert row["equation_3"] == blanket.equation_3(eps, **setting)
        assert row["upper"] == histogram.upper(eps, **setting)
        assert row["lower"] == histogram.lower(eps, **setting)
        assert row["count_reverse"] == count.delta(eps, count=row["count"], direction="reverse", **setting)
    halves = tightness[tightness["series"] == "S_2"]
    assert np.allclose(halves["eps"], halves["log_kappa_2"] / 2, rtol=1e-14)


def test_settings_name_what_is_wrong():
    for key, change in (
        ("growth.eps", {"growth": {"eps": [0.1, 0.7]}}),
        ("curve.eps.start", {"curve": {"eps0": 1e-4}}),
    ):
        with pytest.raises(ValueError, match=f"^blanket_regions.{key} must be below curve.eps0"):
            blanket_tightness(merge(CONFIG["blanket_regions"], change))
    for eps in ({"start": 0.1, "stop": 0.5}, {"start": 0.2, "stop": 0.1}):
        setting = {"n": 60, "k": 5, "eps0": 0.5, "count": 40, "eps": eps}
        with pytest.raises(ValueError, match=r"^delta_bounds\.settings, number 1: eps"):
            delta_bounds({"steps": 4, "settings": [setting]})


def test_bounds_are_the_bounds_values_and_in_order():
    table = curve("delta_bounds")
    for _, row in table.iloc[[1, 6]].iterrows():
        eps, setting = row["eps"], setting_of(row)
        assert row["published"] == theorem_1_as_printed(eps, count=row["count"], **setting)
        assert row["exact"] == count.delta(eps, direction="both", count=row["count"], **setting)
        assert row["upper"] == histogram.upper(eps, **setting)
        assert row["koskela_strong"] == koskela_strong(eps, **setting)
    assert (table["lower"] <= table["upper"]).all()
    assert (table["exact"] <= table["upper"]).all()
    assert (table[[*BOUNDS]].min(axis=1) >= table["upper"]).all()
    assert (table["published"] < table["lower"] - 1).all()


def test_the_scale_table_holds_both_scales():
    for _, row in curve("gaussian_scale").iloc[[0, -1]].iterrows():
        assert row["exact"] == exact_scale(row["eps"], log10_delta=row["log10_delta"])
        assert row["published"] == published_scale(row["eps"], 10 ** row["log10_delta"], 1)
    assert row["published_log10_delta"] > row["log10_delta"] + 5  # saturated


def test_renyi_tables_hold_the_bounds_values_and_are_in_order():
    divergences, composed = curve("girgis_rdp"), curve("girgis_composed")
    last = divergences.iloc[-1]
    assert last["girgis"] == renyi.rdp_upper(last["order"], n=last["n"], eps0=last["eps0"])
    assert np.all(divergences["two_counts"] <= divergences[["girgis", "clones"]].min(axis=1))
    known = composed[composed["clones_pld"].notna()]
    row = known.iloc[-1]
    setting = setting_of(row) | {"compositions": row["compositions"]}
    assert row["girgis"] == renyi.girgis(row["eps"], **setting)
    assert row["clones_pld"] == pytest.approx(methods.delta("clones", row["eps"], **setting), abs=1e-6)
    assert np.all(known["clones_pld"] <= known["clones_rdp"] + 1e-9)
    assert np.all(known["clones_rdp"] <= known["girgis"] + 1e-9)
    unknown = composed[composed["clones_pld"].isna()]  # deeper than the figure
    assert np.all(unknown["clones_rdp"] < CONFIG["girgis_rdp"]["composed"]["deepest"])
    local = composed["eps"] >= composed["compositions"] * composed["eps0"]
    assert local.any()
    assert np.all(np.isneginf(composed.loc[local, ["girgis", "clones_rdp"]]))


def test_koskelas_curves_are_in_their_order():
    table = curve("koskela_fig1a")
    composed = table[table["curve"].isin(["strong", "weak"])]
    wide = composed.pivot(index="eps", columns=["curve", "compositions"], values="upper")
    assert (wide["strong"] > wide["weak"]).all(axis=None)
    assert (wide["weak", 4] > wide["weak", 1]).all()
    assert table.loc[table["curve"] == "balle_analytic", "eps"].max() <= 1  # only where it applies


def test_the_first_picture_has_the_eps0_next_to_2_and_all_counts_above_one():
    table = curve("too_small")
    assert abs(table["eps0"].iloc[0] - 2) <= 0.5 * (3.0 - 0.1) / 7  # half of a step of the axis
    for _, row in table.iterrows():
        assert row["published"] == theorem_1_as_printed(row["eps"], count=row["count"], **setting_of(row))
    assert (table["published"] < table["exact"]).all()
    assert (table["exact"] < table["lower"]).all()
    assert (table["lower"] <= table["upper"]).all()


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
