"""A trial point: its shape, its seeds, its samples, and errors of the size that theory says."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.paper.data.users import sample_users, users_of
from scripts.paper.delta.printed_formulas import delta_of_count
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
POINT = SHARED | {"eps0": 4.0, "eps": 4.0, "n": 1000}


def test_same_parameters_same_values_and_nothing_else_matters():
    first = run_point(COUNTS, repetitions=5, cells=[1], **POINT)
    assert len(first) == 5 * len(MECHANISMS) * (1 + 1)
    assert set(zip(first.metric, first.cell, strict=True)) == {("tv", 0), ("individual_error", 1)}
    run_point(COUNTS, repetitions=5, cells=[1], **(POINT | {"n": 500}))
    assert first.equals(run_point(COUNTS, repetitions=5, cells=[1], **POINT))
    other = run_point(COUNTS, repetitions=5, cells=[1], **(POINT | {"seed": 2}))
    assert not np.array_equal(first.value, other.value)


def test_seeds_are_stable_across_versions_and_machines():
    assert seed_of(1, a=2.0, b="x") == seed_of(1, b="x", a=2.0)
    # Written down once: a change would silently change every result.
    assert seed_of(20240425, stage="trials", dataset="paris", n=1000) == 3249630088236376417


def test_users_are_drawn_without_replacement():
    everybody = sample_users(COUNTS, COUNTS.sum(), np.random.default_rng(1), 3)
    assert np.array_equal(everybody, np.tile(COUNTS, (3, 1)))
    drawn = sample_users(COUNTS, 100, np.random.default_rng(1), 4000)[:, 0]
    law = stats.hypergeom(COUNTS.sum(), COUNTS[0], 100).pmf(np.arange(41))
    assert consistent(np.bincount(drawn, minlength=41), law)
    with pytest.raises(ValueError, match="between 1 and the dataset's 1300 users; got 1301"):
        sample_users(COUNTS, 1301, np.random.default_rng(1), 1)
    with pytest.raises(ValueError, match="sum to fewer than 1,000,000,000 users; got 1,000,000,000"):
        sample_users(np.array([NUMPYS_LIMIT - 10, 10]), 50, np.random.default_rng(1), 1)
    most = np.array([NUMPYS_LIMIT - 11, 10])
    assert sample_users(most, 50, np.random.default_rng(1), 2).sum() == 100


def test_points_are_rows_with_their_parameters():
    points = [
        {"experiment": "tv", "eps0": 4, "eps": 4, "n": 1000, "repetitions": 3},
        {"experiment": "tv", "eps0": 2, "eps": 1, "n": "all", "repetitions": 3},
        {"experiment": "individual", "eps0": 4, "eps": 4, "n": 1000, "repetitions": 5},
    ]
    again = points[1] | {"eps0": 2.0, "n": int(COUNTS.sum())}  # written differently
    frame = run_trials.run_points(COUNTS, [*points, again], cells=[1, 4], **SHARED)
    assert list(frame.columns) == run_trials.TRIAL_COLUMNS
    by_point = frame.groupby(["experiment", "eps0", "eps", "n", "repetitions"], sort=False)
    expected = [tuple({**point, "n": users_of(COUNTS, point["n"])}.values()) for point in points]
    assert [key for key, _ in by_point] == expected
    for point, (_, rows) in zip(points, by_point, strict=True):
        size = {name: point[name] for name in ("n", "repetitions")}
        budget = {name: float(point[name]) for name in ("eps0", "eps")}
        alone = run_point(COUNTS, cells=[1, 4], **SHARED, **size, **budget)
        pd.testing.assert_frame_equal(rows[list(alone.columns)].reset_index(drop=True), alone)


def test_gaussian_noise_of_the_published_scale_is_added_to_the_counts():
    # The same draws again.
    samples, first, again = np.tile(COUNTS, (2, 1)), np.random.default_rng(1), np.random.default_rng(1)
    estimates, deltas = run_mechanisms(samples, eps0=4.0, eps=4.0, protocol=PROTOCOL, rng=first)
    assert set(deltas) == {1e-30}
    sample_histogram(samples, 4.0, again, repetitions=2)
    noise = again.standard_normal(samples.shape) * published_scale(4.0, 1e-30, 1)
    np.testing.assert_allclose(estimates["gaussian"], (samples + noise) / COUNTS.sum(), rtol=1e-12)


def test_estimates_of_one_run():
    frame = estimate_cells(COUNTS, budgets=[{"eps0": 4, "eps": 4}], n=1000, **SHARED)
    point = ["dataset", "eps0", "eps", "n"]
    assert list(frame.columns) == [*point, "cell", "original", "gaussian", "shuffle+INV", "delta"]
    assert frame[point].drop_duplicates().to_numpy().tolist() == [["toy", 4.0, 4.0, 1000]]
    assert frame.original.sum() == pytest.approx(1)
    assert frame["shuffle+INV"].sum() == pytest.approx(1)
    assert frame["shuffle+INV"].min() >= 0


def test_blocks_of_repetitions_are_put_together_in_order(monkeypatch):
    whole = run_point(COUNTS, repetitions=7, cells=[1, 4], **(POINT | {"eps": 0.3}))
    monkeypatch.setattr(run_trials, "BLOCK", 3 * len(COUNTS))
    blocks = run_point(COUNTS, repetitions=7, cells=[1, 4], **(POINT | {"eps": 0.3}))
    same = [name for name in whole.columns if name not in ("value", "delta", "uniform")]
    assert blocks[same].equals(whole[same])
    # The first block draws its users first, as the whole does: those samples, and their deltas, are equal.
    first = blocks["repetition"] == 1
    assert blocks.loc[first, "delta"].tolist() == whole.loc[first, "delta"].tolist()
    assert blocks.groupby("repetition")["delta"].nunique().eq(1).all()
    assert blocks.groupby(["mechanism", "metric", "cell"])["value"].nunique().gt(1).all()


@pytest.mark.parametrize("form", ["published", "exact"])
@pytest.mark.parametrize(("eps0", "eps"), [(4.0, 0.05), (4.0, 0.3), (1.0, 0.2), (1.0, 0.9), (2.0, 2.0)])
@pytest.mark.parametrize("floor", [1e-30, 1e-3])
def test_the_gaussians_delta_is_that_of_every_count_of_every_sample(form, eps0, eps, floor):
    samples = sample_users(COUNTS, 700, np.random.default_rng(8), 20)
    protocol = Protocol(delta_form=form, delta_floor=floor, sensitivity=1)
    _, deltas = run_mechanisms(samples, eps0=eps0, eps=eps, protocol=protocol, rng=np.random.default_rng(1))
    for sample, calibrated in zip(samples, deltas, strict=True):
        logs = delta_of_count(eps, n=700, k=5, eps0=eps0, count=sample[sample > 0] - 1, form=form)
        assert calibrated == max(10.0 ** np.max(logs), floor)


def peak(n, repetitions, k=20_000):
    """Bytes that a point holds at most."""
    tracemalloc.start()
    counts = np.full(k, 9 * 10**8 // k)
    run_point(counts, repetitions=repetitions, cells=[1], **POINT | {"n": n, "eps": 1.0})
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


@pytest.mark.slow
def test_memory_depends_neither_on_users_nor_on_repetitions():
    small = peak(10**5, 60)
    assert small < 15 * 8 * run_trials.BLOCK
    assert peak(4 * 10**8, 120) < 1.1 * small
