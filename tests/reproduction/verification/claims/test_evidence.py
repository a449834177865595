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
    printed_numbers,
    read_estimates,
    read_parity,
    read_trials,
)
from reproduction.verification.printed import read_values
from tests import ROOT
from tests.reproduction.verification.claims import world


def write(path, frame):
    frame.to_parquet(path, index=False)
    return path


def test_trials_become_paired_samples(tmp_path):
    frame = pd.concat(world.trial_frame(n=n, value=n) for n in (1000, 2000))
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
        world.trial_frame(repetitions=count, value=count, experiment=name)
        for count, name in ((5, "tv"), (9, "individual"))
    ]
    files = [pd.concat(frames)] if together else frames
    settings = read_trials([write(tmp_path / f"{i}.parquet", file) for i, file in enumerate(files)])
    assert [len(s.samples[INV]) for s in settings] == [9] * 3


def test_mechanisms_with_different_repetitions_are_refused(tmp_path):
    frame = world.trial_frame()
    short = frame[~((frame["mechanism"] == "gaussian") & (frame["repetition"] == 4))]
    with pytest.raises(ValueError, match="different numbers of repetitions; make the trials again"):
        read_trials([write(tmp_path / "a.parquet", short)])


def test_parity_takes_the_upper_bound_and_names_the_estimates(tmp_path):
    frame = pd.concat(world.parity_frame(n) for n in (1000, 2000))
    settings = read_parity([write(tmp_path / "a.parquet", frame)])
    assert len(settings) == 2 * 2 * 2 * 3  # n, budgets, rules, metrics and cells
    means = {SHUFFLE: 0.5, INV: 0.1, LIKELIEST: 0.09, RAW_GAUSSIAN: 0.11, GAUSSIAN: 0.08}
    for found in settings:
        assert found.eps == pytest.approx(found.eps0 / 10)
        assert found.delta == pytest.approx({"1e-06": 1e-6, "n^-1.1": found.n**-1.1}[found.rule])
        assert {name: values[0] for name, values in found.samples.items()} == means


def test_single_runs_are_paired_over_cells(tmp_path):
    point = {"dataset": "paris", "n": 11190, "delta": 1e-30, "cell": [1, 2], "original": 0.5}
    pd.DataFrame(point | {"shuffle+INV": [0.9, 0.1], "eps0": 2.0, "eps": 2.0, "gaussian": [0.4, 0.7]}).to_csv(
        tmp_path / "runs.csv", index=False
    )
    (found,) = read_estimates([tmp_path / "runs.csv"])
    assert (found.dataset, found.n, found.k, found.eps0, found.metric) == ("paris", 11190, 2, 2, "cell_error")
    np.testing.assert_allclose(found.samples[GAUSSIAN], [0.1, 0.2])
    np.testing.assert_allclose(found.samples[INV], [0.4, 0.4])


def test_what_is_missing_is_said():
    reading = world.exact(world.three(0.1, 0.2))
    assert len(reading.pick((GAUSSIAN, INV), budgets={"synthetic": (4,)})) == 1
    assert len(reading.pick((GAUSSIAN, INV), budgets={"synthetic": None})) == 1
    with pytest.raises(NoEvidenceError, match=r"exact experiments have no tv of .* for paris at eps0 = 4, 6"):
        reading.pick((GAUSSIAN, INV), budgets={"synthetic": (4,), "paris": (4, 6)})
    with pytest.raises(NoEvidenceError, match="no tv of maximum likelihood for any dataset"):
        reading.pick((LIKELIEST,))


def test_cited_bounds_that_do_not_apply_are_no_numbers():
    values = read_values(ROOT / "data/published/values.csv")
    deltas = values[values["quantity"] == "delta"].assign(exact=-3.0)
    deltas.loc[deltas["mechanism"] == "erlingsson", "exact"] = None
    found = printed_numbers(values, deltas)
    cited = found.set_index(["item", "mechanism", "n", "eps"]).sort_index()["log10_cited"]
    assert cited["Table II", "balle", 100, 0.1] == -3.0
    for none in (("Table II", "erlingsson"), ("Table II", "this paper")):
        assert cited[none].isna().all()
    assert found["log10_printed"].max() == pytest.approx(5.09, abs=0.01)  # 123,108 check-ins
