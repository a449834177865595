"""Joint tests of random values: whether the errors of Tables V and VI can be runs of the published protocol.

A test of one printed value against an interval of 99 % is weak. Here each printed value becomes its quantile
among our runs. Under the published protocol these quantiles are uniform, up to zeros and rounding, and two
statistics measure how uniform they are. The distribution of a statistic comes from our own runs, treated like
the printed values, so it includes zeros, rounding and the dependence between the cells of one run. `power` is
how often a test rejects wrong errors. data/published/README.md states the rule.
"""

import decimal
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from scripts.beyond.statements.joint_tables import (
    CONTRADICTED,
    NOT_CONTRADICTED,
    NOT_REJECTED,
    OTHER_NOISE,
    OUR_NUMBERING,
    REJECTED,
    WRONG_FACTORS,
)
from scripts.beyond.statements.verdict_rules import LEVEL, holm_corrected
from scripts.paper.trials.run_trials import Protocol
from scripts.paper.values.judge_values import Trials, draws_of, read_individual_trials, read_users
from scripts.shared.job import job, write_csv
from scripts.shared.printed import printed_to_decimal, read_values, records
from scripts.shared.published_gaussian import published_scale
from scripts.shared.seeds import seed_of
from tightshuffle.arguments import Floats, Integers
from tightshuffle.mechanisms.krr import invert, project_to_simplex, sample_histogram

RANDOM_RUNS = 20_000  # random runs of ours that give the distribution of a statistic
LARGEST_EXACT_POWER = 22  # powers of ten up to 10^22 are exact floats
QUARTERS = 4  # bins of the chi-square statistic
COLUMNS = ["item", "mechanism", "test", "statistic", "p", "corrected_p", "verdict", *WRONG_FACTORS]
GRID_COLUMNS = [
    "dataset", "grid", "k", "n", "delta", "sensitivity", "numbering",
    "p", "p_error", "corrected_p", "verdict",
]  # fmt: skip
# The p-value of a grid is a mean over batches. A batch has 5 times as many runs as the table has repetitions,
# which are 1,000. With these numbers a p-value of 0.006 has a standard error of 0.0002.
BATCHES, REPETITIONS_FACTOR = 10, 5
NoiseAndNumbering = tuple[float, float, str]  # delta, sensitivity, numbering
Statistic = Callable[[Floats], Floats]  # quantiles (runs, values) -> (runs,)


@dataclass(frozen=True)
class Line:
    """The printed errors of one run, as quantiles: one table, mechanism, dataset and n, several cells.

    ``item`` is the table. ``quantiles`` (cells,) are those of the printed values among our draws. ``runs`` is
    factor -> the quantiles of our own draws times this factor, of shape (repetitions, cells). The factors are
    1 and those of `WRONG_FACTORS`.
    """

    item: str
    mechanism: str
    quantiles: Floats
    runs: Mapping[float, Floats]


def lines_of_printed_errors(
    values: pd.DataFrame, trials: Trials, users: Mapping[str, int]
) -> list[Line]:
    """A `Line` for every table, mechanism, dataset and n: quantiles of its printed errors among our draws.

    A line has the quantiles of several cells: one for each printed individual error, and one for each
    repetition of our own. The lines and cells are in the order of ``values``, the rows of values.csv. A
    printed error without trials of ours is left out. ``trials`` and ``users`` are those of `draws_of`.
    """
    quantiles_of_line: dict[tuple[str, ...], list[tuple[float, dict[float, Floats]]]] = {}
    for row in records(values[values["quantity"] == "individual_error"]):
        draws = draws_of(row, trials, users)  # (repetitions,)
        if isinstance(draws, str):  # no draws, but the reason why there are none
            continue
        key = row["item"], row["mechanism"], row["dataset"], row["n"]
        quantiles_of_cell = quantiles_among_draws(row["printed"], draws)
        quantiles_of_line.setdefault(key, []).append(quantiles_of_cell)

    lines = []
    for (item, mechanism, _, _), cells in quantiles_of_line.items():
        lines.append(_line_of_cells(item, mechanism, cells))
    return lines


