"""Joint tests of random values: whether the errors of Tables V and VI can be runs of the published protocol.

A test of one printed value against an interval of 99 % is weak. Here each printed value becomes its quantile
among our runs. Under the published protocol these quantiles are uniform, up to zeros and rounding, and two
statistics measure how uniform they are. The distribution of a statistic comes from our own runs, treated like
the printed values, so it includes zeros, rounding and the dependence between the cells of one run. `power` is
how often a test rejects wrong errors. data/published/README.md states the rule.
"""

import decimal
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from scripts.beyond.statements.verdict_rules import LEVEL, holm_corrected
from scripts.paper.trials.run_trials import Protocol
from scripts.paper.values.judge_values import Trials, draws_of, read_individual_trials, read_users
from scripts.shared.job import job, write_csv
from scripts.shared.printed import printed_to_decimal, read_values, records
from scripts.shared.published_gaussian import published_scale
from tightshuffle.arguments import Floats, Integers
from tightshuffle.krr import invert, project_to_simplex, sample_histogram
from tightshuffle.numerics.seeds import seed_of

REJECTED, NOT_REJECTED = "rejected", "not rejected"  # of a joint test
CONTRADICTED, NOT_CONTRADICTED = "contradicted", "not contradicted"  # of a city's grid
# Column: errors over ours.
TIMES = {"power_half": 0.5, "power_sqrt2": math.sqrt(2), "power_double": 2.0}
RUNS = 20_000  # random runs of ours that give the distribution of a statistic
EXACT_POWERS = 22  # powers of ten up to 10^22 are exact floats
QUARTERS = 4  # bins of the chi-square statistic
COLUMNS = ["item", "mechanism", "test", "statistic", "p", "corrected_p", "verdict", *TIMES]
GRID_COLUMNS = [
    "dataset", "grid", "k", "n", "delta", "sensitivity", "numbering",
    "p", "p_error", "corrected_p", "verdict",
]  # fmt: skip
# delta, sensitivity: another noise that fits the printed errors (docs/errata.md, 7).
OTHER_NOISE = (1e-10, 1.0)
OUR_NUMBERING = "row by row from the south-west"  # as in `data.grid`
# A p-value of 0.006 has a standard error of 0.0002 by 10 x 5,000 runs of the table's 1,000 repetitions.
BATCHES, TIMES_REPETITIONS = 10, 5
Setting = tuple[float, float, str]  # delta, sensitivity, numbering
Statistic = Callable[[Floats], Floats]  # quantiles (runs, values) -> (runs,)


@dataclass(frozen=True)
class Line:
    """The printed errors of one run, as quantiles: one table, mechanism, dataset and n, several cells.

    ``quantiles`` (cells,) are those of the printed values among our draws. ``runs`` is a factor -> the
    quantiles of our own draws times this factor, of shape (repetitions, cells). The factors are 1 and those
    of `TIMES`.
    """

    item: str
    mechanism: str
    quantiles: Floats
    runs: Mapping[float, Floats]


def lines_of(values: pd.DataFrame, trials: Trials, users: Mapping[str, int]) -> list[Line]:
    """A `Line` for every table, mechanism, dataset and n: the printed errors of its cells among our draws.

    ``values`` are rows of values.csv, whose order the lines have. A printed error without trials of ours is
    left out. ``trials`` has our draws, and ``users`` is dataset -> all its users, both as for `judge_values`.
    """
    lines: dict[tuple[str, ...], list[tuple[float, dict[float, Floats]]]] = {}
    for row in records(values[values["quantity"] == "individual_error"]):
        draws = draws_of(row, trials, users)
        if isinstance(draws, str):  # why there are none
            continue
        key = row["item"], row["mechanism"], row["dataset"], row["n"]
        lines.setdefault(key, []).append(quantiles(row["printed"], draws))
    return [_line(item, mechanism, cells) for (item, mechanism, _, _), cells in lines.items()]


def _line(item: str, mechanism: str, cells: list[tuple[float, dict[float, Floats]]]) -> Line:
    """The `Line` of a table and mechanism whose cells have these results of `quantiles`."""
    printed = np.array([of_printed for of_printed, _ in cells])
    runs_of_cells = [runs for _, runs in cells]
    runs = {
        factor: np.stack([runs[factor] for runs in runs_of_cells], axis=1)
        for factor in runs_of_cells[0]
    }
    return Line(item, mechanism, printed, runs)


