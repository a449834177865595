"""The benchmarks' code at tiny sizes: what is compared is the same quantity, what is reported adds up.

No test looks at how long anything takes.
"""

import functools
from pathlib import Path

import mpmath as mp
import numpy as np
import pandas as pd
import pytest

from benchmarks import accountants as bench_accountants
from benchmarks import cases as bench_cases
from benchmarks import figure as bench_figure
from benchmarks import measure as bench_measure
from benchmarks import peers as bench_peers
from benchmarks import ratios as bench_ratios
from tightshuffle.figures import style
from tightshuffle.mechanisms.krr import invert
from tightshuffle.privacy import count

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
        return bench_measure.timed(function, **(how | ONE_SHOT))

    monkeypatch.setattr(bench_ratios, "timed", once)
    monkeypatch.setattr(bench_accountants, "timed", once)


# Peers ----------------------------------------------------------------------------------------


def test_precise_delta_is_that_of_the_laws_added_user_by_user():
    printed = bench_peers.printed_formulas()
    for count_of_x0 in (0, 17, 59):
        setting = SETTING | {"count": count_of_x0}
        for eps in (0.0, 0.2, 1.0):
            expected = printed.hockey_stick(eps, *printed.convolved_laws(**setting))
            # At most 120 values of the two laws are left out, each below 1e-34; the rest has 40 digits.
            assert expected > 1e-18
            assert abs(bench_peers.precise_delta(eps, **setting) - expected) < mp.mpf(10) ** -31


def test_peers_compute_the_count_of_x0():
    for eps in (0.05, 0.4):
        expected = float(bench_peers.precise_delta(eps, **SETTING))
        assert bench_peers.convolved_delta(eps, **SETTING) == pytest.approx(expected, rel=1e-10)
        # Its losses are rounded up by at most the spacing: delta is that of a smaller eps.
        limit = float(bench_peers.precise_delta(eps - bench_peers.SPACING, **SETTING))
        assert expected <= bench_peers.loss_distribution_delta(eps, **SETTING) <= limit * (1 + 1e-9)


def test_laws_are_the_same_by_both_convolutions():
    for direct, fast in zip(
        *(bench_peers.count_laws(**SETTING, convolve=way) for way in ("direct", "fft")), strict=True
    ):
        assert direct.shape == (SETTING["n"] + 1,)
        assert direct.sum() == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(fast, direct, rtol=0, atol=1e-14)
    with pytest.raises(ValueError, match="convolve must be one of direct, fft"):
        bench_peers.count_laws(**SETTING, convolve="slow")


def test_users_one_by_one_have_the_same_law_as_the_sampler():
    counts, eps0, rng = np.array([9000, 0, 3000]), 1.2, np.random.default_rng(5)
    values = np.repeat(np.arange(3), counts)
    noisy = bench_peers.simulate_users(values, 3, eps0, rng)
    assert noisy.sum() == 12000
    # An estimated count's deviation is at most sqrt(n) / 2 / (p - q); five of them: false alarms below 1e-5.
    spread = np.sqrt(12000) / 2 * (np.exp(eps0) + 2) / np.expm1(eps0)
    assert np.all(np.abs(12000 * invert(noisy / 12000, eps0) - counts) < 5 * spread)


# Cases ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "k"), [(10, 4), (11, 4), (13, 4), (100_000, 408)])
def test_different_counts(n, k):
    counts = bench_cases.different_counts(n, k)
    assert counts.sum() == n
    assert np.unique(counts).size == k
    assert counts.min() >= 1


def test_too_few_users_for_different_counts_are_named():
    with pytest.raises(ValueError, match="n must be at least 10 for 4 different counts; got 9"):
        bench_cases.different_counts(9, 4)


@pytest.mark.parametrize("name", ["count-exact", "clones", "koskela-strong"])
def test_accountants_are_asked_at_their_delta(name):
    setting = {"n": 5000, "k": 6, "eps0": 2.0}
    eps = bench_cases.eps_of(name, **setting)
    log10_delta = bench_cases.CASES[name].bound(eps, **setting)
    assert log10_delta == pytest.approx(np.log10(bench_cases.DELTA), abs=1e-4)


