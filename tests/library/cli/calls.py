"""Call the command within this process."""

import contextlib
import io
import json

import pytest

from tightshuffle.cli.main import main


def call(*argv):
    """Exit code, standard output and standard error of a call within this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in argv])
    return code, out.getvalue(), err.getvalue()


def answer(*argv):
    """The parsed JSON answer of a call that has nothing to complain about."""
    code, out, err = call(*argv, "--json")
    assert (code, err) == (0, "")
    return json.loads(out, parse_constant=pytest.fail)  # NaN and Infinity are no JSON
