"""Random values tested together: whether the errors of Tables V and VI look like runs of ours.

One printed value against an interval of 99 % is a weak test. Here the values of a table and a mechanism
become their quantiles among our runs, which under the published protocol are uniform up to zeros and
rounding, and two statistics say how uniform they are. The law of a statistic comes from our own runs: one
repetition for each printed run, treated like the printed values, so that zeros, rounding and the dependence
between the cells of one run count as they are. data/published/README.md states the rule.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy import stats

from tightshuffle.arguments import Floats
from tightshuffle.experiments.published import Protocol, run_points
from tightshuffle.experiments.seeds import seed_of
from tightshuffle.judgement.claims.decisions import LEVEL, corrected
from tightshuffle.judgement.printed import Row, printed_to_decimal
from tightshuffle.judgement.values import POINT, Point, Trials, draws_of

RUNS = 20_000  # random runs of ours that give the law of a statistic
BOTH = "both"  # tables, or mechanisms
QUARTERS = 4  # bins of the chi-square statistic
COLUMNS = [
    "item", "mechanism", "line", "test", "values", "below_median", "statistic", "p", "corrected_p", "verdict",
]  # fmt: skip
GRID_COLUMNS = [
    "dataset", "grid", "k", "n", "mechanism", "values", "below_median", "statistic", "p", "tv",
]  # fmt: skip
Statistic = Callable[[Floats], Floats]  # quantiles (runs, values) -> (runs,)


@dataclass(frozen=True)
class Line:
    """The printed errors of one run: one table, mechanism, dataset and n, several cells.

    ``quantiles`` (cells,) of the printed values among our draws, and ``runs`` (repetitions, cells), the same
    of our own draws: mid-ranks, after rounding to the digits of the printed values.
    """

    item: str
    mechanism: str
    dataset: str
    n: str
    quantiles: Floats
    runs: Floats

    @property
    def below(self) -> int:
        """How many printed values are below the median of ours."""
        return int(np.sum(self.quantiles < 0.5))


def lines_of(values: Iterable[Row], trials: Trials, users: Mapping[str, int]) -> list[Line]:
    """The lines of all random errors of single cells for which there are trials, in the order of ``values``.

    ``trials`` and ``users`` as for `judge_values`.
    """
    grouped: dict[tuple[str, str, str, str], list[tuple[float, Floats]]] = {}
    for row in values:
        if row["quantity"] == "individual_error":
            draws = draws_of(row, trials, users)
            if not isinstance(draws, str):
                key = row["item"], row["mechanism"], row["dataset"], row["n"]
                grouped.setdefault(key, []).append(quantiles(row["printed"], draws))
    return [
        Line(*key, np.array([printed for printed, _ in cells]), np.stack([runs for _, runs in cells], axis=1))
        for key, cells in grouped.items()
    ]


def quantiles(printed: str, draws: Floats) -> tuple[float, Floats]:
    """The mid-rank quantile of a printed value among ``draws`` (repetitions,), and those of the draws.

    The draws are rounded to as many significant digits as are printed.
    """
    value = printed_to_decimal(printed)
    digits = len(value.as_tuple().digits)
    rounded = np.array([float(f"{draw:.{digits - 1}e}") for draw in draws])
    among = np.mean(rounded < float(value)) + np.mean(rounded == float(value)) / 2
    return float(among), (stats.rankdata(rounded) - 0.5) / len(rounded)


def kolmogorov_smirnov(quantiles: Floats) -> Floats:
    """Largest distance of the empirical law of the last axis from the uniform one on [0, 1]."""
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
    seen = float(statistic(np.concatenate([line.quantiles for line in lines])))
    drawn = [line.runs[rng.integers(len(line.runs), size=RUNS)] for line in lines]
    null = statistic(np.concatenate(drawn, axis=1))
    different = np.prod([float(len(line.runs)) for line in lines])  # runs that can be told apart
    return seen, float(max((1 + np.sum(null >= seen - 1e-9)) / (1 + RUNS), 1 / (1 + different)))


def joint_tests(
    values: Iterable[Row], trials: Trials, users: Mapping[str, int], *, seed: int
) -> pd.DataFrame:
    """Every test as a row: the columns `COLUMNS`.

    The tests of each table and mechanism come first; they alone have a corrected p-value (Holm, all of them
    together) and a verdict, "agrees" or "deviates". The rows of both tables and of single lines are for
    information. ``seed``: the root seed; the other arguments as for `lines_of`.
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
    judged = _tested(by_table, uniform, seed)
    others = [_tested(by_mechanism, uniform | sides, seed), _tested(alone, sides, seed)]
    rows = pd.concat([judged.assign(corrected_p=corrected(judged["p"])), *others], ignore_index=True)
    rows = rows.reindex(columns=COLUMNS)
    verdicts = np.where(rows["corrected_p"] <= LEVEL, "deviates", "agrees")
    return rows.assign(verdict=np.where(rows["corrected_p"].isna(), "", verdicts))


