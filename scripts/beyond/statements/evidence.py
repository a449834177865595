"""What the statements are tested on: repetitions of the errors, paired, for one reading at a time.

On the **published** reading these are the trials of Figures 2, 6 and 7 and Tables V and VI (Gaussian with the
paper's calibration at eps = eps0). On the **exact** reading they are the parity experiments: the same (eps,
delta) for both mechanisms, eps from the upper bound. There both estimates are projected to the simplex, like
with like; "shuffle" is the noisy histogram itself on both readings.
"""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np
import pandas as pd

from scripts.shared.printed import COLUMNS, NUMBERS, PAPER, printed_to_decimal, read_values
from scripts.shared.table_files import read_parquet

Path = str | os.PathLike[str]
Budgets = Mapping[str, Collection[float]]  # dataset -> its eps0s

PUBLISHED, EXACT = "published", "exact"  # the names of the readings
# The names of the mechanisms, which are columns of `Reading.settings`.
INV, GAUSSIAN, SHUFFLE, LIKELIEST = "shuffle+INV", "gaussian", "shuffle", "maximum likelihood"
RAW_GAUSSIAN = "gaussian, not projected"
# (mechanism, estimator) of the runs at equal privacy -> the mechanism's name.
_NAMES_AT_EQUAL_PRIVACY = {
    ("shuffle", "none"): SHUFFLE,
    ("shuffle", "projection"): INV,
    ("shuffle", "maximum_likelihood"): LIKELIEST,
    ("gaussian", "projection"): GAUSSIAN,
    ("gaussian", "none"): RAW_GAUSSIAN,
}
_POINT_COLUMNS = ["dataset", "n", "k", "eps0", "eps", "delta", "metric", "cell"]
SETTING_COLUMNS = [*_POINT_COLUMNS, "rule"]  # rule: the one that chose delta


class Ends(Enum):
    """Which settings count, among those of one dataset and one rule for delta."""

    ALL = "all"
    SMALLEST_N = "those at the smallest n"
    LARGEST_N = "those at the largest n"
    SMALLEST_N_AT_LARGEST_EPS0 = "of those at the largest eps0 the ones at the smallest n"


@dataclass(frozen=True)
class Selection:
    """Which settings a statement is about.

    They are those of one ``metric`` ("tv", "individual_error" or "cell_error"), and of ``budgets``: dataset
    -> its values of eps0. Of these count the ones at the ``ends`` of n and eps0.
    """

    metric: str = "tv"
    budgets: Budgets = field(default_factory=lambda: PAPER)
    ends: Ends = Ends.ALL


EVERYWHERE = Selection()  # the total variation error at every setting of the paper


class NoEvidenceError(ValueError):
    """A statement cannot be tested: the message says what is missing."""


@dataclass(frozen=True)
class Reading:
    """What the statements are tested on, by one reading of the paper: "published" or "exact".

    ``settings`` has a row for every dataset, n, k, eps0, eps, delta, metric, cell and rule, the columns
    `SETTING_COLUMNS`. The metric is "tv", "individual_error" or "cell_error". The cell is that of an
    individual error, and 0 for "tv". The rule is the one that chose delta, and "" as published. A further
    column for each mechanism, such as "gaussian", has an array of errors (repetitions,). The same repetition
    is the same sample of users. For "cell_error" it is one run instead, with an entry for each cell.

    ``values`` are the paper's printed values (`printed_numbers`).
    """

    name: str
    settings: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=SETTING_COLUMNS))
    values: pd.DataFrame = field(
        default_factory=lambda: printed_numbers(pd.DataFrame(columns=[*COLUMNS]))
    )
    # (eps, delta) for which the trials' Gaussians were calibrated, where eps >= eps0.
    calibrations: frozenset[tuple[float, float]] = frozenset()
    sensitivity: float = 1.0  # L2, as the trials' protocol takes it
    # Dataset -> its box: north, south, east and west in degrees.
    boxes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def is_exact(self) -> bool:
        """Whether this is the exact reading."""
        return self.name == EXACT

    def pick(self, *mechanisms: str, selection: Selection = EVERYWHERE) -> pd.DataFrame:
        """The settings of ``selection`` that have errors of all ``mechanisms``, one in each row.

        The columns are those of a setting: dataset, n, k, eps0, eps, delta, metric, cell, and the rule that
        chose delta. A column for each mechanism, such as "gaussian", has an array of errors (repetitions,).

        A selection has a metric, dataset -> its values of eps0, and the ends of n and eps0 that count, or
        all. Raises `NoEvidenceError` if a selected dataset has no row.
        """
        columns = [*SETTING_COLUMNS, *mechanisms]
        rows = self.settings.reindex(columns=columns).dropna(subset=[*mechanisms])
        rows = rows[rows["metric"] == selection.metric]
        selected = []
        for dataset, budgets in selection.budgets.items():
            of_dataset = rows[(rows["dataset"] == dataset) & rows["eps0"].isin(list(budgets))]
            if of_dataset.empty:
                names = ", ".join(mechanisms)
                listed = ", ".join(f"{eps0:g}" for eps0 in budgets)
                missing = f"{selection.metric} of {names} for {dataset} at eps0 = {listed}"
                raise NoEvidenceError(f"the config's {self.name} experiments have no {missing}")
            selected.append(of_dataset)
        return _rows_at_ends(pd.concat(selected), selection.ends)


