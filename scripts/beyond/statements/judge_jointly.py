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

from scripts.beyond.statements.verdict_rules import LEVEL, corrected
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
    """The printed errors of one run: one table, mechanism, dataset and n, several cells.

    ``quantiles`` (cells,) of the printed values among our draws, and ``runs``: those of our own draws times 1
    and times each number of `TIMES`, (repetitions, cells) by this factor.
    """

    item: str
    mechanism: str
    quantiles: Floats
    runs: Mapping[float, Floats]


def lines_of(values: pd.DataFrame, trials: Trials, users: Mapping[str, int]) -> list[Line]:
    """The lines of all random errors of single cells for which there are trials, in the order of ``values``.

    ``trials`` and ``users`` as for `judge_values`.
    """
    grouped: dict[tuple[str, ...], list[tuple[float, dict[float, Floats]]]] = {}
    for row in records(values[values["quantity"] == "individual_error"]):
        draws = draws_of(row, trials, users)
        if not isinstance(draws, str):
            key = row["item"], row["mechanism"], row["dataset"], row["n"]
            grouped.setdefault(key, []).append(quantiles(row["printed"], draws))
    lines = []
    for (item, mechanism, _, _), cells in grouped.items():
        printed = np.array([quantile for quantile, _ in cells])
        runs = [run for _, run in cells]
        runs_by_factor = {
            times: np.stack([run[times] for run in runs], axis=1) for times in runs[0]
        }
        lines.append(Line(item, mechanism, printed, runs_by_factor))
    return lines


def quantiles(
    printed: str, draws: Floats, factors: Sequence[float] = (1.0, *TIMES.values())
) -> tuple[float, dict[float, Floats]]:
    """Mid-rank quantiles among ``draws`` (repetitions,): of a printed value, and of ``factors`` times ours.

    The draws are rounded to as many significant digits as are printed. The mid-rank is the share below and
    half of the share of ties.
    """
    value = printed_to_decimal(printed)
    digits = len(value.as_tuple().digits)
    ordered = np.sort(round_as_printed(draws, digits))

    def among(numbers: Floats) -> Floats:
        below = np.searchsorted(ordered, numbers, "left")
        at_most = np.searchsorted(ordered, numbers, "right")
        return np.asarray((below + at_most) / (2 * len(ordered)))

    ours = {times: among(round_as_printed(times * draws, digits)) for times in factors}
    return float(among(np.array([float(value)]))[0]), ours


