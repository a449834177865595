"""`tightshuffle calculator`: serve the page of `tightshuffle.calculator`."""

import os
import signal
import subprocess
import sys
from importlib.util import find_spec

from tightshuffle.arguments import check_installed


def start(port: int | None = None, *, browser: bool = True) -> int:
    """Serve the page to this machine only, and open it in the browser, until Ctrl-C or SIGTERM.

    Returns marimo's exit code. A ``port`` of None is the first free one from 2718. Raises
    ModuleNotFoundError that says what to install.
    """
    check_installed("calculator", "marimo", "matplotlib", "yaml")
    page = find_spec("tightshuffle.calculator.page")
    assert page is not None
    assert page.origin is not None

    words = [sys.executable, "-m", "marimo", "run", "--host", "127.0.0.1"]
    if port is not None:
        words += ["--port", str(port)]
    if not browser:
        words.append("--headless")
    words.append(page.origin)

    # subprocess.run ends the server if an exception passes through it; without this, SIGTERM left it running.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    environment = {**os.environ, "MARIMO_SKIP_UPDATE_CHECK": "1"}
    try:
        return subprocess.run(words, env=environment).returncode
    except KeyboardInterrupt:
        return 0
