"""The tables of the companion papers: the accountants' values, in the order that theory asks for."""

import math

import numpy as np
import pytest

import tightshuffle
from scripts.beyond.companions.compute_blanket import blanket_tightness
from scripts.beyond.companions.compute_girgis import girgis_composed, girgis_rdp
from scripts.beyond.companions.compute_koskela import balle_analytic, eps0_of_blanket, koskela_fig1a
from tests.library.at_points import at_points
from tightshuffle import lower, upper
from tightshuffle.arguments import OutsideRange
from tightshuffle.literature import biswas_blanket, count, renyi

equation_3 = at_points(biswas_blanket.log10_equation_3)


def test_blanket_tables_have_the_accountants_values():
    """The table of the blanket paper's eq. (3): eight of its 24 rows against the functions behind them.

    A row is a point (eps, n). There are three series of points: "eps" (15 eps of ``axis``), "n" (three
    ``sizes`` at two eps), and "S_2" (the sizes, each at eps = log_kappa_2 / 2). The column log_kappa_2 is
    ln of the ratio of the mean counts of x0, with a target user who holds x0 or x1. Four columns are log10 of
    delta: equation_3, our lower and upper bound, and count_reverse, which is exact for the count of x0 alone.
    ``count`` is how many of the n - 1 other users hold x0, a ``share`` of 0.25.
    """
    tightness = blanket_tightness(
        n=40,
        k=4,
        share=0.25,
        eps0=0.7,
        axis=(0.01, 3.0, 15),
        sizes=(5, 20, 80),
        eps_of_sizes=(0.1, 0.3),
    )
    assert tightness["series"].value_counts().to_dict() == {"eps": 15, "n": 3 * 2, "S_2": 3}
    for _, row in tightness.sample(8, random_state=5).iterrows():
        setting = {name: row[name] for name in ("n", "k", "eps0")}
        assert row["count"] == round(0.25 * (row["n"] - 1))
        assert row["equation_3"] == equation_3(row["eps"], **setting)
        # The last bits of a bound may depend on which points are computed together.
        assert row["upper"] == pytest.approx(upper(row["eps"], log10=True, **setting), rel=1e-13)
        assert row["lower"] == pytest.approx(lower(row["eps"], log10=True, **setting), rel=1e-13)
        expected = count.delta(row["eps"], count=row["count"], direction="reverse", **setting)
        assert row["count_reverse"] == expected

    halves = tightness[tightness["series"] == "S_2"]
    np.testing.assert_allclose(halves["eps"], halves["log_kappa_2"] / 2, rtol=1e-14)


def test_the_table_of_divergences_has_the_accountants_values_in_their_order():
    divergences = girgis_rdp(n=300, k=5, eps0=(0.5, 3), orders=(1.5, 60, 6))
    last = divergences.iloc[-1]
    assert (last["eps0"], last["order"]) == (3, 60)
    assert last["girgis"] == renyi.rdp_upper(60, n=300, eps0=3)
    assert np.all(divergences["two_counts"] <= divergences[["girgis", "clones"]].min(axis=1))


