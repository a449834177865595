"""Every statement's test, or why there is none; and the verdicts on all of them.

`TESTS` maps a statement's id to its test of the published and of the exact reading; a text instead of a
test says why that reading has none. `UNTESTABLE` maps the other ids to the reason.
"""

import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from reproduction.protocol.gaussian import published_scale
from reproduction.verification.claims import literature, privacy, utility
from reproduction.verification.claims.evidence import (
    GAUSSIAN,
    INV,
    LIKELIEST,
    PAPER,
    RAW_GAUSSIAN,
    SHUFFLE,
    NoEvidenceError,
    Reading,
)
from reproduction.verification.claims.verdict_rules import UNTESTABLE as NO_VERDICT
from reproduction.verification.claims.verdict_rules import Comparisons, combine, weakest
from reproduction.verification.printed import Row, numbered_rows

Test = Callable[[Reading], Comparisons | list[Comparisons]]

COLUMNS = ("id", "claim", "version", "where", "quote", "family", "about", "test_published", "test_exact")
RESULT_COLUMNS = (
    *COLUMNS, "statistic_published", "verdict_published", "statistic_exact", "verdict_exact",
    "verdict", "why",
)  # fmt: skip

Settings = dict[str, Any]
EVERYWHERE: Settings = {"budgets": PAPER}
SYNTHETIC: Settings = {"budgets": {"synthetic": PAPER["synthetic"]}}  # Figure 2 and Table V
SAN_FRANCISCO: Settings = {"budgets": {"san_francisco": PAPER["san_francisco"]}}  # Figure 6
PARIS: Settings = {"budgets": {"paris": PAPER["paris"]}}  # Figure 7
CITIES: Settings = {"budgets": {city: PAPER[city] for city in ("san_francisco", "paris")}}
HEATMAPS: Settings = {"budgets": dict.fromkeys(("san_francisco", "paris"), (2, 4, 6))}  # Figures 4, 5
AT_FOUR: Settings = {"budgets": dict.fromkeys(("san_francisco", "paris"), (4,))}
INDIVIDUAL: Settings = {"metric": "individual_error", **SYNTHETIC}


def _grid(
    eps: Iterable[float], eps0: Iterable[float], n: Iterable[int] = (100,), k: Iterable[int] = (10,)
) -> list[privacy.Point]:
    """All (eps, eps0, n, k) with eps < eps0: at and beyond eps0 delta is 0."""
    return [(e, e0, users, cells) for e in eps for e0 in eps0 for users in n for cells in k if e < e0]


def _steps(start: float, stop: float, size: float) -> list[float]:
    return [float(step) for step in np.round(np.arange(start, stop + size / 2, size), 10)]


_FINE = _steps(0.1, 3.0, 0.1)  # Figure 1
_COARSE = _steps(0.5, 3.0, 0.5)
_FIGURE_1 = {"published": _grid(_FINE, _FINE), "exact": _grid(_COARSE, _COARSE)}
_OTHERS = [
    point
    for n, k in ((50, 5), (50, 15), (150, 5), (150, 15))
    for point in _grid((0.1, 0.5, 1.0), (1, 2, 3), (n,), (k,))
]
_USERS = _grid((0.1, 0.5), (1, 2), (10, 30, 100, 300), (5, 15))
_DOMAINS = (2, 3, 5, 10, 15, 100, 408, 1000)
_WORST: Settings = {"eps": (0.1, 0.5, 1.0, 1.5), "eps0": 2, "n": 100, "k": 10}  # Table IV
_FEW_USERS: Settings = {"histogram": (4, 1, 0), "eps0": (1.0, 4.0)}
_VALUES: Settings = {"eps": 4, "eps0": 4, "n": 1000, "k": 15}  # Table V


def _figure_1(reading: Reading, eps_rising: bool, eps0_rising: bool) -> list[Comparisons]:
    return privacy.both_trends(reading, eps_rising, eps0_rising, _FIGURE_1[reading.name])


