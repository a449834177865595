"""Broken input: each case gives one line that says where and what, and nothing is written.

Cases that tests of the single modules hold already (test_configuration, test_histograms, test_checkins) do
not stand here again; test_faults takes some of these through the real command line.
"""

import copy
import gzip
import os
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tightshuffle.data import checkins, counts_file
from tightshuffle.data.checkins import crop
from tightshuffle.data.counts_file import read_counts
from tightshuffle.data.grid import Box
from tightshuffle.pipeline.configuration import config_error, file_error

SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
CONFIG = yaml.safe_load((ROOT / "config/config.yaml").read_text())
PARIS = {"paris": Box(48.8286, 48.8798, 2.2855, 2.3909)}
ROW = "7\t2010-07-25T11:40:18Z\t{}\t{}\t1500177\n"


def one_line(message):
    assert message.isprintable(), message
    assert len(message) < 400


# Configuration: key (dots), value, words of the message ----------------------------------------------

NAN, INF = float("nan"), float("inf")
VALUES = {
    "not a number": ("protocol.sensitivity", NAN, "protocol.sensitivity must be a finite number; got nan"),
    "infinite": ("datasets.synthetic.mean", INF, "datasets.synthetic.mean must be a finite number"),
    "infinite in a list": (
        "datasets.synthetic.range",
        [-INF, 6],
        "datasets.synthetic.range[0] must be a fin",
    ),
    "yes as a number": ("seed", True, "seed must be a whole number; got True"),
    "a list as a mapping": ("protocol", [1], "protocol must be a mapping (key: value); got [1]"),
    "nothing as a mapping": ("koskela", None, "koskela must be a mapping (key: value); got None"),
    "text for a number": ("datasets.paris.box.south", "48.8", "datasets.paris.box.south must be a number"),
    "a fraction of a user": ("datasets.paris.tv.n", [0.5], "datasets.paris.tv.n[0] must be a whole number"),
    "twice the same n": ("datasets.paris.tv.n", [10, 10], "datasets.paris.tv.n must not name anything twice"),
    "no repetitions": ("datasets.paris.individual.repetitions", 0, "repetitions must be at least 1; got 0"),
    "absurd seed": ("seed", 10**40, "seed must be at most 9223372036854775807; got 1000000"),
    "absurd n": ("datasets.paris.tv.n", [10**30], "datasets.paris.tv.n[0]"),
    "absurd eps0": ("datasets.paris.tv.budgets", [{"eps0": 1e308, "eps": 1}], "eps0 must be at most 100"),
    "absurd cells": ("datasets.synthetic.cells", 10**12, "datasets.synthetic.cells must be at most 1000000"),
    "absurd steps": ("delta_surface.eps.steps", 10**9, "delta_surface.eps.steps must be at most 1000"),
    "absurd memory": (
        "parity.repetitions",
        10**5,
        "datasets.san_francisco.cells (408) times parity.repetitions (100,000) must be at most 20,000,000",
    ),
    "too fine a grid": (
        "datasets.paris.stepped.latitude_step",
        1e-12,
        "datasets.paris.stepped must cut the box into 2 to 1,000,000 cells",
    ),
    "a grid of one cell": (
        "datasets.paris.published",
        {"columns": 1, "rows": 1},
        "datasets.paris.published must cut the box into 2 to 1,000,000 cells; got 1",
    ),
    "a cell that is not there": (
        "datasets.synthetic.individual.cells",
        [16],
        "datasets.synthetic.individual.cells must be at most the number of cells (15); got 16",
    ),
    "falling axis": ("koskela.fig1a.eps.start", 4.0, "koskela.fig1a.eps.start must be less than stop (4.0)"),
    "falling axis b": ("koskela.fig1b.eps.stop", 0.01, "koskela.fig1b.eps.start must be less than stop"),
    "falling regions": ("blanket_regions.eps0.start", 9, "blanket_regions.eps0.start must be less than stop"),
    "falling orders": ("girgis_rdp.orders.stop", 1.05, "girgis_rdp.orders.start must be less than stop"),
    "rising deltas": ("gaussian_scale.log10_delta.stop", -1, "log10_delta.start must be greater than stop"),
    "eps beyond eps0": (
        "delta_bounds.settings.0.eps.stop",
        0.5,
        "delta_bounds.settings[0].eps.stop must be less than delta_bounds.settings[0].eps0 (0.5); got 0.5",
    ),
    "more holders than users": (
        "delta_bounds.settings.1.count",
        1000,
        "delta_bounds.settings[1].count must be less than delta_bounds.settings[1].n (1000); got 1000",
    ),
    "a very long mistake": ("gowalla.source", "x" * 100_000, "gowalla.source must be one of"),
}


def changed(path, value):
    config = copy.deepcopy(CONFIG)
    *parents, last = path.split(".")
    node = config
    for name in parents:
        node = node[int(name)] if isinstance(node, list) else node[name]
    node[last] = value
    return config


@pytest.mark.parametrize(("path", "value", "words"), VALUES.values(), ids=VALUES)
def test_values(path, value, words):
    error = config_error(changed(path, value), SCHEMA)
    assert error is not None
    assert words in error
    one_line(error)


