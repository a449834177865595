"""Random values tested together: the statistics, their law, and what a shift does to it."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.beyond.statements import judge_jointly as joint
from scripts.paper.trials.run_trials import Protocol
from tests.beyond.statements.world import VALUES


def test_statistics_are_those_of_scipy_and_by_hand():
    uniform = np.random.default_rng(3).uniform(size=(5, 14))
    distances = [stats.kstest(row, "uniform").statistic for row in uniform]
    np.testing.assert_allclose(joint.kolmogorov_smirnov(uniform), distances, rtol=1e-12)
    assert joint.chi_square(np.array([0.0, 0.1, 0.3, 1.0])) == 2  # 2, 1, 0 and 1 in the quarters


def test_quantiles_are_mid_ranks_after_rounding_to_the_printed_digits():
    draws = np.array([0.0, 0.0, 1.4e-4, 1.6e-4, 2.4e-4])
    printed, ours = joint.quantiles_among_draws("2E-4", draws)
    # 0, 0 and 1E-4 are below, 1.6E-4 and 2.4E-4 equal.
    assert printed == pytest.approx((3 + 2 / 2) / 5)
    np.testing.assert_allclose(ours[1.0], [0.2, 0.2, 0.5, 0.8, 0.8])
    assert joint.quantiles_among_draws("16E-5", draws)[0] == pytest.approx((3 + 1 / 2) / 5)


@pytest.mark.parametrize("digits", [1, 2, 3, 13])
def test_numbers_are_rounded_as_python_prints_them(digits):
    """Also ties and their neighbours, powers of ten, 0, and numbers far from 1."""
    rng = np.random.default_rng(2)
    ties = (rng.integers(10 ** (digits - 1), 10**digits, 500) + 0.5) / 10.0 ** rng.integers(
        0, 23, 500
    )
    powers = 10.0 ** np.arange(-30, 30)
    near = np.concatenate([ties, powers])
    spread = np.exp(rng.normal(-5, 3, 2000))
    numbers = np.concatenate(
        [near, np.nextafter(near, 0), np.nextafter(near, 1e99), spread, [0.0, 0.025]]
    )
    printed = [float(f"{number:.{digits - 1}e}") for number in numbers]
    assert joint.round_as_printed(numbers, digits).tolist() == printed


def line(rng):
    """Seven cells of one run, half-normal, every other one 0 in one half of the runs; one draw is printed."""
    draws = np.abs(rng.standard_normal((401, 7))) * np.where(
        rng.random((401, 7)) < [0, 0.5] * 3 + [0], 0, 1
    )
    both = [
        joint.quantiles_among_draws(f"{value:.0e}", draws[1:, i])
        for i, value in enumerate(draws[0])
    ]
    runs = np.stack([runs[1.0] for _, runs in both], axis=1)
    return joint.Line(
        "Table V", "gaussian", np.array([printed for printed, _ in both]), {1.0: runs}
    )


@pytest.mark.slow
@pytest.mark.parametrize("statistic", joint.STATISTICS.values())
def test_p_values_hold_their_level_in_spite_of_zeros_and_rounding(statistic, monkeypatch):
    monkeypatch.setattr(joint, "RANDOM_RUNS", 999)
    rng, rounds = np.random.default_rng(11), 200
    p_values = [
        joint.statistic_and_p_value([line(rng), line(rng)], statistic, rng)[1]
        for _ in range(rounds)
    ]
    # A statistic may have atoms, so that at most 5 % are below 5 %; significance 1e-6.
    assert 0 < np.sum(np.array(p_values) <= 0.05) <= stats.binom.isf(1e-6, rounds, 0.05)


@pytest.mark.parametrize("times", joint.WRONG_FACTORS.values())
def test_power_is_that_of_a_closed_form(times):
    """One half-normal error, seen to all digits: rejected if its quantile u or 1 - u is below level / 2."""
    level, draws = 0.05, stats.halfnorm.ppf((np.arange(2000) + 0.5) / 2000)
    row = {
        "quantity": "individual_error",
        "item": "Table V",
        "mechanism": "gaussian",
        "dataset": "toy",
    }
    row |= {"x0": "1", "n": "9", "k": "2", "eps0": "4", "eps": "4", "printed": "1.234567890123"}
    frame = pd.DataFrame(
        {"k": 2, "mechanism": "gaussian", "metric": "individual_error", "cell": 1, "value": draws}
    )
    (line,) = joint.lines_of_printed_errors(pd.DataFrame([row]), {("toy", 4.0, 4.0, 9): frame}, {})
    ends = stats.halfnorm.ppf([level / 2, 1 - level / 2]) / times
    expected = stats.halfnorm.cdf(ends[0]) + stats.halfnorm.sf(ends[1])
    found = joint.power([line], joint.kolmogorov_smirnov, times, level, np.random.default_rng(7))
    # Four standard errors of the share, and as much for the critical value.
    assert found == pytest.approx(expected, abs=8 * np.sqrt(expected / joint.RANDOM_RUNS))


def test_tables_and_grids_are_rejected_if_the_errors_are_not_ours():
    """Errors drawn as ours are not rejected; errors a hundred times as large are."""
    rng = np.random.default_rng(4)
    printed = VALUES[VALUES["quantity"] == "individual_error"].assign(mechanism="gaussian", n="9")
    errors = np.abs(rng.standard_normal((len(printed), 200)))
    for times, verdict in ((1, "not rejected"), (100, "rejected")):
        texts = [f"{times * error:.1e}" for error in np.abs(rng.standard_normal(len(printed)))]
        trials = {
            (name, 4.0, 4.0, 9): pd.concat(
                pd.DataFrame({"k": int(k), "mechanism": "gaussian", "metric": "individual_error"}
                             | {"cell": int(x0), "value": error})
                for x0, k, error in zip(rows["x0"], rows["k"], errors, strict=False)
            )
            for name, rows in printed.groupby("dataset")
        }  # fmt: skip
        table = joint.joint_tests(printed.assign(printed=texts), trials, {}, seed=5)
        assert table[["item", "test"]].to_numpy().tolist() == [
            [item, test] for item in ("Table V", "Table VI") for test in joint.STATISTICS
        ]
        assert set(table["verdict"]) == {verdict}
        assert table[[*joint.WRONG_FACTORS]].stack().between(0, 1).all()


def paris(rows=12, columns=16):
    """A grid's cells, whose numbers of users are random."""
    row, column = np.divmod(np.arange(rows * columns), columns)
    counts = np.random.default_rng(2).integers(0, 150, rows * columns)
    return pd.DataFrame({"grid": "uniform", "row": row, "column": column, "count": counts})


