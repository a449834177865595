"""The number that texts state about designs."""

from dataclasses import dataclass

import tightshuffle
from scripts.shared.findings import Results


@dataclass(frozen=True)
class Designs:
    """What is left of k-RR's guarantee if the shuffler fails."""

    eps0: float


def designs(_: Results) -> Designs:
    """The eps0 of k-RR at 100,000 users and 256 values for (1, 1e-6)."""
    return Designs(eps0=tightshuffle.plan(n=100_000, k=256, eps=1, delta=1e-6).eps0)