FILES = {
    "a key twice": ("seed: 1\nseed: 2\n", "line 2: the key 'seed' stands in line 1 already"),
    "a nested key twice": ("protocol:\n  a: 1\n  b: 2\n  a: 3\n", "line 4: the key 'a' stands in line 2"),
    "a key twice in a list": ("x:\n  - {a: 1}\n  - {a: 1, a: 2}\n", "line 3: the key 'a' stands in line 3"),
    "a tab": ("protocol:\n\tsensitivity: 1\n", "line 2: not valid YAML: found character '\\t'"),
    "an open bracket": ("x: [1, 2\n", "not valid YAML"),
    "a list": ("- seed\n", "must be a mapping (key: value) at its top"),
    "a word": ("seed", "must be a mapping (key: value) at its top"),
    "two documents": ("seed: 1\n---\nseed: 2\n", "line 2: not valid YAML"),
    "a missing anchor": ("x: *y\n", "line 1: not valid YAML: found undefined alias"),
    "control characters": ("x: \x00\n", "not valid YAML: special characters are not allowed"),
}


@pytest.mark.parametrize(("text", "words"), FILES.values(), ids=FILES)
def test_configuration_files(text, words):
    error = file_error(text, "mine.yaml")
    assert error is not None
    assert error.startswith("mine.yaml")
    assert words in error
    one_line(error)


@pytest.mark.parametrize("path", sorted((ROOT / "config").glob("*.yaml")), ids=lambda path: path.name)
def test_our_own_configuration_files_are_fine(path):
    assert file_error(path.read_text(), path) is None


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "a: &x {b: 1}\nc: *x\n", '{"a": {"b": [1]}}', "\ufeffa: 1"]
)
def test_unusual_configuration_files_are_fine(text):
    assert file_error(text, "mine.yaml") is None


# Histograms ------------------------------------------------------------------------------------------

COUNTS = {
    "empty": (b"", "empty; expected a header"),
    "blank": (b"\n\n", "empty; expected a header"),
    "a header only": (b"cell,count\n", "at least 2 cells"),
    "one cell": (b"cell,count\n1,9\n", "at least 2 cells (rows below the header); got 1"),
    "no header": (b"1,5\n2,6\n3,7\n", "row 1: the column 'cell' is missing"),
    "tabs": (b"cell\tcount\n1\t5\n2\t6\n", "row 1: the column 'cell' is missing"),
    "a column twice": (b"cell,count,count\n1,5,6\n2,5,6\n", "row 1: the column 'count' stands twice"),
    "a value too many": (b"cell,count\n1,5\n2,5,6\n", "row 3: 3 values; expected 2"),
    "a value too many everywhere": (b"cell,count\n1,5,9\n2,6,9\n", "row 2: 3 values; expected 2"),
    "a value too few": (b"cell,count\n1,5\n2\n", "row 3: 1 values; expected 2"),
    "an empty row": (b"cell,count\n1,5\n\n2,6\n", "row 3: empty"),
    "a thousands separator": (b'cell,count\n1,5\n2,"1,000"\n', "row 3: count must be a whole number"),
    "hexadecimal": (b"cell,count\n1,5\n2,0x1F\n", "row 3: count must be a whole number >= 0; got '0x1F'"),
    "infinite": (b"cell,count\n1,5\n2,inf\n", "row 3: count must be a whole number >= 0; got 'inf'"),
    "a cell twice": (b"cell,count\n1,5\n1,6\n", "row 3: cell must be the cells numbered 1, 2, 3"),
    "unsorted": (b"cell,count\n2,5\n1,6\n", "row 2: cell must be the cells numbered 1, 2, 3"),
    "from 0": (b"cell,count\n0,5\n1,6\n", "row 2: cell must be the cells numbered 1, 2, 3"),
    "beyond a float": (b"cell,count\n1,5\n2,9007199254740993\n", "row 3: count must be a whole number"),
    "digits without end": (b"cell,count\n1,5\n2," + b"9" * 5000, "row 3: count must be a whole number"),
    "too many users": (
        b"cell,count\n" + b"".join(b"%d,9007199254740991\n" % i for i in (1, 2)),
        "2^53 users",
    ),
    "an open quote": (b'cell,count\n1,5\n2,"6\n', "not a readable CSV file"),
    "latin-1": ("cell,count,name\n1,5,Bücher\n2,6,x\n".encode("latin-1"), "not UTF-8 text"),
    "utf-16": ("cell,count\n1,5\n2,6\n".encode("utf-16"), "not UTF-8 text"),
    "zeros": (b"cell,count\n1,5\n2,\x00\n", "row 3: "),
    "gzip": (gzip.compress(b"cell,count\n1,5\n2,6\n", mtime=0), "not UTF-8 text"),
    "a field without end": (
        b"cell,count\n1,5\n2," + b"9" * 200_000,
        "row 3: not a readable CSV file: field la",
    ),
}


