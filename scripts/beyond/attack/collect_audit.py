"""An audit of the shuffle model: lower confidence bounds on delta from simulated runs of the protocol.

The two worlds of `run_audit` give the reports the distributions P and Q. For every event E that the attacker
can see, (eps, delta)-differential privacy requires

    delta >= P(E) - e^eps Q(E),      and the same with P and Q exchanged.

The first half of the runs chooses E and the direction. The second half bounds P(E) from below and Q(E) from
above (Clopper and Pearson), each with half of the risk. The two halves are independent, so the lower bound on
delta holds with the stated confidence for any choice of E. It is also a lower bound for the worst dataset.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from scripts.beyond.attack.run_audit import Tally
from scripts.paper.delta.printed_formulas import theorem_1_as_printed
from scripts.shared.job import job, write_csv
from scripts.shared.table_files import read_parquet
from tightshuffle.arguments import Floats, Integers
from tightshuffle.guarantee import upper
from tightshuffle.methods import delta

OBSERVES = ("count", "histogram")


@dataclass(frozen=True)
class Event:
    """An event that the first half of the runs chose, and what the second half says about it.

    ``audited_delta`` is the lower bound on delta, 0 if there are too few runs. ``direction`` is "forward" if
    the event is more likely with x0, else "reverse". ``hits`` are the runs of the second half with this
    event in the world where it is more likely, and ``other_hits`` those in the other world.
    """

    audited_delta: float
    direction: str
    description: str
    hits: int
    other_hits: int


@dataclass(frozen=True)
class _Tail:
    """The outcomes whose score is at least the threshold (at most, in reverse), and their expected bound."""

    expected_bound: float
    threshold: Any  # a number of the score's type


def best_event(tally: Tally, eps: float, *, observes: str, confidence: float) -> Event:
    """The best event in the first half of the runs, and the lower bound on delta from the second half.

    ``observes`` "count": the attacker sees the count of x0 (Theorem 1 of Biswas et al.), and events are tails
    of this count. "histogram": the attacker sees the whole histogram, and events are sets of pairs (count of
    x0, count of x1) whose likelihood ratio exceeds some value. The attacker knows the exact distribution of
    the pair. Counts of other values do not matter. ``confidence`` is the level of this bound alone.
    """
    score: NDArray[Any]
    if observes == "count":
        tables = tally.tables.sum(axis=3)
        score = np.arange(tally.n + 1)
    else:
        tables = tally.tables.reshape(2, 2, -1)
        score = tally.log_likelihood_ratio.ravel()
    choosing, reporting = tables

    caution = special.ndtri((1 + confidence) / 2)
    forward = _best_tail(choosing, score, eps, "forward", caution)
    reverse = _best_tail(choosing, score, eps, "reverse", caution)
    if forward.expected_bound > reverse.expected_bound:
        direction = "forward"
        sign = ">="
        threshold = forward.threshold
        inside = score >= threshold
    else:
        direction = "reverse"
        sign = "<="
        threshold = reverse.threshold
        inside = score <= threshold
        reporting = reporting[::-1]  # the world where the event is more likely comes first
    hits, other_hits = reporting[:, inside].sum(axis=1).tolist()

    if observes == "count":
        description = f"x0 {sign} {threshold}"
    else:
        description = f"log(P/Q) {sign} {threshold:.4f}"
    bound = lower_bound(hits, other_hits, tally.reporting_runs, eps, confidence=confidence)
    return Event(bound, direction, description, hits, other_hits)


def lower_bound(hits: int, other_hits: int, runs: int, eps: float, *, confidence: float) -> float:
    """Lower confidence bound on P(E) - e^eps Q(E), at least 0, from the hits of E in ``runs`` runs of each.

    Clopper-Pearson bounds on both probabilities, each with half of the risk 1 - confidence.
    """
    risk = (1 - confidence) / 2
    likely = special.betaincinv(hits, runs - hits + 1, risk) if hits > 0 else 0.0
    unlikely = (
        special.betainccinv(other_hits + 1, runs - other_hits, risk) if other_hits < runs else 1.0
    )
    return max(0.0, float(likely - np.exp(eps) * unlikely))


def assess(
    tallies: Sequence[Tally], eps: npt.ArrayLike, *, confidence: float
) -> list[dict[str, Any]]:
    """The audit's bounds next to the claimed deltas: a row for each tally, eps (e,) and kind of attacker.

    The setting of a row is n, k, eps0, eps, count and remaining. The claims are ``published_log10_delta`` of
    the count of x0 (forward, as printed), ``exact_log10_delta`` (of the worse direction) and
    ``upper_log10_delta``, for every dataset. The bound is an `Event`, where ``confidence`` is that of this
    row alone. ``runs`` are in each world, and half of them report.

    ``joint_delta`` is the same bound with a confidence that all rows have together (Bonferroni).
    ``violated`` and ``violated_jointly`` say whether ``audited_delta`` and ``joint_delta`` exceed the
    published delta, and ``upper_violated`` whether ``audited_delta`` exceeds `upper`.
    """
    rows: list[dict[str, Any]] = []
    for tally in tallies:
        rows += _rows(tally, np.asarray(eps, dtype=float), confidence)

    for row in rows:
        reporting_runs = row["runs"] - row["runs"] // 2
        joint_confidence = 1 - (1 - confidence) / len(rows)
        row["joint_delta"] = lower_bound(
            row["hits"], row["other_hits"], reporting_runs, row["eps"], confidence=joint_confidence
        )
        published = 10.0 ** row["published_log10_delta"]
        row["violated"] = bool(row["audited_delta"] > published)
        row["violated_jointly"] = bool(row["joint_delta"] > published)
        row["upper_violated"] = bool(row["audited_delta"] > 10.0 ** row["upper_log10_delta"])
    return rows


def _rows(tally: Tally, eps: Floats, confidence: float) -> Iterator[dict[str, Any]]:
    """The rows of one tally, without what depends on the number of all rows."""
    setting: dict[str, Any] = {"n": tally.n, "k": tally.k, "eps0": tally.eps0}
    published = theorem_1_as_printed(eps, count=tally.count, **setting)
    exact = delta(eps, method="count-exact", log10=True, count=tally.count, **setting)
    guaranteed = upper(eps, log10=True, **setting)
    for i, budget in enumerate(eps):
        for observes in OBSERVES:
            event = best_event(tally, budget, observes=observes, confidence=confidence)
            yield {
                **setting,
                "eps": budget,
                "count": tally.count,
                "published_log10_delta": published[i],
                "exact_log10_delta": exact[i],
                "upper_log10_delta": guaranteed[i],
                "audited_delta": event.audited_delta,
                "confidence": confidence,
                "runs": tally.runs,
                "observes": observes,
                "remaining": tally.remaining,
                "direction": event.direction,
                "event": event.description,
                "hits": event.hits,
                "other_hits": event.other_hits,
            }


def _best_tail(
    tables: Integers, score: NDArray[Any], eps: float, direction: str, caution: float
) -> _Tail:
    """The tail of the score with the largest expected bound.

    ``tables`` (2, outcomes) are of the choosing half. What was seen is discounted by ``caution`` standard
    deviations, about as the bound will be: a large event that can be measured beats a rare one that cannot.
    """
    outcomes = np.flatnonzero(tables.sum(axis=0))  # those that were seen
    if direction == "forward":
        order = outcomes[np.argsort(-score[outcomes], kind="stable")]
    else:
        order = outcomes[np.argsort(score[outcomes], kind="stable")]
        tables = tables[::-1]
    shares = np.cumsum(tables[:, order], axis=1) / tables.sum(axis=1, keepdims=True)

    # One hit more than seen: no hit does not mean probability 0.
    runs = tables[0].sum()
    deviations = np.sqrt((shares * (1 - shares) + 1 / runs) / runs)
    likely = shares[0] - caution * deviations[0]
    unlikely = shares[1] + caution * deviations[1]
    expected_bounds = likely - np.exp(eps) * unlikely

    # A tail has all outcomes of its last score.
    ends = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))
    best = ends[np.argmax(expected_bounds[ends])]
    return _Tail(float(expected_bounds[best]), score[order[best]])


if __name__ == "__main__":
    with job() as snakemake:
        tallies = [Tally.from_frame(read_parquet(path)) for path in snakemake.input.tallies]
        rows = assess(tallies, snakemake.params.eps, confidence=snakemake.params.confidence)
        write_csv(pd.DataFrame(rows), snakemake.output[0])