def _line_of_cells(
    item: str, mechanism: str, cells: list[tuple[float, dict[float, Floats]]]
) -> Line:
    """The `Line` of a table (``item``) and mechanism, from the quantiles in each of its cells.

    Each of ``cells`` is (quantile of the printed error, factor -> quantiles of our draws times the factor).
    """
    printed = np.array([of_printed for of_printed, _ in cells])
    runs_of_cells = [runs for _, runs in cells]
    runs = {
        factor: np.stack([runs[factor] for runs in runs_of_cells], axis=1)
        for factor in runs_of_cells[0]
    }
    return Line(item, mechanism, printed, runs)


def quantiles_among_draws(
    printed: str, draws: Floats, wrong_factors: Iterable[float] = WRONG_FACTORS.values()
) -> tuple[float, dict[float, Floats]]:
    """(quantile of the ``printed`` error, factor -> those of our draws times the factor), among our draws.

    ``draws`` (repetitions,) are errors of ours, and so many are the quantiles for each factor: 1 and the
    ``wrong_factors``. All numbers are rounded first, to as many significant digits as are printed. A
    quantile, in [0, 1], is a mid-rank: the share of the draws that are smaller, and half of the share of
    those that are equal.
    """
    value = printed_to_decimal(printed)
    digits = len(value.as_tuple().digits)
    # Few numbers are different after rounding, so a search among these is quick.
    rounded_draws = round_as_printed(draws, digits)
    different, times = np.unique(rounded_draws, return_counts=True)
    # How many draws are among the first 0, 1, 2, ... of the different numbers.
    up_to = np.concatenate([[0], np.cumsum(times)])

    def mid_ranks(numbers: Floats) -> Floats:
        """The quantile of each of ``numbers`` among the rounded draws."""
        below = up_to[np.searchsorted(different, numbers, "left")]
        at_most = up_to[np.searchsorted(different, numbers, "right")]
        return np.asarray((below + at_most) / (2 * len(draws)))

    (of_printed,) = mid_ranks(np.array([float(value)])).tolist()
    of_draws = {1.0: mid_ranks(rounded_draws)}
    for factor in wrong_factors:
        of_draws[factor] = mid_ranks(round_as_printed(factor * draws, digits))
    return of_printed, of_draws


def round_as_printed(numbers: Floats, digits: int) -> Floats:
    """``numbers`` (n,), all >= 0, rounded to ``digits`` significant digits as Python prints them: (n,).

    Python rounds the exact binary value of a float, and a tie to the even digit. Here all numbers are rounded
    at once: each is multiplied by a power of ten, such that its last digit to keep is the last one before the
    point. Where this could give another result than Python, a decimal number is rounded instead. That is near
    a tie, and where the power of ten is no exact float.
    """
    positive = numbers > 0
    # The exponent of the first digit; 0 for the number 0.
    exponents = np.floor(np.log10(numbers, where=positive, out=np.zeros(len(numbers))))
    places = digits - 1 - exponents  # decimal places to keep
    exact_power = (places >= 0) & (places <= LARGEST_EXACT_POWER)
    power = 10.0 ** np.where(exact_power, places, 0)
    scaled = numbers * power
    rounded = np.asarray(np.rint(scaled) / power)

    # The product is rounded once. So 4 spacings of floats away from a tie the nearest integer is certain.
    from_tie = np.abs(scaled - np.floor(scaled) - 0.5)
    doubtful = ~exact_power | (from_tie <= 4 * np.spacing(scaled))

    # Many draws are equal: each different number is rounded once.
    values, position = np.unique(numbers[doubtful], return_inverse=True)
    context = decimal.Context(prec=digits, rounding=decimal.ROUND_HALF_EVEN)
    by_decimal = [float(context.create_decimal_from_float(value)) for value in values.tolist()]
    rounded[doubtful] = np.array(by_decimal, dtype=float)[position]
    return rounded


def kolmogorov_smirnov(quantiles: Floats) -> Floats:
    """Kolmogorov and Smirnov's distance of the last axis from the uniform distribution on [0, 1].

    It is the largest difference of the two distribution functions. The shape is that of the other axes.
    """
    ordered = np.sort(quantiles, axis=-1)
    count = ordered.shape[-1]
    distance = np.zeros(ordered.shape[:-1])
    for place in range(count):  # one after the other, which needs less memory and is faster
        quantile = ordered[..., place]
        distance = np.maximum(distance, (place + 1) / count - quantile)
        distance = np.maximum(distance, quantile - place / count)
    return distance


