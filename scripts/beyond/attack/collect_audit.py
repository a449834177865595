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
from scripts.paper.delta.theorem_1 import log10_delta_of_count, theorem_1_as_printed
from scripts.shared.job import job, write_csv
from scripts.shared.table_files import read_parquet
from tightshuffle.arguments import Floats, Integers
from tightshuffle.bounds.guarantee import ln_upper
from tightshuffle.points import make_points

OBSERVES = ("count", "histogram")


@dataclass(frozen=True)
class Event:
    """An event that the first half of the runs chose, and what the second half says about it.

    ``audited_delta`` is the lower bound on delta, 0 if there are too few runs. ``direction`` is "forward" if
    the event is more likely when the target user holds x0, else "reverse". ``description`` is the event in a
    formula such as "x0 >= 12". ``hits`` is the number of runs of the second half with this event in the world
    where it is more likely, and ``other_hits`` their number in the other world.
    """

    audited_delta: float
    direction: str
    description: str
    hits: int
    other_hits: int


@dataclass(frozen=True)
class _Tail:
    """All outcomes whose score is at least ``threshold``, and the lower bound on delta expected of them."""

    expected_bound: float
    threshold: Any  # a number of the score's type


def best_event(tally: Tally, eps: float, *, observes: str, confidence: float) -> Event:
    """The attacker's event of the largest expected lower bound on delta at eps, and its bound by other runs.

    Let P be the distribution of what the attacker sees if the target user holds x0, and Q if x1. For an event
    E, both P(E) - e^eps Q(E) and Q(E) - e^eps P(E) are at most delta. The first half of the runs chooses E
    and one of these two directions. The second half gives the bound. It holds with probability
    ``confidence`` for this one event, without regard to other events and settings.

    ``tally`` has the numbers of runs with each pair (count of x0, count of x1). ``observes`` is what the
    attacker sees:

    - "count": the count of x0, as in Theorem 1 of Biswas et al. An outcome is a count of x0. An event is all
      counts that are at least, or at most, some threshold.
    - "histogram": all counts. An outcome is the pair (count of x0, count of x1), the two counts whose
      distribution depends on the target user. An event is all pairs whose ln(P / Q) is at least, or at most,
      some threshold. It is computed from the exact probabilities of the pair. The other counts would tell a
      little more if other users hold x2 and k > 3, so the bound holds but need not be the largest possible.

    The result is an `Event`: the bound (0 if there are too few runs), the direction ("forward" if the event
    is more likely with x0, else "reverse"), the event in a formula, and its number of runs of the second half
    with the value of the target user that makes it more likely, and with the other one.
    """
    # In ``tally.tables`` the number of runs is at [half, world, count of x0, count of x1]. The target user
    # holds x0 in world 0, and x1 in world 1. ``tables`` has it at [half, world, outcome], and a large score
    # of an outcome speaks for world 0.
    score: NDArray[Any]
    if observes == "count":
        tables = tally.tables.sum(axis=3)
        score = np.arange(tally.n + 1)
    else:
        tables = tally.tables.reshape(2, 2, -1)
        score = tally.ln_likelihood_ratio.ravel()
    choosing, reporting = tables

    # Of the risk 1 - confidence, `lower_bound` takes half for P(E) and half for Q(E). A normal variable is
    # more than z standard deviations above its mean with the probability (1 - confidence) / 2.
    z = special.ndtri((1 + confidence) / 2)
    forward = _best_tail(choosing, score, eps, z)
    reverse = _best_tail(choosing[::-1], -score, eps, z)
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
        reporting = reporting[::-1]  # the world in which the event is more likely comes first
    hits, other_hits = reporting[:, inside].sum(axis=1).tolist()

    if observes == "count":
        description = f"x0 {sign} {threshold}"
    else:
        description = f"log(P/Q) {sign} {threshold:.4f}"
    bound = lower_bound(hits, other_hits, tally.reporting_runs, eps, confidence=confidence)
    return Event(bound, direction, description, hits, other_hits)


def lower_bound(hits: int, other_hits: int, runs: int, eps: float, *, confidence: float) -> float:
    """Lower confidence bound on P(E) - e^eps Q(E), at least 0, from the hits of an event E.

    E occurred in ``hits`` of ``runs`` runs with distribution P, and in ``other_hits`` of as many runs with
    distribution Q. P(E) is bounded from below and Q(E) from above by quantiles of beta distributions (Clopper
    and Pearson), each with half of the risk 1 - ``confidence``.
    """
    risk = (1 - confidence) / 2
    least_p = special.betaincinv(hits, runs - hits + 1, risk) if hits > 0 else 0.0
    largest_q = (
        special.betainccinv(other_hits + 1, runs - other_hits, risk) if other_hits < runs else 1.0
    )
    return max(0.0, float(least_p - np.exp(eps) * largest_q))


