"""Runs at equal privacy: the guarantee is the stated one, everything is paired, and intervals cover."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.beyond.parity.run_parity import (
    bounds_and_repetitions,
    error_rows,
    gaussian_estimates,
    most_popular,
    run_parity,
    run_parity_point,
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
POINT = {
    "dataset": "toy",
    "n": 400,
    "eps0": [1, 3],
    "rules": RULES,
    "bounds": ["upper", "lower"],
    "cells": [1, 6],
    "seed": 5,
}


def point_trials(repetitions, **changes):
    """The trials of `POINT`, but for the changes: a row for each error of each repetition and estimate."""
    return run_parity_point(COUNTS, repetitions=repetitions, **{**POINT, **changes})


@pytest.fixture(scope="module")
def trials():
    return point_trials(repetitions=60)


def test_same_parameters_same_values_whatever_else_runs(trials):
    """One eps0 and one bound, run alone, give the very rows that they have among others.

    `trials` is a run of 60 repetitions with n = 400 users of the histogram `COUNTS`, a row for each error. It
    has two eps0 (1 and 3) and two bounds on delta ("upper" and "lower"). The other arguments of `run_parity`
    are the same here: the deltas 1e-4 and n^-1.1, the cells whose errors are asked for, and the seed.
    """
    bounds_and_repetitions_by_n = {400: (["upper"], 60)}
    [alone] = run_parity(
        COUNTS,
        bounds_and_repetitions_by_n,
        dataset="toy",
        eps0=[3],
        delta=[1e-4],
        delta_exponents=[1.1],
        cells=[1, 6],
        seed=5,
    )
    among_others = trials.query("eps0 == 3 and bound == 'upper'").reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, among_others)


def test_mechanisms_are_paired(trials):
    """In one repetition, all settings of an eps0 share the reports, and both bounds share Gaussian noise.

    `trials` has a row for each error of 60 repetitions, at two eps0 (1 and 3), for two rules of delta (1e-4
    and n^-1.1). In a setting, eps is where one of two bounds on delta meets the delta of the rule. Compared
    are TV errors of estimates that are not projected.
    """
    # A row for each repetition, a column for each mechanism and setting.
    rows = trials.query("metric == 'tv' and estimator == 'none'")
    columns = ["mechanism", "eps0", "delta_rule", "bound"]
    errors = rows.pivot(index="repetition", columns=columns, values="value").sort_index(axis=1)
    for eps0 in (1.0, 3.0):
        # The reports depend on eps0 alone: one error for all deltas and bounds.
        assert errors["shuffle", eps0].nunique(axis=1).eq(1).all()

        # The Gaussian's noise is one standard normal draw for both bounds, which give an eps each. So the
        # errors are in the ratio of the noise's scales. sqrt(2): one user moves from one count to another.
        chosen = rows[(rows["eps0"] == eps0) & (rows["delta_rule"] == "0.0001")]
        eps = chosen.groupby("bound")["eps"].first()[["lower", "upper"]]
        lower_scale, upper_scale = exact_scale(eps, 1e-4, sensitivity=np.sqrt(2))
        gaussian = errors["gaussian", eps0, "0.0001"]
        np.testing.assert_allclose(
            gaussian["lower"] / gaussian["upper"], lower_scale / upper_scale, rtol=1e-12
        )
        # The lower bound on delta has the smaller eps, which needs more noise.
        assert lower_scale >= upper_scale


def test_gaussian_noise_has_the_exact_scale():
    """3000 absolute errors of one cell, in users, are half-normal with the scale of the Gaussian mechanism.

    This scale is the standard deviation, in users, of the least Gaussian noise that is (eps, 1e-4)-private
    for a histogram, where one user moves from one count to another (sensitivity sqrt(2)). eps is the run's
    own. `POINT` has the run's n = 400. The test of Kolmogorov and Smirnov has the level 1e-4.
    """
    frame = point_trials(repetitions=3000, eps0=[1], bounds=["upper"])
    rows = frame.query(
        "mechanism == 'gaussian' and estimator == 'none' and cell == 1 and delta_rule == '0.0001'"
    )
    eps = rows["eps"].iloc[0]
    scale = exact_scale(eps, 1e-4, sensitivity=np.sqrt(2))
    # By another function, which computes delta from a scale, this one has the delta 1e-4.
    log10_delta = log10_delta_of_scale(eps, scale=scale, sensitivity=np.sqrt(2))
    assert log10_delta == pytest.approx(-4, abs=1e-8)
    errors_in_users = rows["value"] * POINT["n"]
    assert stats.kstest(errors_in_users / scale, "halfnorm").pvalue > 1e-4


def test_gaussian_noise_is_in_counts():
    estimates = gaussian_estimates(np.array([[1, 3]]), np.array([[0.5, -0.5]]))
    assert estimates["none"].tolist() == [[0.375, 0.625]]


# Summary --------------------------------------------------------------------------------------

RESAMPLING = {"resamples": 400, "confidence": 0.95, "seed": 3}


@pytest.fixture(scope="module")
def summary(trials):
    """The means and the ratios of `trials`, with their intervals: two tables."""
    return summarise_point(trials, COUNTS, **RESAMPLING)


def test_bootstrap_covers_a_ratio():
    """Intervals of confidence 0.9 for a ratio of two means contain it in about 90 % of 400 datasets.

    A dataset is two series of 80 independent gamma variables, whose true means are 4 * 3 and 4 * 2. So the
    true ratio is 3 / 2. `bootstrap` gives one ratio for each statistic; its low and high are arrays.
    """
    rng = np.random.default_rng(7)
    datasets = 400
    covered = 0
    true_ratio = 3 / 2
    for seed in range(datasets):
        values = rng.gamma(4, size=(80, 2)) * [3, 2]  # (repetitions, series)
        # Means are given as (..., series), and the statistic is the first over the second one.
        [ratio] = bootstrap(
            values,
            [lambda means: means[..., :1] / means[..., 1:]],
            resamples=300,
            confidence=0.9,
            seed=seed,
        )
        covered += ratio.low[0] <= true_ratio <= ratio.high[0]
    # 0.9 with four standard errors of 400 datasets, 0.015 each, on either side.
    assert 0.84 <= covered / datasets <= 0.96


def test_the_uniform_histograms_error_is_its_expectation(trials):
    """The uniform histogram estimates 1 / k for every value, whatever the sampled users hold.

    `trials` has 60 repetitions, each with n = 400 users drawn without replacement from the 10,000 of the
    dataset's histogram `COUNTS`, and `uniform_tv` gives the TV error of the uniform histogram in each. Their
    mean is within four standard errors of its exact expectation, half the sum over the k cells of
    E |count / n - 1 / k|.
    """
    n = POINT["n"]
    # A cell's count among the drawn users is hypergeometric.
    possible_counts = np.arange(n + 1)
    deviation = np.abs(possible_counts / n - 1 / len(COUNTS))
    expected_of_cells = [
        deviation @ stats.hypergeom(COUNTS.sum(), count, n).pmf(possible_counts) for count in COUNTS
    ]
    expected_tv = sum(expected_of_cells) / 2
    values = uniform_tv(trials)
    standard_error = values.std(ddof=1) / np.sqrt(len(values))
    assert abs(values.mean() - expected_tv) < 4 * standard_error


def test_a_setting_is_informative_where_a_mechanism_beats_the_uniform_histogram(trials):
    """A setting is informative if a mechanism's projected TV error is below that of the uniform histogram.

    `trials` has a row for each setting (eps0, rule of delta, bound), mechanism, estimator, error and
    repetition. Its column uniform, the TV error of the uniform histogram, is divided by 4 here, to 0.1. The
    mechanisms' smallest errors are 0.14 at eps0 = 1 and 0.02 at eps0 = 3. So only the settings of eps0 = 3
    are informative. The columns uniform and informative of the ratios are expected as computed here.
    """
    trials = trials.assign(uniform=trials["uniform"] / 4)
    _, ratios = summarise_point(trials, COUNTS, **RESAMPLING)
    tv = ratios[ratios["metric"] == "tv"]
    uniform = uniform_tv(trials).mean()
    assert tv["uniform"].unique() == pytest.approx([uniform], rel=1e-12)

    # The smaller mean error of both mechanisms, each projected onto the simplex, for each row of ``tv``.
    projected = trials[(trials["metric"] == "tv") & (trials["estimator"] == "projection")]
    setting = ["eps0", "delta_rule", "bound"]
    errors = projected.groupby([*setting, "mechanism"])["value"].mean().unstack()
    best = errors.min(axis=1).loc[pd.MultiIndex.from_frame(tv[setting])]
    assert tv["informative"].tolist() == (best < uniform).tolist()


def uniform_tv(trials):
    """The total variation error of the uniform histogram, a value for each repetition."""
    return trials[trials["metric"] == "tv"].drop_duplicates("repetition")["uniform"]


@pytest.fixture(scope="module")
def summary_of_all_users():
    """The means and ratios at eps0 = 2 where every user reports, so that no sample is drawn."""
    n = int(COUNTS.sum())
    frame = point_trials(repetitions=800, n=n, eps0=[2], bounds=["upper"], rules=RULES[:1])
    return summarise_point(frame, COUNTS, **RESAMPLING)


def test_predictions_are_those_of_the_runs(summary_of_all_users):
    """Each mean error is within four standard errors of its closed form, the column ``predicted``.

    Three estimates have a closed form. `summary_of_all_users` has two tables of 800 repetitions in which all
    users report, at eps0 = 2: mean errors of each mechanism and estimator, with 95 % intervals (low, high),
    and ratios of these errors for each comparison of estimators.
    """
    means, ratios = summary_of_all_users
    known = means.dropna(subset="predicted")
    closed_forms = {("shuffle", "none"), ("shuffle", "inversion"), ("gaussian", "none")}
    assert set(zip(known["mechanism"], known["estimator"], strict=True)) == closed_forms
    # An interval of 95 % is 1.96 standard errors to either side.
    standard_error = (known["high"] - known["low"]) / (2 * 1.96)
    assert ((known["mean"] - known["predicted"]).abs() < 4 * standard_error).all()
    # A ratio has closed forms only where both of its estimates do: in the comparison "unprojected".
    others = ratios[ratios["comparison"] != "unprojected"]
    assert others[["predicted", "limit"]].isna().all(axis=None)


def test_a_limit_is_near_the_prediction_for_many_users_and_depends_on_the_share(
    summary_of_all_users,
):
    """The ratio of the errors of one value, shuffle over Gaussian, has a limit for many users, ``limit``.

    With ``share``, that of the users who hold the value, and k-RR's probabilities p of the own value and q of
    any given other one, the limit is sqrt((1 - q) (1 + share (p (1 - p) / (q (1 - q)) - 1))).
    `summary_of_all_users` has a table of mean errors and one of ratios of errors: a row for each comparison
    of estimators, metric and cell (0 if the metric is not of one cell). ``predicted`` is the closed form of a
    ratio for its 10,000 users.
    """
    _, ratios = summary_of_all_users
    unprojected = ratios[ratios["comparison"] == "unprojected"].set_index(["metric", "cell"])
    limits = unprojected["limit"]
    # Within 2 % for any dataset like this one. Here the two differ by at most 0.02 %.
    assert limits.to_numpy() == pytest.approx(unprojected["predicted"].to_numpy(), rel=0.02)

    # eps0 = 2 and k = 6. Value 1 is the most popular, and 4000 of the 10,000 users hold it.
    q = 1 / (np.exp(2) + 5)
    p = np.exp(2) * q
    expected = np.sqrt((1 - q) * (1 + 0.4 * (p * (1 - p) / (q * (1 - q)) - 1)))
    assert limits["most_popular", 0] == pytest.approx(expected, rel=1e-12)
    assert limits["individual_error", 1] == pytest.approx(expected, rel=1e-12)
    # The TV error, over all values, has a clearly smaller ratio (1.12) than the most popular value (1.32).
    assert expected > 1.3 > 1.2 > limits["tv", 0]


def published_rows(mechanism, tv_errors):
    """Trials of the published protocol, with other numbers for the metric that the summary leaves out."""
    point = {"dataset": "toy", "n": 10, "k": 3, "eps0": 4.0, "eps": 4.0, "delta": 1e-30}
    rows = []
    for repetition, error in enumerate(tv_errors):
        row = {**point, "mechanism": mechanism, "repetition": repetition, "value": error}
        rows.append({**row, "metric": "tv", "uniform": 0.3})
        rows.append({**row, "metric": "individual_error", "uniform": 9})
    return rows


def test_the_published_protocols_ratio_comes_after_those_of_the_points(trials, summary):
    """The last ratio is that of the paper's protocol: the mean TV error of shuffle+INV over the Gaussian's.

    Here it is 0.5 over 0.1. The error of "shuffle" does not count. `published_rows` are made-up trials of
    this protocol: the TV error of each repetition, and 0.3 for that of the uniform histogram. `trials` is a
    run at equal privacy, called a point. `summary` has its two tables: means, and ratios.
    """
    published = pd.DataFrame(
        published_rows("shuffle+INV", [0.4, 0.6])
        + published_rows("gaussian", [0.1, 0.1])
        + published_rows("shuffle", [9, 9])
    )
    means, ratios = summarise_parity([trials], [published], {"toy": COUNTS}, **RESAMPLING)
    point_means, point_ratios = summary
    pd.testing.assert_frame_equal(means, point_means)
    pd.testing.assert_frame_equal(ratios[:-1], point_ratios, check_dtype=False)

    last = ratios.iloc[-1]
    assert last["comparison"] == PUBLISHED
    assert last["ratio"] == pytest.approx(5)
    # Of two repetitions a bootstrap draws the smaller one twice in a quarter of the cases, and in as many the
    # larger one. So a 95 % interval reaches from 0.4 / 0.1 to 0.6 / 0.1.
    assert (last["low"], last["high"]) == pytest.approx((4, 6))
    assert last["uniform"] == pytest.approx(0.3)
    assert last["informative"]


def test_summary_has_a_row_for_every_series_and_ratio(summary):
    """`summary` has two tables of one run in eight settings: mean errors, and ratios of mean errors.

    Their columns are `MEANS` and `RATIOS`. The means have a row for each setting, kind of error and estimate,
    the ratios one for each setting, kind of error and comparison of two estimates.
    """
    means, ratios = summary
    assert list(means.columns) == MEANS
    assert list(ratios.columns) == RATIOS
    settings = 2 * 2 * 2  # two of each: eps0, rules of delta, bounds
    # TV, two cells and their mean, the most popular value and the ten most popular ones.
    errors = 1 + 3 + 2
    assert len(means) == settings * errors * 6  # four estimates of shuffle and two of the Gaussian
    assert len(ratios) == settings * errors * 4  # comparisons
    # The bootstrap's intervals contain their means.
    assert ((means["low"] <= means["mean"]) & (means["mean"] <= means["high"])).all()


@pytest.mark.parametrize(
    ("cell", "chosen"),
    [pytest.param(0, "cell > 0", id="mean over cells"), pytest.param(6, "cell == 6", id="cell 6")],
)
def test_a_ratio_compares_estimators_that_belong_together(trials, summary, cell, chosen):
    """The comparison "maximum likelihood" is shuffle's maximum_likelihood over the Gaussian's projection.

    Both belong together: as the Gaussian's noise has the same variance in all cells, its projection is its
    maximum-likelihood estimate. `summary` has the table of ratios that the code makes of `trials`, a row for
    each error of each repetition. The expected ratio of one setting's individual errors is computed from
    `trials` here. ``cell`` 0 is the mean over all cells that have individual errors, 1 and 6.
    """
    _, ratios = summary
    setting = (
        "eps0 == 3 and delta_rule == 'n^-1.1' and bound == 'upper' and metric == 'individual_error'"
    )
    trials_of_cell = trials.query(f"{setting} and {chosen}")
    values = trials_of_cell.groupby(["mechanism", "estimator"])["value"].mean()
    row = ratios.query(f"{setting} and cell == {cell} and comparison == 'maximum likelihood'")
    expected = values["shuffle", "maximum_likelihood"] / values["gaussian", "projection"]
    assert row["ratio"].item() == pytest.approx(expected, rel=1e-12)


def test_popular_values_are_those_of_most_users():
    assert most_popular([5, 7, 5, 0, 7], 3).tolist() == [1, 4, 0]
    assert most_popular([5, 7], 10).tolist() == [1, 0]


def test_errors_of_popular_values_are_means_over_those_of_the_dataset():
    truth = np.array([[0.5, 0.2, 0.3], [0.1, 0.2, 0.7]])
    estimates = {"none": truth + np.array([[0.03, -0.06, 0.0], [0.01, 0.0, 0.02]])}
    counts = np.array([10, 30, 20])  # of the dataset, where the second value is the most popular
    table = error_rows(estimates, truth, [1], counts).set_index(["metric", "repetition"])
    assert table.loc["most_popular", "value"].tolist() == pytest.approx([0.06, 0])
    assert table.loc["ten_most_popular", "value"].tolist() == pytest.approx([0.03, 0.01])
    assert table.loc["most_popular", "uniform"].tolist() == pytest.approx([1 / 3 - 0.2] * 2)


def test_the_slow_bound_is_asked_at_the_ends_and_tables_have_their_repetitions():
    """`bounds_and_repetitions`: for each number of users n, the bounds that give eps, and the repetitions.

    Its arguments are the dataset's histogram (`COUNTS`, of 10,000 users), the sizes of the experiment, and
    ``individual``: the sizes and repetitions of a table of individual errors, or None. The last, 5, are the
    repetitions of other sizes. The bound "lower" is slow, and asked at the first and the last size only.
    """
    individual = {"n": ["all"], "repetitions": 9}
    users = int(COUNTS.sum())
    assert bounds_and_repetitions(COUNTS, [10, 20, users, 30, "all"], individual, 5) == {
        10: (["upper", "lower"], 5),
        20: (["upper"], 5),
        users: (["upper", "lower"], 9),  # asked for as a number and as "all": run once
        30: (["upper"], 5),
    }
    assert bounds_and_repetitions(COUNTS, [10, "all"], None, 5)[users] == (["upper", "lower"], 5)