def quantiles(
    printed: str, draws: Floats, factors: Sequence[float] = (1.0, *TIMES.values())
) -> tuple[float, dict[float, Floats]]:
    """Quantiles among our ``draws``: of a printed value, and of each of ``factors`` times our draws.

    ``draws`` (repetitions,) are errors of ours. The second result is factor -> (repetitions,). All numbers
    are rounded to as many significant digits as are printed. A quantile is a mid-rank: the share of draws
    below, and half of the share of equal ones.
    """
    value = printed_to_decimal(printed)
    digits = len(value.as_tuple().digits)
    ordered = np.sort(round_as_printed(draws, digits))

    def mid_ranks(numbers: Floats) -> Floats:
        below = np.searchsorted(ordered, numbers, "left")
        at_most = np.searchsorted(ordered, numbers, "right")
        return np.asarray((below + at_most) / (2 * len(ordered)))

    of_printed = float(mid_ranks(np.array([float(value)]))[0])
    of_draws = {times: mid_ranks(round_as_printed(times * draws, digits)) for times in factors}
    return of_printed, of_draws


def round_as_printed(numbers: Floats, digits: int) -> Floats:
    """``numbers`` (n,), all >= 0, rounded to ``digits`` significant digits as Python prints them.

    Python rounds the exact binary value, and a tie to the even digit. Here the whole array is scaled, so that
    the last digit of each number is that of the ones, and rounded at once. Where this could differ `decimal`
    decides: near a tie, and where the power of ten is no exact float.
    """
    positive = numbers > 0
    exponents = np.floor(np.log10(numbers, where=positive, out=np.zeros(len(numbers))))
    places = digits - 1 - exponents
    exact_power = (places >= 0) & (places <= EXACT_POWERS)
    power = 10.0 ** np.where(exact_power, places, 0)
    scaled = numbers * power
    rounded = np.asarray(np.rint(scaled) / power)

    # A few roundings away from a tie, the nearest integer is certain.
    from_tie = np.abs(scaled - np.floor(scaled) - 0.5)
    doubtful = ~exact_power | (from_tie <= 4 * np.spacing(scaled))

    # Many draws are equal: each different number is rounded once.
    values, position = np.unique(numbers[doubtful], return_inverse=True)
    context = decimal.Context(prec=digits, rounding=decimal.ROUND_HALF_EVEN)
    by_decimal = [float(context.create_decimal_from_float(value)) for value in values.tolist()]
    rounded[doubtful] = np.array(by_decimal, dtype=float)[position]
    return rounded


def kolmogorov_smirnov(quantiles: Floats) -> Floats:
    """Largest distance of the empirical distribution of the last axis from the uniform one on [0, 1]."""
    ordered = np.sort(quantiles, axis=-1)
    steps = np.arange(ordered.shape[-1] + 1) / ordered.shape[-1]
    return np.maximum(steps[1:] - ordered, ordered - steps[:-1]).max(axis=-1)


def chi_square(quantiles: Floats) -> Floats:
    """Pearson's statistic of how many of the last axis are in each of the four quarters of [0, 1]."""
    bins = np.minimum((np.asarray(quantiles) * QUARTERS).astype(int), QUARTERS - 1)
    counts = (bins[..., None] == np.arange(QUARTERS)).sum(axis=-2)
    return np.asarray(stats.chisquare(counts, axis=-1).statistic)


STATISTICS: dict[str, Statistic] = {
    "Kolmogorov-Smirnov": kolmogorov_smirnov,
    "chi-square": chi_square,
}


def p_value(
    lines: Sequence[Line], statistic: Statistic, rng: np.random.Generator
) -> tuple[float, float]:
    """(statistic of the printed values of ``lines``, its p-value among `RUNS` random runs of ours)."""
    of_printed = statistic(np.concatenate([line.quantiles for line in lines]))
    return float(of_printed), float(_p_values(of_printed, lines, statistic, rng))


