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
    """log10 delta as we compute it in the setting of each printed delta, with the index of ``values``.

    The column published is by the formula that the paper prints, and the column exact is the true delta. NaN
    stands where there is no formula.

    ``path`` is a CSV file with a row for each printed delta. ``values`` has a row of texts for every printed
    value, of which those with the quantity "delta" are the printed deltas. Raises ValueError if the file's
    rows are not the printed deltas, in their order.
    """
    deltas = pd.read_csv(path, dtype=dict.fromkeys(DELTA_KEY, str))
    printed = values[values["quantity"] == "delta"]
    # The columns DELTA_KEY (item, mechanism, n, eps and others) tell printed deltas apart.
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
    """The printed values with our own beside them, and a verdict on each: a row of texts per printed value.

    The columns of ``values`` come first, but note may be longer. Then follow

    - reproduced: our value by the paper's method, or the median of our draws of a random value;
    - exact: the true value;
    - verdict: "same digits", "close" or "differs" for a value that is not random, "consistent" or
      "inconsistent" for a random one, and "not comparable", with the reason in the note;
    - quantile, of a random value alone: the share of our draws below the printed number;
    - low and high, of a random value alone: the ends of the part of our draws in which it should be.

    Parameters
    ----------
    values: a row of texts per printed value. Its kind says what it is compared with: "random" with our
        trials, "data" with numbers of check-ins, anything else with a delta
    deltas: log10 delta in the columns published (by the formula that the paper prints) and exact (the true
        one), by the index of ``values``
    totals: (dataset, kind of grid) -> number of check-ins
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
            published = _number_of_log10(deltas.loc[index, "published"])
            exact = _number_of_log10(deltas.loc[index, "exact"])
            verdict = judge_number(row, published, exact)

        notes = [row["note"], verdict.reason]
        # The paper's delta for the Gaussian, delta-hat, is 0 here.
        if row["mechanism"] == "gaussian" and float(row["eps"]) >= float(row["eps0"]):
            notes.append(NO_GAUSSIAN)
        note = "; ".join(filter(None, notes))  # without empty ones
        judged.append({**row, **asdict(verdict), "note": note})
    columns = [*COLUMNS, "reproduced", "exact", "verdict", "quantile", "low", "high"]
    return pd.DataFrame(judged)[columns]


def _number_of_log10(log10: float) -> Decimal | None:
    """The number with this log10, which may be below every float; None for NaN."""
    return None if np.isnan(log10) else from_log10(log10)


def _judge_random(row: Row, trials: Trials, users: Mapping[str, int]) -> Verdict:
    """The verdict on a printed random error, by our draws of it: "consistent" or "inconsistent".

    Without draws it is "not comparable", with the reason.
    """
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
    """Our own draws of a printed random error, shape (repetitions,), or a text that says why there are none.

    A draw is the error of one repetition in our trials, with the same setting, mechanism and cell.

    Parameters
    ----------
    row: the printed value as texts: its dataset, eps0, eps, n (a number or "all"), k, mechanism, quantity
        ("tv" or "individual_error"), and for an individual error x0, the number of its cell
    trials: (dataset, eps0, eps, n) -> our rows there, one for every repetition of a mechanism, metric and
        cell. Their columns are k, mechanism, metric, cell (0 for "tv") and value (the error)
    users: dataset -> how many users it has
    """
    dataset = row["dataset"]
    # A dataset that is missing in ``users`` has no trials either, whatever its n.
    n = users.get(dataset, 0) if row["n"] == "all" else int(row["n"])
    rows = trials.get((dataset, float(row["eps0"]), float(row["eps"]), n))
    where = f"datasets.{dataset}.individual of the config"  # where a user can set trials
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
