"""Your own counts: refused, by the file's name, where the trials could not draw samples from them."""

import pytest

from scripts.paper.data.use_counts import counts_to_sample


def test_counts_of_10_to_the_9_users_and_more_are_refused(tmp_path):
    """The limit is numpy's, which draws hypergeometric numbers of fewer users only."""
    path = tmp_path / "mine.csv"
    path.write_text("cell,count\n1,999999998\n2,1\n")
    assert counts_to_sample(path)["count"].sum() == 10**9 - 1
    path.write_text("cell,count\n1,999999998\n2,2\n")
    message = r"mine\.csv: 1,000,000,000 users; expected fewer than 1,000,000,000"
    with pytest.raises(ValueError, match=message):
        counts_to_sample(path)


def test_the_name_of_a_cell_that_the_figures_cannot_write_is_refused(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("cell,count,label\n1,2,Zürich\n2,3,Ελλάδα\n", encoding="utf-8")
    assert counts_to_sample(path)["label"] == ["Zürich", "Ελλάδα"]
    path.write_text("cell,count,label\n1,2,Zürich\n2,3,東京 (東)\n", encoding="utf-8")
    message = (
        r"mine\.csv: row 3: label has letters that the figures' font, DejaVu Sans, lacks: 東京$"
    )
    with pytest.raises(ValueError, match=message):
        counts_to_sample(path)