def _both(test: Callable[..., Any], **settings: Any) -> tuple[Test, Test]:
    """The same test on both readings."""
    chosen = partial(test, **settings)
    return chosen, chosen


def _as_printed(
    test: Callable[..., Comparisons], over_cells: bool = False, **settings: Any
) -> tuple[Test, Test]:
    """Published: the test on the printed errors (`utility.printed`); exact: the test."""
    return partial(utility.printed, test=test, over_cells=over_cells, **settings), partial(test, **settings)


_E_B_F = ("erlingsson", "balle", "feldman")
_below = partial(literature.below_the_literature, items=("Table II",), mechanisms=_E_B_F)
_gaussian_better = partial(utility.better, first=GAUSSIAN, second=INV)
_inversion_better = partial(utility.better, first=INV, second=SHUFFLE)
_large_n, _small_n, _corner = (Settings(ends=ends) for ends in ("large n", "small n", "corner"))
_many, _few = (Settings(axis="n", towards=end) for end in ("large", "small"))
_low_privacy = Settings(axis="eps0", towards="large")

TESTS: dict[str, tuple[Test | str, Test | str]] = {
    "eps-trend": _both(privacy.table_iv, axis="eps"),
    "eps0-trend": _both(privacy.table_iv, axis="eps0", rising=True),
    "zero-beyond-the-loss": _both(privacy.zero_exactly_at_zeros),
    "n-trend": _both(privacy.table_iv, axis="n"),
    "more-users-more-privacy": _both(privacy.trend, axis="n", points=_USERS),
    "k-trend": _both(privacy.table_iv, axis="k"),
    "larger-domain-less-inference": _both(privacy.inference_falls, k=_DOMAINS, eps0=(0.1, 1, 2, 4, 6)),
    "figure-1-text": _both(_figure_1, eps_rising=True, eps0_rising=False),
    "figure-1-caption": _both(_figure_1, eps_rising=False, eps0_rising=True),
    "trends-everywhere": _both(
        privacy.both_trends, eps_rising=False, eps0_rising=True, points=_OTHERS, shares=(0.8, 0.2, 0.0)
    ),
    "eps-delta-exchange": (
        partial(privacy.trend, axis="eps", points=_grid(_FINE, (2,))),
        partial(privacy.trend, axis="eps", points=_grid(_steps(0.2, 1.8, 0.2), (2,))),
    ),
    "least-delta": _both(privacy.least_delta),
    "worst-cell-guarantee": _both(privacy.worst_cell_protects, **_WORST),
    "table-II-sound": _both(literature.sound, item="Table II"),
    "table-II-tighter": _both(_below),
    "table-II-strictly-tighter": _both(_below, decades=0.0),
    "table-1-tighter": _both(_below, items=("Table 1",), mechanisms=(*_E_B_F, "koskela")),
    "more-private-than-known": _both(_below, items=("Table II", "Table 1"), decades=0.0),
    "feldman-best": _both(literature.best_of_the_cited, item="Table II", best="feldman", others=_E_B_F[:2]),
    "literature-far-from-tight": _both(_below, majority=True),
    "equal-privacy": _both(privacy.equal_privacy, scale_of=published_scale),
    "local-much-worse": (
        partial(utility.far, **EVERYWHERE),
        partial(privacy.local_is_worse, factor=utility.COMPARABLE, **EVERYWHERE),
    ),
    "table-V-small-n": _as_printed(utility.close, over_cells=True, **_small_n, **INDIVIDUAL),
    "table-V-depends-on-x0": _both(utility.depends_on_cell, **_small_n, **SYNTHETIC),
    "table-V-large-n": _as_printed(_gaussian_better, **_large_n, **INDIVIDUAL),
    "delta-explains-table-V": _both(privacy.varies_with_the_count, **_VALUES),
    "fixed-noise": _both(utility.same_noise_for_all_n, **SYNTHETIC),
    "table-V-slightly-worse": _as_printed(utility.close, over_cells=True, **_large_n, **INDIVIDUAL),
    "table-V-low-error": _as_printed(utility.small, limit=0.01, mechanisms=(INV,), **_large_n, **INDIVIDUAL),
    "tv-small-n": _as_printed(utility.close, **_small_n, **SYNTHETIC),
    "tv-gaussian-gains": _as_printed(utility.gap_grows_with_n, **SYNTHETIC),
    "tv-large-n-close": _as_printed(utility.close, **_large_n, **SYNTHETIC),
    "figure-2-inversion": _both(_inversion_better, **SYNTHETIC),
    "figure-2-central-better": _both(_gaussian_better, **SYNTHETIC),
    "figure-2-slightly": _both(utility.close, **SYNTHETIC),
    "figure-2-especially-small": _both(utility.closest_at_corner, budgets={"synthetic": None}),
    "figures-4-5-central-better": (
        partial(_gaussian_better, metric="cell_error", **HEATMAPS),
        partial(_gaussian_better, **_large_n, **HEATMAPS),
    ),
    "figure-2-short-central-better": _both(_gaussian_better, **_large_n, **AT_FOUR),
    "figures-4-5-comparable": (
        partial(utility.close, **_large_n, **AT_FOUR),
        partial(utility.close, **_large_n, **HEATMAPS),
    ),
    "heatmaps-very-close": _both(
        utility.small, limit=0.05, mechanisms=(INV, GAUSSIAN), **_large_n, **AT_FOUR
    ),
    "central-better-everywhere": _both(_gaussian_better, **EVERYWHERE),
    "n-and-eps-matter": _both(utility.falls_along, axis="n", **CITIES),
    "eps-matters": _both(utility.falls_along, axis="eps0", **CITIES),
    "comparable-few-users-low-privacy": _both(utility.close, **_corner, **EVERYWHERE),
    "figure-6-shuffle-worse": _both(utility.better, first=GAUSSIAN, second=SHUFFLE, **SAN_FRANCISCO),
    "figure-6-inversion": _both(_inversion_better, **SAN_FRANCISCO),
    "figure-6-same-for-all-eps": _both(
        utility.same_order, model={"san_francisco": (4,)}, tested={"san_francisco": (6,)}
    ),
    "figure-6-corner-close": _both(utility.close, **_corner, **SAN_FRANCISCO),
    "figure-6-corner-closest": _both(utility.closest_at_corner, **SAN_FRANCISCO),
    "figure-7-same-trend": _both(utility.same_order, model=SAN_FRANCISCO["budgets"], tested=PARIS["budgets"]),
    "figure-7-inversion": _both(_inversion_better, **PARIS),
    "figure-7-indistinguishable": _both(utility.close, factor=utility.INDISTINGUISHABLE, **_corner, **PARIS),
    "almost-comparable": _both(utility.close, **EVERYWHERE),
    "gap-vanishes-many-users-absolute": _both(utility.gap_shrinks, **_many, **EVERYWHERE),
    "gap-vanishes-many-users-relative": _both(utility.gap_shrinks, relative=True, **_many, **EVERYWHERE),
    "gap-vanishes-few-users-absolute": _both(utility.gap_shrinks, **_few, **EVERYWHERE),
    "gap-vanishes-few-users-relative": _both(utility.gap_shrinks, relative=True, **_few, **EVERYWHERE),
    "gap-high-privacy-absolute": _both(utility.gap_shrinks, **_low_privacy, **CITIES),
    "gap-high-privacy-relative": _both(utility.gap_shrinks, relative=True, **_low_privacy, **CITIES),
    "denoising-helps": _both(_inversion_better, **EVERYWHERE),
    "inversion-optimal": (
        "the paper's experiments have no other estimate",
        partial(utility.better, first=INV, second=LIKELIEST, **EVERYWHERE),
    ),
    "no-central-denoising": (
        "the paper's experiments do not process the Gaussian's output",
        partial(utility.better, first=RAW_GAUSSIAN, second=GAUSSIAN, **EVERYWHERE),
    ),
    "gaussian-because-approximate": _both(privacy.approximate, **EVERYWHERE),
    "estimate-unbiased-long": _both(privacy.unbiased, projected=True, **_FEW_USERS),
    "estimate-unbiased-short": _both(privacy.unbiased, projected=False, **_FEW_USERS),
    "area-san-francisco": _both(privacy.area, dataset="san_francisco", width=12, height=8),
    "area-paris": _both(privacy.area, dataset="paris", width=8, height=6),
}

