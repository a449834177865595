"""Which file holds which points: a budget's, or some points of a grid."""

from scripts.paper.trials.parts import points_of_parts


def test_points_of_two_experiments_with_the_same_budget_are_in_one_file():
    budgets = [{"eps0": 4, "eps": 4}]
    dataset = {
        "tv": {"budgets": budgets, "n": [10, "all"], "repetitions": 5},
        "individual": {"budgets": budgets, "n": [10], "cells": [1], "repetitions": 100},
    }
    assert points_of_parts(dataset) == {
        "eps0-4_eps-4": [
            {"experiment": "tv", "eps0": 4.0, "eps": 4.0, "n": 10, "repetitions": 5},
            {"experiment": "tv", "eps0": 4.0, "eps": 4.0, "n": "all", "repetitions": 5},
            {"experiment": "individual", "eps0": 4.0, "eps": 4.0, "n": 10, "repetitions": 100},
        ]
    }


def test_every_budget_has_a_file_with_its_name():
    budgets = [{"eps0": 4, "eps": 4}, {"eps0": 6, "eps": 0.5}]
    parts = points_of_parts({"tv": {"budgets": budgets, "n": [10], "repetitions": 5}})
    assert list(parts) == ["eps0-4_eps-4", "eps0-6_eps-0.5"]


def files_of_grid(points_per_job):
    """Name of a file -> (eps0, eps, n) of its points, of the grid eps0 in 1, 2, eps in 0.5, 2, n in 7, 8."""
    grid = {"eps0": [1, 2], "eps": [0.5, 2], "n": [7, 8], "repetitions": 3}
    parts = points_of_parts({"grid": {**grid, "points_per_job": points_per_job}})
    return {
        name: [(point["eps0"], point["eps"], point["n"]) for point in points]
        for name, points in parts.items()
    }


def test_a_grid_has_every_eps_up_to_eps0_and_is_cut_into_files_of_points_per_job():
    assert files_of_grid(points_per_job=4) == {
        "grid-1": [(1, 0.5, 7), (1, 0.5, 8), (2, 0.5, 7), (2, 0.5, 8)],
        "grid-2": [(2, 2, 7), (2, 2, 8)],
    }


def test_a_file_of_a_grid_has_one_budget_by_default():
    assert files_of_grid(points_per_job=None) == {
        "grid-1": [(1, 0.5, 7), (1, 0.5, 8)],
        "grid-2": [(2, 0.5, 7), (2, 0.5, 8)],
        "grid-3": [(2, 2, 7), (2, 2, 8)],
    }


def test_a_dataset_without_experiments_has_no_files():
    assert points_of_parts({}) == {}
