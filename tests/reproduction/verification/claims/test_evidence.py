"""What the statements are tested on: the pipeline's files become paired settings."""

import numpy as np
import pandas as pd
import pytest

from reproduction.verification.claims.evidence import (
    GAUSSIAN,
    INV,
    LIKELIEST,
    RAW_GAUSSIAN,
    SHUFFLE,
    NoEvidenceError,
    read_calibrations,
    read_estimates,
    read_parity,
    read_trials,
)
from tests.reproduction.verification.claims import fabricated


def write(path, frame):
    frame.to_parquet(path, index=False)
    return path


def test_trials_become_paired_samples(tmp_path):
    frame = pd.concat(fabricated.trial_frame(n=n, value=n) for n in (1000, 2000))
    shuffled = frame.sample(frac=1, random_state=1)  # the order of rows must not matter
    settings = read_trials([write(tmp_path / "a.parquet", shuffled)])
    metrics = [("tv", 0), ("individual_error", 1), ("individual_error", 3)]
    points = {(setting.n, setting.metric, setting.cell) for setting in settings}
    assert points == {(n, *metric) for n in (1000, 2000) for metric in metrics}
    for setting in settings:
        assert (setting.dataset, setting.k, setting.eps0, setting.eps) == ("synthetic", 15, 4.0, 4.0)
        for shift, name in enumerate((SHUFFLE, INV, GAUSSIAN)):
            expected = setting.n + shift + setting.cell / 100 + np.arange(5) / 1000
            np.testing.assert_allclose(setting.samples[name], expected, rtol=1e-14)


@pytest.mark.parametrize("together", [True, False], ids=["in one file", "in two files"])
def test_of_a_point_in_two_experiments_the_longer_one_counts(tmp_path, together):
    frames = [
        fabricated.trial_frame(repetitions=count, value=count, experiment=name)
        for count, name in ((5, "tv"), (9, "individual"))
    ]
    files = [pd.concat(frames)] if together else frames
    settings = read_trials([write(tmp_path / f"{i}.parquet", file) for i, file in enumerate(files)])
    assert len(settings) == 3
    assert all(len(s.samples[INV]) == 9 for s in settings)
    assert all(s.samples[INV][0] == pytest.approx(10 + s.cell / 100) for s in settings)


def test_mechanisms_with_different_repetitions_are_refused(tmp_path):
    frame = fabricated.trial_frame()
    short = frame[~((frame["mechanism"] == "gaussian") & (frame["repetition"] == 5))]
    with pytest.raises(ValueError, match="different numbers of repetitions; make the trials again"):
        read_trials([write(tmp_path / "a.parquet", short)])


def test_parity_takes_the_upper_bound_and_names_the_estimates(tmp_path):
    settings = read_parity([write(tmp_path / "a.parquet", fabricated.parity_frame())])
    assert len(settings) == 2 * 2 * 3  # budgets, rules, metrics and cells
    assert {s.rule for s in settings} == {"1e-06", "n^-1.1"}
    means = {SHUFFLE: 0.5, INV: 0.1, LIKELIEST: 0.09, RAW_GAUSSIAN: 0.11, GAUSSIAN: 0.08}
    for found in settings:
        assert found.eps == pytest.approx(found.eps0 / 10)
        assert found.delta == pytest.approx(1e-6 if found.rule == "1e-06" else 1000**-1.1)
        assert {name: values[0] for name, values in found.samples.items()} == means


def test_parity_of_several_n_is_that_of_each(tmp_path):
    frames = [fabricated.parity_frame(n=n, repetitions=n // 500) for n in (1000, 2000)]
    together = read_parity([write(tmp_path / "both.parquet", pd.concat(frames))])
    apart = read_parity([write(tmp_path / f"{i}.parquet", frame) for i, frame in enumerate(frames)])
    assert str(together) == str(apart)  # names, settings and every sample


def test_calibrations_are_each_budget_at_eps0_once(tmp_path):
    frames = [fabricated.trial_frame(n=n) for n in (1000, 2000)]
    frames.append(frames[0].assign(eps=1.0, delta=1e-6))  # below eps0, where delta is above 0
    files = [write(tmp_path / f"{number}.parquet", frame) for number, frame in enumerate(frames)]
    assert read_calibrations(files) == {(4.0, 1e-30)}


def test_single_runs_are_paired_over_cells(tmp_path):
    point = {"dataset": "paris", "n": 11190, "delta": 1e-30}
    cells = {"cell": [1, 2], "original": [0.5, 0.5], "shuffle+INV": [0.9, 0.1]}
    frames = [
        pd.DataFrame(point | cells | {"eps0": eps0, "eps": eps0, "gaussian": gaussian})
        for eps0, gaussian in ((2.0, [0.4, 0.7]), (4.0, [0.5, 0.6]))
    ]
    path = tmp_path / "runs.csv"
    pd.concat(frames).to_csv(path, index=False)
    first, second = read_estimates([path])
    assert (first.dataset, first.n, first.k, first.metric) == ("paris", 11190, 2, "cell_error")
    assert (first.eps0, first.eps, first.delta) == (2.0, 2.0, 1e-30)
    assert second.eps0 == 4.0
    np.testing.assert_allclose(first.samples[GAUSSIAN], [0.1, 0.2])
    np.testing.assert_allclose(second.samples[GAUSSIAN], [0.0, 0.1])
    np.testing.assert_allclose(first.samples[INV], [0.4, 0.4])


def test_what_is_missing_is_said():
    reading = fabricated.exact(fabricated.three(0.1, 0.2))
    assert len(reading.pick((GAUSSIAN, INV), budgets={"synthetic": (4,)})) == 1
    assert len(reading.pick((GAUSSIAN, INV), budgets={"synthetic": None})) == 1
    with pytest.raises(NoEvidenceError, match=r"exact experiments have no tv of .* for paris at eps0 = 4, 6"):
        reading.pick((GAUSSIAN, INV), budgets={"synthetic": (4,), "paris": (4, 6)})
    with pytest.raises(NoEvidenceError, match="no tv of maximum likelihood for any dataset"):
        reading.pick((LIKELIEST,))


def test_beyond_are_the_other_eps0_of_the_papers_datasets():
    own = fabricated.three(0.1, 0.9, dataset="mine")
    reading = fabricated.exact(*(fabricated.three(0.1, 0.2, eps0=eps0) for eps0 in (4.0, 6.0)), own)
    assert reading.beyond() == {"synthetic": [6.0]}