def test_the_table_of_composed_deltas_has_the_accountants_values_in_their_order():
    """log10 of three upper bounds on delta after 1 and after 20 rounds, at nine eps each, in falling order.

    girgis is from Girgis et al.'s bound on the Renyi divergence. clones_rdp is from the exact Renyi
    divergence of the clones' pair, the two distributions to which Feldman et al. reduce the shuffle model.
    clones_pld, the smallest, is from this pair's privacy loss distribution, and nan where delta is too small
    for the figure, which ends at ``deepest``. ``axis`` and ``orders`` (of Renyi) are two ends and how many.
    """
    setting = {"n": 300, "k": 5, "eps0": 1}
    composed = girgis_composed(
        **setting, rounds=(1, 20), axis=(0.05, 10, 9), orders=(1.5, 60, 6), deepest=-8
    )
    # The first row of 20 rounds, after nine eps of one round: as the library's methods have it.
    row = composed.iloc[9]
    point = {"eps": row["eps"], "rounds": 20, **setting}
    assert row["girgis"] == tightshuffle.delta(method="girgis", log10=True, **point)
    clones = tightshuffle.delta(method="clones", log10=True, **point)
    assert row["clones_pld"] == pytest.approx(clones, abs=1e-6)

    # The order of the three. 1e-9 is for rounding: the nearest two bounds of a row differ by 0.19.
    known = composed[composed["clones_pld"].notna()]
    assert np.all(known["clones_pld"] <= known["clones_rdp"] + 1e-9)
    assert np.all(known["clones_rdp"] <= known["girgis"] + 1e-9)
    # clones_pld is nan only below the figure.
    unknown = composed[composed["clones_pld"].isna()]
    assert np.all(unknown["clones_rdp"] < -8)

    # From eps = rounds * eps0 on the local guarantee alone has delta 0.
    is_local = composed["eps"] >= composed["rounds"] * composed["eps0"]
    assert is_local.any()
    assert np.all(np.isneginf(composed.loc[is_local, ["girgis", "clones_rdp"]]))


def test_koskelas_curves_are_in_their_order():
    """The bound on delta is larger for the strong adversary than for the weak, and after more rounds.

    The table has a row for each curve, number of rounds (1, 3) and eps (22 from 0.05 to 1.5), with log10 of
    the bound in the column ``upper``. The curves are "strong" and "weak", the adversaries of Koskela et al.,
    and two theorems of Balle et al. for one round.
    """
    table = koskela_fig1a(rounds=(1, 3), axis=(0.05, 1.5, 22))
    # The adversaries' curves side by side: a row for each eps, a column for each curve and number of rounds.
    composed = table[table["curve"].isin(["strong", "weak"])]
    wide = composed.pivot(index="eps", columns=["curve", "rounds"], values="upper").dropna()
    assert (wide["strong"] > wide["weak"]).all(axis=None)
    assert (wide["weak", 3] > wide["weak", 1]).all()

    # One of the two theorems holds up to eps = 1 only. It has rows only where it holds.
    theorem = table.query("curve == 'balle_analytic'")
    assert theorem["eps"].max() <= 1
    assert np.isfinite(theorem["upper"]).all()


def test_balles_analytic_bound_is_its_condition_on_gamma_where_it_applies():
    """`balle_analytic` is log10 of the least delta that a theorem of Balle et al. allows, or nan if none.

    The theorem's conditions are eps <= 1, gamma >= 14 k ln(2 / delta) / ((n - 1) eps^2), and
    gamma >= 27 k / ((n - 1) eps). gamma = k / (e^eps0 + k - 1) is the probability of a uniform report. Here
    n = 1000, k = 4, and eps0 is such that gamma = 0.25. Only the second condition has delta. So at the least
    delta it is an equality.
    """
    setting = {"n": 1000, "k": 4, "eps0": eps0_of_blanket(0.25, 4)}
    assert 4 / (math.exp(setting["eps0"]) + 3) == pytest.approx(0.25, rel=1e-14)
    delta = 10 ** balle_analytic(0.8, **setting)
    assert 14 * 4 * math.log(2 / delta) / (999 * 0.8**2) == pytest.approx(0.25, rel=1e-12)

    # 27 * 4 / (999 * 0.25) = 0.432 is the least eps that the third condition allows.
    for eps, violated in ((1.01, "eps <= 1"), (0.43, "gamma >= 27 k")):
        with pytest.warns(OutsideRange, match=violated):
            assert np.isnan(balle_analytic(eps, **setting))
    # The bound for the strong adversary of Koskela et al. is smaller at both of these eps.
    strong = tightshuffle.delta([0.5, 1.0], method="koskela-strong", log10=True, **setting)
    assert np.all(balle_analytic([0.5, 1.0], **setting) > strong)
