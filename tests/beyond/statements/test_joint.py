"""Random values tested together: the statistics, their law, and what a shift does to it."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.beyond.statements import judge_jointly as joint
from scripts.paper.trials.run_trials import Protocol
from scripts.shared.published_gaussian import published_scale
from tests.beyond.statements.world import VALUES
from tightshuffle.krr import invert, project_to_simplex, sample_histogram


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
    """`round_as_printed` rounds an array to ``digits`` significant digits as Python's own formatting does.

    The numbers are ties, powers of ten, their neighbours, 0, and others. A tie, such as 12.5 for two digits,
    is halfway between two results.
    """
    rng = np.random.default_rng(2)
    whole = rng.integers(10 ** (digits - 1), 10**digits, 500)
    # Ties are divided by powers of ten up to 10^22, the largest one that is an exact float.
    ties = (whole + 0.5) / 10.0 ** rng.integers(0, 23, 500)
    edges = np.concatenate([ties, 10.0 ** np.arange(-30, 30)])
    below = np.nextafter(edges, 0)  # the next float
    above = np.nextafter(edges, 1e99)
    spread = np.exp(rng.normal(-5, 3, 2000))  # mostly from 1e-6 to 50
    numbers = np.concatenate([edges, below, above, spread, [0.0, 0.025]])
    printed = [float(f"{number:.{digits - 1}e}") for number in numbers]
    assert joint.round_as_printed(numbers, digits).tolist() == printed


def random_line(rng):
    """A `Line`: the printed errors of seven cells, and those of 400 runs of ours, all drawn from one law.

    The law is half-normal, but every other cell has the error 0 with probability 1/2. Printed errors have one
    digit. A `Line` has no errors but their quantiles, each one's rank among the 400 of its cell, in [0, 1]:
    (7,) of the printed errors, (400, 7) of ours.
    """
    share_of_zeros = [0, 0.5, 0, 0.5, 0, 0.5, 0]
    draws = np.abs(rng.standard_normal((401, 7))) * (rng.random((401, 7)) >= share_of_zeros)
    printed, ours = draws[0], draws[1:]
    quantiles_of_printed = []
    quantiles_of_ours = []
    for cell, error in enumerate(printed):
        of_printed, of_ours_by_factor = joint.quantiles_among_draws(f"{error:.0e}", ours[:, cell])
        quantiles_of_printed.append(of_printed)
        quantiles_of_ours.append(of_ours_by_factor[1.0])
    runs = {1.0: np.stack(quantiles_of_ours, axis=1)}  # factor of our errors -> (400, 7)
    return joint.Line("Table V", "gaussian", np.array(quantiles_of_printed), runs)


@pytest.mark.slow
@pytest.mark.parametrize("statistic", joint.STATISTICS.values())
def test_p_values_hold_their_level_in_spite_of_zeros_and_rounding(statistic, monkeypatch):
    """If printed errors have the law of our runs, about 5 % of 200 p-values are at most 5 %, or fewer.

    `random_line` makes seven printed errors, and runs of ours by the same law, with many zeros and rounded to
    one digit. A p-value is of two such lines together, and from 999 random runs (`RANDOM_RUNS`).
    """
    monkeypatch.setattr(joint, "RANDOM_RUNS", 999)
    rng = np.random.default_rng(11)
    rounds = 200
    p_values = []
    for _ in range(rounds):
        _, p = joint.statistic_and_p_value([random_line(rng), random_line(rng)], statistic, rng)
        p_values.append(p)
    # Fewer if a statistic has atoms. A binomial count exceeds the upper limit with a probability below 1e-6.
    assert 0 < np.sum(np.array(p_values) <= 0.05) <= stats.binom.isf(1e-6, rounds, 0.05)


@pytest.mark.parametrize("times", joint.WRONG_FACTORS.values())
def test_power_is_that_of_a_closed_form(times):
    """`power` is how often errors are rejected that are ``times`` ours. Here one error is printed in all.

    Our errors in its cell are half-normal: 2000 draws at equally spaced quantiles. A wrong error is
    times |Z|, Z standard normal, and u is its quantile among ours. Kolmogorov and Smirnov's statistic of one
    quantile is max(u, 1 - u). So the error is rejected if u or 1 - u is below level / 2. The expected power,
    the probability of this, follows by the law of |Z|.
    """
    level = 0.05
    draws = stats.halfnorm.ppf((np.arange(2000) + 0.5) / 2000)
    cell = {"mechanism": "gaussian", "metric": "individual_error", "k": 2, "cell": 1}
    trials = {("toy", 4.0, 4.0, 9): pd.DataFrame(cell | {"value": draws})}
    printed = pd.DataFrame([
        {"item": "Table V", "dataset": "toy", "quantity": "individual_error", "mechanism": "gaussian",
         "x0": "1", "n": "9", "k": "2", "eps0": "4", "eps": "4", "printed": "1.234567890123"}
    ])  # fmt: skip
    (line,) = joint.lines_of_printed_errors(printed, trials, {})

    low, high = stats.halfnorm.ppf([level / 2, 1 - level / 2])
    expected = stats.halfnorm.cdf(low / times) + stats.halfnorm.sf(high / times)
    power = joint.power([line], joint.kolmogorov_smirnov, times, level, np.random.default_rng(7))
    # The power is a share of `RANDOM_RUNS` runs: four standard errors. The critical value comes from as many
    # runs: four more.
    assert power == pytest.approx(expected, abs=8 * np.sqrt(expected / joint.RANDOM_RUNS))


def test_tables_are_rejected_if_the_errors_are_not_ours():
    """Printed errors drawn as ours are not rejected; errors a hundred times as large are.

    `VALUES` are the paper's printed values. Those of single cells, in Tables V and VI, are replaced by
    half-normal draws with two digits. ``trials`` stand for our own: (dataset, eps0, eps, n) -> a row for each
    error, 200 half-normal draws for every cell. All are said to be the Gaussian's, with n = 9 users.
    """
    rng = np.random.default_rng(4)
    printed = VALUES[VALUES["quantity"] == "individual_error"].assign(mechanism="gaussian", n="9")
    draws = np.abs(rng.standard_normal((len(printed), 200)))  # (cells, repetitions)
    trials = {}
    for name, rows in printed.groupby("dataset"):
        frames = [
            pd.DataFrame({"k": int(k), "mechanism": "gaussian", "metric": "individual_error",
                          "cell": int(x0), "value": errors})
            for x0, k, errors in zip(rows["x0"], rows["k"], draws, strict=False)
        ]  # fmt: skip
        trials[name, 4.0, 4.0, 9] = pd.concat(frames)

    for times, verdict in ((1, "not rejected"), (100, "rejected")):
        texts = [f"{times * error:.1e}" for error in np.abs(rng.standard_normal(len(printed)))]
        table = joint.joint_tests(printed.assign(printed=texts), trials, {}, seed=5)
        tests = list(table[["item", "test"]].itertuples(index=False, name=None))
        assert tests == list(product(("Table V", "Table VI"), joint.STATISTICS))
        assert set(table["verdict"]) == {verdict}
        # The powers are shares.
        assert table[[*joint.WRONG_FACTORS]].stack().between(0, 1).all()


def grid_of_paris(rows=12, columns=16):
    """A grid's cells, from the south-west row by row, whose numbers of users are random."""
    row, column = np.divmod(np.arange(rows * columns), columns)
    counts = np.random.default_rng(2).integers(0, 150, rows * columns)
    return pd.DataFrame({"grid": "uniform", "row": row, "column": column, "count": counts})


