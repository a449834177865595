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
    """Which settings of each dataset and rule count."""

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
        """The settings of the selection that have all ``mechanisms``.

        Raises `NoEvidenceError` if a dataset has none.
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
        return _only_ends(pd.concat(parts), selection.ends)


def _only_ends(rows: pd.DataFrame, ends: Ends) -> pd.DataFrame:
    """The rows at these ends of their dataset and rule."""
    if ends is Ends.CORNER:
        largest_eps0 = rows.groupby(["dataset", "rule"])["eps0"].transform("max")
        rows = rows[rows["eps0"] == largest_eps0]
    if ends is Ends.ALL:
        return rows
    n_of_series = rows.groupby(["dataset", "rule"])["n"]
    n = n_of_series.transform("max") if ends is Ends.LARGE_N else n_of_series.transform("min")
    return rows[rows["n"] == n]


def read_evidence(
    *, values: Path, cited_bounds: Path, trials: Iterable[Path], estimates: Iterable[Path],
    parity: Iterable[Path], sensitivity: float, boxes: Mapping[str, Mapping[str, float]],
) -> tuple[Reading, Reading]:  # fmt: skip
    """The published and the exact reading, from the files of the results.

    ``values``: values.csv; ``cited_bounds``: cited_bounds.csv; ``trials``, ``estimates``, ``parity``: files
    of the published experiments, of single runs, of the experiments at equal privacy. ``sensitivity`` and
    ``boxes``: as in the config.
    """
    printed = printed_numbers(read_values(values), pd.read_csv(cited_bounds))
    runs = read_trials(trials)
    papers = runs[runs["eps"] >= runs["eps0"]]
    calibrations = frozenset(zip(papers["eps"], papers["delta"], strict=True))
    published = pd.concat([runs, *map(_read_estimates, estimates)], ignore_index=True)
    exact = pd.concat(map(_read_parity, parity), ignore_index=True)
    return (
        Reading(PUBLISHED, published, printed, calibrations, sensitivity, boxes),
        Reading(EXACT, exact, printed, calibrations, sensitivity, boxes),
    )


def printed_numbers(values: pd.DataFrame, cited_bounds: pd.DataFrame | None = None) -> pd.DataFrame:
    """values.csv with numbers instead of texts, and the columns ``log10_printed`` and ``log10_cited``.

    ``cited_bounds``: the rows of cited_bounds.csv; ``log10_cited`` is nan where a theorem does not apply and
    in this paper's own rows. n is nan for all users of a dataset.
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
    """The settings in parquet files of trials; a point in two experiments counts with the longer one."""
    columns = [*_POINT, "experiment", "mechanism", "repetition", "value"]
    frames = [read_parquet(path, columns=columns) for path in paths]
    parts = [part for frame in frames for _, part in frame.groupby("experiment", observed=True)]
    samples = [paired(part.assign(rule=""), ["mechanism"]) for part in parts]
    settings = pd.concat(samples, ignore_index=True)
    by_length = settings[INV].map(len).sort_values(kind="stable").index
    return settings.loc[by_length].drop_duplicates(SETTING, keep="last", ignore_index=True)


def _read_parity(path: Path) -> pd.DataFrame:
    """The settings in a parquet file of the parity experiments, with eps from the upper bound."""
    columns = [*_POINT, "delta_rule", "mechanism", "estimator", "repetition", "value"]
    settings = []
    for n in read_parquet(path, columns=["n"])["n"].unique():  # one at a time: they are large
        rows = [("bound", "==", "upper"), ("n", "==", n)]
        frame = read_parquet(path, columns=columns, filters=rows).rename(
            columns={"delta_rule": "rule"}
        )
        samples = paired(frame, ["mechanism", "estimator"])
        settings.append(samples.rename(columns=_PARITY_NAMES))
    return pd.concat(settings, ignore_index=True)


def _read_estimates(path: Path) -> pd.DataFrame:
    """Single runs' errors cell by cell, from a CSV file with original, gaussian and shuffle+INV per cell."""
    runs = pd.read_csv(path)
    point = ["dataset", "n", "eps0", "eps", "delta", "cell", "original"]
    errors = runs.melt(point, [GAUSSIAN, INV], "mechanism")
    errors = errors.assign(
        value=(errors["value"] - errors["original"]).abs(), repetition=errors["cell"]
    )
    errors = errors.assign(k=runs["cell"].nunique(), metric="cell_error", cell=0, rule="")
    return paired(errors, ["mechanism"])


def paired(frame: pd.DataFrame, who: list[str]) -> pd.DataFrame:
    """The settings of `Reading` in a tidy frame; ``who``: the columns that name a mechanism."""
    frame = frame.sort_values("repetition", kind="stable")
    samples = frame.groupby([*SETTING, *who], observed=True, sort=False)["value"].apply(
        pd.Series.to_numpy
    )
    settings = samples.unstack(who)
    settings.columns = settings.columns.to_flat_index()
    return settings.reset_index().astype({"dataset": str, "metric": str, "rule": str})