def test_several_rounds_are_asked_near_their_delta():
    setting = {"n": 5000, "k": 6, "eps0": 2.0}
    name = f"koskela-strong, {bench_cases.ROUNDS} rounds"
    log10_delta = bench_cases.CASES[name].bound(bench_cases.eps_of(name, **setting), **setting)
    assert -7.5 < log10_delta < -5


def test_an_accountant_that_does_not_reach_delta_is_left_out():
    # With two users an infinite loss is likely, for the strong adversary at any eps.
    assert np.isnan(bench_cases.eps_of("koskela-strong", 2, 6, 2.0))
    table = bench_accountants.accountants(here, ["koskela-strong"], largest=100)
    assert table.empty


def test_every_case_and_goal_is_known():
    assert list(bench_figure.STYLES) == list(bench_cases.CASES)
    for name, n, column, _ in bench_accountants.GOALS:
        assert n is None or n in bench_cases.CASES[name].sizes
        assert column in bench_accountants.COLUMNS
    for name, _ in bench_accountants.RATIOS:
        assert callable(getattr(bench_ratios, name))


# Ratios ---------------------------------------------------------------------------------------


def test_double_sum_and_ours_agree():
    rows = pd.DataFrame(bench_ratios.against_the_double_sum(40))
    assert list(rows.columns) == bench_ratios.COLUMNS
    assert list(rows["what"]) == ["count-published", "count-exact"]
    assert (rows["error"] < 1e-9).all()
    assert rows["peer_error"].isna().all()
    assert np.allclose(rows["ratio"], rows["peer_seconds"] / rows["seconds"])


def test_doubles_and_ours_agree():
    rows = pd.DataFrame(bench_ratios.against_doubles(400, 10, 2.0))
    assert (rows["error"] < 1e-9).all()
    assert rows["peer_error"][0] < 1e-8
    assert (rows["peer_error"][1:] > 1e-6).all()  # the spacing shows
    assert rows["peer_error"][1] == pytest.approx(rows["peer_error"][2], rel=1e-6)


def test_sampler_has_no_error_to_state():
    (row,) = bench_ratios.against_users(100, 5, 1.0)
    assert np.isnan(row["error"])
    assert row["goal"] == row["reached"] == ""


@pytest.mark.parametrize(
    ("theirs", "errors", "reached"),
    [(10.0, (1e-9, 2e-6), True), (9.9, (1e-9, 2e-6), False), (10.0, (1e-9, 9e-7), False)],
)
def test_both_goals_have_to_be_reached(theirs, errors, reached):
    row = bench_ratios.row("a", 1, "b", 1.0, theirs, errors=errors, times=10, smaller=1000)
    assert row["goal"] == ">= 10 x, error >= 1,000 x smaller"
    assert row["reached"] is reached


def test_error_of_a_delta_below_the_smallest_float():
    true = mp.mpf(10) ** -5000
    assert bench_ratios.error_of(bench_ratios.of_log10(-5000), true) < 1e-12
    assert bench_ratios.error_of(bench_ratios.of_log10(-4999), true) == pytest.approx(9)


# Tables and figure ----------------------------------------------------------------------------


def measured():
    """A table with every accountant and n, and made-up times and memory."""
    rows = [
        [name, n, 408, 4.0, 0.1, 1e-12 * n, 1e-9 * n, -6.0]
        for name, case in bench_cases.CASES.items()
        for n in case.sizes
    ]
    return pd.DataFrame(rows, columns=bench_accountants.COLUMNS)


def test_goals_tell_what_was_reached():
    table = measured()
    assert {line[-1] for line in bench_accountants.goals(table)} == {"yes"}
    slow = (table["accountant"] == "upper") & (table["n"] == 10**9)
    table.loc[slow, "seconds"] = 10.5
    missed = [line for line in bench_accountants.goals(table) if line[-1] == "no"]
    assert missed == [["upper", "n = 1,000,000,000", "≤ 10 s", "10.5 s", "no"]]
    with pytest.raises(ValueError, match="upper: not measured at n = 1,000,000,000"):
        bench_accountants.goals(table[~slow])


