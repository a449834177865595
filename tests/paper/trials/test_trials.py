"""A trial point: its shape, its seeds, its samples, and errors of the size that theory says."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.paper.data.users import sample_users
from scripts.paper.delta.delta_hat import log10_delta_hat
from scripts.paper.trials import run_trials
from scripts.paper.trials.estimate_cells import estimate_cells
from scripts.paper.trials.run_trials import MECHANISMS, Protocol, run_mechanisms, run_point
from scripts.shared.published_gaussian import published_scale
from scripts.shared.seeds import seed_of
from tests.chi_square import consistent
from tightshuffle.mechanisms.krr import sample_histogram

COUNTS_OF_1300_USERS = np.array([40, 900, 300, 0, 60])
SHARED = {
    "dataset": "toy",
    "protocol": Protocol(delta_form="published", delta_floor=1e-30, sensitivity=1),
    "seed": 1,
}


def run_toy_point(**different):
    """`run_point` for 1,300 users in five cells: five trials at eps = eps0 = 4 with 1,000 users and cell 1.

    ``different`` are the arguments that shall be others.
    """
    point = {"eps0": 4.0, "eps": 4.0, "n": 1000, "repetitions": 5, "cells": [1]}
    return run_point(COUNTS_OF_1300_USERS, **SHARED | point | different)


def test_a_point_has_a_row_for_every_mechanism_error_and_repetition():
    trials = run_toy_point(repetitions=5, cells=[1])
    errors = {("tv", 0), ("individual_error", 1)}
    assert set(zip(trials["metric"], trials["cell"], strict=True)) == errors
    assert len(trials) == len(MECHANISMS) * len(errors) * 5


def test_errors_do_not_depend_on_what_was_run_before():
    first = run_toy_point()
    run_toy_point(n=500)
    assert first.equals(run_toy_point())


def test_errors_depend_on_the_seed():
    errors = run_toy_point(seed=1)["value"]
    assert not errors.equals(run_toy_point(seed=2)["value"])


def test_seed_does_not_depend_on_the_order_of_its_parameters():
    assert seed_of(1, a=2.0, b="x") == seed_of(1, b="x", a=2.0)


def test_seeds_are_stable_across_versions_and_machines():
    # Written down once: a change would silently change every result.
    assert seed_of(20240425, stage="trials", dataset="paris", n=1000) == 3249630088236376417


def test_every_sample_of_all_users_is_the_whole_histogram():
    rng = np.random.default_rng(1)
    for sample in sample_users(COUNTS_OF_1300_USERS, 1300, rng, repetitions=3):
        assert sample.tolist() == COUNTS_OF_1300_USERS.tolist()


def test_users_of_a_cell_in_a_sample_have_the_hypergeometric_law():
    """The first cell holds 40 of the 1,300 users, and a sample has 100 users."""
    counts = np.array([40, 900, 300, 0, 60])
    rng = np.random.default_rng(1)
    in_first_cell = sample_users(counts, 100, rng, repetitions=4000)[:, 0]
    law = stats.hypergeom(M=1300, n=40, N=100).pmf(np.arange(41))
    assert consistent(np.bincount(in_first_cell, minlength=41), law)


def test_a_sample_of_more_users_than_the_dataset_has_is_refused():
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match="between 1 and the dataset's 1300 users; got 1301"):
        sample_users(COUNTS_OF_1300_USERS, 1301, rng, repetitions=1)


def test_datasets_are_refused_from_numpys_limit_of_users_on():
    """Numpy draws hypergeometric numbers of fewer than 10^9 users in all."""
    rng = np.random.default_rng(1)
    message = "sum to fewer than 1,000,000,000 users; got 1,000,000,000"
    with pytest.raises(ValueError, match=message):
        sample_users(np.array([10**9 - 10, 10]), 50, rng, repetitions=1)
    one_user_fewer = np.array([10**9 - 11, 10])
    assert sample_users(one_user_fewer, 50, rng, repetitions=2).sum() == 2 * 50


def table_of_toy_points(points):
    """`run_points` for 1,300 users in five cells, with the individual errors of the cells 1 and 4."""
    return run_trials.run_points(COUNTS_OF_1300_USERS, points, cells=[1, 4], **SHARED)


def test_table_of_points_has_the_trials_of_each_point_in_order():
    """The budgets are whole numbers here. The seed of a point depends on them as floats."""
    point = {"eps0": 4, "eps": 1, "n": "all"}
    table = table_of_toy_points(
        [
            {**point, "experiment": "tv", "repetitions": 3},
            {**point, "experiment": "individual", "repetitions": 5},
        ]
    )
    of_tv = run_toy_point(eps0=4.0, eps=1.0, n=1300, repetitions=3, cells=[1, 4])
    of_individual = run_toy_point(eps0=4.0, eps=1.0, n=1300, repetitions=5, cells=[1, 4])
    trials = [
        of_tv.assign(experiment="tv", repetitions=3),
        of_individual.assign(experiment="individual", repetitions=5),
    ]
    expected = pd.concat(trials, ignore_index=True)[run_trials.TRIAL_COLUMNS]
    pd.testing.assert_frame_equal(table, expected)


def test_a_point_that_is_listed_twice_is_run_once():
    point = {"experiment": "tv", "eps0": 2, "eps": 1, "n": "all", "repetitions": 3}
    written_differently = {**point, "eps0": 2.0, "n": 1300}
    once = table_of_toy_points([point])
    assert table_of_toy_points([point, written_differently]).equals(once)


def test_the_gaussian_adds_noise_of_the_published_scale_to_the_counts():
    """At eps = eps0 delta-hat is 0, so the Gaussian's delta is the floor."""
    samples = np.array([[40, 900, 300, 0, 60]] * 2)
    protocol = Protocol(delta_form="published", delta_floor=1e-30, sensitivity=1)
    rng = np.random.default_rng(1)
    fractions, _ = run_mechanisms(samples, eps0=4.0, eps=4.0, protocol=protocol, rng=rng)

    # The same draws again: first the reports, which the other mechanisms take, then the noise.
    rng = np.random.default_rng(1)
    sample_histogram(samples, 4.0, rng, repetitions=2)
    noise = rng.standard_normal(samples.shape) * published_scale(4.0, delta=1e-30, sensitivity=1)
    np.testing.assert_allclose(fractions["gaussian"], (samples + noise) / 1300, rtol=1e-12)


