"""What the statements are tested on: repetitions of the errors, paired, for one reading at a time.

On the **published** reading these are the trials of Figures 2, 6 and 7 and Tables V and VI (Gaussian with the
paper's calibration at eps = eps0). On the **exact** reading they are the parity experiments: the same (eps,
delta) for both mechanisms, eps from the upper bound. There both estimates are projected to the simplex, like
with like; "shuffle" is the noisy histogram itself on both readings.
"""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import pandas as pd

from scripts.shared.printed import COLUMNS, NUMBERS, PAPER, printed_to_decimal, read_values
from scripts.shared.table_files import read_parquet

Path = str | os.PathLike[str]
Budgets = Mapping[str, Collection[float]]  # dataset -> its eps0s

PUBLISHED, EXACT = "published", "exact"
INV, GAUSSIAN, SHUFFLE, LIKELIEST = "shuffle+INV", "gaussian", "shuffle", "maximum likelihood"
RAW_GAUSSIAN = "gaussian, not projected"
_PARITY_NAMES = {
    ("shuffle", "none"): SHUFFLE,
    ("shuffle", "projection"): INV,
    ("shuffle", "maximum_likelihood"): LIKELIEST,
    ("gaussian", "projection"): GAUSSIAN,
    ("gaussian", "none"): RAW_GAUSSIAN,
}
_POINT = ["dataset", "n", "k", "eps0", "eps", "delta", "metric", "cell"]
SETTING = [*_POINT, "rule"]


class Ends(Enum):
    """Which settings of each dataset and rule for delta count."""

    ALL = "all"
    SMALL_N = "those at the smallest n"
    LARGE_N = "those at the largest n"
    CORNER = "of those at the largest eps0 that at the smallest n"


@dataclass(frozen=True)
class Selection:
    """Which settings a statement is about: of one metric, of each dataset's eps0s, at some of the ends."""

    metric: str = "tv"
    budgets: Budgets = field(default_factory=lambda: PAPER)
    ends: Ends = Ends.ALL


EVERYWHERE = Selection()  # the total variation error at every setting of the paper


class NoEvidenceError(ValueError):
    """A statement cannot be tested: the message says what is missing."""


@dataclass(frozen=True)
class Reading:
    """One reading of the paper: its name, its settings, and what else the tests need.

    ``settings``: a row per point, metric ("tv", "individual_error", "cell_error"), cell (0 for tv) and rule
    that chose delta ("" as published), the columns `SETTING`; and a column per mechanism with an array
    (repetitions,), the same repetition the same sample of users (for cell_error one run, an entry per cell).
    """

    name: str
    settings: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=SETTING))
    values: pd.DataFrame = field(
        default_factory=lambda: printed_numbers(pd.DataFrame(columns=[*COLUMNS]))
    )
    # (eps, delta) of Gaussians at eps >= eps0.
    calibrations: frozenset[tuple[float, float]] = frozenset()
    sensitivity: float = 1.0  # L2, as the trials' protocol takes it
    # Dataset -> its box in degrees.
    boxes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def is_exact(self) -> bool:
        """Whether this is the exact reading."""
        return self.name == EXACT

    def pick(self, *mechanisms: str, selection: Selection = EVERYWHERE) -> pd.DataFrame:
        """The rows of ``settings`` that ``selection`` selects and that have errors of all ``mechanisms``.

        A selection has a metric, the eps0s of each dataset, and which ends of n and eps0 count. The columns
        are `SETTING`, and one for each mechanism with arrays of errors (repetitions,). Raises
        `NoEvidenceError` if there is no row of a selected dataset.
        """
        columns = [*SETTING, *mechanisms]
        rows = self.settings.reindex(columns=columns).dropna(subset=[*mechanisms])
        rows = rows[rows["metric"] == selection.metric]
        parts = []
        for dataset, eps0 in selection.budgets.items():
            part = rows[(rows["dataset"] == dataset) & rows["eps0"].isin(list(eps0))]
            if part.empty:
                listed = ", ".join(f"{value:g}" for value in eps0)
                missing = f"{selection.metric} of {', '.join(mechanisms)} for {dataset} at eps0 = {listed}"
                raise NoEvidenceError(f"the config's {self.name} experiments have no {missing}")
            parts.append(part)
        return _rows_at_ends(pd.concat(parts), selection.ends)


def _rows_at_ends(rows: pd.DataFrame, ends: Ends) -> pd.DataFrame:
    """The rows at the given ends of n and eps0, within each dataset and rule for delta."""
    if ends is Ends.ALL:
        return rows
    series = ["dataset", "rule"]
    if ends is Ends.CORNER:
        rows = rows[rows["eps0"] == rows.groupby(series)["eps0"].transform("max")]
    n = rows.groupby(series)["n"]
    end = n.transform("max") if ends is Ends.LARGE_N else n.transform("min")
    return rows[rows["n"] == end]


