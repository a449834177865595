"""Texts that quote findings, with placeholders such as ``{parity.low:.2f}``."""

import json
import string
from collections.abc import Mapping
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
    """The findings in results/findings.json. A topic that was not computed has the reason."""
    found: Part = json.loads(text, object_hook=Part)
    return found


def filled(template: str, found: Any) -> str:
    """The text with its placeholders filled in; ``{}`` is ``found`` itself. LookupError names what lacks."""
    try:
        return _Formatter().vformat(template, [found], found if isinstance(found, Mapping) else {})
    except LookupError as error:
        raise LookupError(f"{template}: no finding {error}") from error
