"""The number that texts state about the bounds of the literature."""

from dataclasses import dataclass

from scripts.shared.findings import Results, chosen_rows


@dataclass(frozen=True)
class LiteratureBounds:
    """``times``: how many times our upper bound on delta the best analytic bound is."""

    times: float


def literature_bounds(results: Results) -> LiteratureBounds:
    """The best analytic bound over ours, in the first line of the short version's Table 1, eps = 0.1.

    The best analytic bound is that of Balle et al., and ours is there the one of Koskela et al. for the weak
    adversary. The table "cited_bounds" in ``results`` has log10 of both. Raises LookupError if it lacks them.
    """
    cited = chosen_rows(results["cited_bounds"], item="Table 1", eps=0.1)
    log10_cited = cited.set_index("mechanism")["cited"]
    return LiteratureBounds(times=10 ** float(log10_cited["balle"] - log10_cited["koskela"]))
