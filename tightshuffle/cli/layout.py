"""Format a result as text, as one JSON object, or as CSV."""

import csv
import io
import json
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

INDENT, _WIDTH = 17, 100


@dataclass(frozen=True)
class Answer:
    """The result of a command in its three forms, and its warnings.

    ``records``: the rows of the CSV form. ``complaints``: lines for standard error. ``promised``: False if no
    method gives a guarantee at some eps or delta.
    """

    text: str
    json: dict[str, Any]
    records: Sequence[Mapping[str, Any]]
    complaints: Sequence[str] = ()
    promised: bool = True

    def shown(self, form: str) -> str:
        """The answer as "text", "json" or "csv"."""
        if form == "json":
            return json.dumps(_plain(self.json), allow_nan=False)
        return _csv(self.records) if form == "csv" else self.text


def table(rows: Sequence[Sequence[str]]) -> str:
    """The rows as text, with columns aligned to the left."""
    widths = [max(len(row[i]) for row in rows if not row[i].startswith("nan (")) for i in range(len(rows[0]))]
    lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def indented(text: str, title: str = "") -> str:
    """Lines of text to the right of a ``title``."""
    first = f"{title:<{INDENT}}"
    return textwrap.fill(text, _WIDTH, initial_indent=first, subsequent_indent=" " * INDENT)


def one_or_all(items: Sequence[Any]) -> Any:
    """The item of a list of one, or the list."""
    return items[0] if len(items) == 1 else list(items)


def _csv(records: Sequence[Mapping[str, Any]]) -> str:
    """A header and a line per record, with all digits; nan and None are empty fields."""
    names = list(dict.fromkeys(name for record in records for name in record))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _field(value) for name, value in record.items()} for record in records)
    return text.getvalue().rstrip("\n")


def _field(value: Any) -> Any:
    return "" if isinstance(value, float) and math.isnan(value) else value


def _plain(value: Any) -> Any:
    """``value`` with None for the numbers that JSON does not have: nan and infinity."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