UNTESTABLE = {
    "gaussian-denoised": "we do not have the code of the experiments. The paper names diffprivlib's "
    "GaussianAnalytic, which does not denoise. The printed distances fit noise that was not processed",
    "novel-bound": "it is about the literature, not about an experiment",
    "first-comparison": "it is about the literature, not about an experiment",
    "more-convenient": "it is a judgement about trust in a curator, not about a measured quantity",
    "inversion-for-histograms-only": "the experiments have no queries other than histograms",
}


REMARKS = {  # what a verdict alone would hide
    "gap-vanishes-many-users-absolute": "Only the ends of a curve are compared, a harsh reading of what is "
    "said about large n: with few users projection caps both errors, and so their gap",
}


def read_claims(path: str | os.PathLike[str]) -> list[Row]:
    """The statements of ``path``, claims.csv, in the file's order: dicts of strings with the keys `COLUMNS`.

    Raises ValueError that names the file and the line, or the ids without a test; OSError if there is none.
    """
    rows = dict(numbered_rows(path, COLUMNS))
    for line, row in rows.items():
        if empty := [name for name in COLUMNS if not row[name].strip() and name != "family"]:
            raise ValueError(f"{path}, line {line}: {empty[0]} is empty; every row needs it")
    listed = [row["id"] for row in rows.values()]
    if wrong := {name for name in listed if listed.count(name) > 1} or {*TESTS, *UNTESTABLE} ^ {*listed}:
        raise ValueError(
            f"{path}: each id needs one row, and a test or a reason in registry.py: {sorted(wrong)}"
        )
    return list(rows.values())


