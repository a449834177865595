"""The number that texts state about the bounds of the literature."""

from dataclasses import dataclass
from typing import Any

from scripts.shared.findings import Results
from tightshuffle.methods import delta

TABLE_1: dict[str, Any] = {"n": 100, "k": 10, "eps0": 0.5}  # it does not state k


@dataclass(frozen=True)
class LiteratureBounds:
    """``times``: how many times our upper bound on delta the best analytic bound is."""

    times: float


def literature_bounds(_: Results) -> LiteratureBounds:
    """The best analytic bound over ours, in the first line of the short version's Table 1, eps = 0.1.

    Both are bounds on delta of all counts: Balle et al.'s, and ours, the privacy blanket's.
    """

    def log10_delta(method: str) -> Any:
        return delta(0.1, method=method, log10=True, **TABLE_1)

    return LiteratureBounds(
        times=10 ** (log10_delta("balle-bennett") - log10_delta("privacy-blanket"))
    )
