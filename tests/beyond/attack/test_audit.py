"""The audit: its game has the exact laws, its bound the stated confidence, and its choices change nothing."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tightshuffle
from scripts.beyond.attack import draw_audit
from scripts.beyond.attack.collect_audit import assess, best_event, lower_bound
from scripts.beyond.attack.run_audit import (
    REMAINING,
    Tally,
    draw_steps,
    pair_distribution,
    play,
)
from tests.chi_square import consistent
from tightshuffle.mechanisms.krr import lie_probability, truth_probability

SETTING = {"n": 30, "k": 5, "eps0": 1.5, "count": 20}
TINY = {"n": 4, "k": 3, "eps0": 1.2, "count": 1}


@pytest.fixture(scope="module")
def tally():
    return play(**SETTING, runs=200_000, seed=5)


def enumerated_pair_distribution(*, n, k, eps0, count, remaining, world):
    """Probabilities of (reports of x0, reports of x1), shape (n + 1, n + 1), from all k^n lists of reports.

    Value 0 is x0, 1 is x1 and 2 is x2. The target user holds value ``world``, 0 or 1. Of the n - 1 other
    users ``count`` hold x0, and the rest hold ``remaining``, "x1" or "x2".
    """
    p = truth_probability(eps0, k)  # of the own value
    q = lie_probability(eps0, k)  # of any given other value
    value_of_rest = {"x1": 1, "x2": 2}[remaining]
    values = [world] + [0] * count + [value_of_rest] * (n - 1 - count)
    distribution = np.zeros((n + 1, n + 1))
    for reports in itertools.product(range(k), repeat=n):
        truths = np.count_nonzero(np.equal(reports, values))
        # Reports are independent.
        distribution[reports.count(0), reports.count(1)] += p**truths * q ** (n - truths)
    return distribution


# --- the game ----------------------------------------------------------------------------------------------


KRR = pytest.mark.parametrize(("eps0", "k"), [(0.7, 4), (3.0, 2), (1.0, 300)])


def draw_reports(values, eps0, k):
    """Reports by k-RR of users who hold these ``values``, in 100,000 runs: (runs, users)."""
    steps = draw_steps(len(values), eps0, k, np.random.default_rng(3), runs=100_000)
    return (np.array(values) + 1 + steps) % k


@KRR
def test_each_report_has_the_law_of_krr(eps0, k):
    """For users who hold the values 0, 1, 0 and k - 1: a chi-square test (`consistent`) of their reports."""
    values = [0, 1, 0, k - 1]
    reports = draw_reports(values, eps0, k)
    for user, value in enumerate(values):
        law = np.full(k, lie_probability(eps0, k))
        law[value] = truth_probability(eps0, k)
        assert consistent(np.bincount(reports[:, user], minlength=k), law)


@KRR
def test_reports_of_two_users_are_independent(eps0, k):
    first, second = (draw_reports([0, 0], eps0, k) == 0).T  # whether a report is the truth
    neither_second_first_both = np.bincount(2 * first + second, minlength=4)
    p = truth_probability(eps0, k)
    law = [(1 - p) ** 2, (1 - p) * p, p * (1 - p), p**2]
    assert consistent(neither_second_first_both, law)


@pytest.mark.parametrize("remaining", REMAINING)
def test_the_counts_of_x0_and_x1_have_their_exact_joint_law(remaining):
    """Both the computed law and the simulated counts, in both halves of the runs, against enumeration."""
    tally = play(**TINY, remaining=remaining, runs=1_000_000, seed=6)
    for world in (0, 1):
        enumerated = enumerated_pair_distribution(**TINY, remaining=remaining, world=world)
        computed = pair_distribution(tally, world)
        np.testing.assert_allclose(computed, enumerated, rtol=0, atol=1e-14)
        for half in (0, 1):
            assert consistent(tally.tables[half, world], enumerated)


def test_a_seed_gives_the_same_tables_for_ever_and_another_seed_gives_others():
    tables = play(**SETTING, runs=30_001, seed=3).tables
    assert not np.array_equal(tables, play(**SETTING, runs=30_001, seed=4).tables)
    # A checksum, written down once: a change would silently change every result.
    assert int(tables.ravel() @ np.arange(tables.size)) == 108951270


def test_a_tally_is_the_same_after_a_frame_with_rows_in_any_order(tally):
    again = Tally.from_frame(tally.frame().sample(frac=1, random_state=1))
    assert np.array_equal(again.tables, tally.tables)
    assert replace(again, tables=None) == replace(tally, tables=None)


# --- the bound ---------------------------------------------------------------------------------------------


def test_the_bound_is_clopper_and_pearsons():
    # A two-sided interval has half of the risk on either side, as the bound gives half to each world.
    likely = stats.binomtest(5000, 10**5).proportion_ci(0.999, "exact").low
    unlikely = stats.binomtest(900, 10**5).proportion_ci(0.999, "exact").high
    expected = likely - np.exp(1) * unlikely
    assert expected > 0
    bound = lower_bound(hits=5000, other_hits=900, runs=10**5, eps=1, confidence=0.999)
    assert bound == pytest.approx(expected, rel=1e-9)


def test_the_bound_is_0_without_hits_and_where_both_worlds_hit_always():
    assert lower_bound(0, 0, 50, 0.1, confidence=0.9) == 0
    assert lower_bound(50, 50, 50, 0.0, confidence=0.9) == 0


def test_nothing_seen_in_the_other_world_does_not_mean_probability_0_there():
    # 50 hits of 50 runs refute, with a risk of (1 - 0.9) / 2, only probabilities below this one.
    likely = 0.05 ** (1 / 50)
    # 0 hits of 50 runs refute only probabilities above 1 - likely.
    expected = likely - np.exp(0.5) * (1 - likely)
    assert lower_bound(50, 0, 50, 0.5, confidence=0.9) == pytest.approx(expected, rel=1e-12)


ATTACK = {"eps": 0.1, "observes": "count", "confidence": 0.999}


def mirrored(tally):
    """The tally with its worlds exchanged and its counts of x0 mirrored: its better event is a lower tail."""
    return replace(tally, tables=tally.tables[:, ::-1, ::-1])


def test_the_runs_of_the_second_half_do_not_choose_the_event(tally):
    for chosen_from in (tally, mirrored(tally)):
        choosing, reporting = chosen_from.tables
        worlds_exchanged = np.stack([choosing, reporting[::-1]])
        event = best_event(chosen_from, **ATTACK)
        other = best_event(replace(chosen_from, tables=worlds_exchanged), **ATTACK)
        assert other.description == event.description  # such as "x0 >= 14"


def test_the_bound_is_that_of_the_hits_in_the_second_half(tally):
    event = best_event(tally, **ATTACK)
    threshold = int(event.description.removeprefix("x0 >= "))
    _, second_half = tally.tables  # numbers of runs by world, count of x0 and count of x1
    hits, other_hits = second_half[:, threshold:].sum(axis=(1, 2))  # of either world
    assert (event.hits, event.other_hits) == (hits, other_hits)
    # 100,000 of the 200,000 runs are in the second half. `ATTACK` has eps = 0.1 and this confidence.
    bound = lower_bound(hits, other_hits, runs=100_000, eps=0.1, confidence=0.999)
    assert event.audited_delta == bound > 0


def test_mirrored_worlds_have_the_mirrored_event(tally):
    event = best_event(tally, **ATTACK)
    threshold = int(event.description.removeprefix("x0 >= "))
    n = SETTING["n"]
    expected = replace(event, direction="reverse", description=f"x0 <= {n - threshold}")
    assert event.direction == "forward"
    assert best_event(mirrored(tally), **ATTACK) == expected


@pytest.fixture(scope="module")
def table_iv_rows():
    """The audit of Table IV's default setting: a row for each eps and for each kind of attacker."""
    tally = play(n=100, k=10, eps0=2.0, count=80, runs=400_000, seed=20240425)
    return pd.DataFrame(assess([tally], [0.1, 0.5, 2.0], confidence=0.999))


