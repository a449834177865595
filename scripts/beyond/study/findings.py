"""The number that texts state about designs: the eps0 of k-RR in one setting."""

from dataclasses import dataclass

import tightshuffle
from scripts.shared.findings import Results


@dataclass(frozen=True)
class Designs:
    """``eps0``: what is left of k-RR's guarantee if the shuffler fails, the local budget of a report."""

    eps0: float


def designs(_: Results) -> Designs:
    """The largest eps0 of k-RR with (eps, delta) = (1, 1e-6), for 100,000 users and 256 values."""
    return Designs(eps0=tightshuffle.plan(n=100_000, k=256, eps=1, delta=1e-6).eps0)
