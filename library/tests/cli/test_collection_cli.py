"""`tightshuffle collection`: the numbers of the class, in three forms."""

import json
from functools import partial

import pytest

from tests.cli.calls import json_answer, text_answer
from tightshuffle.collection import Collection, read_collection

OF_DELTA, OF_EPS = "collection --delta 1e-6", "collection --eps 0.1"


@pytest.fixture(scope="module")
def path_of_two_groups(tmp_path_factory):
    """The path of a file of a collection from two groups, "small" and "large", with dummies."""
    path = tmp_path_factory.mktemp("collection") / "mine.yaml"
    path.write_text("""
k: 20
groups:
  - {name: small, users: 500, eps0: 1}
  - {name: large, users: 3000, eps0: 3, participation: 0.5}
dummies: {poisson_per_user_and_value: 0.01}
""")
    return path


@pytest.fixture(scope="module")
def answers(path_of_two_groups):
    """What the command says in JSON about this file, by its question."""
    return {line: json_answer(line, path_of_two_groups) for line in (OF_DELTA, OF_EPS)}


@pytest.mark.parametrize(
    ("name", "bound_of_class", "line"),
    [
        ("eps", partial(Collection.epsilon, delta=1e-6), OF_DELTA),
        ("log10_delta", partial(Collection.log10_delta, eps=0.1), OF_EPS),
    ],
)
def test_bounds_of_every_group_are_those_of_the_class(
    path_of_two_groups, answers, name, bound_of_class, line
):
    """The bound "unseen" is for an attacker who cannot know who takes part."""
    collection = read_collection(str(path_of_two_groups))
    for record in answers[line]["groups"]:
        bound = partial(bound_of_class, collection, group=record["group"])
        assert record[f"{name}_upper"] == bound()
        assert record[f"{name}_lower"] == bound(bound="lower")
        assert record[f"{name}_unseen"] == bound(unseen=True)


@pytest.mark.parametrize("line", [OF_DELTA, OF_EPS])
def test_json_has_the_largest_group_the_error_and_the_guarantees_without_a_shuffler(
    path_of_two_groups, answers, line
):
    collection = read_collection(str(path_of_two_groups))
    found = answers[line]
    assert found["largest"] == "large"
    assert found["expected_tv"]["collection"] == collection.expected_error()
    for record in found["groups"]:
        without_shuffler = collection.if_the_shuffler_fails(record["group"])
        assert record["eps_without_shuffler"] == without_shuffler


def test_the_text_rounds_each_eps_to_the_safe_side(path_of_two_groups, answers):
    small = answers[OF_DELTA]["groups"][0]
    text = text_answer(OF_DELTA, path_of_two_groups)
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
