"""The download against a real HTTP server on this machine."""

import errno
import hashlib
import http.server
import os
import sys
import threading

import numpy as np
import pooch
import pytest

from scripts.paper.data.download_checkins import download

CONTENT = np.random.default_rng(11).bytes(300_000)
MD5 = hashlib.md5(CONTENT).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    """The file, half of it, or other bytes; else the path is the status."""

    def do_GET(self):
        name = self.path.strip("/")
        body = {"200": CONTENT, "cut": CONTENT, "other": CONTENT[::-1]}.get(name, b"")
        self.server.encodings.append(self.headers.get("Accept-Encoding"))
        self.send_response(200 if body else int(name))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if name == "cut" else body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    """A running HTTP server on this machine; ``site`` is its address.

    Its `Handler` answers /200 with `CONTENT`, /cut with half of it, /other with other bytes, and a number
    such as /404 with this status. Each request appends its Accept-Encoding to ``encodings``.
    """
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")  # else a proxy of this machine's would be asked
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.encodings = []
        server.site = f"http://127.0.0.1:{server.server_port}"
        # The thread looks every 0.01 s whether to end. `shutdown` waits for the next look.
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_whole_file_or_the_one_that_is_there(server, tmp_path, monkeypatch, capsys):
    """`download` fetches a file only if no file with the expected MD5 sum is there.

    ``server`` has the bytes `CONTENT`, with the sum `MD5`, at /200. Its list ``encodings`` has the header
    Accept-Encoding of each request.
    """
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)  # a terminal
    path = tmp_path / "raw" / "checkins.txt.gz"
    download(f"{server.site}/200", path, md5=MD5)
    assert path.read_bytes() == CONTENT
    assert os.listdir(path.parent) == [path.name]  # no temporary file is left
    assert server.encodings == ["identity"]  # asked once, for the bytes as they are
    assert "100%" in capsys.readouterr().err  # the progress bar

    # The file is there with this sum, whose letters may be of either case. So there is no second request: the
    # server would have answered that nothing is at /404.
    download(f"{server.site}/404", path, md5=MD5.upper())
    assert len(server.encodings) == 1

    # A file without its last byte is not taken for the whole one, and is downloaded again.
    path.write_bytes(CONTENT[:-1])
    download(f"{server.site}/200", path, md5=MD5)
    assert path.read_bytes() == CONTENT


OTHER_MD5 = hashlib.md5(CONTENT[::-1]).hexdigest()


@pytest.mark.parametrize(
    ("address", "error", "words"),
    [
        ("/other", ValueError, ["MD5 hash", MD5, OTHER_MD5, "gowalla.download"]),
        ("/404", OSError, ["404 Client Error: Not Found", "run again"]),
        ("/cut", OSError, ["150000 bytes read, 150000 more expected", "from the beginning"]),
        (
            "http://127.0.0.1:1/x",
            OSError,
            ["Connection refused", "gowalla.source to bundled or file"],
        ),
    ],
)
def test_an_error_of_the_network_is_one_line_that_says_what_to_do(
    server, tmp_path, address, error, words
):
    url = address if address.startswith("http") else server.site + address
    with pytest.raises(error) as caught:
        download(url, tmp_path / "checkins.txt.gz", md5=MD5)
    message = str(caught.value)
    assert "\n" not in message
    assert all(word in message for word in [url, *words]), message
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_named_by_the_file(tmp_path, monkeypatch):
    def retrieve(*_, **__):
        raise OSError(errno.ENOSPC, "no space", "a temporary name")

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    with pytest.raises(OSError, match=r"No space left on device: '.*checkins\.txt\.gz'"):
        download("https://server", tmp_path / "checkins.txt.gz", md5=MD5)
