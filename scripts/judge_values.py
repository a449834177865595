"""A verdict on every printed value: what we get for it, and whether the two agree."""

import csv
from dataclasses import asdict

import pandas as pd

from tightshuffle.judgement.printed import (
    COLUMNS,
    Verdict,
    decimal_from_log10,
    judge_draw,
    judge_number,
    read_values,
)
from tightshuffle.pipeline.job import job, write_csv

POINT = ["dataset", "eps0", "eps", "n"]
DELTA_KEY = ("item", "quantity", "mechanism", "n", "k", "eps0", "eps", "count")
NO_THEOREM = "no exact value: outside the theorem's range"
NO_GAUSSIAN = "delta is exactly 0 at eps = eps0: no Gaussian is calibrated to it"


def read_trials(paths):
    """(dataset, eps0, eps, n) -> the rows of the experiment "individual" in parquet files of trials."""
    columns = [*POINT, "k", "mechanism", "metric", "cell", "value"]
    found = {}
    for path in paths:
        rows = pd.read_parquet(path, columns=columns, filters=[("experiment", "==", "individual")])
        found |= dict(list(rows.groupby(POINT)))
    return found


def read_users(histograms):
    """dataset -> how many users it has; ``histograms``: dataset -> path."""
    return {name: int(pd.read_csv(path)["count"].sum()) for name, path in histograms.items()}


def read_deltas(path, values):
    """(published, exact) per row of ``values`` of quantity delta, in order, Decimals or None."""
    with open(path, newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    wanted = [row for row in values if row["quantity"] == "delta"]
    if [[row[name] for name in DELTA_KEY] for row in found] != [
        [row[name] for name in DELTA_KEY] for row in wanted
    ]:
        raise ValueError(f"{path}: its rows are not the printed deltas in their order; make the file again")
    return [(from_log10(row["published"]), from_log10(row["exact"])) for row in found]


def from_log10(text):
    """10 to the power of a CSV field, a Decimal; None where the field is empty."""
    return decimal_from_log10(float(text)) if text else None


def read_totals(path):
    """(dataset, grid) -> number of check-ins, from the table of the gridded datasets."""
    with open(path, newline="", encoding="utf-8") as file:
        return {(row["dataset"], row["grid"]): int(row["checkins"]) for row in csv.DictReader(file)}


def judge(values, deltas, totals, trials, users):
    """One dict per row of ``values``: its columns, then reproduced, exact, verdict, quantile, low, high.

    ``deltas``, ``totals``, ``trials`` and ``users`` as the readers above return them. A value for which they
    hold nothing is "not comparable", with the reason in its note.
    """
    left = iter(deltas)
    judged = []
    for row in values:
        if row["kind"] == "random":
            verdict = judge_trial(row, trials, users)
        elif row["kind"] == "data":
            verdict = judge_total(row, totals)
        else:
            verdict = judge_number(row, *next(left))
        reasons = [row["note"], verdict.reason]
        if row["mechanism"] == "gaussian" and float(row["eps"]) >= float(row["eps0"]):
            reasons.append(NO_GAUSSIAN)
        if row["quantity"] == "delta" and not verdict.exact:
            reasons.append(NO_THEOREM)
        fields = asdict(verdict)
        del fields["reason"]
        judged.append({**row, "note": "; ".join(filter(None, reasons)), **fields})
    return judged


def judge_total(row, totals):
    """Check-ins: reproduced on the authors' stepped cutting, exact in the closed box."""
    stepped, box = (totals.get((row["dataset"], grid)) for grid in ("stepped", "published"))
    if stepped is None or box is None:
        return Verdict("not comparable", reason=f"the config has no gridded dataset {row['dataset']}")
    return judge_number(row, stepped, box)


def judge_trial(row, trials, users):
    """A draw of an error against the trials at its point; not comparable where there is no such trial."""
    dataset, n = row["dataset"], row["n"]
    n = users.get(dataset) if n == "all" else int(n)
    rows = trials.get((dataset, float(row["eps0"]), float(row["eps"]), n))
    where = f"datasets.{dataset}.individual of the config"
    if rows is None:
        setting = f"eps0 = {row['eps0']}, eps = {row['eps']}, n = {row['n']}"
        return Verdict("not comparable", reason=f"{where} has no trials at {setting}")
    if not (rows["k"] == int(row["k"])).all():
        cells = ", ".join(str(k) for k in sorted(rows["k"].unique()))
        return Verdict("not comparable", reason=f"our trials have k = {cells}, the paper's k = {row['k']}")
    rows = rows[(rows["mechanism"] == row["mechanism"]) & (rows["metric"] == row["quantity"])]
    if row["quantity"] == "individual_error":
        rows = rows[rows["cell"] == int(row["x0"])]
    if rows.empty:
        cell = f" of cell {row['x0']}" if row["x0"] else ""
        return Verdict(
            "not comparable", reason=f"{where} has no {row['quantity']}{cell} for {row['mechanism']}"
        )
    return judge_draw(row, rows["value"].to_numpy())


def main(snakemake):
    """Read printed values and results, write the verdicts."""
    given = snakemake.input
    with job(snakemake):
        values = read_values(given.values)
        judged = judge(
            values,
            read_deltas(given.deltas, values),
            read_totals(given.totals),
            read_trials(given.trials),
            read_users(dict(zip(snakemake.params.datasets, snakemake.input.histograms, strict=True))),
        )
        columns = [*COLUMNS, "reproduced", "exact", "verdict", "quantile", "low", "high"]
        write_csv(pd.DataFrame(judged)[columns], snakemake.output[0])


if __name__ == "__main__":
    main(snakemake)
