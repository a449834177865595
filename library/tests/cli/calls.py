"""Call the command within this process: ``json_answer("delta upper --eps 0.1", "--n", 9, k=3)``.

``line`` is split at its spaces, ``words`` may be texts, numbers or paths, and ``options`` are appended as
``--name value``.
"""

import contextlib
import io
import json

import pytest

from tightshuffle.cli.main import main


def run_command(line, *words, **options):
    """Exit code, standard output and standard error of ``tightshuffle`` with these words and options."""
    for name, value in options.items():
        words += (f"--{name}", value)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*line.split(), *map(str, words)])
    return code, out.getvalue(), err.getvalue()


def text_answer(line, *words, **options):
    """What a call prints that has nothing to complain about."""
    code, out, err = run_command(line, *words, **options)
    assert (code, err) == (0, "")
    return out


def json_answer(line, *words, **options):
    """The parsed JSON answer of a call that has nothing to complain about."""
    # NaN and Infinity are no JSON.
    return json.loads(text_answer(line, *words, "--json", **options), parse_constant=pytest.fail)


def refusal(line, *words, **options):
    """The one line of a call that is refused, without "tightshuffle: " before it and the end of line."""
    code, out, err = run_command(line, *words, **options)
    assert (code, out, err.count("\n"), err[-1]) == (2, "", 1, "\n")
    assert err.startswith("tightshuffle: ")
    return err[len("tightshuffle: ") : -1]