def test_cells_are_numbered_in_five_ways():
    """Two rows of three cells. The ways start in the south-west but for those from the north-west."""
    ways = joint.numberings(grid_of_paris(rows=2, columns=3))
    assert [numbers.tolist() for numbers in ways.values()] == [
        [1, 2, 3, 4, 5, 6], [4, 5, 6, 1, 2, 3], [1, 3, 5, 2, 4, 6], [2, 4, 6, 1, 3, 5], [0, 1, 2, 3, 4, 5],
    ]  # fmt: skip


PROTOCOL = Protocol(delta_form="published", delta_floor=1e-30, sensitivity=1)


def test_both_grids_of_a_city_are_compared_with_two_noises_and_by_every_numbering(monkeypatch):
    """`compare_grids` has a row for each of two grids, two Gaussian noises and five numberings of the cells.

    A row has the p-value of the errors printed for Paris (in `VALUES`, the paper's printed values), and this
    p-value after Holm's correction. `grid_of_paris` makes up a grid of 12 rows and 16 columns, or as given,
    with random numbers of users. The noises have delta 1e-30, that of `PROTOCOL`, and 1e-10. 500 random runs
    and 20 repetitions are few, for speed: only the table's rows and the correction matter here.
    """
    monkeypatch.setattr(joint, "RANDOM_RUNS", 500)
    uniform = grid_of_paris()  # 192 cells
    stepped = grid_of_paris(11, 15).assign(grid="stepped")  # 165 cells
    given = {
        "cells": {"paris": pd.concat([uniform, stepped])},
        "repetitions": {"paris": 20},
        "protocol": PROTOCOL,
        "seed": 5,
    }
    table = joint.compare_grids(VALUES, **given)
    assert list(table) == joint.GRID_COLUMNS
    assert len(table) == 2 * 2 * 5  # grids, noises, numberings
    # Each grid's k is its number of cells, and n that of its users.
    sizes = [("uniform", 192, uniform["count"].sum()), ("stepped", 165, stepped["count"].sum())]
    settings = set(table[["grid", "k", "n", "delta"]].itertuples(index=False, name=None))
    assert settings == {(*size, delta) for size, delta in product(sizes, (1e-30, 1e-10))}

    assert table[["p", "corrected_p"]].stack().between(0, 1).all()
    for _, pair in table.groupby(["delta", "numbering"]):
        # Holm's correction of two p-values: twice the smaller one, and the larger one or as much as that.
        low, high = sorted(pair["p"])
        expected = [min(1, 2 * low), min(1, max(high, 2 * low))]
        assert sorted(pair["corrected_p"]) == pytest.approx(expected)
    # Without printed values there is no row.
    assert joint.compare_grids(VALUES[:0], **given).empty


