"""The tables of the companion papers: the accountants' values, in the order that theory asks for."""

import math

import numpy as np
import pytest

import tightshuffle
from scripts.beyond.companions.compute_blanket import blanket_tightness
from scripts.beyond.companions.compute_girgis import girgis_composed, girgis_rdp
from scripts.beyond.companions.compute_koskela import balle_analytic, eps0_of_blanket, koskela_fig1a
from tightshuffle import delta
from tightshuffle.arguments import OutsideRange
from tightshuffle.literature import biswas_blanket, count, renyi
from tightshuffle.points import make_points


@pytest.fixture(scope="module")
def tightness():
    """The table of the blanket paper's eq. (3): a row for each point (eps, n), with log10 of deltas."""
    return blanket_tightness(
        n=40,
        k=4,
        share=0.25,
        eps0=0.7,
        axis=(0.01, 3.0, 15),
        sizes=(5, 20, 80),
        eps_of_sizes=(0.1, 0.3),
    )


def test_the_blanket_table_has_a_series_of_eps_and_two_of_sizes(tightness):
    """15 eps of the axis, three sizes at two eps each, and three sizes at eps = ln(kappa_2) / 2."""
    assert tightness["series"].value_counts().to_dict() == {"eps": 15, "n": 3 * 2, "S_2": 3}
    s_2 = tightness[tightness["series"] == "S_2"]
    np.testing.assert_allclose(s_2["eps"], s_2["log_kappa_2"] / 2, rtol=1e-14)


def test_rows_of_the_blanket_table_have_the_deltas_of_the_functions_of_one_point(tightness):
    """Eight rows. Of the n - 1 other users a quarter holds x0."""
    for row in tightness.sample(8, random_state=5).to_dict("records"):
        eps, holders = row["eps"], round(0.25 * (row["n"] - 1))
        setting = {name: row[name] for name in ("n", "k", "eps0")}
        ln_exact = count.ln_delta_of_count(eps, count=holders, direction="reverse", **setting)
        ln_equation_3 = biswas_blanket.ln_equation_3(make_points(eps, **setting))
        assert row["count"] == holders
        assert row["count_reverse"] == ln_exact / np.log(10)
        assert row["equation_3"] == ln_equation_3 / np.log(10)
        # The last bits of a bound may depend on which points are computed together.
        assert row["upper"] == pytest.approx(delta(eps, log10=True, **setting), rel=1e-13)
        assert row["lower"] == pytest.approx(
            delta(eps, method="lower", log10=True, **setting), rel=1e-13
        )


def test_the_table_of_divergences_has_the_accountants_values_in_their_order():
    divergences = girgis_rdp(n=300, k=5, eps0=(0.5, 3), orders=(1.5, 60, 6))
    last = divergences.iloc[-1]
    assert (last["eps0"], last["order"]) == (3, 60)
    assert last["girgis"] == renyi.rdp_upper(60, n=300, eps0=3)
    assert np.all(divergences["two_counts"] <= divergences[["girgis", "clones"]].min(axis=1))


SETTING = {"n": 300, "k": 5, "eps0": 1}


@pytest.fixture(scope="module")
def composed():
    """Nine eps after 1 and after 20 rounds, a row each, with log10 of three upper bounds on delta.

    They are by Girgis et al. (girgis), and by the Renyi divergence (clones_rdp) and the privacy loss
    distribution (clones_pld) of the pair of distributions of Feldman et al.
    """
    axis, orders = (0.05, 10, 9), (1.5, 60, 6)  # two ends and how many
    return girgis_composed(**SETTING, rounds=(1, 20), axis=axis, orders=orders, deepest=-8)


def test_composed_deltas_are_those_of_the_librarys_methods(composed):
    row = composed[composed["rounds"] == 20].iloc[0]
    point = {"eps": row["eps"], "rounds": 20, "log10": True, **SETTING}
    assert row["girgis"] == tightshuffle.delta(method="girgis", **point)
    clones = tightshuffle.delta(method="clones", **point)
    assert row["clones_pld"] == pytest.approx(clones, abs=1e-6)


def test_composed_deltas_fall_from_girgis_to_the_privacy_loss_distribution(composed):
    # 1e-9 is for rounding: the nearest two bounds of a row differ by 0.19.
    known = composed[composed["clones_pld"].notna()]
    assert np.all(known["clones_pld"] <= known["clones_rdp"] + 1e-9)
    assert np.all(known["clones_rdp"] <= known["girgis"] + 1e-9)


def test_the_privacy_loss_distribution_is_left_out_only_below_the_figure(composed):
    unknown = composed[composed["clones_pld"].isna()]
    assert np.all(unknown["clones_rdp"] < -8)  # ``deepest``


def test_composed_deltas_are_0_where_the_local_guarantee_is_enough(composed):
    is_local = composed["eps"] >= composed["rounds"] * composed["eps0"]
    assert is_local.any()
    assert np.all(np.isneginf(composed.loc[is_local, ["girgis", "clones_rdp"]]))


@pytest.fixture(scope="module")
def koskela():
    """log10 of upper bounds on delta (upper): a row for each curve, number of rounds (1, 3) and eps."""
    return koskela_fig1a(rounds=(1, 3), axis=(0.05, 1.5, 22))


def test_koskelas_bounds_are_larger_for_the_strong_adversary_and_after_more_rounds(koskela):
    """ "strong" and "weak" are the curves of the two adversaries of Koskela et al."""
    of_adversaries = koskela[koskela["curve"].isin(["strong", "weak"])]
    bounds = of_adversaries.pivot(index="eps", columns=["curve", "rounds"], values="upper").dropna()
    assert (bounds["strong"] > bounds["weak"]).all(axis=None)
    assert (bounds["weak", 3] > bounds["weak", 1]).all()


def test_balles_theorem_has_rows_only_where_it_holds(koskela):
    theorem = koskela[koskela["curve"] == "balle_analytic"]
    assert theorem["eps"].max() <= 1
    assert np.isfinite(theorem["upper"]).all()


OF_GAMMA = {"n": 1000, "k": 4, "eps0": math.log(13)}  # gamma = k / (e^eps0 + k - 1) = 0.25


def test_eps0_of_the_blanket_has_its_probability_of_a_uniform_report():
    assert eps0_of_blanket(0.25, k=4) == pytest.approx(OF_GAMMA["eps0"], rel=1e-14)


def test_balles_analytic_bound_is_the_least_delta_that_its_condition_on_gamma_allows():
    """The condition is gamma >= 14 k ln(2 / delta) / ((n - 1) eps^2)."""
    delta = 10 ** balle_analytic(0.8, **OF_GAMMA)
    assert 14 * 4 * math.log(2 / delta) / (999 * 0.8**2) == pytest.approx(0.25, rel=1e-12)


# 27 * 4 / (999 * 0.25) = 0.432 is the least eps that gamma >= 27 k / ((n - 1) eps) allows.
@pytest.mark.parametrize(("eps", "violated"), [(1.01, "eps <= 1"), (0.43, "gamma >= 27 k")])
def test_balles_analytic_bound_is_unknown_outside_of_its_conditions(eps, violated):
    with pytest.warns(OutsideRange, match=violated):
        assert np.isnan(balle_analytic(eps, **OF_GAMMA))


def test_balles_analytic_bound_is_above_that_for_koskelas_strong_adversary():
    strong = tightshuffle.delta([0.5, 1.0], method="koskela-strong", log10=True, **OF_GAMMA)
    assert np.all(balle_analytic([0.5, 1.0], **OF_GAMMA) > strong)