def _rows_at_ends(rows: pd.DataFrame, ends: Ends) -> pd.DataFrame:
    """The rows at an end of n, each dataset and each rule for delta by itself; all rows for `Ends.ALL`.

    The end is the largest n for `Ends.LARGEST_N`, else the smallest. For `Ends.SMALLEST_N_AT_LARGEST_EPS0`
    only the rows at the largest eps0 are looked at. ``rows`` has the columns dataset, rule, eps0 and n.
    """
    if ends is Ends.ALL:
        return rows
    group = ["dataset", "rule"]
    if ends is Ends.SMALLEST_N_AT_LARGEST_EPS0:
        largest_eps0 = rows.groupby(group)["eps0"].transform("max")
        rows = rows[rows["eps0"] == largest_eps0]
    n = rows.groupby(group)["n"]
    end = n.transform("max") if ends is Ends.LARGEST_N else n.transform("min")
    return rows[rows["n"] == end]


def read_evidence(
    *, values: Path, cited_bounds: Path, trials: Iterable[Path], estimates: Iterable[Path],
    parity: Iterable[Path], sensitivity: float, boxes: Mapping[str, Mapping[str, float]],
) -> tuple[Reading, Reading]:  # fmt: skip
    """(published, exact): what the statements are tested on, by each of the two readings of the paper.

    The readings differ in the errors of the mechanisms. The published reading has those of the paper's own
    protocol, with the paper's calibration of the Gaussian. The exact reading has those of shuffle model and
    Gaussian at equal privacy, the same (eps, delta).

    Parameters
    ----------
    values: the file of the paper's printed values, values.csv
    cited_bounds: the file of the bounds that the paper cites, cited_bounds.csv
    trials: parquet files of the paper's protocol, with many repetitions
    estimates: CSV files of single runs of the paper's protocol, cell by cell
    parity: parquet files of the runs at equal privacy
    sensitivity: the L2 sensitivity that the paper's protocol takes
    boxes: dataset -> its box: north, south, east and west in degrees
    """
    trial_settings = settings_of_trials(trials)
    # Where the shuffle model's own delta is 0: the Gaussian's delta is one that the protocol has to assume.
    at_delta_0 = trial_settings[trial_settings["eps"] >= trial_settings["eps0"]]
    calibrations = frozenset(zip(at_delta_0["eps"], at_delta_0["delta"], strict=True))

    single_runs = map(_settings_of_single_runs, estimates)
    published = Reading(
        PUBLISHED,
        settings=pd.concat([trial_settings, *single_runs], ignore_index=True),
        values=printed_numbers(read_values(values), pd.read_csv(cited_bounds)),
        calibrations=calibrations,
        sensitivity=sensitivity,
        boxes=boxes,
    )
    exact_settings = pd.concat(map(_settings_at_equal_privacy, parity), ignore_index=True)
    return published, replace(published, name=EXACT, settings=exact_settings)


def printed_numbers(values: pd.DataFrame, cited_bounds: pd.DataFrame | None = None) -> pd.DataFrame:
    """The paper's printed values, one in each row, as numbers: ``values`` with two more columns.

    ``values`` are the rows of values.csv, all texts. Its columns n, k, count, x0, eps0 and eps become
    numbers, nan where they are empty. n is nan, too, where it is "all" users of a dataset. The new columns
    are

    - log10_printed, log10 of the printed number, and -inf for 0.
    - log10_cited, log10 of the bound that a row of the literature cites, as its own paper states it. It comes
      from ``cited_bounds``, the rows of cited_bounds.csv, and is nan without them. It is nan, too, where the
      cited theorem does not apply, and in this paper's own rows.
    """
    numbers = values[[*NUMBERS]].apply(pd.to_numeric, errors="coerce")
    rows = values.assign(**numbers)
    printed = [printed_to_decimal(text) for text in rows["printed"]]
    # Decimals, as deltas reach below the smallest float.
    rows["log10_printed"] = [float(value.log10()) if value else -np.inf for value in printed]
    if cited_bounds is None:
        return rows.assign(log10_cited=np.nan)
    cited = cited_bounds.rename(columns={"cited": "log10_cited"})
    key = ["item", "mechanism", "n", "eps"]
    cited = cited.astype({"n": float, "eps": float})
    return rows.merge(cited[[*key, "log10_cited"]], on=key, how="left", validate="many_to_one")


