"""Sentences of documents that quote findings: texts with placeholders such as ``{parity.low:.2f}``."""

import json
import string
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


class Part(dict[str, Any]):
    """A part of the findings whose keys are attributes, too, as placeholders name them."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise KeyError(self.get("not_computed", name))


class _Formatter(string.Formatter):
    """Formats None as an empty text."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return "" if value is None else str(super().format_field(value, format_spec))


def read_findings(text: str) -> Part:
    """The findings in results/findings.json. A topic that was not computed has the reason, and is false."""
    found: Part = json.loads(text, object_hook=Part)
    return found


def filled(template: str, found: Any) -> str:
    """The text with its placeholders filled in; ``{}`` is ``found`` itself. LookupError names what lacks."""
    try:
        return _Formatter().vformat(template, [found], found if isinstance(found, Mapping) else {})
    except LookupError as error:
        raise LookupError(f"{template}: no finding {error}") from error


def finding(where: str, found: Mapping[str, Any]) -> Any:
    """The finding of a name such as parity.rows. LookupError says why it was not computed."""
    part: Any = found
    for name in where.split("."):
        if name not in (part or {}):
            reason = part.get("not_computed") if part else None
            raise LookupError(f"{where}: {reason or f'no finding {name!r}'}")
        part = part[name]
    return part


def quotes(
    texts: Mapping[str, Sequence[str | Mapping[str, str]]], found: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """(document, text) of everything that docs/quotes.yaml says, filled in.

    Raises LookupError if the findings lack a placeholder, or what a text claims is not true.
    """
    for document, entries in texts.items():
        for entry in entries:
            if isinstance(entry, str):
                yield document, filled(entry, found)
                continue
            for where, template in entry.items():
                rows = finding(where, found)
                if not rows:
                    raise LookupError(f"{document}: not true any more: {template}")
                for row in [found] if rows is True else rows:
                    yield document, filled(template, row)