def test_summary_has_every_ratio_and_every_accountant():
    ratios = pd.DataFrame(
        [
            bench_ratios.row("count-exact", 10**5, "peer", 1e-3, 5.0, errors=(1e-13, np.nan), times=1000),
            bench_ratios.row("sample_histogram", 10**6, "users", 1e-4, 0.05),
        ]
    )
    *_, goals, ratios, times = bench_accountants.summary(measured(), ratios, COMPUTER)
    assert len(goals.splitlines()) == 2 + len(bench_accountants.GOALS)
    assert ratios.splitlines()[2:] == [
        "| count-exact | 100,000 | peer | 1 ms | 5 s | 5,000 × | 1.0e-13 | – | ≥ 1,000 × | yes |",
        "| sample_histogram | 1,000,000 | users | 0.1 ms | 50 ms | 500 × | – | – | – | – |",
    ]
    assert [line.split(" | ")[0][2:] for line in times.splitlines()[2:]] == list(bench_cases.CASES)
    assert "n = 10^9" in times.splitlines()[0]
    assert times.splitlines()[4].split(" | ")[1:5] == ["–", "–", "–", "0.0001 ms"]  # delta-hat


def test_figure_has_a_line_per_accountant_in_both_panels():
    table = measured()
    figure = bench_figure.draw(table)
    for axes in figure.axes:
        assert [line.get_label() for line in axes.lines] == list(bench_cases.CASES)
    looks = {(line.get_color(), line.get_marker()) for line in figure.axes[0].lines}
    assert len(looks) == len(bench_cases.CASES)
    assert min(line.get_ydata().min() for line in figure.axes[1].lines) == bench_figure.SMALLEST
    assert style.png(figure)[:4] == b"\x89PNG"
    text = bench_figure.caption(table, COMPUTER)
    assert all(words in text for words in ("1,000,000,000", "k = 408", "ε₀ = 4", "Abacus", "0.1 MB"))
    with pytest.raises(ValueError, match="'laplace' has no colour"):
        bench_figure.draw(table.replace("girgis", "laplace"))


# Measuring ------------------------------------------------------------------------------------


def test_time_is_the_median_of_as_many_calls_as_asked_for():
    calls = []
    seconds, value = bench_measure.timed(lambda: calls.append(None) or len(calls), least=3, most=5, seconds=9)
    assert (len(calls), value) == (5, 5)
    assert seconds >= 0
    bench_measure.timed(calls.clear, least=2, most=5, seconds=0)
    assert calls == []


def hold(size):
    np.ones(size // 8).sum()


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux can reset the peak")
@pytest.mark.parametrize(("size", "least", "most"), [(64_000_000, 57, 96), (0, 0, 10)])
def test_memory_sees_what_was_held_and_let_go(size, least, most):
    """In a fresh process, as in the benchmark: here, memory that earlier tests let go of is taken again."""
    with bench_measure.fresh_processes(["numpy"]) as executor:
        used = executor.submit(bench_measure.peak_memory, functools.partial(hold, size)).result()
    assert least <= used <= most


def test_a_row_in_a_fresh_process():
    name, setting = "count-exact", {"n": 1000, "k": 6, "eps0": 2.0}
    with bench_measure.fresh_processes(["numpy"]) as executor:
        row = executor.submit(bench_accountants.measure, name, eps=0.3, **setting).result()
    assert list(row) == bench_accountants.COLUMNS
    expected = count.delta(0.3, count=int(bench_cases.SHARE * 1000), **setting)
    assert row["log10_delta"] == pytest.approx(expected, rel=1e-12)
    assert row["seconds"] > 0
    assert 0 <= row["memory_mb"] < 300


def test_machine_is_told():
    computer = bench_measure.machine()
    assert computer["python"].startswith("3.")
    assert computer["numpy"] == np.__version__
    assert computer["cpu"]
