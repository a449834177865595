"""A trial point: its shape, its seeds, its samples, and errors of the size that theory says."""

import numpy as np
import pytest
from scipy import stats

from tightshuffle.experiments import (
    MECHANISMS,
    Protocol,
    estimate_cells,
    run_point,
    sample_users,
    seed_of,
)
from tightshuffle.gaussian import published_scale
from tightshuffle.privacy.count import delta_hat

COUNTS = np.array([40, 900, 300, 0, 60])
PROTOCOL = Protocol(delta_form="published", delta_floor=1e-30, sensitivity=1)
POINT = {"dataset": "toy", "eps0": 4.0, "eps": 4.0, "n": 1000, "protocol": PROTOCOL, "seed": 1}


def test_tidy_frame():
    frame = run_point(COUNTS, repetitions=6, cells=[1, 4], **POINT)
    assert list(frame.columns) == [
        *["dataset", "eps0", "eps", "delta", "n", "k", "mechanism", "repetition", "metric", "cell"],
        *["value", "seed"],
    ]
    assert len(frame) == 6 * len(MECHANISMS) * (1 + 2)
    assert set(frame.loc[frame.metric == "tv", "cell"]) == {0}
    assert frame.notna().all().all()


def test_same_parameters_same_values_and_nothing_else_matters():
    first = run_point(COUNTS, repetitions=5, cells=[1], **POINT)
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
    law = stats.hypergeom(COUNTS.sum(), COUNTS[0], 100)
    values = np.arange(0, 9)
    expected = np.append(law.pmf(values[:-1]), law.sf(values[-2])) * 4000
    observed = np.bincount(np.minimum(drawn, values[-1]), minlength=values.size)
    assert stats.chisquare(observed, expected).pvalue > 1e-4
    with pytest.raises(ValueError, match="between 1 and the dataset's 1300 users; got 1301"):
        sample_users(COUNTS, 1301, np.random.default_rng(1), 1)


def test_gaussian_error_is_half_normal_of_the_published_scale():
    frame = run_point(COUNTS, repetitions=3000, cells=[2], **POINT)
    errors = frame.query("mechanism == 'gaussian' and metric == 'individual_error'").value * 1000
    assert stats.kstest(errors, "halfnorm", args=(0, published_scale(4.0, 1e-30, 1))).pvalue > 1e-4
    assert set(frame.delta) == {1e-30}


def test_delta_below_eps0_is_delta_hat_of_the_sample():
    frame = run_point(COUNTS, repetitions=3, cells=[1], **(POINT | {"eps": 0.3, "n": "all"}))
    assert frame.delta.unique() == pytest.approx([10 ** delta_hat(COUNTS, 0.3, eps0=4.0, form="published")])
    assert frame.n.unique() == [COUNTS.sum()]


def test_estimates_of_one_run():
    frame = estimate_cells(COUNTS, **POINT)
    assert list(frame.columns) == ["cell", "original", "gaussian", "shuffle+INV", "delta"]
    assert frame.original.sum() == pytest.approx(1)
    assert frame["shuffle+INV"].sum() == pytest.approx(1)
    assert frame["shuffle+INV"].min() >= 0