def settings_of_trials(paths: Iterable[Path]) -> pd.DataFrame:
    """The settings of the paper's protocol, one in each row, with an array of errors for each mechanism.

    ``paths`` are parquet files with a row for every trial. The result has the columns of `Reading.settings`,
    with the rule "". A setting of two experiments is there once, with the more repetitions.
    """
    columns = [*_POINT_COLUMNS, "experiment", "mechanism", "repetition", "value"]
    of_experiments = []
    for path in paths:
        trials = read_parquet(path, columns=columns)
        for _, of_experiment in trials.groupby("experiment", observed=True):
            of_experiments.append(paired_settings(of_experiment.assign(rule=""), ["mechanism"]))
    settings = pd.concat(of_experiments, ignore_index=True)
    by_repetitions = settings[INV].map(len).sort_values(kind="stable").index
    ordered = settings.loc[by_repetitions]
    return ordered.drop_duplicates(SETTING_COLUMNS, keep="last", ignore_index=True)


def _settings_at_equal_privacy(path: Path) -> pd.DataFrame:
    """The settings of the runs at equal privacy, one in each row, with an array of errors for each mechanism.

    The parquet file ``path`` has a row for every run, for eps from the upper and from the lower bound on the
    shuffle model's delta. Only those from the upper bound are taken. The result has the columns of
    `Reading.settings`. A mechanism with an estimator becomes one name: "shuffle" with the estimator
    "projection" is "shuffle+INV", the inversion that is projected to the simplex.
    """
    columns = [*_POINT_COLUMNS, "delta_rule", "mechanism", "estimator", "repetition", "value"]
    settings = []
    # To save memory, the runs of one n are read after those of another.
    for n in read_parquet(path, columns=["n"])["n"].unique():
        filters = [("bound", "==", "upper"), ("n", "==", n)]
        runs = read_parquet(path, columns=columns, filters=filters)
        runs = runs.rename(columns={"delta_rule": "rule"})
        settings_of_n = paired_settings(runs, ["mechanism", "estimator"])
        settings.append(settings_of_n.rename(columns=_NAMES_AT_EQUAL_PRIVACY))
    return pd.concat(settings, ignore_index=True)


def _settings_of_single_runs(path: Path) -> pd.DataFrame:
    """The settings of single runs of the paper's protocol, one in each row, with the metric "cell_error".

    The CSV file ``path`` has a row for every budget and cell: the cell's true share of the users (original)
    and the two estimates of it (gaussian and shuffle+INV). The result has the columns of
    `Reading.settings`. An array has the absolute error of each cell, in the order of the cells. So the cells
    of one run stand where another metric has repetitions.
    """
    runs = pd.read_csv(path)
    point = ["dataset", "n", "eps0", "eps", "delta", "cell", "original"]
    estimates = runs.melt(point, [GAUSSIAN, INV], "mechanism")
    distances = (estimates["value"] - estimates["original"]).abs()
    errors = estimates.assign(value=distances, repetition=estimates["cell"])
    errors = errors.assign(k=runs["cell"].nunique(), metric="cell_error", cell=0, rule="")
    return paired_settings(errors, ["mechanism"])


def paired_settings(runs: pd.DataFrame, mechanism_columns: list[str]) -> pd.DataFrame:
    """One row for each setting of ``runs``, with an array of errors (repetitions,) for each mechanism.

    ``runs`` has a row for every setting, mechanism and repetition, with the error in the column value. A
    setting is a row of its columns `SETTING_COLUMNS`. A mechanism is a row of its ``mechanism_columns``. The
    arrays of all mechanisms are in the order of the repetitions, so that they are paired.
    """
    runs = runs.sort_values("repetition", kind="stable")
    key = [*SETTING_COLUMNS, *mechanism_columns]
    errors = runs.groupby(key, observed=True, sort=False)["value"]
    settings = errors.apply(pd.Series.to_numpy).unstack(mechanism_columns)
    settings.columns = settings.columns.to_flat_index()
    return settings.reset_index().astype({"dataset": str, "metric": str, "rule": str})