def _tested(
    groups: Mapping[tuple[str, str, str], Sequence[Line]], tests: Mapping[str, Statistic], seed: int
) -> pd.DataFrame:
    rows = []
    for (item, mechanism, line), lines in groups.items():
        for test, statistic in tests.items():
            name = {"item": item, "mechanism": mechanism, "line": line, "test": test}
            seen, p = p_value(
                lines, statistic, np.random.default_rng(seed_of(seed, stage="joint tests", **name))
            )
            counts = {"values": sum(len(each.quantiles) for each in lines)}
            counts |= {"below_median": sum(each.below for each in lines)}
            rows.append({**name, **counts, "statistic": seen, "p": p})
    return pd.DataFrame(rows, columns=COLUMNS[:-2])


def compare_grids(
    values: Sequence[Row],
    cells: Mapping[str, pd.DataFrame],
    plans: Mapping[str, Mapping[str, Any]],
    *,
    protocol: Protocol,
    seed: int,
) -> pd.DataFrame:
    """How well the printed errors of a city fit our runs on each of its grids: the columns `GRID_COLUMNS`.

    Parameters
    ----------
    values : rows of values.csv
    cells : dataset -> its cells in every kind of grid, as `data.grid.all_cells` gives them
    plans : dataset -> the config's section ``individual``; all users of a grid are taken
    protocol, seed : as for `run_points`

    Returns
    -------
    One row per dataset, grid and mechanism, and one for "both": how many printed values there are, how many
    of them are below our median, the Kolmogorov-Smirnov distance of their quantiles from the uniform law and
    its p-value (`p_value`), and our mean TV distance. The numbers of the cells are those of the grid itself.
    """
    rows = []
    for dataset, table in cells.items():
        printed = [row for row in values if row["dataset"] == dataset and row["n"] == "all"]
        for grid, part in table.groupby("grid", sort=False):
            counts = part["count"].to_numpy()
            k, n = len(counts), int(counts.sum())
            runs = run_points(
                counts,
                _points(plans[dataset]),
                dataset=dataset,
                cells=[cell for cell in plans[dataset]["cells"] if cell <= k],
                protocol=protocol,
                seed=seed,
            )
            trials = {cast(Point, point): trial for point, trial in runs.groupby(POINT)}
            lines = lines_of([row | {"k": str(k)} for row in printed], trials, {dataset: n})
            tv = runs[runs["metric"] == "tv"].groupby("mechanism")["value"].mean()
            for name in (*dict.fromkeys(line.mechanism for line in lines), *([BOTH] if lines else [])):
                group = [line for line in lines if name in (line.mechanism, BOTH)]
                rng = np.random.default_rng(
                    seed_of(seed, stage="grids", dataset=dataset, grid=str(grid), of=name)
                )
                counted = {"values": sum(len(line.quantiles) for line in group)}
                counted |= {"below_median": sum(line.below for line in group)}
                statistic, p = p_value(group, kolmogorov_smirnov, rng)
                row = {"dataset": dataset, "grid": grid, "k": k, "n": n, "mechanism": name, **counted}
                rows.append(row | {"statistic": statistic, "p": p, "tv": tv.get(name)})
    return pd.DataFrame(rows, columns=GRID_COLUMNS)


def _points(plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The points of `run_points` for one section ``individual``, all users each."""
    shared = {"experiment": "individual", "n": "all", "repetitions": plan["repetitions"]}
    return [shared | budget for budget in plan["budgets"]]
