"""What the statements are tested on: repetitions of the errors, paired, for one reading at a time.

On the **published** reading these are the trials of Figures 2, 6 and 7 and Tables V and VI (Gaussian with the
paper's calibration at eps = eps0). On the **exact** reading they are the parity experiments: the same (eps,
delta) for both mechanisms, eps from the upper bound. There both estimates are projected to the simplex, like
with like; "shuffle" is the noisy histogram itself on both readings.
"""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reproduction.verification.printed import COLUMNS, NUMBERS, printed_to_decimal, read_values

Path = str | os.PathLike[str]
Budgets = Mapping[str, Collection[float] | None]  # dataset -> its eps0s; None for all of them

OWN = "this paper"
PAPER: Budgets = {  # Figures 2, 6, 7; Tables V, VI
    "synthetic": (4,),
    "san_francisco": (4, 6),
    "paris": (4, 6),
}
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
_PUBLISHED_NAMES = {(name,): name for name in (SHUFFLE, INV, GAUSSIAN)}
_POINT = ["dataset", "n", "k", "eps0", "eps", "delta", "metric", "cell"]


class NoEvidenceError(ValueError):
    """A statement cannot be tested: the message says what is missing."""


@dataclass(frozen=True)
class Setting:
    """One point, one metric ("tv", "individual_error", "cell_error") and cell (0 for tv).

    ``samples``: mechanism -> array of shape (repetitions,), the same repetition the same sample of users
    (for cell_error one run, one entry per cell). ``rule`` names how delta was chosen; "" as published.
    """

    dataset: str
    n: int
    k: int
    eps0: float
    eps: float
    delta: float
    metric: str
    cell: int
    samples: dict[str, NDArray[np.float64]]
    rule: str = ""


@dataclass(frozen=True)
class Reading:
    """One reading of the paper: its name, its settings, and what else the tests need."""

    name: str
    settings: list[Setting] = field(default_factory=list)
    values: pd.DataFrame = field(default_factory=lambda: printed_numbers(pd.DataFrame(columns=[*COLUMNS])))
    calibrations: frozenset[tuple[float, float]] = frozenset()  # (eps, delta) of Gaussians at eps >= eps0
    sensitivity: float = 1.0  # L2, as the trials' protocol takes it
    boxes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # dataset -> its box in degrees

    @property
    def is_exact(self) -> bool:
        """Whether this is the exact reading."""
        return self.name == EXACT

    def pick(
        self, mechanisms: Collection[str], metric: str = "tv", budgets: Budgets | None = None
    ) -> list[Setting]:
        """The settings of one metric that have all ``mechanisms``, in the order of their points.

        ``budgets``: the ones to look at, None for all. Raises `NoEvidenceError` if there are no settings, or
        none of one of the datasets.
        """
        whole = [s for s in self.settings if s.metric == metric and set(mechanisms) <= set(s.samples)]
        parts: dict[str, list[Setting]] = {"any dataset": whole} if budgets is None else {}
        for dataset, eps0 in (budgets or {}).items():
            at = "" if eps0 is None else f" at eps0 = {', '.join(f'{value:g}' for value in eps0)}"
            parts[dataset + at] = [
                s for s in whole if s.dataset == dataset and (eps0 is None or s.eps0 in eps0)
            ]
        for name, found in parts.items():
            if not found:
                what = f"{metric} of {', '.join(mechanisms)} for {name}"
                raise NoEvidenceError(f"the config's {self.name} experiments have no {what}")
        chosen = [setting for found in parts.values() for setting in found]
        return sorted(chosen, key=lambda point: (point.dataset, point.eps0, point.rule, point.n, point.cell))


def read_evidence(
    *, values: Path, deltas: Path, trials: Iterable[Path], estimates: Iterable[Path], parity: Iterable[Path],
    sensitivity: float, boxes: Mapping[str, Mapping[str, float]],
) -> tuple[Reading, Reading]:  # fmt: skip
    """The published and the exact reading, from the files of the results.

    ``values``: values.csv; ``deltas``: printed_deltas.csv; ``trials``, ``estimates``, ``parity``: files of
    the published experiments, of single runs, of the experiments at equal privacy. ``sensitivity`` and
    ``boxes``: as in the config.
    """
    printed = printed_numbers(read_values(values), pd.read_csv(deltas))
    runs = read_trials(trials)
    calibrations = frozenset((run.eps, run.delta) for run in runs if run.eps >= run.eps0)
    common = printed, calibrations, sensitivity, boxes
    published = Reading(PUBLISHED, runs + read_estimates(estimates), *common)
    return published, Reading(EXACT, read_parity(parity), *common)