def judge_claims(claims: Iterable[Row], published: Reading, exact: Reading) -> pd.DataFrame:
    """One row per statement of `read_claims`: its columns and the verdicts (`RESULT_COLUMNS`), in order."""
    rows = []
    for row in claims:
        if reason := UNTESTABLE.get(row["id"]):
            outcomes, why = [(NO_VERDICT, "", reason)] * 2, f"Untestable: {reason}."
        else:
            outcomes = [_outcome(*pair) for pair in zip(TESTS[row["id"]], (published, exact), strict=True)]
            why = " Exact: ".join(f"{statistic or reason}." for _, statistic, reason in outcomes)
            why = f"Published: {why}"
        if remark := REMARKS.get(row["id"]):
            why += f" {remark}."
        (first, shown, _), (second, seen, _) = outcomes
        rows.append((*row.values(), shown, first, seen, second, combine(first, second), why))
    return pd.DataFrame(rows, columns=list(RESULT_COLUMNS))


def _outcome(test: Test | str, reading: Reading) -> tuple[str, str, str]:
    """(verdict, statistic, why it is untestable) of one reading."""
    if isinstance(test, str):
        return NO_VERDICT, "", f"untestable, {test}"
    try:
        found = test(reading)
    except NoEvidenceError as error:
        return NO_VERDICT, "", f"untestable, {error}"
    groups = found if isinstance(found, list) else [found]
    return weakest([each.verdict for each in groups]), "; ".join(each.statistic for each in groups), ""
