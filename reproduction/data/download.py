"""Download one large file: resumed after interruptions, checked, there as a whole or not at all."""

import contextlib
import errno
import hashlib
import http
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import requests
import tqdm
import urllib3

from reproduction.data import StrPath

CHUNK = 1 << 16  # bytes
LINE_EVERY = 10_000_000  # bytes between two lines of progress where there is no terminal
PROGRESS = 1_000_000  # new bytes after which earlier failures are forgotten
LONGEST_PAUSE = 60  # seconds

Say = Callable[[str], object]


class _Interrupted(Exception):
    """An attempt failed in a way that another one may not."""


def log_and_print(line: str) -> None:
    """Write a line of news to the log and to standard error, above the progress bar."""
    logging.info(line)
    tqdm.tqdm.write(line, file=sys.stderr)


def download(
    url: str,
    path: StrPath,
    *,
    size: int,
    md5: str,
    retries: int = 6,
    timeout_s: float = 30,
    pause: Callable[[float], object] = time.sleep,
    say: Say = log_and_print,
) -> None:
    """Download ``url`` to ``path``; nothing to do if the file is there already.

    What has arrived waits in ``path`` + ".part", and the next attempt, or the next run, goes on from there.
    size: expected bytes; md5: expected sum (hex); retries: attempts in a row that get no further;
    pause: called with the seconds to wait; say: called with each line of news.

    ValueError: an address that cannot be used, HTTP 4xx, other bytes than expected (the .part is removed).
    OSError: the network failed too often, no room, no permission.
    """
    path = Path(path)
    part = path.with_name(path.name + ".part")
    with _readable_disk_errors(path.parent), requests.Session() as session:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file() and _wrong(path, size, md5) is None:
            return
        with _Progress(path.name, size, say) as progress:
            _fetch_patiently(session, url, part, size, retries, timeout_s, pause, say, progress)
        wrong = _wrong(part, size, md5)
        if wrong:
            part.unlink()
            raise ValueError(f"{url}: {wrong}; the file was removed, the next run starts from its beginning")
        os.replace(part, path)


def _fetch_patiently(
    session: requests.Session,
    url: str,
    part: Path,
    size: int,
    retries: int,
    timeout_s: float,
    pause: Callable[[float], object],
    say: Say,
    progress: "_Progress",
) -> None:
    most, failures = _length(part), 0
    while True:
        try:
            return _fetch(session, url, part, size, timeout_s, progress)
        except _Interrupted as error:
            have = _length(part)
            if have >= most + PROGRESS:  # counted from the most ever had: so this comes to an end
                most, failures = have, 0
            failures += 1
            if failures > retries:
                raise OSError(
                    f"{url}: {error}; gave up after {have:,} of {size:,} bytes; run again to go on "
                    "from there, or set gowalla.source to bundled or file"
                ) from error
            seconds = min(2 ** (failures - 1), LONGEST_PAUSE)
            say(f"{error}; trying again in {seconds} s ({failures} of {retries})")
            pause(seconds)


def _fetch(
    session: requests.Session, url: str, part: Path, size: int, timeout_s: float, progress: "_Progress"
) -> None:
    """One request for the bytes that are missing."""
    have = _length(part)
    if have > size:  # of another file
        part.unlink()
        have = 0
    if have == size:
        return
    # identity: the bytes as they are on the server, whose size and sum are known
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        response = session.get(url, headers=headers, stream=True, timeout=timeout_s)
    except (requests.TooManyRedirects, ValueError) as error:  # what requests says about addresses
        hint = "expected an http or https address, see gowalla.download.url"
        raise ValueError(f"{url}: {error}; {hint}") from error
    except requests.RequestException as error:
        raise _Interrupted(f"no connection ({_short(error)})") from error
    with response:
        _check_redirects(url, response)
        have = _start(response, url, part, have, size)
        progress.at(have)
        with part.open("ab" if have else "wb") as file:
            for chunk in _chunks(response):
                file.write(chunk)
                have += len(chunk)
                progress.at(have)
                if have > size:
                    break  # _wrong says so
    if have < size:
        raise _Interrupted(f"the connection ended after {have:,} of {size:,} bytes")


