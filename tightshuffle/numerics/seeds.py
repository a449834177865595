"""Seeds of random streams, from the root seed and the parameters of what is drawn."""

import hashlib
import json


def seed_of(root: int, **parameters: str | float) -> int:
    """A seed of 63 bits from the root seed and the point's parameters.

    It depends on nothing else: a point's values are the same whichever other points run, on any number of
    cores and on any machine.
    """
    text = json.dumps([root, sorted(parameters.items())])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
