"""Which file holds which points: a budget's, or some points of a grid."""

from scripts.paper.trials.parts import points_of_parts

BUDGET = {"eps0": 4, "eps": 4}
GRID = {"eps0": [1, 2], "eps": [0.5, 2], "n": [7, 8], "repetitions": 3}


def test_a_budget_of_two_experiments_is_one_file():
    """`points_of_parts` gives name of a file -> its points, one for each experiment and n with this budget.

    The budget `BUDGET`, eps0 = eps = 4, is of both experiments, the one with eps0 = 6 of tv alone. The cells,
    whose errors the experiment individual takes, are no part of a point.
    """
    dataset = {
        "tv": {"budgets": [BUDGET, {"eps0": 6, "eps": 0.5}], "n": [10, "all"], "repetitions": 5},
        "individual": {"budgets": [BUDGET], "n": [10], "cells": [1], "repetitions": 100},
    }
    parts = points_of_parts(dataset)
    assert list(parts) == ["eps0-4_eps-4", "eps0-6_eps-0.5"]
    assert parts["eps0-4_eps-4"] == [
        {"experiment": "tv", "eps0": 4.0, "eps": 4.0, "n": 10, "repetitions": 5},
        {"experiment": "tv", "eps0": 4.0, "eps": 4.0, "n": "all", "repetitions": 5},
        {"experiment": "individual", "eps0": 4.0, "eps": 4.0, "n": 10, "repetitions": 100},
    ]


def test_a_grid_has_every_eps_up_to_eps0_and_is_cut_into_files_of_points_per_job():
    parts = points_of_parts({"grid": {**GRID, "points_per_job": 4}})
    assert list(parts) == ["grid-1", "grid-2"]
    points = [
        (point["eps0"], point["eps"], point["n"]) for point in parts["grid-1"] + parts["grid-2"]
    ]
    assert points == [(1, 0.5, 7), (1, 0.5, 8), (2, 0.5, 7), (2, 0.5, 8), (2, 2, 7), (2, 2, 8)]
    assert len(parts["grid-1"]) == 4


def test_a_file_of_a_grid_has_one_budget_by_default():
    parts = points_of_parts({"grid": {**GRID, "points_per_job": None}})
    budgets = [{(point["eps0"], point["eps"]) for point in points} for points in parts.values()]
    assert budgets == [{(1, 0.5)}, {(2, 0.5)}, {(2, 2)}]


def test_a_dataset_without_experiments_has_no_files():
    assert points_of_parts({}) == {}
