"""The protocol at (eps, delta-hat) with eps < eps0."""

import math

import numpy as np
import pandas as pd
import pytest
from diffprivlib.mechanisms import GaussianAnalytic

from scripts.paper.delta.compute_delta_hat import compute_delta_hat, sample_of
from scripts.paper.trials.delta_hat_ratios import points_above_1, ranges_of_ratios
from scripts.paper.trials.run_delta_hat_trials import run_delta_hat_trials
from scripts.shared.findings import Range
from tightshuffle.mechanisms.gaussian import exact_scale, log10_delta_of_scale

COUNTS = np.array([40_000, 3_000, 0, 25_000, 10])
COUNTS_OF_ONE_SAMPLE = np.array(
    [12_000, 900, 0, 7_090, 10]
)  # 20,000 users: every sample is all of them
REPETITIONS = 400
FLOOR = 1e-30


@pytest.fixture(scope="module")
def delta_hats():
    """A row for each of three eps, with log10 of delta-hat in the columns published and exact."""
    return compute_delta_hat(COUNTS, dataset="toy", n=[20_000], eps0=[3], steps=3, seed=5)


@pytest.fixture(scope="module")
def trials(delta_hats):
    """Mean TV errors: a row for each eps, noise and sensitivity, with the Gaussian projected and not."""
    return run_delta_hat_trials(
        COUNTS, delta_hats, repetitions=REPETITIONS, sensitivities=[1, 1.5], floor=FLOOR, seed=5
    )


def test_there_is_a_row_for_every_eps_noise_sensitivity_and_projection(trials):
    choices = trials[["eps", "noise", "sensitivity", "projected"]]
    assert len(choices.drop_duplicates()) == len(trials) == 3 * 3 * 2 * 2


@pytest.mark.parametrize("form", ["published", "exact"])
def test_the_noise_of_each_form_honours_exactly_the_delta_hat_of_the_table(
    trials, delta_hats, form
):
    for row in trials[trials["noise"] == form].to_dict("records"):
        (delta_hat,) = delta_hats.loc[delta_hats["eps"] == row["eps"], form]
        reached = log10_delta_of_scale(
            row["eps"], scale=row["scale"], sensitivity=row["sensitivity"]
        )
        assert reached == pytest.approx(delta_hat, rel=1e-9)


def test_the_librarys_noise_is_that_of_diffprivlib_at_the_printed_delta_hat_or_the_floor(
    trials, delta_hats
):
    """By diffprivlib itself. Here every printed delta-hat is below every float, so the floor decides."""
    assert (delta_hats["published"] < -324).all()
    rows = trials[trials["noise"] == "diffprivlib"]
    assert len(rows) == 3 * 2 * 2
    for row in rows.to_dict("records"):
        mechanism = GaussianAnalytic(
            epsilon=row["eps"], delta=FLOOR, sensitivity=row["sensitivity"]
        )
        assert row["scale"] == pytest.approx(math.sqrt(mechanism.variance(0)), rel=1e-12)


def test_where_the_printed_delta_hat_is_above_the_floor_diffprivlib_gets_it():
    table = compute_delta_hat(
        np.array([4, 3, 0, 2]), dataset="toy", n=[8], eps0=[3], steps=2, seed=5
    )
    assert (table["published"] > -6).any()
    trials = run_delta_hat_trials(
        np.array([4, 3, 0, 2]), table, repetitions=2, sensitivities=[1], floor=FLOOR, seed=5
    )
    rows = trials[(trials["noise"] == "diffprivlib") & ~trials["projected"]]
    deltas = np.maximum(10 ** table["published"], FLOOR)
    for eps, delta, scale in zip(table["eps"], deltas, rows["scale"], strict=True):
        mechanism = GaussianAnalytic(epsilon=eps, delta=delta, sensitivity=1)
        assert scale == pytest.approx(math.sqrt(mechanism.variance(0)), rel=1e-12)


def test_mean_error_of_the_gaussian_is_the_expected_one(trials):
    """k scale sqrt(2 / pi) / (2 n) without projection. The tolerance is five standard errors of the ratio.

    All rows have the same draws, so they differ from it by the same factor.
    """
    rows = trials[~trials["projected"]]
    expected = 5 * rows["scale"] * math.sqrt(2 / math.pi) / (2 * 20_000)
    relative_error = rows["standard_error"] / rows["ratio"]
    assert ((rows["gaussian"] / expected - 1).abs() < 5 * relative_error).all()


