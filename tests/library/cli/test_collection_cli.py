"""`tightshuffle collection`: the numbers of the class, in three forms."""

import json

import pytest

from tests.library.cli.calls import json_answer, text_answer
from tightshuffle.collection import read_collection

TWO_GROUPS = """
k: 20
groups:
  - {name: small, users: 500, eps0: 1}
  - {name: large, users: 3000, eps0: 3, participation: 0.5}
dummies: {poisson_per_user_and_value: 0.01}
"""


@pytest.fixture
def path(tmp_path):
    """The path of a file of TWO_GROUPS."""
    path = tmp_path / "mine.yaml"
    path.write_text(TWO_GROUPS)
    return path


@pytest.mark.parametrize(
    ("result", "words", "question"),
    [
        ("eps", ["--delta", "1e-6"], {"delta": 1e-6}),
        ("log10_delta", ["--eps", "0.1"], {"eps": 0.1}),
    ],
)
def test_eps_and_delta_of_every_group_are_those_of_the_class(path, result, words, question):
    """The JSON has, for each group, what the methods of the class `Collection` return for it.

    ``path`` is a file of two groups, "small" of 500 users and "large" of 3000, with dummies. "largest" is the
    group with the largest upper bound. "unseen" is the bound where nobody can know who takes part, and
    "eps_without_shuffler" the eps if the shuffler fails.
    """
    collection = read_collection(str(path))
    bound_of_class = {"eps": collection.epsilon, "log10_delta": collection.log10_delta}[result]
    given = json_answer("collection", path, *words)
    assert given["largest"] == "large"
    for record in given["groups"]:
        group = record["group"]
        assert record[f"{result}_upper"] == bound_of_class(**question, group=group)
        assert record[f"{result}_lower"] == bound_of_class(**question, group=group, bound="lower")
        assert record[f"{result}_unseen"] == bound_of_class(**question, group=group, unseen=True)
        assert record["eps_without_shuffler"] == collection.if_the_shuffler_fails(group)
    assert given["expected_tv"]["collection"] == collection.expected_error()


def test_the_text_rounds_each_eps_to_the_safe_side(path):
    words = ["collection", path, "--delta", "1e-6"]
    small = json_answer(*words)["groups"][0]
    [cells] = [line.split() for line in text_answer(*words).splitlines() if line[:5] == "small"]
    at_least, at_most, if_unseen = map(float, cells[3:6])
    assert at_least <= small["eps_lower"] < small["eps_upper"] <= at_most
    assert if_unseen >= small["eps_unseen"]


def test_values_sent_as_they_are_have_no_error_and_no_guarantee(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"k": 4, "groups": [{"users": 10, "eps0": "inf"}]}))
    given = json_answer("collection", path, "--delta", "1e-6")
    assert given["groups"][0]["eps_upper"] is None  # JSON has no infinity
    assert given["expected_tv"] == {"collection": 0}