def chi_square(quantiles: Floats) -> Floats:
    """Pearson's chi-square statistic of the last axis: of how many numbers are in each quarter of [0, 1].

    The shape is that of the other axes.
    """
    bins = np.minimum((np.asarray(quantiles) * QUARTERS).astype(int), QUARTERS - 1)
    counts = np.stack([(bins == quarter).sum(axis=-1) for quarter in range(QUARTERS)], axis=-1)
    return np.asarray(stats.chisquare(counts, axis=-1).statistic)


STATISTICS: dict[str, Statistic] = {
    "Kolmogorov-Smirnov": kolmogorov_smirnov,
    "chi-square": chi_square,
}


def statistic_and_p_value(
    lines: Sequence[Line], statistic: Statistic, rng: np.random.Generator
) -> tuple[float, float]:
    """(``statistic`` of the printed errors of all ``lines`` together, its p-value among runs of ours)."""
    of_printed = statistic(np.concatenate([line.quantiles for line in lines]))
    return float(of_printed), float(_p_values(of_printed, lines, statistic, rng))


def power(
    lines: Sequence[Line],
    statistic: Statistic,
    times: float,
    level: float,
    rng: np.random.Generator,
) -> float:
    """The share of random runs whose p-value is at most ``level``, if their errors are ``times`` ours.

    There are `RANDOM_RUNS` runs. Each takes a run of ours for every line, multiplied by ``times`` (one of
    `WRONG_FACTORS`) and rounded to the printed digits. The p-value is that of ``statistic``, of all ``lines``
    together.
    """
    of_wrong_runs = statistic(_random_runs(lines, times, rng))
    return float(np.mean(_p_values(of_wrong_runs, lines, statistic, rng) <= level))


def _p_values(
    observed: Floats, lines: Sequence[Line], statistic: Statistic, rng: np.random.Generator
) -> Floats:
    """The p-value of each ``observed`` statistic: the share of random runs with at least as large a one.

    The share is of `RANDOM_RUNS` random runs of ours and the observed one. It is not below 1 / (1 + the
    number of different runs that our repetitions of the ``lines`` can make together).
    """
    statistics_of_ours = np.sort(statistic(_random_runs(lines, 1.0, rng)))
    # 1e-9: equal statistics may differ by rounding.
    at_least = RANDOM_RUNS - np.searchsorted(statistics_of_ours, np.asarray(observed) - 1e-9)
    different_runs = math.prod(len(line.runs[1.0]) for line in lines)
    return np.maximum((1 + at_least) / (1 + RANDOM_RUNS), 1 / (1 + different_runs))


def _random_runs(lines: Sequence[Line], times: float, rng: np.random.Generator) -> Floats:
    """The quantiles of `RANDOM_RUNS` random runs of ours: (runs, cells of all lines).

    A run is a random repetition of each of the ``lines``, side by side, with our errors multiplied by
    ``times``.
    """
    runs = [line.runs[times] for line in lines]
    return np.concatenate([run[rng.integers(len(run), size=RANDOM_RUNS)] for run in runs], axis=1)


def joint_tests(
    values: pd.DataFrame, trials: Trials, users: Mapping[str, int], *, seed: int
) -> pd.DataFrame:
    """Tests whether the paper's errors of single cells can be runs of its protocol, many errors in one test.

    The result has a row for every table (item), mechanism and test. Its columns are item, mechanism, test
    ("Kolmogorov-Smirnov" or "chi-square", of how uniform the quantiles of the printed errors among our draws
    are), statistic, p, corrected_p (by Holm over all rows), and verdict. The columns of `WRONG_FACTORS` are
    the power, a share: how often the test rejects errors that are so many times ours. Its level for this is
    that of Holm's first step, `LEVEL` / the number of tests.

    ``values``, ``trials`` and ``users`` are those of `lines_of_printed_errors`. ``seed`` is the root seed.
    """
    lines_of_group: dict[tuple[str, str], list[Line]] = {}
    for line in lines_of_printed_errors(values, trials, users):
        lines_of_group.setdefault((line.item, line.mechanism), []).append(line)
    number_of_tests = len(lines_of_group) * len(STATISTICS)
    level = LEVEL / max(number_of_tests, 1)  # of Holm's first step

    rows: list[dict[str, Any]] = []
    for (item, mechanism), lines in lines_of_group.items():
        for test, statistic in STATISTICS.items():
            name = {"item": item, "mechanism": mechanism, "test": test}
            # Names of the random numbers. "line" says nothing here, but without it they would be others
            # than in the results.
            streams = name | {"line": ""}
            rng = _rng(seed, stage="joint tests", **streams)
            of_printed, p = statistic_and_p_value(lines, statistic, rng)
            row = {**name, "statistic": of_printed, "p": p}
            for column, times in WRONG_FACTORS.items():
                rng = _rng(seed, stage=column, **streams)
                row[column] = power(lines, statistic, times, level, rng)
            rows.append(row)

    table = pd.DataFrame(
        rows, columns=[name for name in COLUMNS if name not in ("corrected_p", "verdict")]
    )
    table["corrected_p"] = holm_corrected(table["p"])
    table["verdict"] = np.where(table["corrected_p"] <= LEVEL, REJECTED, NOT_REJECTED)
    return table[COLUMNS]


