"""The scale run's cost table: which points are measured, and sums that can be checked by hand."""

import numpy as np
import pandas as pd
import pytest
import yaml

from benchmarks import scale
from tests import ROOT

DATASETS = yaml.safe_load((ROOT / "config/scale.yaml").read_text())["datasets"]
PROTOCOL = {"delta_form": "exact", "delta_floor": 1e-30, "sensitivity": 1}


def made_up():
    rows = [
        [plan["cells"], n, eps0, eps, 1000, 3.0, 200.0]
        for plan in DATASETS.values()
        for eps0, eps, n in scale.sample(plan)
    ]
    return pd.DataFrame(rows, columns=scale.COLUMNS)


def test_measured_points_are_points_of_the_grid():
    assert sum(len(scale.points(plan)) for plan in DATASETS.values()) == 1100
    for plan in DATASETS.values():
        assert set(scale.sample(plan)) <= set(scale.points(plan))
    assert len(scale.sample(DATASETS["scale_k15"])) == 22 * len(scale.SIZES)


def test_totals_add_up():
    sums = scale.totals(made_up(), DATASETS, start=2.0)
    assert sums["points"].sum() == 1100
    assert sums["jobs"].tolist() == [1, 1, 1, 9, 55]
    assert sums["in_all"].sum() == pytest.approx(1100 * 3 + 67 * 2)
    assert set(sums["enough"]) == {6}  # 18 core-seconds beside a start of 2
    last = sums.iloc[-1]  # four points per job
    assert (last["of_a_job"], last["start"]) == pytest.approx((14, 1 / 7))
    assert scale.on_cores(sums, 2) == pytest.approx((1717, 1))
    assert scale.on_cores(sums, 3434) == pytest.approx((662, 1 / 662))  # the longest job


def test_page_has_every_k_and_n():
    spent = {"plan": 5.0, "dense": 10.0, "here": 1.0, "cluster": 2.0}
    page = scale.summary(made_up(), DATASETS, spent)
    for plan in DATASETS.values():
        assert f"| {plan['cells']:,} | 3.00 | 3.00 | 3.00 | 3.00 |" in page
    assert "n = 10^9" in page
    assert "| 3,000 | 11.0 | 0% |" in page


def test_a_point_is_measured():
    plan = DATASETS["scale_k15"] | {"grid": DATASETS["scale_k15"]["grid"] | {"repetitions": 3}}
    row = scale.measure("scale_k15", plan, PROTOCOL, 4.0, 0.5, 10**9)
    assert list(row) == scale.COLUMNS
    assert row["core_seconds"] > 0
    assert np.isfinite(row["peak_mb"])
