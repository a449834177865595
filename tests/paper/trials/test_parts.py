"""Which file holds which points: a budget's, or some points of a grid."""

from scripts.paper.trials.parts import parts_of

BUDGET = {"eps0": 4, "eps": 4}


def test_a_budget_of_two_experiments_is_one_file_and_a_grid_is_cut_into_several():
    dataset = {
        "tv": {"budgets": [BUDGET, {"eps0": 6, "eps": 0.5}], "n": [10, "all"], "repetitions": 5},
        "individual": {"budgets": [BUDGET], "n": [10], "cells": [1], "repetitions": 100},
        "grid": {"eps0": [1, 2], "eps": [0.5, 2], "n": [7, 8], "repetitions": 3, "points_per_job": 4},
    }
    parts = parts_of(dataset)
    assert list(parts) == ["eps0-4_eps-4", "eps0-6_eps-0.5", "grid-1", "grid-2"]
    assert [list(point.values()) for point in parts["eps0-4_eps-4"]] == [
        ["tv", 4.0, 4.0, 10, 5],
        ["tv", 4.0, 4.0, "all", 5],
        ["individual", 4.0, 4.0, 10, 100],
    ]
    grid = [tuple(point.values())[1:4] for part in ("grid-1", "grid-2") for point in parts[part]]
    assert grid == [(e, eps, n) for e, eps in ((1, 0.5), (2, 0.5), (2, 2)) for n in (7, 8)]  # eps up to eps0
    assert [len(parts[part]) for part in ("grid-1", "grid-2")] == [4, 2]
    assert list(parts_of({"grid": dataset["grid"] | {"points_per_job": None}})) == [
        "grid-1",
        "grid-2",
        "grid-3",
    ]
    assert parts_of({}) == {}
