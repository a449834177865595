"""The ratios: ours against a peer's time and error, each pair in one process, one after the other."""

import mpmath as mp
import numpy as np

from benchmarks.cases import DELTA, EPS0, SHARE, K, different_counts
from benchmarks.measure import timed
from benchmarks.peers import (
    SPACING,
    convolved_delta,
    log_outcomes,
    loss_distribution_delta,
    loss_distribution_of,
    precise_delta,
    printed_formulas,
    simulate_users,
)
from tightshuffle.mechanisms.krr import sample_histogram
from tightshuffle.privacy import count
from tightshuffle.privacy.inverse import epsilon

COLUMNS = [
    "what", "n", "peer", "seconds", "peer_seconds", "ratio", "error", "peer_error", "goal", "reached",
]  # fmt: skip
PUBLISHED = {"k": 10, "eps0": 2.0, "eps": 0.1}  # a row of the main paper's tables but for n
TIMES_DOUBLE_SUM, TIMES_CONVOLVE, TIMES_LOSSES, ERRORS = 1000, 20, 10, 1000  # the goals


def row(what, n, peer, ours, theirs, *, errors=(np.nan, np.nan), times=None, smaller=None):
    """One row of ratios.csv.

    ``ours``, ``theirs``: seconds. ``errors``: relative errors of delta, ours and the peer's; nan where there
    is none to state. ``times``: the goal for the ratio; ``smaller``: that for the peer's error over ours.
    """
    ratio, goal, reached = theirs / ours, "", ""
    if times:
        goal, reached = f">= {times:,} x", ratio >= times
    if smaller:
        goal += f", error >= {smaller:,} x smaller"
        reached = reached and bool(errors[1] >= smaller * errors[0])
    return dict(zip(COLUMNS, [what, n, peer, ours, theirs, ratio, *errors, goal, reached], strict=True))


def error_of(delta, true):
    """Relative error; ``delta`` a float or an mpf."""
    return float(abs(mp.mpf(delta) / true - 1))


def of_log10(log10_delta):
    """delta as an mpf, which holds what a float cannot."""
    return mp.mpf(10) ** mp.mpf(float(log10_delta))


def against_the_double_sum(n):
    """(a): the paper's double sum for all s, in both readings; it is computed once."""
    printed = printed_formulas()
    rows, k, eps0 = [], PUBLISHED["k"], PUBLISHED["eps0"]
    setting = {"n": n, "k": k, "eps0": eps0, "count": int(SHARE * n)}
    double_sum, terms = timed(lambda: printed.printed_terms(**setting), least=1, most=1)
    for form, eps in (
        ("published", PUBLISHED["eps"]),
        ("exact", float(epsilon(count.delta, DELTA, **setting))),
    ):
        last, true = timed(
            lambda eps=eps, form=form: printed.printed_delta(eps, terms, form=form, direction="forward"),
            least=1,
        )
        ours, mine = timed(lambda eps=eps, form=form: count.delta(eps, **setting, form=form))
        errors = (error_of(of_log10(mine), true), np.nan)
        rows.append(
            row(
                f"count-{form}",
                n,
                f"double sum of Theorem 1{'' if form == 'published' else ', corrected'}, mpmath, 60 digits",
                ours,
                double_sum + last,
                errors=errors,
                times=TIMES_DOUBLE_SUM,
            )
        )
    return rows


def against_doubles(n, k=K, eps0=EPS0):
    """(b) and (c): numpy.convolve of the untilted laws, and dp-accounting's privacy loss distribution."""
    setting = {"n": n, "k": k, "eps0": eps0, "count": int(SHARE * n)}
    eps = float(epsilon(count.delta, DELTA, **setting))
    true = precise_delta(eps, **setting)
    ours, mine = timed(lambda: count.delta(eps, **setting))
    mine = error_of(of_log10(mine), true)
    outcomes = log_outcomes(**setting)
    peers = (
        ("numpy.convolve", lambda: convolved_delta(eps, **setting), {"times": TIMES_CONVOLVE}),
        (
            f"dp-accounting, PLD at {SPACING:g}",
            lambda: loss_distribution_delta(eps, **setting),
            {"times": TIMES_LOSSES, "smaller": ERRORS},
        ),
        (
            f"dp-accounting, PLD at {SPACING:g}, its {len(outcomes[0]):,} outcomes given",
            lambda: loss_distribution_of(eps, outcomes),
            {},
        ),
    )
    rows = []
    for name, compute, goals in peers:
        seconds, delta = timed(compute)
        rows.append(row("count-exact", n, name, ours, seconds, errors=(mine, error_of(delta, true)), **goals))
    return rows


def against_users(n, k=K, eps0=EPS0, seed=1):
    """(d): the sampler, which draws the shuffled histogram in O(k). Both draw from the same law."""
    rng, counts = np.random.default_rng(seed), different_counts(n, k)
    values = np.repeat(np.arange(k), counts)
    ours, _ = timed(lambda: sample_histogram(counts, eps0, rng))
    theirs, _ = timed(lambda: simulate_users(values, k, eps0, rng))
    return [row("sample_histogram", n, "every user's answer, vectorised", ours, theirs)]
