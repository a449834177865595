"""Check-ins: read in blocks, in any packing; whatever is wrong is one line that names the file."""

import gzip
import hashlib

import numpy as np
import pytest

from scripts.paper.data import crop_checkins
from scripts.paper.data.crop_checkins import check_md5, crop

PARIS = {"south": 48.8286, "north": 48.8798, "west": 2.2855, "east": 2.3909}
WORLD = {"south": -90, "north": 90, "west": -180, "east": 180}


def row(latitude, longitude):
    """A line of the check-ins' file: user, time, latitude, longitude, location."""
    return f"7\t2010-07-25T11:40:18Z\t{latitude}\t{longitude}\t1500177"


GOOD = row(48.85, 2.33)
UNREADABLE = [
    "",
    "7\t2010-07-25T11:40:18Z\t48.85\t2.33",
    GOOD + "\t1",
    row("inf", 2.33),
    row("48,85", 2.33),
]
UNREADABLE += [row(90.0000001, 2.33), row(1, "nan"), row('"48.85"', 2.33)]
READABLE = [row(" 48.85 ", 2.33), '"7' + GOOD[1:], GOOD + "\r", "a\rb" + GOOD[1:]]


@pytest.fixture
def write_checkins(tmp_path):
    """A function that writes lines, packed by ``pack``, to a file and returns its path."""

    def write(*lines, pack=bytes, end="\n"):
        path = tmp_path / "check ins ä.txt.gz"  # whatever its name says, the content decides
        path.write_bytes(pack(("\n".join(lines) + end).encode()))
        return path

    return write


@pytest.mark.parametrize("block", [1 << 22, 200, 60])
@pytest.mark.parametrize(
    ("pack", "copies"),
    [
        pytest.param(bytes, 1, id="text"),
        pytest.param(gzip.compress, 1, id="gzip"),
        pytest.param(lambda text: gzip.compress(text) * 2, 2, id="two gzip members"),
    ],
)
def test_every_kind_of_line_is_read_alike_in_any_block_and_packing(
    write_checkins, monkeypatch, caplog, pack, copies, block
):
    """`crop` logs how many lines it cannot read, and returns the points of all others, in their order.

    The lines are 40 ordinary ones, made by `row` from random places, and those of two lists: `UNREADABLE`
    have a wrong number of fields or no place on the earth, `READABLE` are odd but have a place. ``pack``
    turns the text into the file's bytes, in which the text stands ``copies`` times. ``block`` bytes are read
    at once: the whole file, a few lines, or one or two lines.
    """
    monkeypatch.setattr(crop_checkins, "BLOCK", block)
    rng = np.random.default_rng(5)
    ordinary = [row(*point) for point in rng.uniform((-90, -180), (90, 180), (40, 2))]
    lines = rng.permutation(ordinary + UNREADABLE + READABLE).tolist()
    path = write_checkins(*lines, pack=pack)

    caplog.set_level("INFO")
    points = crop(path, {"world": WORLD}, bad_rows_at_most=1)
    lines *= copies
    unreadable = [number for number, line in enumerate(lines, 1) if line in UNREADABLE]
    first = ", ".join(map(str, unreadable[:5]))  # a message names at most five
    counted = f"{len(lines)} rows, of which {len(unreadable)} cannot be read (first lines: {first})"
    assert caplog.messages == [f"{path}: {counted}"]

    # The fields of a line: user, time, latitude, longitude, location. All digits of both degrees are kept.
    fields = [line.split("\t") for line in lines if line not in UNREADABLE]
    # The third column, spread, is False: the places are the true ones, not random ones in a cell.
    expected = [[float(latitude), float(longitude), False] for *_, latitude, longitude, _ in fields]
    assert points["world"].to_numpy().tolist() == expected


def test_boxes_are_closed_and_share_one_pass(write_checkins):
    corners = [(lat, lon) for lat in (48.8286, 48.8798) for lon in (2.2855, 2.3909)]
    outside = [(48.82859999, 2.3), (48.87980001, 2.3), (48.85, 2.28549999), (48.85, 2.39090001)]
    path = write_checkins(*(row(*point) for point in corners + outside), end="")
    points = crop(path, {"paris": PARIS, "world": WORLD}, bad_rows_at_most=0)
    in_paris = points["paris"][["latitude", "longitude"]]
    assert list(in_paris.itertuples(index=False, name=None)) == corners
    assert len(points["world"]) == 8


def test_at_most_the_allowed_share_of_rows_is_unreadable(write_checkins):
    lines = [GOOD] * 1000
    lines[41] = lines[99] = "broken"
    path = write_checkins(*lines)
    assert len(crop(path, {"paris": PARIS}, bad_rows_at_most=0.002)["paris"]) == 998
    message = r"2 of 1,000 rows \(0.20%\) .* 0.10%; the first in line 42, 100;"
    with pytest.raises(ValueError, match=message):
        crop(path, {"paris": PARIS}, bad_rows_at_most=0.001)


WALK = "".join(row(48.83 + i / 10_000, 2.30) + "\n" for i in range(400)).encode()
PACKED = gzip.compress(np.random.default_rng(6).bytes(9000), mtime=0)
MISTAKES = {
    "empty": (gzip.compress(b""), "the file is empty"),
    "truncated": (PACKED[:4000], r"damaged gzip file \(.+\): get it again$"),
    "flipped": (PACKED[:4000] + bytes([PACKED[4000] ^ 0xFF]) + PACKED[4001:], "damaged gzip file"),
    "something after": (PACKED + b"something", "damaged gzip file"),
    "swapped": (
        "".join(row(2.30, 48.83 + i / 10_000) + "\n" for i in range(400)).encode(),
        "none of its 400 rows lies in the box of paris, .*latitude and longitude seem to be swapped",
    ),
    "elsewhere": (
        row(52.5, 13.4).encode(),
        r"none of its 1 rows lies in the box of paris, .*2.3909}$",
    ),
    "a header": (b"user\ttime\tlatitude\tlongitude\tlocation\n" + WALK, "the first in line 1;"),
    "html": (
        b"<!doctype html>\n<h1>404 Not Found</h1>\n",
        "2 of 2 rows .*; expected user, time, latitude",
    ),
    "neither text nor gzip": (b"PK\x03\x04" + bytes(99), "1 of 1 rows"),
}


@pytest.mark.parametrize(("content", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_wrong_file_is_refused_in_one_line_that_names_it(tmp_path, content, message):
    path = tmp_path / "check ins ä.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        crop(path, {"paris": PARIS}, bad_rows_at_most=0)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).isprintable()


def test_another_file_in_the_place_of_snaps_is_refused_by_its_md5(write_checkins):
    path = write_checkins(GOOD, GOOD, pack=gzip.compress)
    md5 = hashlib.md5(path.read_bytes()).hexdigest()
    check_md5(path, md5)
    with pytest.raises(ValueError, match=f"its MD5 sum is {md5}, but gowalla.download.md5 is 0000"):
        check_md5(path, "0" * 32)