def round_as_printed(numbers: Floats, digits: int) -> Floats:
    """``numbers`` (n,), all >= 0, rounded to ``digits`` significant digits as Python prints them.

    Python rounds the exact binary value, and a tie to the even digit. Here whole arrays are scaled, so that
    their last digit is that of the ones. `decimal` decides where this could differ: near a tie, and where a
    power of ten is no exact float.
    """
    positive = numbers > 0
    exponents = np.floor(np.log10(numbers, where=positive, out=np.zeros(len(numbers))))
    places = digits - 1 - exponents
    exact_power = (places >= 0) & (places <= EXACT_POWERS)
    power = 10.0 ** np.where(exact_power, places, 0)
    scaled = numbers * power
    rounded = np.asarray(np.rint(scaled) / power)

    from_tie = np.abs(scaled - np.floor(scaled) - 0.5)
    doubtful = ~exact_power | (from_tie <= 4 * np.spacing(scaled))
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

    ``times``: one of `TIMES`. A share of `RUNS` random runs of ours, one for each line, multiplied and
    rounded to the printed digits.
    """
    of_wrong_runs = statistic(_random_runs(lines, times, rng))
    return float(np.mean(_p_values(of_wrong_runs, lines, statistic, rng) <= level))


def _p_values(
    observed: Floats, lines: Sequence[Line], statistic: Statistic, rng: np.random.Generator
) -> Floats:
    """The share of `RUNS` random runs of ours whose statistic is at least each of the ``observed`` ones."""
    null = np.sort(statistic(_random_runs(lines, 1.0, rng)))
    above = RUNS - np.searchsorted(null, np.asarray(observed) - 1e-9)
    different = math.prod(len(line.runs[1.0]) for line in lines)  # number of distinct runs
    return np.maximum((1 + above) / (1 + RUNS), 1 / (1 + different))


def _random_runs(lines: Sequence[Line], times: float, rng: np.random.Generator) -> Floats:
    """`RUNS` random repetitions of each line, side by side: (runs, cells of all lines)."""
    runs = [line.runs[times] for line in lines]
    return np.concatenate([run[rng.integers(len(run), size=RUNS)] for run in runs], axis=1)


def joint_tests(
    values: pd.DataFrame, trials: Trials, users: Mapping[str, int], *, seed: int
) -> pd.DataFrame:
    """Every test of a table and mechanism as a row: the columns `COLUMNS`.

    The p-values are corrected together (Holm); the columns of `TIMES` have each test's `power` at the level
    of Holm's first step. ``seed``: the root seed; the other arguments as for `lines_of`.
    """
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in lines_of(values, trials, users):
        groups.setdefault((line.item, line.mechanism), []).append(line)
    level = LEVEL / max(len(groups) * len(STATISTICS), 1)
    rows: list[dict[str, Any]] = []
    for (item, mechanism), lines in groups.items():
        for test, statistic in STATISTICS.items():
            name = {"item": item, "mechanism": mechanism, "test": test}
            # A name in the streams of random numbers since their first version.
            streams = name | {"line": ""}
            of_printed, p = p_value(lines, statistic, _rng(seed, stage="joint tests", **streams))
            powers = {
                column: power(lines, statistic, times, level, _rng(seed, stage=column, **streams))
                for column, times in TIMES.items()
            }
            rows.append({**name, "statistic": of_printed, "p": p, **powers})
    table = pd.DataFrame(
        rows, columns=[name for name in COLUMNS if name not in ("corrected_p", "verdict")]
    )
    table["corrected_p"] = corrected(table["p"])
    table["verdict"] = np.where(table["corrected_p"] <= LEVEL, REJECTED, NOT_REJECTED)
    return table[COLUMNS]


def _rng(seed: int, **names: str) -> np.random.Generator:
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

    One row per noise (the protocol's, and `OTHER_NOISE`), numbering (`numberings`), dataset and grid. Its p
    is the p-value (`p_value`) of the Kolmogorov-Smirnov distance of the printed values' quantiles, both
    mechanisms together, from the uniform distribution: the mean of `BATCHES` p-values, each from runs of its
    own, and p_error is the standard error of this mean. corrected_p is Holm's over the rows of one noise and
    numbering. The verdict is on p alone: `CONTRADICTED` or `NOT_CONTRADICTED`.

    ``values``: rows of values.csv; ``cells``: dataset -> its cells in every kind of grid, as
    `data.grid.all_cells` gives them; ``repetitions``: dataset -> those of its table of individual errors, a
    batch has `TIMES_REPETITIONS` as many; ``seed``: the root seed. All users of a grid are taken.
    """
    rows = []
    for dataset, table in cells.items():
        printed = values[(values["dataset"] == dataset) & (values["n"] == "all")]
        printed = printed[printed["quantity"] == "individual_error"]
        for grid, cells_of_grid in table.groupby("grid", sort=False):
            if printed.empty:
                continue
            runs = TIMES_REPETITIONS * repetitions[dataset]
            rng = _rng(seed, stage="grids", dataset=dataset, grid=str(grid))
            p_values = _grid_p_values(printed, cells_of_grid, protocol, runs, rng)
            k = len(cells_of_grid)
            n = cells_of_grid["count"].sum()
            rows += [(dataset, grid, k, n, *setting, *p) for setting, p in p_values.items()]
    frame = pd.DataFrame(
        rows, columns=[name for name in GRID_COLUMNS if name not in ("corrected_p", "verdict")]
    )
    frame["corrected_p"] = frame.groupby(["delta", "sensitivity", "numbering"])["p"].transform(
        corrected
    )
    frame["verdict"] = np.where(frame["p"] <= LEVEL, CONTRADICTED, NOT_CONTRADICTED)
    return frame[GRID_COLUMNS]


