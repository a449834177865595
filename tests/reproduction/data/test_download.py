"""The download against a real HTTP server on this machine that misbehaves on purpose."""

import contextlib
import hashlib
import http.server
import os
import re
import threading

import numpy as np
import pytest
import requests

from reproduction.data import download as module
from reproduction.data.download import download

CONTENT = np.random.default_rng(11).bytes(300_000)
CUT = 120_000


def send(handler, code, body=b"", **headers):
    handler.send_response(code)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def ignores_range(handler, content):
    send(handler, 200, content, Content_Length=len(content))


def send_from(handler, content, start):
    span = f"bytes {start}-{len(content) - 1}/{len(content)}"
    send(handler, 206, content[start:], Content_Length=len(content) - start, Content_Range=span)


def plain(handler, content):
    """A server that knows Range."""
    match = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
    if match:
        send_from(handler, content, int(match[1]))
    else:
        ignores_range(handler, content)


def cut(after, answer=plain):
    """Close the connection after so many bytes of the body, whatever length the header promised."""

    class Cut:
        def __init__(self, stream):
            self.stream, self.left = stream, None

        def write(self, data):
            if self.left is None:  # the first write is the header
                self.left = after
                return self.stream.write(data)
            self.stream.write(data[: self.left])
            raise ConnectionAbortedError

    def reply(handler, content):
        handler.wfile = Cut(handler.wfile)
        with contextlib.suppress(ConnectionAbortedError):
            answer(handler, content)

    return reply


def status(code, **headers):
    return lambda handler, content: send(handler, code, Content_Length=0, **headers)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.ranges.append(self.headers.get("Range"))
        self.server.encodings.add(self.headers.get("Accept-Encoding"))
        answers = self.server.answers
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        answer(self, self.server.content)

    def log_message(self, *_):
        pass


class Site:
    """One address, its answers in order (the last one again and again), and a folder to download to."""

    def __init__(self, server, folder):
        self.server, self.folder = server, folder
        self.url = f"http://127.0.0.1:{server.server_port}/checkins.txt.gz"
        self.path = folder / "raw" / "checkins.txt.gz"
        self.part = folder / "raw" / "checkins.txt.gz.part"
        self.pauses, self.lines = [], []

    def get(self, *answers, content=CONTENT, expected=None, **changes):
        expected = content if expected is None else expected
        self.server.answers, self.server.content, self.server.ranges = list(answers), content, []
        self.server.encodings = set()
        options = {
            "size": len(expected),
            "md5": hashlib.md5(expected).hexdigest().upper(),
            "retries": 3,
            "timeout_s": 5,
            "pause": self.pauses.append,
            "say": self.lines.append,
        } | changes
        download(options.pop("url", self.url), self.path, **options)

    def leave(self, content):
        self.part.parent.mkdir(exist_ok=True)
        self.part.write_bytes(content)

    @property
    def ranges(self):
        return self.server.ranges

    def check(self, content=CONTENT):
        assert self.path.read_bytes() == content
        assert sorted(path.name for path in self.path.parent.iterdir()) == [self.path.name]


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield Site(server, tmp_path)
    server.shutdown()
    server.server_close()
    thread.join()


def test_whole_file_in_one_go(site):
    site.get(plain)
    site.check()
    assert site.ranges == [None]
    assert site.pauses == []
    site.get(status(404))  # it is there: nobody asks
    assert site.ranges == []
    site.check()


def test_file_with_other_bytes_is_replaced(site):
    site.path.parent.mkdir()
    site.path.write_bytes(b"x" * len(CONTENT))
    site.get(plain)
    site.check()


def test_cut_connections_are_resumed_with_growing_pauses(site):
    site.get(cut(CUT), cut(100), cut(100), plain)
    site.check()
    assert site.ranges == [None, f"bytes={CUT}-", f"bytes={CUT + 100}-", f"bytes={CUT + 200}-"]
    assert site.pauses == [1, 2, 4]
    assert all("; trying again in" in line for line in site.lines)


def test_next_run_goes_on_where_the_last_one_stopped(site):
    with pytest.raises(OSError, match=r"gave up after 120,000 of 300,000 bytes; run again"):
        site.get(cut(CUT), retries=0)
    assert site.part.read_bytes() == CONTENT[:CUT]
    assert not site.path.exists()
    site.get(plain)
    assert site.ranges == [f"bytes={CUT}-"]
    site.check()


def test_attempts_are_as_many_as_asked_for_and_pauses_stop_growing(site):
    with pytest.raises(OSError, match=r"HTTP 503 Service Unavailable; gave up"):
        site.get(status(503), retries=8)
    assert len(site.ranges) == 9
    assert site.pauses == [1, 2, 4, 8, 16, 32, 60, 60]


def test_failures_are_forgotten_after_progress(site):
    content = np.random.default_rng(12).bytes(4 * module.PROGRESS)
    site.get(*[cut(module.PROGRESS)] * 3, plain, content=content, retries=1)
    site.check(content)
    assert site.pauses == [1, 1, 1]


def test_a_server_that_starts_again_each_time_comes_to_an_end(site):
    content = np.random.default_rng(13).bytes(3 * module.PROGRESS)
    with pytest.raises(OSError, match="gave up"):
        site.get(cut(module.PROGRESS + 1, ignores_range), content=content, retries=2)
    assert site.pauses == [1, 2]


