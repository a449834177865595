"""Input made to do harm: it runs nothing, writes nothing elsewhere, and exhausts nothing."""

import copy
import gzip
import os
import re
import socket
import threading
import tracemalloc
from pathlib import Path

import pytest
import requests
import yaml

from tests.conftest import ROOT
from tightshuffle.data import checkins, download
from tightshuffle.data.checkins import crop
from tightshuffle.data.counts_file import read_counts
from tightshuffle.data.grid import Box
from tightshuffle.figures import style as plotting
from tightshuffle.figures import wording
from tightshuffle.pipeline.configuration import config_error, file_error

SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
CONFIG = yaml.safe_load((ROOT / "config/config.yaml").read_text())
WORLD = {"world": Box(-90, 90, -180, 180)}
ROW = b"7\t2010-07-25T11:40:18Z\t48.85\t2.33\t1500177\n"


# Configuration files ---------------------------------------------------------------------------------

CODE = {
    "call": "x: !!python/object/apply:os.system ['touch {mark}']\n",
    "new object": "x: !!python/object/new:os.system ['touch {mark}']\n",
    "key": "? !!python/object/apply:os.system ['touch {mark}']\n: 1\n",
    "module": "x: !!python/module:os\n",
    "own tag": "x: !run 'touch {mark}'\n",
    "template": "__use_yte__: true\nx: ?__import__('os').system('touch {mark}')\n",
    "template deep down": "a:\n  __use_yte__: true\n",
}


@pytest.mark.parametrize("text", CODE.values(), ids=CODE)
def test_code_in_a_configuration_is_refused_unrun(tmp_path, text):
    mark = tmp_path / "mark"
    error = file_error(text.replace("{mark}", str(mark)), "evil.yaml")
    assert error is not None
    assert re.search(r"evil.yaml, line \d: .*(not allowed|remove it)", error)
    assert error.isprintable()
    assert not mark.exists()


def test_a_billion_laughs_is_not_unfolded():
    lines = ["a0: &a0 [ha, ha]"] + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)]
    assert file_error("\n".join(lines), "laughs.yaml") is None  # looked at once each: comes to an end


# Values that end up in paths, rule patterns, shells, pages and figures -------------------------------

NAMES = [
    "..",
    "../x",
    "a/b",
    "/etc/x",
    "a b",
    "a;touch x",
    "$(touch x)",
    "`x`",
    "a\n",
    "a\nb",
    "a|b",
    "a{b}",
    ".*",
    "",
    "A",
    "ä",
    "a" * 41,
    "a\x00",
    "-n",
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_names_of_datasets(name):
    config = copy.deepcopy(CONFIG)
    config["datasets"][name] = copy.deepcopy(CONFIG["datasets"]["paris"])
    error = config_error(config, SCHEMA)
    assert error is not None
    assert "must match" in error
    assert error.isprintable()


@pytest.mark.parametrize("number", ["1/../../x", "4; touch x", "$(x)", "4\n", "1e3", "nan", "{n}"])
@pytest.mark.parametrize("key", ["eps0", "eps"])
def test_numbers_that_become_parts_of_paths(key, number):
    config = copy.deepcopy(CONFIG)
    config["datasets"]["paris"]["tv"]["budgets"][0][key] = number
    assert f"datasets.paris.tv.budgets[0].{key} must be a number" in config_error(config, SCHEMA)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("datasets", "paris", "tv", "n"), ["all/../x"]),
        (("datasets", "paris", "figures", "tv"), "fig1/../../x"),
        (("datasets", "paris", "figures", "tv"), "fig1\n"),
        (("datasets", "paris", "title"), "a\n.. raw:: html"),
        (("datasets", "paris", "title"), "a\x1b[2J"),
        (("gowalla", "download", "url"), "file:///etc/passwd"),
        (("gowalla", "download", "url"), "https://x.org/a\n"),
        (("gowalla", "download", "md5"), "0" * 32 + "\n"),
        (("gowalla", "grid"), "../published"),
    ],
)
def test_texts_that_become_parts_of_something_else(path, value):
    config = copy.deepcopy(CONFIG)
    node = config
    for name in path[:-1]:
        node = node[name]
    node[path[-1]] = value
    error = config_error(config, SCHEMA)
    assert error is not None
    assert ".".join(path) in error
    assert error.isprintable()


TITLES = ["$x_$", "$\\frac{1$", "$$", "\\", "100 $ and 200 $", "<b>&'\"", "a_b^c", "%s {0}"]


