"""Check-ins: read in blocks, in any packing; whatever is wrong is one line that names the file."""

import gzip
import os
import socket
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from scripts.data import crop_checkins as checkins
from scripts.data.crop_checkins import CropSummary, crop
from scripts.data.grid import Box
from tightshuffle.counts_file import read_counts

PARIS = Box(48.8286, 48.8798, 2.2855, 2.3909)
WORLD = Box(-90, 90, -180, 180)
GOOD = "7\t2010-07-25T11:40:18Z\t48.85\t2.33\t1500177"


def row(latitude, longitude):
    return f"7\t2010-07-25T11:40:18Z\t{latitude}\t{longitude}\t1500177"


@pytest.fixture
def written(tmp_path):
    def write(*lines, end="\n", name="checkins.txt"):
        path = tmp_path / name
        path.write_bytes(("\n".join(lines) + end).encode())
        return path

    return write


@pytest.fixture(params=[1 << 22, 200, 60])
def block(request, monkeypatch):
    """Blocks of one and of many lines, so that borders fall everywhere."""
    monkeypatch.setattr(checkins, "BLOCK", request.param)


def read(path, share=1.0, box=WORLD):
    """The points of one box as a list of pairs, and what was read."""
    points, summary = crop(path, {"here": box}, bad_rows_at_most=share)
    return list(zip(*(part.tolist() for part in points["here"]), strict=True)), summary


def test_points_keep_the_order_and_all_digits(written):
    digits = [(-37.123456789012, 144.98765432101234), (0.1, -0.30000000000000004)]
    points, summary = read(written(*(row(*point) for point in digits)))
    assert points == digits
    assert summary == CropSummary(2, 0, ())


def test_boxes_are_closed_and_share_one_pass(written):
    corners = [(lat, lon) for lat in (48.8286, 48.8798) for lon in (2.2855, 2.3909)]
    outside = [(48.82859999, 2.3), (48.87980001, 2.3), (48.85, 2.28549999), (48.85, 2.39090001)]
    path = written(*(row(*point) for point in corners + outside))
    points, summary = crop(path, {"paris": PARIS, "world": WORLD})
    assert list(points) == ["paris", "world"]
    assert np.transpose(points["paris"]).tolist() == [list(corner) for corner in corners]
    assert len(points["world"][0]) == 8
    assert summary.rows == 8


def test_gzip_and_plain_are_told_apart_by_their_content(written, tmp_path):
    plain = written(GOOD, GOOD, name="really_plain.gz")
    packed = tmp_path / "really_gzip.txt"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read(packed) == read(plain)
    several = tmp_path / "two_parts.gz"
    several.write_bytes(packed.read_bytes() * 2)
    assert read(several)[1].rows == 4


UNREADABLE = {
    "empty": "",
    "four fields": "7\t2010-07-25T11:40:18Z\t48.85\t2.33",
    "infinite": row("inf", 2.33),
    "decimal comma": row("48,85", 2.33),
    "underscore": row("4_8.85", 2.33),
    "too far north": row(90.0000001, 2.33),
    "quoted": row('"48.85"', 2.33),
}


READABLE = {
    "spaces": row(" 48.85 ", 2.33),
    "quotes elsewhere": '"7' + GOOD[1:],
    "carriage return": GOOD + "\r",
    "lone carriage return": "a\rb" + GOOD[1:],
}


@pytest.mark.usefixtures("block")
def test_every_kind_of_line_is_read_alike_in_any_block(written, monkeypatch):
    """An unreadable row sends its whole block the slow way, which must read the other rows just the same."""
    monkeypatch.setattr(checkins, "LISTED", 400)
    rng = np.random.default_rng(5)
    special = [*UNREADABLE.values(), *READABLE.values()] * 2
    ordinary = [row(*point) for point in rng.uniform((-90, -180), (90, 180), (400 - len(special), 2))]
    lines = [(special + ordinary)[place] for place in rng.permutation(400)]
    bad = [number for number, line in enumerate(lines, 1) if line in UNREADABLE.values()]
    fields = [line.split("\t") for line in lines if line not in UNREADABLE.values()]
    points, summary = read(written(*lines))
    assert summary == CropSummary(400, 2 * len(UNREADABLE), tuple(bad))
    assert points == [(float(latitude), float(longitude)) for _, _, latitude, longitude, _ in fields]


@pytest.mark.usefixtures("block")
def test_a_line_too_many_does_not_make_up_for_one_too_few(written):
    """A reader that skips empty lines and ends lines at carriage returns would count the same number."""
    assert read(written(GOOD, "", GOOD + "\r" + GOOD, GOOD))[1] == CropSummary(4, 2, (2, 3))


