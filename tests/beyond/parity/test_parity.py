"""Runs at equal privacy: the guarantee is the stated one, everything is paired, and intervals cover."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.beyond.parity.run_parity import (
    bounds_and_repetitions,
    error_rows,
    most_popular,
    run_parity,
)
from scripts.beyond.parity.summarise_parity import (
    MEANS,
    RATIOS,
    bootstrap,
    summarise_point,
)
from tightshuffle.mechanisms.gaussian import exact_scale

# How many of the made-up dataset's users hold each of its six values.
COUNTS = np.array([4000, 3000, 2000, 900, 100, 0])
ALL_USERS = int(COUNTS.sum())
SENSITIVITY = np.sqrt(2)  # L2, of a histogram: one user moves from one count to another


def parity_trials(
    *, repetitions, n=400, eps0=(1, 3), bounds=("upper", "lower"), delta_exponents=(1.1,)
):
    """A run at equal privacy with ``n`` users of `COUNTS`: a row for each error of each repetition.

    Its settings are all ``eps0``, all ``bounds`` on delta, and as delta 1e-4 and n^-a for each of the
    ``delta_exponents`` a.
    """
    [table] = run_parity(
        COUNTS,
        {n: (bounds, repetitions)},
        dataset="toy",
        eps0=eps0,
        delta=[1e-4],
        delta_exponents=delta_exponents,
        cells=[1, 6],  # those with individual errors
        seed=5,
    )
    return table


@pytest.fixture(scope="module")
def trials():
    return parity_trials(repetitions=60)


def test_a_setting_alone_has_the_rows_that_it_has_among_others(trials):
    alone = parity_trials(repetitions=60, eps0=[3], bounds=["upper"])
    among_others = trials.query("eps0 == 3 and bound == 'upper'").reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, among_others)


def test_all_settings_of_an_eps0_share_the_shuffled_reports(trials):
    """In a repetition, the reports depend on eps0 alone: one error for all deltas and bounds."""
    errors = trials.query("mechanism == 'shuffle' and metric == 'tv' and estimator == 'none'")
    different_errors = errors.groupby(["eps0", "repetition"])["value"].nunique()
    assert (different_errors == 1).all()


@pytest.mark.parametrize("eps0", [1, 3])
def test_both_bounds_on_delta_share_the_gaussian_draw(trials, eps0):
    """In a repetition, the noise is one standard normal draw, times the scale for the eps of each bound.

    So the errors at the two bounds are in the ratio of the scales.
    """
    gaussian = trials.query(
        "mechanism == 'gaussian' and metric == 'tv' and estimator == 'none'"
        " and delta_rule == '0.0001' and eps0 == @eps0"
    )
    eps = gaussian.groupby("bound")["eps"].first()
    lower_scale = exact_scale(eps["lower"], 1e-4, sensitivity=SENSITIVITY)
    upper_scale = exact_scale(eps["upper"], 1e-4, sensitivity=SENSITIVITY)
    errors = gaussian.pivot(index="repetition", columns="bound", values="value")
    ratios = errors["lower"] / errors["upper"]
    np.testing.assert_allclose(ratios, lower_scale / upper_scale, rtol=1e-12)
    # The lower bound on delta has the smaller eps, which needs more noise.
    assert lower_scale >= upper_scale


def test_gaussian_noise_has_the_exact_scale():
    """3000 absolute errors of one cell, over the exact scale for eps and delta = 1e-4, are half-normal."""
    trials = parity_trials(repetitions=3000, n=400, eps0=[1], bounds=["upper"], delta_exponents=[])
    errors = trials.query("mechanism == 'gaussian' and estimator == 'none' and cell == 1")
    scale_in_users = exact_scale(errors["eps"].iloc[0], 1e-4, sensitivity=SENSITIVITY)
    errors_in_users = errors["value"] * 400
    # The test of Kolmogorov and Smirnov at the level 1e-4.
    assert stats.kstest(errors_in_users / scale_in_users, "halfnorm").pvalue > 1e-4


# Summary --------------------------------------------------------------------------------------

RESAMPLING = {"resamples": 400, "confidence": 0.95, "seed": 3}


@pytest.fixture(scope="module")
def summary(trials):
    """The means and the ratios of `trials`, with their intervals: two tables."""
    return summarise_point(trials, COUNTS, **RESAMPLING)


def first_over_second(means):
    """The ratio of two means, as a statistic of the bootstrap: (..., 2) -> (..., 1)."""
    return means[..., :1] / means[..., 1:]


def test_intervals_of_confidence_90_percent_contain_the_true_ratio_in_90_percent_of_datasets():
    rng = np.random.default_rng(7)
    contains = []
    for seed in range(400):
        # A dataset: 80 repetitions of two independent gamma errors, of the means 4 * 3 and 4 * 2.
        errors = rng.gamma(4, size=(80, 2)) * [3, 2]
        [ratio] = bootstrap(errors, [first_over_second], resamples=300, confidence=0.9, seed=seed)
        contains.append(ratio.low[0] <= 3 / 2 <= ratio.high[0])
    # 0.9 with four standard errors of 400 datasets, 0.015 each, on either side.
    assert 0.84 <= np.mean(contains) <= 0.96


def uniform_tv(trials):
    """The total variation error of the uniform histogram, a value for each repetition."""
    return trials[trials["metric"] == "tv"].drop_duplicates("repetition")["uniform"]


def expected_uniform_tv(counts, n):
    """The uniform histogram's expected TV error: half the sum of E |drawn / n - 1 / k| over the k values.

    The n users are drawn without replacement from ``counts``. So ``drawn``, how many of them hold a value, is
    hypergeometric.
    """
    drawn = np.arange(n + 1)
    errors = np.abs(drawn / n - 1 / len(counts))
    probabilities = [stats.hypergeom(counts.sum(), count, n).pmf(drawn) for count in counts]
    return np.sum(probabilities @ errors) / 2


def test_the_uniform_histograms_mean_error_is_its_expectation(trials):
    errors = uniform_tv(trials)
    four_standard_errors = 4 * stats.sem(errors)
    expected = expected_uniform_tv(COUNTS, n=400)
    assert errors.mean() == pytest.approx(expected, abs=four_standard_errors)


def test_ratios_have_the_mean_error_of_the_uniform_histogram(trials, summary):
    _, ratios = summary
    found = ratios[ratios["metric"] == "tv"]["uniform"].unique()
    assert found == pytest.approx([uniform_tv(trials).mean()], rel=1e-12)


@pytest.mark.parametrize(("uniform", "informative_eps0"), [(0.15, [1, 3]), (0.10, [3])])
def test_a_setting_is_informative_where_the_better_mechanism_beats_the_uniform_histogram(
    trials, uniform, informative_eps0
):
    """``uniform`` is the TV error of the uniform histogram in every repetition.

    Those of the projected estimates are, in the mean, 0.14 (Gaussian) and 0.16 (shuffle) at eps0 = 1, and
    0.02 and 0.03 at eps0 = 3.
    """
    _, ratios = summarise_point(trials.assign(uniform=uniform), COUNTS, **RESAMPLING)
    tv = ratios[ratios["metric"] == "tv"]
    assert tv["informative"].tolist() == tv["eps0"].isin(informative_eps0).tolist()


@pytest.fixture(scope="module")
def summary_of_all_users():
    """The means and ratios at eps0 = 2 where every user reports, so that no sample is drawn."""
    trials = parity_trials(
        repetitions=800, n=ALL_USERS, eps0=[2], bounds=["upper"], delta_exponents=[]
    )
    return summarise_point(trials, COUNTS, **RESAMPLING)


def test_three_estimates_have_a_closed_form_and_so_has_the_ratio_of_two(summary_of_all_users):
    means, ratios = summary_of_all_users
    known = means.dropna(subset="predicted")
    estimates = set(zip(known["mechanism"], known["estimator"], strict=True))
    assert estimates == {("shuffle", "none"), ("shuffle", "inversion"), ("gaussian", "none")}
    # The comparison "unprojected" is inversion over the Gaussian's "none".
    others = ratios[ratios["comparison"] != "unprojected"]
    assert others[["predicted", "limit"]].isna().all(axis=None)


def test_mean_errors_are_their_closed_forms(summary_of_all_users):
    means, _ = summary_of_all_users
    known = means.dropna(subset="predicted")
    # An interval of 95 % is 1.96 standard errors to either side. Four are allowed.
    standard_errors = (known["high"] - known["low"]) / (2 * 1.96)
    assert ((known["mean"] - known["predicted"]).abs() < 4 * standard_errors).all()


def limit_for_many_users(share, eps0, k):
    """sqrt((1 - q) (1 + share (p (1 - p) / (q (1 - q)) - 1))): shuffled k-RR's error over the Gaussian's.

    The error is that of one value, which this ``share`` of the users holds. p and q are k-RR's probabilities
    of the own value and of any given other one.
    """
    q = 1 / (np.exp(eps0) + k - 1)
    p = np.exp(eps0) * q
    return np.sqrt((1 - q) * (1 + share * (p * (1 - p) / (q * (1 - q)) - 1)))


@pytest.fixture(scope="module")
def unprojected_ratios(summary_of_all_users):
    """Ratios of the errors of unprojected estimates for 10,000 users, by (metric, cell)."""
    _, ratios = summary_of_all_users
    return ratios[ratios["comparison"] == "unprojected"].set_index(["metric", "cell"])


def test_ratios_of_ten_thousand_users_are_predicted_near_their_limit(unprojected_ratios):
    limits = unprojected_ratios["limit"].tolist()
    # Within 2 % for any dataset like this one. Here the two differ by at most 0.02 %.
    assert limits == pytest.approx(unprojected_ratios["predicted"].tolist(), rel=0.02)


# Value 1 is the most popular one. The cell is 0 where the metric is not of a given cell.
@pytest.mark.parametrize("error", [("most_popular", 0), ("individual_error", 1)])
def test_the_limit_of_one_value_is_the_closed_form_of_its_share(unprojected_ratios, error):
    expected = limit_for_many_users(share=4000 / ALL_USERS, eps0=2, k=6)
    assert unprojected_ratios["limit"][error] == pytest.approx(expected, rel=1e-12)


def test_the_limit_over_all_values_is_below_that_of_the_most_popular_one(unprojected_ratios):
    limits = unprojected_ratios["limit"]
    # Clearly: 1.12 and 1.32.
    assert limits["tv", 0] < 1.2 < 1.3 < limits["most_popular", 0]


def test_summary_has_a_row_for_every_series_and_ratio(summary):
    means, ratios = summary
    assert list(means.columns) == MEANS
    assert list(ratios.columns) == RATIOS
    settings = 2 * 2 * 2  # two of each: eps0, rules of delta, bounds
    # TV, two cells and their mean, the most popular value and the ten most popular ones.
    errors = 1 + 3 + 2
    assert len(means) == settings * errors * 6  # four estimates of shuffle and two of the Gaussian
    assert len(ratios) == settings * errors * 4  # comparisons


@pytest.mark.parametrize(
    ("cell", "measured_cells"),
    [pytest.param(0, [1, 6], id="mean over cells"), pytest.param(6, [6], id="cell 6")],
)
def test_maximum_likelihood_is_compared_with_the_gaussians_projection(
    trials, summary, cell, measured_cells
):
    """As the Gaussian's noise has the same variance in all cells, the latter has the maximum likelihood, too.

    The individual errors of the cells 1 and 6 are compared. ``cell`` 0 is their mean.
    """
    setting = "eps0 == 3 and delta_rule == 'n^-1.1' and bound == 'upper'"
    errors = trials.query(f"{setting} and metric == 'individual_error' and cell in @measured_cells")
    mean_errors = errors.groupby(["mechanism", "estimator"])["value"].mean()
    shuffle_error = mean_errors["shuffle", "maximum_likelihood"]
    gaussian_error = mean_errors["gaussian", "projection"]

    _, ratios = summary
    compared = "comparison == 'maximum likelihood' and metric == 'individual_error'"
    [ratio] = ratios.query(f"{setting} and {compared} and cell == @cell")["ratio"]
    assert ratio == pytest.approx(shuffle_error / gaussian_error, rel=1e-12)


def test_popular_values_are_those_of_most_users():
    assert most_popular([5, 7, 5, 0, 7], 3).tolist() == [1, 4, 0]
    assert most_popular([5, 7], 10).tolist() == [1, 0]


def test_errors_of_popular_values_are_means_over_those_of_the_dataset():
    truth = np.array([[0.5, 0.2, 0.3]])  # of the users of one repetition
    estimates = {"none": truth + np.array([0.03, -0.06, 0])}
    counts = np.array([10, 30, 20])  # of the dataset, where the second value is the most popular
    errors = error_rows(estimates, truth, cells=[1], counts=counts).set_index("metric")
    assert errors.loc["most_popular", "value"] == pytest.approx(0.06)
    assert errors.loc["ten_most_popular", "value"] == pytest.approx((0.03 + 0.06) / 3)
    assert errors.loc["most_popular", "uniform"] == pytest.approx(1 / 3 - 0.2)


def test_the_slow_lower_bound_is_asked_at_the_first_and_the_last_size():
    plan = bounds_and_repetitions(COUNTS, [10, 20, 30], None, repetitions=5)
    assert plan == {10: (["upper", "lower"], 5), 20: (["upper"], 5), 30: (["upper", "lower"], 5)}


def test_all_users_as_a_number_and_as_a_word_are_one_size_with_the_repetitions_of_its_table():
    individual = {"n": ["all"], "repetitions": 9}  # the table of individual errors
    plan = bounds_and_repetitions(COUNTS, [10, ALL_USERS, 30, "all"], individual, repetitions=5)
    assert list(plan) == [10, ALL_USERS, 30]
    assert plan[ALL_USERS] == (["upper", "lower"], 9)
    assert plan[30] == (["upper"], 5)