def power(
    lines: Sequence[Line],
    statistic: Statistic,
    times: float,
    level: float,
    rng: np.random.Generator,
) -> float:
    """How often the test of ``lines`` rejects at ``level`` if the errors are ``times`` ours.

    This is a share of `RUNS` random runs. Each takes a run of ours for every line, multiplied by ``times``
    (one of `TIMES`) and rounded to the printed digits.
    """
    of_wrong_runs = statistic(_random_runs(lines, times, rng))
    return float(np.mean(_p_values(of_wrong_runs, lines, statistic, rng) <= level))


def _p_values(
    observed: Floats, lines: Sequence[Line], statistic: Statistic, rng: np.random.Generator
) -> Floats:
    """The p-values of ``observed`` statistics: the share of random runs of ours with at least as large a one.

    The share is of `RUNS` runs and the observed one. It is not below the share of one among all different
    runs that our repetitions of the lines can make together.
    """
    null = np.sort(statistic(_random_runs(lines, 1.0, rng)))
    # 1e-9: equal statistics may differ by rounding.
    at_least = RUNS - np.searchsorted(null, np.asarray(observed) - 1e-9)
    different_runs = math.prod(len(line.runs[1.0]) for line in lines)
    return np.maximum((1 + at_least) / (1 + RUNS), 1 / (1 + different_runs))


def _random_runs(lines: Sequence[Line], times: float, rng: np.random.Generator) -> Floats:
    """`RUNS` random repetitions of each line, side by side: (runs, cells of all lines)."""
    runs = [line.runs[times] for line in lines]
    return np.concatenate([run[rng.integers(len(run), size=RUNS)] for run in runs], axis=1)


def joint_tests(
    values: pd.DataFrame, trials: Trials, users: Mapping[str, int], *, seed: int
) -> pd.DataFrame:
    """The joint tests of the printed errors of single cells: a row for every table, mechanism and statistic.

    The arguments are those of `lines_of`, and the root seed. The columns are `COLUMNS`: item, mechanism, test
    (a name of `STATISTICS`), statistic, p, corrected_p (Holm's, over all rows), verdict, and for each factor
    of `TIMES` the test's power against errors that are so many times ours, at the level of Holm's first step.
    """
    lines_of_group: dict[tuple[str, str], list[Line]] = {}
    for line in lines_of(values, trials, users):
        lines_of_group.setdefault((line.item, line.mechanism), []).append(line)
    number_of_tests = len(lines_of_group) * len(STATISTICS)
    level = LEVEL / max(number_of_tests, 1)

    rows: list[dict[str, Any]] = []
    for (item, mechanism), lines in lines_of_group.items():
        for test, statistic in STATISTICS.items():
            name = {"item": item, "mechanism": mechanism, "test": test}
            # Without "line", which says nothing here, all random numbers would be others than in the results.
            streams = name | {"line": ""}
            of_printed, p = p_value(lines, statistic, _rng(seed, stage="joint tests", **streams))
            row = {**name, "statistic": of_printed, "p": p}
            for column, times in TIMES.items():
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
    """A random generator for what has these ``names``, from the root seed."""
    return np.random.default_rng(seed_of(seed, **names))