def test_cells_are_numbered_in_five_ways():
    ways = joint.numberings(paris(rows=2, columns=3))
    assert [numbers.tolist() for numbers in ways.values()] == [
        [1, 2, 3, 4, 5, 6], [4, 5, 6, 1, 2, 3], [1, 3, 5, 2, 4, 6], [2, 4, 6, 1, 3, 5], [0, 1, 2, 3, 4, 5],
    ]  # fmt: skip


PROTOCOL = Protocol(delta_form="published", delta_floor=1e-30, sensitivity=1)


def test_both_grids_of_a_city_are_compared_with_two_noises_and_by_every_numbering(monkeypatch):
    monkeypatch.setattr(joint, "RANDOM_RUNS", 500)
    cells = pd.concat([paris(), paris(11, 15).assign(grid="stepped")])
    given = {
        "cells": {"paris": cells},
        "repetitions": {"paris": 20},
        "protocol": PROTOCOL,
        "seed": 5,
    }
    table = joint.compare_grids(VALUES, **given)
    assert list(table) == joint.GRID_COLUMNS
    sizes = cells.groupby("grid")["count"].sum()
    settings = set(table[["grid", "k", "n", "delta"]].itertuples(index=False, name=None))
    assert settings == {
        (grid, k, sizes[grid], delta)
        for grid, k in (("uniform", 192), ("stepped", 165))
        for delta in (1e-30, 1e-10)
    }
    assert len(table) == 2 * 2 * 5
    assert table[["p", "corrected_p"]].stack().between(0, 1).all()
    for _, pair in table.groupby(["delta", "numbering"]):  # Holm, of two
        assert pair["corrected_p"].min() == pytest.approx(min(1, 2 * pair["p"].min()))
        assert pair["corrected_p"].max() == pytest.approx(
            min(1, max(pair["p"].max(), 2 * pair["p"].min()))
        )
    assert joint.compare_grids(VALUES[:0], **given).empty


def test_errors_drawn_as_ours_by_one_numbering_fit_this_numbering_and_no_other_noise(monkeypatch):
    """Printed errors that one run of ours gives; with the noise of another scale they would not fit."""
    monkeypatch.setattr(joint, "RANDOM_RUNS", 2000)
    monkeypatch.setattr(joint, "BATCHES", 2)
    monkeypatch.setattr(joint, "OTHER_NOISE", (1e-30, 50.0))
    grid, rng = paris(), np.random.default_rng(8)
    counts, n = grid["count"].to_numpy(), int(grid["count"].sum())
    printed = VALUES[
        (VALUES["dataset"] == "paris") & (VALUES["quantity"] == "individual_error")
    ].copy()
    noisy = joint.sample_histogram(counts, 4.0, rng)[0] / n
    shuffled = np.abs(joint.project_to_simplex(joint.invert(noisy, 4.0)) - counts / n)
    numbers = joint.numberings(grid)["column by column from the south-west"]
    ours = {int(number): error for number, error in zip(numbers, shuffled, strict=True)}
    noise = joint.published_scale(4, 1e-30, 1) / n
    printed["printed"] = [
        f"{ours[int(x0)] if mechanism == 'shuffle+INV' else noise * abs(rng.standard_normal()):.1e}"
        for x0, mechanism in zip(printed["x0"], printed["mechanism"], strict=True)
    ]
    given = {"repetitions": {"paris": 400}, "protocol": PROTOCOL, "seed": 5}
    table = joint.compare_grids(printed, {"paris": grid}, **given).set_index(
        ["sensitivity", "numbering"]
    )
    assert (
        table.loc[(1.0, "column by column from the south-west"), "verdict"]
        == joint.NOT_CONTRADICTED
    )
    assert (table.loc[50.0, "verdict"] == joint.CONTRADICTED).all()
