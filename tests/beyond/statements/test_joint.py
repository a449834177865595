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
from tightshuffle.mechanisms.krr import invert, project_to_simplex, sample_histogram


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


def line_of_errors(printed, draws):
    """The `Line` of the ``printed`` errors (texts) of several cells among our ``draws`` (repetitions, cells).

    It holds quantiles, the ranks in [0, 1] among the draws of a cell: of the printed errors, and of the draws
    themselves, times 1 and times each factor of `joint.WRONG_FACTORS`.
    """
    quantiles_of_printed = []
    runs = {}  # factor -> quantiles of each cell
    for text, draws_of_cell in zip(printed, draws.T, strict=True):
        of_printed, of_draws = joint.quantiles_among_draws(text, draws_of_cell)
        quantiles_of_printed.append(of_printed)
        for factor, quantiles in of_draws.items():
            runs.setdefault(factor, []).append(quantiles)
    runs = {factor: np.transpose(quantiles) for factor, quantiles in runs.items()}
    return joint.Line("Table V", "gaussian", np.array(quantiles_of_printed), runs)


def random_line(rng):
    """A `Line` of seven printed errors and 400 runs of ours, all drawn from one law.

    The law is half-normal, but every other cell has the error 0 with probability 1/2. Printed errors have one
    digit.
    """
    share_of_zeros = [0, 0.5, 0, 0.5, 0, 0.5, 0]
    half_normal = np.abs(rng.standard_normal((401, 7)))
    errors = half_normal * (rng.random((401, 7)) >= share_of_zeros)
    printed = [f"{error:.0e}" for error in errors[0]]
    return line_of_errors(printed, draws=errors[1:])


@pytest.mark.slow
@pytest.mark.parametrize("statistic", joint.STATISTICS.values())
def test_p_values_hold_their_level_in_spite_of_zeros_and_rounding(statistic, monkeypatch):
    """About 5 % of 200 p-values are at most 5 %, or fewer, if printed errors have the law of our runs.

    A p-value is of two lines together, and from 999 random runs. Fewer are at most 5 % if a statistic has
    atoms.
    """
    monkeypatch.setattr(joint, "RANDOM_RUNS", 999)
    rng = np.random.default_rng(11)
    rounds = 200
    small_p_values = 0
    for _ in range(rounds):
        lines = [random_line(rng), random_line(rng)]
        _, p = joint.statistic_and_p_value(lines, statistic, rng)
        small_p_values += p <= 0.05
    # A binomial count exceeds the upper limit with a probability below 1e-6.
    assert 0 < small_p_values <= stats.binom.isf(1e-6, rounds, 0.05)


def half_normal_power(times, level):
    """The probability that the error times |Z|, Z standard normal, is rejected among errors |Z|.

    Of a single quantile u, Kolmogorov and Smirnov's statistic is max(u, 1 - u). So an error is rejected if u
    or 1 - u is below level / 2: P(times |Z| < q(level / 2)) + P(times |Z| > q(1 - level / 2)), where q is the
    quantile function of |Z|.
    """
    low, high = stats.halfnorm.ppf([level / 2, 1 - level / 2])
    return stats.halfnorm.cdf(low / times) + stats.halfnorm.sf(high / times)


@pytest.mark.parametrize("times", joint.WRONG_FACTORS.values())
def test_power_of_one_error_is_its_closed_form(times):
    """How often an error ``times`` ours is rejected. Ours are 2000 quantiles of the half-normal law."""
    draws = stats.halfnorm.ppf((np.arange(2000) + 0.5) / 2000)
    line = line_of_errors(["1.234567890123"], draws[:, np.newaxis])  # 13 digits are kept
    rng = np.random.default_rng(7)
    power = joint.power([line], joint.kolmogorov_smirnov, times, level=0.05, rng=rng)
    expected = half_normal_power(times, level=0.05)
    # The power is a share of `RANDOM_RUNS` runs: four standard errors. The critical value comes from as many
    # runs: four more.
    assert power == pytest.approx(expected, abs=8 * np.sqrt(expected / joint.RANDOM_RUNS))


def joint_tests_of_half_normal_errors(times):
    """`joint_tests` of errors as in Tables V and VI, drawn as ours and multiplied by ``times``.

    Ours are half-normal, 200 draws for each printed cell. All are said to be the Gaussian's, for n = 9 users
    at eps = eps0 = 4.
    """
    rng = np.random.default_rng(4)
    values = VALUES[VALUES["quantity"] == "individual_error"].assign(mechanism="gaussian", n="9")
    cells = values[["dataset", "mechanism"]].assign(metric="individual_error")
    cells = cells.assign(k=values["k"].astype(int), cell=values["x0"].astype(int))
    draws = cells.loc[cells.index.repeat(200)]
    draws = draws.assign(value=np.abs(rng.standard_normal(len(draws))))
    # (dataset, eps0, eps, n) -> a row for each draw.
    trials = {(dataset, 4.0, 4.0, 9): rows for dataset, rows in draws.groupby("dataset")}
    printed = [f"{times * abs(error):.1e}" for error in rng.standard_normal(len(values))]
    return joint.joint_tests(values.assign(printed=printed), trials, {}, seed=5)


@pytest.mark.parametrize(("times", "verdict"), [(1, "not rejected"), (100, "rejected")])
def test_tables_are_rejected_if_their_errors_are_a_hundred_times_ours(times, verdict):
    assert set(joint_tests_of_half_normal_errors(times)["verdict"]) == {verdict}


def test_each_table_has_a_row_for_each_test_with_its_powers():
    table = joint_tests_of_half_normal_errors(times=1)
    tests = list(table[["item", "test"]].itertuples(index=False, name=None))
    assert tests == list(product(("Table V", "Table VI"), joint.STATISTICS))
    assert table[[*joint.WRONG_FACTORS]].stack().between(0, 1).all()