def _rng(seed: int, **names: str) -> np.random.Generator:
    """A random generator whose seed depends on the root seed and on ``names``."""
    return np.random.default_rng(seed_of(seed, **names))


def compare_grids(
    values: pd.DataFrame,
    cells: Mapping[str, pd.DataFrame],
    repetitions: Mapping[str, int],
    *,
    protocol: Protocol,
    seed: int,
) -> pd.DataFrame:
    """How well the printed errors of each city fit our runs on each of its grids.

    The result has a row for every dataset (city), grid, noise of the Gaussian, and numbering of the cells. A
    noise is a delta and a sensitivity: the protocol's, and `OTHER_NOISE`. The numberings are five ways
    in which the paper may have numbered the cells. The columns are `GRID_COLUMNS`: these names, k, n, and

    - p, the p-value of the Kolmogorov-Smirnov test. It tests whether the printed errors' quantiles among our
      runs are uniform, of shuffle+INV and the Gaussian together. p is the mean of `BATCHES` such p-values,
      each from runs of its own.
    - p_error, the standard error of this mean.
    - corrected_p, by Holm over the rows with the same noise and numbering.
    - verdict: "contradicted" if p is at most `LEVEL`, else "not contradicted".

    Parameters
    ----------
    values: the rows of values.csv
    cells: dataset -> a row for each cell of each of its grids, with grid, row, column and count (of users)
    repetitions: dataset -> the repetitions of its table. A batch has `REPETITIONS_FACTOR` times as many runs
    protocol: with the Gaussian's delta and sensitivity
    seed: the root seed
    """
    rows = []
    for dataset, table in cells.items():
        printed = values[(values["dataset"] == dataset) & (values["n"] == "all")]
        printed = printed[printed["quantity"] == "individual_error"]
        if printed.empty:
            continue
        runs = REPETITIONS_FACTOR * repetitions[dataset]
        for grid, cells_of_grid in table.groupby("grid", sort=False):
            rng = _rng(seed, stage="grids", dataset=dataset, grid=str(grid))
            p_values = _p_values_of_grid(printed, cells_of_grid, protocol, runs, rng)
            k = len(cells_of_grid)
            n = cells_of_grid["count"].sum()
            for noise_and_numbering, p in p_values.items():
                p_error = np.std(p, ddof=1) / np.sqrt(BATCHES)
                rows.append((dataset, grid, k, n, *noise_and_numbering, np.mean(p), p_error))

    frame = pd.DataFrame(
        rows, columns=[name for name in GRID_COLUMNS if name not in ("corrected_p", "verdict")]
    )
    same_family = frame.groupby(["delta", "sensitivity", "numbering"])["p"]
    frame["corrected_p"] = same_family.transform(holm_corrected)
    frame["verdict"] = np.where(frame["p"] <= LEVEL, CONTRADICTED, NOT_CONTRADICTED)
    return frame[GRID_COLUMNS]


def numberings(grid: pd.DataFrame) -> dict[str, Integers]:
    """Five ways to number a grid's cells: name -> the number of each cell (k,), in the order of ``grid``.

    ``grid`` has a row for each of the k cells, with its row (0: the southernmost) and column (0: the
    westernmost) in the columns of these names. The first way is ours. All but the last number from 1.
    """
    row = grid["row"].to_numpy()
    column = grid["column"].to_numpy()
    rows = row.max() + 1
    columns = column.max() + 1
    from_south = row * columns + column
    return {
        OUR_NUMBERING: from_south + 1,
        "row by row from the north-west": (rows - 1 - row) * columns + column + 1,
        "column by column from the south-west": column * rows + row + 1,
        "column by column from the north-west": column * rows + (rows - 1 - row) + 1,
        "row by row from the south-west, from 0": from_south,
    }


