"""Check-ins: read in blocks, in any packing; whatever is wrong is one line that names the file."""

import bz2
import gzip
import hashlib
import io
import lzma
import zipfile

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
# Lines with a wrong number of fields, or with no place on the earth.
UNREADABLE = [
    "",
    "7\t2010-07-25T11:40:18Z\t48.85\t2.33",
    GOOD + "\t1",
    row("inf", 2.33),
    row("48,85", 2.33),
    row(90.0000001, 2.33),
    row(1, "nan"),
    row('"48.85"', 2.33),
]
# Lines that are odd, but have a place.
ODD = [row(" 48.85 ", 2.33), '"7' + GOOD[1:], GOOD + "\r", "a\rb" + GOOD[1:]]


@pytest.fixture
def write_checkins(tmp_path):
    """A function that writes lines, packed by ``pack``, to a file and returns its path."""

    def write(*lines, pack=bytes, end="\n"):
        path = tmp_path / "check ins ä.txt.gz"  # whatever its name says, the content decides
        path.write_bytes(pack(("\n".join(lines) + end).encode()))
        return path

    return write


@pytest.fixture(params=[1 << 22, 200, 60])
def blocks_of_any_size(request, monkeypatch):
    """A block has bytes enough for the whole file, for a few lines, or for one or two lines."""
    monkeypatch.setattr(crop_checkins, "BLOCK", request.param)


@pytest.fixture(
    params=[
        pytest.param((bytes, 1), id="text"),
        pytest.param((gzip.compress, 1), id="gzip"),
        pytest.param((lambda text: gzip.compress(text) * 2, 2), id="two gzip members"),
    ]
)
def path_and_lines(request, write_checkins):
    """A file in one of three packings, and its lines: `UNREADABLE` and `ODD` ones among 40 random places."""
    pack, copies = request.param
    rng = np.random.default_rng(5)
    ordinary = [row(*place) for place in rng.uniform((-90, -180), (90, 180), (40, 2))]
    lines = rng.permutation(ordinary + UNREADABLE + ODD).tolist()
    return write_checkins(*lines, pack=pack), lines * copies


@pytest.mark.usefixtures("blocks_of_any_size")
def test_every_readable_line_gives_its_point_in_any_block_and_packing(path_and_lines):
    path, lines = path_and_lines
    points = crop(path, {"world": WORLD}, bad_rows_at_most=1.0)["world"]
    fields = [line.split("\t") for line in lines if line not in UNREADABLE]
    expected = [
        [float(latitude), float(longitude)] for _user, _time, latitude, longitude, _place in fields
    ]
    assert points[["latitude", "longitude"]].to_numpy().tolist() == expected
    assert not points["spread"].any()  # the places are the true ones


@pytest.mark.usefixtures("blocks_of_any_size")
def test_unreadable_lines_are_counted_and_the_first_five_named_in_any_block_and_packing(
    path_and_lines, caplog
):
    path, lines = path_and_lines
    caplog.set_level("INFO")
    crop(path, {"world": WORLD}, bad_rows_at_most=1.0)
    unreadable = [number for number, line in enumerate(lines, start=1) if line in UNREADABLE]
    first_five = ", ".join(map(str, unreadable[:5]))
    assert caplog.messages == [
        f"{path}: {len(lines)} rows, of which {len(unreadable)} cannot be read"
        f" (first lines: {first_five})"
    ]


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
    message = r"2 of 1,000 rows \(0.20%\) .* 0.10%; the first in line 42, 100; .*; got 'broken'$"
    with pytest.raises(ValueError, match=message):
        crop(path, {"paris": PARIS}, bad_rows_at_most=0.001)


def zip_archive(content):
    """The bytes of a zip archive with one file of this content."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("checkins.txt", content)
    return buffer.getvalue()


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
        "2 of 2 rows .*; expected user, time, latitude, .*; got '<!doctype html>'$",
    ),
    "neither text nor gzip": (bytes(99), r"1 of 1 rows .*; got '(\\x00){60}'\.\.\.$"),
    "zip": (zip_archive(WALK), "compressed as zip: unpack it, or use gzip$"),
    "bz2": (bz2.compress(WALK), "compressed as bz2: unpack it, or use gzip$"),
    "xz": (lzma.compress(WALK), "compressed as xz: unpack it, or use gzip$"),
    "zstd": (b"\x28\xb5\x2f\xfd" + bytes(99), "compressed as zstd: unpack it, or use gzip$"),
    "gzip twice": (
        gzip.compress(gzip.compress(WALK)),
        "compressed as gzip inside of gzip: unpack it, or use gzip$",
    ),
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