def compare_grids(
    values: pd.DataFrame,
    cells: Mapping[str, pd.DataFrame],
    repetitions: Mapping[str, int],
    *,
    protocol: Protocol,
    seed: int,
) -> pd.DataFrame:
    """How well the printed errors of a city fit our runs on each of its grids: the columns `GRID_COLUMNS`.

    There is a row for every noise (the protocol's, and `OTHER_NOISE`), numbering of cells (`numberings`),
    dataset and grid. Its p-value is that of the Kolmogorov-Smirnov distance of the printed values' quantiles,
    of both mechanisms together, from the uniform distribution. ``p`` is the mean of `BATCHES` such p-values,
    each from runs of its own, and ``p_error`` the standard error of this mean. ``corrected_p`` is Holm's over
    the rows of one noise and numbering. The verdict is on ``p`` alone.

    ``values`` are rows of values.csv. ``cells`` is dataset -> its cells in every kind of grid, as
    `data.grid.all_cells` gives them. ``repetitions`` is dataset -> those of its table of individual errors,
    and a batch has `TIMES_REPETITIONS` times as many. ``seed`` is the root seed. All users of a grid are
    taken.
    """
    rows = []
    for dataset, table in cells.items():
        printed = values[(values["dataset"] == dataset) & (values["n"] == "all")]
        printed = printed[printed["quantity"] == "individual_error"]
        if printed.empty:
            continue
        runs = TIMES_REPETITIONS * repetitions[dataset]
        for grid, cells_of_grid in table.groupby("grid", sort=False):
            rng = _rng(seed, stage="grids", dataset=dataset, grid=str(grid))
            p_values = _p_values_of_grid(printed, cells_of_grid, protocol, runs, rng)
            k = len(cells_of_grid)
            n = cells_of_grid["count"].sum()
            for setting, p in p_values.items():
                p_error = np.std(p, ddof=1) / np.sqrt(BATCHES)
                rows.append((dataset, grid, k, n, *setting, np.mean(p), p_error))

    frame = pd.DataFrame(
        rows, columns=[name for name in GRID_COLUMNS if name not in ("corrected_p", "verdict")]
    )
    same_family = frame.groupby(["delta", "sensitivity", "numbering"])["p"]
    frame["corrected_p"] = same_family.transform(holm_corrected)
    frame["verdict"] = np.where(frame["p"] <= LEVEL, CONTRADICTED, NOT_CONTRADICTED)
    return frame[GRID_COLUMNS]


def numberings(grid: pd.DataFrame) -> dict[str, Integers]:
    """Ways to number a grid's cells: name -> the number of each cell, in the order of ``grid``.

    ``grid`` has a row for each cell, with its row (0: the southernmost) and column (0: the westernmost). The
    first way is ours. All but the last number from 1.
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
) -> dict[Setting, list[float]]:
    """(delta, sensitivity, numbering) -> `BATCHES` p-values of a city's ``printed`` errors, on one grid.

    `compare_grids` says which p-values. ``printed`` are rows of values.csv, of both mechanisms, all with eps
    = eps0. There delta_hat is 0, so the Gaussian's delta is the protocol's floor. ``grid`` has a row for each
    cell. All users take part. So the Gaussian's error is |Z| scale / n in every cell, with Z standard normal,
    and a batch's ``runs`` of k-RR are drawn once for all numberings.
    """
    counts = grid["count"].to_numpy()
    n = int(counts.sum())
    eps0 = float(printed["eps0"].iloc[0])
    eps = float(printed["eps"].iloc[0])
    noises = ((protocol.delta_floor, protocol.sensitivity), OTHER_NOISE)
    printed_gaussian = printed[printed["mechanism"] == "gaussian"]
    printed_shuffle = printed[printed["mechanism"] == "shuffle+INV"]
    p_values: dict[Setting, list[float]] = {}
    for _ in range(BATCHES):
        noisy = sample_histogram(counts, eps0, rng, repetitions=runs) / n
        errors = np.abs(project_to_simplex(invert(noisy, eps0)) - counts / n)  # (runs, cells)
        shuffle_lines = {}
        for numbering, numbers in numberings(grid).items():
            positions = [int(np.flatnonzero(numbers == int(x0))[0]) for x0 in printed_shuffle["x0"]]
            shuffle_lines[numbering] = _line_of_rows(printed_shuffle, errors[:, positions])

        normal = np.abs(rng.standard_normal((RUNS, len(printed_gaussian)))) / n
        for delta, sensitivity in noises:
            scale = published_scale(eps, delta, sensitivity)
            gaussian_line = _line_of_rows(printed_gaussian, scale * normal)
            for numbering, shuffle_line in shuffle_lines.items():
                _, p = p_value([gaussian_line, shuffle_line], kolmogorov_smirnov, rng)
                p_values.setdefault((delta, sensitivity, numbering), []).append(p)
    return p_values


def _line_of_rows(rows: pd.DataFrame, draws: Floats) -> Line:
    """The `Line` of a mechanism's printed ``rows``, with no factor but 1.

    ``draws`` (runs, rows) are errors of ours, of the rows' cells.
    """
    cells = [
        quantiles(printed, draws[:, cell], [1.0]) for cell, printed in enumerate(rows["printed"])
    ]
    return _line(rows["item"].iloc[0], rows["mechanism"].iloc[0], cells)


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
