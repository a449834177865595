"""A trial point: its shape, its seeds, its samples, and errors of the size that theory says."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.paper.data.users import sample_users, users_of
from scripts.paper.delta.printed_formulas import log10_delta_of_count
from scripts.paper.trials import run_trials
from scripts.paper.trials.estimate_cells import estimate_cells
from scripts.paper.trials.run_trials import MECHANISMS, Protocol, run_mechanisms, run_point
from scripts.shared.histograms import NUMPYS_LIMIT
from scripts.shared.published_gaussian import published_scale
from tests.chi_square import consistent
from tightshuffle.krr import sample_histogram
from tightshuffle.numerics.seeds import seed_of

COUNTS = np.array([40, 900, 300, 0, 60])
PROTOCOL = Protocol(delta_form="published", delta_floor=1e-30, sensitivity=1)
SHARED = {"dataset": "toy", "protocol": PROTOCOL, "seed": 1}
POINT = {**SHARED, "eps0": 4.0, "eps": 4.0, "n": 1000}


def test_a_point_has_a_row_for_every_mechanism_error_and_repetition():
    trials = run_point(COUNTS, repetitions=5, cells=[1], **POINT)
    assert len(trials) == 5 * len(MECHANISMS) * (1 + 1)
    assert set(zip(trials.metric, trials.cell, strict=True)) == {("tv", 0), ("individual_error", 1)}


def test_values_depend_on_the_parameters_and_the_seed_and_on_nothing_else():
    first = run_point(COUNTS, repetitions=5, cells=[1], **POINT)
    run_point(COUNTS, repetitions=5, cells=[1], **{**POINT, "n": 500})
    assert first.equals(run_point(COUNTS, repetitions=5, cells=[1], **POINT))
    other_seed = run_point(COUNTS, repetitions=5, cells=[1], **{**POINT, "seed": 2})
    assert not np.array_equal(first.value, other_seed.value)


def test_seeds_are_stable_across_versions_and_machines():
    assert seed_of(1, a=2.0, b="x") == seed_of(1, b="x", a=2.0)
    # Written down once: a change would silently change every result.
    assert seed_of(20240425, stage="trials", dataset="paris", n=1000) == 3249630088236376417


def test_users_are_drawn_without_replacement():
    everybody = sample_users(COUNTS, COUNTS.sum(), np.random.default_rng(1), 3)
    assert np.array_equal(everybody, np.tile(COUNTS, (3, 1)))
    drawn = sample_users(COUNTS, 100, np.random.default_rng(1), 4000)[:, 0]
    probabilities = stats.hypergeom(COUNTS.sum(), COUNTS[0], 100).pmf(np.arange(41))
    assert consistent(np.bincount(drawn, minlength=41), probabilities)


def test_users_are_drawn_from_enough_of_them_and_from_fewer_than_numpys_limit():
    """`sample_users` takes the dataset's counts, the number of users to draw, rng, and how many samples.

    `COUNTS` are of 1,300 users. Numpy draws hypergeometric numbers only of fewer users than `NUMPYS_LIMIT`,
    10^9, in all.
    """
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match="between 1 and the dataset's 1300 users; got 1301"):
        sample_users(COUNTS, 1301, rng, 1)
    message = "sum to fewer than 1,000,000,000 users; got 1,000,000,000"
    with pytest.raises(ValueError, match=message):
        sample_users(np.array([NUMPYS_LIMIT - 10, 10]), 50, rng, 1)
    # One user less, and they are drawn.
    one_below_the_limit = np.array([NUMPYS_LIMIT - 11, 10])
    two_samples_of_50 = sample_users(one_below_the_limit, 50, rng, repetitions=2)
    assert two_samples_of_50.sum() == 2 * 50


def test_every_point_is_in_the_table_once_with_its_parameters():
    """`run_points` gives the rows of several points, with the errors of their repetitions, in their order.

    Its first argument are the counts of the dataset's users. `SHARED` has what all points share: the
    dataset's name, the protocol and the seed. A point's rows are those that `run_point` gives for it alone.
    """
    points = [
        {"experiment": "tv", "eps0": 4, "eps": 4, "n": 1000, "repetitions": 3},
        {"experiment": "tv", "eps0": 2, "eps": 1, "n": "all", "repetitions": 3},
        {"experiment": "individual", "eps0": 4, "eps": 4, "n": 1000, "repetitions": 5},
    ]
    # The second point again, with its numbers in another form: it is not run twice.
    written_differently = {**points[1], "eps0": 2.0, "n": int(COUNTS.sum())}
    frame = run_trials.run_points(COUNTS, [*points, written_differently], cells=[1, 4], **SHARED)
    assert list(frame.columns) == run_trials.TRIAL_COLUMNS
    by_point = frame.groupby(["experiment", "eps0", "eps", "n", "repetitions"], sort=False)
    assert len(by_point) == len(points)
    for point, (key, rows) in zip(points, by_point, strict=True):
        experiment, eps0, eps, n, repetitions = point.values()
        assert key == (experiment, eps0, eps, users_of(COUNTS, n), repetitions)
        # `run_points` makes floats of the budgets. The seed of a point depends on them as floats.
        budget = {"eps0": float(eps0), "eps": float(eps)}
        alone = run_point(COUNTS, n=n, **budget, repetitions=repetitions, cells=[1, 4], **SHARED)
        pd.testing.assert_frame_equal(rows[list(alone.columns)].reset_index(drop=True), alone)


def test_gaussian_noise_of_the_published_scale_is_added_to_the_counts():
    """The Gaussian's estimate is the noisy counts as fractions of all users, here of two samples of `COUNTS`.

    At eps = eps0 delta-hat is 0, so the Gaussian's delta is the floor of `PROTOCOL`, 1e-30.
    `run_mechanisms` gives by mechanism the estimated fractions of users (repetitions, k), and the Gaussian's
    deltas (repetitions,). `published_scale` is the standard deviation of diffprivlib's noise, in users.
    """
    samples = np.tile(COUNTS, (2, 1))
    rng = np.random.default_rng(1)
    estimates, deltas = run_mechanisms(samples, eps0=4.0, eps=4.0, protocol=PROTOCOL, rng=rng)
    assert set(deltas) == {1e-30}

    # The same draws again: first the reports, which the other mechanisms take, then the noise.
    rng = np.random.default_rng(1)
    sample_histogram(samples, 4.0, rng, repetitions=2)
    noise = rng.standard_normal(samples.shape) * published_scale(4.0, delta=1e-30, sensitivity=1)
    np.testing.assert_allclose(estimates["gaussian"], (samples + noise) / COUNTS.sum(), rtol=1e-12)


def test_the_estimates_of_one_run_are_fractions_cell_by_cell():
    frame = estimate_cells(COUNTS, budgets=[{"eps0": 4, "eps": 4}], n=1000, **SHARED)
    point = ["dataset", "eps0", "eps", "n"]
    assert list(frame.columns) == [*point, "cell", "original", "gaussian", "shuffle+INV", "delta"]
    assert frame[point].drop_duplicates().to_numpy().tolist() == [["toy", 4.0, 4.0, 1000]]
    assert frame.original.sum() == pytest.approx(1)
    assert frame["shuffle+INV"].sum() == pytest.approx(1)
    assert frame["shuffle+INV"].min() >= 0


def test_blocks_of_repetitions_are_put_together_in_order(monkeypatch):
    """Seven repetitions are run in blocks of three, and for comparison all in one block (``whole``).

    A repetition samples 100 of the 1,300 users of `COUNTS`. At eps < eps0 its delta depends on the sample,
    and is far above the floor of 1e-30 in `POINT`. The blocks share one rng, so after the first block the
    draws are others than those of ``whole``. With them change the columns value, delta and uniform (the
    error of the uniform histogram).
    """
    point = {**POINT, "eps": 0.3, "n": 100, "repetitions": 7, "cells": [1, 4]}
    whole = run_point(COUNTS, **point)
    monkeypatch.setattr(run_trials, "BLOCK", 3 * len(COUNTS))  # cells of all repetitions of a block
    blocks = run_point(COUNTS, **point)
    same = [name for name in whole.columns if name not in ("value", "delta", "uniform")]
    assert blocks[same].equals(whole[same])
    # The first block draws its users first, as the whole does: those samples, and their deltas, are equal.
    first = blocks["repetition"] <= 3
    assert blocks.loc[first, "delta"].tolist() == whole.loc[first, "delta"].tolist()
    # One delta in a repetition, and more different ones than those of one block.
    assert blocks.groupby("repetition")["delta"].nunique().eq(1).all()
    assert blocks["delta"].nunique() > 3
    # No error is the same in all repetitions.
    assert blocks.groupby(["mechanism", "metric", "cell"])["value"].nunique().gt(1).all()


@pytest.mark.parametrize("form", ["published", "exact"])
@pytest.mark.parametrize(
    ("eps0", "eps"), [(4.0, 0.05), (4.0, 0.3), (1.0, 0.2), (1.0, 0.9), (2.0, 2.0)]
)
@pytest.mark.parametrize("floor", [1e-30, 1e-3])
def test_the_gaussians_delta_is_that_of_every_count_of_every_sample(form, eps0, eps, floor):
    """The Gaussian's delta: the largest one of all values that somebody holds, but at least the ``floor``.

    There are 20 samples of 700 of the 1,300 users of `COUNTS`, in 5 cells. Without the floor the deltas are
    from 0.08 (exact, eps0 = 4) down to 0 (eps = eps0): some are above both floors, some between, some below.
    """
    samples = sample_users(COUNTS, 700, np.random.default_rng(8), 20)
    protocol = Protocol(delta_form=form, delta_floor=floor, sensitivity=1)
    rng = np.random.default_rng(1)
    _, deltas = run_mechanisms(samples, eps0=eps0, eps=eps, protocol=protocol, rng=rng)
    for sample, delta in zip(samples, deltas, strict=True):
        others = sample[sample > 0] - 1  # users who hold the target user's value, too
        log10_deltas = log10_delta_of_count(eps, n=700, k=5, eps0=eps0, count=others, form=form)
        assert delta == max(10.0 ** np.max(log10_deltas), floor)


def peak_memory(n, repetitions):
    """How many bytes a point of 20,000 cells allocates at most."""
    counts = np.full(20_000, 45_000)
    tracemalloc.start()
    run_point(counts, repetitions=repetitions, cells=[1], **{**POINT, "n": n, "eps": 1.0})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


@pytest.mark.slow
def test_memory_depends_neither_on_users_nor_on_repetitions():
    peak_of_few = peak_memory(10**5, 60)
    assert peak_of_few < 15 * 8 * run_trials.BLOCK
    assert peak_memory(4 * 10**8, 120) < 1.1 * peak_of_few