def printed_numbers(values: pd.DataFrame, deltas: pd.DataFrame | None = None) -> pd.DataFrame:
    """values.csv with numbers instead of texts, and the columns ``log10_printed`` and ``log10_cited``.

    ``deltas``: the rows of printed_deltas.csv; ``log10_cited`` is nan where a theorem does not apply and in
    this paper's own rows. n is nan for all users of a dataset.
    """
    frame = values.assign(**values[[*NUMBERS]].apply(pd.to_numeric, errors="coerce"))
    printed = [printed_to_decimal(text) for text in frame["printed"]]
    frame["log10_printed"] = [float(value.log10()) if value else -np.inf for value in printed]
    if deltas is None:
        return frame.assign(log10_cited=np.nan)
    cited = deltas[deltas["mechanism"] != OWN].rename(columns={"exact": "log10_cited"})
    key = ["item", "mechanism", "n", "eps"]
    cited = cited.astype({"n": float, "eps": float})
    return frame.merge(cited[[*key, "log10_cited"]], on=key, how="left", validate="many_to_one")


def read_trials(paths: Iterable[Path]) -> list[Setting]:
    """The settings in parquet files of trials; a point in two experiments counts with the longer one."""
    columns = [*_POINT, "experiment", "mechanism", "repetition", "value"]
    best: dict[tuple[Any, ...], Setting] = {}
    for path in paths:
        frame = pd.read_parquet(path, columns=columns)
        for _, rows in frame.groupby("experiment", observed=True, sort=False):
            for setting in _settings(rows, _PUBLISHED_NAMES, ["mechanism"], ""):
                key = setting.dataset, setting.n, setting.eps0, setting.eps, setting.metric, setting.cell
                if key not in best or _repetitions(setting) > _repetitions(best[key]):
                    best[key] = setting
    return list(best.values())


def read_parity(paths: Iterable[Path]) -> list[Setting]:
    """The settings in parquet files of the parity experiments, with eps from the upper bound."""
    columns = [*_POINT, "delta_rule", "bound", "mechanism", "estimator", "repetition", "value"]
    settings: list[Setting] = []
    for path in paths:
        for n in pd.read_parquet(path, columns=["n"])["n"].unique():  # one at a time: they are large
            rows = [("bound", "==", "upper"), ("n", "==", n)]
            frame = pd.read_parquet(path, columns=columns, filters=rows)
            for rule, part in frame.groupby("delta_rule", observed=True):
                settings += _settings(part, _PARITY_NAMES, ["mechanism", "estimator"], str(rule))
    return settings


def read_estimates(paths: Iterable[Path]) -> list[Setting]:
    """Single runs' errors cell by cell, from CSV files with original, gaussian and shuffle+INV per cell."""
    settings = []
    for path in paths:
        runs = pd.read_csv(path).groupby(["dataset", "n", "eps0", "eps", "delta"], sort=False)
        for key, rows in runs:
            dataset, n, eps0, eps, delta = cast(Any, key)
            samples = {name: (rows[name] - rows["original"]).abs().to_numpy() for name in (GAUSSIAN, INV)}
            point = str(dataset), int(n), len(rows), float(eps0), float(eps), float(delta)
            settings.append(Setting(*point, "cell_error", 0, samples))
    return settings


def _settings(frame: pd.DataFrame, names: Mapping[Any, str], who: list[str], rule: str) -> list[Setting]:
    """The settings of a tidy frame; ``who``: the columns that name a mechanism, ``names`` what they mean."""
    by_point: dict[tuple[Any, ...], dict[str, NDArray[np.float64]]] = {}
    for key, rows in frame.groupby([*_POINT, *who], observed=True, sort=False):
        point, mechanism = cast(Any, key)[: len(_POINT)], cast(Any, key)[len(_POINT) :]
        if name := names.get(mechanism):
            order = np.argsort(rows["repetition"].to_numpy(), kind="stable")
            by_point.setdefault(point, {})[name] = rows["value"].to_numpy()[order]
    settings = []
    for point, samples in by_point.items():
        if len({len(sample) for sample in samples.values()}) > 1:
            raise ValueError(
                f"{point}: the mechanisms have different numbers of repetitions; make the trials again"
            )
        dataset, n, k, eps0, eps, delta, metric, cell = point
        budget = float(eps0), float(eps), float(delta)
        settings.append(Setting(str(dataset), int(n), int(k), *budget, str(metric), int(cell), samples, rule))
    return settings


def _repetitions(setting: Setting) -> int:
    return len(next(iter(setting.samples.values())))
