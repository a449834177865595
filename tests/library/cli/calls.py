"""Call the command within this process: ``json_answer("delta upper --n 9", "--eps", 0.1, k=3)``.

``line`` is split at its spaces. Each of ``words`` may be a text, a number or a path, and ``options`` are
appended as ``--name value``, or for a list as ``--name value value``.
"""

import contextlib
import io
import json

import pytest

from tightshuffle.cli.main import main


def run_command(line, *words, **options):
    """Exit code, standard output and standard error of ``tightshuffle`` with these words and options."""
    all_words = [*line.split(), *words]
    for name, value in options.items():
        values = value if isinstance(value, list) else [value]
        all_words += ["--" + name.replace("_", "-"), *values]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in all_words])
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