@pytest.mark.parametrize(("content", "words"), COUNTS.values(), ids=COUNTS)
def test_counts(tmp_path, content, words):
    path = tmp_path / "counts.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"counts.csv: ") as caught:
        read_counts(path)
    assert words in str(caught.value)
    one_line(str(caught.value))


def test_ten_million_cells(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_bytes(b"cell,count\n" + b"1,1\n" * 10_000_000)
    with pytest.raises(ValueError, match=r"counts.csv: more than 1,000,000 cells"):
        read_counts(path)


def test_a_huge_file_is_not_read(tmp_path):
    path = tmp_path / "counts.csv"
    path.touch()
    os.truncate(path, counts_file.MOST_BYTES + 1)
    with pytest.raises(ValueError, match=r"counts.csv: 200,000,001 bytes; expected at most 200,000,000"):
        read_counts(path)


GOOD_COUNTS = {
    "byte order mark": b"\xef\xbb\xbfcell,count\n1,5\n2,6\n",
    "windows line ends": b"cell,count\r\n1,5\r\n2,6\r\n",
    "both": b"\xef\xbb\xbfcell,count\r\n1,5\r\n2,6\r\n",
    "no last line end": b"cell,count\n1,5\n2,6",
    "blank lines at the end": b"cell,count\n1,5\n2,6\n\n\n",
    "spaces": b"cell, count\n1, 5\n 2 ,6\n",
    "quotes": b'"cell","count"\n"1","5"\n"2","6"\n',
    "another order of columns": "count,name,cell\n5,Bücher,1\n6,\u4e2d\u6587,2\n".encode(),
    "decimal point": b"cell,count\n1,5.0\n2,6e0\n",
}


@pytest.mark.parametrize("content", GOOD_COUNTS.values(), ids=GOOD_COUNTS)
def test_unusual_counts_are_fine(tmp_path, content):
    folder = tmp_path / "Zählungen 中文 'x' $HOME"
    folder.mkdir()
    (folder / "my counts.csv").write_bytes(content)
    counts = read_counts(folder / "my counts.csv")
    assert counts["cell"].tolist() == [1, 2]
    assert counts["count"].tolist() == [5, 6]


# Check-ins -------------------------------------------------------------------------------------------

GOOD = "".join(ROW.format(48.83 + i / 10_000, 2.30) for i in range(400))
CHECKINS = {
    "latitude 91": (ROW.format(91, 2.3).encode() * 9, "9 of 9 rows .100.00%. cannot be read"),
    "swapped": (
        "".join(ROW.format(2.30, 48.83 + i / 10_000) for i in range(400)).encode(),
        "none of its 400 rows lies in the box of paris: .*latitude and longitude seem to be swapped",
    ),
    "commas": (GOOD.replace("\t", ",").encode(), "400 of 400 rows .* separated by tabs"),
    "a header": (b"user\ttime\tlatitude\tlongitude\tlocation\n" + GOOD.encode(), "the first in line 1;"),
    "gzip cut in the middle": (
        gzip.compress(GOOD.encode(), mtime=0)[:600],
        "damaged gzip file .*: get it again",
    ),
    "gzip that is none": (b"\x1f\x8b" + GOOD.encode(), "damaged gzip file"),
    "nothing": (b"", "the file is empty"),
    "html": (b"<!doctype html>\n<h1>404 Not Found</h1>\n", "2 of 2 rows .*; expected user, time, latitude"),
    "byte order mark and latin-1": ("\ufeffx\t\xe9\n".encode("latin-1", "ignore") * 3, "3 of 3 rows"),
}


@pytest.mark.parametrize(("content", "words"), CHECKINS.values(), ids=CHECKINS)
def test_checkins(tmp_path, content, words):
    path = tmp_path / "check ins ä.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words) as caught:
        crop(path, PARIS)
    assert str(path) in str(caught.value)
    one_line(str(caught.value))


GOOD_CHECKINS = {
    "plain": GOOD.encode(),
    "windows line ends": GOOD.replace("\n", "\r\n").encode(),
    "gzip": gzip.compress(GOOD.encode(), mtime=0),
    "no last line end": GOOD.rstrip("\n").encode(),
}


@pytest.mark.parametrize("content", GOOD_CHECKINS.values(), ids=GOOD_CHECKINS)
def test_unusual_checkins_are_fine(tmp_path, content):
    path = tmp_path / "check ins ä.txt"
    path.write_bytes(content)
    points, reading = crop(path, PARIS)
    assert reading == checkins.Reading(400, 0, ())
    assert len(points["paris"][0]) == 400


@pytest.mark.parametrize("read", [read_counts, lambda path: crop(path, PARIS)], ids=["counts", "check-ins"])
@pytest.mark.parametrize("kind", ["folder", "missing", "link to nothing", "no name"])
def test_no_file(tmp_path, read, kind):
    path = tmp_path / "x" if kind != "no name" else Path("")
    if kind == "folder":
        path.mkdir()
    if kind == "link to nothing":
        path.symlink_to(tmp_path / "nothing")
    with pytest.raises((ValueError, OSError)) as caught:
        read(path)
    one_line(str(caught.value))
