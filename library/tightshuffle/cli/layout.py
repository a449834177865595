"""Format a result as text or as one JSON object."""

import json
import math
import os
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tightshuffle.number_text import e_notation, from_log10, plain
from tightshuffle.numerics.side import Side

INDENT = 17  # columns that a title takes, left of its text
_WIDTH = 100  # columns of a line of text
# From this eps on nothing useful is left: who thinks that two values are equally likely can be 99.75 % sure
# of one of them after seeing the report, since e^6 = 403.
USELESS_EPS = 6.0
ERROR_OF_REPORTS = (
    "Errors are those of the expected number of reports; users who are missing add to them."
)
USELESS_ERROR = "An error above 1 means that the estimate is useless."


@dataclass(frozen=True)
class Answer:
    """The result of a command, as text and as JSON.

    ``complaints`` are lines for standard error. ``has_guarantee`` is False if there is an eps or delta of the
    question at which no method gives a guarantee.
    """

    text: str
    json: dict[str, Any]
    complaints: Sequence[str] = ()
    has_guarantee: bool = True

    def as_json(self) -> str:
        """The text of one JSON object, in which null stands for nan and infinity."""
        return json.dumps(_without_nan(self.json), allow_nan=False)


class OutputError(Exception):
    """Standard output takes nothing, as its disk is full or it is closed."""


def print_out(text: str, end: str = "\n") -> None:
    """Print to standard output at once. BrokenPipeError if nobody reads it, and else `OutputError`."""
    if sys.stdout is None:  # closed when Python started
        raise OutputError("standard output is closed")
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError:
        _drop_output()
        raise
    except OSError as error:
        _drop_output()
        raise OutputError(f"standard output: {error.strerror}") from None


def _drop_output() -> None:
    """Let Python not try again, at its end, to write what is left in the buffer."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def table(rows: Sequence[Sequence[str]]) -> str:
    """The lines of a table as one text, with columns aligned to the left. ``rows`` have texts as cells."""
    widths = []
    for column in zip(*rows, strict=True):
        # A cell with the reason for a nan may be longer than its column.
        widths.append(max(len(cell) for cell in column if not cell.startswith("nan (")))

    lines = []
    for row in rows:
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def indented(text: str, title: str = "") -> str:
    """The ``text``, wrapped into lines, to the right of a ``title``."""
    start = f"{title:<{INDENT}}"
    return textwrap.fill(text, _WIDTH, initial_indent=start, subsequent_indent=" " * INDENT)


def delta_text(log10_delta: float, side: Side | None = None) -> str:
    """The delta with this log10 as text, with four digits. Such deltas may be below the smallest float.

    It is rounded up for an upper bound, down for a lower bound, and to the nearest number without a ``side``.
    There it gets 12 digits if four would say 1.
    """
    delta = from_log10(log10_delta)
    text = e_notation(delta, 4, side=side)
    if text == "1" and side is None:
        return plain(delta, 12)
    return text


def what_is_left(eps: float) -> str:
    """The guarantee (eps, 0) of users whose shuffler or aggregators failed, in words, rounded up.

    An eps of math.inf is nothing. From `USELESS_EPS` on it is nothing useful.
    """
    if eps == math.inf:
        return "nothing"
    if eps >= USELESS_EPS:
        return f"nothing useful (eps {math.ceil(eps)})"
    return f"eps {plain(eps, 4, side=Side.UPPER)}"


def who_is_protected(participation: float) -> list[str]:
    """Sentences that say what n is, and whom the guarantee is for."""
    if participation == 1:
        return ["n is how many users report in each round, and the guarantee is for each of them."]
    return [
        f"n is how many users could report. In each round a user does with probability {participation:g}.",
        "The guarantee is for a user who reports in every round, and does not hide who reports.",
    ]


def setting_text(setting: Mapping[str, Any]) -> str:
    """The arguments in one line, such as "n = 1000, k = 10, eps0 = 2"."""
    texts = []
    for name, value in setting.items():
        texts.append(f"{name} = {value:g}" if name == "eps0" else f"{name} = {value}")
    return ", ".join(texts)


def setting_in_words(setting: Mapping[str, Any]) -> str:
    """The arguments as a title has them, such as "1,000 users, 10 values, eps0 = 2, k-RR"."""
    words = [f"{setting['n']:,} users"]
    if "k" in setting:
        words.append(f"{setting['k']:,} values")
    if "eps0" in setting:
        randomizer = setting.get("randomizer", "k-RR")
        own = "a matrix of your own"
        words += [f"eps0 = {setting['eps0']:g}", own if randomizer == "file" else randomizer]
    if setting.get("rounds", 1) > 1:
        words.append(f"{setting['rounds']:,} rounds")
    if "values_per_user" in setting:
        words.append(f"{setting['values_per_user']:,} values per user")
    if "colluding" in setting:
        words.append(f"{setting['colluding']:,} of the users colluding")
    if "participation" in setting:
        words.append(f"each user reports with probability {setting['participation']:g}")
    if "parties" in setting or "honest" in setting:
        words.append(
            f"{setting.get('honest', 1)} of {setting.get('parties', 2)} aggregators honest"
        )
    return ", ".join(words)


def with_plot(answer: Answer, path: str) -> Answer:
    """The answer, which also says that the picture is in the file ``path``."""
    text = f"{answer.text}\n\npicture: {path}"
    return replace(answer, text=text, json={**answer.json, "plot": path})


def one_or_all(items: Sequence[Any]) -> Any:
    """The item itself if there is only one, or else a list of all."""
    return items[0] if len(items) == 1 else list(items)


def _without_nan(value: Any) -> Any:
    """``value`` with None for the numbers that JSON does not have: nan and infinity."""
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