def test_rows_have_the_delta_that_table_iv_prints_and_the_exact_one(table_iv_rows):
    """Both are of the count of x0. Tolerances are about one unit of the last digit, as log10."""
    row = table_iv_rows[table_iv_rows["eps"] == 0.1].iloc[0]
    assert row["published_log10_delta"] == pytest.approx(np.log10(2.49e-15), abs=2e-3)
    assert row["exact_log10_delta"] == pytest.approx(np.log10(6.147e-3), abs=1e-4)  # docs/errata.md


def test_an_attack_on_the_histogram_refutes_the_delta_that_table_iv_prints(table_iv_rows):
    """2.49e-15. The lower bounds are at least 5e-3, in this row alone and in all six rows at once."""
    [row] = table_iv_rows.query("eps == 0.1 and observes == 'histogram'").to_dict("records")
    # (Both are above 2e-2 here, as the histogram tells more than the count.)
    assert row["audited_delta"] >= 5e-3
    assert row["joint_delta"] >= 5e-3
    assert row["violated"]
    assert row["violated_jointly"]


def test_no_attack_refutes_the_upper_bound(table_iv_rows):
    assert not table_iv_rows["upper_violated"].any()


def test_at_eps0_delta_is_claimed_and_audited_as_0(table_iv_rows):
    rows = table_iv_rows[table_iv_rows["eps"] == 2]
    assert len(rows) == 2  # of the attackers who see the count, and the histogram
    assert (rows["audited_delta"] == 0).all()
    assert (rows["published_log10_delta"] == -np.inf).all()


def test_the_exact_delta_is_that_of_the_worse_direction():
    """Where no other user holds x0, delta is larger in the reverse direction."""
    setting = {"n": 20, "k": 4, "eps0": 2.0, "count": 0}
    row, _ = assess([play(**setting, runs=2000)], [0.5], confidence=0.9)
    exact = tightshuffle.delta(
        0.5, method="count-exact", direction="reverse", log10=True, **setting
    )
    assert row["exact_log10_delta"] == pytest.approx(exact, rel=1e-12)


def test_the_picture_is_of_a_setting_that_has_an_eps_below_its_eps0():
    """At the others delta is 0 at every eps, though they come first and have as many runs."""
    tallies = [play(n=20, k=4, eps0=eps0, count=10, runs=2000) for eps0 in (1, 2)]
    table = pd.DataFrame(assess(tallies, [1, 1.5, 2], confidence=0.9))
    assert set(draw_audit.drawn_rows(table)["eps0"]) == {2}
    assert "ε₀ = 2" in draw_audit.caption(table)
    draw_audit.draw(table)
