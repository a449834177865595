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
    """A running HTTP server on this machine, whose address is ``site``.

    It answers /200 with `CONTENT`, /cut with half of it, /other with other bytes, and /404 with this status.
    Each request appends its header Accept-Encoding to ``encodings``.
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


def test_the_whole_file_is_downloaded_with_one_request(server, tmp_path):
    path = tmp_path / "raw" / "checkins.txt.gz"
    download(f"{server.site}/200", path, md5=MD5)
    assert path.read_bytes() == CONTENT
    assert os.listdir(path.parent) == [path.name]  # no temporary file is left
    assert server.encodings == ["identity"]  # asked for the bytes as they are


def test_a_terminal_shows_the_progress_of_a_download(server, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    download(f"{server.site}/200", tmp_path / "checkins.txt.gz", md5=MD5)
    assert "100%" in capsys.readouterr().err


@pytest.mark.parametrize("md5", [MD5, MD5.upper()])
def test_a_file_with_the_expected_md5_sum_is_not_downloaded_again(server, tmp_path, md5):
    path = tmp_path / "checkins.txt.gz"
    path.write_bytes(CONTENT)
    download(f"{server.site}/200", path, md5=md5)
    assert server.encodings == []  # no request


def test_a_file_with_another_md5_sum_is_downloaded_again(server, tmp_path):
    path = tmp_path / "checkins.txt.gz"
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