def test_the_projected_gaussian_is_a_histogram():
    """Its error is at most 1, also with far more noise than data; without projection it is not."""
    table = compute_delta_hat(COUNTS, dataset="toy", n=[1_000], eps0=[1], steps=2, seed=5)
    trials = run_delta_hat_trials(
        COUNTS, table, repetitions=10, sensitivities=[1], floor=FLOOR, seed=5
    )
    rows = trials[trials["noise"] == "published"].groupby("projected")["gaussian"].max()
    assert rows[True] <= 1 < rows[False]


def test_trials_of_one_setting_are_those_of_a_separate_simulation(trials, delta_hats):
    """Other draws, of single users and cells, give the same means within five standard errors."""
    rng = np.random.default_rng(11)
    sample = sample_of(COUNTS, dataset="toy", n=20_000, seed=5)
    keep = math.exp(3) / (math.exp(3) + 4)
    other = 1 / (math.exp(3) + 4)
    row = trials[(trials["noise"] == "exact") & trials["projected"]].iloc[-1]
    ours, theirs = [], []
    for _ in range(REPETITIONS):
        reports = np.zeros(5)
        for value, holders in enumerate(sample):
            probabilities = np.full(5, other)
            probabilities[value] = keep
            reports += rng.multinomial(holders, probabilities)
        inverted = nearest_histogram((reports / 20_000 - other) / (keep - other))
        noisy = nearest_histogram((sample + row["scale"] * rng.standard_normal(5)) / 20_000)
        ours.append(np.abs(inverted - sample / 20_000).sum() / 2)
        theirs.append(np.abs(noisy - sample / 20_000).sum() / 2)

    ratio = np.mean(theirs) / np.mean(ours)
    # Both simulations have this error.
    assert abs(row["ratio"] - ratio) < 5 * math.sqrt(2) * row["standard_error"]


def nearest_histogram(values):
    """The nearest vector with entries from 0 on that sum to 1: values - t, cut at 0, with t by bisection."""
    low, high = values.min() - 1, values.max()
    for _ in range(60):
        middle = (low + high) / 2
        if np.maximum(values - middle, 0).sum() > 1:
            low = middle
        else:
            high = middle
    return np.maximum(values - low, 0)


def test_the_standard_error_is_that_of_the_ratio_over_seeds(delta_hats):
    """The spread of the ratio over 200 seeds, whose own relative error is 5 %."""
    few = delta_hats.tail(1)
    ratios, errors = [], []
    for seed in range(200):
        table = run_delta_hat_trials(
            COUNTS_OF_ONE_SAMPLE, few, repetitions=20, sensitivities=[1], floor=FLOOR, seed=seed
        )
        row = table[(table["noise"] == "exact") & ~table["projected"]].iloc[0]
        ratios.append(row["ratio"])
        errors.append(row["standard_error"])
    assert np.mean(errors) == pytest.approx(np.std(ratios, ddof=1), rel=0.2)


def test_below_the_grid_the_printed_delta_hat_asks_for_noise_like_1_over_eps():
    """As the caption says: at log10 delta-hat = -4,400, San Francisco's at its smallest eps."""
    eps = np.array([4e-3, 4e-4, 4e-5, 4e-6])
    scales = [exact_scale(one, log10_delta=-4400) for one in eps]
    assert eps * scales == pytest.approx(eps[0] * scales[0], rel=0.01)


def rows_of_trials(ratios, noise):
    """A row for each ratio of two points, with a standard error of a hundredth."""
    eps = [0.1, 0.2]
    rows = pd.DataFrame({"eps": eps, "ratio": ratios, "standard_error": 0.01}).assign(noise=noise)
    return rows.assign(dataset="toy", n=10, k=5, eps0=1.0, projected=False)


def test_ranges_are_simultaneous_and_rounded_outwards():
    """Four ratios: with 95 % confidence for all, each end is 2.498 standard errors outside."""
    trials = pd.concat([rows_of_trials([0.5, 2.0], "exact"), rows_of_trials([3, 40], "published")])
    ranges = ranges_of_ratios(trials)
    assert ranges["exact"] == Range(0.47, 2.1)  # 0.475 and 2.025
    assert ranges["published"] == Range(2.9, 41)  # 2.975 and 40.025


def test_points_above_1_are_those_at_which_every_unprojected_error_is():
    trials = rows_of_trials([1, 1], "published").assign(gaussian=[2.0, 2.0])
    smaller = trials.assign(gaussian=[0.9, 1.1])
    projected = trials.assign(gaussian=0.5, projected=True)
    exact = trials.assign(gaussian=0.5, noise="exact")
    assert points_above_1(pd.concat([trials, smaller, projected, exact])) == 1
