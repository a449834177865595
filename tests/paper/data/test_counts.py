"""Your own counts: refused, by the file's name, where the trials could not draw samples from them."""

import pytest

from scripts.paper.data.use_counts import counts_to_sample


def test_counts_are_refused_from_the_number_of_users_on_that_numpy_cannot_sample(tmp_path):
    """`counts_to_sample` reads a file of 10^9 - 1 users in all, and refuses one of 10^9.

    The limit is numpy's: it draws no hypergeometric numbers for 10^9 users or more.
    """
    path = tmp_path / "mine.csv"
    path.write_text("cell,count\n1,999999998\n2,1\n")
    assert counts_to_sample(path)["count"].sum() == 999_999_999
    path.write_text("cell,count\n1,999999998\n2,2\n")
    with pytest.raises(
        ValueError, match=r"mine\.csv: 1,000,000,000 users; expected fewer than 1,000,000,000"
    ):
        counts_to_sample(path)