def _check_redirects(url: str, response: requests.Response) -> None:
    """A secure address must not lead through an open one: requests only refuses other schemes."""
    if url.lower().startswith("https:"):
        for hop in (*response.history, response):
            if not hop.url.lower().startswith("https:"):
                raise ValueError(f"{url}: leads to {hop.url}, which is not https; see gowalla.download.url")


def _start(response: requests.Response, url: str, part: Path, have: int, size: int) -> int:
    """At which byte of the file the response's body starts: ``have``, or 0 if it is the whole file."""
    status, headers = response.status_code, response.headers
    if status == 416 and have:
        part.unlink()
        raise _Interrupted(f"the server has nothing from byte {have:,} on: starting again")
    if status >= 500:
        raise _Interrupted(_status(response))
    if status == 206:
        match = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", headers.get("Content-Range", "").strip())
        if not match or int(match[1]) != have:
            part.unlink(missing_ok=True)
            raise _Interrupted(f"the server sent another piece than from byte {have:,} on: starting again")
        start, whole = have, match[2]
    elif status == 200:
        start, whole = 0, headers.get("Content-Length", "*")
    else:
        raise ValueError(f"{url}: {_status(response)}; see gowalla.download.url")
    if whole.isdecimal() and int(whole) != size:
        raise ValueError(
            f"{url}: the server's file has {int(whole):,} bytes, expected {size:,}; see gowalla.download"
        )
    return start


def _chunks(response: requests.Response) -> Iterator[bytes]:
    """The body as sent; requests' own iteration would unpack what a server calls Content-Encoding: gzip."""
    try:
        yield from response.raw.stream(CHUNK, decode_content=False)
    except (urllib3.exceptions.HTTPError, requests.RequestException) as error:
        raise _Interrupted(f"the connection broke ({_short(error)})") from error


def _status(response: requests.Response) -> str:
    with contextlib.suppress(ValueError):
        return f"HTTP {response.status_code} {http.HTTPStatus(response.status_code).phrase}"
    return f"HTTP {response.status_code}"


def _short(error: Exception) -> str:
    """The innermost reason: requests and urllib3 wrap it in several layers."""
    while True:
        inner = getattr(error, "reason", None) or next(
            (arg for arg in error.args if isinstance(arg, Exception)), None
        )
        if not isinstance(inner, Exception):
            return str(error).removeprefix(f"{type(error).__name__}: ") or type(error).__name__
        error = inner


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _wrong(path: Path, size: int, md5: str) -> str | None:
    """What is wrong with the file at ``path``; None if nothing is."""
    if _length(path) != size:
        return f"{'more' if _length(path) > size else 'fewer'} bytes than the expected {size:,}"
    with path.open("rb") as file:
        actual = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    return None if actual == md5.lower() else f"wrong bytes: md5 {actual}, expected {md5}"


@contextlib.contextmanager
def _readable_disk_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno is None:  # its message is written for the user already
            raise
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise OSError(
                f"{folder}: the disk is full; make room and run again, it goes on from there"
            ) from error
        raise OSError(f"{error.filename or folder}: cannot be written: {error.strerror}") from error


class _Progress:
    """A bar on a terminal, and a line every LINE_EVERY bytes elsewhere."""

    def __init__(self, name: str, size: int, say: Say) -> None:
        self.name, self.size, self.say = name, size, say
        self.lines = 0
        terminal = sys.stderr.isatty()
        self.bar = tqdm.tqdm(total=size, desc=name, unit="B", unit_scale=True, disable=not terminal)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.close()

    def at(self, have: int) -> None:
        """``have`` bytes are there; fewer than before if the download had to start again."""
        self.bar.update(have - self.bar.n)
        lines = have // LINE_EVERY
        if self.bar.disable and lines > self.lines:
            self.say(f"{self.name}: {have / 1e6:,.0f} of {self.size / 1e6:,.0f} MB")
        self.lines = lines
