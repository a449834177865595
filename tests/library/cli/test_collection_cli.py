"""`tightshuffle collection`: the numbers of the class, in three forms."""

import json

import pytest

from tests.library.cli.calls import json_answer, text_answer
from tightshuffle.collection import read_collection


@pytest.fixture
def path_of_two_groups(tmp_path):
    """The path of a file of a collection from two groups, "small" and "large", with dummies."""
    path = tmp_path / "mine.yaml"
    path.write_text("""
k: 20
groups:
  - {name: small, users: 500, eps0: 1}
  - {name: large, users: 3000, eps0: 3, participation: 0.5}
dummies: {poisson_per_user_and_value: 0.01}
""")
    return path


def test_eps_of_every_group_are_those_of_the_class(path_of_two_groups):
    """A group's "eps_unseen" is for an attacker who cannot know who takes part."""
    collection = read_collection(str(path_of_two_groups))
    found = json_answer("collection --delta 1e-6", path_of_two_groups)
    for record in found["groups"]:
        group = record["group"]
        assert record["eps_upper"] == collection.epsilon(1e-6, group=group)
        assert record["eps_lower"] == collection.epsilon(1e-6, group=group, bound="lower")
        assert record["eps_unseen"] == collection.epsilon(1e-6, group=group, unseen=True)
        assert record["eps_without_shuffler"] == collection.if_the_shuffler_fails(group)


def test_log10_deltas_of_every_group_are_those_of_the_class(path_of_two_groups):
    """A group's "log10_delta_unseen" is for an attacker who cannot know who takes part."""
    collection = read_collection(str(path_of_two_groups))
    found = json_answer("collection --eps 0.1", path_of_two_groups)
    for record in found["groups"]:
        group = record["group"]
        assert record["log10_delta_upper"] == collection.log10_delta(0.1, group=group)
        lower = collection.log10_delta(0.1, group=group, bound="lower")
        assert record["log10_delta_lower"] == lower
        unseen = collection.log10_delta(0.1, group=group, unseen=True)
        assert record["log10_delta_unseen"] == unseen
        assert record["eps_without_shuffler"] == collection.if_the_shuffler_fails(group)


@pytest.mark.parametrize("question", ["--delta 1e-6", "--eps 0.1"])
def test_json_names_the_group_with_the_largest_bound_and_the_error(path_of_two_groups, question):
    found = json_answer(f"collection {question}", path_of_two_groups)
    assert found["largest"] == "large"
    expected_error = read_collection(str(path_of_two_groups)).expected_error()
    assert found["expected_tv"]["collection"] == expected_error


def test_the_text_rounds_each_eps_to_the_safe_side(path_of_two_groups):
    small = json_answer("collection --delta 1e-6", path_of_two_groups)["groups"][0]
    text = text_answer("collection --delta 1e-6", path_of_two_groups)
    [line] = [line for line in text.splitlines() if line.startswith("small")]
    at_least, at_most, if_unseen = map(float, line.split()[3:6])
    assert at_least <= small["eps_lower"] < small["eps_upper"] <= at_most
    assert if_unseen >= small["eps_unseen"]


def test_values_sent_as_they_are_have_no_error_and_no_guarantee(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"k": 4, "groups": [{"users": 10, "eps0": "inf"}]}))
    given = json_answer("collection --delta 1e-6", path)
    assert given["groups"][0]["eps_upper"] is None  # JSON has no infinity
    assert given["expected_tv"] == {"collection": 0}
