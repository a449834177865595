"""What the statements are tested on: the pipeline's files become paired settings."""

import fabricated
import numpy as np
import pandas as pd
import pytest

from tightshuffle.claims.evidence import (
    GAUSSIAN,
    INV,
    LIKELIEST,
    RAW_GAUSSIAN,
    RAW_INV,
    SHUFFLE,
    WHOLE,
    NoEvidenceError,
    read_calibrations,
    read_estimates,
    read_parity,
    read_trials,
)


def write(path, frame):
    frame.to_parquet(path, index=False)
    return path


def test_trials_become_paired_samples(tmp_path):
    frame = fabricated.trial_frame()
    shuffled = frame.sample(frac=1, random_state=1)  # the order of rows must not matter
    settings = read_trials([write(tmp_path / "a.parquet", shuffled)])
    assert {(s.metric, s.cell) for s in settings} == {
        ("tv", 0),
        ("individual_error", 1),
        ("individual_error", 3),
    }
    for found in settings:
        assert (found.dataset, found.n, found.k, found.eps0, found.eps) == ("synthetic", 1000, 15, 4.0, 4.0)
        for shift, name in enumerate((SHUFFLE, INV, GAUSSIAN)):
            expected = 0.1 + shift + found.cell / 100 + np.arange(5) / 1000
            np.testing.assert_allclose(found.samples[name], expected, rtol=1e-14)


def test_the_file_with_the_most_repetitions_counts(tmp_path):
    files = [
        write(tmp_path / f"{count}.parquet", fabricated.trial_frame(repetitions=count, value=count))
        for count in (5, 9, 7)
    ]
    settings = read_trials(files)
    assert len(settings) == 3
    assert all(len(s.samples[INV]) == 9 for s in settings)


def test_mechanisms_with_different_repetitions_are_refused(tmp_path):
    frame = fabricated.trial_frame()
    short = frame[~((frame["mechanism"] == "gaussian") & (frame["repetition"] == 5))]
    with pytest.raises(ValueError, match="different numbers of repetitions; make the trials again"):
        read_trials([write(tmp_path / "a.parquet", short)])


def test_parity_takes_the_upper_bound_and_names_the_estimates(tmp_path):
    settings = read_parity([write(tmp_path / "a.parquet", fabricated.parity_frame())])
    assert len(settings) == 2 * 2 * 3  # budgets, rules, metrics and cells
    assert {s.rule for s in settings} == {"1e-06", "n^-1.1"}
    means = {SHUFFLE: 0.5, RAW_INV: 0.12, INV: 0.1, LIKELIEST: 0.09, RAW_GAUSSIAN: 0.11, GAUSSIAN: 0.08}
    for found in settings:
        assert found.eps == pytest.approx(found.eps0 / 10)
        assert found.delta == pytest.approx(1e-6 if found.rule == "1e-06" else 1000**-1.1)
        assert {name: values[0] for name, values in found.samples.items()} == means


def test_calibrations_are_each_budget_once(tmp_path):
    files = [write(tmp_path / f"{n}.parquet", fabricated.trial_frame(n=n)) for n in (1000, 2000)]
    assert read_calibrations(files) == {(4.0, 1e-30)}


def test_single_runs_are_paired_over_cells(tmp_path):
    frame = pd.DataFrame(
        {
            "cell": [1, 2],
            "original": [0.5, 0.5],
            "gaussian": [0.4, 0.7],
            "shuffle+INV": [0.9, 0.1],
            "delta": 1e-30,
        }
    )
    path = tmp_path / "run.csv"
    frame.to_csv(path, index=False)
    found = read_estimates(path, dataset="paris", n="all", eps0=2.0, eps=2.0)
    assert (found.n, found.metric, found.k) == (WHOLE, "cell_error", 2)
    np.testing.assert_allclose(found.samples[GAUSSIAN], [0.1, 0.2])
    np.testing.assert_allclose(found.samples[INV], [0.4, 0.4])
    assert read_estimates(path, dataset="paris", n=500, eps0=2.0, eps=2.0).n == 500


def test_what_is_missing_is_said():
    reading = fabricated.exact(fabricated.three(0.1, 0.2))
    assert len(reading.pick((GAUSSIAN, INV), datasets=("synthetic",), eps0=(4,))) == 1
    with pytest.raises(NoEvidenceError, match=r"exact experiments have no tv of .* for paris at eps0 = 4, 6"):
        reading.pick((GAUSSIAN, INV), datasets=("synthetic", "paris"), eps0=(4, 6))
    with pytest.raises(NoEvidenceError, match="no tv of maximum likelihood for any dataset"):
        reading.pick((LIKELIEST,))
