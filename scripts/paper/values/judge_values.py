"""A verdict on every printed value: our value, and whether the two agree."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import cast

import numpy as np
import pandas as pd

from scripts.paper.values.judgement import Verdict, judge_draw, judge_number
from scripts.shared.job import StrPath, job, write_csv
from scripts.shared.printed import COLUMNS, DELTA_KEY, Row, read_values, records
from scripts.shared.table_files import read_parquet
from tightshuffle.arguments import Floats
from tightshuffle.number_text import from_log10

Totals = dict[tuple[str, str], int]  # (dataset, grid) -> number of check-ins
Point = tuple[str, float, float, int]  # dataset, eps0, eps, n
Trials = dict[Point, pd.DataFrame]  # point -> a row per repetition of a mechanism, metric and cell

POINT = ["dataset", "eps0", "eps", "n"]
NO_GAUSSIAN = "delta is exactly 0 at eps = eps0: no Gaussian is calibrated to it"


def read_individual_trials(paths: Iterable[StrPath]) -> Trials:
    """Our trials of the experiment "individual": point (dataset, eps0, eps, n) -> its rows.

    A row has the error of one repetition of a mechanism, metric and cell, in the column value. ``paths`` are
    parquet files of trials.
    """
    columns = [*POINT, "k", "mechanism", "metric", "cell", "value"]
    trials: Trials = {}
    for path in paths:
        rows = read_parquet(path, columns=columns, filters=[("experiment", "==", "individual")])
        trials |= {cast(Point, point): part for point, part in rows.groupby(POINT)}
    return trials


def read_users(histograms: Mapping[str, StrPath]) -> dict[str, int]:
    """dataset -> how many users it has; ``histograms``: dataset -> path."""
    return {name: int(pd.read_csv(path)["count"].sum()) for name, path in histograms.items()}


def read_deltas(path: StrPath, values: pd.DataFrame) -> pd.DataFrame:
    """log10 of the deltas behind the printed ones: the columns published and exact, NaN where there is none.

    published is by the paper's formula, exact is the true delta. ``path`` is a file with a row for each
    printed delta. ``values`` are all printed values as text, and the result has the index of the deltas among
    them. Raises ValueError if the file's rows are not these deltas, in their order.
    """
    deltas = pd.read_csv(path, dtype=dict.fromkeys(DELTA_KEY, str))
    printed = values[values["quantity"] == "delta"]
    # DELTA_KEY are the columns that tell printed deltas apart.
    keys = deltas[DELTA_KEY].fillna("").to_numpy().tolist()
    if keys != printed[DELTA_KEY].to_numpy().tolist():
        raise ValueError(
            f"{path}: its rows are not the printed deltas in their order; make the file again"
        )
    return deltas[["published", "exact"]].set_index(printed.index)


def read_totals(path: StrPath) -> Totals:
    """The number of check-ins per dataset and grid, from the table of the gridded datasets."""
    totals = pd.read_csv(path)
    return cast(Totals, totals.set_index(["dataset", "grid"])["checkins"].to_dict())


def judge_values(
    values: pd.DataFrame,
    deltas: pd.DataFrame,
    totals: Totals,
    trials: Trials,
    users: Mapping[str, int],
) -> pd.DataFrame:
    """The printed values with our own beside them, and a verdict on each: all columns are text.

    The further columns are reproduced (our value by the paper's method), exact (the true value), verdict, and
    of a random value quantile (its place among our draws), low and high (the part of our draws in which it
    should be). A value with nothing to compare it with is "not comparable", with the reason in its note.

    Parameters
    ----------
    values: a row of texts per printed value. Its kind says what it is compared with: "random" with our
        trials, "data" with numbers of check-ins, anything else with a delta
    deltas: log10 delta, published and exact, by the index of ``values``
    totals: (dataset, grid) -> number of check-ins
    trials: (dataset, eps0, eps, n) -> the rows of our trials there
    users: dataset -> how many users it has
    """
    judged = []
    for index, row in zip(values.index, records(values), strict=True):
        if row["kind"] == "random":
            verdict = _judge_random(row, trials, users)
        elif row["kind"] == "data":
            verdict = _judge_total(row, totals)
        else:
            published = _decimal(deltas.loc[index, "published"])
            exact = _decimal(deltas.loc[index, "exact"])
            verdict = judge_number(row, published, exact)

        notes = [row["note"], verdict.reason]
        if row["mechanism"] == "gaussian" and float(row["eps"]) >= float(row["eps0"]):
            notes.append(NO_GAUSSIAN)
        judged.append({**row, **asdict(verdict), "note": "; ".join(filter(None, notes))})
    columns = [*COLUMNS, "reproduced", "exact", "verdict", "quantile", "low", "high"]
    return pd.DataFrame(judged)[columns]


def _decimal(log10: float) -> Decimal | None:
    """The number with this log10, which may be below every float; None for NaN."""
    return None if np.isnan(log10) else from_log10(log10)


def _judge_random(row: Row, trials: Trials, users: Mapping[str, int]) -> Verdict:
    """The verdict on a printed error, by our draws of it; with the reason if there are none."""
    draws = draws_of(row, trials, users)
    if isinstance(draws, str):  # the reason
        return Verdict("not comparable", reason=draws)
    return judge_draw(row, draws)


def _judge_total(row: Row, totals: Totals) -> Verdict:
    """The verdict on a printed number of check-ins.

    The reproduced number is that of the stepped grid: that the paper uses this grid is inferred from its
    numbers. The exact one is that of the whole closed box, which the uniform grid covers.
    """
    stepped = totals.get((row["dataset"], "stepped"))
    box = totals.get((row["dataset"], "uniform"))
    if stepped is None or box is None:
        return Verdict(
            "not comparable", reason=f"the config has no gridded dataset {row['dataset']}"
        )
    return judge_number(row, Decimal(stepped), Decimal(box))


def draws_of(row: Row, trials: Trials, users: Mapping[str, int]) -> Floats | str:
    """Our own draws of a printed error, shape (repetitions,), or a text that says why there are none.

    Parameters
    ----------
    row: the printed value as texts: its dataset, eps0, eps, n (a number or "all"), k, mechanism, quantity
        (the metric of the error), and for an individual error x0, the number of its cell
    trials: (dataset, eps0, eps, n) -> our rows there, with the columns k, mechanism, metric, cell and value
    users: dataset -> how many users it has
    """
    dataset = row["dataset"]
    n = users.get(dataset, 0) if row["n"] == "all" else int(row["n"])
    rows = trials.get((dataset, float(row["eps0"]), float(row["eps"]), n))
    where = f"datasets.{dataset}.individual of the config"
    if rows is None:
        setting = f"eps0 = {row['eps0']}, eps = {row['eps']}, n = {row['n']}"
        return f"{where} has no trials at {setting}"
    if not (rows["k"] == int(row["k"])).all():
        cells = ", ".join(str(k) for k in sorted(rows["k"].unique()))
        return f"our trials have k = {cells}, the paper's k = {row['k']}"

    rows = rows[(rows["mechanism"] == row["mechanism"]) & (rows["metric"] == row["quantity"])]
    if row["quantity"] == "individual_error":
        rows = rows[rows["cell"] == int(row["x0"])]
    if rows.empty:
        cell = f" of cell {row['x0']}" if row["x0"] else ""
        return f"{where} has no {row['quantity']}{cell} for {row['mechanism']}"
    return np.asarray(rows["value"], dtype=float)


if __name__ == "__main__":
    with job() as snakemake:
        files = snakemake.input
        values = read_values(files.values)
        verdicts = judge_values(
            values,
            read_deltas(files.deltas, values),
            read_totals(files.totals),
            read_individual_trials(files.trials),
            read_users(dict(zip(snakemake.params.datasets, files.histograms, strict=True))),
        )
        write_csv(verdicts, snakemake.output[0])