def assess(
    tallies: Sequence[Tally], eps: npt.ArrayLike, *, confidence: float
) -> list[dict[str, Any]]:
    """The attack's lower bounds on delta beside three deltas: a row for each tally, eps (e,) and attacker.

    A tally has the simulated runs of one setting. There are two attackers: one sees the count of x0, and one
    the whole histogram. A row is a dict, whose keys are:

    - n, k, eps0, eps: the setting, with count (of the n - 1 other users, who hold x0) and remaining (the
      value of the rest of them)
    - observes: what the attacker sees, "count" or "histogram"
    - runs: the number of simulated runs with each of the target user's two values, x0 and x1
    - published_log10_delta: log10 delta of the count of x0, as Theorem 1 prints it
    - exact_log10_delta: the true log10 delta of this count, for the worse direction
    - upper_log10_delta: log10 of the library's upper bound on delta of the histogram, for every dataset
    - direction, event, hits and other_hits: the event that the attacker chose in the first half of the runs,
      and its number of runs of the second half in the two worlds
    - audited_delta: the lower bound on delta by this event, which holds with probability ``confidence``
    - confidence: the argument
    - joint_delta: the lower bound by the same hits that makes all rows hold at once with probability
      ``confidence`` (Bonferroni: the risk of a row is 1 - confidence over the number of rows)
    - violated, violated_jointly: whether audited_delta, and joint_delta, exceeds the published delta
    - upper_violated: whether audited_delta exceeds the library's upper bound
    """
    rows: list[dict[str, Any]] = []
    for tally in tallies:
        rows += _rows_of_tally(tally, np.asarray(eps, dtype=float), confidence)

    for row in rows:
        # The second half of the runs, which gives the bound, has one run more if their number is odd.
        reporting_runs = row["runs"] - row["runs"] // 2
        joint_confidence = 1 - (1 - confidence) / len(rows)
        row["joint_delta"] = lower_bound(
            row["hits"], row["other_hits"], reporting_runs, row["eps"], confidence=joint_confidence
        )
        published_delta = 10.0 ** row["published_log10_delta"]
        row["violated"] = bool(row["audited_delta"] > published_delta)
        row["violated_jointly"] = bool(row["joint_delta"] > published_delta)
        row["upper_violated"] = bool(row["audited_delta"] > 10.0 ** row["upper_log10_delta"])
    return rows


def _rows_of_tally(tally: Tally, eps: Floats, confidence: float) -> Iterator[dict[str, Any]]:
    """The rows of `assess` that one tally gives: one for each eps (e,) and kind of attacker.

    joint_delta and the three comparisons of deltas are not there yet. `assess` adds them, since joint_delta
    depends on the number of all rows.
    """
    setting: dict[str, Any] = {"n": tally.n, "k": tally.k, "eps0": tally.eps0}
    log10_published = theorem_1_as_printed(eps, count=tally.count, **setting)
    log10_exact = log10_delta_of_count(
        eps, form="exact", count=tally.count, direction="both", **setting
    )
    log10_of_histogram = ln_upper(make_points(eps, **setting)) / np.log(10)
    for i, one_eps in enumerate(eps):
        for observes in OBSERVES:
            event = best_event(tally, one_eps, observes=observes, confidence=confidence)
            yield {
                **setting,
                "eps": one_eps,
                "count": tally.count,
                "published_log10_delta": log10_published[i],
                "exact_log10_delta": log10_exact[i],
                "upper_log10_delta": log10_of_histogram[i],
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


def _best_tail(tables: Integers, score: NDArray[Any], eps: float, z: float) -> _Tail:
    """The tail with the largest expected lower bound on delta at eps, as (expected_bound, threshold).

    A tail is all outcomes whose ``score`` (outcomes,) is at least a threshold. ``tables`` (2, outcomes) says
    in how many runs each outcome occurred. Row 0 has the runs with the value of the target user that makes
    large scores likely, and row 1 as many runs with the other value. P is the share of the runs of row 0 that
    are in the tail, and Q that of row 1. The expected bound is

        (P - z s(P)) - e^eps (Q + z s(Q)),   s(P)^2 = (P (1 - P) + 1 / runs) / runs,

    where s is about the standard error of a share, and z how many standard errors make the bound safe. Other
    runs will give a confidence bound of about this size (`lower_bound`). So a frequent event, whose
    probability is well known, beats a rare one, whose probability is not.
    """
    seen = np.flatnonzero(tables.sum(axis=0))
    falling = seen[np.argsort(-score[seen], kind="stable")]
    # Column c: the shares P and Q of the c + 1 outcomes with the largest scores.
    shares = np.cumsum(tables[:, falling], axis=1) / tables.sum(axis=1, keepdims=True)

    # 1 / runs: even a tail without a hit has a standard error, as no hit does not mean probability 0.
    runs = tables[0].sum()
    standard_errors = np.sqrt((shares * (1 - shares) + 1 / runs) / runs)
    least_p = shares[0] - z * standard_errors[0]
    largest_q = shares[1] + z * standard_errors[1]
    expected_bounds = least_p - np.exp(eps) * largest_q

    # A tail ends only where the score changes, since a threshold does not part equal scores.
    ends = np.flatnonzero(np.append(np.diff(score[falling]) != 0, True))
    best = ends[np.argmax(expected_bounds[ends])]
    return _Tail(float(expected_bounds[best]), score[falling[best]])


if __name__ == "__main__":
    with job() as snakemake:
        tallies = [Tally.from_frame(read_parquet(path)) for path in snakemake.input.tallies]
        rows = assess(tallies, snakemake.params.eps, confidence=snakemake.params.confidence)
        write_csv(pd.DataFrame(rows), snakemake.output[0])