def numberings(grid: pd.DataFrame) -> dict[str, Integers]:
    """Ways to number a grid's cells: name -> the number of each cell, in the order of ``grid``.

    ``grid``: its cells, with their row (0: the southernmost) and column (0: the westernmost). Ours is first.
    """
    row, column = grid["row"].to_numpy(), grid["column"].to_numpy()
    rows, columns = row.max() + 1, column.max() + 1
    from_south = row * columns + column
    return {
        OUR_NUMBERING: from_south + 1,
        "row by row from the north-west": (rows - 1 - row) * columns + column + 1,
        "column by column from the south-west": column * rows + row + 1,
        "column by column from the north-west": column * rows + (rows - 1 - row) + 1,
        "row by row from the south-west, from 0": from_south,
    }


def _grid_p_values(
    printed: pd.DataFrame,
    grid: pd.DataFrame,
    protocol: Protocol,
    runs: int,
    rng: np.random.Generator,
) -> dict[Setting, tuple[float, float]]:
    """p and p_error of one grid for `compare_grids`; ``printed``: a city's errors, all with eps = eps0.

    There delta_hat is 0, so the Gaussian's delta is the protocol's floor. All users take part, so its error
    is |Z| scale / n on every grid, and ``runs`` of k-RR are drawn once for all numberings.
    """
    counts = grid["count"].to_numpy()
    n = int(counts.sum())
    eps0 = float(printed["eps0"].iloc[0])
    eps = float(printed["eps"].iloc[0])
    noises = ((protocol.delta_floor, protocol.sensitivity), OTHER_NOISE)
    rows = {
        mechanism: printed[printed["mechanism"] == mechanism]
        for mechanism in ("gaussian", "shuffle+INV")
    }
    p_values: dict[Setting, list[float]] = {}
    for _ in range(BATCHES):
        noisy = sample_histogram(counts, eps0, rng, repetitions=runs) / n
        shuffled = np.abs(project_to_simplex(invert(noisy, eps0)) - counts / n)
        lines = {}
        for name, numbers in numberings(grid).items():
            places = [
                int(np.flatnonzero(numbers == int(x0))[0]) for x0 in rows["shuffle+INV"]["x0"]
            ]
            lines[name] = _line(rows["shuffle+INV"], shuffled[:, places])
        normal = np.abs(rng.standard_normal((RUNS, len(rows["gaussian"])))) / n
        for delta, sensitivity in noises:
            gaussian = _line(rows["gaussian"], published_scale(eps, delta, sensitivity) * normal)
            for name, line in lines.items():
                p = p_value([gaussian, line], kolmogorov_smirnov, rng)[1]
                p_values.setdefault((delta, sensitivity, name), []).append(p)
    return {
        setting: (float(np.mean(p)), float(np.std(p, ddof=1) / np.sqrt(BATCHES)))
        for setting, p in p_values.items()
    }


def _line(rows: pd.DataFrame, draws: Floats) -> Line:
    """The line of a mechanism's printed ``rows``; ``draws`` (runs, rows): our errors of their cells."""
    of_printed = []
    of_draws = []
    for cell, printed in enumerate(rows["printed"]):
        quantile, runs = quantiles(printed, draws[:, cell], [1.0])
        of_printed.append(quantile)
        of_draws.append(runs[1.0])
    item = rows["item"].iloc[0]
    mechanism = rows["mechanism"].iloc[0]
    return Line(item, mechanism, np.array(of_printed), {1.0: np.stack(of_draws, axis=1)})


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
