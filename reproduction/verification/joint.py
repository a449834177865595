"""Joint tests of random values: whether the errors of Tables V and VI can be runs of the published protocol.

A test of one printed value against an interval of 99 % is weak. Here each printed value becomes its quantile
among our runs. Under the published protocol these quantiles are uniform, up to zeros and rounding, and two
statistics measure how uniform they are. The distribution of a statistic comes from our own runs, treated like
the printed values, so it includes zeros, rounding and the dependence between the cells of one run. `power` is
how often a test rejects wrong errors. data/published/README.md states the rule.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy import stats

from reproduction.protocol.trials import Protocol, run_points
from reproduction.verification.claims.verdict_rules import LEVEL, corrected
from reproduction.verification.printed import printed_to_decimal, records
from reproduction.verification.values import POINT, Point, Trials, draws_of
from reproduction.verification.verdicts import CONTRADICTED, NOT_CONTRADICTED, NOT_REJECTED, REJECTED, TIMES
from tightshuffle.arguments import Floats
from tightshuffle.numerics.seeds import seed_of

RUNS = 20_000  # random runs of ours that give the distribution of a statistic
BOTH = "both"  # tables, or mechanisms
QUARTERS = 4  # bins of the chi-square statistic
COLUMNS = [
    "item", "mechanism", "line", "test", "values", "below_median", "statistic", "p", "corrected_p", "verdict",
    *TIMES,
]  # fmt: skip
GRID_COLUMNS = [
    "dataset", "grid", "k", "n", "mechanism", "values", "below_median", "statistic", "p", "verdict", "tv",
]  # fmt: skip
Statistic = Callable[[Floats], Floats]  # quantiles (runs, values) -> (runs,)


@dataclass(frozen=True)
class Line:
    """The printed errors of one run: one table, mechanism, dataset and n, several cells.

    ``quantiles`` (cells,) of the printed values among our draws, and ``runs`` (repetitions, cells), the same
    of our own draws: mid-ranks, after rounding to the digits of the printed values. ``scaled``: the same of
    our draws multiplied by each number of `TIMES`, (repetitions, cells) by its column.
    """

    item: str
    mechanism: str
    dataset: str
    n: str
    quantiles: Floats
    runs: Floats
    scaled: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def below(self) -> int:
        """How many printed values are below the median of ours."""
        return int(np.sum(self.quantiles < 0.5))


def lines_of(values: pd.DataFrame, trials: Trials, users: Mapping[str, int]) -> list[Line]:
    """The lines of all random errors of single cells for which there are trials, in the order of ``values``.

    ``trials`` and ``users`` as for `judge_values`.
    """
    grouped: dict[tuple[str, str, str, str], list[tuple[str, Floats]]] = {}
    for row in records(values[values["quantity"] == "individual_error"]):
        draws = draws_of(row, trials, users)
        if not isinstance(draws, str):
            key = row["item"], row["mechanism"], row["dataset"], row["n"]
            grouped.setdefault(key, []).append((row["printed"], draws))
    lines = []
    for key, cells in grouped.items():
        seen, runs = zip(*(quantiles(*cell) for cell in cells), strict=True)
        scaled = {
            name: np.stack([_scaled_quantiles(*cell, times) for cell in cells], axis=1)
            for name, times in TIMES.items()
        }
        lines.append(Line(*key, np.array(seen), np.stack(runs, axis=1), scaled))
    return lines


def quantiles(printed: str, draws: Floats) -> tuple[float, Floats]:
    """The mid-rank quantile of a printed value among ``draws`` (repetitions,), and those of the draws.

    The draws are rounded to as many significant digits as are printed.
    """
    rounded = _rounded(printed, draws)
    value = float(printed_to_decimal(printed))
    among = np.mean(rounded < value) + np.mean(rounded == value) / 2
    return float(among), _among(rounded, rounded)


def _scaled_quantiles(printed: str, draws: Floats, times: float) -> Floats:
    """The mid-rank quantiles of ``times`` our draws among our draws, all rounded as in `quantiles`."""
    return _among(_rounded(printed, draws), _rounded(printed, times * draws))


def _rounded(printed: str, draws: Floats) -> Floats:
    """``draws`` to as many significant digits as are printed."""
    digits = len(printed_to_decimal(printed).as_tuple().digits)
    return np.array([float(f"{draw:.{digits - 1}e}") for draw in draws])


def _among(draws: Floats, values: Floats) -> Floats:
    """The mid-rank quantile of each of ``values`` among ``draws``: the share below, and half of the ties."""
    ordered = np.sort(draws)
    ends = [np.searchsorted(ordered, values, side) for side in ("left", "right")]
    return np.asarray((ends[0] + ends[1]) / (2 * len(ordered)))


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


def one_sided(quantiles: Floats) -> Floats:
    """How far the number of values below the median is from one half of them, in either direction."""
    quantiles = np.asarray(quantiles)
    return np.abs(np.sum(quantiles < 0.5, axis=-1) - quantiles.shape[-1] / 2)


def p_value(lines: Sequence[Line], statistic: Statistic, rng: np.random.Generator) -> tuple[float, float]:
    """(statistic of the printed values of ``lines``, its p-value among `RUNS` random runs of ours)."""
    seen = statistic(np.concatenate([line.quantiles for line in lines]))
    return float(seen), float(_p_values(seen, lines, statistic, rng))


def power(
    lines: Sequence[Line], statistic: Statistic, scaled: str, level: float, rng: np.random.Generator
) -> float:
    """How often the test of ``lines`` rejects at ``level`` if the errors are a multiple of ours.

    ``scaled``: a column of `TIMES`, which says how many times ours they are. A share of `RUNS` random runs of
    ours, one for each line, multiplied and rounded to the printed digits.
    """
    found = statistic(_random_runs([line.scaled[scaled] for line in lines], rng))
    return float(np.mean(_p_values(found, lines, statistic, rng) <= level))


def _p_values(seen: Floats, lines: Sequence[Line], statistic: Statistic, rng: np.random.Generator) -> Floats:
    """The share of `RUNS` random runs of ours whose statistic is at least each of ``seen``."""
    null = np.sort(statistic(_random_runs([line.runs for line in lines], rng)))
    above = RUNS - np.searchsorted(null, np.asarray(seen) - 1e-9)
    different = math.prod(len(line.runs) for line in lines)  # number of distinct runs
    return np.maximum((1 + above) / (1 + RUNS), 1 / (1 + different))


def _random_runs(runs: Sequence[Floats], rng: np.random.Generator) -> Floats:
    """`RUNS` random repetitions of each line, side by side: (runs, cells of all lines)."""
    return np.concatenate([line[rng.integers(len(line), size=RUNS)] for line in runs], axis=1)


def joint_tests(values: pd.DataFrame, trials: Trials, users: Mapping[str, int], *, seed: int) -> pd.DataFrame:
    """Every test as a row: the columns `COLUMNS`.

    The tests of each table and mechanism come first; they alone have a corrected p-value (Holm, all of them
    together), a verdict, `REJECTED` or `NOT_REJECTED`, and the test's `power` at the level of Holm's first
    step, in the columns of `TIMES`. The rows of both tables and of single lines are for information.
    ``seed``: the root seed; the other arguments as for `lines_of`.
    """
    lines = lines_of(values, trials, users)
    uniform: dict[str, Statistic] = {"Kolmogorov-Smirnov": kolmogorov_smirnov, "chi-square": chi_square}
    sides: dict[str, Statistic] = {"number below the median": one_sided}
    by_table: dict[tuple[str, str, str], list[Line]] = {}
    by_mechanism: dict[tuple[str, str, str], list[Line]] = {}
    for line in lines:
        by_table.setdefault((line.item, line.mechanism, ""), []).append(line)
        by_mechanism.setdefault((BOTH, line.mechanism, ""), []).append(line)
    alone = {(line.item, line.mechanism, f"{line.dataset}, n = {line.n}"): [line] for line in lines}
    judged = _tested(by_table, uniform, seed, powers=TIMES)
    others = [_tested(by_mechanism, uniform | sides, seed), _tested(alone, sides, seed)]
    rows = pd.concat([judged.assign(corrected_p=corrected(judged["p"])), *others], ignore_index=True)
    rows = rows.reindex(columns=COLUMNS)
    verdicts = np.where(rows["corrected_p"] <= LEVEL, REJECTED, NOT_REJECTED)
    return rows.assign(verdict=np.where(rows["corrected_p"].isna(), "", verdicts))


def _tested(
    groups: Mapping[tuple[str, str, str], Sequence[Line]],
    tests: Mapping[str, Statistic],
    seed: int,
    powers: Iterable[str] = (),
) -> pd.DataFrame:
    """Each test of each group as a row, with the ``powers`` (columns of `TIMES`) of Holm's first step."""
    rows: list[dict[str, Any]] = []
    level = LEVEL / max(len(groups) * len(tests), 1)
    for (item, mechanism, line), lines in groups.items():
        for test, statistic in tests.items():
            name = {"item": item, "mechanism": mechanism, "line": line, "test": test}
            seen, p = p_value(lines, statistic, _rng(seed, stage="joint tests", **name))
            counts = {"values": sum(len(each.quantiles) for each in lines)}
            counts |= {"below_median": sum(each.below for each in lines)}
            row: dict[str, Any] = {**name, **counts, "statistic": seen, "p": p}
            for column in powers:
                row[column] = power(lines, statistic, column, level, _rng(seed, stage=column, **name))
            rows.append(row)
    columns = [name for name in COLUMNS if name not in {"corrected_p", "verdict", *TIMES}.difference(powers)]
    return pd.DataFrame(rows, columns=columns)


