"""Runs at equal privacy: the guarantee is the stated one, everything is paired, and intervals cover."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.parity.run_parity import gaussian_estimates, run_parity, run_parity_point, sizes
from scripts.parity.summarise_parity import (
    MEANS,
    PUBLISHED,
    RATIOS,
    bootstrap,
    summarise_parity,
    summarise_point,
)
from scripts.shared.delta_rules import delta_rules
from tightshuffle.gaussian import exact_scale, log10_delta_of_scale

COUNTS = np.array([4000, 3000, 2000, 900, 100, 0])
RULES = delta_rules([1e-4], [1.1])
POINT = {"dataset": "toy", "n": 400, "eps0": [1, 3], "rules": RULES, "bounds": ["upper", "lower"]}
POINT |= {"cells": [1, 6], "seed": 5}


@pytest.fixture(scope="module")
def trials():
    return run_parity_point(COUNTS, repetitions=60, **POINT)


def test_same_parameters_same_values_whatever_else_runs(trials):
    budget = {"dataset": "toy", "eps0": [3], "delta": [1e-4], "delta_exponents": [1.1], "cells": [1, 6]}
    [alone] = run_parity(COUNTS, {400: (["upper"], 60)}, seed=5, **budget)
    both = trials[(trials["eps0"] == 3) & (trials["bound"] == "upper")].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, both)


def test_mechanisms_are_paired(trials):
    rows = trials[(trials["metric"] == "tv") & (trials["estimator"] == "none")]
    columns = ["mechanism", "eps0", "delta_rule", "bound"]
    wide = rows.pivot(index="repetition", columns=columns, values="value").sort_index(axis=1)
    # The shuffle model does not know delta; the Gaussian's noise is one draw for both bounds.
    for eps0 in (1.0, 3.0):
        assert wide["shuffle", eps0].nunique(axis=1).eq(1).all()
        chosen = rows[(rows["eps0"] == eps0) & (rows["delta_rule"] == "0.0001")]
        eps = chosen.groupby("bound")["eps"].first()[["lower", "upper"]]
        lower, upper = exact_scale(eps, 1e-4, sensitivity=np.sqrt(2))
        quotient = wide["gaussian", eps0, "0.0001", "lower"] / wide["gaussian", eps0, "0.0001", "upper"]
        np.testing.assert_allclose(quotient, lower / upper, rtol=1e-12)
        assert lower >= upper


def test_gaussian_noise_has_the_exact_scale():
    frame = run_parity_point(COUNTS, repetitions=3000, **POINT | {"eps0": [1], "bounds": ["upper"]})
    one = "mechanism == 'gaussian' and estimator == 'none' and cell == 1 and delta_rule == '0.0001'"
    rows = frame.query(one)
    eps = rows["eps"].iloc[0]
    scale = exact_scale(eps, 1e-4, sensitivity=np.sqrt(2))
    assert log10_delta_of_scale(eps, scale=scale, sensitivity=np.sqrt(2)) == pytest.approx(-4, abs=1e-8)
    assert stats.kstest(rows["value"] * 400 / scale, "halfnorm").pvalue > 1e-4
    plain = gaussian_estimates(np.array([[1, 3]]), np.array([[0.5, -0.5]]))["none"]
    assert plain.tolist() == [[0.375, 0.625]]


# Summary --------------------------------------------------------------------------------------

HOW = {"resamples": 400, "confidence": 0.95, "seed": 3}


def test_bootstrap_covers_a_ratio():
    rng, hits, rounds = np.random.default_rng(7), 0, 400
    for round_ in range(rounds):
        values = rng.gamma(4, size=(80, 2)) * [3, 2]
        how = {"resamples": 300, "confidence": 0.9, "seed": round_}
        [(_, low, high)] = bootstrap(values, [lambda means: means[..., :1] / means[..., 1:]], **how)
        hits += low[0] <= 1.5 <= high[0]
    # Percentile intervals of 80 values cover a little less than they say: 87 to 93 % at four standard errors.
    assert 0.84 <= hits / rounds <= 0.96


def test_a_setting_is_informative_where_a_mechanism_beats_the_uniform_histogram(trials):
    n = int(trials["n"].iloc[0])
    _, ratios = summarise_point(trials, COUNTS, **HOW)
    # A cell's count among n users drawn without replacement is hypergeometric.
    spread = [
        np.abs(np.arange(n + 1) / n - 1 / len(COUNTS))
        @ stats.hypergeom(COUNTS.sum(), c, n).pmf(np.arange(n + 1))
        for c in COUNTS
    ]
    values = trials[trials["metric"] == "tv"].drop_duplicates("repetition")["uniform"]
    error = values.std(ddof=1) / np.sqrt(len(values))
    assert abs(values.mean() - sum(spread) / 2) < 4 * error
    tv = ratios[ratios["metric"] == "tv"]
    assert tv["uniform"].unique() == pytest.approx([values.mean()], rel=1e-12)
    best = trials[(trials["metric"] == "tv") & (trials["estimator"] == "projection")]
    best = best.groupby(["eps0", "delta_rule", "bound", "mechanism"])["value"].mean().unstack().min(axis=1)
    keys = pd.MultiIndex.from_frame(tv[["eps0", "delta_rule", "bound"]])
    assert (tv["informative"].to_numpy() == (best.loc[keys] < values.mean()).to_numpy()).all()


def test_predictions_are_those_of_the_runs():
    n = int(COUNTS.sum())
    point = POINT | {"n": n, "eps0": [2], "bounds": ["upper"], "rules": RULES[:1]}
    frame = run_parity_point(COUNTS, repetitions=800, **point)
    means, ratios = summarise_point(frame, COUNTS, **HOW)
    known = means.dropna(subset="predicted")
    closed = {("shuffle", "none"), ("shuffle", "inversion"), ("gaussian", "none")}
    assert set(zip(known["mechanism"], known["estimator"], strict=True)) == closed
    # Four standard errors; an interval of 95 % is two to either side.
    error = (known["high"] - known["low"]) / 3.92
    assert ((known["mean"] - known["predicted"]).abs() < 4 * error).all()
    assert ratios.loc[ratios["comparison"] != "unprojected", "predicted"].isna().all()
    limit = ratios.loc[(ratios["comparison"] == "unprojected") & (ratios["metric"] == "tv")]
    assert limit["limit"].item() == pytest.approx(limit["predicted"].item(), rel=0.02)


def test_the_published_protocols_ratio_comes_after_those_of_the_points(trials):
    values = {"shuffle+INV": [0.4, 0.6], "gaussian": [0.1, 0.1], "shuffle": [9, 9]}
    rows = [
        {"dataset": "toy", "n": 10, "k": 3, "eps0": 4.0, "eps": 4.0, "delta": 1e-30, "mechanism": name}
        | {"repetition": i, "metric": metric, "value": value, "uniform": 0.3 if metric == "tv" else 9}
        for name, pair in values.items()
        for i, value in enumerate(pair)
        for metric in ("tv", "individual_error")
    ]
    means, ratios = summarise_parity([trials], [pd.DataFrame(rows)], {"toy": COUNTS}, **HOW)
    expected = summarise_point(trials, COUNTS, **HOW)
    pd.testing.assert_frame_equal(means, expected[0])
    pd.testing.assert_frame_equal(ratios[:-1], expected[1], check_dtype=False)
    table = ratios[-1:]
    assert table["comparison"].item() == PUBLISHED
    assert table["ratio"].item() == pytest.approx(5)
    assert (table["low"].item(), table["high"].item()) == pytest.approx((4, 6))
    assert (table["uniform"].item(), table["informative"].item()) == (pytest.approx(0.3), True)


def test_summary_has_a_row_per_series_and_compares_what_belongs_together(trials):
    means, ratios = summarise_point(trials, COUNTS, **HOW)
    assert list(means.columns) == MEANS
    assert list(ratios.columns) == RATIOS
    assert len(means) == 2 * 2 * 2 * 6 * 2
    assert len(ratios) == 2 * 2 * 2 * 4 * 2
    assert ((means["low"] <= means["mean"]) & (means["mean"] <= means["high"])).all()
    setting = "eps0 == 3 and delta_rule == 'n^-1.1' and bound == 'upper' and metric == 'individual_error'"
    values = trials.query(setting).groupby(["mechanism", "estimator"])["value"].mean()
    row = ratios.query(f"{setting} and comparison == 'maximum likelihood'")
    expected = values["shuffle", "maximum_likelihood"] / values["gaussian", "projection"]
    assert row["ratio"].item() == pytest.approx(expected, rel=1e-12)


def test_the_slow_bound_is_asked_at_the_ends_and_tables_have_their_repetitions():
    individual = {"n": ["all"], "repetitions": 9}
    users = int(COUNTS.sum())
    assert sizes(COUNTS, [10, 20, users, 30, "all"], individual, 5) == {
        10: (["upper", "lower"], 5),
        20: (["upper"], 5),
        users: (["upper", "lower"], 9),  # written twice, run once
        30: (["upper"], 5),
    }
    assert sizes(COUNTS, [10, "all"], None, 5)[users] == (["upper", "lower"], 5)