def _p_values_of_grid(
    printed: pd.DataFrame,
    grid: pd.DataFrame,
    protocol: Protocol,
    runs: int,
    rng: np.random.Generator,
) -> dict[NoiseAndNumbering, list[float]]:
    """(delta, sensitivity, numbering) -> `BATCHES` p-values of a city's ``printed`` errors, on one grid.

    A p-value is that of the Kolmogorov-Smirnov test: are the printed errors' quantiles among our runs
    uniform, of shuffle+INV and the Gaussian together? delta and sensitivity are the Gaussian's. numbering is
    the way in which the paper may have numbered the cells.

    ``printed`` are rows of values.csv, of both mechanisms, all with eps = eps0. The shuffle model's delta is
    0 there, so that the Gaussian's delta is the least one of the protocol, ``delta_floor``. ``grid`` has a
    row for each cell. In every run all users take part. ``runs`` is how many of shuffle+INV a batch has. They
    serve all numberings. The Gaussian's error is |Z| scale / n in every cell, with Z standard normal.
    """
    counts = grid["count"].to_numpy()
    n = int(counts.sum())
    eps0 = float(printed["eps0"].iloc[0])
    eps = float(printed["eps"].iloc[0])
    noises = ((protocol.delta_floor, protocol.sensitivity), OTHER_NOISE)
    printed_gaussian = printed[printed["mechanism"] == "gaussian"]
    printed_shuffle = printed[printed["mechanism"] == "shuffle+INV"]
    p_values: dict[NoiseAndNumbering, list[float]] = {}
    for _ in range(BATCHES):
        noisy = sample_histogram(counts, eps0, rng, repetitions=runs) / n
        errors = np.abs(project_to_simplex(invert(noisy, eps0)) - counts / n)  # (runs, cells)
        shuffle_lines = {}  # of each numbering
        for numbering, numbers in numberings(grid).items():
            # Where the printed cells, which are numbers x0, are in ``grid``.
            positions = [int(np.flatnonzero(numbers == int(x0))[0]) for x0 in printed_shuffle["x0"]]
            shuffle_lines[numbering] = _line_of_rows(printed_shuffle, errors[:, positions])

        normal = np.abs(rng.standard_normal((RANDOM_RUNS, len(printed_gaussian)))) / n
        for delta, sensitivity in noises:
            scale = published_scale(eps, delta, sensitivity)
            gaussian_line = _line_of_rows(printed_gaussian, scale * normal)
            for numbering, shuffle_line in shuffle_lines.items():
                _, p = statistic_and_p_value([gaussian_line, shuffle_line], kolmogorov_smirnov, rng)
                p_values.setdefault((delta, sensitivity, numbering), []).append(p)
    return p_values


def _line_of_rows(rows: pd.DataFrame, draws: Floats) -> Line:
    """The `Line` of a mechanism's printed ``rows``: their quantiles among our draws, and those of the draws.

    ``draws`` (runs, rows) are errors of ours, of the rows' cells. The line has no factor but 1: it is for
    p-values, not for a power.
    """
    cells = [
        quantiles_among_draws(printed, draws[:, cell], wrong_factors=())
        for cell, printed in enumerate(rows["printed"])
    ]
    return _line_of_cells(rows["item"].iloc[0], rows["mechanism"].iloc[0], cells)


if __name__ == "__main__":
    with job() as snakemake:
        files, params = snakemake.input, snakemake.params
        values = read_values(files.values)
        users = read_users(dict(zip(params.datasets, files.histograms, strict=True)))
        tests = joint_tests(values, read_individual_trials(files.trials), users, seed=params.seed)
        cells = dict(zip(params.cities, map(pd.read_csv, files.cells), strict=True))
        protocol = Protocol(**params.protocol)
        grids = compare_grids(
            values, cells, params.repetitions, protocol=protocol, seed=params.seed
        )
        write_csv(tests, snakemake.output.tests)
        write_csv(grids, snakemake.output.grids)