def grid_of_paris(rows=12, columns=16):
    """A grid's cells, from the south-west row by row, whose numbers of users are random."""
    row, column = np.divmod(np.arange(rows * columns), columns)
    counts = np.random.default_rng(2).integers(0, 150, rows * columns)
    return pd.DataFrame({"grid": "uniform", "row": row, "column": column, "count": counts})


def test_cells_are_numbered_in_five_ways():
    """Two rows of three cells. The ways start in the south-west but for those from the north-west."""
    ways = joint.numberings(grid_of_paris(rows=2, columns=3)).values()
    numbers_of_cells = ["".join(map(str, numbers)) for numbers in ways]
    assert numbers_of_cells == ["123456", "456123", "135246", "246135", "012345"]


PROTOCOL = Protocol(delta_form="published", delta_floor=1e-30, sensitivity=1)


def compare_grids_of_paris(values, cells, repetitions):
    return joint.compare_grids(
        values, {"paris": cells}, {"paris": repetitions}, protocol=PROTOCOL, seed=5
    )


def compare_two_grids(values):
    """`compare_grids` of Paris on two made-up grids, a table. Few random runs and repetitions, for speed."""
    uniform = grid_of_paris(rows=12, columns=16)
    stepped = grid_of_paris(rows=11, columns=15).assign(grid="stepped")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(joint, "RANDOM_RUNS", 500)
        return compare_grids_of_paris(values, pd.concat([uniform, stepped]), repetitions=20)


@pytest.fixture(scope="module")
def comparison():
    """The errors that the paper prints for Paris, compared with those on two made-up grids."""
    return compare_two_grids(VALUES)


def test_grids_are_compared_with_two_noises_and_by_every_numbering(comparison):
    assert list(comparison) == joint.GRID_COLUMNS
    rows = list(comparison[["grid", "delta", "numbering"]].itertuples(index=False, name=None))
    numberings = joint.numberings(grid_of_paris())
    # The protocol's delta is 1e-30.
    assert sorted(rows) == sorted(product(("uniform", "stepped"), (1e-30, 1e-10), numberings))


def test_a_grid_has_as_many_cells_and_users_as_its_rows(comparison):
    sizes = comparison.drop_duplicates("grid").set_index("grid")
    assert sizes["k"].to_dict() == {"uniform": 12 * 16, "stepped": 11 * 15}
    assert sizes.loc["uniform", "n"] == grid_of_paris(12, 16)["count"].sum()
    assert sizes.loc["stepped", "n"] == grid_of_paris(11, 15)["count"].sum()


def test_p_values_of_both_grids_are_corrected_together_for_each_noise_and_numbering(comparison):
    """Holm's correction of two p-values: twice the smaller one, and the larger one or as much as that."""
    for _, rows in comparison.groupby(["delta", "numbering"]):
        smaller, larger = rows.sort_values("p")["p"]
        expected = [min(1, 2 * smaller), min(1, max(larger, 2 * smaller))]
        assert sorted(rows["corrected_p"]) == pytest.approx(expected)
        assert 0 <= smaller <= larger <= 1


def test_without_printed_values_no_grid_is_compared():
    assert compare_two_grids(VALUES[:0]).empty


COLUMN_BY_COLUMN = "column by column from the south-west"


def printed_errors_of_one_run(grid, rng):
    """The paper's rows of Paris, with errors of one run of ours on ``grid``, numbered column by column.

    They are seven cells of shuffle+INV, a simulation, and of the Gaussian: |Z| times the scale of the noise
    by `PROTOCOL`, Z standard normal. Errors are shares of the users, with two digits.
    """
    counts = grid["count"].to_numpy()
    n = int(counts.sum())
    noisy = sample_histogram(counts, 4.0, rng)[0] / n  # eps0 = 4
    errors_of_shuffle = np.abs(project_to_simplex(invert(noisy, 4.0)) - counts / n)
    errors_by_number = pd.Series(errors_of_shuffle, joint.numberings(grid)[COLUMN_BY_COLUMN])

    rows = VALUES.query("dataset == 'paris' and quantity == 'individual_error'")
    scale = published_scale(4, PROTOCOL.delta_floor, PROTOCOL.sensitivity) / n  # eps = 4
    errors_of_gaussian = scale * np.abs(rng.standard_normal(len(rows)))
    errors_of_cells = errors_by_number[rows["x0"].astype(int)]  # x0 is the number of a cell
    is_shuffle = rows["mechanism"] == "shuffle+INV"
    errors = np.where(is_shuffle, errors_of_cells, errors_of_gaussian)
    return rows.assign(printed=[f"{error:.1e}" for error in errors])


def test_errors_of_one_run_of_ours_fit_their_numbering_and_no_other_noise(monkeypatch):
    """The other noise is for 50 times the sensitivity, and so 50 times as large."""
    monkeypatch.setattr(joint, "OTHER_NOISE", (1e-30, 50.0))  # delta and sensitivity
    # Few, for speed.
    monkeypatch.setattr(joint, "RANDOM_RUNS", 2000)
    monkeypatch.setattr(joint, "BATCHES", 2)
    grid = grid_of_paris()
    printed = printed_errors_of_one_run(grid, np.random.default_rng(8))
    table = compare_grids_of_paris(printed, grid, repetitions=400)
    verdicts = table.set_index(["sensitivity", "numbering"])["verdict"]
    assert verdicts[1.0, COLUMN_BY_COLUMN] == joint.NOT_CONTRADICTED
    assert (verdicts[50.0] == joint.CONTRADICTED).all()
