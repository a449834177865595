"""The benchmarks' code at tiny sizes: what is compared is the same quantity, what is reported adds up.

No test looks at how long anything takes.
"""

import functools
from pathlib import Path

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from scipy import signal

from benchmarks import accountants, cases, measure, peers, printed, rivals
from tests.library.bounds import dominating
from tightshuffle.bounds import histogram
from tightshuffle.literature import count
from tightshuffle.randomizers.krr import invert

SETTING = {"n": 60, "k": 5, "eps0": 1.5, "count": 48}
COMPUTER = {"cpu": "Abacus", "cores": 1, "python": "3.11", "numpy": "2", "scipy": "1"}
ONE_SHOT = {"least": 1, "most": 1}


def here(function, *arguments, **keywords):
    """Runs a measurement in this process."""
    return function(*arguments, **keywords)


@pytest.fixture(autouse=True)
def each_call_once(monkeypatch):
    """Nothing is repeated: how often is no matter here."""

    def once(function, **how):
        return measure.timed(function, **(how | ONE_SHOT))

    monkeypatch.setattr(peers, "timed", once)
    monkeypatch.setattr(accountants, "timed", once)
    monkeypatch.setattr(rivals, "timed", once)


# Peers ----------------------------------------------------------------------------------------


def test_precise_delta_is_that_of_the_laws_added_user_by_user():
    for count_of_x0 in (0, 17, 59):
        setting = SETTING | {"count": count_of_x0}
        for eps in (0.0, 0.2, 1.0):
            expected = printed.hockey_stick(eps, *printed.convolved_distributions(**setting))
            # At most 120 values of the two laws are left out, each below 1e-34; all others have 40 digits.
            assert expected > 1e-18
            assert abs(peers.precise_delta(eps, **setting) - expected) < mp.mpf(10) ** -31


def test_peers_compute_the_count_of_x0():
    for eps in (0.05, 0.4):
        expected = float(peers.precise_delta(eps, **SETTING))
        assert peers.convolved_delta(eps, **SETTING) == pytest.approx(expected, rel=1e-10)
        # Its losses are rounded up by at most the spacing: delta is that of a smaller eps.
        limit = float(peers.precise_delta(eps - peers.SPACING, **SETTING))
        rounded_up = peers.loss_distribution_delta(eps, peers.log_outcomes(**SETTING))
        assert expected <= rounded_up <= limit * (1 + 1e-9)


