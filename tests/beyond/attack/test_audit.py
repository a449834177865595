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


def enumerated_pair_distribution(*, n, k, eps0, count, remaining, world):
    """Probabilities of (reports of x0, reports of x1), shape (n + 1, n + 1), from all k^n lists of reports.

    Value 0 is x0, 1 is x1 and 2 is x2. The target user holds value ``world``, 0 or 1. Of the n - 1 other
    users ``count`` hold x0, and the rest hold ``remaining``, "x1" or "x2". The reports are by k-RR: each user
    independently reports the own value with probability p, and any given other one with probability q. So a
    list of reports of which t are true has the probability p^t q^(n - t).
    """
    p = truth_probability(eps0, k)
    q = lie_probability(eps0, k)
    value_of_rest = {"x1": 1, "x2": 2}[remaining]
    values = [world] + [0] * count + [value_of_rest] * (n - 1 - count)
    distribution = np.zeros((n + 1, n + 1))
    for reports in itertools.product(range(k), repeat=n):
        truths = np.count_nonzero(np.equal(reports, values))
        distribution[reports.count(0), reports.count(1)] += p**truths * q ** (n - truths)
    return distribution


# --- the game ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("eps0", "k"), [(0.7, 4), (3.0, 2), (1.0, 300)])
def test_reports_are_those_of_independent_krr_and_are_counted(eps0, k):
    """k-RR of four users in 100,000 runs: each report has k-RR's law, and `count_reports` counts the reports.

    `draw_steps` draws a step for each run and user: the user's report is value + 1 + step, modulo k.
    `consistent` is a chi-square test at the level 1e-4: of how often each outcome was seen, against its
    probability. The probabilities are the library's p (of the own value) and q (of any given other one).
    """
    values = np.array([0, 1, 0, k - 1])  # of the four users
    steps = draw_steps(len(values), eps0, k, np.random.default_rng(3), runs=100_000)
    reports = (values + 1 + steps) % k  # (runs, users)
    for value in (0, 1):
        counted = count_reports(value, values, steps, k)
        assert np.array_equal(counted, (reports == value).sum(axis=1))

    p = truth_probability(eps0, k)
    for user, value in enumerate(values):
        distribution = np.full(k, lie_probability(eps0, k))
        distribution[value] = p
        assert consistent(np.bincount(reports[:, user], minlength=k), distribution)

    # The first and the third user both hold value 0, and their reports are independent all the same.
    # Counted: runs in which neither of them reports the truth, only the third, only the first, both.
    is_true = reports == 0
    pairs = np.bincount(is_true[:, 0] * 2 + is_true[:, 2], minlength=4)
    assert consistent(pairs, [(1 - p) ** 2, p * (1 - p), p * (1 - p), p**2])


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


@pytest.mark.parametrize(
    ("hits", "other_hits", "runs", "eps", "confidence"),
    [(80, 20, 100, 0.3, 0.9), (5000, 900, 10**5, 1.0, 0.999)],
)
def test_the_bound_is_clopper_and_pearsons(hits, other_hits, runs, eps, confidence):
    # A two-sided interval has half of the risk on either side, as the bound gives half to each world.
    likely = stats.binomtest(hits, runs).proportion_ci(confidence, "exact").low
    unlikely = stats.binomtest(other_hits, runs).proportion_ci(confidence, "exact").high
    expected = likely - np.exp(eps) * unlikely
    assert expected > 0
    bound = lower_bound(hits, other_hits, runs, eps, confidence=confidence)
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


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_the_first_half_chooses_the_event_and_the_second_half_gives_the_bound(tally, direction):
    """`best_event` chooses a tail of the count of x0, the event, by one half of the runs of an attack.

    Its lower bound on delta at eps = 0.1 is from the other half alone. `tally` has 200,000 simulated runs of
    30 users in each of two worlds, where a target user holds x0 or x1. Its array of tables has the number of
    runs by half of the runs, world, count of x0 and count of x1. The direction is "forward" for an event
    (count >= threshold) that is more likely in the first world, "reverse" for one (count <= threshold) that
    is more likely in the second.
    """
    tables = tally.tables
    if direction == "reverse":
        # With the worlds and the counts of x0 mirrored, the lower tail becomes the better event.
        tables = tables[:, ::-1, ::-1]
    choosing, reporting = tables
    attack = {"eps": 0.1, "observes": "count", "confidence": 0.999}
    event = best_event(replace(tally, tables=tables), **attack)
    assert event.direction == direction

    # The second half, ``reporting``, does not choose: to exchange its worlds does not change the event.
    exchanged = replace(tally, tables=np.stack([choosing, reporting[::-1]]))
    same_choice = best_event(exchanged, **attack)
    assert same_choice.description == event.description  # with >= or <=, and so the direction

    threshold = int(event.description.split()[-1])  # of "x0 >= 14"
    tail = slice(threshold, None) if direction == "forward" else slice(None, threshold + 1)
    # The runs of the reporting half with this event, in each world. ``hits`` is of the likelier world.
    hits = [table[tail].sum() for table in reporting]
    assert (event.hits, event.other_hits) == (max(hits), min(hits))
    # The reporting half is 100,000 of the 200,000 runs.
    bound = lower_bound(event.hits, event.other_hits, 100_000, 0.1, confidence=0.999)
    assert event.audited_delta == bound > 0


@pytest.fixture(scope="module")
def table_iv_rows():
    """The audit of Table IV's default setting: a row for each eps and for each kind of attacker."""
    tally = play(n=100, k=10, eps0=2.0, count=80, runs=400_000, seed=20240425)
    return pd.DataFrame(assess([tally], [0.1, 0.5, 2.0], confidence=0.999))


def test_what_table_iv_claims_is_refuted_and_upper_is_not(table_iv_rows):
    """Table IV prints 2.49e-15 for delta of the count of x0. Simulated attacks show a delta of at least 5e-3.

    `table_iv_rows` is the audit of the table's default setting, in 400,000 runs: a row for each of three eps
    and each attacker, who sees the count of x0 or the whole histogram. A row has two lower bounds on delta:
    audited_delta holds alone, and joint_delta together with those of all rows. The row is ``violated`` if
    audited_delta exceeds the published delta, and ``violated_jointly`` if joint_delta does. No lower bound
    exceeds the library's `upper` bound (``upper_violated``).
    """
    [row] = table_iv_rows.query("eps == 0.1 and observes == 'histogram'").to_dict("records")
    # The delta of the count: by the printed formula, as in the table, and the exact one of docs/errata.md.
    # Tolerances are about one unit of the last digit, as log10.
    assert row["published_log10_delta"] == pytest.approx(np.log10(2.49e-15), abs=2e-3)
    assert row["exact_log10_delta"] == pytest.approx(np.log10(6.147e-3), abs=1e-4)
    # (Both bounds are above 2e-2 here, as the whole histogram tells more than the count.)
    assert row["audited_delta"] >= 5e-3
    assert row["joint_delta"] >= 5e-3
    assert row["violated"]
    assert row["violated_jointly"]
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
