"""The number that texts state about designs: the eps0 of k-RR in one setting."""

from dataclasses import dataclass

from scripts.shared.findings import Results, chosen_rows


@dataclass(frozen=True)
class Designs:
    """``eps0``: what is left of k-RR's guarantee if the shuffler fails, the local budget of a report."""

    eps0: float


def designs(results: Results) -> Designs:
    """The largest eps0 of k-RR with (eps, delta) = (1, 1e-6), for 100,000 users and 256 values.

    The table "designs" in ``results`` has a row for each design and setting. Raises LookupError if it lacks
    this setting.
    """
    rows = chosen_rows(results["designs"], n=100_000, k=256, eps=1, delta=1e-6, rounds=1)
    return Designs(eps0=chosen_rows(rows, name="k-RR")["eps0"].iloc[0])
