"""What a configuration asks for: datasets in order, the points of every file of trials."""

import pytest

from reproduction.jobs import workload
from reproduction.jobs.configuration import PAPERS, merge, merged, of_the_papers, settings_of
from tests import ROOT

CONFIG = merged([PAPERS])
DATASETS = workload.datasets_of(settings_of(CONFIG))
SCALE = workload.datasets_of(settings_of(merged([PAPERS, ROOT / "config/scale.yaml"])))
OWN = {"kind": "counts", "title": "Own", "file": "own.csv"}


def with_own(**sections):
    return workload.datasets_of(settings_of(merge(CONFIG, {"datasets": {"a_own": OWN | sections}})))


def test_datasets_are_in_the_papers_order_and_your_own_come_last():
    assert list(with_own()) == ["synthetic", "san_francisco", "paris", "a_own"]
    assert workload.of_kind(with_own(), "gowalla") == ["san_francisco", "paris"]
    assert workload.of_kind(with_own(), "counts") == ["a_own"]
    assert workload.having(DATASETS, "estimates") == ["san_francisco", "paris"]
    assert of_the_papers(with_own()) == DATASETS


def test_numbers_in_names_of_files_are_the_same_however_they_are_written():
    assert workload.label(eps0=4, eps=4.0) == workload.label(eps0=4.0, eps=4) == "eps0-4_eps-4"
    assert workload.label(eps0=0.5, n=10**9) == "eps0-0.5_n-1000000000"


def test_a_file_of_trials_holds_all_points_of_one_budget():
    trials = workload.trials_of(DATASETS)
    points = trials["paris", "eps0-4_eps-4"]
    assert {point["experiment"] for point in points} == {"tv", "individual"}
    assert {(point["eps0"], point["eps"]) for point in points} == {(4.0, 4.0)}
    assert [point["n"] for point in points if point["experiment"] == "tv"] == DATASETS["paris"].tv.n
    assert workload.points_of(trials, "paris", "eps0-4_eps-4") == points
    with pytest.raises(ValueError, match=r"^paris_x: .* those of paris: eps0-4_eps-4, eps0-6_eps-6$"):
        workload.points_of(trials, "paris", "x")
    assert workload.files_of_trials(trials, ["individual"], ["paris"]) == ["paris_eps0-4_eps-4.parquet"]
    assert workload.files_of_trials(trials, ["grid"], DATASETS) == []


def grid(datasets, name):
    """The points of the parts of a dataset's grid, in order."""
    parts = {
        part: points for (dataset, part), points in workload.trials_of(datasets).items() if dataset == name
    }
    return [parts[f"grid-{number}"] for number in range(1, len(parts) + 1)]


def test_the_scale_runs_grid_has_a_thousand_points_each_once():
    names = [name for name in SCALE if name.startswith("scale_k")]
    points = [(name, point) for name in names for part in grid(SCALE, name) for point in part]
    asked = {(name, point["eps0"], point["eps"], point["n"]) for name, point in points}
    assert len(points) == len(asked) == 1100
    assert max(n for *_, n in asked) == 10**9
    assert max(SCALE[name].cells for name in names) == 10**5
    assert all(eps <= eps0 for _, eps0, eps, _ in asked)
    assert {(point["experiment"], point["repetitions"]) for _, point in points} == {("grid", 1000)}


@pytest.mark.parametrize(
    ("name", "parts", "size"), [("scale_k15", 1, 220), ("scale_k10000", 9, 25), ("scale_k100000", 55, 4)]
)
def test_a_job_holds_as_many_points_as_the_config_says(name, parts, size):
    sizes = [len(points) for points in grid(SCALE, name)]
    assert sizes == [size] * (parts - 1) + [220 - size * (parts - 1)]


def test_a_grid_without_a_split_has_one_job_per_budget():
    own = with_own(grid={"eps0": [4, 2], "eps": [0.5, 2.0, 3], "n": [10, "all"], "repetitions": 5})
    parts = grid(own, "a_own")
    budgets = [[(point["eps0"], point["eps"]) for point in points] for points in parts]
    assert budgets == [[budget] * 2 for budget in ((4, 0.5), (4, 2), (4, 3), (2, 0.5), (2, 2))]
    assert all([point["n"] for point in points] == [10, "all"] for points in parts)


def test_at_equal_privacy_the_slow_bound_is_for_the_first_and_the_last_n():
    first, *others, last = workload.parity_sizes(DATASETS, "paris")
    assert first["bounds"] == last["bounds"] == ["upper", "lower"]
    assert others
    assert all(size["bounds"] == ["upper"] for size in others)
    fewest = {size["n"]: size["fewest"] for size in workload.parity_sizes(DATASETS, "synthetic")}
    assert {n for n in fewest if fewest[n]} == {1000, 100000}  # Table V's, whose repetitions these are
    assert fewest[1000] == DATASETS["synthetic"].individual.repetitions
    assert workload.parity_estimates(DATASETS, "paris", 1e-6) == {
        "eps0": [2, 4, 6],
        "n": "all",
        "delta": 1e-6,
    }
    with pytest.raises(
        ValueError, match=r"^datasets.synthetic: the config has no section 'estimates' to run"
    ):
        workload.parity_estimates(DATASETS, "synthetic", 1e-6)


def test_the_audits_settings_have_names_of_their_own():
    settings = workload.audit_settings(settings_of(CONFIG).audit)
    assert list(settings.values()) == CONFIG["audit"]["settings"]
    assert all(name.startswith("n-") and "_count-" in name for name in settings)