def read_evidence(
    *, values: Path, cited_bounds: Path, trials: Iterable[Path], estimates: Iterable[Path],
    parity: Iterable[Path], sensitivity: float, boxes: Mapping[str, Mapping[str, float]],
) -> tuple[Reading, Reading]:  # fmt: skip
    """The published and the exact reading of the paper, from the files of the results.

    Both have the printed values, of the files ``values`` (values.csv) and ``cited_bounds``
    (cited_bounds.csv). The published reading has the errors of the published protocol: the files ``trials``
    with repetitions, and ``estimates`` of single runs, cell by cell. The exact one has those at equal
    privacy, ``parity``.

    ``sensitivity`` (L2) is that of the published protocol. ``boxes`` is dataset -> its box: north, south,
    east and west, in degrees.
    """
    printed = printed_numbers(read_values(values), pd.read_csv(cited_bounds))
    runs = read_trials(trials)
    runs_without_delta = runs[runs["eps"] >= runs["eps0"]]  # the paper's own delta is 0 there
    calibrations = frozenset(
        zip(runs_without_delta["eps"], runs_without_delta["delta"], strict=True)
    )
    published = pd.concat([runs, *map(_read_estimates, estimates)], ignore_index=True)
    exact = pd.concat(map(_read_parity, parity), ignore_index=True)
    return (
        Reading(PUBLISHED, published, printed, calibrations, sensitivity, boxes),
        Reading(EXACT, exact, printed, calibrations, sensitivity, boxes),
    )


def printed_numbers(values: pd.DataFrame, cited_bounds: pd.DataFrame | None = None) -> pd.DataFrame:
    """The rows of values.csv with numbers instead of texts, and with two columns more.

    ``log10_printed`` is log10 of the printed number, -inf for 0. ``log10_cited`` is log10 of the bound that a
    row of the literature cites, from the rows ``cited_bounds`` of cited_bounds.csv. It is nan where the
    theorem does not apply, and in this paper's own rows. n is nan where it is all users of a dataset.
    """
    frame = values.assign(**values[[*NUMBERS]].apply(pd.to_numeric, errors="coerce"))
    printed = [printed_to_decimal(text) for text in frame["printed"]]
    frame["log10_printed"] = [float(value.log10()) if value else -np.inf for value in printed]
    if cited_bounds is None:
        return frame.assign(log10_cited=np.nan)
    cited = cited_bounds.rename(columns={"cited": "log10_cited"})
    key = ["item", "mechanism", "n", "eps"]
    cited = cited.astype({"n": float, "eps": float})
    return frame.merge(cited[[*key, "log10_cited"]], on=key, how="left", validate="many_to_one")


def read_trials(paths: Iterable[Path]) -> pd.DataFrame:
    """The `settings` of a published `Reading`, from parquet files of trials.

    A setting in two experiments is there once, with the more repetitions.
    """
    columns = [*_POINT, "experiment", "mechanism", "repetition", "value"]
    frames = [read_parquet(path, columns=columns) for path in paths]
    parts = [part for frame in frames for _, part in frame.groupby("experiment", observed=True)]
    samples = [paired(part.assign(rule=""), ["mechanism"]) for part in parts]
    settings = pd.concat(samples, ignore_index=True)
    by_length = settings[INV].map(len).sort_values(kind="stable").index
    return settings.loc[by_length].drop_duplicates(SETTING, keep="last", ignore_index=True)


def _read_parity(path: Path) -> pd.DataFrame:
    """The `settings` of an exact `Reading`, from a parquet file of the runs at equal privacy.

    eps is that of the upper bound. A pair of mechanism and estimator becomes one of the names in
    `_PARITY_NAMES`, such as "shuffle+INV".
    """
    columns = [*_POINT, "delta_rule", "mechanism", "estimator", "repetition", "value"]
    settings = []
    # One number of users after the other: they are large.
    for n in read_parquet(path, columns=["n"])["n"].unique():
        filters = [("bound", "==", "upper"), ("n", "==", n)]
        frame = read_parquet(path, columns=columns, filters=filters)
        samples = paired(frame.rename(columns={"delta_rule": "rule"}), ["mechanism", "estimator"])
        settings.append(samples.rename(columns=_PARITY_NAMES))
    return pd.concat(settings, ignore_index=True)


def _read_estimates(path: Path) -> pd.DataFrame:
    """The `settings` of a published `Reading` with the metric "cell_error", from a CSV file of single runs.

    The file has a row for every cell: its true share (original) and the two estimates of it (gaussian and
    shuffle+INV). A setting's array has the absolute error of each cell, in the order of the cells. So the
    cells of one run stand where another metric has repetitions.
    """
    runs = pd.read_csv(path)
    point = ["dataset", "n", "eps0", "eps", "delta", "cell", "original"]
    estimates = runs.melt(point, [GAUSSIAN, INV], "mechanism")
    distances = (estimates["value"] - estimates["original"]).abs()
    errors = estimates.assign(value=distances, repetition=estimates["cell"])
    errors = errors.assign(k=runs["cell"].nunique(), metric="cell_error", cell=0, rule="")
    return paired(errors, ["mechanism"])


def paired(frame: pd.DataFrame, who: list[str]) -> pd.DataFrame:
    """The `settings` of a `Reading`: a row for every `SETTING`, a column of arrays for every mechanism.

    ``frame`` has a row for every setting, mechanism and repetition, with the error in the column value.
    ``who`` are the columns that name a mechanism. An array (repetitions,) is in the order of the repetitions.
    """
    frame = frame.sort_values("repetition", kind="stable")
    samples = frame.groupby([*SETTING, *who], observed=True, sort=False)["value"].apply(
        pd.Series.to_numpy
    )
    settings = samples.unstack(who)
    settings.columns = settings.columns.to_flat_index()
    return settings.reset_index().astype({"dataset": str, "metric": str, "rule": str})
