"""The benchmark of collections measures every line."""

import pytest

from benchmarks.collections import measure


@pytest.mark.parametrize(("what", "compared"), [("delta", True), ("eps", True), ("eps of 52 rounds", False)])
def test_a_line(what, compared):
    row = measure(what, 10**9)
    assert row["seconds"] > 0
    assert ("ratio" in row) == compared