def test_too_many_unreadable_rows(written):
    lines = [GOOD] * 1000
    lines[41] = lines[99] = "broken"
    path = written(*lines)
    assert read(path, share=0.002)[1].bad_rows == 2
    with pytest.raises(ValueError, match=r"2 of 1,000 rows \(0.20%\) cannot be read") as caught:
        read(path, share=0.001)
    message = str(caught.value)
    assert str(path) in message
    assert "in line 42, 100;" in message
    assert "\n" not in message


def test_nothing_in_a_box(written):
    path = written(GOOD)
    with pytest.raises(ValueError, match=r"none of its 1 rows lies in the box of berlin: Box\(south=52.4,"):
        crop(path, {"paris": PARIS, "berlin": Box(52.4, 52.6, 13.2, 13.6)})


TEXT = "\n".join(row(*point) for point in np.random.default_rng(6).uniform(-90, 90, (2000, 2)))
PACKED = gzip.compress(TEXT.encode(), mtime=0)
MIDDLE = len(PACKED) // 2
DAMAGED = {
    "truncated": PACKED[:MIDDLE],
    "flipped": PACKED[:MIDDLE] + bytes([PACKED[MIDDLE] ^ 0xFF]) + PACKED[MIDDLE + 1 :],
    "something after": PACKED + b"something",
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_damaged_gzip(tmp_path, content):
    path = tmp_path / "checkins.txt.gz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"checkins.txt.gz: damaged gzip file \(.+\): get it again$"):
        read(path)


def test_neither_gzip_nor_text(tmp_path):
    rng = np.random.default_rng(7)
    for content in (b"PK\x03\x04" + rng.bytes(99), rng.bytes(5000), gzip.compress(rng.bytes(5000))):
        (tmp_path / "checkins").write_bytes(content)
        with pytest.raises(ValueError, match="checkins: neither gzip nor plain text"):
            read(tmp_path / "checkins")
    (tmp_path / "one_line.txt").write_bytes(b"a\t" * checkins.LONGEST_LINE)
    with pytest.raises(ValueError, match=r"one_line.txt: a line of over 65,536 bytes"):
        read(tmp_path / "one_line.txt")
    (tmp_path / "empty").write_bytes(gzip.compress(b""))
    with pytest.raises(ValueError, match="the file is empty"):
        read(tmp_path / "empty")


WALK = "".join(row(48.83 + i / 10_000, 2.30) + "\n" for i in range(400))
MISTAKES = {
    "swapped": (
        "".join(row(2.30, 48.83 + i / 10_000) + "\n" for i in range(400)).encode(),
        "none of its 400 rows lies in the box of paris: .*latitude and longitude seem to be swapped",
    ),
    "a header": (f"user\ttime\tlatitude\tlongitude\tlocation\n{WALK}".encode(), "the first in line 1;"),
    "html": (b"<!doctype html>\n<h1>404 Not Found</h1>\n", "2 of 2 rows .*; expected user, time, latitude"),
}


@pytest.mark.parametrize(("content", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_one_line(tmp_path, content, message):
    path = tmp_path / "check ins ä.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        crop(path, {"paris": PARIS})
    assert str(path) in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def crop_world(path):
    return crop(path, {"world": WORLD})


# Files that never end, or unpack to far more than they are -------------------------------------------


@pytest.mark.parametrize("read_file", [read_counts, crop_world])
def test_pipes_and_devices_are_not_waited_for(tmp_path, monkeypatch, read_file):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    server = socket.socket(socket.AF_UNIX)
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    server.bind("socket")
    for path in (pipe, "/dev/zero", "/dev/null", "socket"):
        with pytest.raises(ValueError, match="not a regular file"):
            read_file(Path(path))
    server.close()


def test_gzip_bombs(tmp_path, monkeypatch):
    monkeypatch.setattr(checkins, "SMALL", 1 << 20)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress((GOOD + "\n").encode() * 1_000_000, mtime=0))  # 43 MB in some 100 kB
    assert path.stat().st_size * checkins.MOST_PACKED < 1_000_000 * (len(GOOD) + 1)
    with pytest.raises(ValueError, match=r"bomb.gz: unpacks to more than 100 times its size"):
        crop(path, {"nowhere": Box(-1, 1, -1, 1)})


def test_bombs_of_zeros_stop_at_the_first_block(tmp_path):
    packed, sparse = tmp_path / "bomb.gz", tmp_path / "sparse.txt"
    packed.write_bytes(gzip.compress(bytes(1 << 26), compresslevel=1, mtime=0))
    sparse.touch()
    os.truncate(sparse, 1 << 40)  # 1 TB
    tracemalloc.start()
    for path in (packed, sparse):
        with pytest.raises(ValueError, match="neither gzip nor plain text"):
            crop_world(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * checkins.BLOCK