@pytest.mark.parametrize("title", TITLES)
def test_titles_in_figures_are_shown_letter_by_letter(title):
    figure = plotting.new_figure(1)
    figure.subplots()
    text = figure.suptitle(wording.folded(f"Setting of {wording.plain(title)}, n = 3", 7))
    plotting.png(figure)  # a formula that is none would be an error here
    assert text._preprocess_math(text.get_text())[0].replace("\n", " ") == f"Setting of {title}, n = 3"


def test_every_script_that_draws_a_title_makes_it_plain():
    for script in (ROOT / "scripts").glob("draw_*.py"):
        text = script.read_text()
        drawn_by_another = "draw_tv.draw(" in text or "draw_estimates.draw(" in text
        if "params.title" in text and not drawn_by_another:
            assert "wording.plain(" in text, script.name


# Files that never end, or unpack to far more than they are -------------------------------------------


@pytest.mark.parametrize("read", [read_counts, lambda path: crop(path, WORLD)], ids=["counts", "check-ins"])
def test_pipes_and_devices_are_not_waited_for(tmp_path, monkeypatch, read):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    server = socket.socket(socket.AF_UNIX)
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    server.bind("socket")
    for path in (pipe, "/dev/zero", "/dev/null", "socket"):
        with pytest.raises(ValueError, match="not a regular file"):
            read(Path(path))
    server.close()


def test_gzip_bombs(tmp_path, monkeypatch):
    monkeypatch.setattr(checkins, "SMALL", 1 << 20)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(ROW * 1_000_000, mtime=0))  # 43 MB in some 100 kB
    assert path.stat().st_size * checkins.MOST_PACKED < len(ROW) * 1_000_000
    with pytest.raises(ValueError, match=r"bomb.gz: unpacks to more than 100 times its size"):
        crop(path, {"nowhere": Box(-1, 1, -1, 1)})


def test_bombs_of_zeros_stop_at_the_first_block(tmp_path):
    packed, sparse = tmp_path / "bomb.gz", tmp_path / "sparse.txt"
    packed.write_bytes(gzip.compress(bytes(1 << 28), compresslevel=1, mtime=0))
    sparse.touch()
    os.truncate(sparse, 1 << 40)  # 1 TB
    tracemalloc.start()
    for path in (packed, sparse):
        with pytest.raises(ValueError, match="neither gzip nor plain text"):
            crop(path, WORLD)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * checkins.BLOCK


def test_honest_files_may_be_packed_tightly(tmp_path):
    path = tmp_path / "same.gz"
    path.write_bytes(gzip.compress(ROW * 200_000, mtime=0))  # 8.6 MB, over 100 times its size, but small
    assert crop(path, WORLD)[1].rows == 200_000


# Downloads that lead elsewhere -----------------------------------------------------------------------


@pytest.fixture
def redirecting():
    """A server of one answer: to whatever address; its own address."""
    from http.server import BaseHTTPRequestHandler, HTTPServer

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(302)
            self.send_header("Location", self.server.target)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://x/", "data:,x", "//"]
)
def test_redirects_to_other_schemes(redirecting, tmp_path, target):
    redirecting.target = target
    url = f"http://127.0.0.1:{redirecting.server_port}/x.gz"
    with pytest.raises(ValueError, match=re.escape(url)) as caught:
        download.download(url, tmp_path / "x.gz", size=3, md5="0" * 32, retries=0, pause=lambda _: None)
    assert caught.value.args[0].isprintable()
    assert list(tmp_path.iterdir()) == []


def answer(url, code=200):
    made = requests.Response()
    made.url, made.status_code = url, code
    return made


@pytest.mark.parametrize(
    ("hops", "fine"),
    [
        (["https://a.org/x"], True),
        (["https://a.org/x", "https://b.org/x"], True),
        (["https://a.org/x", "http://b.org/x"], False),
        (["https://a.org/x", "http://b.org/x", "https://b.org/x"], False),
        (["http://a.org/x", "http://b.org/x"], True),
    ],
)
def test_a_secure_address_must_not_lead_to_an_open_one(hops, fine):
    last = answer(hops[-1])
    last.history = [answer(url, 302) for url in hops[:-1]]
    if fine:
        download._check_redirects(hops[0], last)
    else:
        with pytest.raises(ValueError, match=r"leads to http://b.org/x, which is not https"):
            download._check_redirects(hops[0], last)