@pytest.mark.parametrize(
    ("leftover", "answers", "ranges"),
    [
        (b"y" * CUT, [ignores_range], [f"bytes={CUT}-"]),
        (CONTENT[:CUT], [status(416), plain], [f"bytes={CUT}-", None]),
        (CONTENT[:CUT], [lambda *asked: send_from(*asked, start=7), plain], [f"bytes={CUT}-", None]),
        (CONTENT + b"more", [plain], [None]),
        (CONTENT, [status(404)], []),
    ],
    ids=["the whole file comes", "range not satisfiable", "another piece comes", "too long", "complete"],
)
def test_a_leftover_is_used_or_started_again(site, leftover, answers, ranges):
    site.leave(leftover)
    site.get(*answers)
    assert site.ranges == ranges
    site.check()


@pytest.mark.parametrize(("code", "message"), [(404, "Not Found"), (429, "Too Many Requests")])
def test_client_errors_are_not_retried(site, code, message):
    with pytest.raises(ValueError, match=rf"HTTP {code} {message}; see gowalla.download.url"):
        site.get(status(code))
    assert len(site.ranges) == 1
    assert site.pauses == []


def test_no_server_at_all(site):
    with pytest.raises(OSError, match=r"no connection \(.*refused.*\); gave up after 0 of 300,000 bytes"):
        site.get(plain, url="http://127.0.0.1:1/checkins.txt.gz", retries=1)
    assert site.pauses == [1]


def test_silent_server_times_out(site):
    release = threading.Event()

    def silent(handler, content):
        release.wait(20)

    try:
        with pytest.raises(OSError, match=r"no connection \(.*timed out"):
            site.get(silent, retries=0, timeout_s=0.1)
    finally:
        release.set()


def test_wrong_bytes_are_removed(site):
    with pytest.raises(ValueError, match=r"wrong bytes: md5 [0-9a-f]{32}, expected [0-9A-F]{32}"):
        site.get(plain, content=CONTENT[::-1], expected=CONTENT)
    assert list(site.path.parent.iterdir()) == []
    assert len(site.ranges) == 1
    site.get(plain)  # the next run starts clean
    site.check()


def test_file_of_another_size_is_not_even_fetched(site):
    site.leave(CONTENT[:CUT])
    with pytest.raises(ValueError, match=r"the server's file has 299,999 bytes, expected 300,000"):
        site.get(plain, content=CONTENT[:-1], expected=CONTENT)
    with pytest.raises(ValueError, match=r"the server's file has 9 bytes, expected 300,000"):
        site.get(ignores_range, content=b"log in...", expected=CONTENT)
    assert site.part.read_bytes() == CONTENT[:CUT]


def test_short_body_of_unknown_length(site):
    site.get(lambda handler, content: send(handler, 200, content[:CUT]), plain)
    assert site.ranges == [None, f"bytes={CUT}-"]
    site.check()


def test_long_body_of_unknown_length_is_not_read_to_its_end(site):
    stopped = threading.Event()

    def endless(handler, content):
        send(handler, 200)
        try:
            for _ in range(1000):
                handler.wfile.write(bytes(1_000_000))
        except ConnectionError:
            stopped.set()

    with pytest.raises(ValueError, match=r"more bytes than the expected 300,000"):
        site.get(endless)
    assert stopped.wait(10)
    assert list(site.path.parent.iterdir()) == []


def test_bytes_are_kept_as_sent(site):
    """Some servers call a .gz file's own compression Content-Encoding; unpacking it would be wrong."""

    def labelled(handler, content):
        send(handler, 200, content, Content_Length=len(content), Content_Encoding="gzip")

    site.get(labelled)
    site.check()
    assert site.server.encodings == {"identity"}


@pytest.mark.parametrize("target", ["ftp://127.0.0.1/x", "file:///etc/hostname", "/checkins.txt.gz"])
def test_redirects_elsewhere_than_http_and_in_a_circle(site, target):
    with pytest.raises(ValueError, match="expected an http or https address"):
        site.get(status(302, Location=target))
    assert site.pauses == []
    assert not site.path.exists()


def response(url, code=200):
    received = requests.Response()
    received.url, received.status_code = url, code
    return received


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
    last = response(hops[-1])
    last.history = [response(url, 302) for url in hops[:-1]]
    if fine:
        module._check_redirects(hops[0], last)
    else:
        with pytest.raises(ValueError, match=r"leads to http://b.org/x, which is not https"):
            module._check_redirects(hops[0], last)


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/x", "checkins.txt.gz", "http://"])
def test_address_that_cannot_be_used(site, url):
    with pytest.raises(ValueError, match=re.escape(url)):
        site.get(plain, url=url)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, a device that is always full")
def test_disk_full(site):
    site.part.parent.mkdir()
    site.part.symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"raw: the disk is full; make room and run again") as caught:
        site.get(plain)
    assert "\n" not in str(caught.value)
    assert not site.path.exists()


def test_folder_that_is_a_file(site):
    site.path.parent.write_text("in the way")
    with pytest.raises(OSError, match="raw: cannot be written"):
        site.get(plain)


def test_a_line_every_so_many_bytes_without_a_terminal(site, monkeypatch):
    monkeypatch.setattr(module.sys.stderr, "isatty", lambda: False, raising=False)
    monkeypatch.setattr(module, "LINE_EVERY", 1_000_000)
    content = np.random.default_rng(14).bytes(3_200_000)
    site.get(plain, content=content)
    assert site.lines == [f"checkins.txt.gz: {megabytes} of 3 MB" for megabytes in (1, 2, 3)]
