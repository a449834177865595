"""`tightshuffle calculator`: serve the page of `tightshuffle.calculator`."""

import os
import signal
import subprocess
import sys
from importlib.util import find_spec

from tightshuffle.arguments import check_installed


def serve_page(port: int | None = None, *, browser: bool = True) -> int:
    """Serve the calculator's page to this machine only, until Ctrl-C or SIGTERM, and return the exit code.

    A child process of marimo serves the page, and opens it in the ``browser`` if that is wanted. A ``port``
    of None is the first free one from 2718. The result is marimo's exit code, or 0 after Ctrl-C. Raises
    ModuleNotFoundError that says what to install, if the extra "calculator" is not.
    """
    check_installed("calculator", "marimo", "matplotlib", "yaml")
    page = find_spec("tightshuffle.calculator.page")
    assert page is not None
    assert page.origin is not None  # the path of the page's file

    words = [sys.executable, "-m", "marimo", "run", "--host", "127.0.0.1"]
    if port is not None:
        words += ["--port", str(port)]
    if not browser:
        words.append("--headless")
    words.append(page.origin)

    # subprocess.run ends the server if an exception passes through it. Without one, SIGTERM would end only
    # this process, and leave the server running.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    environment = {**os.environ, "MARIMO_SKIP_UPDATE_CHECK": "1"}
    try:
        return subprocess.run(words, env=environment).returncode
    except KeyboardInterrupt:
        return 0