def test_errors_of_the_gaussian_are_its_noise_as_fractions_of_the_sampled_users():
    """They are half-normal, and the floor is the delta, as above. The significance is 1 in 1,000."""
    errors = run_toy_point(repetitions=2000, cells=[2]).set_index(["mechanism", "metric"])
    of_cell = errors.loc[("gaussian", "individual_error"), "value"]
    scale = published_scale(4.0, delta=1e-30, sensitivity=1) / 1000
    assert stats.kstest(of_cell, stats.halfnorm(scale=scale).cdf).pvalue > 1e-3


def test_estimates_of_a_run_are_fractions_of_the_users_cell_by_cell():
    budgets = [{"eps0": 4, "eps": 4}]
    estimates = estimate_cells(COUNTS_OF_1300_USERS, budgets=budgets, n=1000, **SHARED)
    point = ["dataset", "eps0", "eps", "n"]
    columns = [*point, "cell", "original", "gaussian", "shuffle+INV", "delta"]
    assert list(estimates.columns) == columns
    assert estimates[point].to_numpy().tolist() == [["toy", 4.0, 4.0, 1000]] * 5
    assert estimates["original"].sum() == pytest.approx(1)
    assert estimates["shuffle+INV"].sum() == pytest.approx(1)
    assert estimates["shuffle+INV"].min() >= 0


@pytest.fixture
def trials_in_one_block_and_in_blocks_of_three(monkeypatch):
    """A pair: the trials of seven repetitions in one block, and the same trials in blocks of three.

    At eps < eps0 the delta of a repetition depends on which 100 users it draws.
    """
    point = {"eps": 0.3, "n": 100, "repetitions": 7, "cells": [1, 4]}
    in_one_block = run_toy_point(**point)
    numbers_of_three_repetitions = 3 * len(COUNTS_OF_1300_USERS)
    monkeypatch.setattr(run_trials, "BLOCK", numbers_of_three_repetitions)
    return in_one_block, run_toy_point(**point)


def test_blocks_of_repetitions_are_put_together_in_order(
    trials_in_one_block_and_in_blocks_of_three,
):
    in_one_block, in_blocks = trials_in_one_block_and_in_blocks_of_three
    drawn = ["value", "delta", "uniform"]  # columns that depend on the draws
    assert in_blocks.drop(columns=drawn).equals(in_one_block.drop(columns=drawn))


def test_the_first_block_of_repetitions_draws_the_users_that_one_block_draws(
    trials_in_one_block_and_in_blocks_of_three,
):
    in_one_block, in_blocks = trials_in_one_block_and_in_blocks_of_three
    first = in_blocks["repetition"] <= 3
    assert in_blocks.loc[first, "delta"].equals(in_one_block.loc[first, "delta"])


def test_every_block_of_repetitions_draws_anew(trials_in_one_block_and_in_blocks_of_three):
    _, in_blocks = trials_in_one_block_and_in_blocks_of_three
    assert in_blocks.groupby("repetition")["delta"].nunique().eq(1).all()
    assert in_blocks["delta"].nunique() > 3  # more than a block has
    errors = in_blocks.groupby(["mechanism", "metric", "cell"])["value"]
    assert errors.nunique().gt(1).all()


@pytest.mark.parametrize("form", ["published", "exact"])
@pytest.mark.parametrize(("eps0", "eps"), [(4.0, 0.05), (1.0, 0.2), (2.0, 2.0)])
@pytest.mark.parametrize("floor", [1e-30, 1e-3])
def test_delta_of_the_gaussian_is_delta_hat_of_the_sample_but_at_least_the_floor(
    form, eps0, eps, floor
):
    """delta-hat is from 0.08 (exact, eps0 = 4) to 0 (eps = eps0): above, between and below the floors."""
    rng = np.random.default_rng(8)
    samples = sample_users(COUNTS_OF_1300_USERS, 700, rng, repetitions=20)
    protocol = Protocol(delta_form=form, delta_floor=floor, sensitivity=1)
    _, deltas = run_mechanisms(samples, eps0=eps0, eps=eps, protocol=protocol, rng=rng)
    for sample, delta in zip(samples, deltas, strict=True):
        log10_delta = log10_delta_hat(sample, eps, eps0=eps0, form=form, known={})
        assert delta == max(10.0**log10_delta, floor)


def peak_memory(*, n, repetitions):
    """How many bytes a point of 20,000 cells, with 45,000 users in each, allocates at most."""
    counts = np.full(20_000, 45_000)
    point = {"eps0": 4.0, "eps": 1.0, "n": n, "repetitions": repetitions, "cells": [1]}
    tracemalloc.start()
    run_point(counts, **SHARED, **point)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


@pytest.mark.slow
def test_memory_depends_neither_on_users_nor_on_repetitions():
    peak_of_few = peak_memory(n=10**5, repetitions=60)
    bytes_of_block = 8 * run_trials.BLOCK
    assert peak_of_few < 15 * bytes_of_block
    assert peak_memory(n=4 * 10**8, repetitions=120) < 1.1 * peak_of_few
