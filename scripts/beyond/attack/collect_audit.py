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
    """The outcomes whose score is at least ``threshold``, and the lower bound on delta expected of them."""

    expected_bound: float
    threshold: Any  # a number of the score's type


def best_event(tally: Tally, eps: float, *, observes: str, confidence: float) -> Event:
    """The event with the largest expected bound in the first half of the runs, and its bound on delta at eps.

    The second half of the runs gives the bound, which holds with probability ``confidence``, for this event
    alone.

    ``observes`` is what the attacker sees. With "count" it is the count of x0, as in Theorem 1 of Biswas et
    al. An outcome is then a count of x0, and an event is a tail: all counts that are at least, or at most,
    some threshold. With "histogram" it is the whole histogram. An outcome is then a pair (count of x0, count
    of x1), as the other counts do not depend on the target user. An event is all pairs whose ln(P / Q) is at
    least, or at most, some threshold. P and Q are the exact probabilities of the pair if the target user
    holds x0 (P) or x1 (Q).
    """
    # Runs by half, the target user's value and outcome: ``tally.tables`` has x0 and x1 as two last axes.
    score: NDArray[Any]
    if observes == "count":
        tables = tally.tables.sum(axis=3)
        score = np.arange(tally.n + 1)
    else:
        tables = tally.tables.reshape(2, 2, -1)
        score = tally.log_likelihood_ratio.ravel()
    choosing, reporting = tables

    # Half of the risk each for the two probabilities in a bound, as in `lower_bound`.
    deviations = special.ndtri((1 + confidence) / 2)
    forward = _best_tail(choosing, score, eps, deviations)
    reverse = _best_tail(choosing[::-1], -score, eps, deviations)
    if forward.expected_bound > reverse.expected_bound:
        direction = "forward"
        sign = ">="
        threshold = forward.threshold
        inside = score >= threshold
    else:
        direction = "reverse"
        sign = "<="
        threshold = -reverse.threshold
        inside = score <= threshold
        reporting = reporting[::-1]  # the value with which the event is more likely comes first
    hits, other_hits = reporting[:, inside].sum(axis=1).tolist()

    if observes == "count":
        description = f"x0 {sign} {threshold}"
    else:
        description = f"log(P/Q) {sign} {threshold:.4f}"
    bound = lower_bound(hits, other_hits, tally.reporting_runs, eps, confidence=confidence)
    return Event(bound, direction, description, hits, other_hits)


def lower_bound(hits: int, other_hits: int, runs: int, eps: float, *, confidence: float) -> float:
    """Lower confidence bound on P(E) - e^eps Q(E), at least 0, from the hits of an event E.

    E occurred in ``hits`` of ``runs`` runs with distribution P, and in ``other_hits`` of as many with
    distribution Q. P(E) is bounded from below and Q(E) from above (Clopper and Pearson), each with half of
    the risk 1 - ``confidence``.
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

    The keys of a row are:

    - of the setting: n, k, eps0, eps, count (of the other users, who hold x0), remaining (the value of all
      who do not hold x0), observes (what the attacker sees) and runs (with each value of the target user)
    - of the claims: published_log10_delta (of the count of x0, as Theorem 1 prints it), exact_log10_delta
      (the true one of this count, for the worse direction) and upper_log10_delta (of the library's `upper`,
      for every dataset)
    - of the `best_event`: audited_delta (its lower bound on delta), confidence (of this bound alone),
      direction, event, hits and other_hits (of the second half of the runs)
    - of all rows together: joint_delta, the lower bound on delta from the same hits where all rows hold at
      once with this confidence (Bonferroni: each takes the risk 1 - confidence over the number of rows)
    - violated and violated_jointly: whether audited_delta and joint_delta exceed the published delta
    - upper_violated: whether audited_delta exceeds the delta of `upper`
    """
    rows: list[dict[str, Any]] = []
    for tally in tallies:
        rows += _rows_of_tally(tally, np.asarray(eps, dtype=float), confidence)

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


def _rows_of_tally(tally: Tally, eps: Floats, confidence: float) -> Iterator[dict[str, Any]]:
    """The rows of `assess` for one tally, for each eps (e,) and kind of attacker.

    The keys joint_delta, violated, violated_jointly and upper_violated are left to `assess`.
    """
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


def _best_tail(tables: Integers, score: NDArray[Any], eps: float, deviations: float) -> _Tail:
    """The tail with the largest expected bound on delta at eps: all outcomes with a score of some threshold.

    ``tables`` (2, outcomes) says how many runs of the choosing half had each outcome: in row 0 with the value
    of the target user that makes a large ``score`` (outcomes,) likely, in row 1 with the other value. Row 0
    gives the share P of its runs that are in a tail, row 1 the share Q. The expected bound is

        (P - deviations s(P)) - e^eps (Q + deviations s(Q)),   s(P)^2 = (P (1 - P) + 1 / runs) / runs,

    where s is about the standard error of a share. `lower_bound` will give about as much. So a frequent
    event, whose probability is well known, beats a rare one whose probability is not.
    """
    seen = np.flatnonzero(tables.sum(axis=0))
    falling = seen[np.argsort(-score[seen], kind="stable")]
    shares = np.cumsum(tables[:, falling], axis=1) / tables.sum(axis=1, keepdims=True)

    # 1 / runs: even a tail without a hit has a standard error, as no hit does not mean probability 0.
    runs = tables[0].sum()
    standard_errors = np.sqrt((shares * (1 - shares) + 1 / runs) / runs)
    likely = shares[0] - deviations * standard_errors[0]
    unlikely = shares[1] + deviations * standard_errors[1]
    expected_bounds = likely - np.exp(eps) * unlikely

    # A tail has all outcomes of its last score.
    ends = np.flatnonzero(np.append(np.diff(score[falling]) != 0, True))
    best = ends[np.argmax(expected_bounds[ends])]
    return _Tail(float(expected_bounds[best]), score[falling[best]])


if __name__ == "__main__":
    with job() as snakemake:
        tallies = [Tally.from_frame(read_parquet(path)) for path in snakemake.input.tallies]
        rows = assess(tallies, snakemake.params.eps, confidence=snakemake.params.confidence)
        write_csv(pd.DataFrame(rows), snakemake.output[0])
