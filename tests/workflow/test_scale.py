"""config/scale.yaml, which is what a cluster is for, still makes its jobs."""

import pytest

pytestmark = [pytest.mark.pipeline, pytest.mark.slow]


def test_the_large_grid_is_planned(fresh):
    fresh.config = ["--configfile", "config/scale.yaml"]
    last = "results/scale/trials/scale_k100000_grid-50.parquet"  # of 198 points, 4 in a job
    assert fresh.planned(last) == {"sample_synthetic": 1, "run_trials": 1}
    assert fresh.planned("trials")["run_trials"] > 60
