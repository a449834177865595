"""Texts that quote findings, with placeholders such as ``{parity.low:.2f}``."""

import json
from types import SimpleNamespace


def filled(text, findings):
    """The text with its placeholders filled in from ``findings``, the text of results/findings.json."""
    found = json.loads(findings, object_hook=lambda part: SimpleNamespace(**part))
    return text.format(**vars(found))
