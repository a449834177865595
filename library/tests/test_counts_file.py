"""Your own counts: what is read, and one line that says where and what is wrong."""

import gzip
import os

import pytest

from tightshuffle import counts_file
from tightshuffle.counts_file import read_counts

BAD_COUNTS = {
    "empty": (b"", "empty file; expected a header"),
    "one cell": (b"cell,count\n1,9\n", "at least 2 cells (rows below the header); got 1"),
    "no header": (b"1,5\n2,6\n3,7\n", "row 1: the column 'cell' is missing"),
    "negative": (b"cell,count\n1,5\n2,-3\n", "row 3: count must be a whole number >= 0; got '-3'"),
    "a cell left out": (
        b"cell,count\n1,5\n3,3\n",
        "row 3: cell must be 1, 2, 3, ... in this order",
    ),
    "nobody": (b"cell,count\n1,0\n2,0\n", "every count is 0"),
    "a column twice": (
        b"cell,count,count\n1,5,6\n2,5,6\n",
        "row 1: the column 'count' occurs twice",
    ),
    "a value too many": (b"cell,count\n1,5\n2,5,6\n", "row 3: 3 values; expected 2"),
    "beyond a float": (
        b"cell,count\n1,5\n2,9007199254740993\n",
        "row 3: count must be below 2^53; got '9007199254740993'",
    ),
    "too many users": (b"cell,count\n1,9007199254740991\n2,9007199254740991\n", "2^53 users"),
    "gzip": (gzip.compress(b"cell,count\n1,5\n2,6\n", mtime=0), "not UTF-8 text"),
    "a field without end": (
        b"cell,count\n1,5\n2," + b"9" * 200_000,
        "row 3: not a readable CSV file: field",
    ),
}


@pytest.mark.parametrize(("content", "message"), BAD_COUNTS.values(), ids=BAD_COUNTS)
def test_bad_counts_are_named_in_one_short_line(tmp_path, content, message):
    path = tmp_path / "counts.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"counts.csv: ") as caught:
        read_counts(path)
    text = str(caught.value)
    assert message in text
    assert text.isprintable()
    assert len(text) < 400


def test_a_file_of_more_cells_than_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(counts_file, "MOST_CELLS", 2)
    path = tmp_path / "counts.csv"
    path.write_text("cell,count\n1,1\n2,1\n3,1\n")
    with pytest.raises(ValueError, match=r"counts.csv: more than 2 cells"):
        read_counts(path)


def test_a_file_of_more_than_200_million_bytes_is_refused(tmp_path):
    path = tmp_path / "counts.csv"
    path.touch()
    os.truncate(path, 200_000_001)  # zeros, which take no room on a disk
    message = r"counts.csv: 200,000,001 bytes; expected at most 200,000,000"
    with pytest.raises(ValueError, match=message):
        read_counts(path)


def test_a_pipe_and_a_device_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(ValueError, match="not a regular file"):
            read_counts(path)


GOOD_COUNTS = {
    "byte order mark": b"\xef\xbb\xbfcell,count\n1,5\n2,6\n",
    "blank lines at the end": b"cell,count\n1,5\n2,6\n\n\n",
    "spaces": b"cell, count\n1, 5\n 2 ,6\n",
    "another order of columns": "count,name,cell\n5,Bücher,1\n6,\u4e2d\u6587,2\n".encode(),
    "capital letters, decimal points": b"Cell,COUNT\n1,5.0\n2,6e0\n",
}


@pytest.mark.parametrize("content", GOOD_COUNTS.values(), ids=GOOD_COUNTS)
def test_unusual_counts_are_fine(tmp_path, content):
    path = tmp_path / "Zählungen 中文 'x' $HOME.csv"
    path.write_bytes(content)
    counts = read_counts(path)
    assert [counts[name].tolist() for name in ("cell", "count")] == [[1, 2], [5, 6]]