def test_errors_drawn_as_ours_by_one_numbering_fit_this_numbering_and_no_other_noise(monkeypatch):
    """Errors of one run of ours, its cells numbered column by column, fit this numbering in `compare_grids`.

    They replace the errors printed for Paris in `VALUES`: seven cells, two mechanisms, eps = eps0 = 4. The
    run is on `grid_of_paris`, a made-up grid of 192 cells: for shuffle+INV a simulation, for the Gaussian |Z|
    times the noise's scale by `PROTOCOL` (delta 1e-30, sensitivity 1), Z standard normal. Under the other
    noise, for 50 times the sensitivity and so 50 times as large, the errors fit by no numbering. Random runs
    and batches are few, for speed.
    """
    monkeypatch.setattr(joint, "RANDOM_RUNS", 2000)
    monkeypatch.setattr(joint, "BATCHES", 2)
    monkeypatch.setattr(joint, "OTHER_NOISE", (1e-30, 50.0))  # delta and sensitivity
    grid = grid_of_paris()
    counts = grid["count"].to_numpy()
    n = int(counts.sum())
    rng = np.random.default_rng(8)

    # Absolute errors of shuffle+INV in all cells, as shares of the users.
    noisy = sample_histogram(counts, 4.0, rng)[0] / n
    shuffled = np.abs(project_to_simplex(invert(noisy, 4.0)) - counts / n)
    numbers = joint.numberings(grid)["column by column from the south-west"]
    error_of_cell = dict(zip(numbers.tolist(), shuffled, strict=True))
    noise = published_scale(4, 1e-30, 1) / n  # the Gaussian's, as a share of the users

    # The cell of a printed value is its number x0. Errors are printed with two digits.
    printed = VALUES.query("dataset == 'paris' and quantity == 'individual_error'").copy()
    texts = []
    for x0, mechanism in zip(printed["x0"], printed["mechanism"], strict=True):
        if mechanism == "shuffle+INV":
            error = error_of_cell[int(x0)]
        else:
            error = noise * abs(rng.standard_normal())
        texts.append(f"{error:.1e}")

    table = joint.compare_grids(
        printed.assign(printed=texts),
        {"paris": grid},
        repetitions={"paris": 400},
        protocol=PROTOCOL,
        seed=5,
    )
    verdicts = table.set_index(["sensitivity", "numbering"])["verdict"]
    assert verdicts[1.0, "column by column from the south-west"] == joint.NOT_CONTRADICTED
    assert (verdicts[50.0] == joint.CONTRADICTED).all()
