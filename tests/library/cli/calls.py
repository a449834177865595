"""Call the command within this process. Each word of a command line may be a text, a number or a path."""

import contextlib
import io
import json

import pytest

from tightshuffle.cli.main import main


def run_command(*words):
    """Exit code, standard output and standard error of ``tightshuffle`` with these words."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in words])
    return code, out.getvalue(), err.getvalue()


def text_answer(*words):
    """What a call prints that has nothing to complain about."""
    code, out, err = run_command(*words)
    assert (code, err) == (0, "")
    return out


def json_answer(*words):
    """The parsed JSON answer of a call that has nothing to complain about."""
    # NaN and Infinity are no JSON.
    return json.loads(text_answer(*words, "--json"), parse_constant=pytest.fail)


def refusal(*words):
    """The one line of a call that is refused, without "tightshuffle: " before it and the end of line."""
    code, out, err = run_command(*words)
    assert (code, out, err.count("\n"), err[-1]) == (2, "", 1, "\n")
    assert err.startswith("tightshuffle: ")
    return err[len("tightshuffle: ") : -1]
