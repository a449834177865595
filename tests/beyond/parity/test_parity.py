"""Runs at equal privacy: the guarantee is the stated one, everything is paired, and intervals cover."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.beyond.parity.run_parity import (
    error_rows,
    gaussian_estimates,
    most_popular,
    run_parity,
    run_parity_point,
    sizes,
)
from scripts.beyond.parity.summarise_parity import (
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
    assert ratios.loc[ratios["comparison"] != "unprojected", ["predicted", "limit"]].isna().all(axis=None)
    limit = ratios.loc[ratios["comparison"] == "unprojected"].set_index(["metric", "cell"])
    assert limit["limit"].to_numpy() == pytest.approx(limit["predicted"].to_numpy(), rel=0.02)
    q = 1 / (np.exp(2) + 5)  # eps0 = 2, k = 6; value 1 is the most popular, and its share is 0.4
    p, share = np.exp(2) * q, 0.4
    expected = np.sqrt((1 - q) * (1 + share * (p * (1 - p) / (q * (1 - q)) - 1)))
    for one in (("most_popular", 0), ("individual_error", 1)):
        assert limit.loc[one, "limit"] == pytest.approx(expected, rel=1e-12)
    assert expected > 1.3 > 1.2 > limit.loc[("tv", 0), "limit"]


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
    errors = 1 + 3 + 2  # TV; two cells and their mean; the most popular value, and the ten
    assert len(means) == 2 * 2 * 2 * 6 * errors
    assert len(ratios) == 2 * 2 * 2 * 4 * errors
    assert ((means["low"] <= means["mean"]) & (means["mean"] <= means["high"])).all()
    setting = "eps0 == 3 and delta_rule == 'n^-1.1' and bound == 'upper' and metric == 'individual_error'"
    for cell, chosen in ((0, "cell > 0"), (6, "cell == 6")):
        values = trials.query(f"{setting} and {chosen}").groupby(["mechanism", "estimator"])["value"].mean()
        row = ratios.query(f"{setting} and cell == {cell} and comparison == 'maximum likelihood'")
        expected = values["shuffle", "maximum_likelihood"] / values["gaussian", "projection"]
        assert row["ratio"].item() == pytest.approx(expected, rel=1e-12)


def test_popular_values_are_those_of_the_dataset_and_their_errors_are_means_over_them():
    assert most_popular([5, 7, 5, 0, 7], 3).tolist() == [1, 4, 0]
    assert most_popular([5, 7], 10).tolist() == [1, 0]
    truth = np.array([[0.5, 0.2, 0.3], [0.1, 0.2, 0.7]])
    estimates = {"none": truth + np.array([[0.03, -0.06, 0.0], [0.01, 0.0, 0.02]])}
    table = error_rows(estimates, truth, [1], np.array([10, 30, 20])).set_index(["metric", "repetition"])
    assert table.loc["most_popular", "value"].tolist() == pytest.approx([0.06, 0])
    assert table.loc["ten_most_popular", "value"].tolist() == pytest.approx([0.03, 0.01])
    assert table.loc["most_popular", "uniform"].tolist() == pytest.approx([1 / 3 - 0.2] * 2)


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