def _rng(seed: int, **names: str) -> np.random.Generator:
    return np.random.default_rng(seed_of(seed, **names))


def compare_grids(
    values: pd.DataFrame,
    cells: Mapping[str, pd.DataFrame],
    settings: Mapping[str, Mapping[str, Any]],
    *,
    protocol: Protocol,
    seed: int,
) -> pd.DataFrame:
    """How well the printed errors of a city fit our runs on each of its grids: the columns `GRID_COLUMNS`.

    Parameters
    ----------
    values : rows of values.csv
    cells : dataset -> its cells in every kind of grid, as `data.grid.all_cells` gives them
    settings : dataset -> the config's section ``individual``; all users of a grid are taken
    protocol, seed : as for `run_points`

    Returns
    -------
    One row per dataset, grid and mechanism, and one for "both": how many printed values there are, how many
    of them are below our median, the Kolmogorov-Smirnov distance of their quantiles from the uniform
    distribution and its p-value (`p_value`), and our mean TV distance. The numbers of the cells are those of
    the grid itself. Only "both" has a verdict, `CONTRADICTED` or `NOT_CONTRADICTED`.
    """
    rows = []
    for dataset, table in cells.items():
        printed = values[(values["dataset"] == dataset) & (values["n"] == "all")]
        for grid, part in table.groupby("grid", sort=False):
            counts = part["count"].to_numpy()
            k, n = len(counts), int(counts.sum())
            runs = run_points(
                counts,
                _points(settings[dataset]),
                dataset=dataset,
                cells=[cell for cell in settings[dataset]["cells"] if cell <= k],
                protocol=protocol,
                seed=seed,
            )
            trials = {cast(Point, point): trial for point, trial in runs.groupby(POINT)}
            lines = lines_of(printed.assign(k=str(k)), trials, {dataset: n})
            tv = runs[runs["metric"] == "tv"].groupby("mechanism")["value"].mean()
            for name in (*dict.fromkeys(line.mechanism for line in lines), *([BOTH] if lines else [])):
                group = [line for line in lines if name in (line.mechanism, BOTH)]
                # The uniform grid's stream keeps the grid's first name; another would draw other p-values.
                key = "published" if grid == "uniform" else str(grid)
                rng = _rng(seed, stage="grids", dataset=dataset, grid=key, of=name)
                counted = {"values": sum(len(line.quantiles) for line in group)}
                counted |= {"below_median": sum(line.below for line in group)}
                statistic, p = p_value(group, kolmogorov_smirnov, rng)
                row = {"dataset": dataset, "grid": grid, "k": k, "n": n, "mechanism": name, **counted}
                verdict = (CONTRADICTED if p <= LEVEL else NOT_CONTRADICTED) if name == BOTH else ""
                rows.append(row | {"statistic": statistic, "p": p, "verdict": verdict, "tv": tv.get(name)})
    return pd.DataFrame(rows, columns=GRID_COLUMNS)


def _points(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The points of `run_points` for one section ``individual``, all users each."""
    shared = {"experiment": "individual", "n": "all", "repetitions": settings["repetitions"]}
    return [shared | budget for budget in settings["budgets"]]
