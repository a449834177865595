"""`tightshuffle collection`: the numbers of the class, in three forms."""

import json

import pytest

from tests.library.cli.calls import answer, call
from tightshuffle.collection import read_collection

FILE = """
k: 20
groups:
  - {name: small, users: 500, eps0: 1}
  - {name: large, users: 3000, eps0: 3, participation: 0.5}
dummies: {poisson_per_user_and_value: 0.01}
"""


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "mine.yaml"
    made.write_text(FILE)
    return made


def test_eps_and_delta_of_every_group(path):
    """JSON has all digits; text is rounded to the safe side."""
    collection = read_collection(str(path))
    for name, asked, bound in (
        ("eps", ["--delta", "1e-6"], lambda **about: collection.epsilon(1e-6, **about)),
        ("log10_delta", ["--eps", "0.1"], lambda **about: collection.log10_delta(0.1, **about)),
    ):
        given = answer("collection", path, *asked)
        assert given["largest"] == "large"
        for record in given["groups"]:
            group = record["group"]
            assert record[f"{name}_upper"] == bound(group=group)
            assert record[f"{name}_lower"] == bound(group=group, bound="lower")
            assert record[f"{name}_unseen"] == bound(group=group, unseen=True)
            assert record["eps_without_shuffler"] == collection.if_the_shuffler_fails(group)
        assert given["expected_tv"]["collection"] == collection.expected_error()
    out = call("collection", path, "--delta", "1e-6")[1]
    small = next(line.split() for line in out.splitlines() if line.startswith("small"))
    record = answer("collection", path, "--delta", "1e-6")["groups"][0]
    assert float(small[3]) <= record["eps_lower"] < record["eps_upper"] <= float(small[4])
    assert float(small[5]) >= record["eps_unseen"]


def test_values_sent_as_they_are_have_no_error_and_no_guarantee(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"k": 4, "groups": [{"users": 10, "eps0": "inf"}]}))
    given = answer("collection", path, "--delta", "1e-6")
    assert given["groups"][0]["eps_upper"] is None  # JSON has no infinity
    assert given["expected_tv"] == {"collection": 0}
