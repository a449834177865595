"""An audit of the shuffle model: lower confidence bounds on delta from simulated runs of the protocol.

The two worlds of `run_audit` give the reports the distributions P and Q. For every event E that the attacker
can see, (eps, delta)-differential privacy requires

    delta >= P(E) - e^eps Q(E),      and the same with P and Q exchanged.

The first half of the runs chooses E and the direction. The second half bounds P(E) from below and Q(E) from
above (Clopper and Pearson), each with half of the risk. The two halves are independent, so the lower bound on
delta holds with the stated confidence for any choice of E. It is also a lower bound for the worst dataset.
"""

from collections.abc import Iterator, Sequence
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
from tightshuffle.literature import count as count_of_x0

OBSERVES = ("count", "histogram")
DIRECTIONS = ("forward", "reverse")


def find(tally: Tally, eps: float, *, observes: str, confidence: float) -> dict[str, Any]:
    """The best event in the first half of the runs, and the lower bound on delta from the second half.

    ``observes`` "count": the attacker sees the count of x0 (Theorem 1 of Biswas et al.), and events are tails
    of this count. "histogram": the attacker sees the whole histogram, and events are sets of pairs (count of
    x0, count of x1) whose likelihood ratio exceeds some value. The attacker knows the exact distribution of
    the pair. Counts of other values do not matter. ``confidence``: level of this one bound.

    Returns a dict: audited_delta, 0 if there are too few runs; direction, "forward" if the event is more
    likely with x0, else "reverse"; event; hits in the second half where it is likelier, and other_hits.
    """
    score: NDArray[Any]
    if observes == "count":
        tables, score = tally.tables.sum(axis=3), np.arange(tally.n + 1)
    else:
        tables, score = tally.tables.reshape(2, 2, -1), tally.log_likelihood_ratio.ravel()
    caution = special.ndtri((1 + confidence) / 2)
    _, direction, threshold = max(_best_event(tables[0], score, eps, each, caution) for each in DIRECTIONS)
    forward = direction == "forward"
    inside = score >= threshold if forward else score <= threshold
    with_x0, with_x1 = (int(table[inside].sum()) for table in tables[1])
    hits, others = (with_x0, with_x1) if forward else (with_x1, with_x0)
    sign, runs = ">=" if forward else "<=", tally.runs - tally.runs // 2
    return {
        "audited_delta": lower_bound(hits, others, runs, eps, confidence=confidence),
        "direction": direction,
        "event": f"x0 {sign} {threshold}" if observes == "count" else f"log(P/Q) {sign} {threshold:.4f}",
        "hits": hits,
        "other_hits": others,
    }


def lower_bound(hits: int, other_hits: int, runs: int, eps: float, *, confidence: float) -> float:
    """Lower confidence bound on P(E) - e^eps Q(E), at least 0, from the hits of E in ``runs`` runs of each.

    Clopper-Pearson bounds on both probabilities, each with half of the risk 1 - confidence.
    """
    risk = (1 - confidence) / 2
    likely = special.betaincinv(hits, runs - hits + 1, risk) if hits > 0 else 0.0
    unlikely = special.betainccinv(other_hits + 1, runs - other_hits, risk) if other_hits < runs else 1.0
    return max(0.0, float(likely - np.exp(eps) * unlikely))


def assess(tallies: Sequence[Tally], eps: npt.ArrayLike, *, confidence: float) -> list[dict[str, Any]]:
    """The audit's bounds next to the claimed deltas: one row per tally, eps (e,) and kind of attacker.

    Returns dicts: n, k, eps0, eps, count; published_log10_delta of the count of x0 (forward, as printed) and
    exact_log10_delta (the worse direction), upper_log10_delta, for every dataset; audited_delta, direction,
    event, hits and other_hits as `find`; confidence of every single row; runs (in each world, half of them
    reporting); observes, remaining; joint_delta, the same bound with a confidence that all rows have together
    (Bonferroni); violated, violated_jointly: whether audited_delta, joint_delta exceed the published delta;
    upper_violated: whether audited_delta exceeds `upper`.
    """
    rows = [row for tally in tallies for row in _rows(tally, np.asarray(eps, dtype=float), confidence)]
    for row in rows:
        of = row["hits"], row["other_hits"], row["runs"] - row["runs"] // 2, row["eps"]
        row["joint_delta"] = lower_bound(*of, confidence=1 - (1 - confidence) / len(rows))
        published, guaranteed = (10.0 ** row[f"{name}_log10_delta"] for name in ("published", "upper"))
        row["violated"] = bool(row["audited_delta"] > published)
        row["violated_jointly"] = bool(row["joint_delta"] > published)
        row["upper_violated"] = bool(row["audited_delta"] > guaranteed)
    return rows


def _rows(tally: Tally, eps: Floats, confidence: float) -> Iterator[dict[str, Any]]:
    setting: dict[str, Any] = {"n": tally.n, "k": tally.k, "eps0": tally.eps0}
    claims = {
        "published_log10_delta": theorem_1_as_printed(eps, count=tally.count, **setting),
        "exact_log10_delta": count_of_x0.delta(eps, count=tally.count, direction="both", **setting),
        "upper_log10_delta": upper(eps, log10=True, **setting),
    }
    for i, budget in enumerate(eps):
        for observes in OBSERVES:
            found = find(tally, budget, observes=observes, confidence=confidence)
            row = {**setting, "eps": budget, "count": tally.count}
            row |= {name: values[i] for name, values in claims.items()}
            row |= {"audited_delta": found["audited_delta"], "confidence": confidence, "runs": tally.runs}
            yield row | {"observes": observes, "remaining": tally.remaining} | found


def _best_event(
    tables: Integers, score: NDArray[Any], eps: float, direction: str, caution: float
) -> tuple[float, str, Any]:
    """The tail of the score with the largest expected bound: (that bound, direction, threshold).

    ``tables`` (2, outcomes): the choosing half. What was seen is discounted by ``caution`` standard
    deviations, about as the bound will be: a large event that can be measured beats a rare one that cannot.
    """
    seen = np.flatnonzero(tables.sum(axis=0))
    order = seen[np.argsort(-score[seen] if direction == "forward" else score[seen], kind="stable")]
    share = np.cumsum(tables[:, order], axis=1) / tables.sum(axis=1, keepdims=True)
    likely, unlikely = share if direction == "forward" else share[::-1]
    runs = tables[0].sum()
    # One hit more than seen: no hit does not mean probability 0.
    noise = [np.sqrt((s + 1 / runs) / runs) for s in (likely * (1 - likely), unlikely * (1 - unlikely))]
    worth = likely - caution * noise[0] - np.exp(eps) * (unlikely + caution * noise[1])
    ends = np.append(np.diff(score[order]) != 0, True)  # a tail holds all outcomes of its last score
    best = np.flatnonzero(ends)[np.argmax(worth[ends])]
    return float(worth[best]), direction, score[order[best]]


if __name__ == "__main__":
    with job() as snakemake:
        tallies = [Tally.of(read_parquet(path)) for path in snakemake.input.tallies]
        rows = assess(tallies, snakemake.params.eps, confidence=snakemake.params.confidence)
        write_csv(pd.DataFrame(rows), snakemake.output[0])
