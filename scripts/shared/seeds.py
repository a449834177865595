"""Seeds of random streams, from the root seed and the parameters of what is drawn."""

import hashlib
import json


def seed_of(root: int, **parameters: str | float) -> int:
    """A seed of 63 bits from the root seed and the point's parameters.

    The seed depends on nothing else. So a point gives the same values on any number of cores, on any machine,
    and whichever other points run.
    """
    text = json.dumps([root, sorted(parameters.items())])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
