"""The audit: its game has the exact laws, its bound the stated confidence, and its choices change nothing."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.beyond.attack import draw_audit
from scripts.beyond.attack.collect_audit import assess, best_event, lower_bound
from scripts.beyond.attack.run_audit import (
    REMAINING,
    Tally,
    count_reports,
    draw_steps,
    pair_distribution,
    play,
)
from tests.chi_square import consistent
from tightshuffle.krr import lie_probability, truth_probability

SETTING = {"n": 30, "k": 5, "eps0": 1.5, "count": 20}
TINY = {"n": 4, "k": 3, "eps0": 1.2, "count": 1}


@pytest.fixture(scope="module")
def tally():
    return play(**SETTING, runs=200_000, seed=5)


def enumerated_pair_distribution(*, n, k, eps0, count, remaining, user):
    """Law of (count of x0, count of x1) by going through all k^n possible reports."""
    p, q = truth_probability(eps0, k), lie_probability(eps0, k)
    values = [user] + [0] * count + [REMAINING.index(remaining) + 1] * (n - 1 - count)
    distribution = np.zeros((n + 1, n + 1))
    for reports in itertools.product(range(k), repeat=n):
        probability = np.prod([p if a == value else q for a, value in zip(reports, values, strict=True)])
        distribution[reports.count(0), reports.count(1)] += probability
    return distribution


# --- the game ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("eps0", "k"), [(0.7, 4), (3.0, 2), (1.0, 300)])
def test_every_answer_is_krr(eps0, k):
    values = np.array([0, 1, 0, k - 1])
    steps = draw_steps(len(values), eps0, k, np.random.default_rng(3), 100_000)
    reports = (values + 1 + steps) % k
    for value in (0, 1):
        assert np.array_equal(count_reports(value, values, steps, k), (reports == value).sum(axis=1))
    for user, value in enumerate(values):
        distribution = np.full(k, lie_probability(eps0, k))
        distribution[value] = truth_probability(eps0, k)
        assert consistent(np.bincount(reports[:, user], minlength=k), distribution)
    # Two users' reports are independent: also those of two holders of one value.
    p = truth_probability(eps0, k)
    both = (reports[:, 0] == 0) * 2 + (reports[:, 2] == 0)
    assert consistent(np.bincount(both, minlength=4), [(1 - p) ** 2, p * (1 - p), p * (1 - p), p**2])


@pytest.mark.parametrize("remaining", REMAINING)
def test_the_pair_has_its_exact_law(remaining):
    tally = play(**TINY, remaining=remaining, runs=1_000_000, seed=6)
    for world in range(2):
        distribution = enumerated_pair_distribution(**TINY, remaining=remaining, user=world)
        np.testing.assert_allclose(pair_distribution(tally, world), distribution, rtol=0, atol=1e-14)
        for half in range(2):
            assert consistent(tally.tables[half, world], distribution)


def test_a_seed_is_a_result():
    first = play(**SETTING, runs=30_001, seed=3).tables
    assert not np.array_equal(first, play(**SETTING, runs=30_001, seed=4).tables)
    # Written down once: a change would silently change every result.
    assert int((first * np.arange(first.size).reshape(first.shape)).sum()) == 108951270


def test_a_frame_holds_all(tally):
    again = Tally.from_frame(tally.frame().sample(frac=1, random_state=1))
    assert np.array_equal(again.tables, tally.tables)
    assert replace(again, tables=None) == replace(tally, tables=None)


# --- the bound ---------------------------------------------------------------------------------------------


def test_the_bound_is_clopper_and_pearsons():
    for hits, runs, eps, confidence in [((80, 20), 100, 0.3, 0.9), ((5000, 900), 10**5, 1.0, 0.999)]:
        # two-sided: half of the risk on either side
        limits = [stats.binomtest(seen, runs).proportion_ci(confidence, "exact") for seen in hits]
        expected = limits[0].low - np.exp(eps) * limits[1].high
        assert expected > 0
        assert lower_bound(*hits, runs, eps, confidence=confidence) == pytest.approx(expected, rel=1e-9)
    assert lower_bound(0, 0, 50, 0.1, confidence=0.9) == 0
    assert lower_bound(50, 50, 50, 0.0, confidence=0.9) == 0
    # Nothing seen in the other world: 1 - risk^(1 / runs) is not yet refuted there.
    expected = 0.05 ** (1 / 50) - np.exp(0.5) * (1 - 0.05 ** (1 / 50))
    assert lower_bound(50, 0, 50, 0.5, confidence=0.9) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_the_first_half_chooses_the_event_and_the_second_half_gives_the_bound(tally, direction):
    tables = tally.tables
    if direction == "reverse":
        tables = tables[:, ::-1, ::-1]
    tally = replace(tally, tables=tables)
    event = best_event(tally, 0.1, observes="count", confidence=0.999)
    assert event.direction == direction

    fewer_hits = replace(tally, tables=np.stack([tables[0], tables[1] // 2]))
    same_choice = best_event(fewer_hits, 0.1, observes="count", confidence=0.999)
    assert (same_choice.event, same_choice.direction) == (event.event, event.direction)

    threshold = int(event.event.split()[-1])
    tail = slice(threshold, None) if direction == "forward" else slice(None, threshold + 1)
    hits = [int(table[tail].sum()) for table in tables[1]]
    assert (event.hits, event.other_hits) == (max(hits), min(hits))
    bound = lower_bound(event.hits, event.other_hits, 100_000, 0.1, confidence=0.999)
    assert event.audited_delta == bound > 0


def test_what_table_iv_claims_is_refuted_and_upper_is_not():
    tally = play(n=100, k=10, eps0=2.0, count=80, runs=400_000, seed=20240425)
    rows = assess([tally], [0.1, 0.5, 2.0], confidence=0.999)
    row = next(row for row in rows if row["eps"] == 0.1 and row["observes"] == "histogram")
    assert row["published_log10_delta"] == pytest.approx(np.log10(2.49e-15), abs=2e-3)
    assert row["exact_log10_delta"] == pytest.approx(np.log10(6.147e-3), abs=1e-4)
    assert row["audited_delta"] >= 5e-3
    assert row["joint_delta"] >= 5e-3
    assert row["violated"]
    assert row["violated_jointly"]
    assert not any(row["upper_violated"] for row in rows)
    at_eps0 = [row for row in rows if row["eps"] == 2]
    assert {(row["audited_delta"], row["published_log10_delta"]) for row in at_eps0} == {(0, -np.inf)}


def test_the_picture_is_of_a_setting_that_has_an_eps_below_its_eps0():
    """At the others delta is 0 at every eps, though they come first and have as many runs."""
    tallies = [play(n=20, k=4, eps0=eps0, count=10, runs=2000) for eps0 in (1, 2)]
    table = pd.DataFrame(assess(tallies, [1, 1.5, 2], confidence=0.9))
    assert set(draw_audit.drawn(table)["eps0"]) == {2}
    assert "ε₀ = 2" in draw_audit.caption(table)
    draw_audit.draw(table)
