"""The command `tightshuffle`: every bound, plans and collections.

The result goes to standard output: a small table, or one object with --json. An error goes to standard error
in one line, with exit code 2. The exit code is 3 if no method gives a guarantee.
"""

import contextlib
import sys
import warnings
from collections.abc import Sequence

from tightshuffle.cli.commands import ANSWERS
from tightshuffle.cli.layout import OutputError, print_out
from tightshuffle.cli.parser import make_parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the words ``argv``, by default those of the process, and return the exit code.

    The command's answer is printed to standard output as text, or as JSON if the user asks for it. Warnings
    and errors go to standard error. The exit code is

    - 0 after an answer,
    - 1 if nobody reads the output to its end,
    - 2 for an error,
    - 3 if there is an eps or delta of the question at which no method gives a guarantee,
    - 130 for Ctrl-C.
    """
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            arguments = make_parser().parse_args(argv)
            answer = ANSWERS[arguments.command](arguments)
        # Each warning and complaint once, before the answer.
        messages = [*(str(warning.message) for warning in caught), *answer.complaints]
        for message in dict.fromkeys(messages):
            _complain(message)
        print_out(answer.as_json() if arguments.json else answer.text)
    except (ValueError, OverflowError, ModuleNotFoundError, OutputError) as error:
        return _complain(error)
    except MemoryError:
        return _complain("n or k is too large for this machine's memory")
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader has read enough
        return 1
    return 0 if answer.has_guarantee else 3


def _complain(message: object) -> int:
    """Print the message to standard error, in one line, and return the exit code of an error.

    Where nobody can read it, the exit code says enough.
    """
    if sys.stderr is not None:  # else `print` would take standard output
        with contextlib.suppress(OSError):
            print("tightshuffle:", " ".join(str(message).split()), file=sys.stderr, flush=True)
    return 2