def test_laws_are_the_same_by_both_convolutions():
    direct, fast = (
        peers.count_distributions(**SETTING, convolve=way) for way in (np.convolve, signal.fftconvolve)
    )
    assert np.shape(direct) == (2, SETTING["n"] + 1)
    np.testing.assert_allclose(np.sum(direct, axis=1), 1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(fast, direct, rtol=0, atol=1e-14)


def test_users_one_by_one_have_the_same_law_as_the_sampler():
    counts, eps0, rng = np.array([9000, 0, 3000]), 1.2, np.random.default_rng(5)
    values = np.repeat(np.arange(3), counts)
    noisy = peers.simulate_users(values, 3, eps0, rng)
    assert noisy.sum() == 12000
    # An estimated count's deviation is at most sqrt(n) / 2 / (p - q); five of them: false alarms below 1e-5.
    spread = np.sqrt(12000) / 2 * (np.exp(eps0) + 2) / np.expm1(eps0)
    assert np.all(np.abs(12000 * invert(noisy / 12000, eps0) - counts) < 5 * spread)


# Rivals ---------------------------------------------------------------------------------------


def test_variation_ratio_is_the_pair_written_out():
    setting = {"n": 9, "k": 4, "eps0": 1.3}
    pair = dominating.third_value(*setting.values())
    for eps in (0.0, 0.2, 0.8):
        expected = float(dominating.hockey_stick(eps, pair.values()))
        assert rivals.variation_ratio(eps, **setting) == pytest.approx(expected, rel=1e-10)
        by_losses = rivals.loss_distribution(eps, **setting)
        assert expected * (1 - 1e-12) <= by_losses <= expected + rivals.SPACING
        # The histogram of that dataset tells more than the two counts.
        assert expected <= 10 ** float(histogram.lower(eps, **setting)) * (1 + 1e-4)


def test_where_the_variation_ratio_is_no_bound():
    for row in rivals.violations():
        assert row["variation_ratio"] < row["lower"] < row["upper"]


def test_fft_is_the_blanket_bound_down_to_its_floor():
    setting = {"n": 2000, "k": 20, "eps0": 2.0}
    for eps in (0.05, 0.15):
        bound = 10 ** float(histogram.upper(eps, **setting))
        assert bound > 1e-8
        assert rivals.fft_of_blanket(eps, **setting) == pytest.approx(bound, rel=1e-2)
    row = rivals.compare(1000, 20, 2.0)
    assert abs(row["fft_floor"]) > 10 * rivals.DEEP  # noise of either sign
    table = pd.DataFrame([row, row | {"n": 10**7, "dp_accounting": np.nan}])
    header, lines = accountants.by_line(table, accountants.RIVALS)
    assert header == ["", "n = 10^3", "n = 10^7"]
    assert [line[0] for line in lines] == list(accountants.RIVALS)
    assert lines[-2][2] == "–"


def test_engine_counts_what_it_adds_up():
    row = rivals.engine_cost(10**6, 20, 2.0)
    assert 20 < row["nodes"] < 2000
    assert 0 <= row["width"] <= 1e-4


# Cases ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "k"), [(10, 4), (11, 4), (13, 4), (100_000, 408)])
def test_different_counts(n, k):
    counts = cases.different_counts(n, k)
    assert counts.sum() == n
    assert np.unique(counts).size == k
    assert counts.min() >= 1
    with pytest.raises(ValueError, match=f"n must be at least {k * (k + 1) // 2} for {k} different counts"):
        cases.different_counts(k * (k + 1) // 2 - 1, k)


@pytest.mark.parametrize(
    ("name", "within"),
    [
        ("count-exact", 1e-4),
        ("clones", 1e-4),
        ("koskela-strong", 1e-4),
        (f"koskela-strong, {cases.ROUNDS} rounds", 1),
    ],
)
def test_accountants_are_asked_at_their_delta(name, within):
    setting = {"n": 5000, "k": 6, "eps0": 2.0}
    log10_delta = cases.CASES[name].bound(cases.eps_of(name, **setting), **setting)
    assert log10_delta == pytest.approx(np.log10(cases.DELTA), abs=within)


def test_an_accountant_that_does_not_reach_delta_is_left_out():
    # With two users an infinite loss is likely, for the strong adversary at any eps.
    assert np.isnan(cases.eps_of("koskela-strong", 2, 6, 2.0))
    table = accountants.measure_all(here, ["koskela-strong"], largest=100)
    assert table.empty


# Ratios ---------------------------------------------------------------------------------------


def test_double_sum_and_ours_agree():
    rows = pd.DataFrame(peers.against_the_double_sum(40))
    assert list(rows.columns) == peers.COLUMNS
    assert list(rows["what"]) == ["Theorem 1 as printed", "count-exact"]
    assert (rows["error"] < 1e-9).all()
    assert rows["peer_error"].isna().all()
    assert np.allclose(rows["ratio"], rows["peer_seconds"] / rows["seconds"])


def test_doubles_and_ours_agree():
    rows = pd.DataFrame(peers.against_doubles(400, 10, 2.0))
    assert (rows["error"] < 1e-9).all()
    assert rows["peer_error"][0] < 1e-8
    assert (rows["peer_error"][1:] > 1e-6).all()  # the spacing shows
    assert rows["peer_error"][1] == pytest.approx(rows["peer_error"][2], rel=1e-6)


def test_sampler_has_no_error_to_state():
    (row,) = peers.against_users(100, 5, 1.0)
    assert np.isnan(row["error"])


def test_error_of_a_delta_below_the_smallest_float():
    true = mp.mpf(10) ** -5000
    assert peers.error_of(peers.of_log10(-5000), true) < 1e-12
    assert peers.error_of(peers.of_log10(-4999), true) == pytest.approx(9)


# Tables ----------------------------------------------------------------------------


def measured():
    """A table with every accountant and n, and made-up times and memory."""
    rows = [
        [name, n, 408, 4.0, 0.1, 1e-12 * n, 1e-9 * n, -6.0]
        for name, case in cases.CASES.items()
        for n in case.sizes
    ]
    return pd.DataFrame(rows, columns=accountants.COLUMNS)


def test_summary_has_every_ratio_and_every_accountant():
    ratios = [
        ["count-exact", 10**5, "peer", 1e-3, 5.0, 5000.0, 1e-13, np.nan],
        ["sample_histogram", 10**6, "users", 1e-4, 0.05, 500.0, np.nan, np.nan],
    ]
    columns = {column for lines in (accountants.RIVALS, accountants.ENGINE) for column, _ in lines.values()}
    none = pd.DataFrame([dict.fromkeys(columns, 0.5) | {"n": 1000}])
    violated = pd.DataFrame([range(7)])
    page = accountants.summary(
        measured(), pd.DataFrame(ratios, columns=peers.COLUMNS), none, violated, none, COMPUTER
    )
    parts = page.strip().split("\n\n")
    ratios = next(part for part in parts if part.startswith("| what"))
    times, memory = parts[-2:]
    assert ratios.splitlines()[2:] == [
        "| count-exact | 100,000 | peer | 1 ms | 5 s | 5,000 × | 1.0e-13 | – |",
        "| sample_histogram | 1,000,000 | users | 0.1 ms | 50 ms | 500 × | – | – |",
    ]
    for table in (times, memory):
        assert [line.split(" | ")[0][2:] for line in table.splitlines()[2:]] == list(cases.CASES)
        assert "n = 10^9" in table.splitlines()[0]
    assert times.splitlines()[4].split(" | ")[1:5] == ["–", "–", "–", "0.0001 ms"]  # delta-hat


# Measuring ------------------------------------------------------------------------------------


def test_time_is_the_median_of_as_many_calls_as_asked_for():
    calls = []
    seconds, value = measure.timed(lambda: calls.append(None) or len(calls), least=3, most=5, seconds=9)
    assert (len(calls), value) == (5, 5)
    assert seconds >= 0
    measure.timed(calls.clear, least=2, most=5, seconds=0)
    assert calls == []


@pytest.fixture(scope="module")
def processes():
    with measure.fresh_processes(["tests.reproduction.benchmarks.test_accountants"]) as executor:
        yield executor


def hold(size):
    np.ones(size // 8).sum()


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux can reset the peak")
@pytest.mark.parametrize(("size", "least", "most"), [(64_000_000, 57, 96), (0, 0, 10)])
def test_memory_sees_what_was_held_and_let_go(processes, size, least, most):
    """In a fresh process, as in the benchmark: here, memory that earlier tests let go of is taken again."""
    used = processes.submit(measure.peak_memory, functools.partial(hold, size)).result()
    assert least <= used <= most


def test_a_row_in_a_fresh_process(processes):
    name, setting = "count-exact", {"n": 1000, "k": 6, "eps0": 2.0}
    row = processes.submit(accountants.measure, name, eps=0.3, **setting).result()
    assert list(row) == accountants.COLUMNS
    expected = count.delta(0.3, count=int(cases.SHARE * 1000), **setting)
    assert row["log10_delta"] == pytest.approx(expected, rel=1e-12)
    assert row["seconds"] > 0
    assert 0 <= row["memory_mb"] < 300
